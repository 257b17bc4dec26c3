//! Our request beside a recorded one. They are the same if they differ in nothing but what is stated here.

#[path = "compare/told.rs"]
mod told;

use providers::Api;
use providers::wire::Written;
use serde_json::{Value, json};
use told::told;

pub(super) const STATED: &str = "\
requests are compared up to:
  all        what the model is known to refuse, which we leave out with a note; parallel_tool_calls: true; texts that are blank
  all        the root of a tool's schema, which we make an object; thoughts that the recording leaves out of an earlier turn
  all        order of members; numbers by value; what says nothing (null, stream: false, tool_choice auto, strict: false,
             is_error: false, empty lists of an answered message); a text where a list of one text could be; system texts joined
  all        name and closing of an answer's schema (additionalProperties: false, strict, keywords that are not enforced)
  Messages   neighbours of one role as one message; where cache_control stands; caller of a tool_use, which we send back
  Chat       max_tokens or max_completion_tokens, by our table; stream_options; developer or system; \"properties\": {} of a tool
  Zhipu      tool_stream, stream_options
  Responses  store and include (ours: false, sealed thoughts); status of an item; id, annotations and logprobs of a
             message that we send back as it came; id of a call that we put together; thoughts without their sealed form";

/// The first place where they differ otherwise, and how.
pub(super) fn difference(api: Api, recorded: &Value, ours: &Written) -> Option<String> {
    let mut recorded = told(api, recorded.clone());
    let mut body = told(api, ours.body.clone());
    for note in &ours.notes {
        for (start, fields) in REFUSED {
            if note.starts_with(start)
                && let Some(recorded) = recorded.as_object_mut()
            {
                fields
                    .iter()
                    .for_each(|field| drop(recorded.shift_remove(*field)));
            }
        }
    }
    align_tools(&mut recorded, &mut body);
    match api {
        Api::Messages => align_thinking(&mut recorded["messages"], &mut body["messages"]),
        Api::Chat | Api::Zhipu => {
            let (recorded, ours) = (
                &mut recorded["messages"]["said"],
                &mut body["messages"]["said"],
            );
            align(recorded, ours, &[], &["reasoning_content", "reasoning"]);
        }
        Api::Responses => {
            let is_thought = |item: &Value| item["type"] == "reasoning";
            let list = |body: &Value| body["input"].as_array().cloned().unwrap_or_default();
            if !list(&recorded).iter().any(is_thought) {
                let said = list(&body).into_iter().filter(|item| !is_thought(item));
                body["input"] = said.collect();
            }
            align(&mut recorded["input"], &mut body["input"], &["id"], &[]);
        }
    }
    first_difference(&recorded, &body, "$")
}

/// What a note begins with, and the fields that it is about.
const REFUSED: &[(&str, &[&str])] = &[
    ("temperature was", &["temperature"]),
    ("top_p was", &["top_p"]),
    ("stop_sequences w", &["stop", "stop_sequences"]),
    ("that a tool must be called was", &["tool_choice"]),
    (
        "that tools are called one at a time was",
        &["parallel_tool_calls"],
    ),
];

/// Takes these members out of one side where the other has none: `left` of the recorded, `right` of ours.
fn align(recorded: &mut Value, ours: &mut Value, left: &[&str], right: &[&str]) {
    let pairs = recorded.as_array_mut().into_iter().flatten();
    let pairs = pairs.zip(ours.as_array_mut().into_iter().flatten());
    for (recorded, ours) in pairs {
        if let (Some(recorded), Some(ours)) = (recorded.as_object_mut(), ours.as_object_mut()) {
            recorded.retain(|name, _| !left.contains(&name.as_str()) || ours.contains_key(name));
            ours.retain(|name, _| !right.contains(&name.as_str()) || recorded.contains_key(name));
        }
    }
}

/// Thinking is sent back always; whoever recorded this may have left it out.
fn align_thinking(recorded: &mut Value, ours: &mut Value) {
    let is_thought =
        |block: &Value| block["type"] == "thinking" || block["type"] == "redacted_thinking";
    let pairs = recorded.as_array().into_iter().flatten();
    let pairs = pairs.zip(ours.as_array_mut().into_iter().flatten());
    for (recorded, ours) in pairs {
        let (Some(one), Some(two)) = (
            recorded["content"].as_array(),
            ours["content"].as_array_mut(),
        ) else {
            continue;
        };
        if !one.iter().any(is_thought) {
            two.retain(|block| !is_thought(block));
        }
    }
}

/// A schema that is no object at its root is sent as one.
fn align_tools(recorded: &mut Value, ours: &mut Value) {
    let places = ["/input_schema", "/parameters", "/function/parameters"];
    let pairs = recorded
        .get_mut("tools")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    let pairs = pairs.zip(
        ours.get_mut("tools")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten(),
    );
    for (recorded, ours) in pairs {
        for place in places {
            let schema = recorded.pointer(place).cloned().unwrap_or_default();
            let joints = ["$ref", "anyOf", "oneOf", "allOf"];
            let is_object =
                schema["type"] == "object" && joints.iter().all(|it| schema.get(*it).is_none());
            if is_object || ours.pointer(place).is_none_or(|it| it["type"] != "object") {
                continue;
            }
            for side in [&mut *recorded, &mut *ours] {
                if let Some(schema) = side.pointer_mut(place) {
                    *schema = json!("an object");
                }
            }
        }
    }
}

fn first_difference(recorded: &Value, ours: &Value, at: &str) -> Option<String> {
    match (recorded, ours) {
        (Value::Object(one), Value::Object(two)) => {
            let missing = one.keys().find(|name| !two.contains_key(*name));
            let added = two.keys().find(|name| !one.contains_key(*name));
            match (missing, added) {
                (Some(name), _) => Some(format!(
                    "at {at}: we do not send {name} = {}",
                    short(&one[name])
                )),
                (_, Some(name)) => Some(format!(
                    "at {at}: we send {name} = {} as well",
                    short(&two[name])
                )),
                _ => one.iter().find_map(|(name, value)| {
                    first_difference(value, &two[name], &format!("{at}.{name}"))
                }),
            }
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            let mut pairs = one.iter().zip(two).enumerate();
            pairs.find_map(|(index, (one, two))| {
                first_difference(one, two, &format!("{at}[{index}]"))
            })
        }
        (Value::Number(one), Value::Number(two)) if one.as_f64() == two.as_f64() => None,
        (Value::String(one), Value::String(two))
            if at.ends_with("arguments") && same_json(one, two) =>
        {
            None
        }
        (one, two) if one == two => None,
        (one, two) => Some(format!(
            "at {at}: recorded {}, ours {}",
            short(one),
            short(two)
        )),
    }
}

/// Arguments are JSON within JSON.
fn same_json(one: &str, two: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    read(one).is_some() && read(one) == read(two)
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}
