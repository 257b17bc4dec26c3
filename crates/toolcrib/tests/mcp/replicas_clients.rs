//! Clients that others wrote, in both eras, through a proxy that sends each of their requests to the next of three servers.

use crate::client::{Client, Story};
use crate::fleet::Fleet;
use crate::harness::ADMIN_KEY;
use crate::programs::{MODERN, npm, program, run};
use crate::world::{is_progress, noted, servers};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// What the upstream server is called here.
const UPSTREAM: &str = "fixture";

/// Three servers with an upstream server each, which they all offer.
fn fleet() -> Option<Fleet> {
    let fleet = Fleet::of(3, |sandbox| {
        servers(sandbox, &json!({UPSTREAM: MODERN.stdio(&[])}));
    })?;
    for number in 0..3 {
        crate::crib::until("the upstream is there", || {
            let server = fleet.server(number);
            let (_, tools) = server.request("GET", "/api/v1/tools?limit=500", None);
            tools.to_string().contains("fixture.slow").then_some(())
        });
    }
    Some(fleet)
}

fn steps(note: &Path) -> Vec<Value> {
    let tool = |name: &str| format!("{UPSTREAM}.{name}");
    let call = |name: &str, arguments: Value| json!({"action": "call", "name": name, "arguments": arguments});
    let slow = |arguments: Value, option: &str| json!({"action": "call", "name": tool("slow"), "arguments": arguments, option: true});
    vec![
        json!({"action": "list"}),
        call("calculator", json!({"expression": "6 * 7"})),
        slow(json!({"seconds": 0.3}), "progress"),
        slow(json!({"seconds": 60, "file": note}), "cancel_on_progress"),
        call(&tool("ask"), json!({"question": "Which color?"})),
        call(&tool("fail"), json!({})),
        json!({"action": "read", "name": "fixture://greeting"}),
        json!({"action": "get", "name": tool("review"), "arguments": {"subject": "it"}}),
        call("calculator", json!({"expression": "6 * 8"})),
    ]
}

fn is_fine(story: &Story, note: &Path) {
    assert!(story.names(0, "tools").contains(&"calculator".to_owned()));
    assert_eq!(story.text(1), "42");
    is_progress(story, 2);
    assert_eq!(story.of(3, "cancelled").len(), 1, "{:?}", story.step(3));
    noted(note, "cancelled");
    assert_eq!(story.of(4, "elicitation").len(), 1, "{:?}", story.step(4));
    assert_eq!(story.text(4), "accept: blue");
    assert_eq!(story.result(5)["isError"], true);
    let read = &story.result(6)["contents"][0]["text"];
    assert_eq!(*read, "hello from the upstream");
    let got = &story.result(7)["messages"][0]["content"]["text"];
    assert_eq!(*got, "Please review it.");
    assert_eq!(story.text(8), "48");
}

#[test]
fn the_python_client_through_a_proxy() {
    let Some(fleet) = fleet() else { return };
    for (era, transport, path) in [
        ("legacy", "http", "/mcp"),
        ("legacy", "sse", "/sse"),
        ("modern", "http", "/mcp"),
        ("auto", "http", "/mcp"),
    ] {
        let note = fleet.sandboxes[0]
            .folder()
            .join(format!("{era}-{transport}"));
        let client = Client::new(transport, &fleet.proxy.url(path), era).with_key(ADMIN_KEY);
        let before = fleet.proxy.count();
        let story = client
            .answering(&json!({"answer": "blue"}))
            .script(&steps(&note));
        is_fine(&story, &note);
        let requests = fleet.proxy.count() - before;
        assert!(requests >= 9, "each request went to the next: {requests}");
        let version = story.version();
        println!(
            "python mcp through a proxy: {era} over {transport}, {version}, {requests} requests to 3 servers"
        );
    }
}

#[test]
fn mcp_remote_through_a_proxy() {
    let Some(fleet) = fleet() else { return };
    let (remote, url) = (npm("mcp-remote"), fleet.proxy.url("/mcp"));
    let header = format!("Authorization: Bearer {ADMIN_KEY}");
    let target = format!("'{remote}' {url} --allow-http --transport http-only --header '{header}'");
    let note = fleet.sandboxes[0].folder().join("remote");
    let client = Client::new("stdio", &target, "legacy").answering(&json!({"answer": "blue"}));
    let before = fleet.proxy.count();
    is_fine(&client.script(&steps(&note)), &note);
    let requests = fleet.proxy.count() - before;
    println!("mcp-remote through a proxy: legacy, {requests} requests to 3 servers");
}

fn good(command: Command) -> String {
    let ended = run(command, "");
    assert!(ended.is_good, "{ended:?}");
    ended.stdout
}

#[test]
fn the_inspector_and_fastmcp_through_a_proxy() {
    let Some(fleet) = fleet() else { return };
    let home = fleet.sandboxes[0].folder();
    for (transport, era, path) in [
        ("http", "legacy", "/mcp"),
        ("sse", "legacy", "/sse"),
        ("http", "modern", "/mcp"),
    ] {
        let mut command = Command::new(npm("mcp-inspector"));
        command.env("HOME", home);
        command.args(["--cli", "--format", "json", "--quiet", "--stored-auth-only"]);
        command.args(["--transport", transport, "--connect-timeout", "60000"]);
        let key = format!("Authorization: Bearer {ADMIN_KEY}");
        command.args(["--header", &key, "--server-url", &fleet.proxy.url(path)]);
        command.args(["--protocol-era", era, "--method", "tools/call"]);
        let sum = json!({"expression": "6 * 7"}).to_string();
        command.args(["--tool-name", "calculator", "--tool-args-json", &sum]);
        let said = good(command);
        let said: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
        let text = json!({"type": "text", "text": "42"}).to_string();
        assert!(said.to_string().contains(&text), "{said}");
        println!("inspector through a proxy: {era} over {transport}");
    }
    let mut command = Command::new(program("py/bin/fastmcp"));
    command.env("HOME", home);
    let url = fleet.proxy.url("/mcp");
    command.args(["call", &url, "calculator", "--auth", ADMIN_KEY, "--json"]);
    command.args(["--input-json", &json!({"expression": "6 * 7"}).to_string()]);
    let said: Value = serde_json::from_str(&good(command)).unwrap();
    assert_eq!(said["content"][0]["text"], "42", "{said}");
    println!("fastmcp through a proxy");
}
