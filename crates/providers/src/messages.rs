//! Anthropic's Messages: how a request is written and an answer is read.

use crate::api::Api;
use crate::draft::Draft;
use crate::error::{Class, Error};
use crate::names::Names;
use crate::request::{Choice, Said, ToolResult};
use crate::schema;
use crate::turn::{Arguments, Call, Echo, Ids, Stop, Turn, Usage};
use serde_json::{Map, Value, json};

pub(crate) fn write(mut draft: Draft<'_>) -> (Value, Vec<String>) {
    let request = draft.request;
    let max_tokens = request.max_tokens.unwrap_or(draft.profile.max_tokens);
    draft.put("max_tokens", json!(max_tokens));
    let format = draft.answer_schema(true);
    if let Some(system) = draft.system(format.is_none()) {
        draft.put("system", json!([cached(text(&system), request.cache)]));
    }
    let messages = messages(&request.said, draft.names, request.cache);
    draft.put("messages", messages);
    draft.put_tools();
    draft.put_sampling();
    if !request.stop_sequences.is_empty() {
        draft.put("stop_sequences", json!(request.stop_sequences));
    }
    if let Some(answer) = format {
        let format = json!({"type": "json_schema", "schema": answer.schema});
        draft.put("output_config", json!({"format": format}));
    }
    if request.stream {
        draft.put("stream", json!(true));
    }
    draft.finish()
}

impl Draft<'_> {
    fn put_tools(&mut self) {
        let tools = &self.request.tools;
        if tools.is_empty() {
            return;
        }
        let write = |(index, tool): (usize, &crate::request::Tool)| {
            let mut object = Map::new();
            object.insert("name".to_owned(), json!(self.names.sent(&tool.name)));
            if !tool.description.is_empty() {
                object.insert("description".to_owned(), json!(tool.description));
            }
            object.insert("input_schema".to_owned(), schema::input(&tool.input_schema));
            // One mark is for all tools up to it.
            let is_last = index + 1 == tools.len();
            cached(Value::Object(object), self.request.cache && is_last)
        };
        let tools: Vec<Value> = tools.iter().enumerate().map(write).collect();
        self.put("tools", json!(tools));
        let one_at_a_time = self.parallel() == Some(false);
        let kind = match self.choice() {
            Choice::Auto if !one_at_a_time => return,
            Choice::Auto => "auto",
            Choice::None => "none",
            Choice::Required => "any",
        };
        let mut choice = json!({"type": kind});
        if one_at_a_time && kind != "none" {
            choice["disable_parallel_tool_use"] = json!(true);
        }
        self.put("tool_choice", choice);
    }
}

/// What was said, in turns: neighbours of one role become one message, in which results come first.
fn messages(said: &[Said], names: &Names, cache: bool) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for said in said {
        let (role, blocks) = match said {
            Said::User(said) => ("user", vec![text(said)]),
            Said::Model(turn) => ("assistant", blocks(turn, names)),
            Said::Results(results) => ("user", results.iter().map(result).collect()),
        };
        match messages.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            // A turn in which nothing was said is none.
            _ if blocks.is_empty() => {}
            _ => messages.push((role, blocks)),
        }
    }
    if let Some(("user", blocks)) = messages.last_mut()
        && let Some(last) = blocks.last_mut()
    {
        *last = cached(last.take(), cache);
    }
    messages
        .into_iter()
        .map(|(role, blocks)| json!({"role": role, "content": blocks}))
        .collect()
}

/// What the model said: as it wrote it, or put together from another's words.
fn blocks(turn: &Turn, names: &Names) -> Vec<Value> {
    if let Some(Echo {
        api: Api::Messages,
        raw: Value::Array(blocks),
    }) = &turn.echo
    {
        // Blank texts are answered with, but not taken.
        let is_blank = |block: &&Value| {
            let text = block["text"].as_str().unwrap_or_default();
            block["type"] == "text" && text.trim().is_empty()
        };
        return blocks
            .iter()
            .filter(|block| !is_blank(block))
            .cloned()
            .collect();
    }
    let said = Some(text(&turn.text)).filter(|_| !turn.text.trim().is_empty());
    let calls = turn.calls.iter().map(|call| {
        let name = names.sent(&call.name);
        json!({"type": "tool_use", "id": call.id, "name": name, "input": call.arguments.to_object()})
    });
    said.into_iter().chain(calls).collect()
}

fn result(result: &ToolResult) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": result.call_id});
    // A failure has to have a text.
    let said = match result.is_error && result.text.trim().is_empty() {
        true => "Error",
        false => &result.text,
    };
    if !said.is_empty() {
        block["content"] = json!([text(said)]);
    }
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Marks the end of what will be asked again.
fn cached(mut block: Value, is_marked: bool) -> Value {
    if is_marked {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    block
}

/// A whole message, from a body or put together from a stream. Arguments that are a text here could not be read.
pub(crate) fn read(mut message: Value, names: &Names) -> Result<Turn, Error> {
    let Some(Value::Array(mut blocks)) = message.get_mut("content").map(Value::take) else {
        return Err(Error::new(
            Class::Protocol,
            "The provider's answer has no content; is that address one that speaks Anthropic's Messages?",
        ));
    };
    let mut turn = Turn::default();
    let mut ids = Ids::default();
    for block in &mut blocks {
        match block["type"].as_str() {
            Some("text") => turn.text += block["text"].as_str().unwrap_or_default(),
            Some("tool_use") => {
                let call = call(block, &mut ids, names);
                block["id"] = json!(call.id);
                block["input"] = call.arguments.to_object();
                turn.calls.push(call);
            }
            _ => {}
        }
    }
    let reason = message["stop_reason"].as_str().unwrap_or_default();
    turn.stop = stop(reason, !turn.calls.is_empty());
    turn.usage = usage(&message["usage"]);
    turn.model = message["model"].as_str().map(str::to_owned);
    turn.request_id = message["id"].as_str().map(str::to_owned);
    turn.echo = Some(Echo {
        api: Api::Messages,
        raw: Value::Array(blocks),
    });
    Ok(turn)
}

fn call(block: &Value, ids: &mut Ids, names: &Names) -> Call {
    let field = |name: &str| block[name].as_str().unwrap_or_default();
    Call {
        id: ids.own(field("id")),
        name: names.meant(field("name")).to_owned(),
        arguments: match &block["input"] {
            Value::String(text) => Arguments::of(text),
            Value::Null => Arguments::Json(json!({})),
            input => Arguments::Json(input.clone()),
        },
    }
}

fn stop(reason: &str, has_calls: bool) -> Stop {
    match reason {
        "max_tokens" => Stop::Length,
        "pause_turn" => Stop::Paused,
        "refusal" => Stop::Filtered,
        "model_context_window_exceeded" => Stop::TooLong,
        _ if has_calls => Stop::Calls,
        "end_turn" | "stop_sequence" | "tool_use" => Stop::End,
        other => Stop::Other(other.to_owned()),
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |place: &str| usage.pointer(place).and_then(Value::as_u64).unwrap_or(0);
    let read = count("/cache_read_input_tokens");
    let written = count("/cache_creation_input_tokens");
    Usage {
        input_tokens: count("/input_tokens") + read + written,
        output_tokens: count("/output_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: count("/output_tokens_details/thinking_tokens"),
    }
}
