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
        Box::pin(credential.renew(credential.header(), None)).await;
    }
    let shown = credential.header();
    put(&mut headers, shown.as_ref());
    let (again, more) = (headers.clone(), body.clone());
    let stream = send(fetcher, method.clone(), target, headers, body).await?;
    if !matches!(stream.status.as_u16(), 401 | 403) {
        return Ok(stream);
    }
    let challenge = stream.headers.get(WWW_AUTHENTICATE);
    let challenge = challenge.and_then(|value| value.to_str().ok());
    let challenge = Challenge::read(challenge.unwrap_or_default());
    let is_about_token = stream.status.as_u16() == 401 || challenge.wants_more_scope();
    let renewed = is_about_token && Box::pin(credential.renew(shown, Some(challenge))).await;
    if !renewed {
        return Ok(stream);
    }
    let mut headers = again;
    put(&mut headers, credential.header().as_ref());
    send(fetcher, method, target, headers, more).await
}

fn put(headers: &mut HeaderMap, token: Option<&HeaderValue>) {
    if let Some(token) = token {
        headers.insert(AUTHORIZATION, token.clone());
    }
}
