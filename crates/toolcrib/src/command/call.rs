//! `toolcrib call`: runs a tool and prints its data.

use super::input::Input;
use crate::cli::Call;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::{Map, Value, json};

pub(crate) async fn run(context: &Context, call: Call) -> Result {
    let arguments = match call.arguments.as_deref() {
        None => Value::Object(Map::new()),
        Some(given) => read_json(given)?,
    };
    let body = json!({
        "arguments": arguments,
        "timeout_seconds": call.timeout,
        "idempotency_key": call.idempotency_key,
    });
    let path = format!("/api/v1/tools/{}/call", encode(&call.name));
    let ask = async |client: &Client| client.request("POST", &path, Some(body)).await;
    let answer = Client::with(context, ask).await?;
    let response = answer.value();
    if response.get("execution_id").is_none() {
        return answer.ok().map(|_| ());
    }
    show(context, &response)
}

/// Data on stdout, an error on stderr.
fn show(context: &Context, response: &Value) -> Result {
    let out = &context.out;
    if out.json {
        out.value(response);
    }
    let error = &response["error"];
    if error.is_null() {
        match &response["data"] {
            _ if out.json => {}
            Value::String(text) => out.line(text),
            data => out.value(data),
        }
        return Ok(());
    }
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    Err(Failure::failed(format!("{}: {}", text("code"), text("message"))).printed())
}

fn read_json(given: &str) -> Result<Value> {
    let input = Input::arguments(given)?;
    serde_json::from_str(&input.text).map_err(|error| {
        let failure = Failure::usage(format!("{}: not valid JSON: {error}", input.shown));
        if std::path::Path::new(given).is_file() {
            return failure.hint(format!("to read them from the file, write @{given}"));
        }
        failure.hint("arguments are a JSON object, such as '{\"expression\": \"1 + 2\"}'")
    })
}
