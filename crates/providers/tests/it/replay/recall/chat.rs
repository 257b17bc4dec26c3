//! Chat Completions, turned back.

use super::{NotOurs, Recalling, call, texts, tool};
use providers::{Choice, Said};
use serde_json::Value;

pub(super) fn recall(recalled: &mut Recalling<'_>) -> Result<(), NotOurs> {
    let limits = ["max_tokens", "max_completion_tokens"].map(|field| recalled.take(field));
    recalled.request.max_tokens = limits.into_iter().flatten().find_map(|it| it.as_u64());
    recalled.request.stop_sequences = recalled.strings("stop");
    recalled.take("stream_options");
    recalled.take("tool_stream");
    for written in recalled.list("tools") {
        if written["type"] != "function" {
            return Err(format!(
                "a tool of the provider's own ({})",
                written["type"]
            ));
        }
        let tool = tool(&written["function"], "parameters", &["strict"])?;
        recalled.request.tools.push(tool);
    }
    choice(recalled)?;
    let format = recalled.take("response_format").unwrap_or_default();
    match format["type"].as_str() {
        Some("json_schema") => {
            recalled.request.output_schema = Some(format["json_schema"]["schema"].clone());
        }
        Some(_) => {
            recalled.fields.insert("response_format".to_owned(), format);
        }
        None => {}
    }
    for message in recalled.list("messages") {
        say(recalled, &message)?;
    }
    Ok(())
}

/// As both of OpenAI's formats say it.
pub(super) fn choice(recalled: &mut Recalling<'_>) -> Result<(), NotOurs> {
    recalled.request.parallel = recalled
        .take("parallel_tool_calls")
        .and_then(|it| it.as_bool());
    recalled.request.tool_choice = match recalled.take("tool_choice") {
        None => Choice::Auto,
        Some(choice) => match choice.as_str() {
            Some("auto") => Choice::Auto,
            Some("none") => Choice::None,
            Some("required") => Choice::Required,
            _ => return Err("one tool that must be called".to_owned()),
        },
    };
    Ok(())
}

fn say(recalled: &mut Recalling<'_>, message: &Value) -> Result<(), NotOurs> {
    if message.get("name").is_some() {
        return Err("a message with the name of who says it".to_owned());
    }
    let content = texts(&message["content"], &["text"])?.concat();
    match message["role"].as_str().unwrap_or_default() {
        "system" | "developer" if recalled.request.said.is_empty() => {
            recalled.request.system = match recalled.request.system.take() {
                Some(before) => Some(format!("{before}\n\n{content}")),
                None => Some(content),
            };
        }
        "user" => recalled.request.said.push(Said::User(content)),
        "tool" => {
            recalled.say_result(&message["tool_call_id"], content, false);
        }
        "assistant" if message.get("audio").is_some_and(|it| !it.is_null()) => {
            return Err("a turn that was spoken".to_owned());
        }
        "assistant" => {
            let calls = message["tool_calls"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let calls = calls.into_iter().map(|it| {
                let function = &it["function"];
                call(&it["id"], &function["name"], function["arguments"].clone())
            });
            let known = ["role", "content", "tool_calls", "refusal"];
            let mut fields = message.as_object().into_iter().flatten();
            let is_plain =
                fields.all(|(name, value)| known.contains(&name.as_str()) || value.is_null());
            recalled.say_model(content, calls.collect(), is_plain)?;
        }
        other => return Err(format!("a message of the role {other} among the others")),
    }
    Ok(())
}
