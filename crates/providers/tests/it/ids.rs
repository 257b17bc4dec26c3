//! Calls are told apart by their ids: those that a provider leaves out or gives twice are made up, in the turn and in what
//! is told to the model again.

use crate::bodies::{APIS, whole};
use crate::{request, result, streaming};
use providers::wire::Written;
use providers::{Api, Said, Turn};
use serde_json::{Value, json};
use std::collections::HashSet;

/// An answer with calls of these ids.
fn answer(api: Api, ids: &[&str]) -> Value {
    let mut body = whole(api);
    let (place, last, field) = match api {
        Api::Messages => ("/content", 2, "id"),
        Api::Chat | Api::Zhipu => ("/choices/0/message/tool_calls", 0, "id"),
        Api::Responses => ("/output", 2, "call_id"),
    };
    let items = body.pointer_mut(place).unwrap().as_array_mut().unwrap();
    let call = items.remove(last);
    for id in ids {
        let mut call = call.clone();
        call[field] = json!(id);
        items.push(call);
    }
    body
}

/// The ids of calls, and those that results are for, as they are sent.
fn sent(api: Api, turn: &Turn) -> (Vec<String>, Vec<String>) {
    let results = turn.calls.iter().map(|call| result(&call.id, "5", false));
    let mut next = request();
    next.said.push(Said::Model(turn.clone()));
    next.said.push(Said::Results(results.collect()));
    let body = Written::new(api, &next).body;
    let mut all = (Vec::new(), Vec::new());
    collect(&body, &mut all);
    all
}

fn collect(value: &Value, all: &mut (Vec<String>, Vec<String>)) {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    match value["type"].as_str() {
        Some("tool_use") => all.0.extend(text("id")),
        Some("function") if value.get("id").is_some() => all.0.extend(text("id")),
        Some("function_call") => all.0.extend(text("call_id")),
        Some("tool_result") => all.1.extend(text("tool_use_id")),
        Some("function_call_output") => all.1.extend(text("call_id")),
        _ => all.1.extend(text("tool_call_id")),
    }
    match value {
        Value::Array(items) => items.iter().for_each(|it| collect(it, all)),
        Value::Object(fields) => fields.values().for_each(|it| collect(it, all)),
        _ => {}
    }
}

#[test]
fn no_two_calls_of_a_turn_have_the_same_id() {
    for api in APIS {
        for ids in [
            &["a", "a", "b"][..],
            &["", "", "call_0"],
            &["call_1", "", "call_1"],
        ] {
            let written = Written::new(api, &request());
            let turn = written
                .read(answer(api, ids).to_string().as_bytes())
                .unwrap();
            let own: Vec<&str> = turn.calls.iter().map(|call| call.id.as_str()).collect();
            assert_eq!(own.len(), ids.len(), "{api:?}");
            assert_eq!(
                own.iter().collect::<HashSet<_>>().len(),
                ids.len(),
                "{api:?} {own:?}"
            );
            assert!(!own.contains(&""), "{api:?} {own:?}");
            assert!(
                ids[0].is_empty() || own[0] == ids[0],
                "what can be kept is: {own:?}"
            );
            let (calls, results) = sent(api, &turn);
            assert_eq!(calls, own, "{api:?}");
            assert_eq!(results, own, "{api:?}");
        }
    }
}

#[test]
fn calls_that_are_all_numbered_alike_are_told_apart() {
    let piece = |id: &str, name: &str, arguments: &str| {
        let call = json!({"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        let choice = json!({"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null});
        format!("data: {}\n\n", json!({"id": "c", "choices": [choice]}))
    };
    let end =
        json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let events = [
        piece("a", "math__add", "{\"a\": 1"),
        piece("a", "", "}"),
        piece("b", "math__add", "{\"a\": 2}"),
        format!("data: {end}\n\ndata: [DONE]\n\n"),
    ];
    let written = Written::new(Api::Chat, &streaming());
    let mut incoming = written.incoming(1 << 20);
    for event in &events {
        incoming.take(event.as_bytes(), &mut |_| {}).unwrap();
    }
    let turn = incoming.finish(&mut |_| {}).unwrap();
    let read: Vec<(&str, &Value)> = turn
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.object().unwrap().get("a").unwrap()))
        .collect();
    assert_eq!(read, [("a", &json!(1)), ("b", &json!(2))]);
}
