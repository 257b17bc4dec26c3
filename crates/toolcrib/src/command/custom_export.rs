//! `toolcrib export h-custom-tool`: our tools as a database of another builder.

use super::custom_kept::unheld;
use super::custom_rows::{names_as_text, row};
use super::custom_tools::check_only;
use super::tools::{pages, text};
use crate::cli::CustomExport;
use crate::client::Client;
use crate::context::Context;
use crate::out::{Failure, Out, Result};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use store::custom_tools::{self, CustomTool};

/// What is handed on, and what is not.
#[derive(Default)]
struct Sorted {
    rows: Vec<CustomTool>,
    /// Tools that no row can hold, with the reason.
    left_out: Vec<String>,
    /// Of tools that a row holds, what it does not hold.
    unheld: Vec<(String, Vec<String>)>,
    /// The tools of each source, which no row names.
    sources: BTreeMap<String, Vec<String>>,
}

pub(crate) async fn export(context: &Context, args: &CustomExport) -> Result {
    let tools = Client::with(context, async |client| {
        let mut all = Vec::new();
        for kind in ["sql", "expression"] {
            let kind = [("kind", Some(kind.to_owned()))];
            all.extend(pages(client, "/api/v1/tools", &kind, usize::MAX).await?);
        }
        Ok(all)
    })
    .await?;
    let names: Vec<String> = tools.iter().map(|it| text(it, "name").to_owned()).collect();
    check_only(&args.only, &names, "the catalogue")?;
    let sorted = sorted(&tools, &args.only);
    if sorted.rows.is_empty() {
        return Err(nothing_to_write(sorted.left_out));
    }
    let written = custom_tools::write(&args.file, &sorted.rows).await;
    written.map_err(|error| Failure::failed(format!("nothing was written: {error}")))?;
    tell(&context.out, args, &sorted);
    Ok(())
}

fn sorted(tools: &[Value], only: &[String]) -> Sorted {
    let mut sorted = Sorted::default();
    for tool in tools {
        let name = text(tool, "name").to_owned();
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        match row(tool) {
            Err(why) => sorted.left_out.push(format!("{name}: {why}")),
            Ok(row) => {
                sorted.rows.push(row);
                if let Some(source) = tool["config"]["source"].as_str() {
                    let of_source = sorted.sources.entry(source.to_owned()).or_default();
                    of_source.push(name.clone());
                }
                let mut unheld = unheld(tool);
                unheld.extend(names_as_text(tool).iter().map(|name| {
                    format!("config.query ('{{{{{name}}}}}' as text: an import takes it for the parameter)")
                }));
                if !unheld.is_empty() {
                    sorted.unheld.push((name, unheld));
                }
            }
        }
    }
    sorted
}

fn nothing_to_write(left_out: Vec<String>) -> Failure {
    let mut failure =
        Failure::failed("nothing was written: there is no tool of kind sql or expression");
    if !left_out.is_empty() {
        failure.errors = left_out;
        failure = failure.hint("nothing was written: the format can hold none of these tools");
    }
    failure
}

fn tell(out: &Out, args: &CustomExport, sorted: &Sorted) {
    for why in &sorted.left_out {
        out.warn(format!("left out: {why}"));
    }
    for (name, unheld) in &sorted.unheld {
        out.warn(format!(
            "'{name}' is in the file without what the format has no place for: {}",
            unheld.join(", ")
        ));
    }
    if sorted.sources.len() > 1 {
        let of_sources = sorted.sources.iter();
        let shown: Vec<String> = of_sources
            .map(|(source, names)| format!("{source} ({})", names.join(", ")))
            .collect();
        out.warn(format!(
            "the file does not say which source a tool asks; import those of each source by themselves, with --source and --only: {}",
            shown.join("; ")
        ));
    }
    let names: Vec<&str> = sorted.rows.iter().map(|row| row.name.as_str()).collect();
    if out.json {
        let unheld: Map<String, Value> = sorted
            .unheld
            .iter()
            .map(|(name, unheld)| (name.clone(), json!(unheld)))
            .collect();
        out.value(
            &json!({"file": args.file, "exported": names, "left_out": sorted.left_out,
            "not_in_file": unheld}),
        );
    }
    let shown = args.file.display();
    out.done(format!("wrote {shown}: {}", names.join(", ")));
}
