//! `toolcrib servers` on a workspace that nobody serves: what is kept is shown and changed, and nobody is called.

use crate::harness::Sandbox;
use serde_json::{Value, json};

#[test]
fn a_server_is_kept_by_commands_alone() {
    let sandbox = Sandbox::new();
    let search = r#"{"name": "search", "url": "https://mcp.example.com/mcp", "headers": {"X-Key": "a-long-secret-value"}}"#;
    let made = sandbox.json(&["servers", "add", search]);
    assert_eq!(
        (&made["state"], &made["version"]),
        (&json!("stopped"), &json!(1)),
        "{made}"
    );
    assert_eq!(
        made["headers"]["X-Key"],
        json!({"set": true, "last4": "alue"})
    );
    let patch = r#"{"pinning": "approve", "timeout_seconds": 5}"#;
    let patched = sandbox.json(&["servers", "update", "search", patch, "--patch"]);
    assert_eq!(
        (&patched["pinning_now"], &patched["version"]),
        (&json!("approve"), &json!(2))
    );
    let shown: Value = serde_json::from_str(&sandbox.ok(&["servers", "show", "search"])).unwrap();
    sandbox.write("search.json", &shown.to_string());
    let replaced = sandbox.json(&["servers", "update", "search", "@search.json"]);
    assert_eq!(
        replaced["headers"], made["headers"],
        "what is shown can be sent back"
    );
    let listed = sandbox.ok(&["servers", "list"]);
    assert!(
        listed.contains("search") && listed.contains("database"),
        "{listed}"
    );
    let changes = sandbox.run(&["servers", "changes", "search"]);
    assert_eq!((changes.code, changes.stdout.as_str()), (0, ""));
    assert!(changes.stderr.starts_with("no changes"), "{changes:?}");
    sandbox.ok(&["servers", "remove", "search"]);
    let gone = sandbox.run(&["servers", "show", "search"]);
    assert_eq!(gone.code, 1, "{gone:?}");
}

/// Whether somebody serves the workspace or not.
#[test]
fn a_call_of_a_server_that_is_down_has_one_code() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "mcp.json",
        r#"{"mcpServers": {"far": {"url": "http://127.0.0.1:9/mcp"}}}"#,
    );
    let call = || {
        let done = sandbox.run(&["call", "far.tool", "--json"]);
        let told: Value = serde_json::from_str(&done.stdout).expect("--json prints JSON");
        assert_eq!(done.code, 1, "{done:?}");
        assert_eq!(told["error"]["code"], "service_unavailable", "{done:?}");
        assert!(
            done.stderr
                .contains("error: service_unavailable: MCP server 'far'"),
            "{done:?}"
        );
    };
    call();
    let _server = sandbox.serve(&[]);
    call();
}

#[test]
fn a_fault_is_named_where_it_stands() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "bad.json",
        "{\n  \"name\": \"s\",\n  \"url\": \"nowhere\"\n}",
    );
    let done = sandbox.run(&["servers", "add", "bad.json"]);
    assert_eq!(done.code, 1, "{done:?}");
    let place = "error: bad.json:3:10: at $.url";
    assert!(done.stderr.starts_with(place), "{done:?}");
    let done = sandbox.run(&["servers", "add", r#"{"name": "s", "command": "bash"}"#]);
    assert!(done.stderr.contains("mcp.commands_allowed"), "{done:?}");
}

#[test]
fn a_missing_variable_stops_one_server_and_no_command() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "mcp.json",
        r#"{"mcpServers": {
  "lacks": {"url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ${NO_SUCH_VARIABLE}"}},
  "off": {"command": "run", "args": ["--token", "s3cret-in-the-clear"], "env": {"K": "s3cret-in-the-clear"}, "disabled": true}
}}"#,
    );
    sandbox.ok(&["keys", "create", "any"]);
    let lacks = sandbox.json(&["servers", "show", "lacks"]);
    assert_eq!(lacks["state"], "failed", "{lacks}");
    let cause = lacks["cause"].as_str().unwrap();
    let place = "NO_SUCH_VARIABLE is not set, which $.mcpServers.lacks.headers.Authorization names (mcp.json:2)";
    assert!(cause.contains(place), "{cause}");
    let off = sandbox.run(&["servers", "show", "off"]);
    assert!(!off.stdout.contains("s3cret-in-the-clear"), "{off:?}");
    let off: Value = serde_json::from_str(&off.stdout).unwrap();
    assert_eq!(off["state"], "disabled", "{off}");
    assert_eq!(
        (&off["command"], &off["args"]),
        (&json!("run"), &json!(["--token", "…"]))
    );
    assert_eq!(off["env"]["K"], json!({"set": true, "last4": "lear"}));
    // Doctor says by which environment it judges.
    let doctor = sandbox.ok(&["doctor"]);
    for part in [
        "warn  servers        MCP server 'lacks' is failed: the environment variable NO_SUCH_VARIABLE",
        "judged by the variables of this shell",
    ] {
        assert!(doctor.contains(part), "{part}\nnot in\n{doctor}");
    }
    let set = Sandbox::new().with("NO_SUCH_VARIABLE", "x");
    set.write(
        "mcp.json",
        r#"{"mcpServers": {"a": {"url": "https://mcp.example.com/${NO_SUCH_VARIABLE}"}}}"#,
    );
    assert!(!set.ok(&["doctor"]).contains("warn"));
}

