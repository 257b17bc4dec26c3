//! Whoever asks over MCP, what their request shows, and for how long it lets them in.

use super::{SESSION, no_session, no_session_there};
use crate::auth::{Door, Shown, authenticate, is_token, lacks};
use crate::error::ApiError;
use crate::forward::{Came, Lost};
use crate::router::Server;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use catalog::caller::{Caller, Scope, Transport};
use catalog::names::Names;
use executor::Code;
use face::{Hears, Session};
use mcp::wire::Message;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Whoever may look at tools, over MCP.
pub(crate) struct Client {
    pub(super) caller: Arc<Caller>,
    pub(super) headers: HeaderMap,
    uri: Uri,
    method: Method,
    pub(super) door: Option<Door>,
}

impl FromRequestParts<Arc<Server>> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
        let caller = let_in(Shown::of(parts), server).await?;
        let path = Path::<HashMap<String, String>>::from_request_parts(parts, server).await;
        let toolset = match path {
            Ok(Path(mut all)) => all.remove("toolset"),
            Err(PathRejection::MissingPathParams(_)) => None,
            Err(_) => return Err(ApiError::new(Code::NotFound, "There is no such toolset")),
        };
        Ok(Client {
            caller: through(server, &caller, toolset.as_deref(), &parts.uri)?,
            headers: parts.headers.clone(),
            uri: parts.uri.clone(),
            method: parts.method.clone(),
            door: parts.extensions.get().copied(),
        })
    }
}

/// Whether a tool may be called is asked when it is.
async fn let_in(shown: Shown<'_>, server: &Server) -> Result<Arc<Caller>, ApiError> {
    let caller = authenticate(shown, server).await?;
    match caller.scopes.allow(Scope::Read) {
        true => Ok(caller),
        false => Err(lacks(&caller, Scope::Read)),
    }
}

fn through(
    server: &Server,
    caller: &Caller,
    toolset: Option<&str>,
    uri: &Uri,
) -> Result<Arc<Caller>, ApiError> {
    let mut caller = match toolset {
        None => Caller::clone(caller),
        Some(name) => server.app.through_toolset(caller, name)?,
    };
    caller.transport = Transport::Mcp;
    caller.names = asked_names(uri)?;
    Ok(Arc::new(caller))
}

/// The toolset whose address this is, or none where it is that of everything; nothing where it is no such address, or
/// one that would have to be decoded.
pub(super) fn toolset_in(path: &str) -> Option<Option<&str>> {
    let below = path.strip_prefix("/mcp")?;
    // Many clients write a slash behind it.
    let below = below.strip_suffix('/').unwrap_or(below);
    if below.is_empty() {
        return Some(None);
    }
    let name = below.strip_prefix('/')?;
    let is_plain = !name.is_empty() && !name.contains(['/', '%']);
    is_plain.then_some(Some(name))
}

/// `?names=plain`: how this client wants tools and prompts to be named.
fn asked_names(uri: &Uri) -> Result<Option<Names>, ApiError> {
    #[derive(Deserialize)]
    struct Asked {
        names: Option<String>,
    }
    if uri.query().is_none() {
        return Ok(None);
    }
    let wrong = || {
        let known = Names::NAMES.join(" or ");
        ApiError::new(Code::Invalid, format!("names: expected {known}, once"))
    };
    let Query(asked) = Query::<Asked>::try_from_uri(uri).map_err(|_| wrong())?;
    let names = asked.names.as_deref().map(Names::from_name);
    names.map(|names| names.ok_or_else(wrong)).transpose()
}

impl Client {
    /// Whoever sends a message to `/mcp`. What the request shows is kept and not copied.
    pub(super) async fn of(
        parts: Parts,
        door: Option<Door>,
        server: &Arc<Server>,
    ) -> Result<Self, ApiError> {
        let Some(toolset) = toolset_in(parts.uri.path()) else {
            let mut parts = parts;
            return Client::from_request_parts(&mut parts, server).await;
        };
        let shown = Shown {
            door,
            ..Shown::of(&parts)
        };
        let caller = let_in(shown, server).await?;
        Ok(Client {
            caller: through(server, &caller, toolset, &parts.uri)?,
            headers: parts.headers,
            uri: parts.uri,
            method: parts.method,
            door,
        })
    }

