//! This server as a protected resource (RFC 9728): where to get a token for it, and the challenges that lead there.

use crate::auth::{API_KEY, is_token};
use crate::error::ApiError;
use crate::router::Server;
use app::oidc::SCOPE_PREFIX;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Uri, header};
use axum::response::Response;
use executor::Code;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// What a client must know to get a token. The resource is the address that was asked about.
pub(crate) async fn metadata(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Json<Value>, ApiError> {
    let offer = server.app.token_offer().ok_or_else(|| {
        let why = "This server takes API keys only; whoever runs it can allow tokens with oidc.access_tokens";
        ApiError::new(Code::NotFound, why)
    })?;
    let path = uri.path().strip_prefix(METADATA).unwrap_or_default();
    Ok(Json(json!({
        "resource": server.edge.resource_url(&headers, &uri, path)?,
        "authorization_servers": [offer.issuer],
        "scopes_supported": offer.scopes,
        "bearer_methods_supported": ["header"],
        "resource_name": "Toolcrib",
    })))
}

/// The headers that a challenge depends on.
const TELLING: [HeaderName; 3] = [header::HOST, header::AUTHORIZATION, API_KEY];

/// What is kept of a request until its answer is known, where tokens are taken. Only a refusal looks at it.
pub(crate) struct Asked {
    uri: Uri,
    headers: [Option<HeaderValue>; 3],
}

impl Asked {
    pub(crate) fn of<B>(server: &Server, request: &Request<B>) -> Option<Self> {
        server.app.takes_tokens().then(|| Asked {
            uri: request.uri().clone(),
            headers: TELLING.map(|name| request.headers().get(name).cloned()),
        })
    }

    /// Tells whoever was refused how to get a token that is not.
    pub(crate) fn challenge(self, server: &Server, response: &mut Response) {
        let refusals = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
        if !refusals.contains(&response.status()) {
            return;
        }
        let told = TELLING.into_iter().zip(self.headers);
        let headers: HeaderMap = told.filter_map(|(name, it)| Some((name, it?))).collect();
        if let Some(value) = challenge(server, &headers, &self.uri, response) {
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, value);
        }
    }
}

fn challenge(
    server: &Server,
    headers: &HeaderMap,
    uri: &Uri,
    response: &Response,
) -> Option<HeaderValue> {
    let mut scopes = server.app.token_offer()?.scopes;
    let error = match response.status() {
        StatusCode::UNAUTHORIZED if headers.contains_key(header::AUTHORIZATION) => {
            r#", error="invalid_token""#
        }
        StatusCode::UNAUTHORIZED => "",
        _ if is_token(headers) => {
            let lack = response.extensions().get::<ApiError>()?.lack?;
            // With those that it has: a client asks for what it is told, and would lose them.
            let names = lack.held.with(lack.needed).names().into_iter();
            scopes = names.map(|name| format!("{SCOPE_PREFIX}{name}")).collect();
            r#", error="insufficient_scope""#
        }
        _ => return None,
    };
    let path = format!("{METADATA}{}", resource_path(uri.path()));
    let url = server.edge.resource_url(headers, uri, &path).ok()?;
    let scopes = scopes.join(" ");
    let text =
        format!(r#"Bearer realm="toolcrib"{error}, resource_metadata="{url}", scope="{scopes}""#);
    HeaderValue::from_str(&text).ok()
}

/// Only what is offered over MCP has metadata of its own; what is posted belongs to the stream that told where to.
fn resource_path(path: &str) -> String {
    let path = path.strip_suffix('/').unwrap_or(path);
    let known = [("/mcp", "/mcp"), ("/sse", "/sse"), ("/messages", "/sse")];
    let mut found = known.into_iter().filter_map(|(own, resource)| {
        let below = path.strip_prefix(own)?;
        let is_below = below.is_empty() || below.starts_with('/');
        is_below.then(|| format!("{resource}{below}"))
    });
    found.next().unwrap_or_default()
}
