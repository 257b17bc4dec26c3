//! How the bridge reaches its server: over the network, or through the socket of whoever owns the workspace. Where nobody
//! does, this process becomes the owner, and serves the others.

use crate::client::{OWNER_PATIENCE, connect_owner};
use crate::command::serve::Owned;
use crate::context::Context;
use crate::out::{Cause, Failure, SHOWN_MAX, and_more};
use crate::workspace::Place;
use bytes::Bytes;
use fetch::{Fetcher, HeaderName, HeaderValue, Limits, Method, Request, Streaming, Trust};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long the head of an answer may take: as long as the longest call.
const ANSWER: Duration = Duration::from_secs(24 * 3600);

/// Names and values.
pub(crate) type Headers = Vec<(String, String)>;

pub(crate) enum Link {
    Remote {
        fetcher: Fetcher,
        url: String,
        key: Option<String>,
    },
    Local(Box<Local>),
}

pub(crate) struct Local {
    pub(crate) context: Arc<Context>,
    pub(crate) place: Place,
    pub(crate) path: String,
    /// The server, where it is this process.
    pub(crate) own: Mutex<Option<Owned>>,
}

/// Who needs the server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Need {
    /// The client, for an answer: where nobody owns the workspace, this process does from then on.
    Client,
    /// Nobody but this process. It takes no workspace for that: a server that starts again would not get it back.
    Own,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Lost {
    /// Nothing was sent.
    Before(String),
    /// The workspace cannot be served, and nobody else serves it.
    Unserved(String, Cause),
    /// It may have been done.
    Midway(String),
    /// It was not done.
    Refused(String),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::Before(why) => write!(f, "The toolcrib server cannot be reached: {why}"),
            Lost::Unserved(why, _) => write!(f, "The workspace cannot be served: {why}"),
            Lost::Midway(why) => write!(
                f,
                "The connection to the toolcrib server was lost, and what was asked may have been done: {why}"
            ),
            Lost::Refused(why) => write!(f, "The toolcrib server refuses this: {why}"),
        }
    }
}

/// An answer whose head is here.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) is_stream: bool,
    body: Body,
}

enum Body {
    Remote(Streaming),
    Local(Incoming),
}

impl Reply {
    /// The next piece; none at the end, and an error where it breaks off.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, Lost>> {
        let midway = |error: &dyn fmt::Display| Lost::Midway(error.to_string());
        match &mut self.body {
            Body::Remote(body) => Some(body.next().await?.map_err(|it| midway(&it))),
            Body::Local(body) => loop {
                match body.frame().await?.map(hyper::body::Frame::into_data) {
                    Ok(Ok(bytes)) => return Some(Ok(bytes)),
                    // What follows the data is none.
                    Ok(Err(_)) => {}
                    Err(error) => return Some(Err(midway(&error))),
                }
            },
        }
    }

    pub(crate) async fn whole(&mut self) -> Result<String, Lost> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.next().await {
            whole.extend_from_slice(&bytes?);
        }
        Ok(String::from_utf8_lossy(&whole).into_owned())
    }
}

impl Link {
    pub(crate) async fn send(
        &self,
        method: &str,
        headers: &Headers,
        body: Option<&str>,
        need: Need,
    ) -> Result<Reply, Lost> {
        let (status, all, body) = match self {
            Link::Remote { fetcher, url, key } => {
                let answer = remote(fetcher, url, key.as_deref(), method, headers, body).await?;
                let (status, headers) = (answer.status, answer.headers.clone());
                (status, headers, Body::Remote(answer))
            }
            Link::Local(local) => {
                let stream = match need {
                    Need::Client => local.connect().await?,
                    Need::Own => {
                        let there = connect_owner(&local.place).await;
                        there.map_err(|error| Lost::Before(error.to_string()))?
                    }
                };
                let (head, body) = over(stream, &local.path, method, headers, body).await?;
                (head.status, head.headers, Body::Local(body))
            }
        };
        let text = |name: &str| all.get(name).and_then(|it| it.to_str().ok());
        Ok(Reply {
            status: status.as_u16(),
            session: text("mcp-session-id").map(str::to_owned),
            is_stream: text("content-type").is_some_and(|it| it.starts_with("text/event-stream")),
            body,
        })
    }

    pub(crate) async fn close(&self) {
        if let Link::Local(local) = self
            && let Some(own) = local.own.lock().await.take()
        {
            own.stop().await;
        }
    }
}

async fn remote(
    fetcher: &Fetcher,
    url: &str,
    key: Option<&str>,
    method: &str,
    headers: &Headers,
    body: Option<&str>,
) -> Result<Streaming, Lost> {
    let method = Method::from_bytes(method.as_bytes()).unwrap_or_default();
    let mut request = Request::new(method, url, Trust::Operator);
    request.limits = Limits {
        total: ANSWER,
        redirects_max: 0,
        ..Limits::default()
    };
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            request.headers.insert(name, value);
        }
    }
    if let Some(key) = key
        && let Ok(value) = HeaderValue::from_str(&format!("Bearer {key}"))
    {
        request.headers.insert("authorization", value);
    }
    if let Some(body) = body {
        request.body = fetch::Body::Bytes(Bytes::copy_from_slice(body.as_bytes()));
    }
    let sent = fetcher.open(request).await;
    sent.map_err(|error| match error.may_have_arrived() {
        false => Lost::Before(error.to_string()),
        true => Lost::Midway(error.to_string()),
    })
}

async fn over(
    stream: UnixStream,
    path: &str,
    method: &str,
    headers: &Headers,
    body: Option<&str>,
) -> Result<(hyper::http::response::Parts, Incoming), Lost> {
    let before = |error: &dyn fmt::Display| Lost::Before(error.to_string());
    let mut request = hyper::Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let body = Bytes::copy_from_slice(body.unwrap_or_default().as_bytes());
    let request = request.body(Full::new(body)).map_err(|it| before(&it))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|it| before(&it))?;
    tokio::spawn(connection);
    let sent = sender.send_request(request).await;
    let response = sent.map_err(|error| Lost::Midway(error.to_string()))?;
    Ok(response.into_parts())
}

impl Local {
    /// To whoever owns the workspace; where that is nobody, to ourselves.
    pub(crate) async fn connect(&self) -> Result<UnixStream, Lost> {
        let give_up = Instant::now() + OWNER_PATIENCE;
        let mut pause = Duration::from_millis(20);
        loop {
            if let Ok(stream) = connect_owner(&self.place).await {
                return Ok(stream);
            }
            let mut own = self.own.lock().await;
            if own.is_none() {
                match Owned::start(&self.context, &self.place).await {
                    Ok(Some(started)) => {
                        *own = Some(started);
                        continue;
                    }
                    // Somebody else was faster.
                    Ok(None) if Instant::now() < give_up => {}
                    Ok(None) => {
                        let why = format!("{} does not answer", self.place.owner());
                        return Err(Lost::Before(why));
                    }
                    Err(failure) => return Err(Lost::Unserved(told(&failure), failure.cause)),
                }
            } else if Instant::now() >= give_up {
                return Err(Lost::Before("our own socket does not answer".to_owned()));
            }
            drop(own);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

/// With what to do about it: whoever reads this has started nothing themselves.
fn told(failure: &Failure) -> String {
    let errors = failure.errors.iter().take(SHOWN_MAX).cloned();
    let told = errors.chain(and_more(failure.errors.len()));
    let told: Vec<String> = told.chain(failure.hints.iter().cloned()).collect();
    told.join("; ")
}
