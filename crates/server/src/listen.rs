//! Accepting connections on TCP and on the Unix socket, with limits on how many and how slow.

use crate::auth::Door;
use crate::router::{Server, router};
use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Where the server listens.
pub struct Listeners {
    pub tcp: TcpListener,
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
        router: router(Arc::clone(&server)),
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
    // The accept loops are gone now, and with them every other holder of the face.
    if let Some(face) = Arc::into_inner(face) {
        let _ = tokio::time::timeout(grace, face.graceful.shutdown()).await;
    }
}

struct Face {
    router: Router,
    connections: Arc<Semaphore>,
    head_timeout: Duration,
    graceful: GracefulShutdown,
}

async fn accept_tcp(face: &Face, listener: TcpListener) {
    loop {
        let Ok(permit) = Arc::clone(&face.connections).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                // Without it an answer in two parts waits for the other side's delayed acknowledgement.
                let _ = stream.set_nodelay(true);
                face.start(stream, Door::Network, permit);
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

impl Face {
    fn start(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        door: Door,
        permit: tokio::sync::OwnedSemaphorePermit,
    ) {
        let service =
            self.router
                .clone()
                .map_request(move |mut request: axum::http::Request<Incoming>| {
                    request.extensions_mut().insert(door);
                    request.map(axum::body::Body::new)
                });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.head_timeout)
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let connection = self.graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
}
