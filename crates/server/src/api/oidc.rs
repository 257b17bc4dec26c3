//! Logging in through an identity provider: the browser is sent there and comes back with a code. What goes wrong is
//! told on the page to log in on, for a person is looking.

use super::login::session_cookie;
use super::tools::owned;
use crate::auth::cookie;
use crate::doorway;
use crate::edge::Client;
use crate::error::ApiError;
use crate::router::Server;
use app::oidc::{Answer, BEGUN_SECONDS};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use executor::Code;
use serde::Deserialize;
use std::sync::Arc;

/// The secret that ties the way back to the way there. Lax: the way back begins on another site.
const BEGUN_COOKIE: &str = "__Host-toolcrib-login";

const CALLBACK: &str = "/login/oidc/callback";

#[derive(Deserialize)]
pub(crate) struct Returned {
    code: Option<String>,
    state: Option<String>,
    /// Why there is no code, in the provider's own word.
    error: Option<String>,
}

pub(crate) async fn login_page(State(server): State<Arc<Server>>) -> Response {
    doorway::login(StatusCode::OK, server.app.has_oidc(), None)
}

/// Sends the browser to the provider.
pub(crate) async fn begin(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let begun = async {
        configured(&server)?;
        let redirect = server.edge.own_url(&headers, &uri, CALLBACK)?;
        Ok::<_, ApiError>(server.app.begin_oidc(&redirect).await?)
    };
    match begun.await {
        Ok(begun) => {
            let cookie = begun_cookie(&begun.secret, BEGUN_SECONDS);
            (
                [(header::SET_COOKIE, cookie)],
                Redirect::to(&begun.location),
            )
                .into_response()
        }
        Err(error) => failed(&server, &error),
    }
}

/// The browser is back.
pub(crate) async fn finish(
    State(server): State<Arc<Server>>,
    Client(from): Client,
    headers: HeaderMap,
    uri: Uri,
    returned: Result<Query<Returned>, QueryRejection>,
) -> Response {
    if let Err(error) = configured(&server) {
        return failed(&server, &error);
    }
    let returned = returned.map(|Query(returned)| returned);
    let redirect = server.edge.own_url(&headers, &uri, CALLBACK);
    let secret = cookie(&headers, BEGUN_COOKIE).map(str::to_owned);
    let app = Arc::clone(&server.app);
    let work = async move {
        let again = |why: &str| app::Error::Unauthenticated(format!("{why}; begin again"));
        let returned =
            returned.map_err(|_| again("The identity provider's answer makes no sense"))?;
        if returned.error.is_some() {
            return Err(again("The identity provider did not let you in"));
        }
        let (Some(code), Some(state)) = (returned.code, returned.state) else {
            return Err(again("The identity provider's answer makes no sense"));
        };
        let lost = "This login was begun in another browser, under another name of this server, or too long ago";
        let secret = secret.ok_or_else(|| again(lost))?;
        let answer = Answer {
            secret: &secret,
            state: &state,
            code: &code,
            redirect_url: &redirect.map_err(|_| again(lost))?,
            from,
        };
        app.finish_oidc(&answer).await
    };
    match owned(work).await {
        Ok(session) => {
            let cookies = [session_cookie(&session), begun_cookie("", 0)];
            let cookies = cookies.map(|cookie| (header::SET_COOKIE, cookie));
            (AppendHeaders(cookies), Redirect::to("/")).into_response()
        }
        Err(error) => failed(&server, &error),
    }
}

/// Before anything else is said.
fn configured(server: &Server) -> Result<(), ApiError> {
    match server.app.has_oidc() {
        true => Ok(()),
        false => Err(ApiError::new(
            Code::NotFound,
            "There is no identity provider to log in with; whoever runs this server can name one in oidc.issuer",
        )),
    }
}

fn begun_cookie(secret: &str, seconds: i64) -> HeaderValue {
    let text = format!(
        "{BEGUN_COOKIE}={secret}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={seconds}"
    );
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

pub(crate) fn failed(server: &Server, error: &ApiError) -> Response {
    doorway::login(error.status(), server.app.has_oidc(), Some(&error.message))
}
