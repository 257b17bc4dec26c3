//! `toolcrib log`: the execution log, and following it.

use super::tools::text;
use crate::cli::Log;
use crate::client::{Answer, Client, query, several};
use crate::context::Context;
use crate::layout::laid_out;
use crate::out::{Cause, Failure, Out, Paint, Result};
use serde_json::Value;
use serde_json::value::RawValue;
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
            ("transport", several(&log.transport)),
            ("since", log.since.clone()),
            ("limit", Some(log.limit.to_string())),
        ]);
        let page = page(client, &first).await?;
        let items = items(&page);
        let out = &context.out;
        if !log.follow {
            if out.json {
                out.written(page.written().0);
            } else {
                let rows = items.iter().map(|item| row(out, &item.value));
                out.table(&COLUMNS, &rows.collect::<Vec<_>>());
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

/// A call, and how the server wrote it: to read its numbers could cost digits.
struct Item {
    value: Value,
    written: Box<RawValue>,
}

async fn page(client: &Client, query: &str) -> Result<Answer> {
    let path = format!("/api/v1/executions{query}");
    let answer = client.request("GET", &path, None).await?;
    match answer.is_success() {
        true => Ok(answer),
        false => Err(answer.failure()),
    }
}

fn items(page: &Answer) -> Vec<Item> {
    let (_, members) = page.written();
    let items = members.get("items").map_or("[]", |items| items.get());
    let items: Vec<Box<RawValue>> = serde_json::from_str(items).unwrap_or_default();
    let item = |written: Box<RawValue>| Item {
        value: serde_json::from_str(written.get()).unwrap_or_default(),
        written,
    };
    items.into_iter().map(item).collect()
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
                ("transport", several(&log.transport)),
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
            let items = items(&page(client, &query).await?);
            for item in &items {
                show(out, item, &mut seen);
            }
            let last = items.last();
            after = last.map(|last| text(&last.value, "id").to_owned());
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
fn show(out: &Out, item: &Item, seen: &mut BTreeSet<String>) {
    let value = &item.value;
    if text(value, "status") == "started" || !seen.insert(text(value, "id").to_owned()) {
        return;
    }
    if out.json {
        out.line(laid_out(item.written.get(), false));
    } else {
        out.line(out.row(&row(out, value), &WIDTHS));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_keeps_every_digit() {
        let body =
            r#"{"items": [{"id": "a", "output": 0.12345678901234567890}], "next_cursor": null}"#;
        let page = Answer {
            status: 200,
            body: body.into(),
        };
        let items = items(&page);
        assert_eq!((items.len(), text(&items[0].value, "id")), (1, "a"));
        assert_eq!(
            laid_out(items[0].written.get(), false),
            r#"{"id":"a","output":0.12345678901234567890}"#
        );
    }
}
