//! `toolcrib toolsets`: named selections of tools, each with an MCP address of its own.

use super::findings::Findings;
use super::kept::Kept;
use super::tools::{show, text};
use crate::cli::Toolsets;
use crate::context::Context;
use crate::out::{Out, Result};
use serde_json::Value;

const KEPT: Kept = Kept { sort: "toolsets" };

pub(crate) async fn run(context: &Context, command: Toolsets) -> Result {
    let out = &context.out;
    match command {
        Toolsets::List => list(context).await,
        Toolsets::Show { name } => {
            show(out, &KEPT.get(context, &name).await?);
            Ok(())
        }
        Toolsets::Add { definition } => {
            told(out, &KEPT.add(context, &definition).await?, "added");
            Ok(())
        }
        Toolsets::Update {
            name,
            definition,
            patch,
        } => {
            let toolset = KEPT.update(context, &name, &definition, patch).await?;
            told(out, &toolset, "updated");
            Ok(())
        }
        Toolsets::Remove { name } => KEPT.remove(context, &name).await,
        Toolsets::Restore { name } => {
            told(out, &KEPT.restore(context, &name).await?, "restored");
            Ok(())
        }
    }
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
    let header = ["name", "owner", "version", "holds", "description"];
    KEPT.list(context, &header, row).await
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
