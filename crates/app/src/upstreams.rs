//! The upstream MCP servers: connected as `mcp.json` says, their tools put into the catalogue as `server.tool`.

use crate::App;
use crate::writer::Write;
use catalog::caller::Caller;
use catalog::mcp_file::{McpFile, ServerConfig};
use catalog::schema::Schema;
use catalog::tool::{
    Annotations, Definition, KindName, OutputFormat, SYSTEM_USER, Shelf, Tool, id_from_name,
};
use mcp::upstream::{Lists, Notice, Upstream};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Weak};
use tokio::sync::{broadcast, mpsc};

/// Connects the servers, now and whenever `mcp.json` says otherwise, for as long as there is an app.
pub(crate) fn connect(app: &Arc<App>, mut notices: mpsc::UnboundedReceiver<Notice>) {
    let mut servers = app.servers.clone();
    let file = Arc::clone(&servers.borrow_and_update());
    app.upstreams.set(file.servers.clone());
    let app = Arc::downgrade(app);
    tokio::spawn(async move {
        loop {
            let done = tokio::select! {
                changed = servers.changed() => match changed {
                    Ok(()) => {
                        let file = Arc::clone(&servers.borrow_and_update());
                        follow(&app, &file).await
                    }
                    Err(_) => None,
                },
                notice = notices.recv() => match notice {
                    Some(notice) => heard(&app, notice).await,
                    None => None,
                },
            };
            if done.is_none() {
                return;
            }
        }
    });
}

/// Takes over what `mcp.json` says now. None: there is no app any more.
async fn follow(app: &Weak<App>, file: &McpFile) -> Option<()> {
    let app = app.upgrade()?;
    let before: Vec<Arc<Upstream>> = app.upstreams.all();
    app.upstreams.set(file.servers.clone());
    for server in before {
        if app.upstreams.get(server.name()).is_none() {
            app.take_tools(server.name().into(), Vec::new()).await;
        }
    }
    Some(())
}

pub(crate) async fn heard(app: &Weak<App>, notice: Notice) -> Option<()> {
    let app = app.upgrade()?;
    if let Notice::Lists(name) = &notice
        && let Some(server) = app.upstreams.get(name)
    {
        let now = app.clock.now();
        let (config, lists) = (server.config().clone(), server.lists());
        // Schemas are looked at here, which can take a while.
        let tools = tokio::task::spawn_blocking(move || tools(&config, &lists, now)).await;
        app.take_tools(Arc::clone(name), tools.unwrap_or_default())
            .await;
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

    async fn take_tools(&self, name: Arc<str>, tools: Vec<Tool>) {
        let caller = Arc::new(crate::access::operator_caller("system"));
        // It fails only where the server stops.
        let _ = self.write(caller, Write::Server { name, tools }).await;
    }
}

/// A server's tools as tools of ours.
fn tools(config: &ServerConfig, lists: &Lists, now: i64) -> Vec<Tool> {
    let all = lists.tools.iter();
    let timeout = config.timeout_seconds;
    all.filter_map(|listed| tool(&config.name, listed, timeout, now))
        .collect()
}

fn tool(server: &str, listed: &Value, timeout: Option<f64>, now: i64) -> Option<Tool> {
    let tool_name = listed.get("name")?.as_str()?;
    let name = format!("{server}.{tool_name}");
    let mut listed = listed.as_object()?.clone();
    listed.shift_remove("name");
    let description = listed.get("description").and_then(Value::as_str);
    let description = shown(description.unwrap_or_default());
    if listed.contains_key("description") {
        listed.insert("description".to_owned(), description.as_str().into());
    }
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
        id: id_from_name(&format!("{name} of an MCP server")),
        owner: SYSTEM_USER,
        shelf: Shelf::Server,
        version: 1,
        created_at: now,
        updated_at: now,
        hash: definition.hash(),
        definition,
    })
}

/// A description with what hides in it made visible: a person who reads it must see what a model sees.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_hidden(letter) {
            true => shown.push_str(&format!("<U+{:04X}>", u32::from(letter))),
            false => shown.push(letter),
        }
    }
    shown
}

/// Letters without a shape: direction marks, joiners between words, tags, private use, control.
fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_in_a_description_is_shown() {
        let tagged = "Adds.\u{e0049}\u{e0047}\u{202e} 더하기 👩‍👩‍👧\n";
        assert_eq!(shown(tagged), "Adds.<U+E0049><U+E0047><U+202E> 더하기 👩‍👩‍👧\n");
    }
}