#[test]
fn a_password_in_an_address_is_neither_kept_nor_shown() {
    let sandbox = Sandbox::new();
    let open = r#"{"name": "u", "url": "http://me:pa55word@127.0.0.1:1/mcp"}"#;
    let refused = sandbox.run(&["servers", "add", open]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.stderr.contains("$.url") && refused.stderr.contains("Authorization"),
        "{refused:?}"
    );
    sandbox.write(
        "mcp.json",
        r#"{"mcpServers": {"u": {"url": "http://me:pa55word@127.0.0.1:1/mcp"}, "v": {"command": "v", "disabled": true}}}"#,
    );
    let shown = sandbox.json(&["servers", "show", "u"]);
    assert_eq!(shown["state"], "failed", "{shown}");
    let doctor = sandbox.ok(&["doctor"]);
    assert!(
        doctor.contains("MCP server 'u' is failed: $.mcpServers.u.url must be"),
        "{doctor}"
    );
    let listed = sandbox.ok(&["servers", "list"]);
    for text in [&refused.stderr, &shown.to_string(), &doctor, &listed] {
        assert!(!text.contains("pa55word"), "{text}");
    }
}

#[test]
fn what_was_done_is_told_to_pipes_too() {
    let sandbox = Sandbox::new();
    let off = r#"{"name": "s", "url": "https://mcp.example.com/mcp", "disabled": true}"#;
    let told = |arguments: &[&str]| {
        let done = sandbox.run(arguments);
        assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{done:?}");
        done.stderr
    };
    assert_eq!(
        told(&["servers", "add", off]),
        "added s (version 1), now disabled\n"
    );
    let none = told(&["servers", "reconnect"]);
    assert!(none.contains("toolcrib serve"), "{none}");
    let one = sandbox.run(&["servers", "reconnect", "s"]);
    assert!(one.stderr.contains("it is disabled"), "{one:?}");
    assert_eq!(told(&["servers", "remove", "s"]), "removed s\n");
    let unnamed = sandbox.run(&["servers", "approve", "s"]);
    assert!(
        unnamed.code == 2 && unnamed.stderr.contains("as TOOL=HASH"),
        "{unnamed:?}"
    );
}

#[test]
fn a_server_that_runs_tells_of_its_upstreams_and_doctor_asks_it() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "mcp.json",
        r#"{"mcpServers": {"lacks": {"url": "http://127.0.0.1:9/${ONLY_HERE}", "tiemout_seconds": 5},
            "down": {"command": "no-such-program"}}}"#,
    );
    let server = sandbox.serve(&[]);
    let line = server.said("something in mcp.json has no effect");
    assert!(
        line.contains("$.mcpServers.lacks.tiemout_seconds"),
        "{line}"
    );
    let line = server.said("ONLY_HERE is not set");
    assert!(line.contains("failed") && line.contains("lacks"), "{line}");
    server.said("no-such-program");
    // The shell of whoever asks is not the server's.
    let mut doctor = sandbox.command(&["doctor"]);
    let done = doctor.env("ONLY_HERE", "x").output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    for part in [
        "MCP server 'lacks' is failed: the environment variable ONLY_HERE is not set",
        "MCP server 'down' is ",
        "0 of 2 MCP servers are connected",
        "Did you mean \"timeout_seconds\"?",
    ] {
        assert!(said.contains(part), "{part}\nnot in\n{said}");
    }
    assert_eq!(
        said.matches("the unknown key \"tiemout_seconds\"").count(),
        1,
        "{said}"
    );
    let called = sandbox.run(&["call", "down.echo", "{}"]);
    assert!(
        called.stderr.contains("MCP server 'down': it is "),
        "{called:?}"
    );
}
