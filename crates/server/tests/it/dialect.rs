//! What a scripted model says and is told, in the wire formats of real providers: Messages, Chat Completions and Responses,
//! whole or as a stream of events. Without a server: whoever has one passes on what is asked.

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Messages,
    Chat,
    Responses,
}

/// A call that a model makes: its name and arguments.
pub(crate) type Call = (&'static str, Value);

impl Dialect {
    pub(crate) const ALL: [Dialect; 3] = [Dialect::Messages, Dialect::Chat, Dialect::Responses];

    /// The one that is spoken at a path.
    pub(crate) fn at(path: &str) -> Option<Self> {
        match path.rsplit('/').next()? {
            "messages" => Some(Dialect::Messages),
            "completions" => Some(Dialect::Chat),
            "responses" => Some(Dialect::Responses),
            _ => None,
        }
    }

    /// The body of an agent that asks a model at this address in it.
    pub(crate) fn agent(self, name: &str, url: &str) -> Value {
        let (provider, model, config) = match self {
            Dialect::Messages => ("anthropic", "claude-test", json!({})),
            Dialect::Chat => ("openai", "gpt-test", json!({})),
            Dialect::Responses => ("openai", "gpt-test", json!({"api": "responses"})),
        };
        json!({"name": name, "model_provider": provider, "model_name": model, "base_url": url, "config": config})
    }

    /// What was said so far, one item after the other.
    pub(crate) fn said(self, request: &Value) -> Vec<Value> {
        let list = match self {
            Dialect::Responses => &request["input"],
            _ => &request["messages"],
        };
        list.as_array().cloned().unwrap_or_default()
    }

    /// How many turns the model has had.
    pub(crate) fn turns(self, request: &Value) -> usize {
        let said = self.said(request);
        let is_models = |it: &Value| match self {
            Dialect::Responses => it["type"] == "function_call" || it["role"] == "assistant",
            _ => it["role"] == "assistant",
        };
        // The items of one turn stand side by side.
        let runs = said.chunk_by(|a, b| is_models(a) == is_models(b));
        runs.filter(|run| is_models(&run[0])).count()
    }

    /// The tools that the model is shown.
    pub(crate) fn tools(self, request: &Value) -> Vec<String> {
        let tools = request["tools"].as_array().cloned().unwrap_or_default();
        let names = tools.iter().map(|tool| match self {
            Dialect::Chat => tool["function"]["name"].clone(),
            _ => tool["name"].clone(),
        });
        names
            .map(|it| it.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// The results that the model is told, in order.
    pub(crate) fn results(self, request: &Value) -> Vec<String> {
        let said = self.said(request);
        let texts = said.iter().flat_map(|item| match self {
            Dialect::Messages => {
                let blocks = item["content"].as_array().cloned().unwrap_or_default();
                let results = blocks.iter().filter(|it| it["type"] == "tool_result");
                results.map(|it| text(&it["content"])).collect()
            }
            Dialect::Chat if item["role"] == "tool" => vec![text(&item["content"])],
            Dialect::Responses if item["type"] == "function_call_output" => {
                vec![text(&item["output"])]
            }
            _ => Vec::new(),
        });
        texts.collect()
    }

    /// A turn with this text and these calls, as the provider writes it; `number` tells its calls from others.
    pub(crate) fn turn(self, text: &str, calls: &[Call], number: usize, is_stream: bool) -> String {
        match (self, is_stream) {
            (Dialect::Messages, false) => messages(&blocks(text, calls, number)).to_string(),
            (Dialect::Messages, true) => messages_events(&blocks(text, calls, number)),
            (Dialect::Chat, false) => chat(text, calls, number).to_string(),
            (Dialect::Chat, true) => chat_events(text, calls, number),
            (Dialect::Responses, false) => responses(text, calls, number).to_string(),
            (Dialect::Responses, true) => responses_events(text, calls, number),
        }
    }
}

/// What a text is, written at once or in blocks.
fn text(content: &Value) -> String {
    let whole = content.as_str().map(str::to_owned);
    whole.unwrap_or_else(|| {
        let texts = content.as_array().into_iter().flatten();
        texts.filter_map(|it| it["text"].as_str()).collect()
    })
}

fn events(all: &[Value]) -> String {
    let named = |event: &Value| match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    all.iter().map(named).collect()
}

fn blocks(text: &str, calls: &[Call], number: usize) -> Vec<Value> {
    let said = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let calls = calls.iter().enumerate().map(|(i, (name, input))| {
        json!({"type": "tool_use", "id": format!("toolu_{number}_{i}"), "name": name, "input": input})
    });
    said.into_iter().chain(calls).collect()
}

fn stop_reason(blocks: &[Value]) -> &'static str {
    match blocks.iter().any(|it| it["type"] == "tool_use") {
        true => "tool_use",
        false => "end_turn",
    }
}

pub(crate) fn messages(blocks: &[Value]) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": blocks,
        "stop_reason": stop_reason(blocks), "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 5}
    })
}

