//! Named secrets: authors keep their own, admins all. No answer holds a value.

use super::part::PartQuery;
use super::tools::owned;
use crate::auth::{CanAuthor, IsAdmin};
use crate::body::{JsonText, PathOf, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use crate::unlisted::Unlisted;
use app::secrets::{Rotation, SecretCheck, SecretView};
use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use executor::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretBody {
    /// 1 to 65536 bytes; sealed at once and never shown again.
    value: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SecretPage {
    items: Vec<SecretView>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SetQuery {
    /// Whose a new secret is, where an admin sets it for somebody else.
    owner: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemoveQuery {
    /// Also one that tools use; they fail from then on.
    pub(super) force: Option<bool>,
}

/// Every named secret, never its value; who is no admin sees their own.
#[utoipa::path(get, path = "/api/v1/secrets", tag = "secrets", params(PartQuery),
    responses((status = 200, body = SecretPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_secrets(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    QueryOf(query): QueryOf<PartQuery>,
) -> Result<Json<SecretPage>, ApiError> {
    let (items, next_cursor) = server.app.list_secrets(&caller, &query.into()).await?;
    Ok(Json(SecretPage { items, next_cursor }))
}

/// Sets a secret; tools refer to it as `{"$secret": "name"}`.
#[utoipa::path(put, path = "/api/v1/secrets/{name}", tag = "secrets",
    params(("name" = String, Path), SetQuery), request_body = SecretBody,
    responses((status = 200, body = SecretView), (status = 201, body = SecretView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn set_secret(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<SetQuery>,
    JsonText(text): JsonText,
) -> Result<(StatusCode, Json<SecretView>), ApiError> {
    // Not told any closer what is wrong: the words of the JSON reader repeat what they trip over.
    let body: SecretBody = serde_json::from_str(&text).map_err(|_| {
        ApiError::new(
            Code::InvalidRequest,
            "The body must be {\"value\": \"…\"} and nothing else",
        )
    })?;
    let work = async move {
        let owner = query.owner.as_deref();
        server
            .app
            .set_secret(&caller, &name, &body.value, owner)
            .await
    };
    let (secret, is_new) = owned(work).await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(secret)))
}

/// Removes a secret; one that tools refer to only with `force`.
#[utoipa::path(delete, path = "/api/v1/secrets/{name}", tag = "secrets",
    params(("name" = String, Path), RemoveQuery),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn remove_secret(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<RemoveQuery>,
) -> Result<StatusCode, ApiError> {
    let force = query.force.unwrap_or(false);
    owned(async move { server.app.remove_secret(&caller, &name, force).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Puts every secret under the newest sealing key, also one that the key file has gained since the start. It goes on where an earlier one was cut off.
#[utoipa::path(post, path = "/api/v1/secrets/rotate", tag = "secrets",
    responses((status = 200, body = Rotation), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn rotate_secrets(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
) -> Result<Json<Rotation>, ApiError> {
    let work = async move { server.app.rotate_secrets(&caller).await };
    Ok(Json(owned(work).await?))
}

/// Opens every secret and names those that do not open.
#[utoipa::path(get, path = "/api/v1/secrets/verify", tag = "secrets",
    responses((status = 200, body = SecretCheck), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn verify_secrets(
    State(server): State<Arc<Server>>,
    IsAdmin(_caller): IsAdmin,
) -> Result<Json<SecretCheck>, ApiError> {
    Ok(Json(server.app.verify_secrets().await?))
}

/// Setting and removing a secret whose name is an address of its own.
pub(crate) fn named(path: &'static str, name: &'static str) -> [Unlisted; 2] {
    let of = move || PathOf(name.to_owned());
    [
        Unlisted::new(Method::PUT, path, move |server, caller, query, body| {
            set_secret(server, caller, of(), query, body)
        }),
        Unlisted::new(Method::DELETE, path, move |server, caller, query| {
            remove_secret(server, caller, of(), query)
        }),
    ]
}
