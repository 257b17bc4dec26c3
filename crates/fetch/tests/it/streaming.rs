//! Answers that are read while they come.

use crate::server::{Reply, Seen, Server, answer, to};
use crate::world::{PUBLIC, World, get};
use fetch::{Error, Fetcher, Phase, Streaming, Trust};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const URL: &str = "http://93.184.216.34/";

async fn served(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (Fetcher, Arc<Server>) {
    let world = World::new();
    let server = Server::start(reply).await;
    world.route(PUBLIC, 80, server.address);
    (world.fetcher(""), server)
}

async fn text(stream: &mut Streaming) -> String {
    let mut all = Vec::new();
    while let Some(piece) = stream.next().await {
        all.extend_from_slice(&piece.unwrap());
    }
    String::from_utf8(all).unwrap()
}

#[tokio::test]
async fn pieces_are_there_before_the_end() {
    let endless = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nfirst";
    let (fetcher, server) = served(move |_| Reply::Drip(endless.to_vec())).await;
    let mut stream = fetcher.open(get(URL)).await.unwrap();
    assert_eq!(stream.status, 200);
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    assert_eq!(stream.next().await.unwrap().unwrap(), "first");
    assert_eq!(server.last().headers["accept-encoding"], "identity");
    // Whoever goes is gone: the server notices when it writes the next byte.
    drop(stream);
    server.left.notified().await;
}

/// A server may have its answer ready before it has heard everything, and wants the rest all the same.
#[tokio::test]
async fn a_request_is_sent_to_its_end_although_it_is_answered() {
    const BYTES: usize = 16 << 20;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let world = World::new();
    world.route(PUBLIC, 80, listener.local_addr().unwrap());
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        stream.write_all(reply).await.unwrap();
        let (mut bytes, mut piece) = (0, vec![0; 1 << 16]);
        while bytes < BYTES {
            match stream.read(&mut piece).await.unwrap() {
                0 => break,
                count => bytes += count,
            }
        }
        bytes
    });
    let mut request = get(URL);
    request.method = fetch::Method::POST;
    request.body = fetch::Body::Bytes(vec![b'x'; BYTES].into());
    let answer = world.fetcher("").send(request).await.unwrap();
    assert_eq!(answer.body, "ok");
    assert!(heard.await.unwrap() >= BYTES);
}

#[tokio::test]
async fn what_was_read_to_its_end_leaves_its_connection_to_the_next() {
    let (fetcher, server) = served(|_| answer("404 Not Found", &[], b"whole")).await;
    for _ in 0..3 {
        let mut stream = fetcher.open(get(URL)).await.unwrap();
        assert_eq!(stream.status, 404);
        assert_eq!(text(&mut stream).await, "whole");
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_stream_that_breaks_off_has_not_ended() {
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    let (fetcher, _server) = served(move |_| Reply::Close(half.to_vec())).await;
    let mut stream = fetcher.open(get(URL)).await.unwrap();
    let mut last = stream.next().await;
    while let Some(Ok(_)) = last {
        last = stream.next().await;
    }
    assert!(
        matches!(last, Some(Err(Error::Protocol { .. }))),
        "{last:?}"
    );
}

#[tokio::test]
async fn nothing_is_followed_and_nothing_is_undone() {
    let (fetcher, server) = served(|_| to("302 Found", "/elsewhere")).await;
    assert_eq!(fetcher.open(get(URL)).await.unwrap().status, 302);
    assert_eq!(server.seen().len(), 1);
    let (fetcher, _server) =
        served(|_| answer("200 OK", &[("Content-Encoding", "gzip")], b"?")).await;
    let refused = fetcher.open(get(URL)).await.err().unwrap();
    assert!(matches!(refused, Error::Protocol { .. }), "{refused:?}");
}

#[tokio::test]
async fn headers_are_waited_for_so_long_and_places_are_judged() {
    let (fetcher, server) = served(|_| Reply::Hang).await;
    let mut request = get(URL);
    request.limits.total = Duration::from_millis(100);
    let late = fetcher.open(request).await.err().unwrap();
    assert!(
        matches!(
            late,
            Error::Timeout {
                phase: Phase::Answer,
                ..
            }
        ),
        "{late:?}"
    );
    server.left.notified().await;
    let mut request = get("http://127.0.0.1:9/");
    assert_eq!(request.trust, Trust::Guarded);
    request.limits.total = Duration::from_secs(5);
    let refused = fetcher.open(request).await.err().unwrap();
    assert!(matches!(refused, Error::Refused { .. }), "{refused:?}");
}
