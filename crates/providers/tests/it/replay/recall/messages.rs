//! Anthropic's Messages, turned back.

use super::{NotOurs, Recalling, call, texts, tool};
use providers::{Choice, Said};
use serde_json::{Value, json};

pub(super) fn recall(recalled: &mut Recalling<'_>) -> Result<(), NotOurs> {
    recalled.request.max_tokens = recalled.take("max_tokens").and_then(|it| it.as_u64());
    recalled.request.stop_sequences = recalled.strings("stop_sequences");
    let whole = Value::Object(recalled.fields.clone()).to_string();
    recalled.request.cache = whole.contains("\"cache_control\"");
    recalled.take("cache_control");
    let system = recalled.take("system").unwrap_or_default();
    recalled.request.system =
        Some(texts(&system, &["text"])?.join("\n\n")).filter(|it| !it.is_empty());
    for written in recalled.list("tools") {
        match written["type"].as_str() {
            None | Some("custom") => {}
            Some(kind) => return Err(format!("a tool of the provider's own ({kind})")),
        }
        let tool = tool(&written, "input_schema", &["cache_control", "strict"])?;
        recalled.request.tools.push(tool);
    }
    if let Some(choice) = recalled.take("tool_choice") {
        recalled.request.tool_choice = match choice["type"].as_str() {
            Some("any") => Choice::Required,
            Some("none") => Choice::None,
            Some("auto") => Choice::Auto,
            _ => return Err("one tool that must be called".to_owned()),
        };
        if choice["disable_parallel_tool_use"] == true {
            recalled.request.parallel = Some(false);
        }
    }
    if let Some(Value::Object(mut config)) = recalled.take("output_config") {
        if let Some(format) = config.shift_remove("format") {
            recalled.request.output_schema = Some(format["schema"].clone());
        }
        if !config.is_empty() {
            recalled
                .fields
                .insert("output_config".to_owned(), Value::Object(config));
        }
    }
    for (role, blocks) in joined(recalled.list("messages")) {
        match role.as_str() {
            "user" => user(recalled, blocks)?,
            "assistant" => assistant(recalled, &blocks)?,
            other => return Err(format!("a message of the role {other}")),
        }
    }
    Ok(())
}

/// Neighbours of one role as one message, contents as blocks, without what is empty.
pub(in crate::replay) fn joined(messages: Vec<Value>) -> Vec<(String, Vec<Value>)> {
    let mut all: Vec<(String, Vec<Value>)> = Vec::new();
    for mut message in messages {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        let blocks = match message["content"].take() {
            Value::Array(blocks) => blocks,
            Value::String(text) => vec![json!({"type": "text", "text": text})],
            _ => Vec::new(),
        };
        let is_empty = |block: &Value| {
            let text = block["text"].as_str().unwrap_or_default();
            block["type"] == "text" && text.trim().is_empty()
        };
        let blocks: Vec<Value> = blocks.into_iter().filter(|it| !is_empty(it)).collect();
        if blocks.is_empty() {
            continue;
        }
        match all.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => all.push((role, blocks)),
        }
    }
    all
}

fn user(recalled: &mut Recalling<'_>, blocks: Vec<Value>) -> Result<(), NotOurs> {
    for block in blocks {
        if block["type"] != "tool_result" {
            let text = texts(&json!([block]), &["text"])?.concat();
            if block.get("citations").is_some() {
                return Err("a text with citations".to_owned());
            }
            recalled.request.said.push(Said::User(text));
            continue;
        }
        recalled.say_result(
            &block["tool_use_id"],
            texts(&block["content"], &["text"])?.concat(),
            block["is_error"] == true,
        );
    }
    Ok(())
}

fn assistant(recalled: &mut Recalling<'_>, blocks: &[Value]) -> Result<(), NotOurs> {
    let (mut text, mut calls, mut is_plain) = (String::new(), Vec::new(), true);
    for block in blocks {
        match block["type"].as_str() {
            // Ours would be one block.
            Some("text") => {
                is_plain &= text.is_empty() && calls.is_empty();
                text += block["text"].as_str().unwrap_or_default();
            }
            Some("tool_use") => {
                calls.push(call(&block["id"], &block["name"], block["input"].clone()))
            }
            _ => is_plain = false,
        }
    }
    recalled.say_model(text, calls, is_plain)
}
