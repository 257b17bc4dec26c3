//! One step of a trace: what was done, when, for how long, and how it ended. It is told of when it goes.

use crate::context::Context;
use crate::export::{Item, Telemetry};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// On which side of a conversation a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Internal,
    Server,
    Client,
}

impl Kind {
    /// As OTLP counts them.
    fn number(self) -> u8 {
        match self {
            Kind::Internal => 1,
            Kind::Server => 2,
            Kind::Client => 3,
        }
    }
}

/// A step that is under way.
pub struct Span {
    pub context: Context,
    parent: Option<[u8; 8]>,
    name: String,
    kind: Kind,
    began: SystemTime,
    attributes: Vec<(&'static str, Value)>,
    /// The sort of error that it ended with.
    error: Option<String>,
    telemetry: Arc<Telemetry>,
}

impl Telemetry {
    /// Begins a step within the one that a request told of, or a trace.
    pub fn span(
        self: &Arc<Self>,
        parent: Option<&Context>,
        name: impl Into<String>,
        kind: Kind,
    ) -> Span {
        let context = match parent {
            Some(parent) => parent.child(),
            None => Context::root(self.is_chosen()),
        };
        Span {
            context,
            parent: parent.map(|parent| parent.span_id),
            name: name.into(),
            kind,
            began: now(),
            attributes: Vec::new(),
            error: None,
            telemetry: Arc::clone(self),
        }
    }
}

impl Span {
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.attributes.push((name, value.into()));
    }

    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// It did not end well: the sort of error, never its text.
    pub fn fail(&mut self, error: impl Into<String>) {
        self.error = Some(error.into());
    }
}

impl Drop for Span {
    /// Also where whoever asked is gone: that the step ended is told all the same.
    fn drop(&mut self) {
        if !self.context.is_sampled {
            return;
        }
        let mut attributes = std::mem::take(&mut self.attributes);
        let status = match self.error.take() {
            None => json!({}),
            Some(error) => {
                attributes.push(("error.type", error.into()));
                json!({"code": 2})
            }
        };
        let mut span = json!({
            "traceId": crate::context::hex(&self.context.trace_id),
            "spanId": crate::context::hex(&self.context.span_id),
            "name": self.name,
            "kind": self.kind.number(),
            "startTimeUnixNano": nanos(self.began),
            "endTimeUnixNano": nanos(now()),
            "attributes": crate::otlp::attributes(attributes),
            "status": status,
        });
        if let Some(parent) = self.parent {
            span["parentSpanId"] = crate::context::hex(&parent).into();
        }
        if let Some(state) = &self.context.state {
            span["traceState"] = (**state).into();
        }
        self.telemetry.put(Item::Span(span));
    }
}

/// As OTLP's JSON has it: a text, because it is longer than the numbers of JSON.
pub(crate) fn nanos(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a trace is told in nanoseconds of the machine's own clock"
)]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}
