//! Every step of the path refuses in its own words, and every refusal is in the log.

use crate::scripted::{Crib, caller, code, tool};
use catalog::policy::Policy;
use executions::Status;
use executor::{CallRequest, Settings};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

fn data(response: &executor::ToolResponse) -> Value {
    serde_json::from_str(response.data.get()).unwrap()
}

#[tokio::test]
async fn success_is_answered_and_logged_with_everything() {
    let crib = Crib::new(json!({"name": "echo"})).await;
    let response = crib.call("echo", json!({"answer": [1, 2]})).await;
    assert_eq!((code(&response), data(&response)), ("", json!([1, 2])));
    let log = crib.log().await;
    let entry = &log[0];
    assert_eq!(entry.id, response.execution_id);
    assert_eq!(
        (&*entry.tool_name, entry.tool_version, entry.status),
        ("echo", 3, Status::Success)
    );
    assert_eq!(
        (&*entry.caller, entry.key.as_deref(), &*entry.transport),
        ("kim", Some("ci"), "rest")
    );
    assert_eq!(
        (entry.arguments.as_str(), entry.output.as_deref()),
        (r#"{"answer":[1,2]}"#, Some("[1,2]"))
    );
    assert_eq!(entry.tool_hash.len(), 32);
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
async fn every_refusal_has_its_code_message_and_entry() {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "number"}}});
    let mut hidden = tool(&json!({"name": "theirs"}));
    hidden.owner = uuid::Uuid::from_u128(5);
    let tools = vec![
        tool(&json!({"name": "echo", "input_schema": schema, "output_schema": {"maximum": 9}})),
        tool(&json!({"name": "off", "is_active": false})),
        tool(&json!({"name": "blocked"})),
        tool(&json!({"name": "later", "kind": "expression", "config": {"expression": "1"}})),
        hidden,
    ];
    let policy = Policy::new(true, "echo,off,later,theirs");
    let settings = Settings {
        output_bytes_max: 100,
        ..Settings::default()
    };
    let crib = Crib::with(tools, policy, settings).await;
    let cases = [
        (
            "nothing",
            json!({}),
            "tool_not_found",
            "Tool 'nothing' not found",
        ),
        (
            "theirs",
            json!({}),
            "tool_not_found",
            "Tool 'theirs' not found",
        ),
        (
            "off",
            json!({}),
            "tool_inactive",
            "Tool 'off' is switched off",
        ),
        (
            "blocked",
            json!({}),
            "blocked_by_policy",
            "Blocked by whitelist policy",
        ),
        (
            "later",
            json!({}),
            "not_configured",
            "This version cannot run 'expression' tools",
        ),
        (
            "echo",
            json!({"answer": "x"}),
            "invalid_input",
            "Input validation failed: at $.answer: expected type number, got \"x\"",
        ),
        (
            "echo",
            json!([]),
            "invalid_input",
            "Input validation failed: at $: expected type object, got []",
        ),
        (
            "echo",
            json!({"answer": 10}),
            "invalid_output",
            "Output validation failed: at $: expected maximum 9, got 10",
        ),
        (
            "echo",
            json!({"do": "fail"}),
            "tool_execution_error",
            "Execution error: as told",
        ),
        (
            "echo",
            json!({"do": "panic"}),
            "tool_execution_error",
            "Execution error: the tool broke down",
        ),
    ];
    for (name, arguments, expected, message) in &cases {
        let response = crib.call(name, arguments.clone()).await;
        assert_eq!(
            (code(&response), response.message.as_str()),
            (*expected, *message)
        );
        assert_eq!(response.error.as_ref().unwrap().message, *message);
        assert!(!response.execution_id.is_nil());
    }
    let entries = crib.log().await.into_iter();
    let mut logged: Vec<_> = entries
        .map(|e| e.error_code.unwrap().into_owned())
        .collect();
    let mut expected: Vec<_> = cases.iter().map(|case| case.2.to_owned()).collect();
    // Calls of one millisecond have no order among themselves.
    logged.sort();
    expected.sort();
    assert_eq!(logged, expected);
}

