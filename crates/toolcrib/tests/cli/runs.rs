//! `toolcrib run` on a fresh machine: the examples of the README, without any key and any model.

use crate::harness::Sandbox;
use serde_json::Value;

/// What a run answered.
fn run(sandbox: &Sandbox, request: &str) -> Value {
    let done = sandbox.run(&["--json", "run", request]);
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

#[test]
fn the_examples_of_the_readme_work_without_any_key() {
    let sandbox = Sandbox::new();
    sandbox.write("notes.md", "# Minutes\n\nThe launch is on 3 March.\n");
    for (request, tool, holds) in [
        ("What is 12.5% of 340?", "calculator", "42.5"),
        ("340의 12.5%는 얼마야?", "calculator", "42.5"),
        ("how many miles are 5 km", "convert_units", "3.10"),
        ("multiply 48 by 125", "multiply_numbers", "6000"),
        (
            "how many calls a day may hong make",
            "get_user_daily_limit",
            "50",
        ),
        ("kim의 일일 제한량은?", "get_user_daily_limit", "100"),
        ("Read the document notes.md", "doc_parser", "3 March"),
    ] {
        let view = run(&sandbox, request);
        assert_eq!(view["status"], "done", "{request}: {view}");
        let output = view["output"].as_str().unwrap();
        assert!(output.contains(holds), "{request}: {output}");
        let log = sandbox.json(&["log", "--limit", "1"]);
        assert_eq!(log["items"][0]["tool_name"], tool, "{request}");
    }
}

#[test]
fn no_tool_is_called_where_none_is_needed() {
    let sandbox = Sandbox::new();
    for request in ["What is the capital of France?", "프랑스의 수도는 어디야?"] {
        let view = run(&sandbox, request);
        assert_eq!(
            (&view["status"], view["calls"].as_u64()),
            (&Value::from("done"), Some(0)),
            "{view}"
        );
    }
}

#[test]
fn what_a_request_does_not_say_is_asked_for_and_answered_later() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["--json", "run", "check the daily limit of a user"]);
    assert_eq!(done.code, 1, "{done:?}");
    let view: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(view["status"], "needs_input", "{view}");
    let id = view["id"].as_str().unwrap();
    let listed = sandbox.json(&["runs", "list", "--status", "needs_input"]);
    assert_eq!(listed["items"][0]["id"], id);
    let shown = sandbox.ok(&["runs", "show", id]);
    assert!(shown.contains("asks "), "{shown}");
    let answered = sandbox.json(&["runs", "answer", id, "hong"]);
    assert_eq!(answered["status"], "done", "{answered}");
    assert!(
        answered["output"].as_str().unwrap().contains("50"),
        "{answered}"
    );
    let again = sandbox.run(&["runs", "answer", id, "kim"]);
    assert_eq!(again.code, 1, "{again:?}");
}

#[test]
fn a_run_without_a_terminal_prints_its_output_and_nothing_else() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["run", "What is 12.5% of 340?"]);
    assert_eq!((done.stdout.trim(), done.code), ("42.5", 0), "{done:?}");
    assert!(
        done.stderr.contains("calculator"),
        "what happens is told beside it: {done:?}"
    );
    let quiet = sandbox.run(&["run", "-q", "What is 12.5% of 340?"]);
    assert_eq!((quiet.stdout.trim(), quiet.stderr.as_str()), ("42.5", ""));
}

#[test]
fn an_agent_without_a_key_says_what_to_set() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    let agent = serde_json::json!({"name": "a", "model_provider": "anthropic", "model_name": "claude-sonnet-4-5"});
    assert_eq!(
        server.request("POST", "/api/v1/agents", Some(&agent)).0,
        201
    );
    let done = sandbox.run(&["run", "--agent", "a", "hello"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("ANTHROPIC_API_KEY"), "{done:?}");
}
