//! OpenAI's Responses: how a request is written and an answer is read. Nothing is kept over there: what was said goes with
//! every request, thoughts in their sealed form.

use crate::api::Api;
use crate::draft::{Draft, result_text};
use crate::error::{Class, Error};
use crate::names::Names;
use crate::refusal;
use crate::request::Said;
use crate::schema;
use crate::turn::{Arguments, Call, Echo, Ids, Stop, Turn, Usage};
use serde_json::{Map, Value, json};

pub(crate) fn write(mut draft: Draft<'_>) -> (Value, Vec<String>) {
    let request = draft.request;
    let format = draft.answer_schema(false);
    if let Some(system) = draft.system(format.is_none()) {
        draft.put("instructions", json!(system));
    }
    let items = request
        .said
        .iter()
        .flat_map(|said| items(said, draft.names));
    let items: Vec<Value> = items.collect();
    draft.put("input", json!(items));
    draft.put("store", json!(false));
    if draft.profile.reasons {
        draft.put("include", json!(["reasoning.encrypted_content"]));
    }
    draft.put_response_tools();
    draft.put_sampling();
    if let Some(max) = request.max_tokens {
        draft.put("max_output_tokens", json!(max));
    }
    if !request.stop_sequences.is_empty() {
        draft.notes.push(
            "stop_sequences were not sent: OpenAI's Responses have none; its Chat Completions do"
                .to_owned(),
        );
    }
    if let Some(answer) = format {
        let format = json!({"type": "json_schema", "name": "answer", "schema": answer.schema, "strict": answer.is_strict});
        draft.put("text", json!({"format": format}));
    }
    if request.stream {
        draft.put("stream", json!(true));
    }
    draft.finish()
}

impl Draft<'_> {
    fn put_response_tools(&mut self) {
        if self.request.tools.is_empty() {
            return;
        }
        let write = |tool: &crate::request::Tool| {
            let mut function = Map::new();
            function.insert("type".to_owned(), json!("function"));
            function.insert("name".to_owned(), json!(self.names.sent(&tool.name)));
            if !tool.description.is_empty() {
                function.insert("description".to_owned(), json!(tool.description));
            }
            let parameters = schema::input_with_properties(&tool.input_schema);
            function.insert("parameters".to_owned(), parameters);
            // Where it is not said, optional arguments are made required ones.
            function.insert("strict".to_owned(), json!(false));
            Value::Object(function)
        };
        let tools: Vec<Value> = self.request.tools.iter().map(write).collect();
        self.put("tools", json!(tools));
        let (choice, parallel) = (self.choice(), self.parallel());
        self.put_choice(choice, parallel);
    }
}

fn items(said: &Said, names: &Names) -> Vec<Value> {
    match said {
        Said::User(text) => {
            let content = json!([{"type": "input_text", "text": text}]);
            vec![json!({"type": "message", "role": "user", "content": content})]
        }
        Said::Results(results) => {
            let output = |result| json!({"type": "function_call_output", "call_id": result_id(result), "output": result_text(result)});
            results.iter().map(output).collect()
        }
        Said::Model(turn) => match &turn.echo {
            Some(Echo {
                api: Api::Responses,
                raw: Value::Array(items),
            }) => items.iter().filter_map(echoed).collect(),
            _ => rebuilt(turn, names),
        },
    }
}

fn result_id(result: &crate::request::ToolResult) -> &str {
    &result.call_id
}

/// What the model wrote, without what only an answer may hold.
fn echoed(item: &Value) -> Option<Value> {
    let mut item = item.clone();
    if item["type"] == "reasoning" {
        // Unsealed it is only a reference to something that was not kept.
        item["encrypted_content"].as_str()?;
        let object = item.as_object_mut()?;
        object.shift_remove("status");
        object.retain(|name, value| !(value.is_null() || name == "content" && *value == json!([])));
    }
    Some(item)
}

fn rebuilt(turn: &Turn, names: &Names) -> Vec<Value> {
    let said = (!turn.text.is_empty()).then(|| {
        let content = json!([{"type": "output_text", "text": turn.text}]);
        json!({"type": "message", "role": "assistant", "content": content})
    });
    let calls = turn.calls.iter().map(|call| {
        let arguments = call.arguments.to_object().to_string();
        json!({"type": "function_call", "call_id": call.id, "name": names.sent(&call.name), "arguments": arguments})
    });
    said.into_iter().chain(calls).collect()
}

/// A whole response, from a body or from the last event of a stream.
pub(crate) fn read(mut response: Value, names: &Names) -> Result<Turn, Error> {
    if response["status"] == "failed" {
        return Err(refusal::inside(&response));
    }
    let Some(Value::Array(mut items)) = response.get_mut("output").map(Value::take) else {
        return Err(Error::new(
            Class::Protocol,
            "The provider's answer has no output; is that address one that speaks OpenAI's Responses?",
        ));
    };
    let mut turn = Turn::default();
    let mut ids = Ids::default();
    let mut is_refused = false;
    for item in &mut items {
        match item["type"].as_str() {
            Some("message") => is_refused |= read_message(item, &mut turn.text),
            Some("function_call") => turn.calls.push(call(item, &mut ids, names)),
            _ => {}
        }
    }
    turn.stop = match is_refused {
        true => Stop::Filtered,
        false => stop(&response, !turn.calls.is_empty())?,
    };
    turn.usage = usage(&response["usage"]);
    turn.model = response["model"].as_str().map(str::to_owned);
    turn.request_id = response["id"].as_str().map(str::to_owned);
    turn.echo = Some(Echo {
        api: Api::Responses,
        raw: Value::Array(items),
    });
    Ok(turn)
}

/// Whether the model would not say it, in which case it says why.
fn read_message(item: &Value, text: &mut String) -> bool {
    let mut is_refused = false;
    for part in item["content"].as_array().into_iter().flatten() {
        *text += part["text"].as_str().unwrap_or_default();
        if let Some(refusal) = part["refusal"].as_str() {
            *text += refusal;
            is_refused = true;
        }
    }
    is_refused
}

fn call(item: &mut Value, ids: &mut Ids, names: &Names) -> Call {
    let field = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let arguments = Arguments::of(&field(item, "arguments"));
    if matches!(arguments, Arguments::Bad(_)) {
        item["arguments"] = json!(arguments.to_object().to_string());
    }
    let id = ids.own(&field(item, "call_id"));
    item["call_id"] = json!(id);
    Call {
        id,
        name: names.meant(&field(item, "name")).to_owned(),
        arguments,
    }
}

fn stop(response: &Value, has_calls: bool) -> Result<Stop, Error> {
    let reason = response.pointer("/incomplete_details/reason");
    Ok(
        match (response["status"].as_str(), reason.and_then(Value::as_str)) {
            (_, Some("max_output_tokens")) => Stop::Length,
            (_, Some("content_filter")) => Stop::Filtered,
            (Some("completed") | None, None) if has_calls => Stop::Calls,
            (Some("completed") | None, None) => Stop::End,
            (_, Some(other)) => Stop::Other(other.to_owned()),
            (Some(status), None) => {
                let why = format!("The provider ended its answer as '{status}'");
                return Err(Error::new(Class::Overloaded, why));
            }
        },
    )
}

fn usage(usage: &Value) -> Usage {
    let count = |place: &str| usage.pointer(place).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input_tokens: count("/input_tokens"),
        output_tokens: count("/output_tokens"),
        cache_read_tokens: count("/input_tokens_details/cached_tokens"),
        cache_write_tokens: count("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: count("/output_tokens_details/reasoning_tokens"),
    }
}
