//! Definitions on the command line: how they are given, where their faults are, what changes and what does not.

use crate::harness::Sandbox;
use serde_json::json;

const SUM: &str = r#"{
  "name": "sum",
  "description": "adds numbers",
  "kind": "builtin",
  "config": {"name": "calculator"},
  "input_schema": {"type": "object"}
}"#;

#[test]
fn a_definition_is_given_in_four_ways() {
    let sandbox = Sandbox::new();
    let named = |name: &str| SUM.replace("\"sum\"", &format!("\"{name}\""));
    sandbox.write("b.json", &named("b"));
    sandbox.write("c.json", &named("c"));
    sandbox.ok(&["tools", "add", &named("a")]);
    sandbox.ok(&["tools", "add", "b.json"]);
    sandbox.ok(&["tools", "add", "@c.json"]);
    let piped = sandbox.run_with_stdin(&["tools", "add", "-"], &named("d"));
    assert_eq!(piped.code, 0, "{piped:?}");
    for name in ["a", "b", "c", "d"] {
        sandbox.ok(&["tools", "show", name]);
    }
    let patched = sandbox.json(&[
        "tools",
        "update",
        "a",
        r#"{"description": "adds"}"#,
        "--patch",
    ]);
    assert_eq!(patched["description"], "adds");
    assert_eq!(
        sandbox.ok(&["tools", "test", "--file", "@c.json"]),
        "'c' has no tests\n"
    );
    let missing = sandbox.run(&["tools", "add", "@missing.json"]);
    assert_eq!(missing.code, 2, "{missing:?}");
    assert!(
        missing
            .stderr
            .starts_with("error: missing.json: cannot be read"),
        "{missing:?}"
    );
    sandbox.write("arguments.json", "{}");
    let bare = sandbox.run(&["call", "sum", "arguments.json"]);
    assert_eq!(bare.code, 2, "{bare:?}");
    assert!(bare.stderr.contains("write @arguments.json"), "{bare:?}");
}

#[test]
fn a_fault_is_named_where_it_stands() {
    let sandbox = Sandbox::new();
    let one_line =
        r#"{"name": "sum", "description": 7, "kind": "builtin", "config": {"name": "calculator"}}"#;
    sandbox.write("bad.json", one_line);
    for arguments in [
        &["tools", "add", "bad.json"][..],
        &["tools", "add", "bad.json", "--shelf", "file"],
    ] {
        let done = sandbox.run(arguments);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(
            done.stderr
                .starts_with("error: bad.json:1:32: at $.description"),
            "{done:?}"
        );
    }
    sandbox.ok(&["tools", "add", SUM]);
    sandbox.write(
        "patch.json",
        "{\n  \"timeout_seconds\": 5,\n  \"is_active\": \"yes\"\n}",
    );
    let patch = ["tools", "update", "sum", "patch.json", "--patch"];
    let done = sandbox.run(&patch);
    assert!(
        done.stderr
            .starts_with("error: patch.json:3:16: at $.is_active"),
        "{done:?}"
    );
    sandbox.write("patch.json", "{\"kind\": null}");
    let done = sandbox.run(&patch);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stderr.starts_with("error: patch.json:1:10: at $.kind"),
        "{done:?}"
    );
    sandbox.write("patch.json", "{\"kind\": \"http\"}");
    let done = sandbox.run(&patch);
    assert!(
        done.stderr.starts_with("error: patch.json: at $.config"),
        "{done:?}"
    );
}

#[test]
fn an_unknown_member_is_told_with_all_that_are_known() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["tools", "add", &SUM.replace("\"kind\"", "\"kinds\"")]);
    assert_eq!(done.code, 1, "{done:?}");
    for known in ["\"approval\"", "\"shelf\""] {
        assert!(done.stderr.contains(known), "{known}: {done:?}");
    }
}

#[test]
fn a_difference_shows_the_old_and_the_new_value() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["tools", "add", SUM]);
    sandbox.ok(&["tools", "disable", "sum"]);
    let diff = |version: &str| sandbox.ok(&["tools", "history", "sum", "--diff", version]);
    assert_eq!(diff("2"), "$.is_active: (not set) → false\n");
    sandbox.ok(&["tools", "enable", "sum"]);
    assert_eq!(diff("3"), "$.is_active: false → (not set)\n");
    sandbox.ok(&[
        "tools",
        "update",
        "sum",
        r#"{"description": "adds them up"}"#,
        "--patch",
    ]);
    assert_eq!(
        diff("4"),
        "$.description: \"adds numbers\" → \"adds them up\"\n"
    );
    let long = "adds them up, ".repeat(5);
    let patch = json!({"description": long}).to_string();
    sandbox.ok(&["tools", "update", "sum", &patch, "--patch"]);
    assert_eq!(
        diff("5"),
        format!("$.description:\n    \"adds them up\"\n  → \"{long}\"\n")
    );
}

#[test]
fn what_is_already_so_is_told_and_makes_no_version() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["tools", "add", SUM]);
    sandbox.ok(&["tools", "disable", "sum"]);
    for (arguments, said) in [
        (
            &["tools", "rollback", "sum", "2"][..],
            "sum is already as in version 2 (version 2)\n",
        ),
        (
            &["tools", "disable", "sum"],
            "sum is already disabled (version 2)\n",
        ),
    ] {
        let done = sandbox.run(arguments);
        assert_eq!((done.code, done.stderr.as_str()), (0, said), "{done:?}");
    }
    let done = sandbox.run(&["tools", "rollback", "sum", "1"]);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{done:?}");
    assert!(done.stderr.contains("sum (version 3"), "{done:?}");
    assert_eq!(sandbox.json(&["tools", "show", "sum"])["version"], 3);
}
