//! A recording in which a model calls tools and is told what they answered: what a run needs to do the same.

use super::recall;
use super::recording::{Exchange, Recording};
use providers::{Api, Choice, Request, Said, Tool};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

pub(super) struct ToolLoop<'a> {
    pub(super) name: String,
    pub(super) api: Api,
    pub(super) exchanges: Vec<&'a Exchange>,
    /// What the first request asks.
    pub(super) first: Request,
    pub(super) input: String,
    /// All that the recording offers, in whichever request.
    offered: Vec<Tool>,
    /// What calls were answered, by their ids.
    pub(super) results: HashMap<String, Answered>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answered {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl<'a> ToolLoop<'a> {
    /// None where there is no loop: no answer calls a tool, or no request tells what it answered.
    pub(super) fn of(recording: &'a Recording) -> Result<Option<Self>, String> {
        let exchanges = recording.exchanges.iter();
        let exchanges: Vec<&Exchange> = exchanges.filter(|it| it.api().is_some()).collect();
        let mut results = HashMap::new();
        for (at, exchange) in exchanges.iter().enumerate() {
            let before: String = exchanges[..at]
                .iter()
                .map(|it| it.response.as_str())
                .collect();
            let told = told_results(exchange.api().unwrap(), &exchange.request);
            // Of calls that were made here, and not in a conversation before this one.
            results.extend(told.into_iter().filter(|(id, _)| before.contains(id)));
        }
        if results.is_empty() {
            return Ok(None);
        }
        let api = exchanges[0].api().unwrap();
        if exchanges
            .iter()
            .any(|it| it.api() != Some(api) || it.status != 200)
        {
            return Err("several wire formats, or an answer that is none".to_owned());
        }
        let first = recall::request(api, &exchanges[0].request, &[])?.request;
        let [Said::User(input)] = &first.said[..] else {
            return Err("it begins in the middle of a conversation".to_owned());
        };
        let mut offered: Vec<Tool> = Vec::new();
        for exchange in &exchanges {
            let tools = json!({"tools": exchange.request["tools"]});
            for tool in recall::request(api, &tools, &[])?.request.tools {
                if !offered.iter().any(|it| it.name == tool.name) {
                    offered.push(tool);
                }
            }
        }
        Ok(Some(ToolLoop {
            offered,
            name: recording.name.clone(),
            input: input.clone(),
            api,
            exchanges,
            first,
            results,
        }))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.offered.iter().map(|tool| tool.name.as_str())
    }

    /// The tools, each of which asks the stage.
    pub(super) fn tools(&self, url: &str) -> Vec<Value> {
        let tools = self.offered.iter();
        let tool = |tool: &Tool| {
            json!({
                "name": tool.name, "description": tool.description, "input_schema": tool.input_schema, "kind": "http",
                "config": {"base_url": url, "method": "POST", "path": format!("/tool/{}", tool.name), "response": "text"},
                // What they answer is no reason to ask anybody.
                "annotations": {"readOnlyHint": true}, "parallel_capable": true,
            })
        };
        tools.map(tool).collect()
    }

    /// The agent that asks as the recording does.
    pub(super) fn agent(&self, url: &str) -> Value {
        let first = &self.first;
        let (provider, api) = match self.api {
            Api::Messages => ("anthropic", None),
            Api::Chat => ("openai", None),
            Api::Responses => ("openai", Some("responses")),
            Api::Zhipu => ("zhipuai", None),
        };
        let mut extra = first.extra.clone();
        if first.tool_choice != Choice::Auto {
            let choice = self.exchanges[0].request["tool_choice"].clone();
            extra.insert("tool_choice".to_owned(), choice);
        }
        let stops = (!first.stop_sequences.is_empty()).then_some(&first.stop_sequences);
        let config = json!({
            "temperature": first.temperature, "top_p": first.top_p, "max_tokens": first.max_tokens, "stop_sequences": stops,
            "parallel_tool_calls": first.parallel, "cache": first.cache, "stream": first.stream, "extra": extra, "api": api,
            "output_schema": first.output_schema,
        });
        let mut config = config.as_object().cloned().unwrap_or_default();
        config.retain(|_, value| !value.is_null());
        let tools: Vec<&str> = self.names().collect();
        json!({
            "name": "recorded", "model_provider": provider, "model_name": first.model, "base_url": url,
            "system_prompt": first.system, "tools": tools, "config": config,
        })
    }

    /// The calls that were made, as later requests tell them.
    pub(super) fn calls(&self) -> Vec<(String, String, Value)> {
        let mut all: Vec<(String, String, Value)> = Vec::new();
        for call in self
            .exchanges
            .iter()
            .flat_map(|it| called(&self.said(&it.request)))
        {
            if !all.iter().any(|it| it.0 == call.0) {
                all.push(call);
            }
        }
        all
    }

    fn said(&self, body: &Value) -> Vec<Value> {
        let list = match self.api {
            Api::Responses => &body["input"],
            _ => &body["messages"],
        };
        list.as_array().cloned().unwrap_or_default()
    }

    /// Members, other than what was said and offered, that are not what they were in the first request.
    pub(super) fn changed_fields(&self, at: usize) -> Vec<String> {
        let empty = Map::new();
        let fields = |at: usize| {
            self.exchanges[at]
                .request
                .as_object()
                .unwrap_or(&empty)
                .clone()
        };
        let (first, now) = (fields(0), fields(at));
        let names = first
            .keys()
            .chain(now.keys().filter(|it| !first.contains_key(*it)));
        names
            .filter(|name| !["messages", "input", "tools"].contains(&name.as_str()))
            .filter(|name| first.get(*name) != now.get(*name))
            .cloned()
            .collect()
    }

    /// Whether the recording goes on otherwise than with the last answer and what its calls led to.
    pub(super) fn is_told_otherwise(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        if self.is_told_otherwise(before) {
            return true;
        }
        let plain = |body: &Value| -> Vec<Value> {
            let said = self.said(body);
            said.into_iter().map(without_cache).collect()
        };
        let said = plain(&self.exchanges[at].request);
        let Some(new) = said.strip_prefix(&plain(&self.exchanges[before].request)[..]) else {
            return true;
        };
        let answer = &self.exchanges[before].response;
        let is_persons = |it: &Value| {
            let blocks = it["content"].as_array();
            let is_result =
                blocks.is_some_and(|all| all.iter().all(|b| b["type"] == "tool_result"));
            it["role"] == "user" && !is_result
        };
        new.iter().any(is_persons) || !called(new).iter().all(|call| answer.contains(&call.1))
    }

    /// Takes out of both what a run adds and what an order says; tells whether the recording offers fewer tools here than
    /// elsewhere, which a run does not.
    pub(super) fn align(&self, recorded: &mut Value, ours: &mut Value) -> bool {
        let name = |tool: &Value| {
            let name = tool.get("name").or_else(|| tool.pointer("/function/name"));
            name.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let names = |body: &Value| -> Vec<String> {
            let tools = body["tools"].as_array().into_iter().flatten();
            tools.map(name).collect()
        };
        let there = names(recorded);
        for side in [recorded, ours] {
            if let Some(tools) = side.get_mut("tools").and_then(Value::as_array_mut) {
                let is_left_out = |name: &String| {
                    self.names().any(|known| known == name) && !there.contains(name)
                };
                let is_added = |name: &String| name == "request_human_input";
                tools.retain(|tool| !is_left_out(&name(tool)) && !is_added(&name(tool)));
                tools.sort_by_key(name);
                if tools.is_empty() {
                    side.as_object_mut().unwrap().shift_remove("tools");
                }
            }
        }
        there.len() < self.offered.len()
    }

    /// A result that we tell otherwise than the recording does.
    pub(super) fn wrong_result(&self, recorded: &Value, ours: &Value) -> Option<String> {
        let recorded: HashMap<String, Answered> =
            told_results(self.api, recorded).into_iter().collect();
        told_results(self.api, ours)
            .into_iter()
            .find_map(|(id, ours)| {
                let there = recorded.get(&id);
                let is_same = there.is_some_and(|it| *it == ours || (it.is_error && ours.is_error));
                (!is_same).then(|| format!("call {id} was answered {there:?}, by us {ours:?}"))
            })
    }
}

/// The calls in what was said: their ids, tools and arguments.
fn called(said: &[Value]) -> Vec<(String, String, Value)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parsed = |value: &Value| serde_json::from_str(&text(value)).unwrap_or_default();
    let calls = said.iter().flat_map(|item| {
        let blocks = item["content"].as_array().into_iter().flatten();
        let blocks = blocks.filter(|it| it["type"] == "tool_use");
        let blocks = blocks.map(|it| (text(&it["id"]), text(&it["name"]), it["input"].clone()));
        let calls = item["tool_calls"].as_array().into_iter().flatten();
        let calls = calls.map(|it| {
            let function = &it["function"];
            (
                text(&it["id"]),
                text(&function["name"]),
                parsed(&function["arguments"]),
            )
        });
        let own = (item["type"] == "function_call").then_some(item);
        let own = own.map(|it| {
            (
                text(&it["call_id"]),
                text(&it["name"]),
                parsed(&it["arguments"]),
            )
        });
        blocks.chain(calls).chain(own).collect::<Vec<_>>()
    });
    calls.collect()
}

/// Marks of what is to be cached move with every request.
fn without_cache(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.shift_remove("cache_control");
            members
                .values_mut()
                .for_each(|it| *it = without_cache(it.take()));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|it| *it = without_cache(it.take())),
        _ => {}
    }
    value
}

/// The results that a request tells, with the ids of their calls.
fn told_results(api: Api, body: &Value) -> Vec<(String, Answered)> {
    let text = |content: &Value| match content {
        Value::Array(parts) => parts.iter().filter_map(|it| it["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let answered = |id: &Value, content: &Value, is_error: bool| {
        let id = id.as_str().unwrap_or_default().to_owned();
        let text = text(content);
        (id, Answered { text, is_error })
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    match api {
        Api::Messages => {
            let blocks = list(&body["messages"])
                .into_iter()
                .flat_map(|it| list(&it["content"]));
            let results = blocks.filter(|it| it["type"] == "tool_result");
            results
                .map(|it| answered(&it["tool_use_id"], &it["content"], it["is_error"] == true))
                .collect()
        }
        Api::Chat | Api::Zhipu => {
            let results = list(&body["messages"])
                .into_iter()
                .filter(|it| it["role"] == "tool");
            results
                .map(|it| answered(&it["tool_call_id"], &it["content"], false))
                .collect()
        }
        Api::Responses => {
            let items = list(&body["input"]).into_iter();
            let results = items.filter(|it| it["type"] == "function_call_output");
            results
                .map(|it| answered(&it["call_id"], &it["output"], false))
                .collect()
        }
    }
}
