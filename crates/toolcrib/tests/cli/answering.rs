//! Answering a run that asks several things at once.

use crate::harness::Sandbox;
use crate::standin::{Says, StandIn};
use serde_json::{Value, json};

/// A model that calls a tool twice in its first turn, and has an answer in the second.
fn model() -> StandIn {
    let mut turns = 0;
    StandIn::start(move |_| {
        turns += 1;
        let call = |id: &str, expression: &str| {
            let arguments = json!({"expression": expression}).to_string();
            json!({"id": id, "type": "function", "function": {"name": "percent_of", "arguments": arguments}})
        };
        let calls = json!([call("a", "10% of 50"), call("b", "20% of 50")]);
        let (message, finish) = match turns {
            1 => (
                json!({"role": "assistant", "content": null, "tool_calls": calls}),
                "tool_calls",
            ),
            _ => (
                json!({"role": "assistant", "content": "that is all"}),
                "stop",
            ),
        };
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
        let body = json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage});
        Says::Answer(200, body)
    })
}

#[test]
fn of_several_open_approvals_each_is_named_with_how_to_answer_it() {
    let model = model();
    let sandbox = Sandbox::new()
        .with("OPENAI_API_KEY", "sk-for-tests")
        .with("TOOLCRIB_HTTP_ALLOW", &model.address);
    let careful = json!({
        "name": "percent_of", "kind": "builtin", "config": {"name": "calculator"}, "approval": "always",
        "description": "Takes a percentage of an amount", "input_schema": {"type": "object",
            "required": ["expression"], "properties": {"expression": {"type": "string"}}},
    });
    sandbox.ok(&["tools", "add", &careful.to_string()]);
    let agent = json!({
        "name": "twice", "model_provider": "openai", "model_name": "m", "tools": ["percent_of"],
        "base_url": format!("{}/v1", model.url()), "config": {"stream": false},
    });
    sandbox.ok(&["agents", "create", &agent.to_string()]);
    let asked = sandbox.run(&["run", "--agent", "twice", "go"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    let waiting = sandbox.json(&["runs", "list", "--status", "needs_input"]);
    let run = &waiting["items"][0];
    let id = run["id"].as_str().expect("a run waits");
    let requests = run["pending"].as_array().expect("it asks");
    let requests: Vec<&str> = requests.iter().filter_map(request).collect();
    assert_eq!(requests.len(), 2, "{run}");

    let unclear = sandbox.run(&["runs", "answer", id, "approve"]);
    assert_eq!(unclear.code, 2, "{unclear:?}");
    let unknown = sandbox.run(&["runs", "answer", id, "approve", "--request", "x"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    let way = |request: &str| format!("toolcrib runs answer {id} --request {request} approve|");
    for (request, expression) in requests.iter().zip(["10% of 50", "20% of 50"]) {
        let asks = format!("{request}: it asks whether percent_of may be called with");
        for told in [&unclear.stderr, &unknown.stderr] {
            let mut lines = told.lines();
            let line = lines.find(|it| it.contains(&asks));
            assert!(line.is_some_and(|it| it.contains(expression)), "{told}");
            let next = lines.next().unwrap_or_default();
            assert!(next.contains(&way(request)), "{told}");
        }
        // So does the command that began it.
        assert!(asked.stderr.contains(&way(request)), "{asked:?}");
    }
    let json = sandbox.run(&["--json", "runs", "answer", id, "approve"]);
    let json: Value = serde_json::from_str(&json.stdout).expect("--json prints JSON");
    assert!(json.to_string().contains(requests[1]), "{json}");

    // As it was told; then there is one, which needs no name.
    let first = ["runs", "answer", id, "--request", requests[0], "approve"];
    assert_eq!(sandbox.run(&first).code, 1);
    let last = sandbox.run(&["runs", "answer", id, "reject"]);
    assert_eq!(
        (last.code, last.stdout.trim()),
        (0, "that is all"),
        "{last:?}"
    );
}

fn request(pending: &Value) -> Option<&str> {
    pending["request_id"].as_str()
}
