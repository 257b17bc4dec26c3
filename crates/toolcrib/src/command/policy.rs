//! `toolcrib policy`: show it, set it, try it out, explain it.

use super::input::Input;
use super::tools::text;
use crate::cli::{Explain, Policy};
use crate::client::{Client, query};
use crate::context::Context;
use crate::out::{Failure, Out, Result, printable};
use serde_json::Value;

const PATH: &str = "/api/v1/policy";

pub(crate) async fn run(context: &Context, command: Policy) -> Result {
    match command {
        Policy::Show => {
            let policy = Client::with(context, async |client| client.get(PATH).await).await?;
            context.out.value(&policy);
            warn(&context.out, &policy);
            Ok(())
        }
        Policy::Set { document, dry_run } => set(context, &document, dry_run).await,
        Policy::Explain(asked) => explain(context, asked).await,
    }
}

async fn set(context: &Context, document: &str, dry_run: bool) -> Result {
    let input = Input::definition(document)?;
    let body: Value = serde_json::from_str(&input.text)
        .map_err(|error| Failure::usage(format!("{}: not valid JSON: {error}", input.shown)))?;
    let path = format!("{PATH}{}", if dry_run { "?dry_run=true" } else { "" });
    let answer = Client::with(context, async |client| {
        client.request("PUT", &path, Some(body)).await?.ok()
    })
    .await?;
    let out = &context.out;
    warn(out, &answer);
    if out.json {
        out.value(&answer);
    } else if dry_run {
        show_changes(out, &answer);
    } else {
        out.done(format!(
            "the policy is at version {} now",
            answer["version"]
        ));
    }
    Ok(())
}

fn warn(out: &Out, answer: &Value) {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    for warning in warnings.filter_map(Value::as_str) {
        out.warn(printable(warning));
    }
}

fn show_changes(out: &Out, answer: &Value) {
    let items = answer["changes"].as_array().into_iter().flatten();
    let row = |change: &Value| {
        let cells = ["who", "tool", "before", "after"].map(|key| text(change, key).to_owned());
        cells.to_vec()
    };
    let rows: Vec<Vec<String>> = items.map(row).collect();
    let total = answer["total"].as_u64().unwrap_or_default();
    if rows.is_empty() {
        out.done("nothing would change for anybody");
        return;
    }
    out.table(&["who", "tool", "before", "after"], &rows);
    if total > rows.len() as u64 {
        out.note(format!(
            "{total} in all; the first {} are shown",
            rows.len()
        ));
    }
}

async fn explain(context: &Context, asked: Explain) -> Result {
    let whose = if asked.user { "user" } else { "key" };
    let parameters = query(&[
        (whose, Some(asked.whose)),
        ("tool", Some(asked.tool)),
        ("agent", asked.agent),
        ("toolset", asked.toolset),
    ]);
    let path = format!("{PATH}/explain{parameters}");
    let answer = Client::with(context, async |client| client.get(&path).await).await?;
    let out = &context.out;
    if out.json {
        out.value(&answer);
        return Ok(());
    }
    let code = answer["code"].as_str().map(|code| format!(" ({code})"));
    out.line(format!(
        "{}: {} for {}{}",
        text(&answer, "tool"),
        text(&answer, "verdict"),
        text(&answer, "who"),
        code.unwrap_or_default()
    ));
    let reasons = answer["reasons"].as_array().into_iter().flatten();
    let row = |reason: &Value| {
        let cells = ["check", "effect", "message"].map(|key| text(reason, key).to_owned());
        cells.to_vec()
    };
    let rows: Vec<Vec<String>> = reasons.map(row).collect();
    out.table(&["check", "effect", "why"], &rows);
    Ok(())
}
