//! What a server is shown so that it knows who asks: the seam to whoever holds the tokens, and the one place that puts
//! a token on a request and, where it is refused, tries once more with another.

use super::fault::Fault;
use super::http::send;
use catalog::mcp_file::ServerConfig;
use fetch::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use fetch::{Bytes, Fetcher, HeaderMap, HeaderValue, Method, Streaming, Target};
use oauth::{Challenge, Credential};
use std::sync::Arc;
use uuid::Uuid;

/// Whoever holds the tokens of servers. Behind a trait because they are sealed in a database that this crate knows
/// nothing of, and because the conformance client has no database.
pub trait Credentials: Send + Sync {
    /// What is shown to a server for a user, or for everybody where it is `None`. Asked for each connection.
    fn of(&self, server: &ServerConfig, user: Option<Uuid>) -> Option<Arc<Credential>>;
}

/// The token of one connection, or none.
#[derive(Clone, Default)]
pub(super) struct Bearer(pub(super) Option<Arc<Credential>>);

impl Bearer {
    /// Whether this is the same credential, with whatever token.
    pub(super) fn is(&self, other: &Bearer) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// Sends a request with the token that is good now.
    pub(super) async fn send(
        &self,
        fetcher: &Fetcher,
        method: Method,
        target: &Target,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Streaming, Fault> {
        match &self.0 {
            None => send(fetcher, method, target, headers, body).await,
            // Boxed: most servers are shown none, and every request is moved with room for all of this.
            Some(credential) => {
                let sent = send_with(credential, fetcher, method, target, headers, body);
                Box::pin(sent).await
            }
        }
    }
}

/// A token that is refused is renewed once and the request sent once more: a server that does not know who asks has not
/// run anything.
async fn send_with(
    credential: &Arc<Credential>,
    fetcher: &Fetcher,
    method: Method,
    target: &Target,
    mut headers: HeaderMap,
    body: Bytes,
) -> Result<Streaming, Fault> {
    if credential.is_stale() {
        Box::pin(credential.freshen()).await;
    }
    let shown = credential.header();
    put(&mut headers, shown.as_ref());
    let (again, more) = (headers.clone(), body.clone());
    let stream = send(fetcher, method.clone(), target, headers, body).await?;
    if !matches!(stream.status.as_u16(), 401 | 403) {
        return Ok(stream);
    }
    // Each way to show who asks may have a header of its own.
    let challenges = stream.headers.get_all(WWW_AUTHENTICATE).iter();
    let challenges: Vec<&str> = challenges.filter_map(|it| it.to_str().ok()).collect();
    let challenge = Challenge::read(&challenges.join(", "));
    if stream.status.as_u16() != 401 && !challenge.wants_more_scope() {
        return Ok(stream);
    }
    match Box::pin(credential.renew(shown, Some(challenge))).await {
        Ok(()) => {}
        // Nobody can mend that by signing in; later it may go.
        Err(oauth::Error::Unreachable(why)) => {
            return Err(Fault::NotSent(format!(
                "no token could be had for it: {why}"
            )));
        }
        Err(_) => return Ok(stream),
    }
    let mut headers = again;
    put(&mut headers, credential.header().as_ref());
    let stream = send(fetcher, method, target, headers, more).await?;
    if stream.status.as_u16() == 401 {
        credential.refuse();
    }
    Ok(stream)
}

fn put(headers: &mut HeaderMap, token: Option<&HeaderValue>) {
    if let Some(token) = token {
        headers.insert(AUTHORIZATION, token.clone());
    }
}
