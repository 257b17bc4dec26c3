//! OpenAPI documents: taken over as tools, and the tools as one.

use super::tools::owned;
use crate::auth::{CanAuthor, CanCall};
use crate::body::{JsonBody, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::openapi::{OpenApiImport, OpenApiImported};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::IntoParams;

/// Makes HTTP tools of the operations of an OpenAPI document; with `dry_run` it only says what would become of each.
#[utoipa::path(post, path = "/api/v1/openapi/import", tag = "tools", request_body = OpenApiImport,
    responses((status = 200, body = OpenApiImported), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn import_openapi(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    JsonBody(asked): JsonBody<OpenApiImport>,
) -> Result<Json<OpenApiImported>, ApiError> {
    let work = async move { server.app.import_openapi(caller, asked).await };
    Ok(Json(owned(work).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfferQuery {
    /// Only the tools of this toolset.
    toolset: Option<String>,
}

/// The tools you may call as an OpenAPI 3.1 document: one operation for each, which calls it.
#[utoipa::path(get, path = "/api/v1/openapi/tools", tag = "tools", params(OfferQuery),
    responses((status = 200, description = "The document", body = Object), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn tools_as_openapi(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    QueryOf(query): QueryOf<OfferQuery>,
) -> Result<Json<Value>, ApiError> {
    let toolset = query.toolset.as_deref();
    Ok(Json(server.app.tools_as_openapi(&caller, toolset)?))
}