pub(crate) fn messages_events(blocks: &[Value]) -> String {
    let mut head = messages(&[]);
    head["stop_reason"] = Value::Null;
    head["usage"]["output_tokens"] = json!(1);
    let mut all = vec![json!({"type": "message_start", "message": head})];
    for (index, block) in blocks.iter().enumerate() {
        let mut empty = block.clone();
        let delta = match block["type"] == "text" {
            true => {
                empty["text"] = json!("");
                json!({"type": "text_delta", "text": block["text"]})
            }
            false => {
                empty["input"] = json!({});
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
            }
        };
        all.extend([
            json!({"type": "content_block_start", "index": index, "content_block": empty}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    let ending = json!({"stop_reason": stop_reason(blocks), "stop_sequence": null});
    all.extend([
        json!({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]);
    events(&all)
}

fn chat_calls(calls: &[Call], number: usize) -> Vec<Value> {
    let call = |(i, (name, arguments)): (usize, &Call)| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"index": i, "id": format!("call_{number}_{i}"), "type": "function", "function": function})
    };
    calls.iter().enumerate().map(call).collect()
}

fn chat(text: &str, calls: &[Call], number: usize) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = chat_calls(calls, number).into();
    }
    let finish = if calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    })
}

fn chat_events(text: &str, calls: &[Call], number: usize) -> String {
    let whole = chat(text, calls, number);
    let chunk = |delta: Value, finish: &Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-test",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]
        })
    };
    let mut all = vec![chunk(
        json!({"role": "assistant", "content": text}),
        &Value::Null,
    )];
    for mut call in chat_calls(calls, number) {
        let arguments = call["function"]["arguments"].take();
        call["function"]["arguments"] = json!("");
        let rest = json!({"index": call["index"], "function": {"arguments": arguments}});
        all.push(chunk(json!({"tool_calls": [call]}), &Value::Null));
        all.push(chunk(json!({"tool_calls": [rest]}), &Value::Null));
    }
    all.push(chunk(json!({}), &whole["choices"][0]["finish_reason"]));
    let usage = &whole["usage"];
    all.push(json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-test", "choices": [], "usage": usage}));
    events(&all) + "data: [DONE]\n\n"
}

fn responses(text: &str, calls: &[Call], number: usize) -> Value {
    let said = (!text.is_empty()).then(|| {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed", "content": content})
    });
    let calls = calls.iter().enumerate().map(|(i, (name, arguments))| {
        json!({
            "type": "function_call", "id": format!("fc_{number}_{i}"), "call_id": format!("call_{number}_{i}"),
            "name": name, "arguments": arguments.to_string(), "status": "completed"
        })
    });
    let output: Vec<Value> = said.into_iter().chain(calls).collect();
    json!({
        "id": format!("resp_{number}"), "object": "response", "status": "completed", "model": "gpt-test", "error": null,
        "incomplete_details": null, "output": output, "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    })
}

fn responses_events(text: &str, calls: &[Call], number: usize) -> String {
    let whole = responses(text, calls, number);
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    let mut all = vec![json!({"type": "response.created", "response": begun})];
    for (at, item) in whole["output"].as_array().into_iter().flatten().enumerate() {
        let mut empty = item.clone();
        empty["status"] = json!("in_progress");
        let is_text = item["type"] == "message";
        let part = if is_text { "content" } else { "arguments" };
        empty[part] = if is_text { json!([]) } else { json!("") };
        all.push(json!({"type": "response.output_item.added", "output_index": at, "item": empty}));
        all.push(match is_text {
            true => json!({"type": "response.output_text.delta", "output_index": at, "content_index": 0, "item_id": item["id"], "delta": text}),
            false => json!({"type": "response.function_call_arguments.delta", "output_index": at, "item_id": item["id"], "delta": item["arguments"]}),
        });
        all.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    all.push(json!({"type": "response.completed", "response": whole}));
    let numbered = all.into_iter().enumerate().map(|(i, mut event)| {
        event["sequence_number"] = json!(i);
        event
    });
    events(&numbered.collect::<Vec<_>>())
}
