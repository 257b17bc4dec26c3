//! Sessions of the legacy era: what a client has said once and expects us to remember. Bound to whoever opened them,
//! limited in number, and gone when nobody uses them.

mod all;

pub use all::{NoSession, Sessions};

use crate::Face;
use crate::context::{Context, LINE, Params, invalid};
use crate::dispatch;
use crate::exchange::{Answer, Exchange, Work};
use crate::followed::{Follow, Follows, told};
use crate::result::{Done, server_info};
use catalog::caller::Caller;
use executor::Unanswered;
use executor::line::{Receiver, Sender, line};
use mcp::wire::{self, Era, LEGACY, META_NODE, Message, RpcError, Sort, code};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// What waits for a client that reads no stream.
const UNREAD_MAX: usize = 64;

/// What a client may follow, have running and be asked at once.
const FOLLOWED_MAX: usize = 1_000;
const RUNNING_MAX: usize = 1_000;

/// One client.
pub struct Session {
    pub id: String,
    pub caller: Arc<Caller>,
    /// What its client can be asked; known once it has said so.
    client: OnceLock<Arc<Value>>,
    /// The tools that the client knows of; see `changes`.
    pub(crate) seen: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    level: Option<String>,
    /// The stream that the client reads, and what waits for one.
    stream: Option<mpsc::Sender<String>>,
    unread: VecDeque<String>,
    /// Answers that we wait for.
    asked: HashMap<String, oneshot::Sender<Result<Value, Unanswered>>>,
    questions: u64,
    /// Requests under way, by their id as it was written.
    running: HashMap<String, CancellationToken>,
    /// Requests that were cancelled before they came: each message has a way of its own.
    cancelled: VecDeque<String>,
    followed: Follows,
    /// Known from the start.
    used: Option<Instant>,
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When it was used last; none where somebody reads its stream or waits for an answer.
    fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        let is_read = state.stream.as_ref().is_some_and(|it| !it.is_closed());
        let is_idle = !is_read && state.running.is_empty();
        state.used.filter(|_| is_idle)
    }

    fn is_used(&self, idle: Duration) -> bool {
        self.idle_since().is_none_or(|used| used.elapsed() < idle)
    }

    /// An answer, to a client that reads all of them from its one stream. Waits until there is room, or nobody reads.
    pub async fn deliver(&self, text: String) {
        let stream = self.lock().stream.clone();
        if let Some(stream) = stream {
            let _ = stream.send(text).await;
        }
    }

    /// To the client, outside of any answer.
    pub(crate) fn send(&self, text: String) {
        let mut state = self.lock();
        let text = match &state.stream {
            Some(stream) => match stream.try_send(text) {
                Ok(()) => return,
                Err(mpsc::error::TrySendError::Full(_)) => return,
                Err(mpsc::error::TrySendError::Closed(text)) => text,
            },
            None => text,
        };
        state.stream = None;
        if state.unread.len() == UNREAD_MAX {
            state.unread.pop_front();
        }
        state.unread.push_back(text);
    }

    /// The stream of what is said outside of any answer. A client has one: an older one ends.
    pub fn stream(&self) -> mpsc::Receiver<String> {
        let (sender, receiver) = mpsc::channel(LINE.max(UNREAD_MAX));
        let mut state = self.lock();
        for text in state.unread.drain(..) {
            let _ = sender.try_send(text);
        }
        state.stream = Some(sender);
        state.used = Some(Instant::now());
        receiver
    }

    pub(crate) fn level(&self) -> Option<String> {
        self.lock().level.clone()
    }

    pub(crate) fn set_level(&self, level: &str) {
        self.lock().level = Some(level.to_owned());
    }

    pub(crate) fn follow(&self, uri: &str, follow: Option<Follow>) -> Result<(), RpcError> {
        let followed = &mut self.lock().followed;
        if followed.len() >= FOLLOWED_MAX && !followed.contains_key(uri) {
            return Err(invalid("too many resources are followed in this session"));
        }
        followed.insert(uri.to_owned(), follow);
        Ok(())
    }

    pub(crate) fn unfollow(&self, uri: &str) {
        self.lock().followed.remove(uri);
    }

    /// What the client is told when a resource has changed, if it follows that.
    pub(crate) fn told(&self, server: &str, uri: &str) -> Option<String> {
        told(&self.lock().followed, server, uri)
    }

    /// Asks the client, on the line of the request that it is for.
    pub(crate) async fn ask(
        &self,
        line: &Sender<String>,
        method: &str,
        params: &Value,
    ) -> Result<Value, Unanswered> {
        let gone = || Unanswered {
            code: code::INTERNAL,
            message: "The client is gone".to_owned(),
        };
        let (reply, answer) = oneshot::channel();
        let id = {
            let mut state = self.lock();
            state.questions += 1;
            let id = format!("toolcrib-{}", state.questions);
            state.asked.insert(id.clone(), reply);
            id
        };
        let mut forget = Forget {
            session: self,
            line,
            id: &id,
            was_put: false,
        };
        let text = wire::request(Some(&json!(id)), method, Some(params));
        line.send(text).await.map_err(|_| gone())?;
        forget.was_put = true;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// An answer to something we have asked.
    fn answered(&self, message: &Message<'_>) {
        let id = message
            .id
            .and_then(|id| serde_json::from_str(id.get()).ok());
        let Some(Value::String(id)) = id else { return };
        let Some(reply) = self.lock().asked.remove(&id) else {
            return;
        };
        let answer = match (message.result, message.error) {
            (Some(result), _) => Ok(serde_json::from_str(result.get()).unwrap_or_default()),
            (None, error) => {
                let error = error.and_then(|it| serde_json::from_str::<RpcError>(it.get()).ok());
                let error = error.unwrap_or_else(|| RpcError::new(code::INTERNAL, "no reason"));
                Err(Unanswered {
                    code: error.code,
                    message: error.message,
                })
            }
        };
        let _ = reply.send(answer);
    }

    fn cancel(&self, params: Option<&RawValue>) {
        let params: Value = params
            .and_then(|it| serde_json::from_str(it.get()).ok())
            .unwrap_or_default();
        let id = params["requestId"].to_string();
        let mut state = self.lock();
        match state.running.get(&id) {
            Some(token) => token.cancel(),
            None => {
                if state.cancelled.len() == UNREAD_MAX {
                    state.cancelled.pop_front();
                }
                state.cancelled.push_back(id);
            }
        }
    }

    /// Notes that a request runs, so that it can be cancelled. An id that runs already is not noted again.
    fn run(self: &Arc<Self>, id: &RawValue) -> Result<Running, RpcError> {
        let mut state = self.lock();
        if state.running.len() >= RUNNING_MAX {
            let message = "too many requests are under way in this session";
            return Err(RpcError::new(code::INVALID_REQUEST, message));
        }
        // Written as we would write it, as the one who cancels it may write it in another way.
        let id: Value = serde_json::from_str(id.get()).unwrap_or_default();
        let id = id.to_string();
        let token = CancellationToken::new();
        if let Some(at) = state.cancelled.iter().position(|it| *it == id) {
            state.cancelled.remove(at);
            token.cancel();
        }
        let is_new = !state.running.contains_key(&id);
        if is_new {
            state.running.insert(id.clone(), token.clone());
        }
        Ok(Running {
            session: Arc::clone(self),
            id: is_new.then_some(id),
            token,
        })
    }
}

