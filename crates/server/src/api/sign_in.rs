//! Signing in to upstream servers: a browser is sent to the server's authorization server, and comes back here or to
//! the command line that waits for it.

use super::oidc::failed;
use super::tools::owned;
use crate::auth::{Anyone, CanCall};
use crate::body::{JsonBody, PathOf, QueryOf};
use crate::doorway;
use crate::error::{ApiError, ErrorBody};
use crate::forward::{CameWhole, Lost};
use crate::router::Server;
use app::servers::ServerView;
use app::sign_in::{SignInAnswer, SignInBegun};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use executor::Code;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Where browsers come back to. Each server, with who gives its tokens, has a place of its own there.
pub(crate) const CALLBACK: &str = "/api/v1/servers/sign-in/callback/{place}";
const CALLBACKS: &str = "/api/v1/servers/sign-in/callback";

/// Where authorization servers read who we are, if this server has a public address. One of them is nobody to another:
/// it reads of one place only.
pub(crate) const DOCUMENT: &str = "/oauth/client-metadata/{place}";
const DOCUMENTS: &str = "/oauth/client-metadata";

/// Where a command line waits, whatever its port.
const AT_HOME: [&str; 2] = ["http://127.0.0.1/callback", "http://localhost/callback"];

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignInBody {
    /// Where the browser is to come back to: an address of the machine it runs on, such as
    /// `http://127.0.0.1:49152/callback`, with a word of the server's own behind it (`…/callback/WORD`). Without it the
    /// browser comes back to this server, and has to be logged in.
    #[serde(default)]
    redirect_uri: Option<String>,
}

