//! Asking a provider: one try after the other, and no more of them than are worth it.

use crate::api::Api;
use crate::error::{Class, Error};
use crate::request::Request;
use crate::target::Target;
use crate::turn::{Delta, Turn};
use crate::wire::{self, Written};
use crate::{refusal, retry};
use fetch::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use fetch::{Body, Bytes, Fetcher, HeaderMap, HeaderName, HeaderValue, Method, Phase, Streaming};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// What is read of an answer that is none.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// For the end of a stream after its last event.
const COURTESY: Duration = Duration::from_millis(100);

/// The version of Anthropic's format that is spoken here.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The client of all providers.
#[derive(Clone)]
pub struct Client {
    fetcher: Fetcher,
}

impl Client {
    pub fn new(fetcher: Fetcher) -> Self {
        Client { fetcher }
    }

    /// The model's next turn, all of it, or an error. With `request.stream` pieces of it are told to `on` as they come.
    /// What fails in passing is tried again in here, and what was told of it is taken back (`Delta::Again`): a call is made
    /// once the turn is whole, and not before. Dropping this closes the connection.
    pub async fn turn(
        &self,
        target: &Target,
        request: &Request,
        on: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Turn, Error> {
        let mut written = Written::new(target.api, request);
        let headers = headers(target)?;
        // Conversations are long, and one copy of them is enough to wait with.
        let body = Bytes::from(std::mem::take(&mut written.body).to_string());
        let mut tried = 0;
        loop {
            let mut is_told = false;
            let mut tell = |delta: Delta| {
                is_told = true;
                on(delta);
            };
            let asked = self.ask(target, &written, headers.clone(), body.clone(), &mut tell);
            let error = match asked.await {
                Ok(turn) => return Ok(turn),
                Err(error) => without_key(error, target),
            };
            tried += 1;
            let Some(pause) = retry::pause(&error, tried, target) else {
                return Err(error);
            };
            if is_told {
                on(Delta::Again);
            }
            sleep(pause).await;
        }
    }

    /// One try.
    async fn ask(
        &self,
        target: &Target,
        written: &Written,
        headers: HeaderMap,
        body: Bytes,
        on: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Turn, Error> {
        let deadline = Instant::now() + target.total_timeout;
        let mut request =
            fetch::Request::new(Method::POST, url(target, written.path), target.trust);
        request.headers = headers;
        request.body = Body::Bytes(body);
        request.limits.total = target.answer_timeout.min(target.total_timeout);
        let opened = self.fetcher.open(request).await;
        let mut answer = Answer {
            stream: opened.map_err(|error| unanswered(&error))?,
            target,
            deadline,
            bytes_left: target.answer_bytes_max,
        };
        let request_id = refusal::request_id(&answer.stream.headers);
        let turn = answer.take(written, on).await;
        match turn {
            Ok(turn) => Ok(Turn {
                request_id: request_id.or(turn.request_id),
                ..turn
            }),
            Err(error) => Err(Error {
                request_id: request_id.or(error.request_id),
                ..error
            }),
        }
    }
}

/// An answer that has begun.
struct Answer<'a> {
    stream: Streaming,
    target: &'a Target,
    deadline: Instant,
    bytes_left: usize,
}

impl Answer<'_> {
    async fn take(
        &mut self,
        written: &Written,
        on: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Turn, Error> {
        let status = self.stream.status;
        if !status.is_success() {
            self.bytes_left = REFUSAL_BYTES_MAX;
            // What of it comes in time is enough.
            let body = self.whole().await.unwrap_or_else(|(body, _)| body);
            return Err(wire::refused(status.as_u16(), &self.stream.headers, &body));
        }
        let content_type = self.stream.headers.get(CONTENT_TYPE);
        let content_type = content_type.map_or(&b""[..], HeaderValue::as_bytes);
        if !content_type.starts_with(b"text/event-stream") {
            let body = self.whole().await.map_err(|(_, error)| error)?;
            return written.read(&body);
        }
        let mut incoming = written.incoming(self.target.answer_bytes_max);
        while !incoming.is_whole() {
            match self.next().await? {
                Some(piece) => incoming.take(&piece, on)?,
                None => break,
            }
        }
        // Only a connection that was read to its end serves again; nobody waits for that.
        if incoming.is_whole() {
            while let Ok(Ok(Some(piece))) = timeout(COURTESY, self.next()).await {
                let _ = incoming.take(&piece, on);
            }
        }
        incoming.finish(on)
    }

    /// All that is left of the body; with an error, what came before it.
    async fn whole(&mut self) -> Result<Vec<u8>, (Vec<u8>, Error)> {
        let mut body = Vec::new();
        loop {
            match self.next().await {
                Ok(Some(piece)) => body.extend_from_slice(&piece),
                Ok(None) => return Ok(body),
                Err(error) => return Err((body, error)),
            }
        }
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let idle = self.target.idle_timeout;
        let slow = |_| {
            Error::new(
                Class::Timeout,
                "The provider took too long to finish its answer",
            )
        };
        let piece = timeout_at(self.deadline, timeout(idle, self.stream.next())).await;
        let piece = match piece.map_err(slow)?.map_err(slow)? {
            None => return Ok(None),
            Some(piece) => piece.map_err(|error| Error::new(Class::Network, error.to_string()))?,
        };
        self.bytes_left = self.bytes_left.checked_sub(piece.len()).ok_or_else(|| {
            let why = format!(
                "The provider's answer is longer than the {} bytes that are taken",
                self.target.answer_bytes_max
            );
            Error::new(Class::Protocol, why)
        })?;
        Ok(Some(piece))
    }
}

/// The address of an operation. Bases are written with and without the version that Anthropic's operations begin with.
fn url(target: &Target, path: &str) -> String {
    let base = target.base_url.trim_end_matches('/');
    let base = match path.strip_prefix("/v1") {
        Some(_) => base.strip_suffix("/v1").unwrap_or(base),
        None => base,
    };
    format!("{base}{path}")
}

fn headers(target: &Target) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accepted = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(ACCEPT, accepted);
    let (name, start) = match target.api {
        Api::Messages => (HeaderName::from_static("x-api-key"), ""),
        Api::Chat | Api::Zhipu | Api::Responses => (AUTHORIZATION, "Bearer "),
    };
    if target.api == Api::Messages {
        let version = HeaderValue::from_static(ANTHROPIC_VERSION);
        headers.insert("anthropic-version", version);
    }
    if let Some(key) = &target.key {
        let mut value = HeaderValue::try_from(format!("{start}{}", key.trim())).map_err(|_| {
            let why = "The provider's key cannot be sent: it holds a line break or another letter that no header may";
            Error::new(Class::Auth, why)
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// No answer began.
fn unanswered(error: &fetch::Error) -> Error {
    let class = match error {
        fetch::Error::BadUrl { .. }
        | fetch::Error::BadHeader { .. }
        | fetch::Error::BadAllowed { .. }
        | fetch::Error::Refused { .. }
        | fetch::Error::TooManyRedirects { .. } => Class::BadRequest,
        fetch::Error::Timeout {
            phase: Phase::Answer,
            ..
        } => Class::Timeout,
        fetch::Error::TooLarge { .. } => Class::Protocol,
        _ => Class::Network,
    };
    Error::new(class, error.to_string())
}

/// Providers repeat the key that they do not know.
fn without_key(error: Error, target: &Target) -> Error {
    let key = target
        .key
        .as_deref()
        .map(str::trim)
        .filter(|key| !key.is_empty());
    match key {
        Some(key) if error.message.contains(key) => Error {
            message: error.message.replace(key, "[hidden]"),
            ..error
        },
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_taken_as_people_write_them() {
        let at = |api, base: &str, path| url(&Target::new(api, Some(base), None), path);
        for base in [
            "https://a.example",
            "https://a.example/",
            "https://a.example/v1",
            "https://a.example/v1/",
        ] {
            let url = at(Api::Messages, base, "/v1/messages");
            assert_eq!(url, "https://a.example/v1/messages");
        }
        let url = at(Api::Chat, "http://127.0.0.1:8080/v1/", "/chat/completions");
        assert_eq!(url, "http://127.0.0.1:8080/v1/chat/completions");
    }
}
