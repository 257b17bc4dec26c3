//! API keys: made, listed, revoked by an admin.

use super::tools::owned;
use crate::auth::IsAdmin;
use crate::body::{JsonBody, PathOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::keys::{KeyView, NewKey};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use executor::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyBody {
    name: String,
    /// Only `admin` until there are more users.
    user: Option<String>,
    /// Any of read, call, author, admin.
    scopes: Vec<String>,
    /// A time such as 2027-01-31T12:00:00Z.
    expires_at: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyPage {
    items: Vec<KeyView>,
    next_cursor: Option<String>,
}

/// Every key, never its secret.
#[utoipa::path(get, path = "/api/v1/keys", tag = "keys",
    responses((status = 200, body = KeyPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_keys(
    State(server): State<Arc<Server>>,
    IsAdmin(_caller): IsAdmin,
) -> Result<Json<KeyPage>, ApiError> {
    let items = server.app.list_keys().await?;
    Ok(Json(KeyPage {
        items,
        next_cursor: None,
    }))
}

/// Makes a key and shows it, once.
#[utoipa::path(post, path = "/api/v1/keys", tag = "keys", request_body = KeyBody,
    responses((status = 201, body = NewKey), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_key(
    State(server): State<Arc<Server>>,
    IsAdmin(_caller): IsAdmin,
    JsonBody(body): JsonBody<KeyBody>,
) -> Result<(StatusCode, Json<NewKey>), ApiError> {
    if let Some(user) = body.user.filter(|user| user != "admin") {
        return Err(ApiError::new(
            Code::Invalid,
            format!("user: there is no user '{user}'"),
        ));
    }
    let work = async move {
        server
            .app
            .create_key(&body.name, &body.scopes, body.expires_at.as_deref())
            .await
    };
    Ok((StatusCode::CREATED, Json(owned(work).await?)))
}

/// Revokes a key; the next request with it is refused.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "keys", params(("id" = Uuid, Path)),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn revoke_key(
    State(server): State<Arc<Server>>,
    IsAdmin(_caller): IsAdmin,
    PathOf(id): PathOf<String>,
) -> Result<StatusCode, ApiError> {
    // What is no id is the id of no key, as with executions.
    let id = Uuid::parse_str(&id).map_err(|_| app::Error::NotFound {
        what: "Key",
        name: id,
    })?;
    owned(async move { server.app.revoke_key(id).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
