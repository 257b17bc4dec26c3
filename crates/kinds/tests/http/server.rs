//! A server on this machine that answers what a test says and remembers what it was asked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A request as it stood on the wire.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Mutex<Vec<Seen>>,
}

type Reply = dyn Fn(&Seen) -> String + Send + Sync;

impl Server {
    pub(crate) async fn start(
        reply: impl Fn(&Seen) -> String + Send + Sync + 'static,
    ) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Arc::new(Server {
            address: listener.local_addr().unwrap(),
            seen: Mutex::default(),
        });
        let reply: Arc<Reply> = Arc::new(reply);
        let this = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (this, reply) = (Arc::clone(&this), Arc::clone(&reply));
                tokio::spawn(async move { this.serve(stream, &*reply).await });
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().unwrap()
    }

    async fn serve(&self, stream: TcpStream, reply: &Reply) {
        let mut stream = BufReader::new(stream);
        while let Some(seen) = read(&mut stream).await {
            self.seen.lock().unwrap().push(seen.clone());
            if stream.write_all(reply(&seen).as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Seen> {
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
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: HashMap<String, String> = lines.filter_map(header).collect();
    let length = headers
        .get("content-length")
        .map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Seen {
        method,
        target,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

pub(crate) fn json(body: &str) -> String {
    answer("200 OK", "Content-Type: application/json\r\n", body)
}
