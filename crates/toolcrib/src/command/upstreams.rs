//! What `toolcrib doctor` finds of upstream MCP servers: those that are down, describe tools anew, or hide letters.

use super::findings::Findings;
use super::tools::text;
use serde_json::Value;

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
    let remedy = match state {
        "auth_required" => format!(
            "`toolcrib servers sign-in {name}` where it takes OAuth; else correct the key in its headers"
        ),
        "failed" | "reconnecting" | "degraded" => format!(
            "`toolcrib servers show {name}` tells more, such as the end of its stderr; `toolcrib servers reconnect {name}` tries it again"
        ),
        "refused" => "mend that, or remove the server".to_owned(),
        "hidden" => "rename or remove one of the two".to_owned(),
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
        findings.warning("servers", message, remedy);
        return;
    }
    findings.warning("servers", message, remedy);
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
            "servers",
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
            "servers",
            format!(
                "MCP server '{name}' has letters that cannot be seen in the definitions of {}",
                shown(&hidden)
            ),
            "models read them: ask whoever runs it what they are for, and let its changes wait (\"pinning\": \"approve\")",
        );
    }
    if let Some(count) = server["tools_left_out"].as_u64().filter(|count| *count > 0) {
        findings.warning(
            "servers",
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
