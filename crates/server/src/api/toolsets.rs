//! Toolsets: named, ordered selections of tools, each with an MCP address of its own.

use super::tools::{OwnerQuery, owned};
use crate::auth::{CanAuthor, CanRead};
use crate::body::{IfMatch, JsonText, PathOf, QueryOf, tagged};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::toolsets::{ToolsetFilter, ToolsetPage, ToolsetView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ToolsetQuery {
    /// A text that must stand in the name or the description.
    q: Option<String>,
    /// The owner's name.
    owner: Option<String>,
    /// Whether to say what is wrong with set arguments.
    #[serde(default)]
    check: bool,
    /// 1 to 500; 50 unless given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// What an author writes.
#[derive(ToSchema)]
#[schema(example = json!({
    "name": "docs-search",
    "tools": ["calculator", {"tool": "web_search", "name": "search_docs", "arguments": {"limit": 5}}],
    "allow": ["sql_*"],
    "deny": ["sql_write*"],
    "instructions": "Look into the tables before you search the web."
}))]
#[expect(
    dead_code,
    reason = "the shape is only for the OpenAPI document; the body is read with places kept"
)]
pub(crate) struct ToolsetBody {
    /// Letters, digits, _ . and -; also the end of its MCP address.
    name: String,
    description: Option<String>,
    /// Names or ids of tools, or objects with `tool` and any of `name` (what it is called here), `description` and
    /// `arguments` (set beforehand: no caller sees or sends them).
    #[schema(value_type = Option<Vec<Value>>)]
    tools: Value,
    /// Patterns; what fits comes behind the listed tools. With neither this nor `tools`, every tool is in the set.
    allow: Option<Vec<String>>,
    /// Patterns; what fits is left out.
    deny: Option<Vec<String>>,
    /// Told to the models that use the set.
    instructions: Option<String>,
    /// What the server is called at the set's own address, instead of toolcrib.
    server_name: Option<String>,
    /// Clients get `find_tools` and `call_tool` instead of all tools.
    find_tools: Option<bool>,
    /// How tools are named to clients: dotted (`server.tool`, the default) or plain (`server__tool`).
    names: Option<String>,
    is_public: Option<bool>,
}

/// Lists the toolsets you may see, in the order of their names.
#[utoipa::path(get, path = "/api/v1/toolsets", tag = "toolsets", params(ToolsetQuery),
    responses((status = 200, body = ToolsetPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_toolsets(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    QueryOf(query): QueryOf<ToolsetQuery>,
) -> Result<Json<ToolsetPage>, ApiError> {
    let filter = ToolsetFilter {
        q: query.q,
        owner: query.owner,
        check: query.check,
        limit: query.limit,
        cursor: query.cursor,
    };
    Ok(Json(server.app.list_toolsets(&caller, &filter)?))
}

/// Makes a toolset.
#[utoipa::path(post, path = "/api/v1/toolsets", tag = "toolsets", params(OwnerQuery), request_body = ToolsetBody,
    responses((status = 201, body = ToolsetView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_toolset(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    QueryOf(query): QueryOf<OwnerQuery>,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let owner = query.owner.as_deref();
        server.app.create_toolset(&caller, owner, &body).await
    };
    let toolset = owned(work).await?;
    Ok((StatusCode::CREATED, tagged(toolset.version, toolset)).into_response())
}

/// One toolset, by name or id.
#[utoipa::path(get, path = "/api/v1/toolsets/{name}", tag = "toolsets", params(("name" = String, Path)),
    responses((status = 200, body = ToolsetView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_toolset(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Response, ApiError> {
    let toolset = server.app.get_toolset(&caller, &name)?;
    Ok(tagged(toolset.version, toolset))
}

/// Replaces a toolset. `If-Match` holds the version it was made from.
#[utoipa::path(put, path = "/api/v1/toolsets/{name}", tag = "toolsets", params(("name" = String, Path)),
    request_body = ToolsetBody,
    responses((status = 200, body = ToolsetView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn update_toolset(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.update_toolset(&caller, &name, &body, expected).await
    };
    let toolset = owned(work).await?;
    Ok(tagged(toolset.version, toolset))
}

/// Changes some members of a toolset (JSON merge patch).
#[utoipa::path(patch, path = "/api/v1/toolsets/{name}", tag = "toolsets", params(("name" = String, Path)),
    request_body = Object,
    responses((status = 200, body = ToolsetView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn patch_toolset(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.patch_toolset(&caller, &name, &body, expected).await
    };
    let toolset = owned(work).await?;
    Ok(tagged(toolset.version, toolset))
}

/// Removes a toolset; `restore` brings it back.
#[utoipa::path(delete, path = "/api/v1/toolsets/{name}", tag = "toolsets", params(("name" = String, Path)),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn delete_toolset(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let work = async move { server.app.delete_toolset(&caller, &name, expected).await };
    owned(work).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Brings a removed toolset back.
#[utoipa::path(post, path = "/api/v1/toolsets/{name}/restore", tag = "toolsets", params(("name" = String, Path)),
    responses((status = 200, body = ToolsetView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn restore_toolset(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
) -> Result<Response, ApiError> {
    let work = async move { server.app.restore_toolset(&caller, &name).await };
    let toolset = owned(work).await?;
    Ok(tagged(toolset.version, toolset))
}
