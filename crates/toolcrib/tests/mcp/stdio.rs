//! `toolcrib mcp`, as desktop clients start it: several on one workspace share one set of upstream servers, also when the
//! one that had it is gone; and one for a server elsewhere.

use crate::crib::{Crib, sandbox, until};
use crate::harness::{ADMIN_KEY, Sandbox};
use crate::programs::MODERN;
use crate::site::read;
use crate::world::servers;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// An answer that has not come by then never will.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// One of them, and what it says. It is killed when dropped.
pub(crate) struct Spoken {
    child: Child,
    stdin: ChildStdin,
    pub(crate) lines: Receiver<Value>,
    is_modern: bool,
    /// Whether it writes `/` as `\\/`.
    escapes: bool,
    last: u64,
}

impl Spoken {
    pub(crate) fn start(sandbox: &Sandbox, more: &[&str], is_modern: bool) -> Self {
        let mut command = sandbox.command(&[&["mcp"], more].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).expect("every line is JSON");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut spoken = Spoken {
            child,
            stdin,
            lines,
            is_modern,
            escapes: false,
            last: 0,
        };
        if !is_modern {
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
            spoken.ask("initialize", params);
            spoken.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        spoken
    }

    pub(crate) fn write(&mut self, message: &Value) {
        let text = message.to_string();
        let text = match self.escapes {
            true => text.replace('/', "\\/"),
            false => text,
        };
        writeln!(self.stdin, "{text}").unwrap();
    }

    /// The whole answer to a request.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            });
        }
        self.last += 1;
        let id = self.last;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("{method} is not answered"));
            if line["id"] == id {
                return line;
            }
        }
    }

    /// The text that a tool answers with, if it does.
    fn call(&mut self, tool: &str, arguments: &Value) -> Option<String> {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        text.filter(|_| result["isError"] != true)
            .map(str::to_owned)
    }

    /// Calls the upstream until it answers; it is connected in the background.
    fn reaches_upstream(&mut self) {
        until("the upstream answers", || {
            let said = self.call("fixture.echo", &json!({"text": "hé"}))?;
            (said == "hé").then_some(())
        });
    }
}

