//! Asking an upstream server for somebody: what it says before its answer goes to them, and what it asks, they are asked.

use ::mcp::upstream::{Listener, Params, Saying, Upstream, UpstreamError};
use ::mcp::wire::RpcError;
use catalog::caller::{Caller, Scope};
use executor::{Asker, Event};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Where a client that asks its user or its model finds the server that wants to know.
const META_SERVER: &str = "toolcrib/server";

/// What a server is asked for.
pub struct Request<'a> {
    pub method: &'a str,
    pub params: Params<'a>,
    /// Whether it may be sent again after a lost connection.
    pub may_repeat: bool,
    /// When to stop waiting for a connection, where whoever asks stops waiting soon after.
    pub connect_by: Option<Instant>,
    /// None where whoever asks stops waiting instead.
    pub cancel: Option<CancellationToken>,
    /// The step of a trace that this is.
    pub trace: Option<Box<telemetry::Context>>,
}

/// Asks, and waits for the answer for as long as it takes: whoever asks has a deadline of their own, which may move while
/// somebody is asked. `asker` leads to them.
pub async fn ask(
    server: &Upstream,
    request: Request<'_>,
    asker: Asker,
) -> Result<Box<RawValue>, UpstreamError> {
    let line = asker.talk();
    let talk = ::mcp::upstream::Talk {
        capabilities: line.map_or_else(|| Arc::new(json!({})), |it| Arc::clone(&it.capabilities)),
        wants_progress: line.is_some_and(|it| it.wants_progress),
        log_level: line.and_then(|it| it.log_level.clone()),
        deadline: None,
        connect_by: request.connect_by,
        cancel: request.cancel,
        may_repeat: request.may_repeat,
        trace: request.trace,
        listener: line
            .is_some()
            .then(|| listener(server.shared_name(), asker)),
    };
    server.request(request.method, request.params, talk).await
}

/// Why a server gave no result, as far as a caller may know: causes are for those who may operate servers.
pub fn told_to(caller: &Caller, server: &Upstream, error: &UpstreamError) -> String {
    match caller.scopes.allow(Scope::Operate) {
        true => server.whole_words(error),
        false => server.plain_words(error),
    }
}

/// Passes on what a server says, in the order in which it says it.
fn listener(server: Arc<str>, asker: Asker) -> Listener {
    let asker = asker.of(Arc::clone(&server));
    Listener::new(move |saying| match saying {
        Saying::Progress {
            progress,
            total,
            message,
        } => asker.tell(Event::Progress {
            progress,
            total,
            message,
        }),
        Saying::Log(line) => asker.tell(Event::Log(line)),
        Saying::Ask {
            method,
            params,
            reply,
        } => {
            let params = signed(&server, &method, params);
            put(asker.clone(), method, params, reply);
        }
    })
}

/// Says who asks: whoever reads the question knows us, and not the servers behind us.
fn signed(server: &str, method: &str, mut params: Value) -> Value {
    let Some(members) = params.as_object_mut().filter(|_| method != "roots/list") else {
        return params;
    };
    if let Some(Value::String(message)) = members.get_mut("message") {
        *message = format!("[{server}] {message}");
    }
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    if !meta.is_object() {
        *meta = json!({});
    }
    meta[META_SERVER] = server.into();
    params
}

/// In a task of its own: the server may ask more, and say more, before it has its answer.
fn put(
    asker: Asker,
    method: String,
    params: Value,
    mut reply: oneshot::Sender<Result<Value, RpcError>>,
) {
    tokio::spawn(async move {
        let answer = tokio::select! {
            answer = asker.ask(None, &method, params) => answer,
            () = reply.closed() => return,
        };
        let _ = reply.send(answer.map_err(|why| RpcError::new(why.code, why.message)));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_which_server_asks() {
        let asked = json!({"message": "Toolcrib needs your password", "_meta": {"a": 1, "toolcrib/server": "other"}});
        assert_eq!(
            signed("fs", "elicitation/create", asked),
            json!({"message": "[fs] Toolcrib needs your password", "_meta": {"a": 1, "toolcrib/server": "fs"}})
        );
        let sampled = json!({"messages": [], "_meta": null});
        assert_eq!(
            signed("fs", "sampling/createMessage", sampled),
            json!({"messages": [], "_meta": {"toolcrib/server": "fs"}})
        );
        assert_eq!(signed("fs", "roots/list", json!({})), json!({}));
        assert_eq!(signed("fs", "elicitation/create", Value::Null), Value::Null);
    }
}
