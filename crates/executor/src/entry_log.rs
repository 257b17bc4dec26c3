//! From one attempt to its log entry: what is written down, and what is hidden first.

use crate::response::CallError;
use catalog::caller::Caller;
use catalog::catalogue::{Entry, Schemas};
use catalog::redaction::HIDDEN;
use catalog::tool::Millis;
use executions::{Execution, Status};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use uuid::Uuid;

/// What is known of a call before it runs, with its arguments already redacted.
pub(crate) struct EntryDraft {
    pub(crate) id: Uuid,
    pub(crate) started_at: Millis,
    tool_name: Arc<str>,
    arguments: String,
    /// Values that must not appear in output or error either.
    secrets: Vec<String>,
}

/// How a call ended, as the log sees it.
pub(crate) struct Ending<'a> {
    pub(crate) status: Status,
    pub(crate) output: Option<&'a RawValue>,
    pub(crate) error: Option<&'a CallError>,
    pub(crate) log_text: Option<String>,
    pub(crate) elapsed_us: i64,
}

impl EntryDraft {
    pub(crate) fn new(
        id: Uuid,
        started_at: Millis,
        tool_name: Arc<str>,
        entry: Option<&Entry>,
        arguments: &Value,
    ) -> Self {
        let input = entry.and_then(|e| e.schemas().ok()).map(|s| &s.input);
        let marked = input.filter(|schema| schema.has_secrets());
        let mut draft = EntryDraft {
            id,
            started_at,
            tool_name,
            arguments: String::new(),
            secrets: marked.map_or_else(Vec::new, |schema| {
                searched_for(schema.secret_strings(arguments))
            }),
        };
        draft.arguments = match marked {
            Some(schema) => {
                let mut shown = arguments.clone();
                schema.redact(&mut shown);
                draft.scrub(&mut shown);
                shown.to_string()
            }
            None => arguments.to_string(),
        };
        draft
    }

    /// The row that says "this call may be having its effect now".
    pub(crate) fn started(&self, caller: &Caller, entry: Option<&Entry>) -> Box<Execution> {
        let ending = Ending {
            status: Status::Started,
            output: None,
            error: None,
            log_text: None,
            elapsed_us: 0,
        };
        self.record(caller, entry, self.arguments.clone(), ending)
    }

    pub(crate) fn finished(
        mut self,
        caller: &Caller,
        entry: Option<&Entry>,
        ending: Ending<'_>,
    ) -> Box<Execution> {
        let arguments = std::mem::take(&mut self.arguments);
        self.record(caller, entry, arguments, ending)
    }

    /// Boxed where it is made: it passes through several hands on its way to the log's writer.
    fn record(
        &self,
        caller: &Caller,
        entry: Option<&Entry>,
        arguments: String,
        ending: Ending<'_>,
    ) -> Box<Execution> {
        let schemas = entry.and_then(|e| e.schemas().ok());
        Box::new(Execution {
            id: self.id,
            started_at: self.started_at,
            tool_name: Arc::clone(&self.tool_name),
            tool_version: entry.map_or(0, |e| e.tool.version),
            tool_hash: entry.map_or_else(Arc::default, |e| Arc::clone(&e.hash)),
            caller: Arc::clone(&caller.user_name),
            key: caller.key.clone(),
            agent: caller.agent,
            run: caller.run,
            toolset: caller.toolset.clone(),
            transport: caller.transport.as_str().into(),
            arguments,
            status: ending.status,
            output: ending.output.map(|data| self.shown_output(schemas, data)),
            error_code: ending.error.map(|e| e.code.as_str().into()),
            error: ending.error.map(|e| self.shown_error(e)),
            elapsed_us: ending.elapsed_us,
            node: Arc::default(),
            log_text: ending.log_text.map(|text| self.scrub_text(text)),
        })
    }

    fn shown_output(&self, schemas: Option<&Schemas>, data: &RawValue) -> String {
        let marked = schemas
            .and_then(|s| s.output.as_ref())
            .filter(|schema| schema.has_secrets());
        if marked.is_none() && self.secrets.is_empty() {
            return data.get().to_owned();
        }
        let mut shown: Value = serde_json::from_str(data.get()).unwrap_or(Value::Null);
        if let Some(schema) = marked {
            schema.redact(&mut shown);
        }
        self.scrub(&mut shown);
        shown.to_string()
    }

    fn shown_error(&self, error: &CallError) -> String {
        let mut shown = serde_json::to_value(error).unwrap_or(Value::Null);
        self.scrub(&mut shown);
        shown.to_string()
    }

    fn scrub(&self, value: &mut Value) {
        if self.secrets.is_empty() {
            return;
        }
        match value {
            Value::String(text) => *text = self.scrub_text(std::mem::take(text)),
            Value::Number(number) if self.secrets.contains(&number.to_string()) => {
                *value = Value::String(HIDDEN.to_owned());
            }
            Value::Array(items) => items.iter_mut().for_each(|v| self.scrub(v)),
            Value::Object(members) => {
                let named = |name: &String| self.secrets.iter().any(|s| name.contains(s.as_str()));
                if members.keys().any(named) {
                    let old = std::mem::take(members);
                    *members = old
                        .into_iter()
                        .map(|(name, value)| (self.scrub_text(name), value))
                        .collect();
                }
                members.values_mut().for_each(|v| self.scrub(v));
            }
            _ => {}
        }
    }

    fn scrub_text(&self, mut text: String) -> String {
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), HIDDEN);
            }
        }
        text
    }
}

/// The forms a secret takes in text: itself, and as it stands inside JSON. Longest first, so that one that begins
/// another does not leave the other's end behind.
fn searched_for(secrets: Vec<String>) -> Vec<String> {
    let escaped = |secret: &String| {
        let json = Value::from(secret.as_str()).to_string();
        json[1..json.len() - 1].to_owned()
    };
    let mut all: Vec<String> = secrets.iter().map(escaped).collect();
    all.extend(secrets);
    all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draft(secrets: &[&str]) -> EntryDraft {
        EntryDraft {
            id: Uuid::nil(),
            started_at: 0,
            tool_name: "t".into(),
            arguments: String::new(),
            secrets: searched_for(secrets.iter().map(|&s| s.to_owned()).collect()),
        }
    }

    #[test]
    fn a_secret_that_begins_another_leaves_nothing_of_it() {
        let text = draft(&["pass", "password123"]).scrub_text("password123 pass".to_owned());
        assert_eq!(text, "*** ***");
    }

    #[test]
    fn a_secret_of_several_lines_is_found_inside_json_text() {
        let key = "-----BEGIN KEY-----\nabc\"def\n-----END KEY-----";
        let text = draft(&[key]).scrub_text(json!({"key": key}).to_string());
        assert_eq!(text, r#"{"key":"***"}"#);
    }

    #[test]
    fn names_of_members_are_scrubbed_too() {
        let mut value = json!({"hunter2": {"a hunter2": ["hunter2"]}, "other": 1});
        draft(&["hunter2"]).scrub(&mut value);
        assert_eq!(value, json!({"***": {"a ***": ["***"]}, "other": 1}));
    }
}
