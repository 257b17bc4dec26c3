//! `toolcrib tools search`: the tools that fit a request, the best first, and what to do with it.

use super::limits::show;
use super::tools::text;
use crate::client::Client;
use crate::context::Context;
use crate::out::{Out, Result, printable};
use serde_json::{Value, json};

pub(crate) async fn run(context: &Context, words: &[String], limit: u16) -> Result {
    let body = json!({"query": words.join(" "), "limit": limit});
    let ask = async |client: &Client| {
        let answer = client.request("POST", "/api/v1/select", Some(body)).await?;
        answer.ok()
    };
    let found = Client::with(context, ask).await?;
    let out = &context.out;
    if out.json {
        out.value(&found);
        return Ok(());
    }
    let row = |_: &Out, it: &Value| {
        let score = it["score"].as_f64().unwrap_or_default();
        let cells = [
            text(it, "name").to_owned(),
            format!("{score:.2}"),
            text(it, "why").to_owned(),
        ];
        cells.to_vec()
    };
    let page = json!({"items": found["candidates"]});
    show(out, &page, &["name", "score", "why"], row);
    out.say(printable(&verdict(&found)));
    for note in found["notes"].as_array().into_iter().flatten() {
        out.warn(printable(note.as_str().unwrap_or_default()));
    }
    Ok(())
}

/// What to do with the request, in a sentence.
fn verdict(found: &Value) -> String {
    let names: Vec<&str> = found["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let sure = found["certainty"].as_f64().unwrap_or_default() * 100.0;
    let what = match found["outcome"].as_str() {
        Some("call") => format!("call {}", names.join(", then ")),
        Some("ask") => format!(
            "ask first: it is not said what {} needs",
            found["about"].as_str().unwrap_or("a tool")
        ),
        _ => "no tool is needed, or none fits".to_owned(),
    };
    format!("{what} ({sure:.0} % sure: {})", text(found, "because"))
}
