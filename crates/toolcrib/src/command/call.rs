//! `toolcrib call`: runs a tool and prints its data.

use super::input::Input;
use crate::cli::Call;
use crate::client::{Answer, Client, encode};
use crate::context::Context;
use crate::out::{Document, Failure, Out, Result};
use serde_json::{Map, Value, json};

const NOT_FOUND: &str = "tool_not_found";

const CUT: &str = "The data is cut: there is more than is shown. Ask for less, or for the rest.";

pub(crate) async fn run(context: &Context, call: Call) -> Result {
    let arguments = match call.arguments.as_deref() {
        None => Value::Object(Map::new()),
        Some(given) => match read_json(given) {
            Ok(arguments) => arguments,
            Err(failure) => return Err(with_example(context, &call.name, given, failure).await),
        },
    };
    let body = json!({
        "arguments": arguments,
        "timeout_seconds": call.timeout,
        "idempotency_key": call.idempotency_key,
    });
    let path = format!("/api/v1/tools/{}/call", encode(&call.name));
    let ask = async |client: &Client| {
        client.reach(&call.name).await?;
        let answer = client.request("POST", &path, Some(body)).await?;
        let response = answer.value();
        if response.get("execution_id").is_none() && !answer.is_success() {
            return Err(answer.failure());
        }
        // Asked for while the server is still there.
        let near = match response["error"]["code"].as_str() {
            Some(NOT_FOUND) if response["error"]["details"]["candidates"].is_null() => {
                client.near(&call.name).await
            }
            _ => None,
        };
        Ok((answer, response, near))
    };
    let (answer, response, near) = Client::with(context, ask).await?;
    print(&context.out, &answer, &response);
    end(context, &call.name, &response, near.as_deref())
}

/// What came back, on stdout, as it was written.
fn print(out: &Out, answer: &Answer, response: &Value) {
    let (body, members) = answer.written();
    if out.json {
        return out.written(body);
    }
    if !response["error"].is_null() {
        return;
    }
    match (&response["data"], members.get("data")) {
        (Value::String(text), _) => out.line(text),
        (_, Some(data)) => out.written(data.get()),
        (data, None) => out.value(data),
    }
}

/// What else is to be said, on stderr, and how the command ends.
fn end(context: &Context, name: &str, response: &Value, near: Option<&str>) -> Result {
    let error = &response["error"];
    if error.is_null() {
        if response["truncated"] == true && !context.out.json {
            context.out.warn(CUT);
        }
        return Ok(());
    }
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    let (code, message) = (text("code"), text("message"));
    let meant = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
    let failure = Failure::failed(format!("{code}: {message}{meant}")).printed();
    let remedy = error["details"]["remedy"].as_str();
    Err(match code {
        NOT_FOUND => match context.elsewhere() {
            Some(hint) => failure.hint(hint),
            None => failure,
        },
        "tool_inactive" if message.ends_with("switched off") => {
            failure.hint(format!("`toolcrib tools enable {name}` switches it on"))
        }
        _ => match remedy {
            Some(remedy) => failure.hint(remedy),
            None => failure,
        },
    })
}

/// What keeps a call from being made, with the code and the document that a server has for it.
pub(crate) fn refused(error: &app::Error) -> Failure {
    let (code, message) = (error.code().as_str(), error.to_string());
    let document = json!({"error": {
        "code": code,
        "message": message,
        "details": error.details(),
        "request_id": null,
    }});
    Failure {
        document: Document::Answer(Box::new(document)),
        ..Failure::failed(format!("{code}: {message}"))
    }
}

pub(super) fn read_json(given: &str) -> Result<Value> {
    let input = Input::arguments(given)?;
    serde_json::from_str(&input.text).map_err(|error| {
        let failure = Failure::usage(format!("{}: not valid JSON: {error}", input.shown));
        if std::path::Path::new(given).is_file() {
            return failure.hint(format!("to read them from the file, write @{given}"));
        }
        failure
    })
}

/// Shows arguments that the tool would take, as far as its schema tells; else what arguments look like.
async fn with_example(context: &Context, name: &str, given: &str, failure: Failure) -> Failure {
    if given.starts_with('@') || given == "-" || !failure.hints.is_empty() {
        return failure;
    }
    let path = super::tools::path(name);
    let tool = Client::with(context, async |client| client.get(&path).await).await;
    let schema = tool.map(|tool| tool["input_schema"].clone());
    let example = example(&schema.unwrap_or_default());
    failure.hint(format!("arguments are a JSON object, such as '{example}'"))
}

/// The arguments that must be given, else the first that may be.
pub(super) fn example(schema: &Value) -> String {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema["properties"].as_object();
    let shown = properties
        .into_iter()
        .flatten()
        .filter(|(name, _)| required.contains(&name.as_str()));
    let first = properties.and_then(|all| all.iter().next());
    let mut shown: Map<String, Value> = shown.map(|(name, it)| (name.clone(), value(it))).collect();
    if let (true, Some((name, it))) = (shown.is_empty(), first) {
        shown.insert(name.clone(), value(it));
    }
    match shown.is_empty() {
        true => "{\"name\": \"value\"}".to_owned(),
        false => Value::Object(shown).to_string(),
    }
}

fn value(schema: &Value) -> Value {
    let said = [
        &schema["default"],
        &schema["examples"][0],
        &schema["enum"][0],
    ];
    if let Some(said) = said.into_iter().find(|it| !it.is_null()) {
        return said.clone();
    }
    match schema["type"].as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_fits_the_schema() {
        let schema = json!({"required": ["price"], "properties": {
            "price": {"type": "number"}, "percent": {"type": "number", "default": 19}}});
        assert_eq!(example(&schema), "{\"price\":1}");
        let schema = json!({"properties": {"unit": {"enum": ["m", "km"]}, "other": {}}});
        assert_eq!(example(&schema), "{\"unit\":\"m\"}");
        assert_eq!(example(&json!({})), "{\"name\": \"value\"}");
    }
}
