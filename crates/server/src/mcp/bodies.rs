//! What goes out: one JSON text, or a stream of events that lasts as long as somebody reads it.

use crate::router::Server;
use app::runs::{Follower, RunEvent};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use catalog::caller::Caller;
use face::{Exchange, Step, Text};
use fetch::Streaming;
use hyper::body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

/// How often a stream shows that it lives: proxies close those that are silent.
const ALIVE: Duration = Duration::from_secs(15);
const ALIVE_SIGN: Bytes = Bytes::from_static(b": \n\n");

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub(super) fn json(status: StatusCode, text: impl Into<Text>) -> Response {
    let text = text.into();
    let body = match text.is_shared() {
        false => Body::from(text.into_string()),
        true => Body::new(Pieces::new(text)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    response
}

/// A message as an event. What is between the lines of a JSON text is no part of it.
fn event(text: &str) -> String {
    match text.contains(['\n', '\r']) {
        true => format!(
            "event: message\ndata: {}\n\n",
            text.replace(['\n', '\r'], "")
        ),
        false => format!("event: message\ndata: {text}\n\n"),
    }
}

/// The way to a client. One that takes nothing for too long is as good as gone.
struct Out {
    out: mpsc::Sender<Bytes>,
    patience: Duration,
}

impl Out {
    fn new(server: &Server) -> (Self, mpsc::Receiver<Bytes>) {
        let (out, body) = mpsc::channel(16);
        let patience = server.limits.send_timeout;
        (Out { out, patience }, body)
    }

    /// False where nobody takes it.
    async fn send(&self, bytes: impl Into<Bytes>) -> bool {
        let sent = timeout(self.patience, self.out.send(bytes.into())).await;
        matches!(sent, Ok(Ok(())))
    }
}

/// The rest of an exchange that had something to say before its answer, unless it is `over` before that.
pub(super) fn stream(
    server: &Server,
    first: String,
    mut exchange: Exchange,
    over: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let (out, body) = Out::new(server);
    tokio::spawn(async move {
        let mut over = pin!(over);
        let mut text = first;
        loop {
            if !exchange.beside(out.send(event(&text))).await {
                return;
            }
            text = loop {
                tokio::select! {
                    step = exchange.next() => match step {
                        Step::Said(said) => break said,
                        Step::Done(answer) => {
                            out.send(event(&answer.text.into_string())).await;
                            return;
                        }
                    },
                    // Whoever hangs up drops the exchange with this.
                    () = out.out.closed() => return,
                    () = &mut over => return,
                    () = tokio::time::sleep(ALIVE) => {
                        if !exchange.beside(out.send(ALIVE_SIGN)).await {
                            return;
                        }
                    }
                }
            };
        }
    });
    events(body)
}

/// What a session says, until its client hangs up, it is `over` or the server stops. `after` is done then.
pub(super) fn pump(
    server: &Arc<Server>,
    mut said: mpsc::Receiver<String>,
    first: Option<String>,
    over: impl Future<Output = ()> + Send + 'static,
    after: impl FnOnce() + Send + 'static,
) -> Response {
    let (out, body) = Out::new(server);
    let face = Arc::clone(&server.face);
    tokio::spawn(async move {
        let mut over = pin!(over);
        // Sent at once, so that the client knows it has been heard.
        let mut next = first.map_or(ALIVE_SIGN, Bytes::from);
        loop {
            if !out.send(next).await {
                break;
            }
            next = tokio::select! {
                text = said.recv() => match text {
                    Some(text) => event(&text).into(),
                    None => break,
                },
                () = out.out.closed() => break,
                () = &mut over => break,
                () = face.stopped() => break,
                () = tokio::time::sleep(ALIVE) => ALIVE_SIGN,
            };
        }
        after();
    });
    events(body)
}

/// What another server says, piece by piece as it says it, until either side ends it or it is `over`.
pub(crate) fn passed(
    server: &Server,
    mut answer: Streaming,
    over: impl Future<Output = ()> + Send + 'static,
) -> Body {
    let (out, body) = Out::new(server);
    tokio::spawn(async move {
        let mut over = pin!(over);
        loop {
            let piece = tokio::select! {
                piece = answer.next() => piece,
                // Dropping the answer hangs up over there.
                () = out.out.closed() => return,
                () = &mut over => return,
            };
            let Some(Ok(piece)) = piece else { return };
            if !out.send(piece).await {
                return;
            }
        }
    });
    Body::new(Stream(body))
}

/// What happens in a run, until it is over, its reader hangs up or is shut out, or the server stops.
pub(crate) fn told(
    server: &Arc<Server>,
    caller: Arc<Caller>,
    mut follower: Follower,
    seat: OwnedSemaphorePermit,
) -> Response {
    let (out, body) = Out::new(server);
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let _seat = seat;
        // Sent at once, so that the reader knows it has been heard.
        let mut next = ALIVE_SIGN;
        while server.app.is_still_let_in(&caller) && out.send(next).await {
            next = tokio::select! {
                event = follower.next() => match event {
                    Ok(Some(event)) => run_event(&event),
                    Ok(None) => return,
                    Err(error) => {
                        tracing::warn!(%error, "a run could not be followed any more");
                        return;
                    }
                },
                () = out.out.closed() => return,
                () = server.face.stopped() => return,
                () = tokio::time::sleep(ALIVE) => ALIVE_SIGN,
            };
        }
    });
    events(body)
}

fn run_event(event: &RunEvent) -> Bytes {
    let id = event.id.as_ref();
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("{id}event: {}\ndata: {}\n\n", event.event, event.data).into()
}

fn events(body: mpsc::Receiver<Bytes>) -> Response {
    let mut response = Response::new(Body::new(Stream(body)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// A text, piece by piece, so that nothing of it is copied.
struct Pieces {
    left: std::array::IntoIter<Bytes, 2>,
    bytes: u64,
}

impl Pieces {
    fn new(text: Text) -> Self {
        let pieces = text.pieces();
        let bytes = pieces.iter().map(|piece| piece.len() as u64).sum();
        let left = pieces.into_iter();
        Pieces { left, bytes }
    }
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.left.next();
        self.bytes -= next.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(next.map(|piece| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes)
    }
}

struct Stream(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.0.poll_recv(context);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_takes_nothing_is_gone_in_the_end() {
        let (out, mut body) = mpsc::channel(1);
        let patience = Duration::from_millis(20);
        let out = Out { out, patience };
        assert!(out.send("a").await);
        assert!(
            !out.send("b").await,
            "there is no room, and nobody makes any"
        );
        assert_eq!(body.recv().await.as_deref(), Some(&b"a"[..]));
        assert!(out.send("c").await);
        drop(body);
        assert!(!out.send("d").await);
    }
}
