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
    assert_eq!(sandbox.ok(&["servers", "changes", "search"]), "");
    sandbox.ok(&["servers", "remove", "search"]);
    let gone = sandbox.run(&["servers", "show", "search"]);
    assert_eq!(gone.code, 1, "{gone:?}");
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
