//! Secrets in journals: what a tool's schema marks as secret stands there hidden, as in the log of calls. The whole entry stands
//! beside it, sealed, for whoever drives the run and for nobody else.

use crate::App;
use agent::entry::{Entry, Pending, PendingKind};
use agent::state::State;
use catalog::caller::Caller;
use catalog::catalogue::Entry as Tool;
use catalog::redaction::HIDDEN;
use catalog::schema::Schema;
use providers::{Arguments, Call, Turn};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// What stands beside an entry that holds secrets.
#[derive(Deserialize)]
struct Beside {
    /// Null where it could not be sealed.
    sealed: Value,
}

/// An entry that somebody may not read.
#[derive(Debug)]
pub(crate) struct Unreadable;

impl App {
    /// What all may read of an entry that follows this state; none where that is everything.
    pub(crate) fn told_of(
        &self,
        caller: Option<&Caller>,
        state: &State,
        entry: &Entry,
    ) -> Option<Entry> {
        let hidden = |tool: &str, arguments: &Value| self.arguments_told(caller, tool, arguments);
        match entry {
            Entry::Turn { turn, cost } => Some(Entry::Turn {
                turn: Box::new(self.told_turn(caller, turn)?),
                cost: *cost,
            }),
            Entry::Started { call, arguments } => {
                let open = state.open.iter().find(|it| it.call.id == *call)?;
                Some(Entry::Started {
                    call: call.clone(),
                    arguments: hidden(&open.call.name, arguments)?,
                })
            }
            Entry::Asked(pending) => {
                let arguments = hidden(pending.tool.as_deref()?, &pending.arguments)?;
                let told = Pending {
                    arguments,
                    ..Pending::clone(pending)
                };
                Some(Entry::Asked(Box::new(told)))
            }
            Entry::Answered {
                request_id,
                answer,
                by,
            } => {
                let mut all = state.pending();
                let pending = all.find(|it| it.request_id == *request_id)?;
                let answer = match pending.kind {
                    PendingKind::Question => {
                        redacted(&Schema::compile(&pending.schema).ok()?, answer)?
                    }
                    PendingKind::Approval => {
                        let arguments = answer.get("arguments")?;
                        let arguments = hidden(pending.tool.as_deref()?, arguments)?;
                        let mut told = answer.clone();
                        told["arguments"] = arguments;
                        told
                    }
                };
                Some(Entry::Answered {
                    request_id: request_id.clone(),
                    answer,
                    by: by.clone(),
                })
            }
            _ => None,
        }
    }

    fn told_turn(&self, caller: Option<&Caller>, turn: &Turn) -> Option<Turn> {
        let hide = |call: &Call| match &call.arguments {
            Arguments::Json(arguments) => {
                let told = self.arguments_told(caller, &call.name, arguments);
                told.map(Arguments::Json)
            }
            Arguments::Bad(_) => {
                let hides = self.takes_secrets(caller, &call.name);
                hides.then(|| Arguments::Bad(HIDDEN.to_owned()))
            }
        };
        let hidden: Vec<Option<Arguments>> = turn.calls.iter().map(hide).collect();
        if hidden.iter().all(Option::is_none) {
            return None;
        }
        let mut told = turn.clone();
        for (call, hidden) in told.calls.iter_mut().zip(hidden) {
            call.arguments = hidden.unwrap_or(call.arguments.clone());
        }
        // The same arguments, in the provider's own words.
        told.echo = None;
        Some(told)
    }

    /// What a tool is called with, without its secrets; none where there are none.
    fn arguments_told(
        &self,
        caller: Option<&Caller>,
        tool: &str,
        arguments: &Value,
    ) -> Option<Value> {
        let tool = self.tool_of_run(caller, tool)?;
        redacted(&tool.schemas().ok()?.input, arguments)
    }

    /// Whether the tool of that name marks some of its arguments as secret.
    pub(crate) fn takes_secrets(&self, caller: Option<&Caller>, tool: &str) -> bool {
        let tool = self.tool_of_run(caller, tool);
        tool.is_some_and(|it| it.schemas().is_ok_and(|it| it.input.has_secrets()))
    }

    fn tool_of_run(&self, caller: Option<&Caller>, name: &str) -> Option<Arc<Tool>> {
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        let theirs = caller.and_then(|it| policy.find(&catalogue, it, name));
        let theirs = theirs.map(|shown| Arc::clone(shown.entry));
        theirs.or_else(|| catalogue.find(name).cloned())
    }

    /// An entry as it is stored, with what all may read of it where that is not everything.
    pub(crate) fn body_of(&self, run: Uuid, entry: &Entry, told: Option<&Entry>) -> String {
        let Some(told) = told else {
            return text(entry);
        };
        let sealed = self.vault.keys().seal(run, &text(entry));
        let sealed = sealed.inspect_err(|error| {
            tracing::error!(%run, %error, "what a run needs to go on cannot be sealed");
        });
        let mut body = json!(told);
        // Not left out: whoever goes on has to see that something is missing.
        body["sealed"] = json!(sealed.ok());
        body.to_string()
    }

    /// All of a stored entry; none where that is what all may read.
    pub(crate) fn unsealed(&self, run: Uuid, body: &str) -> Result<Option<Entry>, Unreadable> {
        if !body.contains("\"sealed\":") {
            return Ok(None);
        }
        let Ok(beside) = serde_json::from_str::<Beside>(body) else {
            return Ok(None);
        };
        let sealed = beside.sealed.as_str().ok_or(Unreadable)?;
        let opened = self.vault.keys().open(run, sealed).map_err(|error| {
            tracing::error!(%run, %error, "what a run needs to go on cannot be opened");
            Unreadable
        })?;
        serde_json::from_str(&opened).map_err(|_| Unreadable)
    }
}

/// A value without what the schema marks; none where it marks nothing in it.
fn redacted(schema: &Schema, value: &Value) -> Option<Value> {
    if !schema.has_secrets() {
        return None;
    }
    let mut told = value.clone();
    schema.redact(&mut told);
    (told != *value).then_some(told)
}

/// Whether a value has somewhere what stands in place of a secret.
pub(crate) fn has_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => text == HIDDEN,
        Value::Array(items) => items.iter().any(has_hidden),
        Value::Object(members) => members.values().any(has_hidden),
        _ => false,
    }
}

pub(crate) fn text(entry: &Entry) -> String {
    serde_json::to_string(entry).expect("an entry is plain JSON")
}
