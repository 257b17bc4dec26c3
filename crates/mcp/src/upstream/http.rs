//! Streamable HTTP: every request is a POST of its own, answered with JSON or with a stream of events. Older servers
//! keep a session and may have a stream for what they say unasked.

use super::connection::Loss;
use super::credentials::Bearer;
use super::exchange::{Answer, Exchange};
use super::fault::Fault;
use super::hooks::Changed;
use super::posted::Letter;
use super::sessions::{self, Refusal};
use crate::wire::{Era, RpcError};
use arc_swap::ArcSwap;
use fetch::events::{Event, Events};
use fetch::header::{ACCEPT, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use fetch::{
    Bytes, Error, Fetcher, HeaderMap, HeaderName, HeaderValue, Method, Streaming, Target, Trust,
    Url,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const STREAM: &str = "text/event-stream";
const WEB_PAGE: &str = "text/html";

/// What somebody has done who took the address of a page about a server for that of the server.
pub(super) const A_WEB_PAGE: &str = "there is a web page (HTML) at its address, not an MCP server; give the address of its MCP endpoint, which often ends in /mcp or /sse";

/// For messages that nobody waits for, and for the end of a session.
const COURTESY: Duration = Duration::from_secs(5);

/// What is read of an answer that is no success.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// How long to wait before a stream that broke off is asked for again, where the server does not say; and however
/// little it says.
const RESUME: Duration = Duration::from_millis(500);
const RESUME_MIN: Duration = Duration::from_millis(100);
const RESUME_MAX: Duration = Duration::from_secs(30);

pub(super) struct Http {
    fetcher: Fetcher,
    url: String,
    target: Target,
    /// What goes with every request: what the operator wrote, the version and the session.
    headers: ArcSwap<HeaderMap>,
    bearer: Bearer,
    bytes_max: usize,
}

/// The headers that an operator wrote for a server.
pub(super) fn own_headers(headers: &BTreeMap<String, String>) -> Result<HeaderMap, Fault> {
    let mut all = HeaderMap::new();
    for (name, value) in headers {
        let bad = |_| Fault::Protocol(format!("the header '{name}' cannot be sent"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(()))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad(()))?;
        value.set_sensitive(true);
        all.insert(header, value);
    }
    Ok(all)
}

impl Http {
    pub(super) fn new(
        fetcher: Fetcher,
        url: &str,
        own: HeaderMap,
        bearer: Bearer,
        bytes_max: usize,
    ) -> Result<Self, Fault> {
        let mut headers = own;
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let headers = dressed(&fetcher, headers)?;
        Ok(Http {
            fetcher,
            url: url.to_owned(),
            target: target(url)?,
            headers: ArcSwap::from_pointee(headers),
            bearer,
            bytes_max,
        })
    }

    /// Which version all further requests are in.
    pub(super) fn set_version(&self, version: &str) {
        if let Ok(value) = HeaderValue::from_str(version) {
            self.set(&VERSION, &value);
        }
    }

    fn set(&self, name: &HeaderName, value: &HeaderValue) {
        self.headers.rcu(|headers| {
            let mut headers = HeaderMap::clone(headers);
            headers.insert(name, value.clone());
            headers
        });
    }

    /// What goes with the next request.
    pub(super) fn headers(&self) -> HeaderMap {
        HeaderMap::clone(&self.headers.load())
    }

    pub(super) fn has_session(&self) -> bool {
        self.headers.load().contains_key(SESSION)
    }

    pub(super) async fn call(
        &self,
        exchange: &Arc<Exchange>,
        id: u64,
        text: String,
        headers: HeaderMap,
        era: Era,
    ) -> Answer {
        let stream = self.send(Method::POST, headers, Some(text)).await?;
        if era == Era::Legacy
            && !self.has_session()
            && let Some(session) = stream.headers.get(SESSION)
        {
            self.set(&SESSION, session);
        }
        match content_type(&stream) {
            STREAM => Box::pin(self.answer_in(stream, exchange, id, era)).await,
            "application/json" => {
                let body = whole(stream, self.bytes_max).await?;
                let answer = exchange.hear(&body, Some(id));
                answer.unwrap_or_else(|| {
                    let why = "what it answered is no answer to what was asked";
                    Err(Fault::Protocol(why.to_owned()))
                })
            }
            WEB_PAGE => Err(Fault::Protocol(A_WEB_PAGE.to_owned())),
            other => Err(Fault::Protocol(format!(
                "it answered HTTP {} with '{other}', which is neither JSON nor a stream of events",
                stream.status
            ))),
        }
    }

    /// The answer in a stream of events. An older server may break it off and go on when it is asked again.
    async fn answer_in(
        &self,
        mut stream: Streaming,
        exchange: &Arc<Exchange>,
        id: u64,
        era: Era,
    ) -> Answer {
        let mut events = Events::new(self.bytes_max);
        let (mut last, mut pause) = (None, RESUME);
        loop {
            let broke = loop {
                let piece = match stream.next().await {
                    Some(Ok(piece)) => piece,
                    Some(Err(error)) => break error.to_string(),
                    None => break "its stream ended before the answer".to_owned(),
                };
                for event in take(&mut events, &piece)? {
                    last = event.id.or(last);
                    let answer = said(&event.name, &event.data)
                        .and_then(|text| exchange.hear(text, Some(id)));
                    if let Some(answer) = answer {
                        finish(stream);
                        return answer;
                    }
                }
            };
            let Some(from) = last.as_ref().filter(|_| era == Era::Legacy) else {
                return Err(Fault::Lost(broke));
            };
            // It holds for the streams that follow as well.
            let asked = events.retry_ms.map(Duration::from_millis);
            pause = asked.map_or(pause, |asked| asked.max(RESUME_MIN));
            sleep(pause).await;
            stream = self.resume(from).await.map_err(|_| Fault::Lost(broke))?;
            events = Events::new(self.bytes_max);
        }
    }

    async fn resume(&self, from: &str) -> Result<Streaming, Fault> {
        let from = HeaderValue::from_str(from)
            .map_err(|_| Fault::Protocol("an id of an event is no header".to_owned()))?;
        self.open(Some(from)).await
    }

    /// The stream for what a server says unasked.
    async fn open(&self, from: Option<HeaderValue>) -> Result<Streaming, Fault> {
        let mut headers = self.headers();
        headers.insert(ACCEPT, HeaderValue::from_static(STREAM));
        if let Some(from) = from {
            headers.insert(LAST_EVENT, from);
        }
        let stream = self.send(Method::GET, headers, None).await?;
        match content_type(&stream) {
            STREAM => Ok(stream),
            _ => Err(Fault::Protocol("it has no stream of events".to_owned())),
        }
    }

    /// A message to which there is no answer.
    pub(super) async fn tell(&self, text: String) -> Result<(), Fault> {
        let sent = timeout(
            COURTESY,
            self.send(Method::POST, self.headers(), Some(text)),
        )
        .await;
        finish(sent.unwrap_or(Err(Fault::Late))?);
        Ok(())
    }

    /// Tells an older server that it can forget us.
    pub(super) async fn give_up_session(&self) {
        if self.has_session() {
            let sent = self.send(Method::DELETE, self.headers(), None);
            let _ = timeout(COURTESY, sent).await;
        }
    }

    /// Sends a request and takes an answer that is a success.
    async fn send(
        &self,
        method: Method,
        mut headers: HeaderMap,
        text: Option<String>,
    ) -> Result<Streaming, Fault> {
        if text.is_none() {
            headers.remove(CONTENT_TYPE);
        }
        let body = text.map_or_else(Bytes::new, Bytes::from);
        let sent = self
            .bearer
            .send(&self.fetcher, method, &self.target, headers, body);
        let stream = sent.await?;
        match stream.status.is_success() {
            true => Ok(stream),
            false => Box::pin(judged(stream, &self.url, self.has_session())).await,
        }
    }

    /// Hears what an older server says unasked, for as long as there is such a stream; tells `opened` when it is
    /// there, or is not.
    pub(super) async fn hearken(
        &self,
        exchange: &Arc<Exchange>,
        loss: &Loss,
        opened: oneshot::Sender<()>,
    ) {
        let mut opened = Some(opened);
        let mut last: Option<HeaderValue> = None;
        let mut pause = RESUME;
        loop {
            let mut stream = match self.open(last.clone()).await {
                Ok(stream) => stream,
                Err(Fault::NotSent(cause) | Fault::NoSession(cause)) => return loss.say(cause),
                // There is none, which is its right.
                Err(
                    Fault::Auth(_)
                    | Fault::Forbidden(_)
                    | Fault::Status {
                        status: 404 | 405, ..
                    },
                ) => return,
                Err(_) if opened.is_some() => return,
                // There was one, so there will be one again.
                Err(_) => {
                    sleep(pause).await;
                    pause = (pause * 2).min(RESUME_MAX);
                    continue;
                }
            };
            // Nobody told what happened while there was none, where it does not go on from a place.
            if opened.is_none() && last.is_none() {
                exchange.hooks.changed.add(Changed::ALL);
            }
            opened.take().map(|opened| opened.send(()));
            let began = Instant::now();
            let mut events = Events::new(self.bytes_max);
            while let Some(Ok(piece)) = stream.next().await {
                let Ok(ended) = take(&mut events, &piece) else {
                    break;
                };
                for event in ended {
                    pause = RESUME;
                    let id = event.id.and_then(|id| HeaderValue::from_str(&id).ok());
                    last = id.or(last);
                    if let Some(text) = said(&event.name, &event.data) {
                        exchange.hear(text, None);
                    }
                }
            }
            // One that holds for a while is no reason to ask ever more seldom.
            if began.elapsed() >= pause {
                pause = RESUME;
            }
            let asked = events.retry_ms.map(Duration::from_millis);
            sleep(asked.unwrap_or(pause).max(RESUME_MIN)).await;
            pause = (pause * 2).min(RESUME_MAX);
        }
    }

    /// Posts what is not answered, one after the other.
    pub(super) async fn deliver(&self, mut letters: mpsc::Receiver<Letter>) {
        while let Some(letter) = letters.recv().await {
            let _ = self.tell(letter.text).await;
        }
    }
}

/// What an event says, where it is one that says something.
fn said<'a>(name: &str, data: &'a str) -> Option<&'a [u8]> {
    let is_message = matches!(name, "" | "message");
    Some(data.as_bytes()).filter(|data| is_message && !data.is_empty())
}

