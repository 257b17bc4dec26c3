//! Logging in and out with a browser: the session's secret lives in a cookie that only this site can set and read.

use super::oidc::failed;
use super::tools::owned;
use crate::auth::{Anyone, IsAdmin, SESSION_COOKIE, session_secret};
use crate::body::{JsonBody, PathOf};
use crate::doorway;
use crate::edge::Client;
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::login::{LoginLink, NewSession, SESSION_SECONDS};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoginBody {
    name: String,
    password: String,
}

/// Who has logged in.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LoggedIn {
    user: String,
    role: &'static str,
}

/// A link that opens a session, once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LinkBody {
    #[serde(flatten)]
    link: LoginLink,
    /// The whole address, as far as the server knows how it is reached.
    url: Option<String>,
}

/// Opens a session for a name and a password; it comes as a cookie.
#[utoipa::path(post, path = "/api/v1/login", tag = "users", request_body = LoginBody, security(()),
    responses((status = 200, body = LoggedIn), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn login(
    State(server): State<Arc<Server>>,
    Client(address): Client,
    JsonBody(body): JsonBody<LoginBody>,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.login(&body.name, &body.password, address).await
    };
    let session = owned(work).await?;
    let cookie = session_cookie(&session);
    let who = Json(LoggedIn {
        user: session.user,
        role: session.role,
    });
    Ok(([(header::SET_COOKIE, cookie)], who).into_response())
}

/// Ends the session.
#[utoipa::path(post, path = "/api/v1/logout", tag = "users",
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn logout(
    State(server): State<Arc<Server>>,
    Anyone(_caller): Anyone,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if let Some(secret) = session_secret(&headers).map(str::to_owned) {
        owned(async move { server.app.logout(&secret).await }).await?;
    }
    let gone = format!("{SESSION_COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0");
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response())
}

/// Makes a link that lets a user in once, for when they have no password.
#[utoipa::path(post, path = "/api/v1/users/{name}/login-link", tag = "users", params(("name" = String, Path)),
    responses((status = 201, body = LinkBody), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_login_link(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    PathOf(name): PathOf<String>,
) -> Result<(StatusCode, Json<LinkBody>), ApiError> {
    let app = Arc::clone(&server.app);
    let link = owned(async move { app.new_login_link(&caller, &name).await }).await?;
    let edge = &server.edge;
    let site = edge.url.as_ref().or(edge.listens.as_ref());
    let url = site.map(|site| format!("{}{}", site.trim_end_matches('/'), link.path));
    Ok((StatusCode::CREATED, Json(LinkBody { link, url })))
}

pub(crate) async fn link_page() -> Response {
    doorway::link()
}

pub(crate) async fn use_link(
    State(server): State<Arc<Server>>,
    Client(address): Client,
    PathOf(token): PathOf<String>,
) -> Response {
    let app = Arc::clone(&server.app);
    match owned(async move { app.login_by_link(&token, address).await }).await {
        Ok(session) => {
            let cookie = session_cookie(&session);
            ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
        }
        // A person is looking.
        Err(error) => failed(&server, &error),
    }
}

/// `__Host-`: browsers take it from this host only, over TLS or on this machine, and send it nowhere else.
pub(crate) fn session_cookie(session: &NewSession) -> HeaderValue {
    let text = format!(
        "{SESSION_COOKIE}={}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={SESSION_SECONDS}",
        session.secret
    );
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}
