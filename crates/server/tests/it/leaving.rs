//! The moment at which a server closes its ports: whoever has connected by then is answered, and whoever says nothing holds
//! nobody up.

use crate::testapp::{TestApp, on_both};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

const ASKED: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Far longer than any of it takes.
const GRACE: Duration = Duration::from_secs(60);

async fn asking<S: AsyncWrite + Unpin>(connected: io::Result<S>) -> S {
    let mut stream = connected.unwrap();
    stream.write_all(ASKED).await.unwrap();
    stream
}

async fn assert_answered<S: AsyncRead + Unpin>(mut stream: S, who: &str) {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    let is_fine = read.is_ok() && answer.starts_with("HTTP/1.1 200");
    assert!(is_fine, "{who}: {read:?} {answer}");
}

#[tokio::test]
async fn whoever_waits_at_the_door_is_answered_before_it_closes() {
    on_both(async |app: &TestApp| {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let socket = app.folder.path().join("leaving.sock");
        let unix = UnixListener::bind(&socket).unwrap();
        // Nobody accepts yet: they wait in the queues, and what they ask with them.
        let (mut remote, mut local) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            remote.push(asking(TcpStream::connect(address).await).await);
            local.push(asking(UnixStream::connect(&socket).await).await);
        }
        let silent = TcpStream::connect(address).await.unwrap();
        let listeners = server::Listeners {
            tcp: Some(tcp),
            unix: Some(unix),
        };
        let stop = CancellationToken::new();
        stop.cancel();
        let began = Instant::now();
        let serving = server::serve(Arc::clone(&app.server), listeners, stop, GRACE);
        let serving = tokio::spawn(serving);
        for stream in remote {
            assert_answered(stream, "the port").await;
        }
        for stream in local {
            assert_answered(stream, "the socket").await;
        }
        serving.await.unwrap();
        let head_timeout = app.server.limits.head_timeout;
        assert!(
            began.elapsed() < head_timeout,
            "one that says nothing held it up"
        );
        drop(silent);
        let closed = TcpStream::connect(address).await.unwrap_err();
        assert_eq!(closed.kind(), io::ErrorKind::ConnectionRefused);
    })
    .await;
}
