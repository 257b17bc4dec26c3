//! Tools that only a run has: to ask a person, to find more tools, to load a skill, and to read what connected servers offer.

use super::driver::Driver;
use super::offered::described;
use crate::App;
use crate::servers::Offered;
use agent::entry::{CallResult, Entry, PendingKind};
use agent::result::shortened;
use agent::skill::{LOAD_SKILL, load_schema};
use catalog::caller::Caller;
use providers::Call;
use serde_json::{Value, json};
use std::sync::Arc;

/// How many tools `find_tools` finds.
const FOUND: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    Ask,
    FindTools,
    LoadSkill,
    ListResources,
    ReadResource,
}

/// What a call of one leads to.
pub(crate) enum Led {
    Entry(Entry),
    /// A result, tools that the model is shown from now on, and why.
    Found(Entry, Vec<String>, String),
}

impl Own {
    pub(crate) const ALL: [Own; 5] = [
        Own::Ask,
        Own::FindTools,
        Own::LoadSkill,
        Own::ListResources,
        Own::ReadResource,
    ];

    fn name(self) -> &'static str {
        match self {
            Own::Ask => crate::select::ASKING,
            Own::FindTools => "find_tools",
            Own::LoadSkill => LOAD_SKILL,
            Own::ListResources => "list_resources",
            Own::ReadResource => "read_resource",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.name() == name)
    }

    /// As the model of a run that has these skills is shown it.
    pub(crate) fn tool(self, skills: &[agent::skill::Offered]) -> providers::Tool {
        let (description, input_schema) = match self {
            Own::Ask => (
                "Asks the person you work for, and waits for the answer. Use it when a decision, a missing fact or a confirmation is needed that no tool can give. Offer choices where there are only a few, or a schema where the answer must have a shape.",
                json!({
                    "type": "object",
                    "properties": {
                        "question": {"type": "string", "description": "What to ask, in full: the person sees nothing else"},
                        "choices": {"type": "array", "items": {"type": "string"}, "description": "The answers to choose from"},
                        "schema": {"type": "object", "description": "A JSON schema that the answer must fit"}
                    },
                    "required": ["question"]
                }),
            ),
            Own::FindTools => (
                "Finds tools by what they do. You see only some of the tools there are; use it when none of them fits. What it finds can be called from then on.",
                json!({
                    "type": "object",
                    "properties": {"query": {"type": "string", "description": "What the tool should do, in a few words"}},
                    "required": ["query"]
                }),
            ),
            Own::LoadSkill => (
                "Loads a skill: the instructions for a kind of work. The tools that it speaks of can be called from then on.",
                load_schema(skills),
            ),
            Own::ListResources => (
                "Lists what connected servers offer to read: documents, tables, settings. With `server` only those of one server.",
                json!({
                    "type": "object",
                    "properties": {"server": {"type": "string"}}
                }),
            ),
            Own::ReadResource => (
                "Reads a resource of a connected server, as list_resources names it.",
                json!({
                    "type": "object",
                    "properties": {"server": {"type": "string"}, "uri": {"type": "string"}},
                    "required": ["server", "uri"]
                }),
            ),
        };
        providers::Tool {
            name: self.name().to_owned(),
            description: description.to_owned(),
            input_schema,
        }
    }
}

impl App {
    /// Whether some connected server offers something to read.
    pub(crate) fn has_resources(&self) -> bool {
        let servers = self.upstreams.all();
        let mut lists = servers.iter().map(|server| server.lists());
        lists.any(|lists| !lists.resources.is_empty() || !lists.templates.is_empty())
    }

    async fn resources_for_run(&self, caller: &Caller, server: Option<&str>) -> Value {
        let mut all = Vec::new();
        for upstream in self.upstreams.all() {
            let name = upstream.name();
            if server.is_some_and(|wanted| wanted != name) {
                continue;
            }
            // One that does not answer hides no other.
            let offered = self.server_offers(caller, name, Offered::Resources).await;
            for item in offered.unwrap_or_default() {
                let uri = item.get("uri").or_else(|| item.get("uriTemplate"));
                all.push(json!({
                    "server": name, "uri": uri, "name": item.get("name"),
                    "description": item.get("description"), "mime_type": item.get("mimeType"),
                }));
            }
        }
        Value::Array(all)
    }
}

