//! Accepting connections on TCP and on the Unix socket, with limits on how many and how slow.

use crate::auth::Door;
use crate::request::Api;
use crate::router::Server;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Where the server listens.
pub struct Listeners {
    /// None serves only the owner's socket.
    pub tcp: Option<TcpListener>,
    pub unix: Option<UnixListener>,
}

/// Serves until `stop` fires, then lets open requests finish within `grace`.
pub async fn serve(
    server: Arc<Server>,
    listeners: Listeners,
    stop: CancellationToken,
    grace: Duration,
) {
    let face = Arc::new(Face {
        api: Arc::new(Api::new(Arc::clone(&server))),
        connections: Arc::new(Semaphore::new(server.limits.connections_max)),
        head_timeout: server.limits.head_timeout,
        graceful: GracefulShutdown::new(),
    });
    let tcp = accept_tcp(&face, listeners.tcp);
    let unix = accept_unix(&face, listeners.unix);
    tokio::select! {
        () = stop.cancelled() => {}
        () = tcp => {}
        () = unix => {}
    }
    server.face.stop();
    // The accept loops are gone now, and with them every other holder of the face.
    if let Some(face) = Arc::into_inner(face) {
        let _ = tokio::time::timeout(grace, face.graceful.shutdown()).await;
    }
}

struct Face {
    api: Arc<Api>,
    connections: Arc<Semaphore>,
    head_timeout: Duration,
    graceful: GracefulShutdown,
}

async fn accept_tcp(face: &Face, listener: Option<TcpListener>) {
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
                face.start(stream, Door::Network(peer.ip()), permit);
            }
            Err(error) => pause_after(&error).await,
        }
    }
}

async fn accept_unix(face: &Face, listener: Option<UnixListener>) {
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
            Ok((stream, _)) => face.start(stream, Door::Socket, permit),
            Err(error) => pause_after(&error).await,
        }
    }
}

/// Out of descriptors, most likely: accepting again at once would only spin.
async fn pause_after(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(Duration::from_millis(50)).await;
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
    fn start(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        door: Door,
        permit: tokio::sync::OwnedSemaphorePermit,
    ) {
        let idle = Arc::new(Idle::new(self.head_timeout));
        let (api, of_requests) = (Arc::clone(&self.api), Arc::clone(&idle));
        let service = service_fn(move |request: axum::http::Request<Incoming>| {
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
