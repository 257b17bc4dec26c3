//! Requests about what another server on the same database keeps: they are passed on to it as they came, and its answer is
//! passed back as it comes.

use crate::auth::Door;
use crate::edge::host_of;
use crate::mcp::bodies::passed;
use crate::mcp::seat;
use crate::request::Counted;
use crate::router::Server;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use fetch::{Fetcher, Streaming, Target, Trust};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// On a request that was passed on: it goes no further. Whoever else writes it has only themselves refused.
const PASSED_ON: HeaderName = HeaderName::from_static("toolcrib-forwarded");

/// Servers of one installation are near each other. One that does not answer within this is as good as gone.
const CONNECT: Duration = Duration::from_secs(2);

/// What a header may say of one connection only (RFC 9110, 7.6.1), or is written anew for the next.
const OF_ONE_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::EXPECT,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// The client for it. Operators say where their servers are, so these addresses may be private.
pub(crate) fn client() -> Fetcher {
    Fetcher::new(fetch::Options {
        connect_timeout: CONNECT,
        ..fetch::Options::default()
    })
}

/// A request as it came, but for its body.
pub(crate) struct Came<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) door: Option<Door>,
}

/// The same for a handler that names it in its signature.
pub(crate) struct CameWhole(Parts);

impl FromRequestParts<Arc<Server>> for CameWhole {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Server>) -> Result<Self, Infallible> {
        Ok(CameWhole(parts.clone()))
    }
}

impl CameWhole {
    pub(crate) fn as_came(&self) -> Came<'_> {
        Came {
            method: &self.0.method,
            uri: &self.0.uri,
            headers: &self.0.headers,
            door: self.0.extensions.get().copied(),
        }
    }
}

/// Why there is no answer of another server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It is gone, and what it kept with it; or it cannot be reached. Nothing was sent.
    Gone,
    /// It was sent, and nothing came back.
    Unanswered,
}

impl Server {
    /// Passes a request on to the server of this name, which looks by itself who sends it.
    pub(crate) async fn pass_on(
        self: &Arc<Self>,
        owner: &str,
        came: Came<'_>,
        body: Bytes,
    ) -> Result<Response, Lost> {
        // Whoever comes through the owner's socket has nothing to show elsewhere.
        if came.door == Some(Door::Socket) || came.headers.contains_key(PASSED_ON) {
            return Err(Lost::Gone);
        }
        let address = self.app.find_replica(owner).await.ok_or(Lost::Gone)?;
        let target = Target::new(&address, Trust::Operator).map_err(|error| {
            tracing::warn!(owner, address, %error, "another server cannot be reached where it says");
            Lost::Gone
        })?;
        let path = came.uri.path_and_query().cloned();
        let target = target.asked_for(path.unwrap_or(PathAndQuery::from_static("/")));
        let headers = self.onward(&came);
        let asked = self
            .peers
            .open_at(&target, came.method.clone(), headers, body);
        let answer = tokio::select! {
            answer = asked => answer.map_err(|error| lost(owner, &error))?,
            () = self.app.replicas.gone(owner) => return Err(Lost::Unanswered),
        };
        self.pass_back(owner, came.method, answer).await
    }

    /// The headers as they came, the name we were called by and what proxies have written down among them: the other
    /// server stands behind the same proxies as this one.
    fn onward(&self, came: &Came<'_>) -> HeaderMap {
        let mut headers = came.headers.clone();
        drop_own(&mut headers);
        if !headers.contains_key(header::HOST)
            && let Some(host) = host_of(came.headers, came.uri)
            && let Ok(host) = HeaderValue::from_str(host)
        {
            headers.insert(header::HOST, host);
        }
        let name = HeaderValue::from_str(&self.app.replicas.instance);
        headers.insert(PASSED_ON, name.unwrap_or(HeaderValue::from_static("1")));
        headers
    }

    async fn pass_back(
        self: &Arc<Self>,
        owner: &str,
        method: &Method,
        mut answer: Streaming,
    ) -> Result<Response, Lost> {
        let mut headers = std::mem::take(&mut answer.headers);
        drop_own(&mut headers);
        let status = answer.status;
        let kind = headers.get(header::CONTENT_TYPE);
        let is_stream = kind.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
        let body = match (is_stream, method) {
            (false, _) => Body::from(all_of(owner, &mut answer).await?),
            // It ends only with its client, or with one of the servers.
            (true, &Method::GET) => match seat(self) {
                Err(refusal) => return Ok(refusal),
                Ok(seat) => {
                    let (server, owner) = (Arc::clone(self), owner.to_owned());
                    passed(self, answer, async move {
                        let _seat = seat;
                        tokio::select! {
                            () = server.face.stopped() => {}
                            () = server.app.replicas.gone(&owner) => {}
                        }
                    })
                }
            },
            // It is a request as before, until its answer is out.
            (true, _) => {
                let counted = Counted::new(Arc::clone(self));
                let (server, owner) = (Arc::clone(self), owner.to_owned());
                passed(self, answer, async move {
                    let _counted = counted;
                    server.app.replicas.gone(&owner).await;
                })
            }
        };
        let mut response = body.into_response();
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

async fn all_of(owner: &str, answer: &mut Streaming) -> Result<Bytes, Lost> {
    // Most are one piece, which is not copied.
    let (mut first, mut all) = (Bytes::new(), Vec::new());
    while let Some(piece) = answer.next().await {
        let piece = piece.map_err(|error| lost(owner, &error))?;
        match first.is_empty() {
            true => first = piece,
            false => all.extend_from_slice(&piece),
        }
    }
    Ok(match all.is_empty() {
        true => first,
        false => [&first[..], &all].concat().into(),
    })
}

fn drop_own(headers: &mut HeaderMap) {
    for name in OF_ONE_CONNECTION {
        headers.remove(name);
    }
}

fn lost(owner: &str, error: &fetch::Error) -> Lost {
    tracing::warn!(owner, %error, "another server did not answer what was passed on to it");
    match error.may_have_arrived() {
        true => Lost::Unanswered,
        false => Lost::Gone,
    }
}
