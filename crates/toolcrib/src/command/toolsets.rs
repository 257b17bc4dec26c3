//! `toolcrib toolsets`: named selections of tools, each with an MCP address of its own.

use super::definition::{How, send, with_name};
use super::findings::Findings;
use super::input::Input;
use super::tools::{pages, show, text};
use crate::cli::Toolsets;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Out, Result};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/toolsets";

pub(crate) async fn run(context: &Context, command: Toolsets) -> Result {
    let out = &context.out;
    match command {
        Toolsets::List => list(context).await,
        Toolsets::Show { name } => {
            let ask = async |client: &Client| client.get(&path(&name)).await;
            show(out, &Client::with(context, ask).await?);
            Ok(())
        }
        Toolsets::Add { definition } => {
            let input = Input::definition(&definition)?;
            let toolset = send(context, How::Create, PATH, &input).await?;
            told(out, &toolset, "added");
            Ok(())
        }
        Toolsets::Update {
            name,
            definition,
            patch,
        } => {
            let how = if patch { How::Patch } else { How::Replace };
            let mut input = Input::definition(&definition)?;
            if !patch {
                input = with_name(input, &name);
            }
            let toolset = send(context, how, &path(&name), &input).await?;
            told(out, &toolset, "updated");
            Ok(())
        }
        Toolsets::Remove { name } => {
            let path = path(&name);
            let ask = async |client: &Client| client.request("DELETE", &path, None).await?.ok();
            Client::with(context, ask).await?;
            if out.json {
                out.value(&json!({"name": name, "removed": true}));
            }
            out.done(format!(
                "removed {name}; `toolcrib toolsets restore {name}` brings it back"
            ));
            Ok(())
        }
        Toolsets::Restore { name } => {
            let path = format!("{}/restore", path(&name));
            let ask = async |client: &Client| client.request("POST", &path, None).await?.ok();
            let toolset = Client::with(context, ask).await?;
            told(out, &toolset, "restored");
            Ok(())
        }
    }
}

fn path(name: &str) -> String {
    format!("{PATH}/{}", encode(name))
}

fn told(out: &Out, toolset: &Value, done: &str) {
    if out.json {
        return out.value(toolset);
    }
    let name = text(toolset, "name");
    let version = &toolset["version"];
    out.done(format!("{done} {name} (version {version}) at /mcp/{name}"));
    for missing in toolset["missing"].as_array().into_iter().flatten() {
        let missing = missing.as_str().unwrap_or_default();
        // A client that was given plain names knows no others.
        let dotted = missing.split_once("__");
        let meant = dotted.map_or_else(String::new, |(server, tool)| {
            format!("; if one of a server is meant, write '{server}.{tool}'")
        });
        out.done(format!("there is no tool '{missing}' yet{meant}"));
    }
    for pattern in toolset["fits_nothing"].as_array().into_iter().flatten() {
        let pattern = pattern.as_str().unwrap_or_default();
        out.done(format!("the pattern '{pattern}' fits no tool yet"));
    }
}

/// Toolsets that set what a tool does not take: it came later, or was changed since.
pub(super) fn troubles(findings: &mut Findings, toolsets: &[Value]) {
    for toolset in toolsets {
        let name = text(toolset, "name");
        let troubles = toolset["troubles"].as_array().into_iter().flatten();
        for why in troubles.filter_map(Value::as_str) {
            findings.warning(
                "toolsets.arguments",
                format!("'{name}': {why}"),
                format!("every call of the tool through it is refused; correct \"arguments\" with `toolcrib toolsets update {name}`"),
            );
        }
    }
}

async fn list(context: &Context) -> Result {
    let ask = async |client: &Client| pages(client, PATH, &[], usize::MAX).await;
    let items = Client::with(context, ask).await?;
    let out = &context.out;
    if out.json {
        out.value(&json!({"items": items, "next_cursor": null}));
        return Ok(());
    }
    let row = |toolset: &Value| {
        let cells = [
            text(toolset, "name").to_owned(),
            text(toolset, "owner").to_owned(),
            toolset["version"].to_string(),
            holds(toolset),
            text(toolset, "description").to_owned(),
        ];
        cells.to_vec()
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    out.table(&["name", "owner", "version", "holds", "description"], &rows);
    Ok(())
}

/// `2 tools, sql_*, not sql_write` in short.
fn holds(toolset: &Value) -> String {
    let texts = |name: &str| {
        let items = toolset[name].as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned)
    };
    let listed = toolset["tools"].as_array().map_or(0, Vec::len);
    let mut parts: Vec<String> = Vec::new();
    match listed {
        0 if toolset["allow"].is_null() => parts.push("every tool".to_owned()),
        0 => {}
        1 => parts.push("1 tool".to_owned()),
        more => parts.push(format!("{more} tools")),
    }
    parts.extend(texts("allow"));
    parts.extend(texts("deny").map(|pattern| format!("not {pattern}")));
    parts.join(", ")
}
