//! How a request in progress talks back to whoever asked.

use super::fault::Fault;
use crate::wire::{RpcError, code};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Who asks, what they can be asked, and how long they wait.
#[derive(Debug, Clone)]
pub struct Talk {
    /// Who hears log messages, questions and, if it is wanted, progress.
    pub listener: Option<Listener>,
    pub wants_progress: bool,
    /// What the asking client can do: `{"elicitation":{},"sampling":{},"roots":{}}`.
    pub capabilities: Arc<Value>,
    /// None where whoever asks sees to it that it ends.
    pub deadline: Option<Instant>,
    /// When to stop waiting for a connection. What was not sent by then certainly did not run.
    pub connect_by: Option<Instant>,
    /// None where whoever asks stops waiting instead.
    pub cancel: Option<CancellationToken>,
    /// Read-only or idempotent: may be sent again after a lost connection.
    pub may_repeat: bool,
    pub log_level: Option<String>,
    /// The trace that it belongs to.
    pub trace: Option<Box<telemetry::Context>>,
}

/// Hears what an upstream says, where and when it is said: it must not wait, and what it has no room for it leaves out.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(Saying) + Send + Sync>);

impl Listener {
    pub fn new(hear: impl Fn(Saying) + Send + Sync + 'static) -> Self {
        Listener(Arc::new(hear))
    }

    pub(super) fn hear(&self, saying: Saying) {
        (self.0)(saying);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// What an upstream says while it works.
#[derive(Debug)]
pub enum Saying {
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    /// The params of a log message.
    Log(Value),
    /// A question that is answered by a person, a model or the client itself.
    Ask {
        /// elicitation/create, sampling/createMessage or roots/list.
        method: String,
        params: Value,
        reply: oneshot::Sender<Result<Value, RpcError>>,
    },
}

impl Talk {
    /// Nobody listens, and nobody waits for ever.
    pub fn until(deadline: Instant) -> Self {
        Talk {
            deadline: Some(deadline),
            ..Talk::quiet()
        }
    }

    /// Nobody listens.
    pub fn quiet() -> Self {
        Talk {
            listener: None,
            wants_progress: false,
            capabilities: Arc::new(json!({})),
            deadline: None,
            connect_by: None,
            cancel: None,
            may_repeat: false,
            log_level: None,
            trace: None,
        }
    }

    pub(super) fn abilities(&self) -> Abilities {
        let has = |name: &str| self.listener.is_some() && self.capabilities.get(name).is_some();
        Abilities {
            elicitation: has("elicitation"),
            sampling: has("sampling"),
            roots: has("roots"),
        }
    }

    /// Waits for the work, but no longer than whoever asked does.
    pub(super) async fn bound<T>(
        &self,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let late = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        let cancelled = async {
            match &self.cancel {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            () = cancelled => Err(Fault::Cancelled),
            () = late => Err(Fault::Late),
        }
    }
}

/// Asks whoever is behind a call.
pub(super) async fn question(
    listener: &Listener,
    method: String,
    params: Value,
) -> Result<Value, RpcError> {
    let (reply, answer) = oneshot::channel();
    let ask = Saying::Ask {
        method,
        params,
        reply,
    };
    listener.hear(ask);
    let gone = |_| RpcError::new(code::INTERNAL, "nobody is there to answer");
    answer.await.map_err(gone)?
}

/// Why a server has no answer to what it asks of the caller. It reaches people as what the tool failed with.
pub(super) fn cannot_be_asked(method: &str) -> RpcError {
    let what = match method {
        "elicitation/create" => "elicitation",
        "sampling/createMessage" => "sampling",
        other => other,
    };
    let why = format!(
        "this caller cannot be asked ({what}): calls over REST and the command line answer no questions, and neither does an MCP client that does not offer it; call the tool from one that does"
    );
    RpcError::new(code::NO_METHOD, why)
}

/// What a client can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Abilities {
    elicitation: bool,
    sampling: bool,
    roots: bool,
}

impl Abilities {
    pub(super) fn any(self) -> bool {
        self.elicitation || self.sampling || self.roots
    }

    /// Whether a client with these can answer this method.
    pub(super) fn answer(self, method: &str) -> bool {
        match method {
            "elicitation/create" => self.elicitation,
            "sampling/createMessage" => self.sampling,
            "roots/list" => self.roots,
            _ => false,
        }
    }
}
