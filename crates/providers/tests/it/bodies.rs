//! Answers written by hand in the shape of each wire format: one turn with a text and a call of `math.add`, whole and as a
//! stream of events.

use providers::Api;
use serde_json::{Value, json};

pub(crate) const APIS: [Api; 4] = [Api::Messages, Api::Chat, Api::Zhipu, Api::Responses];

/// The turn at once.
pub(crate) fn whole(api: Api) -> Value {
    match api {
        Api::Messages => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "some-model-1",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "text", "text": "Let me add."},
                {"type": "tool_use", "id": "call_1", "name": "math__add", "input": {"a": 2}}
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 6, "output_tokens": 7}
        }),
        Api::Chat | Api::Zhipu => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "model": "some-model-1",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "Let me add.", "reasoning_content": "Hm.", "refusal": null, "annotations": [],
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "math__add", "arguments": "{\"a\": 2}"}}]
            }}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}}
        }),
        Api::Responses => json!({
            "id": "resp_1", "object": "response", "status": "completed", "model": "some-model-1", "error": null, "incomplete_details": null,
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "content": [], "encrypted_content": "c2VhbGVk", "status": null},
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Let me add.", "annotations": []}]},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "math__add", "arguments": "{\"a\": 2}", "status": "completed"}
            ],
            "usage": {"input_tokens": 20, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 3}}
        }),
    }
}

/// The same turn piece by piece.
pub(crate) fn events(api: Api) -> String {
    let data = |events: &[Value]| -> String {
        let lines = events.iter().map(|event| match event["type"].as_str() {
            Some(name) if api != Api::Chat => format!("event: {name}\ndata: {event}\n\n"),
            _ => format!("data: {event}\n\n"),
        });
        lines.collect()
    };
    match api {
        Api::Messages => data(&messages()),
        Api::Chat => data(&chat()) + "data: [DONE]\n\n",
        Api::Zhipu => data(&zhipu()) + "data: [DONE]\n\n",
        Api::Responses => data(&responses()),
    }
}

fn messages() -> Vec<Value> {
    let delta = |index, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start = |index, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let stop = |index: usize| json!({"type": "content_block_stop", "index": index});
    vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "some-model-1", "content": [], "stop_reason": null,
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 6, "output_tokens": 1}}}),
        start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Let me"})),
        delta(1, json!({"type": "text_delta", "text": " add."})),
        stop(1),
        start(
            2,
            json!({"type": "tool_use", "id": "call_1", "name": "math__add", "input": {}}),
        ),
        delta(2, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            2,
            json!({"type": "input_json_delta", "partial_json": "{\"a\":"}),
        ),
        delta(
            2,
            json!({"type": "input_json_delta", "partial_json": " 2}"}),
        ),
        stop(2),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

fn chunk(delta: &Value, finish: &Value) -> Value {
    json!({"id": "chatcmpl-1", "model": "some-model-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn chat() -> Vec<Value> {
    let call = |call: Value| chunk(&json!({"tool_calls": [call]}), &json!(null));
    vec![
        chunk(
            &json!({"role": "assistant", "content": null, "reasoning_content": "Hm."}),
            &json!(null),
        ),
        chunk(&json!({"content": "Let me"}), &json!(null)),
        chunk(&json!({"content": " add."}), &json!(null)),
        call(
            json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "math__add", "arguments": ""}}),
        ),
        call(json!({"index": 0, "function": {"arguments": "{\"a\":"}})),
        call(json!({"index": 0, "function": {"arguments": " 2}"}})),
        chunk(&json!({}), &json!("tool_calls")),
        json!({"id": "chatcmpl-1", "model": "some-model-1", "choices": [], "usage": whole(Api::Chat)["usage"]}),
    ]
}

/// As GLM has been seen to do it: another id with every piece, counts with the last one.
fn zhipu() -> Vec<Value> {
    let mut chunks = chat();
    chunks.pop();
    for (index, chunk) in chunks.iter_mut().enumerate() {
        if let Some(call) = chunk.pointer_mut("/choices/0/delta/tool_calls/0") {
            call["id"] = match call["function"]["name"].is_string() {
                true => json!("call_1"),
                false => json!(format!("call_other_{index}")),
            };
        }
    }
    chunks.last_mut().unwrap()["usage"] = whole(Api::Zhipu)["usage"].clone();
    chunks
}

fn responses() -> Vec<Value> {
    let mut response = whole(Api::Responses);
    let items = response["output"].as_array().unwrap().clone();
    let mut begun = response.clone();
    begun["output"] = json!([]);
    begun["status"] = json!("in_progress");
    let item = |kind: &str, place: usize| json!({"type": format!("response.output_item.{kind}"), "output_index": place, "item": items[place]});
    let mut opened = item("added", 2);
    opened["item"]["arguments"] = json!("");
    // The last event seals thoughts anew.
    response["output"][0]["encrypted_content"] = json!("b3RoZXI=");
    vec![
        json!({"type": "response.created", "response": begun}),
        item("added", 0),
        item("done", 0),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Let me"}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": " add."}),
        item("done", 1),
        opened,
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"a\": 2}"}),
        item("done", 2),
        json!({"type": "response.completed", "response": response}),
    ]
}
