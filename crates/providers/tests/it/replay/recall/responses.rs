//! OpenAI's Responses, turned back.

use super::{NotOurs, Recalling, call, texts, tool};
use providers::Said;
use serde_json::{Value, json};

pub(super) fn recall(recalled: &mut Recalling<'_>) -> Result<(), NotOurs> {
    recalled.request.max_tokens = recalled
        .take("max_output_tokens")
        .and_then(|it| it.as_u64());
    recalled.request.system = recalled.text("instructions");
    for field in ["store", "include"] {
        recalled.take(field);
    }
    for field in ["previous_response_id", "conversation"] {
        if recalled.fields.contains_key(field) {
            return Err("a conversation that is kept by the provider".to_owned());
        }
    }
    if recalled.fields.get("background") == Some(&json!(true)) {
        return Err(super::LATER.to_owned());
    }
    for written in recalled.list("tools") {
        if written["type"] != "function" {
            return Err(format!(
                "a tool of the provider's own ({})",
                written["type"]
            ));
        }
        let tool = tool(&written, "parameters", &["strict"])?;
        recalled.request.tools.push(tool);
    }
    super::chat::choice(recalled)?;
    if let Some(Value::Object(mut text)) = recalled.take("text") {
        match text.shift_remove("format") {
            Some(format) if format["type"] == "json_schema" => {
                recalled.request.output_schema = Some(format["schema"].clone());
            }
            Some(format) => {
                text.insert("format".to_owned(), format);
            }
            None => {}
        }
        if !text.is_empty() {
            recalled
                .fields
                .insert("text".to_owned(), Value::Object(text));
        }
    }
    let items = recalled.list("input");
    let is_model = |item: &Value| {
        let kind = item["type"].as_str().unwrap_or("message");
        item["role"] == "assistant" || !matches!(kind, "message" | "function_call_output")
    };
    // A turn of the model is a row of items.
    for row in items.chunk_by(|one, next| is_model(one) && is_model(next)) {
        match is_model(&row[0]) {
            true => model(recalled, row)?,
            false => say(recalled, &row[0])?,
        }
    }
    Ok(())
}

fn say(recalled: &mut Recalling<'_>, item: &Value) -> Result<(), NotOurs> {
    if item["type"] == "function_call_output" {
        recalled.say_result(
            &item["call_id"],
            texts(&item["output"], &["input_text", "output_text"])?.concat(),
            false,
        );
        return Ok(());
    }
    let content = match item {
        Value::String(_) => item.clone(),
        item => item["content"].clone(),
    };
    let said = texts(&content, &["input_text", "text"])?;
    match item["role"].as_str().unwrap_or("user") {
        "user" => recalled.request.said.push(Said::User(said.concat())),
        "system" | "developer"
            if recalled.request.said.is_empty() && recalled.request.system.is_none() =>
        {
            recalled.request.system = Some(said.concat());
        }
        other => return Err(format!("a message of the role {other} among the others")),
    }
    Ok(())
}

fn model(recalled: &mut Recalling<'_>, row: &[Value]) -> Result<(), NotOurs> {
    let (mut text, mut calls, mut is_plain) = (String::new(), Vec::new(), true);
    for item in row {
        match item["type"].as_str().unwrap_or("message") {
            "message" => {
                is_plain &= text.is_empty() && calls.is_empty();
                text += &texts(&item["content"], &["output_text", "text", "input_text"])?.concat();
            }
            "function_call" => calls.push(call(
                &item["call_id"],
                &item["name"],
                item["arguments"].clone(),
            )),
            "item_reference" => {
                return Err("a reference to what the provider keeps".to_owned());
            }
            _ => is_plain = false,
        }
    }
    recalled.say_model(text, calls, is_plain)
}
