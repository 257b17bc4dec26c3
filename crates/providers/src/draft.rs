//! A request body that is being written: what all wire formats have in common of it.

use crate::names::Names;
use crate::profile::Profile;
use crate::request::{Choice, Request};
use crate::schema;
use serde_json::{Map, Value, json};

/// Fields that `extra` cannot replace: an answer to another question would be taken for the answer to this one.
const OURS: [&str; 6] = [
    "input",
    "instructions",
    "messages",
    "model",
    "stream",
    "system",
];

pub(crate) struct Draft<'a> {
    pub(crate) request: &'a Request,
    pub(crate) profile: Profile,
    pub(crate) names: &'a Names,
    pub(crate) body: Map<String, Value>,
    pub(crate) notes: Vec<String>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(request: &'a Request, profile: Profile, names: &'a Names) -> Self {
        let mut draft = Draft {
            request,
            profile,
            names,
            body: Map::new(),
            notes: Vec::new(),
        };
        draft.put("model", json!(request.model));
        draft
    }

    pub(crate) fn put(&mut self, field: &str, value: Value) {
        self.body.insert(field.to_owned(), value);
    }

    pub(crate) fn note_refused(&mut self, what: &str) {
        let model = &self.request.model;
        self.notes
            .push(format!("{what} was not sent: {model} does not take it"));
    }

    /// `temperature` and `top_p`, which all formats call so.
    pub(crate) fn put_sampling(&mut self) {
        let both = [
            ("temperature", self.request.temperature),
            ("top_p", self.request.top_p),
        ];
        for (field, value) in both {
            let Some(value) = value else { continue };
            let is_second = self.body.contains_key("temperature");
            match self.profile.takes_sampling && (self.profile.takes_both || !is_second) {
                true => self.put(field, json!(value)),
                false => self.note_refused(field),
            }
        }
    }

    /// The choice that is to be made of the tools, where it is not the model's own.
    pub(crate) fn choice(&mut self) -> Choice {
        match self.request.tool_choice {
            _ if self.request.tools.is_empty() => Choice::Auto,
            Choice::Required if !self.profile.takes_required => {
                self.note_refused("that a tool must be called");
                Choice::Auto
            }
            choice => choice,
        }
    }

    /// Whether several calls at once are to be allowed or forbidden.
    pub(crate) fn parallel(&mut self) -> Option<bool> {
        let parallel = self
            .request
            .parallel
            .filter(|_| !self.request.tools.is_empty())?;
        if self.profile.takes_parallel {
            return Some(parallel);
        }
        if !parallel {
            self.note_refused("that tools are called one at a time");
        }
        None
    }

    /// The schema of the answer as the provider can hold the model to it; `None` where it cannot, or none is wanted.
    pub(crate) fn answer_schema(&mut self, closed_only: bool) -> Option<schema::Answer> {
        let wanted = self.request.output_schema.as_ref()?;
        let answer = schema::answer(wanted);
        let can = self.profile.takes_schema && !(closed_only && answer.is_open);
        if !can {
            self.notes.push(format!(
                "{} was told the schema of its answer and is not held to it",
                self.request.model
            ));
            return None;
        }
        if !answer.unenforced.is_empty() {
            self.notes.push(format!(
                "Of the schema of the answer the provider does not enforce {}",
                answer.unenforced.join(", ")
            ));
        }
        Some(answer)
    }

    /// What the model is told first, with the schema of its answer where that can only be told.
    pub(crate) fn system(&self, tells_schema: bool) -> Option<String> {
        let schema = self.request.output_schema.as_ref().filter(|_| tells_schema);
        let system = self
            .request
            .system
            .as_deref()
            .filter(|text| !text.is_empty());
        match (system, schema.map(schema::in_words)) {
            (Some(system), Some(schema)) => Some(format!("{system}\n\n{schema}")),
            (system, schema) => system.map(str::to_owned).or(schema),
        }
    }

    /// Adds the provider's own fields. Of an object that is there already its members are replaced one by one.
    pub(crate) fn finish(mut self) -> (Value, Vec<String>) {
        for (field, value) in &self.request.extra {
            if OURS.contains(&field.as_str()) {
                self.notes.push(format!(
                    "extra.{field} was not sent: it is said elsewhere in the request"
                ));
                continue;
            }
            match (self.body.get_mut(field), value) {
                (_, Value::Null) => {
                    self.body.shift_remove(field);
                }
                (Some(Value::Object(there)), Value::Object(new)) => there.extend(new.clone()),
                (_, value) => {
                    self.body.insert(field.clone(), value.clone());
                }
            }
        }
        (Value::Object(self.body), self.notes)
    }
}

/// What a failed call is told as where there is no field for it.
pub(crate) fn result_text(result: &crate::request::ToolResult) -> String {
    match result.is_error && !result.text.to_lowercase().starts_with("error") {
        true => format!("Error: {}", result.text),
        false => result.text.clone(),
    }
}
