//! A small HTTP server on this machine that answers what a test says, byte for byte, and remembers what it was asked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// A request as it stood on the wire.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// What the server does with a request.
pub(crate) enum Reply {
    Raw(Vec<u8>),
    /// Nothing, until the client goes.
    Hang,
    /// This, and then a byte each second.
    Drip(Vec<u8>),
    /// This, and then the connection is closed.
    Close(Vec<u8>),
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Mutex<Vec<Seen>>,
    accepted: AtomicUsize,
    /// Told for each request.
    pub(crate) asked: Notify,
    /// Told when a client went away while it was waiting.
    pub(crate) left: Notify,
}

impl Server {
    pub(crate) async fn start(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::at(&listener);
        let reply = Arc::new(reply);
        let this = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                this.accepted.fetch_add(1, Ordering::SeqCst);
                let (this, reply) = (Arc::clone(&this), Arc::clone(&reply));
                tokio::spawn(async move { this.serve(stream, &*reply).await });
            }
        });
        server
    }

    /// For whoever accepts connections otherwise.
    pub(crate) fn at(listener: &TcpListener) -> Arc<Self> {
        Arc::new(Server {
            address: listener.local_addr().unwrap(),
            seen: Mutex::default(),
            accepted: AtomicUsize::new(0),
            asked: Notify::new(),
            left: Notify::new(),
        })
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().unwrap()
    }

    pub(crate) async fn serve(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        reply: &(dyn Fn(&Seen) -> Reply + Send + Sync),
    ) {
        let mut stream = BufReader::new(stream);
        while let Some(seen) = read(&mut stream).await {
            self.seen.lock().unwrap().push(seen.clone());
            self.asked.notify_one();
            match reply(&seen) {
                Reply::Raw(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return self.left.notify_one();
                    }
                    let _ = stream.flush().await;
                }
                Reply::Close(bytes) => {
                    let _ = stream.write_all(&bytes).await;
                    let _ = stream.shutdown().await;
                    return;
                }
                Reply::Hang => {
                    let _ = stream.read_u8().await;
                    return self.left.notify_one();
                }
                Reply::Drip(head) => {
                    let mut sent = stream.write_all(&head).await;
                    while sent.is_ok() {
                        tokio::time::sleep(Duration::from_secs(1)).await;
                        sent = stream.write_all(b"x").await;
                    }
                    return self.left.notify_one();
                }
            }
        }
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let mut seen = Seen {
        method: first.next()?.to_owned(),
        target: first.next()?.to_owned(),
        headers: lines.filter_map(header).collect(),
        body: Vec::new(),
    };
    let length = seen
        .headers
        .get("content-length")
        .map_or(0, |text| text.parse().unwrap());
    seen.body = vec![0; length];
    stream.read_exact(&mut seen.body).await.ok()?;
    Some(seen)
}

/// An answer with a body.
pub(crate) fn ok(body: &str) -> Reply {
    answer("200 OK", &[], body.as_bytes())
}

pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    Reply::Raw([head.as_bytes(), body].concat())
}

pub(crate) fn to(status: &str, location: &str) -> Reply {
    answer(status, &[("Location", location)], b"")
}
