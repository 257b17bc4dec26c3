//! Upstream MCP servers: how they are doing and what they offer.

use crate::auth::{CanOperate, CanRead};
use crate::body::{PathOf, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::servers::{Offered, ServerView};
use axum::Json;
use axum::extract::State;
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

/// Every server of mcp.json.
#[utoipa::path(get, path = "/api/v1/servers", tag = "servers",
    responses((status = 200, body = ServerPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_servers(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
) -> Json<ServerPage> {
    Json(ServerPage {
        items: server.app.list_servers(&caller),
        next_cursor: None,
    })
}

#[utoipa::path(get, path = "/api/v1/servers/{name}", tag = "servers",
    responses((status = 200, body = ServerView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_server(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<ServerView>, ApiError> {
    Ok(Json(server.app.get_server(&caller, &name)?))
}

/// Drops the connection to a server and makes a new one.
#[utoipa::path(post, path = "/api/v1/servers/{name}/reconnect", tag = "servers",
    responses((status = 200, body = ServerView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn reconnect_server(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf(name): PathOf<String>,
) -> Result<Json<ServerView>, ApiError> {
    Ok(Json(server.app.reconnect_server(&caller, &name)?))
}

fn offers(
    server: &Server,
    caller: &Caller,
    name: &str,
    offered: Offered,
) -> Result<Json<OfferPage>, ApiError> {
    Ok(Json(OfferPage {
        items: server.app.server_offers(caller, name, offered)?,
        next_cursor: None,
    }))
}

/// The tools of a server, as it describes them.
#[utoipa::path(get, path = "/api/v1/servers/{name}/tools", tag = "servers",
    responses((status = 200, body = OfferPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn server_tools(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<OfferPage>, ApiError> {
    offers(&server, &caller, &name, Offered::Tools)
}

/// The resources of a server, and the templates of those that it makes.
#[utoipa::path(get, path = "/api/v1/servers/{name}/resources", tag = "servers",
    responses((status = 200, body = OfferPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn server_resources(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<OfferPage>, ApiError> {
    offers(&server, &caller, &name, Offered::Resources)
}

/// The prompts of a server.
#[utoipa::path(get, path = "/api/v1/servers/{name}/prompts", tag = "servers",
    responses((status = 200, body = OfferPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn server_prompts(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<OfferPage>, ApiError> {
    offers(&server, &caller, &name, Offered::Prompts)
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct ReadQuery {
    /// The resource's address, as the server lists it.
    uri: String,
}

/// What a resource holds: `{"contents": [...]}`.
#[utoipa::path(get, path = "/api/v1/servers/{name}/resources/read", tag = "servers", params(ReadQuery),
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
