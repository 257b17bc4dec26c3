//! `toolcrib export mcp-servers`: upstream MCP servers in the form that other clients have, without what is secret.

use super::custom_tools::check_only;
use super::tools::{text, whole};
use crate::client::Client;
use crate::context::Context;
use crate::out::Result;
use catalog::auth::is_mask;
use catalog::mcp_file::HIDDEN;
use serde_json::{Map, Value, json};

/// What a client's file holds of a server, in this order; the rest is how it is doing.
const MEMBERS: [&str; 11] = [
    "type",
    "url",
    "headers",
    "command",
    "args",
    "env",
    "cwd",
    "auth",
    "timeout_seconds",
    "pinning",
    "disabled",
];

pub(crate) async fn export(context: &Context, only: &[String]) -> Result {
    let ask = async |client: &Client| whole(client, "/api/v1/servers").await;
    let page = Client::with(context, ask).await?;
    let servers: Vec<&Value> = page["items"].as_array().into_iter().flatten().collect();
    let names: Vec<String> = servers
        .iter()
        .map(|it| text(it, "name").to_owned())
        .collect();
    check_only(only, &names, "the registry")?;
    let mut variables = Vec::new();
    let mut all = Map::new();
    // Of one name the one that is in use comes first.
    for server in servers.iter().filter(|it| it["state"] != "hidden") {
        let name = text(server, "name");
        if only.is_empty() || only.iter().any(|it| it == name) {
            all.insert(name.to_owned(), entry(name, server, &mut variables));
        }
    }
    context
        .out
        .line(format!("{:#}", json!({"mcpServers": all})));
    if !variables.is_empty() {
        let told = variables.join(", ");
        context.out.warn(format!(
            "what is secret is not in it; set these variables where it is used: {told}"
        ));
    }
    Ok(())
}

fn entry(name: &str, server: &Value, variables: &mut Vec<String>) -> Value {
    let mut entry = Map::new();
    for member in MEMBERS {
        let value = match member {
            // It is told from the address, unless it is the older one.
            "type" if server.get("url").is_some() => &server["transport"],
            "type" => &Value::Null,
            member => &server[member],
        };
        let is_nothing =
            value.is_null() || *value == false || *value == json!([]) || *value == json!({});
        if !is_nothing {
            let mut value = value.clone();
            open(&mut value, &format!("{name}_{member}"), variables);
            entry.insert(member.to_owned(), value);
        }
    }
    Value::Object(entry)
}

/// Puts a variable in place of what is not shown.
fn open(value: &mut Value, place: &str, variables: &mut Vec<String>) {
    let mut variable = || {
        let upper = place.to_uppercase();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = upper.chars().map(plain).collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, '_');
        }
        if !variables.contains(&name) {
            variables.push(name.clone());
        }
        format!("${{{name}}}")
    };
    if is_mask(value) {
        *value = variable().into();
        return;
    }
    match value {
        Value::String(text) if text.contains(HIDDEN) => *text = text.replace(HIDDEN, &variable()),
        Value::Array(items) => {
            for (number, item) in items.iter_mut().enumerate() {
                open(item, &format!("{place}_{number}"), variables);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                // The member's own name says enough in a header or variable.
                let owner = place.rsplit_once('_').map_or(place, |(owner, _)| owner);
                open(value, &format!("{owner}_{key}"), variables);
            }
        }
        _ => {}
    }
}
