//! The resources and prompts that the official conformance suite looks for; its tools are builtins. Nobody sees them
//! unless the operator switches them on.

use crate::Face;
use crate::changes::List;
use crate::context::invalid;
use crate::offers::Offer;
use executor::{Asker, Talk};
use mcp::wire::RpcError;
use serde_json::{Value, json};

/// One red dot.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

pub(crate) fn list(offer: Offer) -> Vec<Value> {
    match offer {
        Offer::Resources => vec![
            json!({"uri": "test://static-text", "name": "static-text", "description": "A text that never changes", "mimeType": "text/plain"}),
            json!({"uri": "test://static-binary", "name": "static-binary", "description": "A picture that never changes", "mimeType": "image/png"}),
            json!({"uri": "test://watched-resource", "name": "watched-resource", "description": "One that can be followed", "mimeType": "text/plain"}),
        ],
        Offer::Templates => vec![
            json!({"uriTemplate": "test://template/{id}/data", "name": "template", "description": "Data by their id", "mimeType": "application/json"}),
        ],
        Offer::Prompts => {
            let argument = |name: &str| json!({"name": name, "description": format!("The {name}"), "required": true});
            vec![
                json!({"name": "test_simple_prompt", "description": "A prompt without arguments"}),
                json!({"name": "test_prompt_with_arguments", "description": "A prompt with arguments", "arguments": [argument("arg1"), argument("arg2")]}),
                json!({"name": "test_prompt_with_embedded_resource", "description": "A prompt with a resource in it", "arguments": [argument("resourceUri")]}),
                json!({"name": "test_prompt_with_image", "description": "A prompt with a picture in it"}),
                json!({"name": "test_input_required_result_prompt", "description": "A prompt that asks first"}),
            ]
        }
    }
}

pub(crate) fn read(uri: &str) -> Option<Value> {
    let content = match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        "test://watched-resource" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is watched."})
        }
        other => {
            let id = other
                .strip_prefix("test://template/")?
                .strip_suffix("/data")?;
            let text =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
        }
    };
    Some(json!({"contents": [content]}))
}

pub(crate) fn has_prompt(name: &str) -> bool {
    let prompts = list(Offer::Prompts);
    prompts.iter().any(|prompt| prompt["name"] == name)
}

pub(crate) async fn get(name: &str, arguments: &Value, talk: &Talk) -> Result<Value, RpcError> {
    let text = |text: String| json!({"role": "user", "content": {"type": "text", "text": text}});
    let argument = |name: &str| {
        let value = arguments.get(name).and_then(Value::as_str);
        value.ok_or_else(|| invalid(format!("The argument '{name}' is missing")))
    };
    let messages = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1")?, argument("arg2")?);
            vec![text(format!(
                "Prompt with arguments: arg1='{one}', arg2='{two}'"
            ))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({"uri": argument("resourceUri")?, "mimeType": "text/plain", "text": "Embedded resource content for testing."});
            vec![
                json!({"role": "user", "content": {"type": "resource", "resource": resource}}),
                text("Please process the embedded resource above.".to_owned()),
            ]
        }
        "test_prompt_with_image" => vec![
            json!({"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}}),
            text("Please analyze the image above.".to_owned()),
        ],
        _ => {
            let answer = ask_context(talk).await?;
            let context = answer["content"]["context"].as_str().unwrap_or_default();
            vec![text(format!("Use this context: {context}"))]
        }
    };
    Ok(json!({"messages": messages}))
}

async fn ask_context(talk: &Talk) -> Result<Value, RpcError> {
    let schema = json!({"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]});
    let params = json!({"mode": "form", "message": "What context should the prompt use?", "requestedSchema": schema});
    let asker = Asker::new(talk.clone());
    let answer = asker.ask(Some("user_context"), "elicitation/create", params);
    answer
        .await
        .map_err(|why| RpcError::new(why.code, why.message))
}

/// Some of its tools are there to have a list change.
pub(crate) fn called(face: &Face, tool: &str) {
    match tool {
        "test_trigger_tool_change" => face.announce(List::Tools),
        "test_trigger_prompt_change" => face.announce(List::Prompts),
        _ => {}
    }
}
