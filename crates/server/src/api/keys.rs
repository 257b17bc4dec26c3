//! API keys: people handle their own, admins everybody's.

use super::part::PartQuery;
use super::tools::owned;
use crate::auth::Anyone;
use crate::body::{JsonBody, PathOf, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::keys::{KeyRequest, KeyView, NewKey};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyBody {
    name: String,
    /// Whose key it is; your own where it is left out.
    user: Option<String>,
    /// Any of read, call, author, operate, admin; no more than the user's role allows.
    scopes: Vec<String>,
    /// A time such as 2027-01-31T12:00:00Z.
    expires_at: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyPage {
    items: Vec<KeyView>,
    next_cursor: Option<String>,
}

/// Every key, never its secret; who is no admin sees their own.
#[utoipa::path(get, path = "/api/v1/keys", tag = "keys", params(PartQuery),
    responses((status = 200, body = KeyPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_keys(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    QueryOf(query): QueryOf<PartQuery>,
) -> Result<Json<KeyPage>, ApiError> {
    let (items, next_cursor) = server.app.list_keys(&caller, &query.into()).await?;
    Ok(Json(KeyPage { items, next_cursor }))
}

/// Makes a key and shows it, once.
#[utoipa::path(post, path = "/api/v1/keys", tag = "keys", request_body = KeyBody,
    responses((status = 201, body = NewKey), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_key(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    JsonBody(body): JsonBody<KeyBody>,
) -> Result<(StatusCode, Json<NewKey>), ApiError> {
    let work = async move {
        let asked = KeyRequest {
            name: &body.name,
            user: body.user.as_deref(),
            scopes: &body.scopes,
            expires_at: body.expires_at.as_deref(),
        };
        server.app.create_key(&caller, &asked).await
    };
    Ok((StatusCode::CREATED, Json(owned(work).await?)))
}

/// Revokes a key; the next request with it is refused.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "keys", params(("id" = Uuid, Path)),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn revoke_key(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    PathOf(id): PathOf<String>,
) -> Result<StatusCode, ApiError> {
    // What is no id is the id of no key, as with executions.
    let id = Uuid::parse_str(&id).map_err(|_| app::Error::NotFound {
        what: "Key",
        name: id,
    })?;
    owned(async move { server.app.revoke_key(&caller, id).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
