//! A client that speaks for itself, to see what the wire says.

use crate::harness::{ADMIN_KEY, Running};
use crate::wire::{Answer, read_answer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

const BOTH: &str = "application/json, text/event-stream";

/// One request with these headers.
pub(crate) fn send(address: &str, method: &str, path: &str, headers: &str, body: &str) -> Answer {
    send_as(address, address, method, path, headers, body)
}

/// Under a name that is not its own.
pub(crate) fn send_as(
    address: &str,
    host: &str,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> Answer {
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    read_answer(&mut sent(address, &text)).unwrap()
}

fn sent(address: &str, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

pub(crate) struct Plain<'a> {
    pub(crate) address: &'a str,
    /// A key or a token; none shows nothing.
    pub(crate) key: Option<String>,
    pub(crate) accept: &'static str,
}

impl<'a> Plain<'a> {
    pub(crate) fn new(server: &'a Running, key: Option<&str>) -> Self {
        Plain::at(&server.address, key)
    }

    /// The same for whatever listens there.
    pub(crate) fn at(address: &'a str, key: Option<&str>) -> Self {
        Plain {
            address,
            key: key.map(str::to_owned),
            accept: BOTH,
        }
    }

    pub(crate) fn admin(server: &'a Running) -> Self {
        Plain::new(server, Some(ADMIN_KEY))
    }

    fn headers(&self, session: Option<&str>) -> String {
        let mut headers = format!("Content-Type: application/json\r\nAccept: {}", self.accept);
        if let Some(key) = &self.key {
            headers.push_str(&format!("\r\nAuthorization: Bearer {key}"));
        }
        if let Some(session) = session {
            headers.push_str(&format!(
                "\r\nMcp-Session-Id: {session}\r\nMcp-Protocol-Version: {LEGACY}"
            ));
        }
        headers
    }

    pub(crate) fn send(&self, method: &str, session: Option<&str>, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let (address, headers) = (self.address, self.headers(session));
        send(address, method, "/mcp", &headers, &body)
    }

    /// Where the older transport has its messages posted.
    pub(crate) fn post_to(&self, path: &str, body: &Value) -> Answer {
        let (address, headers) = (self.address, self.headers(None));
        send(address, "POST", path, &headers, &body.to_string())
    }

    /// Opens a session and gives its id.
    pub(crate) fn open(&self) -> String {
        self.open_able(&json!({}))
    }

    /// The same as a client that can be asked.
    pub(crate) fn open_able(&self, capabilities: &Value) -> String {
        let opened = self.try_open(capabilities);
        opened.unwrap_or_else(|answer| panic!("{answer:?}"))
    }

    pub(crate) fn try_open(&self, capabilities: &Value) -> Result<String, Answer> {
        let params = json!({"protocolVersion": LEGACY, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
        let initialize = request("initialize", &params);
        let answer = self.send("POST", None, Some(&initialize));
        match answer.status {
            200 => Ok(answer.header("mcp-session-id").unwrap().to_owned()),
            _ => Err(answer),
        }
    }

    /// A request in a session.
    pub(crate) fn ask(&self, session: &str, method: &str, params: &Value) -> Answer {
        self.send("POST", Some(session), Some(&request(method, params)))
    }

    pub(crate) fn ping(&self, session: &str) -> Answer {
        self.ask(session, "ping", &json!({}))
    }

    fn modern_parts(&self, method: &str, params: &Value, able: &Value) -> (String, Value) {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": able,
        });
        let mut headers = self.headers(None);
        headers.push_str(&format!(
            "\r\nMCP-Protocol-Version: {MODERN}\r\nMcp-Method: {method}"
        ));
        if let Some(name) = params["name"].as_str() {
            headers.push_str(&format!("\r\nMcp-Name: {name}"));
        }
        (headers, request(method, &params))
    }

    /// A request of the modern era.
    pub(crate) fn modern(&self, method: &str, params: &Value, able: &Value) -> Answer {
        let (headers, body) = self.modern_parts(method, params, able);
        send(self.address, "POST", "/mcp", &headers, &body.to_string())
    }

    /// The stream of a session.
    pub(crate) fn stream(&self, session: &str) -> Result<Stream, u16> {
        let headers = self.headers(Some(session));
        Stream::open(self.address, "GET /mcp", &headers, "")
    }

    /// The stream of the older transport.
    pub(crate) fn sse(&self) -> Stream {
        Stream::open(self.address, "GET /sse", &self.headers(None), "").unwrap()
    }

    /// The stream of a request in a session, or of one of the modern era.
    pub(crate) fn answers(&self, session: &str, method: &str, params: &Value) -> Stream {
        let body = request(method, params).to_string();
        let headers = self.headers(Some(session));
        Stream::open(self.address, "POST /mcp", &headers, &body).unwrap()
    }

    /// The stream of changes of the modern era.
    pub(crate) fn listen(&self, wanted: &Value) -> Result<Stream, u16> {
        let params = json!({"notifications": wanted});
        let (headers, body) = self.modern_parts("subscriptions/listen", &params, &json!({}));
        Stream::open(self.address, "POST /mcp", &headers, &body.to_string())
    }
}

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// Events as they come.
#[derive(Debug)]
pub(crate) struct Stream(BufReader<TcpStream>);

impl Stream {
    /// The status of an answer that is none.
    fn open(address: &str, line: &str, headers: &str, body: &str) -> Result<Self, u16> {
        let length = body.len();
        let text = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        let mut stream = Stream(BufReader::new(sent(address, &text)));
        let status = stream.line().unwrap();
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        while stream.line().is_some_and(|line| !line.is_empty()) {}
        match status {
            200 => Ok(stream),
            other => Err(other),
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).unwrap();
        (length > 0).then(|| line.trim_end().to_owned())
    }

    /// What comes next; none at its end. The sizes that stand between are no part of it.
    pub(crate) fn next(&mut self) -> Option<String> {
        loop {
            let line = self.line()?;
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(data.to_owned());
            }
        }
    }

    /// The next message that fits.
    pub(crate) fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let data = self.next().expect("the stream goes on");
            let message: Value = serde_json::from_str(&data).unwrap();
            if fits(&message) {
                return message;
            }
        }
    }

    /// The next message of this method.
    pub(crate) fn hears(&mut self, method: &str) -> Value {
        self.until(|message| message["method"] == method)
    }

    /// Waits for its end.
    pub(crate) fn ends(mut self) {
        while self.next().is_some() {}
    }
}
