//! Calls in traces: the step that a call is, and the steps that its kind makes on the way. Without a collector, what a caller
//! says of their trace is only passed on.

use crate::call::{CallRequest, Executor};
use crate::kind::Run;
use crate::response::ToolResponse;
use catalog::catalogue::Entry;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use telemetry::{Context, Kind, Span};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

impl Executor {
    pub fn telemetry(&self) -> Option<&Arc<telemetry::Telemetry>> {
        self.settings.telemetry.as_ref()
    }

    /// The step that a call is; what it calls is told of it.
    pub(crate) fn trace(
        &self,
        request: &mut CallRequest,
        (tool, id): (&str, Uuid),
        entry: Option<&Entry>,
    ) -> Option<Box<Span>> {
        let telemetry = self.settings.telemetry.as_ref()?;
        let name = format!("execute_tool {tool}");
        let mut span = telemetry.span(request.trace.as_deref(), name, Kind::Internal);
        span.set("gen_ai.operation.name", "execute_tool");
        span.set("gen_ai.tool.name", tool);
        span.set("gen_ai.tool.call.id", id.to_string());
        if let Some(entry) = entry {
            span.set("gen_ai.tool.type", "function");
            span.set("toolcrib.tool.kind", entry.tool.definition.kind.as_str());
            span.set("toolcrib.tool.version", entry.tool.version);
        }
        request.trace = Some(Box::new(span.context.clone()));
        Some(Box::new(span))
    }
}

/// The call is answered.
pub(crate) fn ended(span: Option<Box<Span>>, response: &ToolResponse) {
    let error = response.error.as_ref();
    if let (Some(mut span), Some(error)) = (span, error) {
        span.fail(error.code.as_str());
    }
}

/// Something that a kind asks of somebody else.
pub struct Step {
    span: Option<Box<Span>>,
    /// What the caller said, where nobody here keeps traces.
    passed: Option<Box<Context>>,
    deadline: Instant,
    cancel: CancellationToken,
}

impl Run {
    /// Begins to ask somebody else; it ends when it goes.
    pub fn step(&self, name: impl FnOnce() -> String) -> Step {
        let telemetry = self.telemetry.as_ref();
        let span = telemetry.map(|telemetry| {
            let span = telemetry.span(self.trace.as_deref(), name(), Kind::Client);
            Box::new(span)
        });
        let passed = match span {
            Some(_) => None,
            None => self.trace.clone(),
        };
        Step {
            span,
            passed,
            deadline: self.deadline,
            cancel: self.cancel.clone(),
        }
    }
}

impl Step {
    /// What whoever is asked is told.
    pub fn context(&self) -> Option<&Context> {
        let own = self.span.as_ref().map(|span| &span.context);
        own.or(self.passed.as_deref())
    }

    pub fn set(&mut self, name: &'static str, value: impl FnOnce() -> Value) {
        if let Some(span) = &mut self.span {
            span.set(name, value());
        }
    }

    /// The sort of error, never its text.
    pub fn fail(&mut self, error: impl FnOnce() -> String) {
        if let Some(span) = &mut self.span {
            span.fail(error());
        }
    }
}

impl Drop for Step {
    /// One that is cut off in the middle is dropped like one that is done; it must not look as if it had been answered.
    fn drop(&mut self) {
        let Some(span) = self.span.as_mut().filter(|span| !span.has_failed()) else {
            return;
        };
        if Instant::now() >= self.deadline {
            span.fail("timeout");
        } else if self.cancel.is_cancelled() {
            span.fail("cancelled");
        }
    }
}

/// What calls are told to, where there is a collector.
pub(crate) type Collector = Option<Arc<telemetry::Telemetry>>;
