//! The modern era: each request carries its version, its client's abilities and its headers, and nothing is kept between.

use crate::Face;
use crate::context::{Context, LINE, Params, invalid};
use crate::dispatch::{self, status};
use crate::exchange::{Answer, Exchange, Work};
use crate::headers::{self, Headers};
use crate::sessions::Hears;
use catalog::caller::Caller;
use catalog::toolset::Shown;
use executor::line::{Sender, line};
use mcp::wire::{
    self, Era, LEGACY, META_CAPABILITIES, META_VERSION, MODERN, Members, Message, RpcError, Sort,
    code,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// Whether a message is of this era: its header says so, or its `_meta` does.
pub fn is_modern(version: Option<&str>, message: &Message<'_>) -> bool {
    let in_body = || message.params.is_some_and(names_version);
    match version.map(str::trim) {
        Some(version) => !LEGACY.contains(&version) || in_body(),
        None => in_body(),
    }
}

/// Whether the `_meta` of these params names a version. The same text elsewhere, as in an argument, means nothing.
fn names_version(params: &RawValue) -> bool {
    // Most have none, which is seen sooner than read.
    params.get().contains("protocolVersion")
        && Members::of(params)
            .get("_meta")
            .is_some_and(|meta| Members::of(meta).get(META_VERSION).is_some())
}

/// The server that keeps the request which a message goes on with.
#[derive(Debug)]
pub struct Elsewhere(pub String);

/// Why nothing is done about a message here.
enum Refused {
    Error(RpcError),
    Elsewhere(Elsewhere),
}

impl From<RpcError> for Refused {
    fn from(error: RpcError) -> Self {
        Refused::Error(error)
    }
}

impl Face {
    /// A message of a modern client. None where it needs no answer.
    pub fn modern(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        headers: &Headers<'_>,
        message: &Message<'_>,
    ) -> Result<Option<Exchange>, Elsewhere> {
        let (line, said) = line(LINE);
        let work: Work = match self.accepted(caller, headers, message, line) {
            Ok(None) => return Ok(None),
            Ok(Some(work)) => work,
            Err(Refused::Elsewhere(keeper)) => return Err(keeper),
            Err(Refused::Error(error)) => {
                let answer = Answer {
                    text: wire::error(message.id, &error).into(),
                    status: status(&error, Era::Modern),
                };
                Box::pin(std::future::ready(answer))
            }
        };
        Ok(Some(Exchange::new(said, work, false)))
    }

    fn accepted(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        headers: &Headers<'_>,
        message: &Message<'_>,
        line: Sender<String>,
    ) -> Result<Option<Work>, Refused> {
        let id = match message.sort() {
            Sort::Request => message.id.unwrap_or(RawValue::NULL).to_owned(),
            Sort::Notification => return Ok(None),
            Sort::Response | Sort::Odd => {
                let why = "This is no JSON-RPC request";
                return Err(RpcError::new(code::INVALID_REQUEST, why).into());
            }
        };
        let method = message.method.as_deref().unwrap_or_default().to_owned();
        let params = Params::read(message.params.map(RawValue::get))?;
        let mut params = params.carried_in(message.trace.as_deref());
        let capabilities = envelope(headers, &mut params)?;
        headers::check(headers, &method, &params)?;
        if method == "tools/call" {
            self.check_headers(headers, caller, &params)?;
        }
        let state = params.get("requestState").and_then(Value::as_str);
        if let Some(keeper) = state.and_then(|state| self.app.replicas.elsewhere(state)) {
            return Err(Refused::Elsewhere(Elsewhere(keeper.to_owned())));
        }
        let context = Context {
            face: Arc::clone(self),
            caller: Arc::clone(caller),
            capabilities,
            session: None,
            // What it is asked is its answer.
            hears: Hears::Everything,
            line,
        };
        Ok(Some(Box::pin(async move {
            dispatch::answer(context, id, &method, params).await
        })))
    }

    fn check_headers(
        &self,
        headers: &Headers<'_>,
        caller: &Caller,
        params: &Params,
    ) -> Result<(), RpcError> {
        let executor = &self.app.executor;
        let (policy, catalogue) = (executor.policy.load(), executor.catalogue.load());
        let name = params.get("name").and_then(Value::as_str);
        let found = name.and_then(|name| policy.find(&catalogue, caller, name));
        let Some(Shown { entry, .. }) = found else {
            return Ok(());
        };
        // Most schemas want nothing repeated, which is known from their text alone.
        if !entry.repeats_arguments() || !self.app.may_know(caller, entry) {
            return Ok(());
        }
        let schema = &entry.tool.definition.input_schema;
        headers::check_params(headers, schema, params.get("arguments"))
    }
}

/// The same for all who can do nothing.
static NONE: OnceLock<Arc<Value>> = OnceLock::new();

/// What every request must carry; gives what its client can be asked.
fn envelope(headers: &Headers<'_>, params: &mut Params) -> Result<Arc<Value>, RpcError> {
    let version = params.meta.version.as_ref().and_then(Value::as_str);
    let version =
        version.ok_or_else(|| invalid(format!("params._meta must hold \"{META_VERSION}\"")))?;
    if headers.version.map(str::trim) != Some(version) {
        let message = "The header MCP-Protocol-Version must be the version in params._meta";
        return Err(RpcError::new(code::HEADER_MISMATCH, message));
    }
    if version != MODERN {
        let mut supported = vec![MODERN];
        supported.extend(LEGACY);
        let message = format!("Protocol version '{version}' is not supported");
        let data = json!({"supported": supported, "requested": version});
        return Err(RpcError::new(code::UNSUPPORTED_VERSION, message).with_data(data));
    }
    match params.meta.capabilities.take() {
        // Most can do nothing.
        Some(Value::Object(none)) if none.is_empty() => Ok(Arc::clone(NONE.get_or_init(|| {
            let none = Value::Object(none);
            Arc::new(none)
        }))),
        Some(able @ Value::Object(_)) => Ok(Arc::new(able)),
        _ => Err(invalid(format!(
            "params._meta must hold \"{META_CAPABILITIES}\""
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_era_is_read_from_meta_alone() {
        let is_modern = |params: &str, version: Option<&str>| {
            let text = format!(r#"{{"id":1,"method":"a","params":{params}}}"#);
            is_modern(version, &Message::read(&text).unwrap())
        };
        let named = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        assert!(is_modern(named, None) && is_modern(named, Some("2025-11-25")));
        assert!(is_modern(&named.replace('/', "\\/"), None));
        assert!(is_modern("{}", Some("2026-07-28")) && !is_modern("{}", Some("2025-11-25")));
        for other in [
            r#"{"arguments":{"a":"io.modelcontextprotocol/protocolVersion"}}"#,
            r#"{"_meta":{"a":"io.modelcontextprotocol/protocolVersion"}}"#,
            r#"{"arguments":{"_meta":{"io.modelcontextprotocol/protocolVersion":""}}}"#,
            r#"{"protocolVersion":"2025-11-25"}"#,
        ] {
            assert!(!is_modern(other, None), "{other}");
        }
    }
}