impl Drop for Spoken {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The ids of the upstream's processes, as they have noted them.
fn started(note: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(note).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn several_on_one_workspace_have_one_set_of_upstreams() {
    let sandbox = sandbox();
    let note: PathBuf = sandbox.folder().join("started");
    let entry = MODERN.stdio(&["--note", note.to_str().unwrap()]);
    servers(&sandbox, &json!({"fixture": entry}));
    let mut owner = Spoken::start(&sandbox, &[], false);
    owner.reaches_upstream();
    let mut legacy = Spoken::start(&sandbox, &[], false);
    let mut modern = Spoken::start(&sandbox, &[], true);
    legacy.reaches_upstream();
    modern.reaches_upstream();
    let first = started(&note);
    assert_eq!(first.len(), 1, "{first:?}");
    let began = Instant::now();
    owner.child.kill().unwrap();
    owner.child.wait().unwrap();
    // What was theirs is everybody's: the answers of our own tools need no upstream.
    for other in [&mut legacy, &mut modern] {
        let expression = json!({"expression": "6 * 7"});
        assert_eq!(other.call("calculator", &expression).as_deref(), Some("42"));
    }
    let answered = began.elapsed();
    legacy.reaches_upstream();
    modern.reaches_upstream();
    let reached = began.elapsed();
    let all = started(&note);
    assert_eq!(all.len(), 2, "{all:?}");
    until("the first upstream has ended", || {
        (!is_alive(all[0])).then_some(())
    });
    assert!(is_alive(all[1]));
    println!(
        "stdio: 3 processes, 1 upstream; the owner is killed: answered after {answered:?}, upstream reached after {reached:?}, 1 upstream"
    );
}

/// In a new workspace too: what was never seen before is waited for.
#[test]
fn the_first_list_has_the_tools_of_servers_without_dots_where_asked() {
    let sandbox = sandbox();
    servers(&sandbox, &json!({"fixture": MODERN.stdio(&[])}));
    let mut spoken = Spoken::start(&sandbox, &["--names", "plain"], false);
    let names = |listed: &Value, what: &str| {
        let items = listed["result"][what].as_array().unwrap().iter();
        let names = items.map(|it| it["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<String>>()
    };
    let listed = spoken.ask("tools/list", json!({}));
    let tools = names(&listed, "tools");
    assert!(tools.contains(&"fixture__echo".to_owned()), "{tools:?}");
    let said = spoken.call("fixture__echo", &json!({"text": "hé"}));
    assert_eq!(said.as_deref(), Some("hé"));
    let prompts = names(&spoken.ask("prompts/list", json!({})), "prompts");
    assert!(
        prompts.contains(&"fixture__review".to_owned()),
        "{prompts:?}"
    );
    for name in ["fixture__review", "fixture.review"] {
        let asked = json!({"name": name, "arguments": {"subject": "it"}});
        let got = spoken.ask("prompts/get", asked);
        let text = &got["result"]["messages"][0]["content"]["text"];
        assert_eq!(*text, "Please review it.", "{got}");
    }
}

/// Some write slashes with a backslash, and some speak of the protocol in what they write.
#[test]
fn the_era_is_what_the_request_says() {
    let crib = Crib::new();
    let mut legacy = Spoken::start(&crib.sandbox, &[], false);
    let data = json!({"data": "\"io.modelcontextprotocol/protocolVersion\""});
    let said = legacy.call("clean_text", &data);
    assert_eq!(said.as_deref(), data["data"].as_str());
    let mut modern = Spoken::start(&crib.sandbox, &[], true);
    modern.escapes = true;
    let said = modern.call("clean_text", &data);
    assert_eq!(said.as_deref(), data["data"].as_str());
}

#[test]
fn a_workspace_that_is_served_is_shared_too() {
    let sandbox = sandbox();
    let note = sandbox.folder().join("started");
    let entry = MODERN.stdio(&["--note", note.to_str().unwrap()]);
    servers(&sandbox, &json!({"fixture": entry}));
    let crib = Crib::of(sandbox);
    let mut spoken = [false, true].map(|is_modern| Spoken::start(&crib.sandbox, &[], is_modern));
    for each in &mut spoken {
        each.reaches_upstream();
    }
    assert_eq!(started(&note).len(), 1);
    // They come and go; the server stays.
    drop(spoken);
    assert_eq!(crib.call("fixture.echo", &json!({"text": "a"})).status, 200);
    assert_eq!(started(&note).len(), 1);
}

#[test]
fn a_server_elsewhere_is_reached_with_its_key() {
    let crib = Crib::new();
    let elsewhere = Sandbox::bare();
    let url = crib.server.url();
    for is_modern in [false, true] {
        let with_key = ["--url", &url, "--key", ADMIN_KEY];
        let mut spoken = Spoken::start(&elsewhere, &with_key, is_modern);
        let listed = spoken.ask("tools/list", json!({}));
        assert!(
            listed["result"]["tools"]
                .to_string()
                .contains("\"calculator\""),
            "{listed}"
        );
        let expression = json!({"expression": "6 * 7"});
        assert_eq!(
            spoken.call("calculator", &expression).as_deref(),
            Some("42")
        );
    }
    let mut refused = Spoken::start(&elsewhere, &["--url", &url, "--key", "no-such-key"], true);
    let answer = refused.ask("tools/list", json!({}));
    let why = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("The API key is not valid"), "{answer}");
}

/// A server elsewhere that answers each request with these bytes, and hangs up. Gives its URL.
pub(crate) fn elsewhere(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            if let Some(request) = read(&stream) {
                let _ = stream.write_all(answer(&request).as_bytes());
            }
        }
    });
    url
}

