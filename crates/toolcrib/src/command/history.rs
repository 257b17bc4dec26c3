//! `toolcrib tools history` and `toolcrib tools rollback`: what was changed, and going back.

use super::tools::{path, text, told, unchanged, version_of};
use crate::client::Client;
use crate::context::Context;
use crate::out::{Out, Paint, Result, printable};
use crate::table::shown_width;
use serde_json::{Value, json};

/// Two values longer than this together stand one below the other.
const ONE_LINE_MAX: usize = 60;

pub(super) async fn list(context: &Context, name: &str, limit: u16) -> Result {
    let path = format!("{}/versions?limit={limit}", path(name));
    let page = Client::with(context, async |client| client.get(&path).await).await?;
    let out = &context.out;
    if out.json {
        out.value(&page);
        return Ok(());
    }
    let row = |version: &Value| {
        let changes = version["changes"].as_array().into_iter().flatten();
        let paths: Vec<&str> = changes.map(|change| text(change, "path")).collect();
        let number = version["version"].to_string();
        let cells = [
            &number,
            &out.time(text(version, "changed_at")),
            text(version, "changed_by"),
            text(version, "action"),
            &paths.join(", "),
        ];
        cells.map(str::to_owned).to_vec()
    };
    let rows: Vec<Vec<String>> = page["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(row)
        .collect();
    out.table(&["version", "when", "who", "what", "changed"], &rows);
    if page["next_cursor"].is_string() {
        out.note(format!(
            "there are older versions; --limit shows more than {limit}"
        ));
    }
    Ok(())
}

pub(super) async fn diff(context: &Context, name: &str, number: i64) -> Result {
    let path = format!("{}/versions/{number}", path(name));
    let version = Client::with(context, async |client| client.get(&path).await).await?;
    let out = &context.out;
    if out.json {
        out.value(&version);
        return Ok(());
    }
    out.note(format!(
        "version {number}: {} by {} at {}",
        text(&version, "action"),
        text(&version, "changed_by"),
        text(&version, "changed_at")
    ));
    let changes = version["changes"].as_array().cloned().unwrap_or_default();
    if changes.is_empty() {
        out.note(if number == 1 {
            "it is the first version: there is none to compare it with"
        } else {
            "its definition is the same as in the version before"
        });
    }
    for change in &changes {
        show(out, change);
    }
    Ok(())
}

/// `path: old → new`, or the two below each other where they are long.
fn show(out: &Out, change: &Value) {
    let value = |member: &str| match &change[member] {
        Value::Null => "(not set)".to_owned(),
        value => printable(&value.to_string()),
    };
    let (before, after) = (value("before"), value("after"));
    let path = printable(text(change, "path"));
    if shown_width(&before) + shown_width(&after) <= ONE_LINE_MAX {
        let before = out.paint(Paint::Red, &before);
        let after = out.paint(Paint::Green, &after);
        return out.line(format!("{path}: {before} → {after}"));
    }
    out.line(format!("{path}:"));
    out.line(format!("    {}", out.paint(Paint::Red, &before)));
    out.line(format!("  → {}", out.paint(Paint::Green, &after)));
}

pub(super) async fn rollback(context: &Context, name: &str, version: i64) -> Result {
    let path = path(name);
    let (before, tool) = Client::with(context, async |client| {
        let before = version_of(client, &path).await?;
        let body = json!({"version": version});
        let rollback = format!("{path}/rollback");
        let answer = client.request("POST", &rollback, Some(body)).await?;
        Ok((before, answer.ok()?))
    })
    .await?;
    if before == tool["version"] {
        return unchanged(&context.out, &tool, &format!("as in version {version}"));
    }
    told(
        &context.out,
        &tool,
        &format!("rolled back to version {version}:"),
    )
}
