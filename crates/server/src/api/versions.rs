//! A tool's history: versions, rolling back, restoring what was removed.

use super::tools::owned;
use crate::auth::{CanAuthor, CanRead};
use crate::body::{JsonBody, PathOf, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::tools::ToolView;
use app::versions::{VersionPage, VersionView};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// 1 to 500; 50 unless given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RollbackBody {
    version: i64,
}

/// Every change of a tool, newest first, also after it was removed.
#[utoipa::path(get, path = "/api/v1/tools/{name}/versions", tag = "tools",
    params(("name" = String, Path, description = "Name or id"), PageQuery),
    responses((status = 200, body = VersionPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_versions(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<PageQuery>,
) -> Result<Json<VersionPage>, ApiError> {
    let page = server
        .app
        .tool_versions(&caller, &name, query.limit, query.cursor.as_deref())
        .await?;
    Ok(Json(page))
}

/// One version, with what it changed.
#[utoipa::path(get, path = "/api/v1/tools/{name}/versions/{version}", tag = "tools",
    params(("name" = String, Path, description = "Name or id"), ("version" = i64, Path)),
    responses((status = 200, body = VersionView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_version(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf((name, version)): PathOf<(String, i64)>,
) -> Result<Json<VersionView>, ApiError> {
    Ok(Json(
        server.app.tool_version(&caller, &name, version).await?,
    ))
}

/// Makes an earlier version the newest one.
#[utoipa::path(post, path = "/api/v1/tools/{name}/rollback", tag = "tools",
    params(("name" = String, Path, description = "Name or id")), request_body = RollbackBody,
    responses((status = 200, body = ToolView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn rollback_tool(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    JsonBody(body): JsonBody<RollbackBody>,
) -> Result<Json<ToolView>, ApiError> {
    let work = async move { server.app.rollback_tool(caller, &name, body.version).await };
    Ok(Json(owned(work).await?))
}

/// Brings a removed tool back.
#[utoipa::path(post, path = "/api/v1/tools/{name}/restore", tag = "tools",
    params(("name" = String, Path, description = "Name or id")),
    responses((status = 200, body = ToolView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn restore_tool(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
) -> Result<Json<ToolView>, ApiError> {
    Ok(Json(
        owned(async move { server.app.restore_tool(caller, &name).await }).await?,
    ))
}
