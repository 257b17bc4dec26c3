//! `--json`: every command prints one document on stdout, whether it succeeds or not.

use crate::harness::{Done, Sandbox};
use serde_json::{Value, json};

/// The document of a command that failed.
fn error(done: &Done) -> Value {
    let document: Value = serde_json::from_str(&done.stdout)
        .unwrap_or_else(|why| panic!("one document, but {why}: {done:?}"));
    let members: Vec<&String> = document["error"]
        .as_object()
        .expect("an error")
        .keys()
        .collect();
    assert_eq!(
        members,
        ["code", "message", "details", "request_id"],
        "{done:?}"
    );
    assert!(
        done.stderr.starts_with("error: "),
        "people are told as well: {done:?}"
    );
    document["error"].clone()
}

#[test]
fn failures_of_our_own_have_the_shape_of_the_servers() {
    let sandbox = Sandbox::new();
    for (arguments, exit, code) in [
        (&["tools", "show", "nothing"][..], 1, "tool_not_found"),
        (&["restore", "nowhere"], 1, "failed"),
        (&["tools", "add", "missing.json"], 2, "invalid_request"),
        (&["log", "--limit", "0"], 2, "invalid_request"),
        (&["no-such-command"], 2, "invalid_request"),
        (&[], 2, "invalid_request"),
        (
            &["tools", "list", "--config", "missing.toml"],
            3,
            "configuration_invalid",
        ),
        (
            &["tools", "list", "--url", "http://127.0.0.1:1"],
            4,
            "server_unreachable",
        ),
    ] {
        let done = sandbox.run(&[arguments, &["--json"]].concat());
        assert_eq!(done.code, exit, "{done:?}");
        let error = error(&done);
        assert_eq!(error["code"], code, "{done:?}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.len() > 10),
            "{done:?}"
        );
    }
    let done = sandbox.run(&["tools", "add", "missing.json", "--json"]);
    let error = error(&done);
    assert!(
        error["details"]["hints"][0]
            .as_str()
            .is_some_and(|hint| hint.contains("@FILE"))
    );
}

#[test]
fn what_tells_of_a_failure_itself_is_the_only_document() {
    let sandbox = Sandbox::new();
    for (arguments, member) in [
        (&["call", "calculator"][..], "execution_id"),
        (
            &[
                "tools",
                "test",
                "--file",
                r#"{"name": "t", "description": "x", "kind": "builtin", "config": {"name": "calculator"},
            "tests": [{"arguments": {"expression": "1"}, "expect": 2}]}"#,
            ],
            "cases",
        ),
    ] {
        let done = sandbox.run(&[arguments, &["--json"]].concat());
        assert_eq!(done.code, 1, "{done:?}");
        let document: Value = serde_json::from_str(&done.stdout).expect("one document");
        assert!(!document[member].is_null(), "{document}");
    }
    sandbox.write("tools.json", "{");
    let done = sandbox.run(&["doctor", "--json"]);
    let document: Value = serde_json::from_str(&done.stdout).expect("one document");
    assert_eq!((done.code, &document["ok"]), (1, &json!(false)));
}

#[test]
fn commands_that_have_nothing_to_show_say_what_they_did() {
    let sandbox = Sandbox::new();
    let folder = sandbox.workspace().join("copy");
    assert_eq!(sandbox.json(&["backup", "copy"])["folder"], json!(folder));
    let removed = sandbox.json(&["tools", "remove", "clean_text"]);
    assert_eq!(removed, json!({"name": "clean_text", "removed": true}));
    let key = sandbox.json(&["keys", "create", "ci"]);
    let revoked = sandbox.json(&["keys", "revoke", "ci"]);
    assert_eq!(
        revoked,
        json!({"id": key["id"], "name": "ci", "revoked": true})
    );
    assert!(sandbox.json(&["man"])["text"].is_string());
    assert_eq!(sandbox.json(&["completions", "bash"])["shell"], "bash");
}
