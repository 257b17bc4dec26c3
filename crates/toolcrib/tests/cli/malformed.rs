//! Files that are missing or malformed: the server does not start, and says what, where and how to mend it.

use crate::harness::Sandbox;
use std::time::{Duration, Instant};

const GOOD_TOOLS: &str = "{\"version\": 1, \"tools\": []}\n";
const GOOD_SERVERS: &str = "{\"mcpServers\": {}}\n";

/// A `tools.json` with one tool whose members are these, on line 4.
fn tool(members: &str) -> String {
    format!("{{\n  \"version\": 1,\n  \"tools\": [\n    {{{members}}}\n  ]\n}}\n")
}

fn server(members: &str) -> String {
    format!("{{\n  \"mcpServers\": {{\n    \"one\": {{{members}}}\n  }}\n}}\n")
}

fn refuses(name: &str, text: &str, line: u32, part: &str) {
    let sandbox = Sandbox::bare();
    sandbox.write("tools.json", GOOD_TOOLS);
    sandbox.write("mcp.json", GOOD_SERVERS);
    sandbox.write(name, text);
    let began = Instant::now();
    let done = sandbox.run(&["serve", "--listen", "127.0.0.1:0"]);
    let took = began.elapsed();
    assert_eq!(done.code, 3, "{text}\n{done:?}");
    assert_eq!(done.stdout, "", "{text}");
    let place = format!("error: {name}:{line}:");
    let told = done.stderr.lines().find(|said| said.starts_with(&place));
    let told = told.unwrap_or_else(|| panic!("no {place:?} for\n{text}\n{}", done.stderr));
    for part in [" at $", " expected ", " found ", part] {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
    let remedy = told.rsplit_once(". ").map(|(_, remedy)| remedy);
    assert!(
        remedy.is_some_and(|remedy| !remedy.is_empty()),
        "no remedy in {told}"
    );
    assert!(took < Duration::from_secs(10), "{took:?} for {text}");
}

const FINE: &str = r#""name": "t", "description": "does something useful", "kind": "builtin", "config": {"name": "calculator"}, "input_schema": {"type": "object"}"#;

#[test]
fn the_good_tool_of_these_tests_is_good() {
    let sandbox = Sandbox::bare();
    sandbox.write("tools.json", &tool(FINE));
    sandbox.write("mcp.json", &server(r#""command": "true""#));
    assert!(sandbox.ok(&["tools", "list"]).contains("t\tbuiltin\tfile"));
}

#[test]
fn a_thousand_mistakes_are_told_in_few_lines() {
    let sandbox = Sandbox::bare();
    let wrong = vec!["{\"nmae\": 7}"; 1000].join(",\n");
    sandbox.write(
        "tools.json",
        &format!("{{\"version\": 1, \"tools\": [\n{wrong}\n]}}"),
    );
    let done = sandbox.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(done.code, 3, "{done:?}");
    let errors = done.stderr.lines().filter(|it| it.starts_with("error: "));
    assert_eq!(errors.count(), 20, "{done:?}");
    let all = sandbox.run(&["tools", "list", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&all.stdout).expect("--json is JSON");
    let all = document["error"]["details"]["errors"].as_array().unwrap();
    let rest = format!("… and {} more; --json shows all", all.len() - 20);
    assert!(all.len() >= 1000, "{}", all.len());
    assert!(done.stderr.lines().any(|it| it == rest), "{done:?}");
    let doctor = sandbox.run(&["doctor"]);
    let told = doctor.stdout.matches("tools.json:").count();
    assert!(told <= 40 && doctor.stdout.contains(&rest), "{doctor:?}");
    let mcp = sandbox.run(&["mcp"]);
    assert!(mcp.code != 0 && mcp.stderr.contains(&rest), "{mcp:?}");
    assert!(mcp.stderr.len() < 20_000, "{}", mcp.stderr.len());
}

#[test]
fn tools_json_must_be_sound_json() {
    refuses("tools.json", "", 1, "");
    refuses("tools.json", "{\"version\": 1,\n \"tools\": [\n", 2, "");
    refuses(
        "tools.json",
        "{\n \"version\": 1,\n \"tools\": [],\n}",
        3,
        "",
    );
    refuses(
        "tools.json",
        "{\n // a comment\n \"version\": 1, \"tools\": []}",
        2,
        "",
    );
    refuses("tools.json", "[]", 1, "");
    refuses(
        "tools.json",
        "{\"version\": 1,\n\"version\": 1, \"tools\": []}",
        2,
        "version",
    );
}

#[test]
fn tools_json_must_have_its_shape() {
    refuses("tools.json", "{\"tools\": []}", 1, "version");
    refuses("tools.json", "{\n\"version\": 99,\n\"tools\": []}", 2, "99");
    refuses("tools.json", "{\n\"version\": 1}", 1, "tools");
    refuses("tools.json", "{\n\"version\": 1,\n\"tools\": {}}", 3, "");
    refuses(
        "tools.json",
        "{\n\"version\": 1,\n\"tools\": [],\n\"tolls\": 1}",
        4,
        "tolls",
    );
    refuses("tools.json", "{\"version\": 1, \"tools\": [\n3]}", 2, "");
}

#[test]
fn each_tool_must_be_valid() {
    let without =
        |member: &str| tool(&FINE.replace(&format!("\"{member}\""), &format!("\"x_{member}\"")));
    for member in ["name", "description", "kind"] {
        refuses("tools.json", &without(member), 4, member);
    }
    let changed = |from: &str, to: &str| tool(&FINE.replace(from, to));
    refuses(
        "tools.json",
        &changed("\"t\"", "\"two words\""),
        4,
        "two words",
    );
    refuses("tools.json", &changed("\"t\"", "7"), 4, "");
    refuses(
        "tools.json",
        &changed("\"builtin\"", "\"builtn\""),
        4,
        "Did you mean \"builtin\"",
    );
    refuses(
        "tools.json",
        &changed("{\"name\": \"calculator\"}", "{}"),
        4,
        "$.tools[0].config",
    );
    refuses(
        "tools.json",
        &changed("{\"type\": \"object\"}", "{\"type\": \"objekt\"}"),
        4,
        "input_schema",
    );
    refuses(
        "tools.json",
        &changed("{\"type\": \"object\"}", "7"),
        4,
        "input_schema",
    );
    refuses(
        "tools.json",
        &tool(&format!("{FINE}, \"timeout_seconds\": -1")),
        4,
        "timeout_seconds",
    );
    refuses(
        "tools.json",
        &tool(&format!("{FINE}, \"is_active\": \"yes\"")),
        4,
        "is_active",
    );
    refuses(
        "tools.json",
        &tool(&format!("{FINE}}},\n    {{{FINE}")),
        5,
        "",
    );
}

#[test]
fn mcp_json_must_be_valid() {
    refuses("mcp.json", "{\"mcpServers\": {\n", 1, "");
    refuses("mcp.json", "{}", 1, "mcpServers");
    refuses("mcp.json", "{\"mcpServers\": []}", 1, "");
    refuses("mcp.json", &server(""), 3, "$.mcpServers.one");
    refuses("mcp.json", &server(r#""command": 7"#), 3, "command");
    refuses(
        "mcp.json",
        &server(r#""command": "x", "args": "y""#),
        3,
        "args",
    );
    refuses("mcp.json", &server(r#""url": "not a url""#), 3, "url");
}

#[test]
fn all_problems_of_both_files_are_told_at_once() {
    let sandbox = Sandbox::bare();
    sandbox.write(
        "tools.json",
        &tool(
            &FINE
                .replace("builtin", "builtn")
                .replace("\"t\"", "\"a b\""),
        ),
    );
    sandbox.write("mcp.json", "{");
    let done = sandbox.run(&["serve"]);
    assert_eq!(done.code, 3);
    assert_eq!(
        done.stderr.matches("error: tools.json:4:").count(),
        2,
        "{}",
        done.stderr
    );
    assert_eq!(
        done.stderr.matches("error: mcp.json:").count(),
        1,
        "{}",
        done.stderr
    );
    assert_eq!(
        sandbox.run(&["call", "calculator"]).code,
        3,
        "other commands refuse, too"
    );
    let doctor = sandbox.run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert_eq!(
        doctor.stdout.matches("fail  workspace").count(),
        3,
        "{}",
        doctor.stdout
    );
}

#[test]
fn a_workspace_without_its_files_is_fatal() {
    let sandbox = Sandbox::bare();
    let done = sandbox.run(&["serve", "--workspace", "nowhere"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(
        done.stderr.contains("tools.json:1:1") && done.stderr.contains("mcp.json:1:1"),
        "{done:?}"
    );
    assert!(done.stderr.contains("toolcrib init"), "{done:?}");
    assert!(
        !sandbox.folder().join("nowhere").exists(),
        "nothing was made"
    );
    sandbox.write("tools.json", GOOD_TOOLS);
    let done = sandbox.run(&["serve"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(
        done.stderr.contains("mcp.json:1:1") && !done.stderr.contains("tools.json:1:1"),
        "{done:?}"
    );
}
