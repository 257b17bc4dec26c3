//! HTTP by hand, for requests that no proper client would send, and a seeded source of chance.

use crate::harness::Running;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// An answer with its head.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find(|(k, _)| k.eq_ignore_ascii_case(name))
            .map(|(_, v)| v)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// The bytes of a whole request.
pub(crate) fn request(method: &str, path: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn open(server: &Running, patience: Duration) -> TcpStream {
    let stream = TcpStream::connect(&server.address).expect("the server accepts");
    stream
        .set_read_timeout(Some(patience))
        .expect("a timeout can be set");
    stream
}

/// Reads one answer; an error where the connection ends, breaks or stays silent before one is complete.
pub(crate) fn read_answer(stream: &mut TcpStream) -> io::Result<Answer> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(answer) = complete(&bytes) {
            return Ok(answer);
        }
        let n = stream.read(&mut chunk)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&chunk[..n]);
    }
}

fn complete(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut answer = Answer {
        status,
        head,
        body: bytes[end + 4..].to_vec(),
    };
    let length = answer
        .header("content-length")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    if answer.body.len() < length {
        return None;
    }
    answer.body.truncate(length);
    Some(answer)
}

/// One request whose answer's head matters.
pub(crate) fn send(server: &Running, method: &str, path: &str, body: &Value) -> io::Result<Answer> {
    let mut stream = open(server, Duration::from_secs(20));
    stream.write_all(&request(method, path, &server.key, &body.to_string()))?;
    read_answer(&mut stream)
}

pub(crate) fn call(server: &Running, tool: &str, body: &Value) -> io::Result<(u16, Value)> {
    server.try_request("POST", &format!("/api/v1/tools/{tool}/call"), Some(body))
}

/// A definition that runs a builtin under another name.
pub(crate) fn definition(name: &str, builtin: &str, shelf: &str) -> Value {
    json!({
        "name": name,
        "description": format!("a tool named {name}"),
        "kind": "builtin",
        "config": {"name": builtin},
        "input_schema": {"type": "object"},
        "shelf": shelf,
    })
}

/// Asks again until the answer is there; gives it and how long it took.
pub(crate) fn until<T>(
    what: &str,
    patience: Duration,
    mut ask: impl FnMut() -> Option<T>,
) -> (T, Duration) {
    let began = Instant::now();
    loop {
        if let Some(found) = ask() {
            return (found, began.elapsed());
        }
        assert!(
            began.elapsed() < patience,
            "not within {patience:?}: {what}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The ids of calls whose `started` entry is in the log.
pub(crate) fn started_calls(server: &Running) -> Vec<String> {
    let (_, page) = server.request("GET", "/api/v1/executions?status=started&limit=500", None);
    let items = page["items"].as_array().cloned().unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item["id"].as_str().map(str::to_owned))
        .collect()
}

/// Chance that comes out the same for the same seed (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end.max(1) as u64).unwrap_or_default()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        u8::try_from(self.roll() & 0xFF).unwrap_or_default()
    }
}
