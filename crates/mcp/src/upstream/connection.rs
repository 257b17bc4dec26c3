//! One connection to an upstream: how a request goes out over its transport and how its answer comes back.

use super::exchange::{Answer, Exchange};
use super::fault::Fault;
use super::headers::ParamHeaders;
use super::http::Http;
use super::message::{Meta, Modern, Outgoing};
use super::params::Params;
use super::posted::{Letter, Posted};
use super::sessions;
use super::sse::Sse;
use super::talk::Talk;
use crate::wire::Era;
use arc_swap::ArcSwap;
use serde_json::{Map, Value, json};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(super) enum Wire {
    Stdio { pid: Option<u32> },
    Http(Arc<Http>),
    Sse(Arc<Sse>),
}

/// What was learned of a server in the first exchange.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) era: Era,
    pub(super) version: String,
    pub(super) info: Option<Value>,
    pub(super) capabilities: Value,
    pub(super) instructions: Option<String>,
    /// Which Toolcrib it is, if it is one.
    pub(super) node: Option<String>,
}

impl Peer {
    pub(super) fn can(&self, name: &str) -> bool {
        self.capabilities
            .get(name)
            .is_some_and(|one| !one.is_null())
    }

    pub(super) fn tells_changes(&self, name: &str) -> bool {
        let says = self
            .capabilities
            .get(name)
            .and_then(|one| one.get("listChanged"));
        says.and_then(Value::as_bool).unwrap_or(false)
    }
}

/// That a connection is no more, and why.
#[derive(Default)]
pub(super) struct Loss {
    pub(super) token: CancellationToken,
    cause: OnceLock<String>,
    /// That it does not know who we are, and what it said about that.
    refused: OnceLock<Option<String>>,
}

impl Loss {
    /// The first cause counts.
    pub(super) fn say(&self, cause: String) {
        let _ = self.cause.set(cause);
        self.token.cancel();
    }

    pub(super) fn say_refused(&self, challenge: Option<String>) {
        let _ = self.refused.set(challenge);
        self.say("it wants other credentials".to_owned());
    }

    /// Why there is no such connection any more.
    pub(super) fn fault(&self, why: String) -> Fault {
        match self.refused.get() {
            Some(challenge) => Fault::Auth(challenge.clone()),
            None => Fault::Lost(why),
        }
    }

    pub(super) fn cause(&self) -> Option<String> {
        self.cause.get().cloned()
    }
}

pub(super) struct Connection {
    pub(super) wire: Wire,
    pub(super) exchange: Arc<Exchange>,
    pub(super) loss: Arc<Loss>,
    /// Ends everything that was started for it.
    pub(super) end: CancellationToken,
    pub(super) tasks: TaskTracker,
    pub(super) peer: OnceLock<Peer>,
    /// Which arguments of which tools are told in headers too.
    pub(super) param_headers: ArcSwap<ParamHeaders>,
    /// How much an older server was asked to log.
    pub(super) log_level: Mutex<Option<usize>>,
}

/// A request on one connection.
pub(super) struct Call<'a> {
    pub(super) method: &'a str,
    pub(super) params: Params<'a>,
    pub(super) extra: &'a Map<String, Value>,
    pub(super) era: Era,
    pub(super) talk: &'a Talk,
}

impl Connection {
    pub(super) fn new(wire: Wire, exchange: Arc<Exchange>, loss: Arc<Loss>) -> Self {
        Connection {
            wire,
            exchange,
            loss,
            end: CancellationToken::new(),
            tasks: TaskTracker::new(),
            peer: OnceLock::new(),
            param_headers: ArcSwap::default(),
            log_level: Mutex::default(),
        }
    }

