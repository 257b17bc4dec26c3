//! What a request brings along besides its method: who asks, in which era, and the line back to them.

use crate::Face;
use crate::sessions::{Hears, Session};
use catalog::caller::Caller;
use mcp::wire::{Era, META_LOG_LEVEL, RpcError, code};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::mpsc;

/// How many messages may wait before an answer that nobody reads.
pub(crate) const LINE: usize = 64;

/// One request on its way.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) face: Arc<Face>,
    pub(crate) caller: Arc<Caller>,
    /// What the client can be asked for.
    pub(crate) capabilities: Arc<Value>,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) hears: Hears,
    /// Messages that go before the answer.
    pub(crate) line: mpsc::Sender<String>,
}

impl Context {
    pub(crate) fn era(&self) -> Era {
        match self.session {
            Some(_) => Era::Legacy,
            None => Era::Modern,
        }
    }

    pub(crate) async fn say(&self, text: String) {
        // Who hung up is told nothing.
        let _ = self.line.send(text).await;
    }

    pub(crate) fn can(&self, capability: &str) -> bool {
        let able = self.capabilities.get(capability);
        able.is_some_and(|able| !able.is_null())
    }

    /// The least level of log lines that the client wants.
    pub(crate) fn log_level(&self, params: &Params) -> Option<String> {
        match &self.session {
            Some(session) => session.level(),
            None => params.meta(META_LOG_LEVEL)?.as_str().map(str::to_owned),
        }
    }
}

/// A request's parameters.
#[derive(Debug, Default)]
pub(crate) struct Params(pub(crate) Map<String, Value>);

impl Params {
    pub(crate) fn read(text: Option<&str>) -> Result<Self, RpcError> {
        match text {
            None => Ok(Params::default()),
            Some(text) => serde_json::from_str(text)
                .map(Params)
                .map_err(|_| invalid("params must be an object")),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, RpcError> {
        let value = self.0.get(name).and_then(Value::as_str);
        value.ok_or_else(|| invalid(format!("params.{name} must be text")))
    }

    pub(crate) fn meta(&self, name: &str) -> Option<&Value> {
        self.0.get("_meta")?.get(name)
    }

    /// Where to send progress to, if it is wanted.
    pub(crate) fn progress_token(&self) -> Option<Value> {
        let token = self.meta("progressToken")?;
        (token.is_string() || token.is_number()).then(|| token.clone())
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, message)
}

pub(crate) fn missing_capability(required: &Value) -> RpcError {
    let message = "The client does not declare a capability that this needs";
    RpcError::new(code::MISSING_CAPABILITY, message)
        .with_data(json!({"requiredCapabilities": required}))
}
