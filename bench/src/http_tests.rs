//! The reader against replies cut at every place, and against servers that speak nonsense.

use tokio::io::{AsyncWriteExt, DuplexStream};

use super::*;

/// Answers from `reply`, at most `piece` bytes a read; gives back status, body and whether the connection may stay.
async fn read_in_pieces(reply: &[u8], piece: usize) -> Result<(u16, String, bool), Failure> {
    let (ours, theirs) = tokio::io::duplex(piece);
    let server = tokio::spawn(serve(theirs, reply.to_vec()));
    let mut connection = Connection::new(ours);
    let outcome = connection.round_trip(b"").await.map(|reply| {
        (
            reply.status,
            String::from_utf8(reply.body.to_vec()).unwrap(),
            reply.keep_alive,
        )
    });
    drop(connection);
    server.await.unwrap();
    outcome
}

async fn serve(mut theirs: DuplexStream, reply: Vec<u8>) {
    // The reader may go away before all is written: that is what some tests are about.
    let _ = theirs.write_all(&reply).await;
}

async fn read(reply: &str) -> Result<(u16, String, bool), Failure> {
    read_in_pieces(reply.as_bytes(), 64 * 1024).await
}

const FIXED: &str = "HTTP/1.1 200 OK\r\ncontent-length: 11\r\nX-A: b\r\n\r\nhello world";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: 1\r\n\r\n";

#[tokio::test]
async fn a_reply_is_the_same_however_it_is_split() {
    for reply in [FIXED, CHUNKED] {
        for piece in 1..=reply.len() {
            let got = read_in_pieces(reply.as_bytes(), piece).await;
            assert_eq!(
                got,
                Ok((200, "hello world".to_owned(), true)),
                "{piece} bytes a read of {reply:?}"
            );
        }
    }
}

#[tokio::test]
async fn replies_follow_each_other_on_one_connection() {
    let all = format!("{FIXED}{CHUNKED}HTTP/1.1 204 No Content\r\n\r\n{FIXED}");
    for piece in [1, 7, 4096] {
        let (ours, theirs) = tokio::io::duplex(piece);
        let server = tokio::spawn(serve(theirs, all.clone().into_bytes()));
        let mut connection = Connection::new(ours);
        for (status, body) in [
            (200, "hello world"),
            (200, "hello world"),
            (204, ""),
            (200, "hello world"),
        ] {
            let reply = connection.round_trip(b"").await.unwrap();
            assert_eq!((reply.status, reply.body), (status, body.as_bytes()));
        }
        server.await.unwrap();
    }
}

#[tokio::test]
async fn the_request_is_sent_as_it_is() {
    let (ours, mut theirs) = tokio::io::duplex(1024);
    let mut connection = Connection::new(ours);
    theirs.write_all(FIXED.as_bytes()).await.unwrap();
    connection
        .round_trip(b"GET / HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    let mut sent = [0; 18];
    theirs.read_exact(&mut sent).await.unwrap();
    assert_eq!(&sent, b"GET / HTTP/1.1\r\n\r\n");
}

#[tokio::test]
async fn announcements_are_passed_over_and_close_is_seen() {
    let announced = read(&format!("HTTP/1.1 100 Continue\r\n\r\n{FIXED}")).await;
    assert_eq!(announced, Ok((200, "hello world".to_owned(), true)));
    let closing = read("HTTP/1.1 503 No\r\nConnection: close\r\ncontent-length: 1\r\n\r\nx").await;
    assert_eq!(closing, Ok((503, "x".to_owned(), false)));
    let until_close = read("HTTP/1.1 200 OK\r\n\r\nall of it").await;
    assert_eq!(until_close, Ok((200, "all of it".to_owned(), false)));
    let both = read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n1\r\nx\r\n0\r\n\r\n").await;
    assert_eq!(both, Ok((200, "x".to_owned(), true)));
}

#[tokio::test]
async fn a_reply_cut_short_anywhere_is_an_error() {
    for reply in [FIXED, CHUNKED] {
        for cut in 0..reply.len() {
            let got = read(&reply[..cut]).await;
            assert!(got.is_err(), "cut at {cut} of {reply:?} gave {got:?}");
        }
    }
}

#[tokio::test]
async fn nonsense_is_an_error_that_says_what() {
    for (reply, why) in [
        ("SSH-2.0-x\r\n\r\n", "not an HTTP/1.x reply"),
        ("HTTP/1.1 xx OK\r\n\r\n", "not an HTTP/1.x reply"),
        ("HTTP/1.1 999 OK\r\n\r\n", "not an HTTP/1.x reply"),
        (
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "not an HTTP/1.x reply",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "Content-Length",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "Content-Length",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "Transfer-Encoding",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "bad chunk size",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\nx\r\n",
            "bad chunk size",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            "bad chunk size",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n",
            "longer than it said",
        ),
    ] {
        let failure = read(reply).await.unwrap_err();
        assert!(failure.contains(why), "{reply:?} gave {failure:?}");
    }
    let endless = "a".repeat(HEAD_BYTES_MAX + 10);
    assert!(
        read(&endless)
            .await
            .unwrap_err()
            .contains("no end of the head")
    );
    assert!(
        read_in_pieces(b"HTTP/1.1 200 \xff\xfe\r\n\r\n", 64)
            .await
            .unwrap_err()
            .contains("not an HTTP")
    );
}

#[test]
fn addresses_are_read_and_bad_ones_refused() {
    let target = Target::parse("http://127.0.0.1:8787/a?b=c").unwrap();
    assert_eq!(
        (target.address.port(), target.path.as_str()),
        (8787, "/a?b=c")
    );
    assert_eq!(Target::parse("http://127.0.0.1").unwrap().path, "/");
    for bad in [
        "https://127.0.0.1/",
        "127.0.0.1:1",
        "http:///x",
        "http://127.0.0.1/a b",
        "http://127.0.0.1:99999/",
    ] {
        assert!(
            Target::parse(bad)
                .unwrap_err()
                .contains("expected something like"),
            "{bad}"
        );
    }
}