    pub(super) fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name).map(|it| it.to_str().unwrap_or(""))
    }

    pub(super) fn accepts(&self, kind: &str) -> bool {
        let mut all = self.headers.get_all(header::ACCEPT).iter().peekable();
        let fits = |line: &HeaderValue| {
            let line = line.to_str().unwrap_or("");
            if line.contains(kind) {
                return true;
            }
            let line = line.to_ascii_lowercase();
            let main = kind.split('/').next().unwrap_or(kind);
            line.contains(kind) || line.contains("*/*") || line.contains(&format!("{main}/*"))
        };
        all.peek().is_none() || all.any(fits)
    }

    pub(super) fn hears(&self) -> Hears {
        match self.accepts("text/event-stream") {
            true => Hears::Everything,
            false => Hears::AnswersOnly,
        }
    }

    /// The refusal of a token that may not call: its model could do nothing about it, but its program can ask for one
    /// that may.
    pub(super) fn lack(&self, messages: &[Message<'_>]) -> Option<Response> {
        let is_call = |message: &Message<'_>| message.method.as_deref() == Some("tools/call");
        let may_call = self.caller.scopes.allow(Scope::Call) || !is_token(&self.headers);
        let lacks_it = !may_call && messages.iter().any(is_call);
        lacks_it.then(|| lacks(&self.caller, Scope::Call).into_response())
    }

    /// The session that the request names. Where another server keeps it, its answer stands in place of ours.
    pub(super) async fn session(
        &self,
        server: &Arc<Server>,
        body: &Bytes,
    ) -> Result<Option<Arc<Session>>, Response> {
        match self.header(&SESSION) {
            None => Ok(None),
            Some(id) => self.session_of(server, id, body).await.map(Some),
        }
    }

    /// The same for an id that stands elsewhere in the request.
    pub(super) async fn session_of(
        &self,
        server: &Arc<Server>,
        id: &str,
        body: &Bytes,
    ) -> Result<Arc<Session>, Response> {
        if let Some(owner) = server.app.replicas.elsewhere(id) {
            // Boxed: those whose session is here need not carry it.
            let passed = Box::pin(self.pass_on(server, owner, body.clone())).await;
            return Err(passed.unwrap_or_else(no_session_there));
        }
        let found = server.face.sessions.get(id, &self.caller);
        found.map_err(|_| no_session())
    }

    pub(super) async fn pass_on(
        &self,
        server: &Arc<Server>,
        owner: &str,
        body: Bytes,
    ) -> Result<Response, Lost> {
        let came = Came {
            method: &self.method,
            uri: &self.uri,
            headers: &self.headers,
            door: self.door,
        };
        server.pass_on(owner, came, body).await
    }

    /// Waits until they would not be let in any more: what they showed has ended, or counts no longer.
    pub(super) async fn shut_out(self, server: Arc<Server>) {
        let ended = async {
            let Some(until) = self.caller.until else {
                return std::future::pending().await;
            };
            let left = u64::try_from(until - server.app.clock.now()).unwrap_or_default();
            tokio::time::sleep(Duration::from_millis(left)).await;
        };
        let refused = async {
            let mut changes = server.app.follow_access();
            while self.is_let_in(&server).await {
                if changes.changed().await.is_err() {
                    return std::future::pending().await;
                }
            }
        };
        tokio::select! {
            () = ended => {}
            () = refused => {}
        }
    }

    async fn is_let_in(&self, server: &Server) -> bool {
        let shown = Shown {
            headers: &self.headers,
            uri: &self.uri,
            method: &self.method,
            door: self.door,
        };
        match authenticate(shown, server).await {
            Ok(caller) => caller.user == self.caller.user && caller.scopes.allow(Scope::Read),
            // Nobody can tell at the moment.
            Err(error) => error.code.row().retryable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much room a future takes, told from what makes it.
    fn bytes_of<A, B, F>(_: impl FnOnce(A, B) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_stream_that_is_held_carries_little() {
        let bytes = bytes_of(Client::shut_out);
        assert!(bytes <= 2_500, "{bytes} bytes, for each of thousands");
    }
}
