//! Accepting connections on TCP and on the Unix socket, with limits on how many and how slow.

use crate::auth::Door;
use crate::request::Api;
use crate::router::Server;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Where the server listens.
pub struct Listeners {
    /// None serves only the owner's socket.
    pub tcp: Option<TcpListener>,
    pub unix: Option<UnixListener>,
}

/// How long a connection that is open when the server stops may take to say what it wants.
const FIRST_REQUEST_WITHIN: Duration = Duration::from_secs(1);

/// How many are taken from one queue at the end; it is no longer than that where nobody floods it.
const WAITING_MAX: usize = 4_096;

/// Serves until `stop` fires, then closes the ports and lets open requests finish within `grace`. Whoever had connected by then
/// found an open port, and may have sent what cannot be sent again: they are answered as well.
pub async fn serve(
    server: Arc<Server>,
    listeners: Listeners,
    stop: CancellationToken,
    grace: Duration,
) {
    let face = Face {
        api: Arc::new(Api::new(Arc::clone(&server))),
        connections: Arc::new(Semaphore::new(server.limits.connections_max)),
        head_timeout: server.limits.head_timeout,
        silent: TaskTracker::new(),
        graceful: GracefulShutdown::new(),
    };
    tokio::select! {
        // Once it is told, nobody is taken here any more: there is one way to end.
        biased;
        () = stop.cancelled() => {}
        () = accept_tcp(&face, listeners.tcp.as_ref()) => {}
        () = accept_unix(&face, listeners.unix.as_ref()) => {}
    }
    let until = tokio::time::Instant::now() + grace;
    face.accept_waiting(listeners);
    // A connection that has said nothing yet would be closed at once, whatever is on its way.
    face.silent.close();
    let first_requests = face.silent.wait();
    let _ = tokio::time::timeout(FIRST_REQUEST_WITHIN.min(grace), first_requests).await;
    server.face.stop();
    let _ = tokio::time::timeout_at(until, face.graceful.shutdown()).await;
}

struct Face {
    api: Arc<Api>,
    connections: Arc<Semaphore>,
    head_timeout: Duration,
    /// The connections that have asked for nothing yet.
    silent: TaskTracker,
    graceful: GracefulShutdown,
}

async fn accept_tcp(face: &Face, listener: Option<&TcpListener>) {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    loop {
        let Ok(permit) = Arc::clone(&face.connections).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Without it an answer in two parts waits for the other side's delayed acknowledgement.
                let _ = stream.set_nodelay(true);
                face.start(stream, Door::Network(peer.ip()), Some(permit));
            }
            Err(error) => pause_after(&error).await,
        }
    }
}

async fn accept_unix(face: &Face, listener: Option<&UnixListener>) {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    // The owner's own door stays open when the network's is crowded.
    let seats = Arc::new(Semaphore::new(256));
    loop {
        let Ok(permit) = Arc::clone(&seats).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => face.start(stream, Door::Socket, Some(permit)),
            Err(error) => pause_after(&error).await,
        }
    }
}

