//! Asking an upstream server for somebody: what it says before its answer goes to them, and what it asks, they are asked.

use ::mcp::upstream::{Saying, Upstream, UpstreamError};
use ::mcp::wire::RpcError;
use executor::{Asker, Event, Talk};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// How much a server may say before it has to wait for the listener.
const SAYINGS: usize = 16;

/// What a server is asked for.
pub struct Request<'a> {
    pub method: &'a str,
    pub params: Map<String, Value>,
    /// Whether it may be sent again after a lost connection.
    pub may_repeat: bool,
    pub cancel: CancellationToken,
}

/// Asks, and waits for the answer for as long as it takes: whoever asks has a deadline of their own, which may move while
/// somebody is asked. `line` leads to them; `asker` puts questions there.
pub async fn ask(
    server: &Upstream,
    request: Request<'_>,
    line: Option<&Talk>,
    asker: impl Fn() -> Asker,
) -> Result<Value, UpstreamError> {
    let (events, mut said) = mpsc::channel(SAYINGS);
    let talk = ::mcp::upstream::Talk {
        events: line.map(|_| events),
        capabilities: line.map_or_else(|| json!({}), |it| it.capabilities.clone()),
        deadline: None,
        cancel: request.cancel,
        may_repeat: request.may_repeat,
        log_level: line.and_then(|it| it.log_level.clone()),
    };
    let pass_on = async |saying: Saying| {
        let event = match saying {
            Saying::Progress {
                progress,
                total,
                message,
            } => Event::Progress {
                progress,
                total,
                message,
            },
            Saying::Log(line) => Event::Log(line),
            Saying::Ask {
                method,
                params,
                reply,
            } => return put(asker().of(server.name()), method, params, reply),
        };
        if let Some(line) = line {
            // Who does not listen any more is not told.
            let _ = line.events.send(event).await;
        }
    };
    let mut answer = Box::pin(server.request(request.method, request.params, talk));
    let answer = loop {
        tokio::select! {
            biased;
            Some(saying) = said.recv() => pass_on(saying).await,
            answer = &mut answer => break answer,
        }
    };
    // What was said before the answer is passed on before it.
    while let Ok(saying) = said.try_recv() {
        pass_on(saying).await;
    }
    answer
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
