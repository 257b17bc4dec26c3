//! Who asks, and whether they may: extractors that a handler names in its signature and so cannot forget.

use crate::error::ApiError;
use crate::router::Server;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use catalog::caller::{Caller, Scope, Transport};
use executor::Code;
use std::sync::Arc;

/// Which door a connection came through; set by the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// The TCP port: a key is needed unless the server runs with `--dev`.
    Network,
    /// The owner's Unix socket: the system has checked that it is the same user.
    Socket,
}

pub(crate) fn authenticate(parts: &Parts, server: &Server) -> Result<Arc<Caller>, ApiError> {
    if parts.extensions.get::<Door>() == Some(&Door::Socket) {
        return Ok(Arc::clone(&server.local));
    }
    match shown_key(parts) {
        Some(key) => Ok(server
            .app
            .access
            .load()
            .by_key(key, server.app.clock.now())?),
        None if server.dev && is_local(parts) => Ok(Arc::clone(&server.developer)),
        None if server.dev => Err(ApiError::new(
            Code::Forbidden,
            "--dev answers without a key only under a loopback name (localhost, 127.0.0.1 or [::1]) and to no page of another site",
        )),
        None => Err(ApiError::new(
            Code::Unauthenticated,
            "An API key is needed: send it as 'X-API-Key: …' or 'Authorization: Bearer …'",
        )),
    }
}

/// A page of another site can reach this machine by a name that resolves to it, or straight from its script.
/// Its browser tells on it in one of these two headers.
fn is_local(parts: &Parts) -> bool {
    let loopback = |authority: &str| {
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
            _ => authority,
        };
        ["localhost", "127.0.0.1", "[::1]"].contains(&host)
    };
    let text = |name| {
        parts
            .headers
            .get(name)
            .map(|v: &HeaderValue| v.to_str().unwrap_or(""))
    };
    let host = text(header::HOST).or_else(|| parts.uri.authority().map(|a| a.as_str()));
    let origin = text(header::ORIGIN);
    host.is_some_and(loopback)
        && origin.is_none_or(|o| o.split_once("://").is_some_and(|(_, host)| loopback(host)))
}

fn shown_key(parts: &Parts) -> Option<&str> {
    let text = |name| {
        parts
            .headers
            .get(name)
            .map(|value: &HeaderValue| value.to_str().unwrap_or(""))
    };
    if let Some(key) = text(header::HeaderName::from_static("x-api-key")) {
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

macro_rules! extractors {
    ($($(#[$doc:meta])* $name:ident needs $scope:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Arc<Caller>);

        impl FromRequestParts<Arc<Server>> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
                let caller = authenticate(parts, server)?;
                if !caller.scopes.allow(Scope::$scope) {
                    let need = Scope::$scope.as_str();
                    let message = format!("This needs a key with the scope '{need}'");
                    return Err(ApiError::new(Code::Forbidden, message));
                }
                Ok($name(caller))
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
        authenticate(parts, server).map(Anyone)
    }
}
