//! A small HTTP server on this machine that answers what a test says and remembers what it was asked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(crate) struct Endpoint {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Endpoint {
    pub(crate) async fn start(answer: impl Fn(&Seen) -> String + Send + Sync + 'static) -> Self {
        Endpoint::answering(move |seen| Some(answer(seen))).await
    }

    /// One that reads and never answers.
    pub(crate) async fn silent() -> Self {
        Endpoint::answering(|_| None).await
    }

    async fn answering(answer: impl Fn(&Seen) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = Endpoint {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
        };
        let (seen, answer) = (Arc::clone(&endpoint.seen), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    while let Some(asked) = read(&mut stream).await {
                        seen.lock().unwrap().push(asked.clone());
                        match answer(&asked) {
                            Some(text) => stream.write_all(text.as_bytes()).await.unwrap(),
                            None => std::future::pending::<()>().await,
                        }
                    }
                });
            }
        });
        endpoint
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
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
    let mut seen = Seen {
        method: first.next()?.to_owned(),
        target: first.next()?.to_owned(),
        headers: lines.filter_map(header).collect(),
        body: Vec::new(),
    };
    let length = seen.header("content-length").parse().unwrap_or(0);
    seen.body = vec![0; length];
    stream.read_exact(&mut seen.body).await.ok()?;
    Some(seen)
}

/// An answer as it stands on the wire.
pub(crate) fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    format!(
        "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}