/// Ends a question. One that is still open then is taken back.
struct Forget<'a> {
    session: &'a Session,
    line: &'a Sender<String>,
    id: &'a str,
    was_put: bool,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        let was_open = self.session.lock().asked.remove(self.id).is_some();
        if !was_open || !self.was_put {
            return;
        }
        let params = json!({"requestId": self.id, "reason": "nobody waits for it any more"});
        let text = wire::request(None, "notifications/cancelled", Some(&params));
        // Where its own request is over, there is still the stream of the session.
        if let Err(unsaid) = self.line.try_send(text) {
            self.session.send(unsaid.into_inner());
        }
    }
}

struct Running {
    session: Arc<Session>,
    id: Option<String>,
    token: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.session.lock().running.remove(id);
        }
    }
}

/// What of an exchange reaches the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hears {
    Everything,
    /// It takes no stream, so nothing can be said before the answer, nor asked.
    AnswersOnly,
}

impl Face {
    /// `initialize`: a new session, and its answer.
    pub fn initialize(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        message: &Message<'_>,
    ) -> Result<(Arc<Session>, Answer), (Answer, NoSession)> {
        let id = message.id.map(ToOwned::to_owned);
        let told = |error: &RpcError| Answer {
            text: wire::error(id.as_deref(), error).into(),
            status: 400,
        };
        let params = Params::read(message.params.map(RawValue::get))
            .map_err(|error| (told(&error), NoSession::Unknown))?;
        let session = self.open(caller).map_err(|why| {
            let error = RpcError::new(-32000, "Too many sessions are open; try again later");
            (told(&error), why)
        })?;
        let done = self.greet(&session, &params);
        let id = id.unwrap_or_else(|| RawValue::NULL.to_owned());
        Ok((session, Answer::new(done.answers(&id, Era::Legacy))))
    }

