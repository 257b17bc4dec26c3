//! Asking an upstream server for somebody: what it says before its answer goes to them, and what it asks, they are asked.

use ::mcp::upstream::{Listener, Params, Saying, Upstream, UpstreamError};
use ::mcp::wire::RpcError;
use executor::{Asker, Event};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

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
        listener: line
            .is_some()
            .then(|| listener(asker.of(server.shared_name()))),
    };
    server.request(request.method, request.params, talk).await
}

/// Passes on what a server says, in the order in which it says it.
fn listener(asker: Asker) -> Listener {
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
        } => put(asker.clone(), method, params, reply),
    })
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
