//! Upstream MCP servers: kept over the API, how they are doing, what they offer, and what of that was changed.

use super::part::PartQuery;
use super::tools::{OwnerQuery, owned};
use crate::auth::{CanOperate, CanRead};
use crate::body::{IfMatch, JsonBody, JsonText, PathOf, QueryOf, tagged};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::servers::{Approval, Offered, ServerChange, ServerView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use catalog::caller::Caller;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServerPage {
    items: Vec<ServerView>,
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OfferPage {
    #[schema(value_type = Vec<Object>)]
    items: Vec<Value>,
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangePage {
    items: Vec<ServerChange>,
    next_cursor: Option<String>,
}

impl ChangePage {
    fn of(items: Vec<ServerChange>) -> Json<Self> {
        let next_cursor = None;
        Json(ChangePage { items, next_cursor })
    }
}

/// What an author writes: either `url` or `command`, as in mcp.json.
#[derive(ToSchema)]
#[schema(example = json!({
    "name": "search",
    "url": "https://mcp.example.com/mcp",
    "headers": {"Authorization": "Bearer …"},
    "pinning": "approve"
}))]
#[expect(
    dead_code,
    reason = "the shape is only for the OpenAPI document; the body is read with places kept"
)]
pub(crate) struct ServerBody {
    /// Letters, digits, _ and -; it stands before the names of its tools. A server keeps its name.
    name: String,
    url: Option<String>,
    /// Values are sealed and shown as a mask; a mask that is sent back keeps the value.
    #[schema(value_type = Option<Object>)]
    headers: Option<Value>,
    /// http or sse; told from the address unless given.
    transport: Option<String>,
    /// A program to start, one of `mcp.commands_allowed`. Only admins may.
    command: Option<String>,
    args: Option<Vec<String>>,
    /// As with the headers.
    #[schema(value_type = Option<Object>)]
    env: Option<Value>,
    cwd: Option<String>,
    disabled: Option<bool>,
    timeout_seconds: Option<f64>,
    /// off, flag or approve: what happens when it describes a tool anew. Without it, what the configuration says.
    pinning: Option<String>,
    /// "oauth", or an object with `type`, `for` (server or user), `issuer`, `client_id`, `client_secret` (sealed, and
    /// only beside `issuer`), `scopes` and `grant` (authorization_code or client_credentials).
    #[schema(value_type = Option<Object>)]
    auth: Option<Value>,
}

fn shown(view: ServerView) -> Response {
    match view.stored.version {
        Some(version) => tagged(version, view),
        None => Json(view).into_response(),
    }
}