    /// A session whose client has said nothing yet.
    pub fn open(&self, caller: &Arc<Caller>) -> Result<Arc<Session>, NoSession> {
        let session = Arc::new(Session {
            id: self.app.replicas.named(&random()),
            seen: self.first_seen(caller),
            caller: Arc::clone(caller),
            client: OnceLock::new(),
            state: Mutex::new(State {
                used: Some(Instant::now()),
                ..State::default()
            }),
        });
        self.sessions.add(&session)?;
        Ok(session)
    }

    fn greet(&self, session: &Session, params: &Params) -> Done {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        // A version that we do not know is answered with the newest that we do; the client decides.
        let known = LEGACY.iter().find(|known| Some(**known) == asked);
        let capabilities = params.get("capabilities").cloned().unwrap_or_default();
        let _ = session.client.set(Arc::new(capabilities));
        let mut result = json!({
            "protocolVersion": known.unwrap_or(&LEGACY[0]),
            "capabilities": dispatch::capabilities(Era::Legacy),
            "serverInfo": server_info(self.server_name(&session.caller).as_deref()),
            "_meta": {META_NODE: self.app.node},
        });
        if let Some(text) = self.instructions(&session.caller) {
            result["instructions"] = text.into();
        }
        Done::value(result)
    }

    /// A message in a session. None where it needs no answer.
    pub fn in_session(
        self: &Arc<Self>,
        session: &Arc<Session>,
        caller: &Arc<Caller>,
        message: &Message<'_>,
        hears: Hears,
    ) -> Option<Exchange> {
        let method = message.method.as_deref().unwrap_or_default();
        let (line, said) = line(LINE);
        let id = match message.sort() {
            Sort::Request => message.id.unwrap_or(RawValue::NULL).to_owned(),
            Sort::Response => {
                session.answered(message);
                return None;
            }
            Sort::Notification => {
                if method == "notifications/cancelled" {
                    session.cancel(message.params);
                }
                return None;
            }
            Sort::Odd => {
                let error = RpcError::new(code::INVALID_REQUEST, "This is no JSON-RPC message");
                return Some(refused(said, message.id, &error));
            }
        };
        let params = Params::read(message.params.map(RawValue::get));
        let params = params.map(|it| it.carried_in(message.trace.as_deref()));
        if let ("initialize", Ok(params)) = (method, &params) {
            let answer = Answer::new(self.greet(session, params).answers(&id, Era::Legacy));
            return Some(Exchange::new(
                said,
                Box::pin(std::future::ready(answer)),
                false,
            ));
        }
        let (params, running) = match params.and_then(|it| Ok((it, session.run(&id)?))) {
            Ok(both) => both,
            Err(error) => return Some(refused(said, Some(&id), &error)),
        };
        let context = Context {
            face: Arc::clone(self),
            caller: caller.named_as(&session.caller),
            capabilities: session.client.get().cloned().unwrap_or_default(),
            session: Some(Arc::clone(session)),
            hears,
            line,
        };
        let method = method.to_owned();
        let work: Work = Box::pin(async move {
            let token = running.token.clone();
            let cancelled = RpcError::new(-32000, "The request was cancelled");
            tokio::select! {
                biased;
                () = token.cancelled() => Answer::new(wire::error(Some(&id), &cancelled)),
                answer = dispatch::answer(context, id.clone(), &method, params) => answer,
            }
        });
        Some(Exchange::new(said, work, true))
    }
}

fn refused(said: Receiver<String>, id: Option<&RawValue>, error: &RpcError) -> Exchange {
    let answer = Answer {
        text: wire::error(id, error).into(),
        status: 400,
    };
    Exchange::new(said, Box::pin(std::future::ready(answer)), false)
}

/// Nobody can guess it.
pub(crate) fn random() -> String {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    catalog::hex::hex(&bytes)
}