pub(crate) fn answer(status: u16, more: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[test]
fn what_breaks_off_may_have_been_done() {
    for said in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"jsonrpc\":\"2.0\",",
    ] {
        let url = elsewhere(move |_| said.to_owned());
        let mut spoken = Spoken::start(&Sandbox::bare(), &["--url", &url], true);
        let lost = spoken.ask("tools/list", json!({}));
        let why = lost["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("may have been done"), "{lost}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let url = format!("http://{}", nobody.unwrap());
    let mut spoken = Spoken::start(&Sandbox::bare(), &["--url", &url], true);
    let lost = spoken.ask("tools/list", json!({}));
    let why = lost["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("cannot be reached"), "{lost}");
}

/// However many requests find out at once that the server has forgotten the session.
#[test]
fn a_session_that_was_forgotten_is_begun_once_for_all() {
    const PARALLEL: usize = 12;
    let begun = Arc::new(AtomicU32::new(0));
    let current = Arc::new(Mutex::new(String::new()));
    let (count, known) = (Arc::clone(&begun), Arc::clone(&current));
    let url = elsewhere(move |request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        let result = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}}).to_string();
        let mut session = known.lock().unwrap();
        if message["method"] == "initialize" {
            *session = format!("s{}", count.fetch_add(1, Ordering::SeqCst));
            return answer(200, &format!("Mcp-Session-Id: {session}\r\n"), &result);
        }
        let head = head.to_ascii_lowercase();
        match head.contains(&format!("mcp-session-id: {session}\r\n")) {
            _ if head.starts_with("get ") => answer(405, "", ""),
            false => answer(404, "", "{}"),
            true => answer(200, "", &result),
        }
    });
    let mut spoken = Spoken::start(&Sandbox::bare(), &["--url", &url], false);
    assert!(spoken.ask("ping", json!({}))["error"].is_null());
    *current.lock().unwrap() = "another".to_owned();
    for id in 0..PARALLEL {
        let id = format!("p{id}");
        spoken.write(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    }
    let mut answered = 0;
    while answered < PARALLEL {
        let line = spoken.lines.recv_timeout(PATIENCE).unwrap();
        assert!(line["error"].is_null(), "{line}");
        answered += usize::from(line.get("id").is_some());
    }
    assert_eq!(begun.load(Ordering::SeqCst), 2);
}

#[test]
fn who_listens_does_not_keep_it_from_ending() {
    let crib = Crib::new();
    let mut spoken = Spoken::start(&crib.sandbox, &[], true);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    spoken.write(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}),
    );
    let first = spoken.lines.recv_timeout(PATIENCE).unwrap();
    let acknowledged = "notifications/subscriptions/acknowledged";
    assert_eq!(first["method"], acknowledged, "{first}");
    let began = Instant::now();
    let pid = i32::try_from(spoken.child.id()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    until("it has ended", || spoken.child.try_wait().unwrap());
    let took = began.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn what_is_no_message_is_answered_all_the_same() {
    let sandbox = sandbox();
    let mut spoken = Spoken::start(&sandbox, &[], false);
    let wrong = json!({"jsonrpc": "1.0", "id": 7, "method": "ping"});
    for odd in [json!({"a": 1}), wrong, json!(5)] {
        spoken.write(&odd);
        let error = loop {
            let line = spoken.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("{odd} is not answered"));
            if line.get("error").is_some() {
                break line;
            }
        };
        assert_eq!(error["error"]["code"], -32600, "{error}");
        assert_eq!(error["id"], odd.get("id").cloned().unwrap_or_default());
    }
    let still = spoken.ask("ping", json!({}));
    assert!(still["result"].is_object(), "{still}");
}

/// As the version 2025-03-26 allows.
#[test]
fn several_at_once_are_answered_together() {
    let sandbox = sandbox();
    let mut spoken = Spoken::start(&sandbox, &[], false);
    spoken.write(&json!([
        {"jsonrpc": "2.0", "id": "a", "method": "tools/list"},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
        {"jsonrpc": "2.0", "id": "b", "method": "ping"},
    ]));
    let answers = loop {
        let line = spoken.lines.recv_timeout(PATIENCE).unwrap();
        if line.get("method").is_none() {
            break line;
        }
    };
    let ids = [&answers[0]["id"], &answers[1]["id"]];
    assert_eq!(ids, ["a", "b"], "{answers}");
    assert!(answers[0]["result"]["tools"].is_array(), "{answers}");
    assert!(answers[1]["result"].is_object(), "{answers}");
    // One who has not begun yet is told so, and goes on.
    let mut early = Spoken::start(&sandbox, &[], true);
    early.write(&json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]));
    let line = early.lines.recv_timeout(PATIENCE).unwrap();
    let why = line[0]["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("need a session"), "{line}");
    assert_eq!(line[0]["id"], 1);
}
