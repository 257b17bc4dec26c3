//! `toolcrib mcp`, as desktop clients start it: several on one workspace share one set of upstream servers, also when the
//! one that had it is gone; and one for a server elsewhere.

use crate::crib::{Crib, sandbox, until};
use crate::harness::{ADMIN_KEY, Sandbox};
use crate::programs::MODERN;
use crate::world::servers;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// An answer that has not come by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// One of them, and what it says. It is killed when dropped.
struct Spoken {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<Value>,
    is_modern: bool,
    /// Whether it writes `/` as `\\/`.
    escapes: bool,
    last: u64,
}

impl Spoken {
    fn start(sandbox: &Sandbox, more: &[&str], is_modern: bool) -> Self {
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

    fn write(&mut self, message: &Value) {
        let text = message.to_string();
        let text = match self.escapes {
            true => text.replace('/', "\\/"),
            false => text,
        };
        writeln!(self.stdin, "{text}").unwrap();
    }

    /// The whole answer to a request.
    fn ask(&mut self, method: &str, mut params: Value) -> Value {
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
