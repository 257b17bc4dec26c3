//! What a run writes down today must be readable for ever.

use crate::{calls, result};
use providers::{Api, Echo, Request, Said, Stop, Turn, Usage};
use serde_json::{Value, json};

fn turn() -> Turn {
    Turn {
        text: "Let me add.".to_owned(),
        calls: calls(),
        echo: Some(Echo {
            api: Api::Messages,
            raw: json!([]),
        }),
        stop: Stop::Other("new".to_owned()),
        usage: Usage {
            input_tokens: 1,
            ..Usage::default()
        },
        model: Some("m".to_owned()),
        request_id: None,
        notes: vec!["a note".to_owned()],
    }
}

/// The written form, by hand: a change here is a change of every journal there is.
fn written() -> Value {
    json!([
        {"by": "user", "said": "Hello"},
        {"by": "model", "said": {
            "text": "Let me add.",
            "calls": [
                {"id": "call_1", "name": "math.add", "arguments": {"json": {"a": 2}}},
                {"id": "call_2", "name": "math.add", "arguments": {"bad": "{\"a\""}}],
            "echo": {"api": "messages", "raw": []},
            "stop": {"other": "new"},
            "usage": {"input_tokens": 1, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0},
            "model": "m", "request_id": null, "notes": ["a note"]}},
        {"by": "results", "said": [{"call_id": "call_1", "name": "math.add", "text": "5", "is_error": false}]}
    ])
}

#[test]
fn what_was_said_is_written_and_read_as_ever() {
    let said = vec![
        Said::User("Hello".to_owned()),
        Said::Model(turn()),
        Said::Results(vec![result("call_1", "5", false)]),
    ];
    assert_eq!(serde_json::to_value(&said).unwrap(), written());
    let read: Vec<Said> = serde_json::from_value(written()).unwrap();
    assert_eq!(read, said);
}

#[test]
fn what_is_missing_has_a_default() {
    let turn: Turn = serde_json::from_value(json!({"text": "a"})).unwrap();
    assert_eq!(turn.stop, Stop::End);
    let request: Request = serde_json::from_value(json!({"model": "m"})).unwrap();
    assert_eq!(request.said, []);
}
