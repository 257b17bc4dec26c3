//! Sessions of the legacy era: ended by their client, unknown to everybody else, and gone when nobody uses them.

use crate::crib::{Crib, sandbox, until};
use crate::harness::{ADMIN_KEY, Running};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// An answer of the MCP endpoint.
#[derive(Debug)]
struct Answer {
    status: u16,
    session: Option<String>,
    body: String,
}

/// A client that speaks for itself, to see what the wire says.
struct Plain<'a> {
    server: &'a Running,
    key: String,
}

impl Plain<'_> {
    fn send(&self, method: &str, session: Option<&str>, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n",
            self.server.address,
            self.key,
            body.len()
        );
        if let Some(session) = session {
            head.push_str(&format!(
                "Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-11-25\r\n"
            ));
        }
        let mut stream = TcpStream::connect(&self.server.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let session = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id")
                .then(|| value.to_owned())
        });
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            session,
            body: body.to_owned(),
        }
    }

    /// Opens a session and gives its id.
    fn open(&self) -> String {
        self.try_open()
            .unwrap_or_else(|answer| panic!("{answer:?}"))
    }

    fn try_open(&self) -> Result<String, Answer> {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let initialize =
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let answer = self.send("POST", None, Some(&initialize));
        match answer.status {
            200 => Ok(answer.session.unwrap()),
            _ => Err(answer),
        }
    }

    fn ping(&self, session: &str) -> Answer {
        let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
        self.send("POST", Some(session), Some(&ping))
    }
}

fn admin(server: &Running) -> Plain<'_> {
    Plain {
        server,
        key: ADMIN_KEY.to_owned(),
    }
}

#[test]
fn a_session_that_was_deleted_is_unknown() {
    let crib = Crib::new();
    let client = admin(&crib.server);
    let (session, other) = (client.open(), client.open());
    assert_ne!(session, other);
    assert_eq!(client.ping(&session).status, 200);
    let ended = client.send("DELETE", Some(&session), None).status;
    assert_eq!(ended, 204);
    for answer in [
        client.ping(&session),
        client.send("GET", Some(&session), None),
        client.send("DELETE", Some(&session), None),
        client.ping("no-such-session"),
    ] {
        assert_eq!(answer.status, 404, "{answer:?}");
        assert!(answer.body.contains("no such session"), "{answer:?}");
    }
    assert_eq!(client.ping(&other).status, 200);
}

/// What a client says of itself stands in one place; the same text in what somebody writes says nothing.
#[test]
fn the_era_is_not_read_from_arguments() {
    let crib = Crib::new();
    let client = admin(&crib.server);
    let session = client.open();
    let data = "a \"io.modelcontextprotocol/protocolVersion\": \"2026-07-28\"";
    let params = json!({"name": "clean_text", "arguments": {"data": data}});
    let request = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let answer = client.send("POST", Some(&session), Some(&request));
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], data, "{answer}");
}

/// A session of the older transport lasts as long as its stream.
#[test]
fn a_stream_that_is_closed_ends_its_session() {
    let crib = Crib::new();
    let address = &crib.server.address;
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let head = format!(
        "GET /sse HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {ADMIN_KEY}\r\nAccept: text/event-stream\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let said = lines.filter_map(|line| line.strip_prefix("data: ").map(str::to_owned));
    let endpoint = { said }.next().unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let post = || crib.server.request("POST", &endpoint, Some(&ping)).0;
    assert_eq!(post(), 202);
    drop(stream);
    until("the session is gone", || (post() == 404).then_some(()));
}

#[test]
fn another_keys_session_is_unknown() {
    let crib = Crib::new();
    let client = admin(&crib.server);
    let made = json!({"name": "other", "scopes": ["read", "call"]});
    let (status, made) = crib.server.request("POST", "/api/v1/keys", Some(&made));
    assert_eq!(status, 201, "{made}");
    let other = Plain {
        server: &crib.server,
        key: made["key"].as_str().unwrap().to_owned(),
    };
    let (session, others) = (client.open(), other.open());
    for answer in [
        other.ping(&session),
        other.send("DELETE", Some(&session), None),
        client.ping(&others),
    ] {
        assert_eq!(answer.status, 404, "{answer:?}");
    }
    assert_eq!(client.ping(&session).status, 200);
    assert_eq!(other.ping(&others).status, 200);
}

#[test]
fn abandoned_sessions_expire() {
    const SESSIONS: usize = 50;
    let sandbox = sandbox();
    // There is room for no more, so that others can come only once these are gone.
    let config = format!("[mcp]\nsession_idle_seconds = 2\nsessions_max = {SESSIONS}\n");
    sandbox.write("toolcrib.toml", &config);
    let crib = Crib::of(sandbox);
    let client = admin(&crib.server);
    let began = Instant::now();
    let sessions: Vec<String> = (0..SESSIONS).map(|_| client.open()).collect();
    let open = || until("there is room for a session", || client.try_open().ok());
    let again: Vec<String> = (0..SESSIONS).map(|_| open()).collect();
    let waited = began.elapsed();
    for session in &sessions {
        assert_eq!(client.ping(session).status, 404);
    }
    for session in &again {
        assert_eq!(client.ping(session).status, 200);
    }
    println!(
        "sessions: {SESSIONS} abandoned, gone and as many new ones there {waited:?} after the first"
    );
}
