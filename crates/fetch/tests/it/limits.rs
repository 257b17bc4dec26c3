//! Time and size: whatever a server does, a request ends and takes no more than it was given.

use crate::server::{Reply, Seen, Server, answer, ok};
use crate::world::{PUBLIC, World, fetched, get};
use fetch::{Error, Fetcher, Overflow, Part, Phase};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const URL: &str = "http://93.184.216.34/";
const SHORT: Duration = Duration::from_millis(200);

async fn served(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (Fetcher, Arc<Server>) {
    let world = World::new();
    let server = Server::start(reply).await;
    world.route(PUBLIC, 80, server.address);
    (world.fetcher(""), server)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The most memory this process ever had, in bytes.
fn memory_peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// A gigabyte in a megabyte.
#[tokio::test]
async fn a_bomb_is_stopped_at_the_cap() {
    let bomb = gzip(&vec![0; 16 << 20]).repeat(64);
    assert!(bomb.len() < 2 << 20);
    let (fetcher, _server) =
        served(move |_| answer("200 OK", &[("Content-Encoding", "gzip")], &bomb)).await;
    let before = memory_peak();
    let error = fetched(&fetcher, URL).await.unwrap_err();
    assert!(
        matches!(error, Error::TooLarge { part: Part::Body, max, .. } if max == 8 << 20),
        "{error:?}"
    );
    let mut request = get(URL);
    request.limits.overflow = Overflow::Cut;
    request.limits.body_bytes_max = 1000;
    let cut = fetcher.send(request).await.unwrap();
    assert_eq!((cut.body.len(), cut.is_cut), (1000, true));
    // Other tests run beside this one, and all of them together need far less.
    assert!(
        memory_peak() - before < 128 << 20,
        "{} bytes",
        memory_peak() - before
    );
}

#[tokio::test]
async fn a_body_is_taken_up_to_its_last_byte() {
    for (headers, wire) in [
        (&[][..], vec![7; 5000]),
        (&[("Content-Encoding", "gzip")][..], gzip(&[7; 5000])),
    ] {
        let (fetcher, server) = served(move |_| answer("200 OK", headers, &wire)).await;
        for (max, fits) in [(5000, true), (4999, false)] {
            let mut request = get(URL);
            request.limits.body_bytes_max = max;
            match fetcher.send(request).await {
                Ok(answer) => assert!(fits && answer.body == vec![7; 5000] && !answer.is_cut),
                Err(error) => assert!(
                    !fits && matches!(error, Error::TooLarge { .. }),
                    "{error:?}"
                ),
            }
        }
        assert_eq!(server.last().headers["accept-encoding"], "gzip");
    }
}

/// Chunks without end, and no length said.
#[tokio::test]
async fn an_endless_body_is_stopped() {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let chunks = b"400\r\n"
        .iter()
        .chain(&[b'x'; 1024])
        .chain(b"\r\n")
        .copied()
        .collect::<Vec<u8>>()
        .repeat(20_000);
    let (fetcher, server) =
        served(move |_| Reply::Raw([head.clone(), chunks.clone()].concat())).await;
    let error = fetched(&fetcher, URL).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::TooLarge {
                part: Part::Body,
                ..
            }
        ),
        "{error:?}"
    );
    server.left.notified().await;
}

#[tokio::test]
async fn slow_servers_meet_the_deadline() {
    let drip = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n".to_vec();
    let head = b"HTTP/1.1 200 OK\r\nX-A: ".to_vec();
    for reply in [
        Reply::Hang,
        Reply::Drip(drip),
        Reply::Drip(head),
        Reply::Drip(Vec::new()),
    ] {
        let reply = std::sync::Mutex::new(Some(reply));
        let (fetcher, server) = served(move |_| reply.lock().unwrap().take().unwrap()).await;
        let mut request = get(URL);
        request.limits.total = SHORT;
        let began = Instant::now();
        let error = fetcher.send(request).await.unwrap_err();
        assert!(
            matches!(
                error,
                Error::Timeout {
                    phase: Phase::Answer,
                    after: SHORT,
                    ..
                }
            ),
            "{error:?}"
        );
        assert!(began.elapsed() >= SHORT && began.elapsed() < Duration::from_secs(5));
        assert!(error.to_string().contains("within 0.2 s"), "{error}");
        server.left.notified().await;
    }
}

#[tokio::test]
async fn a_connection_that_does_not_come_about_is_given_up() {
    let world = World::new();
    world.silent(PUBLIC, 80);
    let mut options = world.options("");
    options.connect_timeout = SHORT;
    let error = fetched(&Fetcher::new(options), URL).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Timeout {
                phase: Phase::Connection,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn headers_have_their_limits() {
    let long = format!("HTTP/1.1 200 OK\r\nX-A: {}\r\n", "a".repeat(1 << 20));
    let many: String = (0..500).map(|n| format!("X-{n}: 1\r\n")).collect();
    let many = format!("HTTP/1.1 200 OK\r\n{many}\r\n");
    for head in [long, many] {
        let (fetcher, _server) = served(move |_| Reply::Raw(head.clone().into_bytes())).await;
        let error = fetched(&fetcher, URL).await.unwrap_err();
        assert!(
            matches!(
                error,
                Error::TooLarge {
                    part: Part::Headers,
                    ..
                }
            ),
            "{error:?}"
        );
    }
    let some: Vec<(String, String)> = (0..100)
        .map(|n| (format!("X-{n}"), "a".repeat(300)))
        .collect();
    let (fetcher, _server) = served(move |_| {
        let some: Vec<(&str, &str)> = some.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        answer("200 OK", &some, b"fine")
    })
    .await;
    assert_eq!(fetched(&fetcher, URL).await.unwrap().body, "fine");
}

#[tokio::test]
async fn dropping_a_request_ends_it() {
    let (fetcher, server) = served(|seen| match seen.target.as_str() {
        "/body" => Reply::Drip(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n".to_vec()),
        _ => Reply::Hang,
    })
    .await;
    for path in ["", "body"] {
        let url = format!("{URL}{path}");
        tokio::select! {
            answer = fetched(&fetcher, &url) => panic!("{answer:?}"),
            () = server.asked.notified() => {}
        }
        server.left.notified().await;
    }
}

#[tokio::test]
async fn answers_that_are_no_http_are_told_as_such() {
    let garbage: [&[u8]; 7] = [
        b"220 smtp.example ESMTP\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    ];
    for bytes in garbage {
        let (fetcher, _server) = served(move |_| Reply::Close(bytes.to_vec())).await;
        let error = fetched(&fetcher, URL).await.unwrap_err();
        assert!(
            matches!(error, Error::Protocol { .. }),
            "{bytes:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn many_at_once_share_what_there_is() {
    let (fetcher, server) = served(|_| ok("hello")).await;
    let mut requests = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let fetcher = fetcher.clone();
        requests.spawn(async move { fetched(&fetcher, URL).await.unwrap().body });
    }
    assert!(requests.join_all().await.iter().all(|body| body == "hello"));
    let opened = server.accepted();
    for _ in 0..20 {
        fetched(&fetcher, URL).await.unwrap();
    }
    assert_eq!(server.accepted(), opened, "what is idle is used again");
}
