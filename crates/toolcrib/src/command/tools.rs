//! `toolcrib tools`: list, show, change and try out tools, and their history.

use super::call::read_text;
use crate::cli::{ToolFilter, Tools};
use crate::client::{Client, encode, query};
use crate::context::Context;
use crate::out::{Failure, Out, Paint, Result, printable};
use serde_json::{Map, Value, json};

/// The most a page of the API holds.
const PAGE_MAX: usize = 500;

pub(crate) async fn run(context: &Context, command: Tools) -> Result {
    let out = &context.out;
    match command {
        Tools::List(filter) => list(context, filter).await,
        Tools::Search { words, mut filter } => {
            filter.q = Some(
                words
                    .into_iter()
                    .chain(filter.q)
                    .collect::<Vec<_>>()
                    .join(" "),
            );
            list(context, filter).await
        }
        Tools::Show { name } => {
            let tool = Client::with(context, async |client| client.get(&path(&name)).await).await?;
            show(out, &tool);
            Ok(())
        }
        Tools::Add { file, shelf } => {
            let text = with_shelf(read_text(&file)?, shelf.as_deref())?;
            let tool = change(context, "POST", "/api/v1/tools", text, &file).await?;
            told(out, &tool, "added")
        }
        Tools::Update { name, file, patch } => {
            let method = if patch { "PATCH" } else { "PUT" };
            let tool = change(context, method, &path(&name), read_text(&file)?, &file).await?;
            told(out, &tool, "updated")
        }
        Tools::Remove { name } => {
            let ask =
                async |client: &Client| client.request("DELETE", &path(&name), None).await?.ok();
            Client::with(context, ask).await?;
            out.note(format!(
                "removed {name}; `toolcrib tools restore {name}` brings it back"
            ));
            Ok(())
        }
        Tools::Enable { name } => set_active(context, &name, true).await,
        Tools::Disable { name } => set_active(context, &name, false).await,
        Tools::Test { name, file } => {
            super::cases::run(context, name.as_deref(), file.as_deref()).await
        }
        Tools::History {
            name,
            diff: Some(version),
            ..
        } => diff(context, &name, version).await,
        Tools::History {
            name,
            diff: None,
            limit,
        } => history(context, &name, limit).await,
        Tools::Rollback { name, version } => {
            let tool = post(
                context,
                &format!("{}/rollback", path(&name)),
                json!({"version": version}),
            )
            .await?;
            told(out, &tool, &format!("rolled back to version {version}:"))
        }
        Tools::Restore { name } => {
            let tool = post(context, &format!("{}/restore", path(&name)), json!({})).await?;
            told(out, &tool, "restored")
        }
    }
}

pub(super) fn path(name: &str) -> String {
    format!("/api/v1/tools/{}", encode(name))
}

async fn post(context: &Context, path: &str, body: Value) -> Result<Value> {
    Client::with(context, async |client| {
        client.request("POST", path, Some(body)).await?.ok()
    })
    .await
}

async fn set_active(context: &Context, name: &str, active: bool) -> Result {
    let text = json!({"is_active": active}).to_string();
    let tool = change(context, "PATCH", &path(name), text, "").await?;
    told(
        &context.out,
        &tool,
        if active { "enabled" } else { "disabled" },
    )
}

/// Sends a definition; problems name the file it came from instead of the request's body.
async fn change(
    context: &Context,
    method: &str,
    path: &str,
    text: String,
    file: &str,
) -> Result<Value> {
    let send = async |client: &Client| {
        client
            .send(method, path, Some(text.into_bytes()))
            .await?
            .ok()
    };
    Client::with(context, send).await.map_err(|mut failure| {
        let shown = if file == "-" { "stdin" } else { file };
        for error in &mut failure.errors {
            if let Some(rest) = error
                .strip_prefix("invalid: body:")
                .or_else(|| error.strip_prefix("body:"))
            {
                *error = format!("{shown}:{rest}");
            }
        }
        failure
    })
}

/// Puts the shelf into a definition without moving any of its lines.
fn with_shelf(text: String, shelf: Option<&str>) -> Result<String> {
    let Some(shelf) = shelf else { return Ok(text) };
    // What is not an object at all is for the server to explain.
    let Ok(members) = serde_json::from_str::<Map<String, Value>>(&text) else {
        return Ok(text);
    };
    match members.get("shelf") {
        Some(said) if said == shelf => Ok(text),
        Some(said) => Err(Failure::usage(format!(
            "--shelf says {shelf}, the definition says {said}"
        ))),
        None if members.is_empty() => Ok(text),
        None => Ok(text.replacen('{', &format!("{{\"shelf\": \"{shelf}\", "), 1)),
    }
}

fn told(out: &Out, tool: &Value, done: &str) -> Result {
    if out.json {
        out.value(tool);
    } else {
        out.note(format!(
            "{done} {} (version {}, {} shelf)",
            text(tool, "name"),
            tool["version"],
            text(tool, "shelf")
        ));
    }
    Ok(())
}

async fn list(context: &Context, filter: ToolFilter) -> Result {
    let wanted = filter.limit.unwrap_or(usize::MAX);
    let items = Client::with(context, async |client| {
        let mut items = Vec::new();
        let mut cursor = None;
        while items.len() < wanted {
            let query = query(&[
                ("q", filter.q.clone()),
                ("kind", filter.kind.clone()),
                ("active", filter.active.map(|active| active.to_string())),
                (
                    "limit",
                    Some((wanted - items.len()).min(PAGE_MAX).to_string()),
                ),
                ("cursor", cursor),
            ]);
            let page = client.get(&format!("/api/v1/tools{query}")).await?;
            items.extend(page["items"].as_array().into_iter().flatten().cloned());
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        Ok(items)
    })
    .await?;
    let out = &context.out;
    if out.json {
        out.value(&json!({"items": items, "next_cursor": null}));
        return Ok(());
    }
    let row = |tool: &Value| {
        let state = if tool["is_active"] == false {
            "off"
        } else {
            "on"
        };
        let about = tool["description_user"]
            .as_str()
            .unwrap_or(text(tool, "description"));
        let version = tool["version"].to_string();
        [
            text(tool, "name"),
            text(tool, "kind"),
            text(tool, "shelf"),
            &version,
            state,
            about,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    out.table(
        &["name", "kind", "shelf", "version", "state", "description"],
        &rows,
    );
    Ok(())
}

/// For people the members one below the other, for programs the JSON.
fn show(out: &Out, tool: &Value) {
    if out.json || !out.terminal {
        out.value(tool);
        return;
    }
    for (name, value) in tool.as_object().into_iter().flatten() {
        let shown = match value {
            Value::Null => continue,
            Value::Array(items) if items.is_empty() => continue,
            Value::String(text) => text.clone(),
            Value::Object(_) | Value::Array(_) => {
                serde_json::to_string_pretty(value).unwrap_or_default()
            }
            other => other.to_string(),
        };
        let label = out.paint(Paint::Bold, name);
        let indented = printable(&shown).replace('\n', "\n    ");
        out.line(format!("{label}: {indented}"));
    }
}

async fn history(context: &Context, name: &str, limit: u32) -> Result {
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
            text(version, "changed_at"),
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

async fn diff(context: &Context, name: &str, number: i64) -> Result {
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
    for change in version["changes"].as_array().into_iter().flatten() {
        out.line(text(change, "path"));
        for (sign, member, paint) in [("-", "before", Paint::Red), ("+", "after", Paint::Green)] {
            if !change[member].is_null() {
                out.line(out.paint(paint, &format!("  {sign} {}", change[member])));
            }
        }
    }
    Ok(())
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
