//! OpenAI's Chat Completions, and what ZhipuAI makes of them: how a request is written and an answer is read.

use crate::api::Api;
use crate::draft::{Draft, result_text};
use crate::error::{Class, Error};
use crate::names::Names;
use crate::request::{Choice, Said};
use crate::schema;
use crate::turn::{Arguments, Call, Echo, Ids, Stop, Turn, Usage};
use catalog::names::is_plain;
use serde_json::{Map, Value, json};

/// Fields of an answered message that are not taken in a question, or not by all who speak this format.
const ANSWERED_ONLY: [&str; 4] = ["annotations", "audio", "function_call", "refusal"];

pub(crate) fn write(mut draft: Draft<'_>, api: Api) -> (Value, Vec<String>) {
    let request = draft.request;
    let format = draft.answer_schema(false);
    let mut messages = Vec::new();
    if let Some(system) = draft.system(format.is_none()) {
        messages.push(json!({"role": "system", "content": system}));
    }
    for said in &request.said {
        put_said(&mut messages, said, draft.names, api);
    }
    draft.put("messages", json!(messages));
    draft.put_functions(api);
    draft.put_sampling();
    if let Some(max) = request.max_tokens {
        let field = match draft.profile.counts_completion {
            true => "max_completion_tokens",
            false => "max_tokens",
        };
        draft.put(field, json!(max));
    }
    match request.stop_sequences.is_empty() {
        true => {}
        false if draft.profile.takes_stop => draft.put("stop", json!(request.stop_sequences)),
        false => draft.note_refused("stop_sequences"),
    }
    match format {
        Some(answer) => draft.put("response_format", json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": answer.schema, "strict": answer.is_strict}})),
        None if request.output_schema.is_some() => {
            draft.put("response_format", json!({"type": "json_object"}));
        }
        None => {}
    }
    if request.stream {
        draft.put("stream", json!(true));
        match api {
            // Counts come by themselves; arguments would come in one piece.
            Api::Zhipu if draft.body.contains_key("tools") => draft.put("tool_stream", json!(true)),
            Api::Zhipu => {}
            _ => draft.put("stream_options", json!({"include_usage": true})),
        }
    }
    draft.finish()
}

impl Draft<'_> {
    fn put_functions(&mut self, api: Api) {
        let choice = self.choice();
        let parallel = self.parallel();
        // ZhipuAI knows no other word than "auto": who must not call is not told of any tool.
        let is_told = !(api == Api::Zhipu && choice == Choice::None);
        if self.request.tools.is_empty() || !is_told {
            return;
        }
        let write = |tool: &crate::request::Tool| {
            let mut function = Map::new();
            function.insert("name".to_owned(), json!(self.names.sent(&tool.name)));
            if !tool.description.is_empty() {
                function.insert("description".to_owned(), json!(tool.description));
            }
            let parameters = schema::input_with_properties(&tool.input_schema);
            function.insert("parameters".to_owned(), parameters);
            json!({"type": "function", "function": function})
        };
        let tools: Vec<Value> = self.request.tools.iter().map(write).collect();
        self.put("tools", json!(tools));
        self.put_choice(choice, parallel);
    }

    /// As both of OpenAI's formats say it.
    pub(crate) fn put_choice(&mut self, choice: Choice, parallel: Option<bool>) {
        match choice {
            Choice::Auto => {}
            Choice::None => self.put("tool_choice", json!("none")),
            Choice::Required => self.put("tool_choice", json!("required")),
        }
        if let Some(parallel) = parallel {
            self.put("parallel_tool_calls", json!(parallel));
        }
    }
}

fn put_said(messages: &mut Vec<Value>, said: &Said, names: &Names, api: Api) {
    match said {
        Said::User(text) => messages.push(json!({"role": "user", "content": text})),
        Said::Results(results) => messages.extend(results.iter().map(|result| {
            json!({"role": "tool", "tool_call_id": result.call_id, "content": result_text(result)})
        })),
        Said::Model(turn) => match &turn.echo {
            Some(Echo {
                api: spoken,
                raw: Value::Object(message),
            }) if *spoken == api => messages.push(echoed(message)),
            _ => messages.push(rebuilt(turn, names)),
        },
    }
}

/// What the model wrote, without what only an answer may hold.
fn echoed(message: &Map<String, Value>) -> Value {
    let is_said = |(name, value): &(&String, &Value)| {
        !value.is_null() && !ANSWERED_ONLY.contains(&name.as_str()) && *value != &json!([])
    };
    let fields = message.iter().filter(is_said);
    let mut message: Map<String, Value> = fields
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !message.contains_key("content") && !message.contains_key("tool_calls") {
        message.insert("content".to_owned(), json!(""));
    }
    // Some servers leave it out of what they stream; none takes a message without it.
    message.entry("role").or_insert_with(|| json!("assistant"));
    Value::Object(message)
}

