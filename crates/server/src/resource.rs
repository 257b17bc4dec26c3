//! This server as a protected resource (RFC 9728): where to get a token for it, and the challenges that lead there.

use crate::auth::is_token;
use crate::error::ApiError;
use crate::router::Server;
use app::oidc::SCOPE_PREFIX;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
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

/// What is kept of a request until its answer is known, where tokens are taken.
pub(crate) struct Asked {
    metadata_url: String,
    shows_token: bool,
    shows_anything: bool,
}

impl Asked {
    pub(crate) fn of(server: &Server, request: &Request) -> Option<Self> {
        if !server.app.takes_tokens() {
            return None;
        }
        let (headers, uri) = (request.headers(), request.uri());
        // Only what is offered over MCP has metadata of its own.
        let path = uri.path();
        let is_mcp = ["/mcp", "/sse"].into_iter().any(|own| {
            path.strip_prefix(own)
                .is_some_and(|it| it.is_empty() || it.starts_with('/'))
        });
        let path = format!("{METADATA}{}", if is_mcp { path } else { "" });
        Some(Asked {
            metadata_url: server.edge.resource_url(headers, uri, &path).ok()?,
            shows_token: is_token(headers),
            shows_anything: headers.contains_key(header::AUTHORIZATION),
        })
    }

    /// Tells whoever was refused how to get a token that is not.
    pub(crate) fn challenge(&self, server: &Server, response: &mut Response) {
        let Some(offer) = server.app.token_offer() else {
            return;
        };
        let mut scopes = offer.scopes;
        let error = match response.status() {
            StatusCode::UNAUTHORIZED if self.shows_anything => r#", error="invalid_token""#,
            StatusCode::UNAUTHORIZED => "",
            StatusCode::FORBIDDEN if self.shows_token => {
                let error = response.extensions().get::<ApiError>();
                let need = error.and_then(|error| error.details["required_scope"].as_str());
                let Some(need) = need else { return };
                let need = format!("{SCOPE_PREFIX}{need}");
                if !scopes.contains(&need) {
                    scopes.push(need);
                }
                r#", error="insufficient_scope""#
            }
            _ => return,
        };
        let (url, scopes) = (&self.metadata_url, scopes.join(" "));
        let text = format!(
            r#"Bearer realm="toolcrib"{error}, resource_metadata="{url}", scope="{scopes}""#
        );
        if let Ok(value) = HeaderValue::from_str(&text) {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, value);
        }
    }
}
