//! A body without what is stated to make no difference.

use super::super::recall::messages::joined;
use providers::Api;
use serde_json::{Map, Value, json};

/// A body as it is compared.
pub(super) fn told(api: Api, body: Value) -> Value {
    let Value::Object(mut body) = body else {
        return body;
    };
    if body.get("stream") == Some(&json!(false)) {
        body.shift_remove("stream");
    }
    let no_tools = body
        .get("tools")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty);
    let choice = body.get("tool_choice");
    if no_tools || choice == Some(&json!("auto")) || choice == Some(&json!({"type": "auto"})) {
        body.shift_remove("tool_choice");
    }
    if no_tools || body.get("parallel_tool_calls") == Some(&json!(true)) {
        body.shift_remove("parallel_tool_calls");
    }
    if no_tools {
        body.shift_remove("tools");
    }
    match api {
        Api::Messages => messages(&mut body),
        Api::Chat | Api::Zhipu => chat(&mut body),
        Api::Responses => responses(&mut body),
    }
    let mut body = Value::Object(body);
    quiet(&mut body);
    body
}

fn messages(body: &mut Map<String, Value>) {
    let system = body
        .shift_remove("system")
        .map(|system| text(&system, "\n\n"));
    if let Some(system) = system.filter(|text| !text.is_empty()) {
        body.insert("system".to_owned(), json!(system));
    }
    let said = body.shift_remove("messages").unwrap_or_default();
    let said = joined(said.as_array().cloned().unwrap_or_default());
    let mut said: Vec<Value> = said
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect();
    for message in &mut said {
        let assistant = message["role"] == "assistant";
        for block in message["content"].as_array_mut().unwrap() {
            let block = block.as_object_mut().unwrap();
            block.shift_remove("cache_control");
            if assistant {
                block.shift_remove("caller");
            }
            if block.get("type") == Some(&json!("tool_result")) {
                let content = block.shift_remove("content").unwrap_or_default();
                block.insert("content".to_owned(), json!(text(&content, "")));
                if block.get("is_error") == Some(&json!(false)) {
                    block.shift_remove("is_error");
                }
            }
        }
    }
    body.insert("messages".to_owned(), json!(said));
    body.shift_remove("cache_control");
    for tool in items(body, "tools") {
        tool.shift_remove("cache_control");
        unstrict(tool);
        if tool.get("type") == Some(&json!("custom")) {
            tool.shift_remove("type");
        }
    }
    if let Some(schema) = body
        .get_mut("output_config")
        .and_then(|it| it.pointer_mut("/format/schema"))
    {
        open(schema);
    }
}

fn chat(body: &mut Map<String, Value>) {
    if let Some(max) = body.shift_remove("max_completion_tokens") {
        body.insert("max_tokens".to_owned(), max);
    }
    body.shift_remove("stream_options");
    body.shift_remove("tool_stream");
    if let Some(Value::String(stop)) = body.get("stop") {
        let stop = json!([stop]);
        body.insert("stop".to_owned(), stop);
    }
    for tool in items(body, "tools") {
        if let Some(function) = tool.get_mut("function").and_then(Value::as_object_mut) {
            unstrict(function);
            with_properties(function);
        }
    }
    let mut system = String::new();
    let mut said = Vec::new();
    for mut message in body
        .shift_remove("messages")
        .unwrap_or_default()
        .as_array()
        .cloned()
        .unwrap_or_default()
    {
        let content = text(&message["content"], "");
        if said.is_empty() && (message["role"] == "system" || message["role"] == "developer") {
            system += if system.is_empty() { "" } else { "\n\n" };
            system += &content;
            continue;
        }
        message["content"] = json!(content);
        said.push(message);
    }
    body.insert(
        "messages".to_owned(),
        json!({"system": system, "said": said}),
    );
    if let Some(format) = body
        .get_mut("response_format")
        .and_then(|it| it.get_mut("json_schema"))
    {
        answer_format(format);
    }
}

fn responses(body: &mut Map<String, Value>) {
    body.shift_remove("store");
    body.shift_remove("include");
    for tool in items(body, "tools") {
        unstrict(tool);
        with_properties(tool);
    }
    if let Some(Value::String(text)) = body.get("input") {
        let input = json!([{"role": "user", "content": text}]);
        body.insert("input".to_owned(), input);
    }
    if !body.contains_key("instructions")
        && let Some(Value::Array(input)) = body.get_mut("input")
        && input
            .first()
            .is_some_and(|it| it["role"] == "system" || it["role"] == "developer")
    {
        let system = text(&input.remove(0)["content"], "");
        body.insert("instructions".to_owned(), json!(system));
    }
    if let Some(Value::Array(input)) = body.get_mut("input") {
        input.retain(|item| item["type"] != "reasoning" || item["encrypted_content"].is_string());
    }
    for item in items(body, "input") {
        item.shift_remove("status");
        if let Some(output) = item.get("output").map(|it| text(it, "")) {
            item.insert("output".to_owned(), json!(output));
        }
        item.entry("type").or_insert_with(|| json!("message"));
        if item.get("type") == Some(&json!("message")) {
            item.shift_remove("id");
            item.shift_remove("phase");
            let content = item
                .get("content")
                .map(|it| text(it, ""))
                .unwrap_or_default();
            item.insert("content".to_owned(), json!(content));
        }
    }
    if let Some(format) = body.get_mut("text").and_then(|it| it.get_mut("format")) {
        answer_format(format);
    }
}

fn items<'a>(
    body: &'a mut Map<String, Value>,
    field: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = body.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn unstrict(tool: &mut Map<String, Value>) {
    if tool
        .get("strict")
        .is_some_and(|strict| *strict != json!(true))
    {
        tool.shift_remove("strict");
    }
    if tool.get("description") == Some(&json!("")) {
        tool.shift_remove("description");
    }
}

fn with_properties(function: &mut Map<String, Value>) {
    if let Some(Value::Object(parameters)) = function.get_mut("parameters") {
        parameters.entry("type").or_insert_with(|| json!("object"));
        parameters.entry("properties").or_insert_with(|| json!({}));
    }
}

fn answer_format(format: &mut Value) {
    if let Some(format) = format.as_object_mut() {
        format.shift_remove("name");
        format.shift_remove("strict");
        format.shift_remove("description");
    }
    if let Some(schema) = format.get_mut("schema") {
        open(schema);
    }
}

const CLOSING: &[&str] = &[
    "additionalProperties",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "uniqueItems",
];

/// Without what closes a schema, and without what nobody enforces.
fn open(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for keyword in CLOSING {
                object.shift_remove(*keyword);
            }
            if let Some(parts) = object.shift_remove("oneOf") {
                object.insert("anyOf".to_owned(), parts);
            }
            object.values_mut().for_each(open);
        }
        Value::Array(list) => list.iter_mut().for_each(open),
        _ => {}
    }
}

/// One text, whether it stands alone or in parts.
fn text(content: &Value, between: &str) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            texts.join(between)
        }
        _ => String::new(),
    }
}

/// Takes out what says nothing. Schemas and arguments are left as they are.
fn quiet(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            let kind = object
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            if matches!(kind.as_str(), "reasoning") {
                object.retain(|name, value| name != "content" || *value != json!([]));
            }
            let inner = object.iter_mut().filter(|(name, _)| {
                !(matches!(
                    name.as_str(),
                    "input_schema" | "parameters" | "schema" | "arguments"
                ) || kind == "tool_use" && *name == "input")
            });
            inner.for_each(|(_, value)| quiet(value));
        }
        Value::Array(list) => list.iter_mut().for_each(quiet),
        _ => {}
    }
}
