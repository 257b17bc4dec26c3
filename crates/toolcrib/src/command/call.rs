//! `toolcrib call`: runs a tool and prints its data.

use crate::cli::Call;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::{Map, Value, json};
use std::io::Read;

pub(crate) async fn run(context: &Context, call: Call) -> Result {
    let arguments = match call.arguments.as_deref() {
        None => Value::Object(Map::new()),
        Some(given) => read_json("the arguments", given)?,
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
    Err(Failure::failed(format!(
        "{}: {}",
        text("code"),
        text("message")
    )))
}

/// A JSON value given as text, `-` or `@FILE`.
fn read_json(what: &str, given: &str) -> Result<Value> {
    let (place, text) = match given.strip_prefix('@') {
        Some(file) => (file.to_owned(), read_text(file)?),
        None if given == "-" => ("stdin".to_owned(), read_text("-")?),
        None => (what.to_owned(), given.to_owned()),
    };
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("{place}: not valid JSON: {error}"))
            .hint("arguments are a JSON object, such as '{\"expression\": \"1 + 2\"}'")
    })
}

/// The text of a file, or of stdin for `-`.
pub(crate) fn read_text(file: &str) -> Result<String> {
    let mut text = String::new();
    let read = if file == "-" {
        std::io::stdin()
            .lock()
            .read_to_string(&mut text)
            .map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    read.map_err(|error| Failure::usage(format!("{file}: cannot be read: {error}")))
}