/// Every server: those of mcp.json and those kept here.
#[utoipa::path(get, path = "/api/v1/servers", tag = "servers", params(PartQuery),
    responses((status = 200, body = ServerPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_servers(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    QueryOf(query): QueryOf<PartQuery>,
) -> Result<Json<ServerPage>, ApiError> {
    let (items, next_cursor) = server.app.list_servers(&caller, &query.into())?;
    Ok(Json(ServerPage { items, next_cursor }))
}

/// Adds a server, which is connected at once. Private addresses are refused unless an admin adds it.
#[utoipa::path(post, path = "/api/v1/servers", tag = "servers", params(OwnerQuery), request_body = ServerBody,
    responses((status = 201, body = ServerView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_server(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    QueryOf(query): QueryOf<OwnerQuery>,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let owner = query.owner.as_deref();
        server.app.create_server(&caller, owner, &body).await
    };
    let made = owned(work).await?;
    Ok((StatusCode::CREATED, shown(made)).into_response())
}

/// One server, by name; one that is kept here also by id.
#[utoipa::path(get, path = "/api/v1/servers/{name}", tag = "servers", params(("name" = String, Path)),
    responses((status = 200, body = ServerView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_server(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Response, ApiError> {
    Ok(shown(server.app.get_server(&caller, &name)?))
}

/// Replaces a server that is kept here, and connects it anew. `If-Match` holds the version it was made from.
#[utoipa::path(put, path = "/api/v1/servers/{name}", tag = "servers", params(("name" = String, Path)),
    request_body = ServerBody,
    responses((status = 200, body = ServerView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn update_server(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.update_server(&caller, &name, &body, expected).await
    };
    Ok(shown(owned(work).await?))
}

/// Changes some members of a server (JSON merge patch).
#[utoipa::path(patch, path = "/api/v1/servers/{name}", tag = "servers", params(("name" = String, Path)),
    request_body = Object,
    responses((status = 200, body = ServerView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn patch_server(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.patch_server(&caller, &name, &body, expected).await
    };
    Ok(shown(owned(work).await?))
}

/// Removes a server, its sealed values, and what is known of it.
#[utoipa::path(delete, path = "/api/v1/servers/{name}", tag = "servers", params(("name" = String, Path)),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn delete_server(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let work = async move { server.app.delete_server(&caller, &name, expected).await };
    owned(work).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The tools that a server describes in another way than before, with both definitions.
#[utoipa::path(get, path = "/api/v1/servers/{name}/changes", tag = "servers", params(("name" = String, Path)),
    responses((status = 200, body = ChangePage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn server_changes(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<ChangePage>, ApiError> {
    Ok(ChangePage::of(server.app.server_changes(&caller, &name)?))
}

/// Approves definitions by their hashes; the changes that are left are returned.
#[utoipa::path(post, path = "/api/v1/servers/{name}/approve", tag = "servers", params(("name" = String, Path)),
    request_body = Approval,
    responses((status = 200, body = ChangePage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn approve_server(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf(name): PathOf<String>,
    JsonBody(approval): JsonBody<Approval>,
) -> Result<Json<ChangePage>, ApiError> {
    let work = async move {
        let app = &server.app;
        app.approve_server(&caller, &name, &approval).await
    };
    Ok(ChangePage::of(owned(work).await?))
}

/// Drops the connection to a server and makes a new one.
#[utoipa::path(post, path = "/api/v1/servers/{name}/reconnect", tag = "servers", params(("name" = String, Path)),
    responses((status = 200, body = ServerView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn reconnect_server(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf(name): PathOf<String>,
) -> Result<Json<ServerView>, ApiError> {
    Ok(Json(server.app.reconnect_server(&caller, &name)?))
}

async fn offers(
    server: &Server,
    caller: &Caller,
    name: &str,
    offered: Offered,
) -> Result<Json<OfferPage>, ApiError> {
    Ok(Json(OfferPage {
        items: server.app.server_offers(caller, name, offered).await?,
        next_cursor: None,
    }))
}

/// The tools of a server, as it describes them.
#[utoipa::path(get, path = "/api/v1/servers/{name}/tools", tag = "servers", params(("name" = String, Path)),
    responses((status = 200, body = OfferPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn server_tools(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<OfferPage>, ApiError> {
    offers(&server, &caller, &name, Offered::Tools).await
}

/// The resources of a server, and the templates of those that it makes.
#[utoipa::path(get, path = "/api/v1/servers/{name}/resources", tag = "servers", params(("name" = String, Path)),
    responses((status = 200, body = OfferPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn server_resources(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<OfferPage>, ApiError> {
    offers(&server, &caller, &name, Offered::Resources).await
}

/// The prompts of a server.
#[utoipa::path(get, path = "/api/v1/servers/{name}/prompts", tag = "servers", params(("name" = String, Path)),
    responses((status = 200, body = OfferPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn server_prompts(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<OfferPage>, ApiError> {
    offers(&server, &caller, &name, Offered::Prompts).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReadQuery {
    /// The resource's address, as the server lists it.
    uri: String,
}

/// What a resource holds: `{"contents": [...]}`.
#[utoipa::path(get, path = "/api/v1/servers/{name}/resources/read", tag = "servers", params(("name" = String, Path), ReadQuery),
    responses((status = 200, body = Object), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub(crate) async fn read_resource(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<ReadQuery>,
) -> Result<Json<Value>, ApiError> {
    let read = server.app.read_server_resource(&caller, &name, &query.uri);
    Ok(Json(read.await?))
}