#[tokio::test]
async fn a_large_output_is_refused_and_text_is_rendered() {
    let tools = vec![
        tool(&json!({"name": "json"})),
        tool(&json!({"name": "text", "output_format": "text"})),
    ];
    let settings = Settings {
        output_bytes_max: 50,
        ..Settings::default()
    };
    let crib = Crib::with(tools, Policy::default(), settings).await;
    let response = crib.call("json", json!({"answer": "x".repeat(49)})).await;
    assert_eq!(code(&response), "output_too_large");
    assert_eq!(
        response.error.unwrap().details,
        json!({"bytes": 51, "bytes_max": 50})
    );
    for (answer, text) in [
        (json!("as is"), "as is"),
        (json!({"a": 1}), r#"{"a":1}"#),
        (json!(null), ""),
        (json!(2.5), "2.5"),
    ] {
        let response = crib.call("text", json!({"answer": answer})).await;
        assert_eq!(data(&response), json!(text));
    }
}

#[tokio::test]
async fn secrets_appear_nowhere_in_the_log() {
    let schema = json!({"properties": {"token": {"type": "string", "writeOnly": true}, "do": {}}});
    let crib = Crib::new(json!({"name": "login", "input_schema": schema})).await;
    let answer = crib
        .call(
            "login",
            json!({"token": "hunter2!", "answer": {"said": "got hunter2!"}}),
        )
        .await;
    assert_eq!(
        data(&answer),
        json!({"said": "got hunter2!"}),
        "the caller gets what the tool said"
    );
    crib.call("login", json!({"token": 12_345_678})).await;
    for entry in crib.log().await {
        let all = format!("{entry:?}");
        assert!(
            !all.contains("hunter2!") && !all.contains("12345678"),
            "{all}"
        );
        assert!(all.contains("***"));
    }
}

#[tokio::test]
async fn what_has_too_many_secrets_to_look_for_is_hidden_whole() {
    let schema = json!({"properties": {"tokens": {"items": {"writeOnly": true}}}});
    let crib = Crib::new(json!({"name": "login", "input_schema": schema})).await;
    let tokens: Vec<String> = (0..40_000).map(|n| format!("t{n:06}")).collect();
    let said = json!({"said": "got t000007"});
    let answer = crib
        .call("login", json!({"tokens": tokens, "answer": said}))
        .await;
    assert_eq!(data(&answer), said, "the caller gets what the tool said");
    crib.call("login", json!({"tokens": tokens, "do": "fail"}))
        .await;
    for entry in crib.log().await {
        assert!(!format!("{entry:?}").contains("t000007"), "{entry:?}");
        let (output, error) = (entry.output.as_deref(), entry.error.as_deref());
        let shown = output.or(error).unwrap();
        assert!(shown.contains("hidden whole"), "{shown}");
        let code = entry.error_code.as_deref();
        assert!(code.is_none_or(|code| shown.contains(code)), "{shown}");
    }
}

#[tokio::test]
async fn a_call_may_shorten_the_deadline_but_not_stretch_it() {
    let crib = Crib::new(json!({"name": "slow", "timeout_seconds": 0.5})).await;
    let call = async |seconds: f64| {
        let request = CallRequest {
            tool: "slow".into(),
            arguments: json!({"do": "hang"}),
            timeout_seconds: Some(seconds),
            ..CallRequest::default()
        };
        crib.executor.call(caller(), request).await.message
    };
    assert_eq!(call(0.3).await, "Tool execution timeout (0.3s)");
    assert_eq!(call(60.0).await, "Tool execution timeout (0.5s)");
    assert!(
        call(-1.0)
            .await
            .starts_with("Input validation failed: timeout_seconds")
    );
    assert!(
        call(f64::NAN)
            .await
            .starts_with("Input validation failed: timeout_seconds")
    );
    assert_eq!(
        crib.seen.dropped.load(Ordering::SeqCst),
        2,
        "the work itself is gone"
    );
}

#[tokio::test]
async fn without_a_log_nothing_is_answered() {
    let tools = vec![
        tool(&json!({"name": "effect"})),
        tool(&json!({"name": "look", "annotations": {"read_only": true}})),
    ];
    let crib = Crib::with(tools, Policy::default(), Settings::default()).await;
    assert_eq!(code(&crib.call("effect", json!({})).await), "");
    let ran = || crib.seen.dropped.load(Ordering::SeqCst);
    let before = ran();
    crib.pages_max.store(1, Ordering::SeqCst);
    let big = json!({"answer": "x".repeat(40_000)});
    let response = crib.call("effect", big.clone()).await;
    assert_eq!(code(&response), "service_unavailable");
    assert!(response.message.contains("full"), "{}", response.message);
    assert_eq!(ran(), before, "what may have an effect is not even started");
    assert_eq!(
        code(&crib.call("look", big.clone()).await),
        "service_unavailable"
    );
    crib.pages_max.store(0, Ordering::SeqCst);
    assert_eq!(
        code(&crib.call("effect", big).await),
        "",
        "recovers without a restart"
    );
}

#[tokio::test]
async fn a_failure_brings_along_no_more_than_an_output_may() {
    let settings = Settings {
        output_bytes_max: 100,
        ..Settings::default()
    };
    let tools = vec![tool(&json!({"name": "echo"}))];
    let crib = Crib::with(tools, Policy::default(), settings).await;
    for (length, is_there) in [(50, true), (500, false)] {
        let raw = json!({"do": "fail", "raw": "x".repeat(length)});
        let response = crib.call("echo", raw).await;
        assert_eq!(code(&response), "tool_execution_error");
        assert_eq!(response.raw.is_some(), is_there, "{length}");
    }
}
