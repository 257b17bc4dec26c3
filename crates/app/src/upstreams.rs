//! The upstream MCP servers: connected as `mcp.json` and the database say, their tools put into the catalogue as
//! `server.tool`.

use crate::App;
use crate::writer::Write;
use catalog::caller::Caller;
use catalog::letters::{hidden_in, shown};
use catalog::mcp_file::ServerConfig;
use catalog::schema::Schema;
use catalog::stands_for::{upstream_id, upstream_name};
use catalog::tool::{Annotations, Definition, KindName, OutputFormat, SYSTEM_USER, Shelf, Tool};
use mcp::upstream::Notice;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Weak};
use tokio::sync::{broadcast, mpsc};

/// Connects the servers, now and whenever somebody says otherwise, for as long as there is an app.
pub(crate) async fn connect(app: &Arc<App>, mut notices: mpsc::UnboundedReceiver<Notice>) {
    let mut servers = app.servers.clone();
    servers.mark_unchanged();
    app.start_servers().await;
    let doubted = Arc::clone(&app.kept_servers.doubted);
    let app = Arc::downgrade(app);
    tokio::spawn(async move {
        loop {
            let done = tokio::select! {
                changed = servers.changed() => match changed {
                    Ok(()) => follow(&app).await,
                    Err(_) => None,
                },
                notice = notices.recv() => match notice {
                    Some(notice) => heard(&app, notice).await,
                    None => None,
                },
                () = doubted.notified() => follow(&app).await,
            };
            if done.is_none() {
                return;
            }
        }
    });
}

/// Takes over what is said now. None: there is no app any more.
async fn follow(app: &Weak<App>) -> Option<()> {
    app.upgrade()?.apply_servers().await;
    Some(())
}

pub(crate) async fn heard(app: &Weak<App>, notice: Notice) -> Option<()> {
    let app = app.upgrade()?;
    match &notice {
        Notice::Lists(name) => app.remember_server(name, true).await,
        Notice::State(name) => app.remember_server(name, false).await,
        Notice::ResourceUpdated { .. } | Notice::ElicitationComplete { .. } => {}
    }
    let _ = app.told.send(notice);
    Some(())
}

impl App {
    /// What upstream servers tell, for those who pass it on.
    pub fn upstream_notices(&self) -> broadcast::Receiver<Notice> {
        self.told.subscribe()
    }

    /// Whether a caller may use something of an upstream server that is no tool: as if it were one of this name.
    pub fn may_use(&self, caller: &Caller, name: &str) -> bool {
        self.executor.policy.load().may_use(caller, name)
    }

    pub(crate) async fn take_tools(&self, name: Arc<str>, tools: Vec<Tool>) {
        let caller = Arc::new(crate::access::operator_caller("system"));
        // It fails only where the server stops.
        let _ = self.write(caller, Write::Server { name, tools }).await;
    }
}

/// A server's tools as tools of ours.
pub(crate) fn tools(config: &ServerConfig, listed: &[Value], now: i64) -> Vec<Tool> {
    let all = listed.iter();
    let timeout = config.timeout_seconds;
    all.filter_map(|listed| tool(&config.name, listed, timeout, now))
        .collect()
}

