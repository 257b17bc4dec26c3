//! Who asks, and whether they may: extractors that a handler names in its signature and so cannot forget.

use crate::api::tools::owned;
use crate::edge::{LOOPBACK, host_of, is_same_site, name_of};
use crate::error::{ApiError, Lack};
use crate::router::Server;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use catalog::caller::{Caller, Scope, Transport};
use executor::Code;
use serde_json::json;
use std::net::IpAddr;
use std::sync::Arc;

/// Which door a connection came through; set by the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// The TCP port: a key is needed unless the server runs with `--dev`.
    Network(IpAddr),
    /// The owner's Unix socket: the system has checked that it is the same user.
    Socket,
}

pub(crate) const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The cookie of a session.
pub(crate) const SESSION_COOKIE: &str = "__Host-toolcrib";

/// What a request tells of who sends it.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) headers: &'a HeaderMap,
    pub(crate) uri: &'a Uri,
    pub(crate) method: &'a Method,
    pub(crate) door: Option<Door>,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(parts: &'a Parts) -> Self {
        Shown {
            headers: &parts.headers,
            uri: &parts.uri,
            method: &parts.method,
            door: parts.extensions.get().copied(),
        }
    }
}

pub(crate) async fn authenticate(
    shown: Shown<'_>,
    server: &Server,
) -> Result<Arc<Caller>, ApiError> {
    if shown.door == Some(Door::Socket) {
        return Ok(Arc::clone(&server.local));
    }
    let now = server.app.clock.now();
    if let Some(key) = shown_key(shown.headers) {
        let mut known = server.app.access.load().by_key(key, now);
        let may_be_token = server.app.takes_tokens() && is_token(shown.headers);
        if known.is_err() && server.app.is_shared() && !may_be_token {
            look_elsewhere(server).await;
            known = server.app.access.load().by_key(key, now);
        }
        return match known {
            Err(app::Error::Unauthenticated(_)) if may_be_token => {
                // Boxed: those who show a key need not carry what asking an issuer takes.
                Box::pin(by_token(shown, server, key)).await
            }
            known => Ok(known?),
        };
    }
    if let Some(secret) = session_secret(shown.headers) {
        let mut known = server.app.access.load().by_session(secret, now);
        if known.is_err() && server.app.is_shared() {
            look_elsewhere(server).await;
            known = server.app.access.load().by_session(secret, now);
        }
        let caller = known?;
        check_own_page(shown)?;
        return Ok(caller);
    }
    if !server.dev {
        return Err(ApiError::new(
            Code::Unauthenticated,
            "An API key is needed: send it as 'X-API-Key: …' or 'Authorization: Bearer …'",
        ));
    }
    if is_local(shown) {
        return Ok(Arc::clone(&server.developer));
    }
    Err(ApiError::new(
        Code::Forbidden,
        "--dev answers without a key only under a loopback name (localhost, 127.0.0.1 or [::1]) and to no page of another site",
    ))
}

/// A key or session that another server made a moment ago is good here.
async fn look_elsewhere(server: &Server) {
    // Boxed: those who are known need not carry it.
    Box::pin(server.app.may_have_missed()).await;
}

async fn by_token(shown: Shown<'_>, server: &Server, key: &str) -> Result<Arc<Caller>, ApiError> {
    let own = server.edge.resource_url(shown.headers, shown.uri, "").ok();
    if let Some(caller) = server.app.by_known_token(key, own.as_deref())? {
        return Ok(caller);
    }
    // It may make a user, or store another role.
    let (app, key) = (Arc::clone(&server.app), key.to_owned());
    owned(async move { app.by_token(&key, own.as_deref()).await }).await
}

/// The secret of the session that a browser sends along.
pub(crate) fn session_secret(headers: &HeaderMap) -> Option<&str> {
    cookie(headers, SESSION_COOKIE)
}

pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let mut pairs = cookies
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// A browser sends the cookie along whoever made it ask. What changes something must come from a page of ours, and the
/// browser says so in one of two headers.
fn check_own_page(shown: Shown<'_>) -> Result<(), ApiError> {
    if shown.method.is_safe() {
        return Ok(());
    }
    let text = |name: &str| shown.headers.get(name).and_then(|v| v.to_str().ok());
    let host = host_of(shown.headers, shown.uri);
    let own = match (text("origin"), text("sec-fetch-site")) {
        (Some(origin), _) => is_same_site(origin, host),
        (None, Some(site)) => site == "same-origin",
        (None, None) => false,
    };
    if own {
        return Ok(());
    }
    Err(ApiError::new(
        Code::Forbidden,
        "A session only changes things from this server's own pages; programs use an API key",
    ))
}

/// A page of another site can reach this machine by a name that resolves to it, or straight from its script.
/// Its browser tells on it in one of these two headers.
fn is_local(shown: Shown<'_>) -> bool {
    let loopback = |authority: &str| LOOPBACK.contains(&name_of(authority));
    let origin = shown.headers.get(header::ORIGIN);
    let origin = origin.map(|v| v.to_str().unwrap_or(""));
    host_of(shown.headers, shown.uri).is_some_and(loopback)
        && origin.is_none_or(|o| o.split_once("://").is_some_and(|(_, host)| loopback(host)))
}

/// Whether what is shown as a key is a signed token: three parts, as no key has. Tokens are for one header only.
pub(crate) fn is_token(headers: &HeaderMap) -> bool {
    !headers.contains_key(API_KEY)
        && shown_key(headers)
            .is_some_and(|key| key.starts_with("ey") && key.split('.').count() == 3)
}

fn shown_key(headers: &HeaderMap) -> Option<&str> {
    let text = |name| {
        headers
            .get(name)
            .map(|value: &HeaderValue| value.to_str().unwrap_or(""))
    };
    if let Some(key) = text(API_KEY) {
        return Some(key.trim());
    }
    let (scheme, key) = text(header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// The local user on the owner's socket, and anybody on loopback with `--dev`.
pub(crate) fn keyless(name: &str, transport: Transport) -> Arc<Caller> {
    Arc::new(Caller {
        key: None,
        transport,
        ..app::access::operator_caller(name)
    })
}

/// The refusal names the scope where another key or token could have it: nobody has more than their role.
pub(crate) fn lacks(caller: &Caller, scope: Scope) -> ApiError {
    let need = scope.as_str();
    let mut error = ApiError::new(
        Code::Forbidden,
        format!("This needs a key with the scope '{need}'"),
    );
    if caller.role.scopes().allow(scope) {
        error.details = json!({"required_scope": need});
        error.lack = Some(Lack {
            needed: scope,
            held: caller.scopes,
        });
    }
    error
}

macro_rules! extractors {
    ($($(#[$doc:meta])* $name:ident needs $scope:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Arc<Caller>);

        impl FromRequestParts<Arc<Server>> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
                let caller = authenticate(Shown::of(parts), server).await?;
                match caller.scopes.allow(Scope::$scope) {
                    true => Ok($name(caller)),
                    false => Err(lacks(&caller, Scope::$scope)),
                }
            }
        }
    )*};
}

extractors! {
    /// May look at tools and executions.
    CanRead needs Read;
    /// May call tools.
    CanCall needs Call;
    /// May make and change tools.
    CanAuthor needs Author;
    /// May set limits.
    CanOperate needs Operate;
    /// May do everything.
    IsAdmin needs Admin;
}

/// Whoever is let in at all; the operation looks at what they may.
pub(crate) struct Anyone(pub(crate) Arc<Caller>);

impl FromRequestParts<Arc<Server>> for Anyone {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
        let caller = authenticate(Shown::of(parts), server).await;
        caller.map(Anyone)
    }
}
