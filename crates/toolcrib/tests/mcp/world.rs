//! A workspace with a tool of each kind and an upstream server, which clients of others are let loose on.

use crate::client::{Client, Story, call};
use crate::crib::{Crib, sandbox, until};
use crate::harness::Sandbox;
use crate::programs::{LONG, MODERN};
use crate::site::Site;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What the upstream server is called here.
pub(crate) const UPSTREAM: &str = "fixture";

pub(crate) struct World {
    pub(crate) crib: Crib,
    _site: Site,
}

/// A tool of each kind, what it is called with, and the text that it answers.
pub(crate) fn kinds() -> [(&'static str, Value, &'static str); 6] {
    [
        ("calculator", json!({"expression": "6 * 7"}), "42"),
        ("greet", json!({"name": "세계"}), "Hello, 세계!"),
        ("words", json!({"text": "a b; $(id)"}), "[a b; $(id)]"),
        ("times", json!({"a": 6, "b": 7}), "42"),
        ("site", json!({"name": "x"}), "answered x"),
        ("say", json!({"text": "through"}), "through"),
    ]
}

fn tool(name: &str, kind: &str, config: &Value, properties: &Value) -> Value {
    json!({
        "name": name, "description": format!("A tool of the kind {kind}."), "kind": kind, "config": config,
        "input_schema": {"type": "object", "properties": properties},
    })
}

fn tools(site: &Site) -> Value {
    let text = |name: &str| json!({name: {"type": "string"}});
    let numbers = json!({"a": {"type": "number"}, "b": {"type": "number"}});
    let http = json!({"base_url": site.url, "method": "GET", "path": "/{{name}}"});
    let mcp = json!({"server_name": UPSTREAM, "tool_name": "echo"});
    let shell = json!({"command": ["printf", "[%s]", "{{text}}"]});
    let python = json!({"script": "greet.py"});
    let expression = json!({"expression": "a * b"});
    json!({"version": 1, "tools": [
        tool("greet", "python", &python, &text("name")),
        tool("words", "shell", &shell, &text("text")),
        tool("times", "expression", &expression, &numbers),
        tool("site", "http", &http, &text("name")),
        tool("say", "mcp", &mcp, &text("text")),
    ]})
}

impl World {
    /// Served with a key.
    pub(crate) fn new() -> Self {
        let site = Site::start(|request| {
            let asked = request.split(' ').nth(1).unwrap_or_default();
            let name = asked.trim_start_matches('/');
            (200, "text/plain", format!("answered {name}").into_bytes())
        });
        let sandbox = sandbox();
        let greet = "def execute(name):\n    return f'Hello, {name}!'\n";
        sandbox.write("greet.py", greet);
        sandbox.write("tools.json", &tools(&site).to_string());
        servers(&sandbox, &json!({UPSTREAM: MODERN.stdio(&[])}));
        let crib = Crib::of(sandbox);
        listed(&crib, &format!("{UPSTREAM}.slow"));
        World { crib, _site: site }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.crib.server.url())
    }

    /// A command line of ours that speaks MCP on stdin and stdout, as whoever owns the workspace.
    pub(crate) fn stdio(&self) -> String {
        stdio(&self.crib.sandbox)
    }

    /// A file that is not there yet.
    pub(crate) fn note(&self, name: &str) -> PathBuf {
        self.crib.sandbox.folder().join(name)
    }

    /// List, call a tool of each kind, progress, cancel, an error: everything that a client with a person's patience does.
    pub(crate) fn tour(&self, client: &Client, note: &str) -> Story {
        let note = self.note(note);
        let slow = format!("{UPSTREAM}.slow");
        let mut steps = vec![json!({"action": "list"})];
        steps.extend(kinds().map(|(tool, arguments, _)| call(tool, &arguments)));
        let arguments = json!({"seconds": 0.3});
        steps.push(
            json!({"action": "call", "name": slow, "arguments": arguments, "progress": true}),
        );
        let arguments = json!({"seconds": 60, "file": note});
        steps.push(json!({"action": "call", "name": slow, "arguments": arguments, "cancel_on_progress": true}));
        steps.push(call(&format!("{UPSTREAM}.fail"), &json!({})));
        steps.push(json!({"action": "read", "name": "fixture://greeting"}));
        steps.push(json!({"action": "get", "name": format!("{UPSTREAM}.review"), "arguments": {"subject": "it"}}));
        let story = client.script(&steps);
        let names = story.names(0, "tools");
        for (number, (tool, _, expected)) in kinds().into_iter().enumerate() {
            let times = names.iter().filter(|name| *name == tool).count();
            assert_eq!(times, 1, "{tool} in {names:?}");
            assert_eq!(story.text(number + 1), expected, "{tool}");
        }
        is_progress(&story, 7);
        assert_eq!(story.of(8, "cancelled").len(), 1, "{:?}", story.step(8));
        assert_eq!(story.of(8, "alive").len(), 1, "{:?}", story.step(8));
        noted(&note, "cancelled");
        let failed = story.result(9);
        assert_eq!(failed["isError"], true);
        assert!(failed.to_string().contains("this tool fails"), "{failed}");
        let read = &story.result(10)["contents"][0]["text"];
        assert_eq!(*read, "hello from the upstream");
        let got = &story.result(11)["messages"][0]["content"]["text"];
        assert_eq!(*got, "Please review it.");
        story
    }
}

/// That a step told of its progress, in order, and answered.
pub(crate) fn is_progress(story: &Story, number: usize) {
    let told = story.of(number, "progress");
    let told: Vec<f64> = told
        .iter()
        .filter_map(|it| it["progress"].as_f64())
        .collect();
    assert!(told.len() >= 2, "{:?}", story.step(number));
    assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
    assert!(story.text(number).starts_with("slept"));
}

/// Makes these the upstream servers.
pub(crate) fn servers(sandbox: &Sandbox, servers: &Value) {
    sandbox.write("mcp.json", &json!({"mcpServers": servers}).to_string());
}

pub(crate) fn stdio(sandbox: &Sandbox) -> String {
    let (program, workspace) = (env!("CARGO_BIN_EXE_toolcrib"), sandbox.workspace());
    format!("'{program}' mcp --workspace '{}'", workspace.display())
}

/// The names of all tools that the server has.
pub(crate) fn names(crib: &Crib) -> Vec<String> {
    let (_, page) = crib.server.request("GET", "/api/v1/tools?limit=500", None);
    let tools = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
    assert!(page["next_cursor"].is_null(), "there are more");
    let names = tools.iter().map(|it| it["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

/// Waits until a tool is listed: a server of others takes its time.
pub(crate) fn listed(crib: &Crib, name: &str) {
    let began = Instant::now();
    loop {
        let names = names(crib);
        if names.iter().any(|it| it == name) {
            return;
        }
        assert!(began.elapsed() < LONG, "{name} is not in {names:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Waits until a file has this line.
pub(crate) fn noted(file: &Path, line: &str) {
    until(&format!("{line} in {}", file.display()), || {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().any(|it| it == line).then_some(())
    });
}