impl Driver {
    /// Carries out a call of one of the run's own tools.
    pub(crate) async fn carry_out(&self, own: Own, call: &Call, arguments: &Value) -> Led {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let refused = |code: &str, why: String| Led::Entry(Entry::refused(call, code, why));
        let missing = |name: &str| {
            let why = format!("'{}' needs \"{name}\", a text", own.name());
            refused("invalid_input", why)
        };
        let app = &self.journal.app;
        match own {
            Own::Ask => match text("question").filter(|it| !it.trim().is_empty()) {
                Some(question) => Led::Entry(self.question(call, question, arguments)),
                None => missing("question"),
            },
            Own::FindTools => match text("query").filter(|it| !it.trim().is_empty()) {
                Some(query) => self.find_tools(call, query).await,
                None => missing("query"),
            },
            Own::LoadSkill => match text("name") {
                Some(name) => self.load_skill(call, name, text("file")).await,
                None => missing("name"),
            },
            Own::ListResources => {
                let found = app.resources_for_run(&self.caller, text("server")).await;
                Led::Entry(self.told(call, &found.to_string()))
            }
            Own::ReadResource => {
                let (Some(server), Some(uri)) = (text("server"), text("uri")) else {
                    return missing("server\" and \"uri");
                };
                match app.read_server_resource(&self.caller, server, uri).await {
                    Ok(read) => Led::Entry(self.told(call, &contents(&read))),
                    Err(error) => refused(error.code().as_str(), error.to_string()),
                }
            }
        }
    }

    fn question(&self, call: &Call, question: &str, arguments: &Value) -> Entry {
        let choices = arguments.get("choices").filter(|it| it.is_array());
        let shape = arguments.get("schema").filter(|it| it.is_object()).cloned();
        let schema = match (choices, shape) {
            (Some(choices), _) => json!({"type": "string", "enum": choices}),
            (None, Some(schema)) => schema,
            (None, None) => json!({"type": "string"}),
        };
        let asking = self.pending(PendingKind::Question, call, question.to_owned());
        Entry::Asked(asking.with(|pending| pending.schema = schema))
    }

    async fn find_tools(&self, call: &Call, query: &str) -> Led {
        let app = &self.journal.app;
        let among = Arc::new(app.usable_in_run(&self.caller, &self.bounds()));
        let found = match app.find(&among, query, FOUND).await {
            Ok(found) => found,
            Err(error) => {
                let entry = Entry::refused(call, error.code().as_str(), error.to_string());
                return Led::Entry(entry);
            }
        };
        let tools: Vec<providers::Tool> = found
            .into_iter()
            .map(|at| described(&among.shown(at)))
            .collect();
        let shown = json!({"tools": tools}).to_string();
        let names = tools.into_iter().map(|tool| tool.name).collect();
        let because = "the model looked for more".to_owned();
        Led::Found(self.told(call, &shown), names, because)
    }

    pub(super) fn told(&self, call: &Call, text: &str) -> Entry {
        let chars_max = self.journal.app.runs.settings.result_chars_max;
        let (text, is_cut) = shortened(text, chars_max);
        Entry::Result(Box::new(CallResult {
            call: call.id.clone(),
            text,
            is_error: false,
            code: None,
            execution_id: None,
            elapsed: 0.0,
            // Servers write what they like into what they offer.
            is_untrusted: call.name.ends_with("_resource") || call.name.ends_with("_resources"),
            is_cut,
        }))
    }
}

/// The text of a resource; what is no text is named.
fn contents(read: &Value) -> String {
    let items = read["contents"].as_array().cloned().unwrap_or_default();
    let texts = items.iter().map(|item| match item["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!(
            "[{}: not a text ({})]",
            item["uri"].as_str().unwrap_or_default(),
            item["mimeType"].as_str().unwrap_or("of no known type")
        ),
    });
    texts.collect::<Vec<_>>().join("\n")
}
