//! `toolcrib import`: what other programs have written down. The servers of an MCP client's configuration go into `mcp.json`.

use super::foreign::{Foreign, LeftOut};
use crate::cli::Import;
use crate::context::Context;
use crate::out::{Failure, Result};
use app::shelf::MCP_FILE;
use catalog::mcp_file::{in_the_clear, read_servers};
use serde_json::{Map, Value, json};
use std::path::Path;

/// What became of the servers of a file.
#[derive(Default)]
struct Taken {
    added: Vec<String>,
    same: Vec<String>,
    /// Where secrets seem to stand in the clear.
    open: Vec<String>,
    /// What means nothing here.
    no_effect: Vec<String>,
    left_out: Vec<LeftOut>,
}

pub(crate) async fn run(context: &Context, import: Import) -> Result {
    match import {
        Import::McpServers {
            file,
            force,
            only,
            dry_run,
        } => servers(context, &file, force, &only, dry_run),
        Import::OpenApi(args) => super::openapi::import(context, &args).await,
        Import::HCustomTool(args) => super::custom_tools::import(context, &args).await,
    }
}

fn servers(context: &Context, file: &Path, force: bool, only: &[String], dry_run: bool) -> Result {
    let mut found = Foreign::read(file)?;
    found.keep_only(only)?;
    // What the server would refuse is not written.
    let left_out = found.keep_usable();
    if found.servers.is_empty() && !left_out.is_empty() {
        let hint = "nothing was taken over; mend that file, or take others with --only";
        return Err(refused(&left_out).hint(hint));
    }
    let place = context.place()?;
    let path = place.workspace.join(MCP_FILE);
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        Failure::failed(format!("{} cannot be {what}: {why}", path.display()))
    };
    let text = std::fs::read_to_string(&path).map_err(|it| failed("read", &it))?;
    let mut all: Value = serde_json::from_str(&text).map_err(|it| failed("read", &it))?;
    let own = all
        .as_object_mut()
        .map(|all| all.entry("mcpServers").or_insert_with(|| json!({})));
    let own = own
        .and_then(Value::as_object_mut)
        .ok_or_else(|| failed("read", &"it is no object with mcpServers"))?;
    let mut taken = take_over(own, found.servers, force);
    taken.no_effect = found.no_effect;
    taken.left_out.extend(left_out);
    let text = format!("{all:#}\n");
    if let Err(problems) = read_servers(MCP_FILE, &text, &|_| None) {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(failed("added to", &lines.join("; ")).hint("mend mcp.json first"));
    }
    if !taken.added.is_empty() && !dry_run {
        let aside = path.with_extension("json.new");
        std::fs::write(&aside, &text).map_err(|it| failed("written", &it))?;
        std::fs::rename(&aside, &path).map_err(|it| failed("written", &it))?;
    }
    tell(context, &path, &taken, dry_run);
    if taken.left_out.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = taken.left_out.iter().map(|it| it.name.as_str()).collect();
    let names = names.join(", ");
    let hint = match dry_run {
        true => format!("these would be left out: {names}"),
        false => format!("these were left out: {names}; mend that file and import it again"),
    };
    Err(refused(&taken.left_out).printed().hint(hint))
}

/// All that is wrong with what is left out.
fn refused(left_out: &[LeftOut]) -> Failure {
    let mut failure = Failure::failed("");
    failure.errors = left_out.iter().flat_map(|it| it.why.clone()).collect();
    failure
}

fn take_over(own: &mut Map<String, Value>, found: Map<String, Value>, force: bool) -> Taken {
    let mut taken = Taken::default();
    for (name, server) in found {
        match own.get(&name) {
            Some(there) if *there == server => taken.same.push(name),
            Some(_) if !force => {
                let why = format!(
                    "mcp.json has another server '{name}' already; rename one of them, or replace it with --force"
                );
                taken.left_out.push(LeftOut {
                    name,
                    why: vec![why],
                });
            }
            _ => {
                let members = server.as_object().cloned().unwrap_or_default();
                let open = in_the_clear(&members).into_iter();
                taken.open.extend(open.map(|at| format!("{name}: {at}")));
                own.insert(name.clone(), server);
                taken.added.push(name);
            }
        }
    }
    taken
}

/// Whether a member, behind its server's name, says which tools may be called.
fn is_of_tools(member: &str) -> bool {
    let key = member.rsplit(": ").next().unwrap_or_default();
    let key = key.to_ascii_lowercase();
    ["tool", "allow", "approve"]
        .iter()
        .any(|it| key.contains(it))
}

fn tell(context: &Context, path: &Path, taken: &Taken, dry_run: bool) {
    let out = &context.out;
    if !taken.open.is_empty() {
        let holds = if dry_run { "would hold" } else { "now holds" };
        out.warn(format!(
            "mcp.json {holds} what looks secret, in the clear ({}): write \"${{NAME}}\" in its place, and set that variable where the server runs",
            taken.open.join(", ")
        ));
    }
    if !taken.no_effect.is_empty() {
        let hint = match taken.no_effect.iter().any(|it| is_of_tools(it)) {
            true => {
                "; a rule of the policy, or \"deny\" of a toolset, keeps a tool from being called"
            }
            false => "",
        };
        out.warn(format!(
            "these mean nothing here ({}): they are kept as they are and have no effect{hint}",
            taken.no_effect.join(", ")
        ));
    }
    if out.json {
        let left_out = taken.left_out.iter();
        let left_out: Vec<Value> = left_out
            .map(|it| json!({"name": it.name, "problems": it.why}))
            .collect();
        out.value(
            &json!({"added": taken.added, "unchanged": taken.same, "left_out": left_out,
            "no_effect": taken.no_effect, "dry_run": dry_run}),
        );
    }
    let added = taken.added.join(", ");
    out.done(match (taken.added.is_empty(), dry_run) {
        (true, _) => "every server was there already".to_owned(),
        (false, true) => format!("would be added to {}: {added}", path.display()),
        (false, false) => format!("added to {}: {added}", path.display()),
    });
}
