//! The seam between the executor and the kinds of tool: what a kind is given and what it hands back.

use crate::code::Code;
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::tool::KindName;
use serde_json::Value;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub type RunFuture<'a> = Pin<Box<dyn Future<Output = Result<Output, Failure>> + Send + 'a>>;

/// Runs one kind of tool. Deadlines, schemas, limits and the log are the executor's; a kind only has to
/// stop when it is dropped, and to hand work that outlives its future the `cancel` token.
pub trait Kind: Send + Sync {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a>;
}

/// One call, as a kind sees it.
pub struct Run {
    pub entry: Arc<Entry>,
    pub caller: Arc<Caller>,
    /// Checked against the input schema.
    pub arguments: Value,
    pub deadline: Instant,
    /// Fires at the deadline and when the caller is gone.
    pub cancel: CancellationToken,
    /// Progress and questions to the person, while the call runs.
    pub events: Option<mpsc::Sender<Event>>,
}

/// What a running call tells its caller before it is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
}

/// One block of a result, as MCP knows it; kept raw so that an upstream's blocks pass unharmed.
pub type Content = Value;

/// What a run gives back.
#[derive(Debug, Default)]
pub struct Output {
    /// The structured value: the `data` of the answer.
    pub data: Value,
    /// Content blocks where the tool made its own; empty means "made from the data".
    pub content: Vec<Content>,
    /// Replaces the plain success message.
    pub message: Option<String>,
    /// What the run printed; kept in the log entry.
    pub log_text: Option<String>,
}

impl From<Value> for Output {
    fn from(data: Value) -> Self {
        Output {
            data,
            ..Output::default()
        }
    }
}

/// Why a run failed. The message reaches the caller: no internal text.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
    pub details: Value,
    pub log_text: Option<String>,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Failure {
            code,
            message: message.into(),
            details: Value::Null,
            log_text: None,
        }
    }

    /// The tool ran and failed.
    pub fn execution(message: impl std::fmt::Display) -> Self {
        Failure::new(
            Code::ToolExecutionError,
            format!("Execution error: {message}"),
        )
    }

    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}

/// The kinds this build can run.
#[derive(Default)]
pub struct Kinds(HashMap<KindName, Box<dyn Kind>>);

impl Kinds {
    pub fn with(mut self, name: KindName, kind: impl Kind + 'static) -> Self {
        self.0.insert(name, Box::new(kind));
        self
    }

    pub fn get(&self, name: KindName) -> Option<&dyn Kind> {
        self.0.get(&name).map(Box::as_ref)
    }
}
