//! `toolcrib agents`, from making one to bringing it back.

use crate::harness::Sandbox;
use serde_json::{Value, json};

#[test]
fn an_agent_is_kept_by_commands_alone() {
    let sandbox = Sandbox::new();
    let definition = r#"{
  "name": "analyst", "description": "Counts", "model_provider": "anthropic", "model_name": "claude-sonnet-4-5",
  "tools": ["calculator"], "config": {"max_steps": 5}
}"#;
    sandbox.write("analyst.json", definition);
    let made = sandbox.json(&["agents", "create", "@analyst.json"]);
    assert_eq!(made["config"], json!({"max_steps": 5}), "{made}");
    let listed = sandbox.ok(&["agents", "list"]);
    for part in ["analyst", "anthropic/claude-sonnet-4-5", "1 tool", "Counts"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let shown: Value = serde_json::from_str(&sandbox.ok(&["agents", "show", "analyst"])).unwrap();
    assert_eq!(shown["name"], "analyst");
    assert_eq!(shown["tools"], json!(["calculator"]), "people know names");
    let patched = sandbox.json(&["agents", "update", "analyst", r#"{"tools": []}"#, "--patch"]);
    assert_eq!(
        (&patched["version"], &patched["description"]),
        (&json!(2), &json!("Counts"))
    );
    // As people write it, and from stdin.
    let patch = r#"{"description": "Counts on"}"#;
    let patched = sandbox.json(&["agents", "update", "analyst", "--patch", patch]);
    assert_eq!(patched["description"], "Counts on");
    let from_stdin = ["agents", "update", "analyst", "--patch", "-"];
    let done = sandbox.run_with_stdin(&from_stdin, r#"{"description": null}"#);
    assert_eq!(done.code, 0, "{done:?}");
    let other = r#"{"model_provider": "openai", "model_name": "gpt-5"}"#;
    let replaced = sandbox.json(&["agents", "update", "analyst", other]);
    assert_eq!(
        (&replaced["name"], &replaced["description"]),
        (&json!("analyst"), &Value::Null)
    );
    sandbox.ok(&["agents", "delete", "analyst"]);
    let gone = sandbox.run(&["agents", "show", "analyst"]);
    assert_eq!(gone.code, 1, "{gone:?}");
    sandbox.ok(&["agents", "restore", "analyst"]);
    assert_eq!(
        sandbox.json(&["agents", "show", "analyst"])["model_name"],
        "gpt-5"
    );
    let wrong = r#"{"name": "x", "model_provider": "openai", "model_name": "m", "config": {"max_seconds": 1e20}}"#;
    sandbox.write("wrong.json", wrong);
    let refused = sandbox.run(&["agents", "create", "@wrong.json"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.stderr.contains("wrong.json:1:") && refused.stderr.contains("max_seconds"),
        "{refused:?}"
    );
    let near =
        r#"{"name": "x", "model_provider": "openai", "model_name": "m", "tools": ["calculater"]}"#;
    let refused = sandbox.run(&["agents", "create", near]);
    assert!(
        refused.stderr.contains("did you mean 'calculator'?"),
        "{refused:?}"
    );
}
