//! Requests of which somebody confirmed that a tool was right for them.

use super::tools::owned;
use crate::auth::{CanAuthor, CanRead};
use crate::body::{JsonBody, PathOf, PerhapsBody, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::select::{ConfirmedPage, ConfirmedView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use executor::Code;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"query": "How much is 2,300 with tax?"}))]
pub(crate) struct ConfirmedBody {
    /// What somebody wanted to have done, 1 to 1,000 characters.
    query: String,
}

/// The requests of which somebody confirmed that this tool was right.
#[utoipa::path(get, path = "/api/v1/tools/{name}/confirmed", tag = "selection",
    params(("name" = String, Path, description = "Name or id")),
    responses((status = 200, body = ConfirmedPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_confirmed(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<ConfirmedPage>, ApiError> {
    Ok(Json(server.app.confirmed(&caller, &name).await?))
}

/// Confirms that this tool is right for a request, which counts as an example of it from now on. For who may change the
/// tool; needs `selection.confirmed`. 20 are kept, and the oldest leaves.
#[utoipa::path(post, path = "/api/v1/tools/{name}/confirmed", tag = "selection",
    params(("name" = String, Path, description = "Name or id")), request_body = ConfirmedBody,
    responses((status = 201, body = ConfirmedView),
        (status = 200, body = ConfirmedView, description = "It was confirmed already"),
        (status = "4XX", body = ErrorBody)))]
pub(crate) async fn confirm(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    JsonBody(body): JsonBody<ConfirmedBody>,
) -> Result<(StatusCode, Json<ConfirmedView>), ApiError> {
    let work = async move { server.app.confirm(&caller, &name, &body.query).await };
    let (view, is_new) = owned(work).await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(view)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnconfirmQuery {
    /// Whether all requests of the tool are meant; then there is no body.
    #[serde(default)]
    all: bool,
}

/// Takes back what was confirmed: the request of the body or, with `all=true`, all of this tool.
#[utoipa::path(delete, path = "/api/v1/tools/{name}/confirmed", tag = "selection",
    params(("name" = String, Path, description = "Name or id"), UnconfirmQuery), request_body = Option<ConfirmedBody>,
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn unconfirm(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<UnconfirmQuery>,
    PerhapsBody(body): PerhapsBody<ConfirmedBody>,
) -> Result<StatusCode, ApiError> {
    // A body that got lost on its way must not take everything with it.
    if query.all == body.is_some() {
        let why = "Say what to take back: one request with a body {\"query\": \"…\"}, or all of the tool with ?all=true and no body";
        return Err(ApiError::new(Code::Invalid, why));
    }
    let work = async move {
        let query = body.as_ref().map(|it| it.query.as_str());
        server.app.unconfirm(&caller, &name, query).await
    };
    owned(work).await?;
    Ok(StatusCode::NO_CONTENT)
}
