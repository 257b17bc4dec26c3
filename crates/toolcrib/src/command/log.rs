//! `toolcrib log`: the execution log, and following it.

use super::tools::text;
use crate::cli::Log;
use crate::client::{Client, query};
use crate::context::Context;
use crate::out::{Cause, Failure, Out, Paint, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

const POLL: Duration = Duration::from_millis(500);
/// Calls are ordered by their start but appear at their end: so many of the latest are looked at again.
const WINDOW: usize = 200;

const COLUMNS: [&str; 8] = [
    "started",
    "tool",
    "status",
    "ms",
    "caller",
    "key",
    "transport",
    "error",
];

/// Of all columns but the last, when the rows to come are not known yet.
const WIDTHS: [usize; 7] = [20, 20, 11, 8, 8, 12, 9];

pub(crate) async fn run(context: &Context, log: Log) -> Result {
    Client::with(context, async |client| {
        let first = query(&[
            ("tool", log.tool.clone()),
            ("status", log.status.clone()),
            ("since", log.since.clone()),
            ("limit", Some(log.limit.to_string())),
        ]);
        let page = client.get(&format!("/api/v1/executions{first}")).await?;
        let items = page["items"].as_array().cloned().unwrap_or_default();
        let out = &context.out;
        if !log.follow {
            if out.json {
                out.value(&page);
            } else {
                out.table(
                    &COLUMNS,
                    &items.iter().map(|item| row(out, item)).collect::<Vec<_>>(),
                );
            }
            return Ok(());
        }
        if out.terminal && !out.json {
            let head = COLUMNS.map(str::to_uppercase);
            out.line(out.paint(Paint::Bold, &out.row(&head, &WIDTHS)));
        }
        let mut seen = BTreeSet::new();
        for item in items.iter().rev() {
            show(out, item, &mut seen);
        }
        if matches!(client, Client::Local(_)) {
            return Err(Failure::new(
                Cause::Unreachable,
                "no server runs on this workspace, so nothing new can come",
            )
            .hint("start one with `toolcrib serve`")
            .printed());
        }
        // What was printed is a line for each call; an error among them would be taken for one.
        let followed = follow(client, out, &log, seen).await;
        followed.map_err(Failure::printed)
    })
    .await
}

/// Asks again and again; ends with the server, with the reader, or by Ctrl-C.
async fn follow(client: &Client, out: &Out, log: &Log, mut seen: BTreeSet<String>) -> Result {
    while !out.is_gone() {
        tokio::time::sleep(POLL).await;
        let mut after = seen.first().cloned();
        loop {
            let query = query(&[
                ("tool", log.tool.clone()),
                ("status", log.status.clone()),
                ("since", log.since.clone().filter(|_| after.is_none())),
                // The nil id: everything there is, oldest first.
                (
                    "after",
                    Some(
                        after
                            .clone()
                            .unwrap_or_else(|| "00000000-0000-7000-8000-000000000000".to_owned()),
                    ),
                ),
                ("limit", Some(WINDOW.to_string())),
            ]);
            let page = client.get(&format!("/api/v1/executions{query}")).await?;
            let items = page["items"].as_array().cloned().unwrap_or_default();
            for item in &items {
                show(out, item, &mut seen);
            }
            after = items.last().map(|last| text(last, "id").to_owned());
            if items.len() < WINDOW {
                break;
            }
        }
        while seen.len() > WINDOW {
            seen.pop_first();
        }
    }
    Ok(())
}

/// A call is shown once, when it has ended.
fn show(out: &Out, item: &Value, seen: &mut BTreeSet<String>) {
    if text(item, "status") == "started" || !seen.insert(text(item, "id").to_owned()) {
        return;
    }
    if out.json {
        out.line(item.to_string());
    } else {
        out.line(out.row(&row(out, item), &WIDTHS));
    }
}

fn row(out: &Out, item: &Value) -> Vec<String> {
    let error = &item["error"];
    let error = match error["code"].as_str() {
        Some(code) => format!("{code}: {}", text(error, "message")),
        None => String::new(),
    };
    let ms = item["elapsed"].as_f64().unwrap_or_default() * 1000.0;
    vec![
        out.time(text(item, "started_at")),
        text(item, "tool_name").to_owned(),
        text(item, "status").to_owned(),
        format!("{ms:.1}"),
        text(item, "caller").to_owned(),
        text(item, "key").to_owned(),
        text(item, "transport").to_owned(),
        error,
    ]
}
