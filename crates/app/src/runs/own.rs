//! Tools that only a run has: to ask a person, to find more tools, to load a skill, and to read what connected servers offer.

use super::acting::Ended;
use super::driver::Driver;
use super::offered::{Bounds, described};
use super::planner::about;
use crate::App;
use crate::servers::Offered;
use agent::entry::{CallResult, Entry, PendingKind};
use agent::result::shortened;
use agent::skill::{LOAD_SKILL, load_schema};
use catalog::caller::Caller;
use catalog::schema::Schema;
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

/// What a call of one leads to: a result, tools that the model is shown from now on, and why.
pub(crate) struct Led {
    pub(crate) text: String,
    pub(crate) found: Vec<String>,
    pub(crate) because: String,
}

impl Led {
    pub(crate) fn text(text: String) -> Self {
        Led {
            text,
            found: Vec::new(),
            because: String::new(),
        }
    }
}

/// Why it leads to nothing.
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) why: String,
}

impl From<crate::Error> for Refusal {
    fn from(error: crate::Error) -> Self {
        Refusal {
            code: error.code().as_str().to_owned(),
            why: error.to_string(),
        }
    }
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

impl Own {
    /// What is missing in the arguments of a call.
    pub(crate) fn lacks(self, arguments: &Value) -> Option<String> {
        let needed: &[&str] = match self {
            Own::Ask => &["question"],
            Own::FindTools => &["query"],
            Own::LoadSkill => &["name"],
            Own::ListResources => &[],
            Own::ReadResource => &["server", "uri"],
        };
        let is_there = |name: &&&str| {
            let text = arguments.get(**name).and_then(Value::as_str);
            text.is_some_and(|it| !it.trim().is_empty())
        };
        let missing = needed.iter().find(|name| !is_there(name))?;
        Some(format!("'{}' needs \"{missing}\", a text", self.name()))
    }
}

impl Driver {
    /// Carries out a call of one of the run's own tools, beside all others.
    pub(crate) fn carry_out(
        &self,
        own: Own,
        call: Call,
        arguments: Value,
    ) -> impl Future<Output = Ended> + Send + 'static {
        let (app, caller) = (Arc::clone(&self.journal.app), Arc::clone(&self.caller));
        let (bounds, skills) = (self.bounds(), self.journal.state.skills.clone());
        async move {
            let text = |name: &str| arguments.get(name).and_then(Value::as_str);
            let needed = |name: &str| text(name).unwrap_or_default();
            let led = match own {
                Own::FindTools => app.find_for_run(&caller, &bounds, needed("query")).await,
                Own::LoadSkill => {
                    let (name, file) = (needed("name"), text("file"));
                    app.load_skill(&caller, &bounds, &skills, name, file).await
                }
                Own::ReadResource => {
                    let (server, uri) = (needed("server"), needed("uri"));
                    let read = app.read_server_resource(&caller, server, uri).await;
                    read.map(|read| Led::text(contents(&read)))
                        .map_err(Refusal::from)
                }
                Own::ListResources => {
                    let found = app.resources_for_run(&caller, text("server")).await;
                    Ok(Led::text(found.to_string()))
                }
                Own::Ask => Ok(Led::text(String::new())),
            };
            match led {
                Ok(led) => Ended {
                    result: app.told(own, &call, &led.text),
                    found: led.found,
                    because: led.because,
                },
                Err(Refusal { code, why }) => {
                    Ended::from(CallResult::told(&call.id, why, Some(&code)))
                }
            }
        }
    }

    /// Somebody is asked, or the model is told why nobody can be.
    pub(crate) fn question(&self, call: &Call, arguments: &Value) -> Entry {
        let asked = match Own::Ask.lacks(arguments) {
            Some(why) => Err(why),
            None => answers(arguments),
        };
        let schema = match asked {
            Ok(schema) => schema,
            Err(why) => return Entry::refused(call, "invalid_input", why),
        };
        let question = arguments["question"].as_str().unwrap_or_default();
        let asking = self.pending(PendingKind::Question, call, question.to_owned());
        // A planner asks for what a tool needs; a model says in its question what that is for.
        let is_planned = !self.has_model();
        Entry::Asked(asking.with(|pending| {
            pending.schema = schema;
            pending.tool = about(call).filter(|_| is_planned).map(str::to_owned);
        }))
    }
}

/// What the answer to a question must be.
fn answers(arguments: &Value) -> Result<Value, String> {
    let word = |choice: &Value| match choice {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut choices: Vec<String> = Vec::new();
    for choice in arguments["choices"].as_array().into_iter().flatten() {
        // Whoever answers writes a text, whatever the model wrote.
        let choice = word(choice);
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    match arguments.get("schema").filter(|it| it.is_object()) {
        _ if !choices.is_empty() => Ok(json!({"type": "string", "enum": choices})),
        None => Ok(json!({"type": "string"})),
        Some(schema) => match Schema::compile(schema) {
            Ok(_) => Ok(schema.clone()),
            Err(error) => Err(format!("\"schema\" is no JSON schema: {error}")),
        },
    }
}

impl App {
    /// Tools that fit a query, as the model is told of them, and their names.
    async fn find_for_run(
        self: &Arc<Self>,
        caller: &Caller,
        bounds: &Bounds,
        query: &str,
    ) -> Result<Led, Refusal> {
        let among = Arc::new(self.usable_in_run(caller, bounds));
        let found = self.find(&among, query, FOUND).await?;
        let tools = found.into_iter().map(|at| described(&among.shown(at)));
        let tools: Vec<providers::Tool> = tools.collect();
        let shown = json!({"tools": tools}).to_string();
        Ok(Led {
            text: shown,
            found: tools.into_iter().map(|tool| tool.name).collect(),
            because: "the model looked for more".to_owned(),
        })
    }

    fn told(&self, own: Own, call: &Call, text: &str) -> CallResult {
        let (text, is_cut) = shortened(text, self.runs.settings.result_chars_max);
        CallResult {
            call: call.id.clone(),
            text,
            is_error: false,
            code: None,
            execution_id: None,
            elapsed: 0.0,
            // Servers write what they like into what they offer.
            is_untrusted: matches!(own, Own::ListResources | Own::ReadResource),
            is_cut,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_can_be_answered() {
        let text = json!({"type": "string"});
        let choices = |of: Value| answers(&json!({"question": "?", "choices": of})).unwrap();
        assert_eq!(choices(json!([])), text);
        assert_eq!(choices(json!("blue")), text);
        assert_eq!(choices(json!(["a", "b", "a"]))["enum"], json!(["a", "b"]));
        assert_eq!(
            choices(json!([1, true, "x"]))["enum"],
            json!(["1", "true", "x"])
        );
        let number = json!({"type": "number"});
        assert_eq!(answers(&json!({"schema": number})), Ok(number));
        assert!(answers(&json!({"schema": {"type": 5}})).is_err());
    }
}
