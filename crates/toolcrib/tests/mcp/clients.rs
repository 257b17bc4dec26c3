//! Clients that others wrote, each on a server with a key: list, call a tool of each kind, progress, cancel.

use crate::client::Client;
use crate::harness::ADMIN_KEY;
use crate::programs::{Ended, npm, program, run};
use crate::world::{UPSTREAM, World, kinds, names, noted};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn python(world: &World, transport: &'static str, era: &'static str) -> String {
    let client = match transport {
        "http" => Client::new(transport, &world.url("/mcp"), era).with_key(ADMIN_KEY),
        "sse" => Client::new(transport, &world.url("/sse"), era).with_key(ADMIN_KEY),
        _ => Client::new(transport, &world.stdio(), era),
    };
    let story = world.tour(&client, &format!("{transport}-{era}"));
    let version = story.version().to_owned();
    println!("python mcp: {era} over {transport}, {version}, all steps");
    version
}

#[test]
fn the_python_client_in_the_legacy_era() {
    let world = World::new();
    for transport in ["http", "sse", "stdio"] {
        assert_eq!(python(&world, transport, "legacy"), "2025-11-25");
    }
}

#[test]
fn the_python_client_in_the_modern_era() {
    let world = World::new();
    for transport in ["http", "stdio"] {
        assert_eq!(python(&world, transport, "modern"), "2026-07-28");
        // It finds out by itself.
        assert_eq!(python(&world, transport, "auto"), "2026-07-28");
    }
}

/// A tool that appears at an upstream, as it is told to clients in both eras.
#[test]
fn clients_hear_of_a_tool_that_is_new() {
    let world = World::new();
    let http = |era| Client::new("http", &world.url("/mcp"), era).with_key(ADMIN_KEY);
    let all = [
        http("legacy"),
        http("modern"),
        Client::new("stdio", &world.stdio(), "legacy"),
    ];
    for (number, client) in all.into_iter().enumerate() {
        let story = client.call_and_watch(&format!("{UPSTREAM}.grow"));
        let heard = story
            .events
            .iter()
            .filter(|it| it["event"] == "list_changed");
        let heard: Vec<&Value> = heard.map(|it| &it["what"]).collect();
        assert_eq!(heard, ["tools"], "{story:?}");
        let grown = format!("{UPSTREAM}.grown_{}", number + 1);
        assert!(names(&world.crib).contains(&grown), "{grown}");
    }
    println!("list_changed: heard by legacy clients over http and stdio, and by a modern one");
}

#[test]
fn mcp_remote_in_front_of_our_http() {
    let world = World::new();
    let (remote, url) = (npm("mcp-remote"), world.url("/mcp"));
    let header = format!("Authorization: Bearer {ADMIN_KEY}");
    let target = format!("'{remote}' {url} --allow-http --transport http-only --header '{header}'");
    for era in ["legacy", "auto"] {
        let story = world.tour(&Client::new("stdio", &target, era), era);
        println!("mcp-remote: {era} client, {}, all steps", story.version());
    }
}

#[test]
fn a_client_with_a_wrong_key_is_refused() {
    let world = World::new();
    let url = world.url("/mcp");
    for (key, is_let_in) in [("no-such-key", false), (ADMIN_KEY, true)] {
        let ended = run(fastmcp(&world, &["list", &url, "--auth", key]), "");
        assert_eq!(ended.is_good, is_let_in, "{ended:?}");
    }
}

fn fastmcp(world: &World, arguments: &[&str]) -> Command {
    let mut command = Command::new(program("py/bin/fastmcp"));
    command.env("HOME", world.crib.sandbox.folder());
    command.args(arguments);
    command
}

