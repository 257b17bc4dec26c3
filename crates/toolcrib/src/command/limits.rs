//! `toolcrib limits` and `toolcrib usage`: daily quotas, and how much of every limit is used up.

use super::tools::{text, whole};
use crate::cli::Limits;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Out, Result};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/limits";

pub(crate) async fn run(context: &Context, command: Limits) -> Result {
    match command {
        Limits::List => list(context).await,
        Limits::Set { kind, name, max } => {
            let kind = kind.to_uppercase();
            let body = json!({"target_type": kind, "target_id": name, "max_count": max});
            let ask = async |client: &Client| client.request("PUT", PATH, Some(body)).await?.ok();
            let limit = Client::with(context, ask).await?;
            if context.out.json {
                context.out.value(&limit);
            }
            let note = format!("{kind} {name} may have {max} calls a day (UTC)");
            context.out.done(note);
            Ok(())
        }
        Limits::Remove { kind, name } => {
            let kind = kind.to_uppercase();
            let path = format!("{PATH}/{kind}/{}", encode(&name));
            let ask = async |client: &Client| client.request("DELETE", &path, None).await?.ok();
            Client::with(context, ask).await?;
            if context.out.json {
                let removed = json!({"target_type": kind, "target": name, "removed": true});
                context.out.value(&removed);
            }
            context
                .out
                .done(format!("removed the limit of {kind} {name}"));
            Ok(())
        }
    }
}

async fn list(context: &Context) -> Result {
    let page = Client::with(context, async |client| whole(client, PATH).await).await?;
    let row = |out: &Out, limit: &Value| {
        // A tool that is gone has only its id left.
        let name = limit["target_name"].as_str();
        let name = name.unwrap_or_else(|| text(limit, "target_id"));
        let cells = [
            text(limit, "target_type").to_owned(),
            name.to_owned(),
            limit["max_count"].to_string(),
            out.time(text(limit, "updated_at")),
        ];
        cells.to_vec()
    };
    show(
        &context.out,
        &page,
        &["type", "name", "calls a day", "changed"],
        row,
    );
    Ok(())
}

pub(crate) async fn usage(context: &Context) -> Result {
    let ask = async |client: &Client| whole(client, "/api/v1/usage").await;
    let page = Client::with(context, ask).await?;
    let row = |_: &Out, used: &Value| {
        let cells = [
            text(used, "target_type").to_owned(),
            text(used, "target_name").to_owned(),
            of(used),
            of(&used["hour"]),
            of(&used["minute"]),
            of(&used["running"]),
        ];
        cells.to_vec()
    };
    let header = ["type", "name", "today", "hour", "minute", "running"];
    show(&context.out, &page, &header, row);
    Ok(())
}

/// `3 of 50`, `3` where nothing limits it, and nothing where it is not counted.
fn of(used: &Value) -> String {
    match (&used["count"], &used["max_count"]) {
        (Value::Null, _) => String::new(),
        (count, Value::Null) => count.to_string(),
        (count, max) => format!("{count} of {max}"),
    }
}

pub(super) fn show(
    out: &Out,
    page: &Value,
    header: &[&str],
    row: impl Fn(&Out, &Value) -> Vec<String>,
) {
    if out.json {
        return out.value(page);
    }
    let items = page["items"].as_array().into_iter().flatten();
    let rows: Vec<Vec<String>> = items.map(|item| row(out, item)).collect();
    out.table(header, &rows);
}
