//! What is handed out of the logs, and a person who is erased from them.

use crate::harness::Sandbox;
use serde_json::Value;

fn lines(text: &str) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).expect("each line is JSON");
    text.lines().map(line).collect()
}

#[test]
fn logs_are_exported_with_and_without_a_server() {
    let sandbox = Sandbox::new();
    for expression in ["1 + 1", "2 + 2", "3 + 3"] {
        let arguments = format!("{{\"expression\": \"{expression}\"}}");
        sandbox.ok(&["call", "calculator", &arguments]);
    }
    sandbox.ok(&["users", "create", "kim"]);
    let look = || {
        let log = lines(&sandbox.ok(&["export", "log", "--tool", "calculator"]));
        let outputs: Vec<&Value> = log.iter().map(|it| &it["output"]).collect();
        assert_eq!(outputs, [2, 4, 6], "oldest first");
        assert_eq!(sandbox.ok(&["export", "log", "--status", "error"]), "");
        let acts = lines(&sandbox.ok(&["export", "audit", "--target", "user:kim"]));
        assert_eq!(acts[0]["action"], "user.create");
        let wrong = sandbox.run(&["export", "log", "--since", "yesterday"]);
        assert_eq!(wrong.code, 2, "{wrong:?}");
    };
    look();
    let server = sandbox.serve(&[]);
    look();
    drop(server);
}

#[test]
fn somebody_is_erased_and_it_is_said_what_that_is() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["users", "create", "kim"]);
    sandbox.ok(&["keys", "create", "of-kim", "--user", "kim"]);
    let tried = sandbox.json(&["users", "erase", "kim", "--dry-run"]);
    assert_eq!(
        (&tried["dry_run"], &tried["rows"]["keys"]),
        (&true.into(), &1.into())
    );
    let shown = sandbox.ok(&["users", "erase", "kim", "--dry-run"]);
    assert!(shown.contains("executions"), "{shown}");
    let done = sandbox.json(&["users", "erase", "kim"]);
    assert_eq!(done["servers_left"], 0, "{done}");
    let list = sandbox.ok(&["users", "list", "--json"]);
    let pseudonym = done["pseudonym"].as_str().unwrap_or_default();
    assert!(
        list.contains(pseudonym) && !list.contains("\"kim\""),
        "{list}"
    );
    sandbox.ok(&["audit", "verify"]);
    let again = sandbox.run(&["users", "erase", "kim"]);
    assert_eq!(again.code, 1, "{again:?}");
}
