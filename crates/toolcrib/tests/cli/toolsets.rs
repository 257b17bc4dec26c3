//! `toolcrib toolsets`, from making one to bringing it back.

use crate::harness::Sandbox;
use serde_json::{Value, json};

#[test]
fn a_toolset_is_kept_by_commands_alone() {
    let sandbox = Sandbox::new();
    let kit = r#"{
  "name": "kit", "description": "For sums",
  "tools": ["calculator", {"tool": "later", "name": "now"}],
  "allow": ["sql_*"], "deny": ["sql_write"]
}"#;
    sandbox.write("kit.json", kit);
    let made = sandbox.json(&["toolsets", "add", "@kit.json"]);
    assert_eq!(made["missing"], json!(["later"]), "{made}");
    sandbox.ok(&["toolsets", "add", r#"{"name": "all"}"#]);
    let listed = sandbox.ok(&["toolsets", "list"]);
    assert!(listed.contains("2 tools, sql_*, not sql_write"), "{listed}");
    assert!(listed.contains("every tool"), "{listed}");
    let shown: Value = serde_json::from_str(&sandbox.ok(&["toolsets", "show", "kit"])).unwrap();
    assert_eq!(shown["tools"][1], json!({"tool": "later", "name": "now"}));
    let patch = r#"{"tools": ["calculator"], "find_tools": true}"#;
    let patched = sandbox.json(&["toolsets", "update", "kit", patch, "--patch"]);
    assert_eq!(
        (&patched["version"], &patched["find_tools"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(patched["description"], "For sums");
    let replaced = sandbox.json(&["toolsets", "update", "kit", r#"{"name": "kit"}"#]);
    assert_eq!(replaced["description"], Value::Null);
    let named = r#"{"description": "Named by the command"}"#;
    let named = sandbox.json(&["toolsets", "update", "kit", named]);
    assert_eq!(named["name"], "kit", "{named}");
    assert_eq!(named["description"], "Named by the command");
    sandbox.ok(&["toolsets", "remove", "kit"]);
    let gone = sandbox.run(&["toolsets", "show", "kit"]);
    assert_eq!(gone.code, 1, "{gone:?}");
    sandbox.ok(&["toolsets", "restore", "kit"]);
    let items = sandbox.json(&["toolsets", "list"]);
    assert_eq!(
        items["items"].as_array().unwrap().len(),
        3,
        "two and the one that is built in: {items}"
    );
}

#[test]
fn patterns_show_what_they_come_to() {
    let sandbox = Sandbox::new();
    let kit = r#"{"name": "kit", "tools": ["calculator"], "allow": ["get_*", "nope_*"], "deny": ["get_sim_*", "gone"]}"#;
    let added = sandbox.run(&["toolsets", "add", kit]);
    for pattern in ["nope_*", "gone"] {
        let told = format!("the pattern '{pattern}' fits no tool yet");
        assert!(added.stderr.contains(&told), "{added:?}");
    }
    let shown = sandbox.json(&["toolsets", "show", "kit"]);
    let fitting: Vec<&str> = shown["fitting"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(fitting.contains(&"get_text_embedding"), "{shown}");
    assert!(
        fitting
            .iter()
            .all(|it| it.starts_with("get_") && !it.starts_with("get_sim_")),
        "{shown}"
    );
    assert_eq!(shown["fits_nothing"], json!(["nope_*", "gone"]));
    let same = sandbox.json(&["toolsets", "update", "kit", &shown.to_string()]);
    assert_eq!(
        same["fitting"], shown["fitting"],
        "what is shown can be sent back"
    );
    sandbox.ok(&["toolsets", "add", r#"{"name": "all", "deny": ["get_*"]}"#]);
    let all = sandbox.json(&["toolsets", "show", "all"]);
    let fitting = all["fitting"].as_array().unwrap();
    assert!(fitting.contains(&json!("calculator")), "{all}");
    assert!(!fitting.contains(&json!("get_text_embedding")), "{all}");
    let listed = sandbox.json(&["toolsets", "list"]);
    assert_eq!(listed["items"][0].get("fitting"), None, "{listed}");
}

#[test]
fn a_fault_is_named_where_it_stands() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.json", "{\n  \"name\": \"kit\",\n  \"tools\": [7]\n}");
    let done = sandbox.run(&["toolsets", "add", "bad.json"]);
    assert_eq!(done.code, 1, "{done:?}");
    let place = "error: bad.json:3:13: at $.tools[0]";
    assert!(done.stderr.starts_with(place), "{done:?}");
}
