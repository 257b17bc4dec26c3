//! Users: made and changed by admins; everybody sees themselves and changes their own password.

use super::part::PartQuery;
use super::tools::owned;
use crate::auth::{Anyone, IsAdmin};
use crate::body::{JsonBody, PathOf, QueryOf, present};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::erasure::ErasureView;
use app::reassign::Reassigned;
use app::users::{NewUser, UserChange, UserView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserBody {
    /// Letters, digits, _ . - @ or +; it stays the user's for good.
    name: String,
    /// At least 8 characters; without one they only use keys.
    password: Option<String>,
    /// viewer, operator, author or admin.
    role: String,
    /// Whom the identity provider knows them as (`sub`), so that they log in there.
    oidc_subject: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserPatch {
    role: Option<String>,
    password: Option<String>,
    /// Needed to change one's own password.
    current_password: Option<String>,
    /// Whom the identity provider knows them as (`sub`); null parts them.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>)]
    oidc_subject: Option<Option<String>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReassignBody {
    /// Who gets it.
    to: String,
    /// Only these tools; everything where it is left out.
    tools: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EraseQuery {
    /// Who gets what they own; without it they may own nothing.
    to: Option<String>,
    /// Only says what would be erased.
    dry_run: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserPage {
    items: Vec<UserView>,
    next_cursor: Option<String>,
}

/// Who asks, and what they may do.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Me {
    user: String,
    role: &'static str,
    /// The name of the key that was shown.
    key: Option<String>,
    scopes: Vec<&'static str>,
    transport: &'static str,
}

/// Who you are to this server.
#[utoipa::path(get, path = "/api/v1/me", tag = "users",
    responses((status = 200, body = Me), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn me(Anyone(caller): Anyone) -> Json<Me> {
    Json(Me {
        user: caller.user_name.to_string(),
        role: caller.role.as_str(),
        key: caller.key.as_deref().map(str::to_owned),
        scopes: caller.scopes.names(),
        transport: caller.transport.as_str(),
    })
}

/// Everybody, by name; who is no admin sees only themselves.
#[utoipa::path(get, path = "/api/v1/users", tag = "users", params(PartQuery),
    responses((status = 200, body = UserPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_users(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    QueryOf(query): QueryOf<PartQuery>,
) -> Result<Json<UserPage>, ApiError> {
    let (items, next_cursor) = server.app.list_users(&caller, &query.into())?;
    Ok(Json(UserPage { items, next_cursor }))
}

/// Makes a user.
#[utoipa::path(post, path = "/api/v1/users", tag = "users", request_body = UserBody,
    responses((status = 201, body = UserView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_user(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    JsonBody(body): JsonBody<UserBody>,
) -> Result<(StatusCode, Json<UserView>), ApiError> {
    let work = async move {
        let new = NewUser {
            name: &body.name,
            password: body.password.as_deref(),
            role: &body.role,
            oidc_subject: body.oidc_subject.as_deref(),
        };
        server.app.create_user(&caller, &new).await
    };
    Ok((StatusCode::CREATED, Json(owned(work).await?)))
}

/// One user.
#[utoipa::path(get, path = "/api/v1/users/{name}", tag = "users", params(("name" = String, Path)),
    responses((status = 200, body = UserView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_user(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    PathOf(name): PathOf<String>,
) -> Result<Json<UserView>, ApiError> {
    Ok(Json(server.app.get_user(&caller, &name)?))
}

/// Changes a role, a password, or the link to the identity provider. Sessions opened with an old password end.
#[utoipa::path(patch, path = "/api/v1/users/{name}", tag = "users", params(("name" = String, Path)),
    request_body = UserPatch,
    responses((status = 200, body = UserView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn change_user(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    PathOf(name): PathOf<String>,
    JsonBody(body): JsonBody<UserPatch>,
) -> Result<Json<UserView>, ApiError> {
    let work = async move {
        let change = UserChange {
            role: body.role.as_deref(),
            password: body.password.as_deref(),
            current_password: body.current_password.as_deref(),
            oidc_subject: body.oidc_subject.as_ref().map(Option::as_deref),
        };
        server.app.change_user(&caller, &name, &change).await
    };
    Ok(Json(owned(work).await?))
}

/// Removes a user. Their keys are revoked and their sessions end; what is theirs is kept, out of use.
#[utoipa::path(delete, path = "/api/v1/users/{name}", tag = "users", params(("name" = String, Path)),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn delete_user(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    PathOf(name): PathOf<String>,
) -> Result<StatusCode, ApiError> {
    owned(async move { server.app.delete_user(&caller, &name).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Brings a removed user back. Their keys stay revoked; make new ones.
#[utoipa::path(post, path = "/api/v1/users/{name}/restore", tag = "users", params(("name" = String, Path)),
    responses((status = 200, body = UserView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn restore_user(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    PathOf(name): PathOf<String>,
) -> Result<Json<UserView>, ApiError> {
    let work = async move { server.app.restore_user(&caller, &name).await };
    Ok(Json(owned(work).await?))
}

/// Gives what a user owns to somebody else, all or nothing; without `tools` also what was removed.
#[utoipa::path(post, path = "/api/v1/users/{name}/reassign", tag = "users", params(("name" = String, Path)),
    request_body = ReassignBody,
    responses((status = 200, body = Reassigned), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn reassign(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    PathOf(name): PathOf<String>,
    JsonBody(body): JsonBody<ReassignBody>,
) -> Result<Json<Reassigned>, ApiError> {
    let work = async move {
        let tools = body.tools.as_deref();
        server.app.reassign(caller, &name, &body.to, tools).await
    };
    Ok(Json(owned(work).await?))
}

/// Erases a person's data: who they are becomes a pseudonym in the execution log and the audit log, and what they said in calls,
/// their keys, sessions, secrets, tokens and confirmed requests are removed. It cannot be undone.
#[utoipa::path(post, path = "/api/v1/users/{name}/erase", tag = "users", params(("name" = String, Path), EraseQuery),
    responses((status = 200, body = ErasureView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn erase_user(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<EraseQuery>,
) -> Result<Json<ErasureView>, ApiError> {
    let work = async move {
        let (to, dry_run) = (query.to.as_deref(), query.dry_run == Some(true));
        server.app.erase_user(caller, &name, to, dry_run).await
    };
    Ok(Json(owned(work).await?))
}
