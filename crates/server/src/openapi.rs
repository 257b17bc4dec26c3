//! The OpenAPI document, made from the handlers, and the page that shows it without any outside help.

use crate::document;
use crate::router::{Server, api};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Toolcrib",
        description = "The place where an organisation keeps the tools its AI agents may use.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    tags(
        (name = "tools", description = "What tools there are, and changing them"),
        (name = "selection", description = "Which tool a request needs"),
        (name = "calls", description = "Running tools"),
        (name = "executions", description = "What happened"),
        (name = "agents", description = "Models, their instructions and their tools"),
        (name = "toolsets", description = "Selections of tools with an MCP address of their own"),
        (name = "users", description = "Who there is, and what they may do"),
        (name = "keys", description = "What programs show to be let in"),
        (name = "policy", description = "Which tools are kept from whom"),
        (name = "servers", description = "Upstream MCP servers, and what they offer"),
        (name = "sources", description = "Databases that SQL tools use"),
        (name = "limits", description = "How often users and tools may call and be called"),
        (name = "secrets", description = "What tools need to know and nobody may read"),
        (name = "vectors", description = "Documents that are found by what they mean"),
        (name = "audit", description = "Who changed what"),
        (name = "admin", description = "The operator's own"),
        (name = "health", description = "Whether the server works")
    ),
    security(("key" = []), ("bearer" = []))
)]
struct Base;

pub(crate) fn base() -> utoipa::openapi::OpenApi {
    let mut document = Base::openapi();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(
        "key",
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-API-Key"))),
    );
    components.add_security_scheme(
        "bearer",
        SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
    );
    document
}

/// The document as JSON text.
pub fn document() -> String {
    let (_, document) = api().split_for_parts();
    document.to_pretty_json().unwrap_or_default()
}

pub(crate) async fn json(State(server): State<Arc<Server>>) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "application/json")],
        server.openapi.clone(),
    )
}

pub(crate) async fn docs() -> Response {
    document::document(StatusCode::OK, include_str!("docs.html"))
}