fn rebuilt(turn: &Turn, names: &Names) -> Value {
    let mut message = json!({"role": "assistant"});
    if !turn.text.is_empty() || turn.calls.is_empty() {
        message["content"] = json!(turn.text);
    }
    let calls: Vec<Value> = turn.calls.iter().map(|call| {
        let function = json!({"name": names.sent(&call.name), "arguments": call.arguments.to_object().to_string()});
        json!({"id": call.id, "type": "function", "function": function})
    }).collect();
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

/// A whole completion, from a body or put together from a stream.
pub(crate) fn read(mut completion: Value, names: &Names, api: Api) -> Result<Turn, Error> {
    let choice = completion.pointer_mut("/choices/0").map(Value::take);
    let mut choice = choice.unwrap_or_default();
    let Some(Value::Object(mut message)) = choice.get_mut("message").map(Value::take) else {
        return Err(Error::new(
            Class::Protocol,
            "The provider's answer has no message; is that address one that speaks OpenAI's Chat Completions?",
        ));
    };
    let refused = message
        .get("refusal")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut turn = Turn {
        text: text(message.get("content")),
        usage: usage(&completion["usage"]),
        model: completion["model"].as_str().map(str::to_owned),
        request_id: ["request_id", "id"]
            .iter()
            .find_map(|field| completion[*field].as_str())
            .map(str::to_owned),
        ..Turn::default()
    };
    let is_refused = !refused.is_empty();
    if is_refused && turn.text.is_empty() {
        refused.clone_into(&mut turn.text);
    }
    if let Some(Value::Array(calls)) = message.get_mut("tool_calls") {
        let mut ids = Ids::default();
        turn.calls = calls
            .iter_mut()
            .map(|written| call(written, &mut ids, names))
            .collect();
    }
    let reason = choice["finish_reason"].as_str().unwrap_or_default();
    turn.stop = match is_refused {
        true => Stop::Filtered,
        false => stop(reason, !turn.calls.is_empty())?,
    };
    turn.echo = Some(Echo {
        api,
        raw: Value::Object(message),
    });
    Ok(turn)
}

/// Some answer with a list of parts where there could be a text.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

/// One call. What could not be told to the model again is mended in place: no id or another's, no name, arguments that are
/// no JSON.
fn call(written: &mut Value, ids: &mut Ids, names: &Names) -> Call {
    if !written.get("function").is_some_and(Value::is_object) {
        *written = json!({"type": "function", "function": {}});
    }
    let field = |place: &str| {
        let found = written.pointer(place).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let (id, name) = (ids.own(&field("/id")), field("/function/name"));
    let arguments = match written.pointer("/function/arguments") {
        Some(value @ Value::Object(_)) => Arguments::Json(value.clone()),
        _ => Arguments::of(&field("/function/arguments")),
    };
    written["id"] = json!(id);
    if !is_plain(&name) {
        written["function"]["name"] = json!(names.sent(""));
    }
    let as_text = written
        .pointer("/function/arguments")
        .and_then(Value::as_str);
    let is_told =
        as_text.is_some_and(|text| serde_json::from_str::<Map<String, Value>>(text).is_ok());
    if !is_told {
        written["function"]["arguments"] = json!(arguments.to_object().to_string());
    }
    Call {
        id,
        name: names.meant(&name).to_owned(),
        arguments,
    }
}

fn stop(reason: &str, has_calls: bool) -> Result<Stop, Error> {
    Ok(match reason {
        "length" => Stop::Length,
        "content_filter" | "sensitive" => Stop::Filtered,
        "model_context_window_exceeded" => Stop::TooLong,
        // ZhipuAI's word for its own trouble: what came before is half an answer.
        "network_error" => {
            let why = "The provider broke its answer off (network_error)";
            return Err(Error::new(Class::Overloaded, why));
        }
        _ if has_calls => Stop::Calls,
        "stop" | "tool_calls" | "function_call" => Stop::End,
        other => Stop::Other(other.to_owned()),
    })
}

fn usage(usage: &Value) -> Usage {
    let count = |place: &str| usage.pointer(place).and_then(Value::as_u64);
    let read = count("/prompt_tokens_details/cached_tokens");
    Usage {
        input_tokens: count("/prompt_tokens").unwrap_or(0),
        output_tokens: count("/completion_tokens").unwrap_or(0),
        cache_read_tokens: read.or(count("/prompt_cache_hit_tokens")).unwrap_or(0),
        cache_write_tokens: count("/prompt_tokens_details/cache_write_tokens").unwrap_or(0),
        reasoning_tokens: count("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
    }
}