/// Out of descriptors, most likely: accepting again at once would only spin.
async fn pause_after(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// What waits in a listener's queue, asked for until there is no more.
fn waiting<T>(accept: impl Fn() -> io::Result<T>) -> impl Iterator<Item = T> {
    let tries = std::iter::repeat_with(accept).take(WAITING_MAX);
    let until_none = tries.take_while(|tried| match tried {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
        // Whoever gave up meanwhile is none of the others' business.
        Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => true,
        Err(error) => {
            tracing::warn!(%error, "connections that wait could not be accepted");
            false
        }
        Ok(_) => true,
    });
    until_none.flatten()
}

fn is_stream(response: &axum::response::Response) -> bool {
    let kind = response.headers().get(axum::http::header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// A body that is not done before it is dropped.
struct Busy {
    body: axum::body::Body,
    _until: Until,
}

struct Until(Arc<Idle>);

impl Drop for Until {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl hyper::body::Body for Busy {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }
}

impl Face {
    /// Takes whoever waits already and closes the ports. The system is asked directly: the runtime may not have heard of the last
    /// ones. They need no permit, because nobody comes after them.
    fn accept_waiting(&self, listeners: Listeners) {
        if let Some(tcp) = listeners.tcp.and_then(|tcp| tcp.into_std().ok()) {
            for (stream, peer) in waiting(|| tcp.accept()) {
                let _ = stream.set_nodelay(true);
                let stream = stream
                    .set_nonblocking(true)
                    .and_then(|()| TcpStream::from_std(stream));
                if let Ok(stream) = stream {
                    self.start(stream, Door::Network(peer.ip()), None);
                }
            }
        }
        if let Some(unix) = listeners.unix.and_then(|unix| unix.into_std().ok()) {
            for (stream, _) in waiting(|| unix.accept()) {
                let stream = stream
                    .set_nonblocking(true)
                    .and_then(|()| UnixStream::from_std(stream));
                if let Ok(stream) = stream {
                    self.start(stream, Door::Socket, None);
                }
            }
        }
    }

    fn start(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        door: Door,
        permit: Option<OwnedSemaphorePermit>,
    ) {
        let idle = Arc::new(Idle::new(self.head_timeout));
        let (api, of_requests) = (Arc::clone(&self.api), Arc::clone(&idle));
        let silent = Cell::new(Some(self.silent.token()));
        let service = service_fn(move |request: axum::http::Request<Incoming>| {
            silent.set(None);
            let (api, idle) = (Arc::clone(&api), Arc::clone(&of_requests));
            async move {
                idle.begin();
                let response = api.answer_through(Some(door), request).await;
                Ok::<_, Infallible>(match is_stream(&response) {
                    // As long as somebody reads it, the connection is in use.
                    true => response.map(|body| {
                        axum::body::Body::new(Busy {
                            body,
                            _until: Until(idle),
                        })
                    }),
                    false => {
                        idle.end();
                        response
                    }
                })
            }
        });
        let connection = http1::Builder::new()
            .header_read_timeout(None)
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(stream), service);
        let connection = self.graceful.watch(connection);
        tokio::spawn(async move {
            let mut connection = pin!(connection);
            while let Some(left) = idle.left() {
                tokio::select! {
                    biased;
                    done = connection.as_mut() => {
                        if let Err(error) = done {
                            tracing::debug!(%error, "a connection ended early");
                        }
                        break;
                    }
                    () = tokio::time::sleep(left) => {}
                }
            }
            drop(permit);
        });
    }
}

/// How long a connection that has had its answer may stay without asking again, or take to read it.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// Whether a connection has waited too long for its next request. One timer a connection, looked at when it
/// fires; hyper's own would be set anew for every request.
struct Idle {
    opened: Instant,
    head_timeout: Duration,
    /// Milliseconds after `opened` at which the wait is over; `BUSY` while a request is being answered.
    until_ms: AtomicU64,
}

const BUSY: u64 = u64::MAX;

impl Idle {
    fn new(head_timeout: Duration) -> Self {
        let until_ms = u64::try_from(head_timeout.as_millis()).unwrap_or(BUSY - 1);
        Idle {
            opened: Instant::now(),
            head_timeout,
            until_ms: AtomicU64::new(until_ms),
        }
    }

    fn begin(&self) {
        self.until_ms.store(BUSY, Ordering::Relaxed);
    }

    fn end(&self) {
        let until = self.opened.elapsed() + KEEP_ALIVE.max(self.head_timeout);
        let until_ms = u64::try_from(until.as_millis()).unwrap_or(BUSY - 1);
        self.until_ms.store(until_ms, Ordering::Relaxed);
    }

    /// How long to wait before looking again; none when the time is up.
    fn left(&self) -> Option<Duration> {
        match self.until_ms.load(Ordering::Relaxed) {
            BUSY => Some(self.head_timeout),
            until_ms => {
                let left = Duration::from_millis(until_ms).checked_sub(self.opened.elapsed())?;
                Some(left.max(Duration::from_millis(1)))
            }
        }
    }
}