#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FinishBody {
    /// What stood behind `/callback/` in the address that the browser came back to.
    place: String,
    state: String,
    code: Option<String>,
    iss: Option<String>,
    /// Why there is no code, in the authorization server's own word.
    error: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Returned {
    #[serde(default)]
    state: String,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// Begins to sign in to a server: send the browser to `authorize_url`. For everybody where the server is shown one
/// token for all (that needs the scope `operate`), for yourself where everybody has their own.
#[utoipa::path(post, path = "/api/v1/servers/{name}/sign-in", tag = "servers", params(("name" = String, Path)),
    request_body = SignInBody,
    responses((status = 200, body = SignInBegun), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub(crate) async fn begin_sign_in(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    PathOf(name): PathOf<String>,
    headers: HeaderMap,
    uri: Uri,
    JsonBody(body): JsonBody<SignInBody>,
) -> Result<Json<SignInBegun>, ApiError> {
    let redirect = match body.redirect_uri {
        Some(redirect) => at_home(redirect)?,
        None => server.edge.own_url(&headers, &uri, CALLBACKS)?,
    };
    let document = document_url(&server);
    let app = Arc::clone(&server.app);
    let work = async move { app.begin_sign_in(&caller, &name, &redirect, document).await };
    Ok(Json(owned(work).await?))
}

/// Ends a sign-in that came back to the command line. Only who began it can.
#[utoipa::path(post, path = "/api/v1/servers/{name}/sign-in/finish", tag = "servers", params(("name" = String, Path)),
    request_body = FinishBody,
    responses((status = 200, body = ServerView), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub(crate) async fn finish_sign_in(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    PathOf(name): PathOf<String>,
    came: CameWhole,
    JsonBody(body): JsonBody<FinishBody>,
) -> Result<Response, ApiError> {
    if let Some(keeper) = server.app.replicas.elsewhere(&body.state) {
        let sent = serde_json::to_vec(&body).unwrap_or_default();
        let passed = server.pass_on(keeper, came.as_came(), sent.into()).await;
        return passed.map_err(unkept);
    }
    let app = Arc::clone(&server.app);
    let work = async move {
        app.get_server(&caller, &name)?;
        let answer = SignInAnswer {
            place: body.place,
            state: body.state,
            code: body.code,
            iss: body.iss,
            error: body.error,
        };
        app.finish_sign_in(&caller, &answer).await
    };
    Ok(Json(owned(work).await?).into_response())
}

/// Forgets the token that a server is shown: everybody's, or your own.
#[utoipa::path(delete, path = "/api/v1/servers/{name}/sign-in", tag = "servers", params(("name" = String, Path)),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn sign_out(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    PathOf(name): PathOf<String>,
) -> Result<StatusCode, ApiError> {
    let app = Arc::clone(&server.app);
    owned(async move { app.sign_out(&caller, &name).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The browser is back. It completes only for whoever began, whom its login cookie tells.
pub(crate) async fn come_back(
    State(server): State<Arc<Server>>,
    who: Result<Anyone, ApiError>,
    PathOf(place): PathOf<String>,
    returned: Result<QueryOf<Returned>, ApiError>,
    came: CameWhole,
) -> Response {
    let (caller, returned) = match (who, returned) {
        (Ok(Anyone(caller)), Ok(QueryOf(returned))) => (caller, returned),
        // A person is looking.
        (Err(error), _) | (_, Err(error)) => return failed(&server, &error),
    };
    if let Some(keeper) = server.app.replicas.elsewhere(&returned.state) {
        let passed = server.pass_on(keeper, came.as_came(), Bytes::new()).await;
        return passed.unwrap_or_else(|lost| {
            let error = unkept(lost);
            doorway::not_signed_in(error.status(), &error.message)
        });
    }
    let app = Arc::clone(&server.app);
    let work = async move {
        let answer = SignInAnswer {
            place,
            state: returned.state,
            code: returned.code,
            iss: returned.iss,
            error: returned.error,
        };
        app.finish_sign_in(&caller, &answer).await
    };
    match owned(work).await {
        Ok(view) => doorway::signed_in(&view.name),
        Err(error) => doorway::not_signed_in(error.status(), &error.message),
    }
}

/// Who we are at one place, for authorization servers that read it.
pub(crate) async fn document(
    State(server): State<Arc<Server>>,
    PathOf(place): PathOf<String>,
) -> Result<Json<Value>, ApiError> {
    if !is_place(&place) {
        return Err(ApiError::new(Code::NotFound, "There is nothing here"));
    }
    let url = document_url(&server).ok_or_else(|| {
        ApiError::new(
            Code::NotFound,
            "This server has no public address; whoever runs it sets server.url to one that begins with https://",
        )
    })?;
    let site = url.strip_suffix(DOCUMENTS).unwrap_or_default();
    let own = format!("{site}{CALLBACKS}");
    let back = [own.as_str(), AT_HOME[0], AT_HOME[1]].map(|it| format!("{it}/{place}"));
    let back = back.each_ref().map(String::as_str);
    let about = oauth::Ours::document(&format!("{url}/{place}"), &back);
    Ok(Json(about))
}

/// Whether somebody could have been sent there.
fn is_place(text: &str) -> bool {
    let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == 32 && text.bytes().all(digit)
}

/// What is told where the server that a sign-in was begun on does not answer.
fn unkept(lost: Lost) -> ApiError {
    let why = match lost {
        Lost::Gone => "The server that this sign-in was begun on is gone. Begin again",
        Lost::Unanswered => {
            "The server that this sign-in was begun on did not answer; look whether you are signed in, or begin again"
        }
    };
    ApiError::new(Code::ServiceUnavailable, why)
}

fn document_url(server: &Server) -> Option<String> {
    let site = server.edge.url.as_deref()?;
    let site = site.trim_end_matches('/');
    site.starts_with("https://")
        .then(|| format!("{site}{DOCUMENTS}"))
}

/// A code goes to nobody but a program on the machine of whoever signs in.
fn at_home(redirect: String) -> Result<String, ApiError> {
    let fits = AT_HOME.iter().any(|home| {
        let (site, path) = home.split_at(home.len() - "/callback".len());
        let port = redirect
            .strip_prefix(site)
            .and_then(|rest| rest.strip_prefix(':')?.strip_suffix(path));
        port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
    });
    match fits {
        true => Ok(redirect),
        false => Err(ApiError::new(
            Code::Invalid,
            "redirect_uri: expected http://127.0.0.1:PORT/callback, an address on the machine of whoever signs in",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_of_one_place() {
        assert!(is_place(&oauth::place("s", "https://id.example")));
        assert!(!is_place("..") && !is_place(&"A".repeat(32)) && !is_place(""));
    }

    #[test]
    fn a_code_comes_back_to_the_same_machine_only() {
        for fine in [
            "http://127.0.0.1:49152/callback",
            "http://localhost:1/callback",
        ] {
            assert!(at_home(fine.to_owned()).is_ok(), "{fine}");
        }
        for bad in [
            "http://127.0.0.1/callback",
            "http://127.0.0.1:0/callback",
            "http://127.0.0.1:7@evil.example:1/callback",
            "https://evil.example/callback",
            "http://127.0.0.1.evil.example:7/callback",
            "http://127.0.0.1:7/other",
            "http://127.0.0.1:7/callback?x=1",
            "",
        ] {
            assert!(at_home(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