    /// Starts something that ends with the connection.
    pub(super) fn keep(&self, work: impl Future<Output = ()> + Send + 'static) {
        let end = self.end.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = work => {}
                () = end.cancelled() => {}
            }
        });
    }

    pub(super) fn is_gone(&self) -> bool {
        self.loss.token.is_cancelled() || self.end.is_cancelled()
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(self.wire, Wire::Http(_))
    }

    pub(super) fn is_program(&self) -> bool {
        matches!(self.wire, Wire::Stdio { .. })
    }

    fn has_session(&self) -> bool {
        match &self.wire {
            Wire::Stdio { .. } => false,
            Wire::Sse(_) => true,
            Wire::Http(http) => http.has_session(),
        }
    }

    pub(super) fn pid(&self) -> Option<u32> {
        match self.wire {
            Wire::Stdio { pid } => pid,
            _ => None,
        }
    }

    /// Sends a request and waits for its answer, for as long as whoever asked does. Who stops waiting, cancels it.
    pub(super) async fn call(&self, call: Call<'_>) -> Answer {
        let talk = call.talk;
        // Pinned here: what is handed over is moved, and kept twice.
        let call = pin!(self.call_unbound(call));
        talk.bound(call).await
    }

    async fn call_unbound(&self, call: Call<'_>) -> Answer {
        let talk = call.talk;
        let is_stdio = matches!(self.wire, Wire::Stdio { .. });
        let posted = is_stdio.then(|| Arc::new(Posted::default()));
        let (listener, abilities) = (talk.listener.clone(), talk.abilities());
        let label = abilities.any().then(|| call.params.label(call.method));
        let entered = (self.exchange).enter(listener, abilities, label, posted.clone());
        let waiting = entered?;
        // An older server must not be told that its first exchange is cancelled, and on HTTP a modern one sees it.
        let is_first = matches!(call.method, "initialize" | "server/discover");
        let silent = is_first || (self.is_http() && call.era == Era::Modern);
        let mut under_way = UnderWay {
            exchange: &self.exchange,
            id: waiting.id,
            silent,
            has_ended: false,
        };
        let modern = Modern {
            capabilities: &talk.capabilities,
            log_level: talk.log_level.as_deref(),
        };
        let meta = Meta {
            theirs: call.params.meta(),
            modern: (call.era == Era::Modern).then_some(modern),
            progress_token: talk.wants_progress.then_some(waiting.id),
            trace: talk.trace.as_deref(),
        };
        if call.method == "subscriptions/listen" {
            self.exchange.listening.store(waiting.id, Ordering::Relaxed);
        }
        let outgoing = Outgoing {
            id: Some(waiting.id),
            method: call.method,
            params: call.params,
            meta,
            extra: call.extra,
        };
        let text = outgoing.text();
        let answer = match &self.wire {
            Wire::Stdio { .. } => {
                let letter = Letter { text, posted };
                if self.exchange.outbox.send(letter).await.is_err() {
                    return Err(Fault::NotSent(self.why_gone()));
                }
                waiting.answer
            }
            Wire::Sse(sse) => {
                let mut answer = waiting.answer;
                let posted = tokio::select! {
                    posted = Box::pin(sse.post(text)) => posted,
                    // Some take note of a message only when they are done with it.
                    Ok(answer) = &mut answer => return answer,
                };
                if let Err(fault) = posted {
                    self.exchange.leave(waiting.id);
                    return self.seen(Err(fault));
                }
                answer
            }
            Wire::Http(http) => {
                let mut headers = http.headers();
                if call.era == Era::Modern {
                    let marked = self.param_headers.load();
                    marked.add(&mut headers, call.method, call.params);
                }
                let answer = http.call(&self.exchange, waiting.id, text, headers, call.era);
                let answer = tokio::select! {
                    answer = answer => answer,
                    // An older server may give it on its other stream.
                    Ok(answer) = waiting.answer => answer,
                };
                // However it ended, there is nothing left to cancel.
                under_way.is_done();
                return self.seen(answer);
            }
        };
        answer
            .await
            .unwrap_or_else(|_| Err(Fault::Lost(self.why_gone())))
    }

    /// What a failure over HTTP says about the connection as a whole.
    fn seen(&self, answer: Answer) -> Answer {
        match &answer {
            Err(Fault::NotSent(cause) | Fault::NoSession(cause)) => self.loss.say(cause.clone()),
            Err(Fault::Auth(challenge)) => self.loss.say_refused(challenge.clone()),
            // This call is answered, be it badly; without a session, so would be every other.
            Err(Fault::Status {
                status: status @ (400 | 404),
                error: Some(error),
                ..
            }) if self.has_session() && sessions::speaks(&error.message) => {
                self.loss.say(sessions::unknown(*status));
            }
            _ => {}
        }
        answer
    }

    pub(super) fn why_gone(&self) -> String {
        let cause = self.loss.cause();
        cause.unwrap_or_else(|| "the connection was closed".to_owned())
    }

    pub(super) async fn notify(&self, method: &str, params: Params<'_>) -> Result<(), Fault> {
        let none = Map::new();
        let meta = Meta {
            theirs: params.meta(),
            ..Meta::default()
        };
        let outgoing = Outgoing {
            id: None,
            method,
            params,
            meta,
            extra: &none,
        };
        let text = outgoing.text();
        match &self.wire {
            Wire::Stdio { .. } => {
                let letter = Letter { text, posted: None };
                let sent = self.exchange.outbox.send(letter).await;
                sent.map_err(|_| Fault::NotSent(self.why_gone()))
            }
            Wire::Sse(sse) => sse.post(text).await,
            Wire::Http(http) => http.tell(text).await,
        }
    }

    /// Ends it in good order: a session is given up, a program may end by itself for a moment.
    pub(super) async fn close(&self) {
        if let Wire::Http(http) = &self.wire
            && self.loss.cause().is_none()
        {
            http.give_up_session().await;
        }
        self.part().await;
        self.exchange.end(&self.why_gone());
    }

    /// Ends what was started for it, and leaves the calls over HTTP that are under way. All others have lost the one
    /// way on which their answers could come.
    pub(super) async fn part(&self) {
        self.end.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if !self.is_http() {
            self.exchange.end(&self.why_gone());
        }
    }
}

impl Drop for Connection {
    /// For whoever forgot, or was stopped before it could be closed.
    fn drop(&mut self) {
        self.end.cancel();
        self.exchange.end("the connection was closed");
    }
}

/// A call that somebody waits for.
struct UnderWay<'a> {
    exchange: &'a Exchange,
    id: u64,
    silent: bool,
    has_ended: bool,
}

impl UnderWay<'_> {
    fn is_done(&mut self) {
        self.exchange.leave(self.id);
        self.has_ended = true;
    }
}

impl Drop for UnderWay<'_> {
    /// Only the drop of the future tells that nobody waits any more.
    fn drop(&mut self) {
        if self.has_ended || !self.exchange.leave(self.id) || self.silent {
            return;
        }
        let params = json!({"requestId": self.id, "reason": "nobody waits for it any more"});
        let none = Map::new();
        let text = Outgoing {
            id: None,
            method: "notifications/cancelled",
            params: Params::Of(params.as_object().unwrap_or(&none)),
            meta: Meta::default(),
            extra: &none,
        }
        .text();
        let _ = self.exchange.outbox.try_send(Letter { text, posted: None });
    }
}