#[test]
fn fastmcp_lists_and_calls() {
    let world = World::new();
    let url = world.url("/mcp");
    let list = ["list", &url, "--auth", ADMIN_KEY, "--json"];
    let listed = good(run(fastmcp(&world, &list), ""));
    let call = |tool: &str, arguments: &Value| {
        let arguments = arguments.to_string();
        let rest = ["--auth", ADMIN_KEY, "--json", "--input-json", &arguments];
        fastmcp(&world, &[&["call", &url, tool], &rest[..]].concat())
    };
    for (tool, arguments, expected) in kinds() {
        assert!(listed.contains(&format!("\"{tool}\"")), "{listed}");
        let said = good(run(call(tool, &arguments), ""));
        let result: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(result["content"][0]["text"], expected, "{tool}: {result}");
    }
    // It speaks the modern era, where a call whose caller is gone is cancelled.
    let note = world.note("fastmcp");
    let arguments = json!({"seconds": 60, "file": note});
    let slow = call(&format!("{UPSTREAM}.slow"), &arguments);
    cancelled_when_gone(slow, &note);
    println!(
        "fastmcp: list, {} kinds called, cancelled when gone",
        kinds().len()
    );
}

fn good(ended: Ended) -> String {
    assert!(ended.is_good, "{ended:?}");
    ended.stdout
}

/// Starts a call that would take a minute, ends its program once it has begun, and waits until the tool knows.
fn cancelled_when_gone(mut command: Command, note: &Path) {
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child: Child = command.spawn().unwrap();
    noted(note, "began");
    child.kill().unwrap();
    child.wait().unwrap();
    noted(note, "cancelled");
}

fn inspector(world: &World, transport: &str, more: &[&str]) -> Command {
    let mut command = Command::new(npm("mcp-inspector"));
    command.env("HOME", world.crib.sandbox.folder());
    command.args(["--cli", "--format", "json", "--quiet", "--stored-auth-only"]);
    command.args(["--transport", transport, "--connect-timeout", "60000"]);
    command.args(more);
    let key = format!("Authorization: Bearer {ADMIN_KEY}");
    match transport {
        "http" => command.args(["--header", &key, "--server-url", &world.url("/mcp")]),
        "sse" => command.args(["--header", &key, "--server-url", &world.url("/sse")]),
        _ => command
            .args(["--", env!("CARGO_BIN_EXE_toolcrib"), "mcp", "--workspace"])
            .arg(world.crib.sandbox.workspace()),
    };
    command
}

fn inspected(world: &World, transport: &str, era: &str) {
    let ask = |more: &[&str]| -> Value {
        let more = [&["--protocol-era", era], more].concat();
        let said = good(run(inspector(world, transport, &more), ""));
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"))
    };
    let listed = ask(&["--method", "tools/list"]);
    let listed = listed["result"]["tools"]
        .as_array()
        .or(listed["tools"].as_array());
    let listed: Vec<&str> = listed
        .unwrap()
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    for (tool, arguments, expected) in kinds() {
        let times = listed.iter().filter(|name| **name == tool).count();
        assert_eq!(times, 1, "{tool} in {listed:?}");
        let arguments = arguments.to_string();
        let result = ask(&[
            "--method",
            "tools/call",
            "--tool-name",
            tool,
            "--tool-args-json",
            &arguments,
        ]);
        let said = result.to_string();
        assert!(
            said.contains(&json!({"type": "text", "text": expected}).to_string()),
            "{tool}: {said}"
        );
    }
    println!(
        "inspector: {era} over {transport}, {} listed, {} kinds called",
        listed.len(),
        kinds().len()
    );
}

#[test]
fn the_inspector_over_every_transport() {
    let world = World::new();
    std::thread::scope(|both| {
        both.spawn(|| {
            inspected(&world, "http", "legacy");
            inspected(&world, "sse", "legacy");
        });
        inspected(&world, "stdio", "legacy");
        inspected(&world, "http", "modern");
    });
    let note = world.note("inspector");
    let arguments = json!({"seconds": 60, "file": note}).to_string();
    let slow = format!("{UPSTREAM}.slow");
    let call = [
        "--protocol-era",
        "modern",
        "--method",
        "tools/call",
        "--tool-name",
        &slow,
    ];
    let call = [&call[..], &["--tool-args-json", &arguments]].concat();
    cancelled_when_gone(inspector(&world, "http", &call), &note);
    println!("inspector: cancelled when gone");
}
