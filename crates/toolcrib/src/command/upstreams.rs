//! What `toolcrib doctor` finds of upstream MCP servers: those that are down, describe tools anew, or hide letters.

use super::findings::Findings;
use super::tools::text;
use crate::workspace::Place;
use app::shelf::MCP_FILE;
use catalog::mcp_file::read_servers;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Programs of `mcp.json` that are not on this machine: where no server runs, nobody has tried to start them.
pub(super) fn programs(findings: &mut Findings, place: &Place, path: &str) {
    let text = std::fs::read_to_string(place.workspace.join(MCP_FILE)).unwrap_or_default();
    let Ok(file) = read_servers(MCP_FILE, &text, &|_| None) else {
        return;
    };
    for (name, written) in &file.written {
        let program = written.get("command").and_then(Value::as_str);
        let is_off = written.get("disabled") == Some(&Value::Bool(true));
        let Some(program) = program.filter(|it| !is_off && !it.contains("${")) else {
            continue;
        };
        if found(program, &place.workspace, path).is_none() {
            findings.warning(
                "servers.program",
                format!(
                    "MCP server '{name}' is the program '{program}', which is not on this machine"
                ),
                format!(
                    "install it, or write its whole path as \"command\" of '{name}' in mcp.json"
                ),
            );
        }
    }
}

/// Where a program is: on the search path, or where its own path leads from the workspace.
pub(super) fn found(program: &str, workspace: &Path, path: &str) -> Option<PathBuf> {
    let is_there = |file: &PathBuf| {
        let about = std::fs::metadata(file);
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(workspace.join(program)).filter(is_there);
    }
    let folders = std::env::split_paths(path);
    folders
        .map(|folder| folder.join(program))
        .find(|file| is_there(file))
}

/// `is_served`: a server that runs has said all this. Otherwise nobody is connected, and what the environment lacks is
/// judged by that of this command.
pub(super) fn judge(findings: &mut Findings, servers: &Value, is_served: bool) {
    let all = servers["items"].as_array().cloned().unwrap_or_default();
    if all.is_empty() {
        return;
    }
    for server in &all {
        state(findings, server, is_served);
        definitions(findings, server);
    }
    let up = all.iter().filter(|it| text(it, "state") == "connected");
    let (up, count) = (up.count(), all.len());
    findings.good(
        "servers",
        match is_served {
            true => format!("{up} of {count} MCP servers are connected"),
            false => format!(
                "{count} MCP servers; none is connected, because no server runs on this workspace"
            ),
        },
    );
}

fn state(findings: &mut Findings, server: &Value, is_served: bool) {
    let (name, state) = (text(server, "name"), text(server, "state"));
    let (id, remedy) = match state {
        "auth_required" => (
            "servers.auth_required",
            format!(
                "`toolcrib servers sign-in {name}` where it takes OAuth; else correct the key in its headers"
            ),
        ),
        "failed" | "reconnecting" | "degraded" => (
            "servers.down",
            format!(
                "`toolcrib servers show {name}` tells more, such as the end of its stderr; `toolcrib servers reconnect {name}` tries it again"
            ),
        ),
        "refused" => (
            "servers.refused",
            "mend that, or remove the server".to_owned(),
        ),
        "hidden" => (
            "servers.hidden",
            "rename or remove one of the two".to_owned(),
        ),
        _ => return,
    };
    let mut message = format!("MCP server '{name}' is {state}");
    if let Some(cause) = server["cause"].as_str() {
        message.push_str(&format!(": {cause}"));
    }
    if !is_served && state == "failed" {
        let remedy = match message.contains("is not set, which") {
            true => {
                "no server runs, so this is judged by the variables of this shell; set it where `toolcrib serve` is started"
            }
            false => "mend it in mcp.json, which counts at once",
        };
        findings.warning(id, message, remedy);
        return;
    }
    findings.warning(id, message, remedy);
}

fn definitions(findings: &mut Findings, server: &Value) {
    let name = text(server, "name");
    let changed = server["changed"].as_array().into_iter().flatten();
    let changed: Vec<&str> = changed.filter_map(Value::as_str).collect();
    if !changed.is_empty() {
        let waits = match text(server, "pinning_now") {
            "approve" => "; they wait for approval",
            _ => "",
        };
        findings.warning(
            "servers.changed",
            format!(
                "MCP server '{name}' describes tools that are new or others than before: {}{waits}",
                shown(&changed)
            ),
            format!(
                "`toolcrib servers changes {name}` shows how, each as TOOL=HASH; `toolcrib servers approve {name} TOOL=HASH …` takes those as they are"
            ),
        );
    }
    let hidden = server["hidden_letters"].as_object().into_iter().flatten();
    let hidden: Vec<String> = hidden
        .map(|(tool, letters)| {
            let letters = letters.as_array().into_iter().flatten();
            let letters: Vec<&str> = letters.filter_map(Value::as_str).collect();
            format!("{tool} ({})", letters.join(", "))
        })
        .collect();
    if !hidden.is_empty() {
        let hidden: Vec<&str> = hidden.iter().map(String::as_str).collect();
        findings.warning(
            "servers.hidden_letters",
            format!(
                "MCP server '{name}' has letters that cannot be seen in the definitions of {}",
                shown(&hidden)
            ),
            "models read them: ask whoever runs it what they are for, and let its changes wait (\"pinning\": \"approve\")",
        );
    }
    if let Some(count) = server["tools_left_out"].as_u64().filter(|count| *count > 0) {
        findings.warning(
            "servers.left_out",
            format!("{count} tools of MCP server '{name}' are not listed: it has named more than can be held"),
            "ask whoever runs it",
        );
    }
}

/// The first of them; nobody reads a thousand names.
fn shown(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let first = names.iter().take(SHOWN);
    let first: Vec<String> = first.map(|it| catalog::letters::shown(it)).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
