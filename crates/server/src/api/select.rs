//! Which tool a request needs.

use crate::auth::CanRead;
use crate::body::JsonBody;
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::select::{Request, SelectView};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"query": "What is 15 percent of 2,300?", "limit": 3}))]
pub(crate) struct SelectBody {
    /// What somebody wants to have done, in English or Korean.
    query: String,
    /// How many candidates are told; 5 unless given.
    limit: Option<usize>,
    /// Names of the tools to choose from; all that the caller may call unless given.
    tools: Option<Vec<String>>,
}

/// Chooses the tool that a request needs, says whether it needs one at all, and whether it says enough to call it.
/// Nothing is called.
#[utoipa::path(post, path = "/api/v1/select", tag = "selection", request_body = SelectBody,
    responses((status = 200, body = SelectView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn select(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    JsonBody(body): JsonBody<SelectBody>,
) -> Result<Json<SelectView>, ApiError> {
    let request = Request {
        query: body.query,
        limit: body.limit,
        among: body.tools,
        may_wait: false,
    };
    Ok(Json(server.app.select(caller, request).await?))
}