fn tool(server: &str, listed: &Value, timeout: Option<f64>, now: i64) -> Option<Tool> {
    let tool_name = listed.get("name")?.as_str()?;
    let name = upstream_name(server, tool_name);
    let mut listed = listed.as_object()?.clone();
    listed.shift_remove("name");
    keep_known(&mut listed);
    for (name, member) in &mut listed {
        // A model reads them all, so people have to see what it sees.
        if name != "_meta" && !hidden_in(member).is_empty() {
            spell_out(name, member);
        }
    }
    let description = listed.get("description").and_then(Value::as_str);
    let description = description.unwrap_or_default().to_owned();
    let schema = listed.get("inputSchema").cloned().unwrap_or_default();
    let hint = |name: &str| listed.get("annotations")?.get(name)?.as_bool();
    let definition = Definition {
        name: name.clone(),
        description,
        kind: KindName::Mcp,
        annotations: Annotations {
            title: listed
                .get("title")
                .and_then(Value::as_str)
                .map(str::to_owned),
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        },
        // What cannot be checked here is checked there.
        input_schema: match Schema::compile(&schema) {
            Ok(_) if schema.is_object() => schema,
            _ => json!({"type": "object"}),
        },
        output_schema: None,
        output_format: OutputFormat::Json,
        timeout_seconds: timeout,
        parallel_capable: Some(true),
        rate_limit: None,
        is_active: true,
        is_public: true,
        auth_config: None,
        examples: Vec::new(),
        tests: Vec::new(),
        approval: None,
        description_user: None,
        config: Map::from_iter([
            ("server_name".to_owned(), server.into()),
            ("tool_name".to_owned(), tool_name.into()),
            ("listed".to_owned(), Value::Object(listed)),
        ]),
    };
    Some(Tool {
        id: upstream_id(&name),
        owner: SYSTEM_USER,
        shelf: Shelf::Server,
        version: 1,
        created_at: now,
        updated_at: now,
        hash: definition.hash(),
        definition,
    })
}

/// Drops what is of another type than the protocol says: clients that check would not take the list it stands in.
fn keep_known(listed: &mut Map<String, Value>) {
    listed.retain(|name, value| match name.as_str() {
        "description" | "title" => value.is_string(),
        "annotations" | "outputSchema" | "execution" | "_meta" => value.is_object(),
        "icons" => value.is_array(),
        _ => true,
    });
    if let Some(Value::Object(annotations)) = listed.get_mut("annotations") {
        annotations.retain(|name, value| match name.as_str() {
            "title" => value.is_string(),
            hint if hint.ends_with("Hint") => value.is_boolean(),
            _ => true,
        });
    }
}

/// Makes what hides in descriptions and titles visible, at any depth. Values that a schema compares with stay as they are.
fn spell_out(name: &str, member: &mut Value) {
    match member {
        Value::String(text) if ["description", "title"].contains(&name) => *text = shown(text),
        Value::Array(items) if !COMPARED.contains(&name) => {
            items.iter_mut().for_each(|item| spell_out("", item));
        }
        Value::Object(members) if !COMPARED.contains(&name) => {
            for (name, member) in members {
                spell_out(name, member);
            }
        }
        _ => {}
    }
}

const COMPARED: [&str; 4] = ["const", "default", "enum", "examples"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_the_wrong_type_is_not_passed_on() {
        let listed = json!({
            "name": "add", "description": null, "title": 5, "outputSchema": false, "x-own": null,
            "annotations": {"readOnlyHint": "yes", "idempotentHint": true},
            "inputSchema": {"type": "object"},
        });
        let tool = tool("s", &listed, None, 0).unwrap();
        let kept = json!({"x-own": null, "annotations": {"idempotentHint": true}, "inputSchema": {"type": "object"}});
        assert_eq!(tool.definition.config["listed"], kept);
        assert_eq!(tool.definition.description, "");
    }

    #[test]
    fn what_hides_in_a_definition_is_shown() {
        let listed = json!({
            "name": "add", "description": "Adds.\u{e0049}", "title": "A\u{200b}", "_meta": {"title": "\u{200b}"},
            "inputSchema": {"type": "object", "properties": {"a": {"description": "\u{202e}x", "const": {"title": "\u{200b}"}}}},
        });
        let tool = tool("s", &listed, None, 0).unwrap();
        let shown = &tool.definition.config["listed"];
        assert_eq!(tool.definition.description, "Adds.<U+E0049>");
        assert_eq!(
            (&shown["title"], &shown["_meta"]),
            (&json!("A<U+200B>"), &listed["_meta"])
        );
        let a = &tool.definition.input_schema["properties"]["a"];
        assert_eq!(
            *a,
            json!({"description": "<U+202E>x", "const": {"title": "\u{200b}"}})
        );
    }
}
