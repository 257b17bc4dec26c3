//! From one attempt to its log entry: what is written down, and what is hidden first.

use crate::kind::Opened;
use crate::response::{CallError, ToolResponse};
use crate::secrets::{HIDDEN_WHOLE, Secrets};
use catalog::caller::Caller;
use catalog::catalogue::{Entry, Schemas};
use catalog::tool::Millis;
use executions::{Execution, Status};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::sync::Arc;
use uuid::Uuid;

/// What is known of a call before it runs, with its arguments already redacted.
pub(crate) struct EntryDraft {
    pub(crate) id: Uuid,
    pub(crate) started_at: Millis,
    tool_name: Arc<str>,
    arguments: String,
    /// Values that must not appear in output or error either.
    secrets: Secrets,
    /// What the tool itself has been given.
    pub(crate) opened: Opened,
}

fn scrubbed(secrets: &Secrets, written: &RawValue) -> Box<RawValue> {
    let mut value: Value = serde_json::from_str(written.get()).unwrap_or_default();
    secrets.scrub(&mut value);
    to_raw_value(&value).unwrap_or_default()
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
            secrets: Secrets::new(
                marked.map_or_else(Vec::new, |schema| schema.secret_strings(arguments)),
            ),
            opened: Opened::default(),
        };
        draft.arguments = match marked {
            Some(schema) => {
                let mut shown = arguments.clone();
                schema.redact(&mut shown);
                draft.secrets.scrub(&mut shown);
                shown.to_string()
            }
            // Half of what `to_string` takes; a value is always written.
            None => serde_json::to_string(arguments).unwrap_or_default(),
        };
        draft
    }

    /// Takes the tool's own secrets out of its answer: who may call a tool may not know them. From here on the log
    /// hides them, too.
    pub(crate) fn hide_opened(&mut self, response: &mut ToolResponse) {
        let opened = self.opened.texts();
        if opened.is_empty() {
            return;
        }
        let own = Secrets::new(opened.clone());
        response.message = own.scrub_text(std::mem::take(&mut response.message));
        if own.is_in(response.data.get()) {
            response.data = scrubbed(&own, &response.data);
        }
        if let Some(error) = &mut response.error {
            error.message = own.scrub_text(std::mem::take(&mut error.message));
            own.scrub(&mut error.details);
        }
        if let Some(raw) = &mut response.raw {
            // Somebody else has written it, and may have spelled them in another way.
            *raw = scrubbed(&own, raw);
        }
        self.secrets = self.secrets.with(opened);
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
            log_text: ending.log_text.map(|text| self.secrets.scrub_text(text)),
            behind: entry.and_then(|e| Some(Arc::clone(&e.behind.as_ref()?.0))),
        })
    }

    fn shown_output(&self, schemas: Option<&Schemas>, data: &RawValue) -> String {
        let marked = schemas
            .and_then(|s| s.output.as_ref())
            .filter(|schema| schema.has_secrets());
        if marked.is_none() && self.secrets.is_none() {
            return data.get().to_owned();
        }
        let mut shown: Value = serde_json::from_str(data.get()).unwrap_or(Value::Null);
        if let Some(schema) = marked {
            schema.redact(&mut shown);
        }
        self.secrets.scrub(&mut shown);
        shown.to_string()
    }

    fn shown_error(&self, error: &CallError) -> String {
        if self.secrets.are_too_many() {
            let error = CallError {
                code: error.code,
                message: HIDDEN_WHOLE.to_owned(),
                details: Value::Null,
            };
            return serde_json::to_string(&error).unwrap_or_default();
        }
        let mut shown = serde_json::to_value(error).unwrap_or(Value::Null);
        self.secrets.scrub(&mut shown);
        shown.to_string()
    }
}