pub(super) fn take(events: &mut Events, piece: &[u8]) -> Result<Vec<Event>, Fault> {
    let too_long = |_| Fault::Protocol("an event of its stream is longer than may be".to_owned());
    events.take(piece).map_err(too_long)
}

/// Whoever waits for an answer has a deadline of their own.
pub(super) async fn send(
    fetcher: &Fetcher,
    method: Method,
    target: &Target,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Streaming, Fault> {
    // Boxed: a request is moved as a whole on its way here.
    let answer = Box::pin(fetcher.open_at(target, method, headers, body)).await;
    answer.map_err(|error| unsent(&error))
}

/// The address of a server, read once.
pub(super) fn target(url: &str) -> Result<Target, Fault> {
    Target::new(url, Trust::Operator).map_err(|error| unsent(&error))
}

/// The headers as they are sent, checked once for all requests that have them.
pub(super) fn dressed(fetcher: &Fetcher, headers: HeaderMap) -> Result<HeaderMap, Fault> {
    fetcher.dressed(headers).map_err(|error| unsent(&error))
}

/// Whether a request may have arrived although there is no answer.
fn unsent(error: &Error) -> Fault {
    let text = error.to_string();
    match error.may_have_arrived() {
        false => Fault::NotSent(text),
        true => Fault::Lost(text),
    }
}

/// Takes an answer apart that is no success. `url` is where it was asked for.
pub(super) async fn judged(
    stream: Streaming,
    url: &str,
    in_session: bool,
) -> Result<Streaming, Fault> {
    let status = stream.status.as_u16();
    if (200..300).contains(&status) {
        return Ok(stream);
    }
    let header = |name: HeaderName| {
        stream
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let challenge = || header(WWW_AUTHENTICATE).map(str::to_owned);
    match status {
        401 => return Err(Fault::Auth(challenge())),
        403 => return Err(Fault::Forbidden(challenge())),
        _ => {}
    }
    if let Some(place) = header(LOCATION).and_then(|place| led_to(url, place))
        && stream.status.is_redirection()
    {
        let why = format!("it answered HTTP {status}: it leads to {place}; give that address");
        return Err(Fault::Protocol(why));
    }
    let seconds = header(RETRY_AFTER).and_then(|text| text.parse().ok());
    let retry_after = seconds.map(Duration::from_secs);
    let body = whole(stream, REFUSAL_BYTES_MAX).await.unwrap_or_default();
    let said = serde_json::from_slice::<Value>(&body).unwrap_or_default();
    let error = said.get("error").cloned();
    let error = error.and_then(|error| serde_json::from_value::<RpcError>(error).ok());
    let refusal = Refusal {
        status,
        body: &body,
        said: &said,
        error: error.as_ref(),
    };
    if in_session && refusal.is_of_session() {
        return Err(Fault::NoSession(sessions::unknown(status)));
    }
    Err(Fault::Status {
        status,
        error,
        retry_after,
    })
}

/// Another place at the same server. What else an address says may be a secret.
fn led_to(url: &str, place: &str) -> Option<String> {
    let from = Url::parse(url).ok()?;
    let mut to = from.join(place).ok()?;
    (to.origin() == from.origin()).then_some(())?;
    to.set_username("").ok()?;
    to.set_password(None).ok()?;
    to.set_query(None);
    to.set_fragment(None);
    Some(to.into())
}

/// Whether what came is for people to look at.
pub(super) fn is_web_page(stream: &Streaming) -> bool {
    content_type(stream) == WEB_PAGE
}

fn content_type(stream: &Streaming) -> &str {
    let value = stream.headers.get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or_default().trim()
}

/// All of a body.
async fn whole(mut stream: Streaming, bytes_max: usize) -> Result<Bytes, Fault> {
    let mut first: Option<Bytes> = None;
    let mut all = Vec::new();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| Fault::Lost(error.to_string()))?;
        if all.len() + first.as_ref().map_or(0, Bytes::len) + piece.len() > bytes_max {
            return Err(Fault::Protocol(
                "its answer is longer than may be".to_owned(),
            ));
        }
        match (&first, all.is_empty()) {
            // Most bodies are one piece, which need not be copied.
            (None, true) => first = Some(piece),
            _ => {
                all.extend(first.take().unwrap_or_default());
                all.extend(piece);
            }
        }
    }
    Ok(first.unwrap_or_else(|| all.into()))
}

/// Reads the rest, so that the connection can be used again; whoever does not come to an end is left.
fn finish(mut stream: Streaming) {
    let mut rest = Box::pin(async move { while let Some(Ok(_)) = stream.next().await {} });
    // Most often it is all there.
    let mut now = Context::from_waker(Waker::noop());
    if rest.as_mut().poll(&mut now).is_pending() {
        tokio::spawn(timeout(COURTESY, rest));
    }
}
