//! Daily quotas, and how much of every limit is used up.

use super::part::PartQuery;
use super::tools::owned;
use crate::auth::{Anyone, CanOperate};
use crate::body::{JsonBody, PathOf, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::limits::{LimitView, UsageView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use catalog::caller::Caller;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"target_type": "USER", "target_id": "kim", "max_count": 50}))]
pub(crate) struct LimitBody {
    /// USER or TOOL.
    target_type: String,
    /// Name or id of the user or tool.
    target_id: String,
    /// Calls within a day, which begins at midnight UTC; 0 refuses every call.
    max_count: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LimitPage {
    items: Vec<LimitView>,
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsagePage {
    items: Vec<UsageView>,
    next_cursor: Option<String>,
}

/// Every daily quota; who may not set them sees their own.
#[utoipa::path(get, path = "/api/v1/limits", tag = "limits", params(PartQuery),
    responses((status = 200, body = LimitPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_limits(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    QueryOf(query): QueryOf<PartQuery>,
) -> Result<Json<LimitPage>, ApiError> {
    let (items, next_cursor) = server.app.list_limits(&caller, &query.into()).await?;
    Ok(Json(LimitPage { items, next_cursor }))
}

/// Sets the daily quota of a user or tool, or another one in its place.
#[utoipa::path(post, path = "/api/v1/limits", tag = "limits", request_body = LimitBody,
    responses((status = 201, body = LimitView), (status = 200, body = LimitView, description = "There was one already"),
        (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_limit(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    JsonBody(body): JsonBody<LimitBody>,
) -> Result<(StatusCode, Json<LimitView>), ApiError> {
    set(server, caller, body).await
}

/// The same as POST.
#[utoipa::path(put, path = "/api/v1/limits", tag = "limits", request_body = LimitBody,
    responses((status = 201, body = LimitView), (status = 200, body = LimitView, description = "There was one already"),
        (status = "4XX", body = ErrorBody)))]
pub(crate) async fn set_limit(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    JsonBody(body): JsonBody<LimitBody>,
) -> Result<(StatusCode, Json<LimitView>), ApiError> {
    set(server, caller, body).await
}

async fn set(
    server: Arc<Server>,
    caller: Arc<Caller>,
    body: LimitBody,
) -> Result<(StatusCode, Json<LimitView>), ApiError> {
    let work = async move {
        let (kind, target) = (&body.target_type, &body.target_id);
        let app = &server.app;
        app.set_limit(&caller, kind, target, body.max_count).await
    };
    let (limit, is_new) = owned(work).await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(limit)))
}

/// Lifts a quota; by id also where its user or tool is gone.
#[utoipa::path(delete, path = "/api/v1/limits/{target_type}/{target_id}", tag = "limits",
    params(("target_type" = String, Path, description = "USER or TOOL"),
        ("target_id" = String, Path, description = "Name or id")),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn delete_limit(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf((target_type, target)): PathOf<(String, String)>,
) -> Result<StatusCode, ApiError> {
    let work = async move {
        let app = &server.app;
        app.delete_limit(&caller, &target_type, &target).await
    };
    owned(work).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How much of each limit is used up; who may not set limits sees their own.
#[utoipa::path(get, path = "/api/v1/usage", tag = "limits", params(PartQuery),
    responses((status = 200, body = UsagePage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn usage(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    QueryOf(query): QueryOf<PartQuery>,
) -> Result<Json<UsagePage>, ApiError> {
    let (items, next_cursor) = server.app.usage(&caller, &query.into()).await?;
    Ok(Json(UsagePage { items, next_cursor }))
}
