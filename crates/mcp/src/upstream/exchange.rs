//! What is under way on one connection: calls that wait for their answers, and what a server says or asks meanwhile.

use super::fault::Fault;
use super::hooks::{Changed, Hooks};
use super::locked;
use super::message::{self, Incoming, Read};
use super::posted::{Letter, Posted};
use super::talk::{Abilities, Listener, Saying, cannot_be_asked, question};
use crate::wire::{RpcError, code};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Questions of one server that may be open at a time.
const ASKS_MAX: usize = 32;

/// Requests of our own that need no room among the calls: lists, notifications, whether anybody is there.
const OWN_MAX: usize = 64;

/// The result as it came, or why there is none.
pub(super) type Answer = Result<Box<RawValue>, Fault>;

/// One call that is under way.
struct Flight {
    answer: oneshot::Sender<Answer>,
    listener: Option<Listener>,
    abilities: Abilities,
    /// What it asks for, where somebody could be asked in turn.
    label: Option<String>,
    /// None for what goes as soon as it is entered.
    posted: Option<Arc<Posted>>,
    /// Ends the questions that belong to it; made for the first of them.
    over: Option<CancellationToken>,
}

impl Flight {
    /// Whether it could be held back, so that it has never gone.
    fn was_withdrawn(&self) -> bool {
        self.posted.as_ref().is_some_and(|it| it.withdraw())
    }

    fn is_over(&self) {
        if let Some(over) = &self.over {
            over.cancel();
        }
    }
}

/// Whoever waits for an answer.
pub(super) struct Waiting {
    pub(super) id: u64,
    pub(super) answer: oneshot::Receiver<Answer>,
}

#[derive(Default)]
struct Flights {
    all: HashMap<u64, Flight>,
    /// Why there will be no answers any more.
    ended: Option<String>,
}

pub(super) struct Exchange {
    pub(super) hooks: Arc<Hooks>,
    pub(super) outbox: mpsc::Sender<Letter>,
    flights: Mutex<Flights>,
    flights_max: usize,
    last_id: AtomicU64,
    asks: Arc<Semaphore>,
    /// Questions that are open, by their ids as they came.
    asking: Mutex<HashMap<String, CancellationToken>>,
    /// The number of the request that brings a modern server's notifications; 0 where there is none.
    pub(super) listening: AtomicU64,
}

/// Who is to be asked.
enum Asked {
    One(Listener, CancellationToken),
    Nobody,
    /// It cannot be told which of them.
    Several,
}

impl Exchange {
    pub(super) fn new(hooks: Arc<Hooks>, outbox: mpsc::Sender<Letter>, flights_max: usize) -> Self {
        Exchange {
            hooks,
            outbox,
            flights: Mutex::default(),
            flights_max: flights_max + OWN_MAX,
            last_id: AtomicU64::new(0),
            asks: Arc::new(Semaphore::new(ASKS_MAX)),
            asking: Mutex::default(),
            listening: AtomicU64::new(0),
        }
    }

    /// A number for a call, and a place to wait for its answer.
    pub(super) fn enter(
        &self,
        listener: Option<Listener>,
        abilities: Abilities,
        label: Option<String>,
        posted: Option<Arc<Posted>>,
    ) -> Result<Waiting, Fault> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = oneshot::channel();
        let flight = Flight {
            answer: sender,
            listener,
            abilities,
            label,
            posted,
            over: None,
        };
        let mut flights = locked(&self.flights);
        if let Some(cause) = &flights.ended {
            return Err(Fault::NotSent(cause.clone()));
        }
        if flights.all.len() >= self.flights_max {
            return Err(Fault::NotSent("too many calls wait for it".to_owned()));
        }
        flights.all.insert(id, flight);
        Ok(Waiting {
            id,
            answer: receiver,
        })
    }

    /// Nobody waits for this one any more. Whether it is still under way at the server.
    pub(super) fn leave(&self, id: u64) -> bool {
        let flight = locked(&self.flights).all.remove(&id);
        flight.is_some_and(|flight| {
            flight.is_over();
            !flight.was_withdrawn()
        })
    }

    /// Nothing more will come. What was not sent did not run.
    pub(super) fn end(&self, cause: &str) {
        let all = {
            let mut flights = locked(&self.flights);
            flights.ended.get_or_insert_with(|| cause.to_owned());
            std::mem::take(&mut flights.all)
        };
        for flight in all.into_values() {
            flight.is_over();
            let fault = match flight.was_withdrawn() {
                true => Fault::NotSent(cause.to_owned()),
                false => Fault::Lost(cause.to_owned()),
            };
            let _ = flight.answer.send(Err(fault));
        }
    }

    /// Takes in what a server said. `within` is the call on whose own stream it came; if this is its answer, it is
    /// returned.
    pub(super) fn hear(self: &Arc<Self>, text: &[u8], within: Option<u64>) -> Option<Answer> {
        match message::read(text) {
            Read::One(one) => self.hear_one(&one, within),
            Read::Several(several) => several
                .iter()
                .fold(None, |found, one| self.hear_one(one, within).or(found)),
            Read::Garbage => {
                self.heard_garbage(text);
                None
            }
        }
    }

    fn hear_one(self: &Arc<Self>, message: &Incoming<'_>, within: Option<u64>) -> Option<Answer> {
        if let Some(method) = &message.method {
            match message.id() {
                Some(id) => self.asked(&id, method, message, within),
                None => self.told(method, message.params().as_ref(), within),
            }
            return None;
        }
        let id = match message.answers() {
            Some(id) => id,
            // An error that names nobody can only be for the one who waits.
            None if message.is_error_of_nobody() => within.or_else(|| self.only())?,
            None => return None,
        };
        let answer = match message.outcome() {
            Ok(Ok(result)) => Ok(result.to_owned()),
            Ok(Err(error)) => Err(Fault::Rpc(error)),
            Err(why) => Err(Fault::Protocol(why)),
        };
        match within {
            Some(own) if own == id => return Some(answer),
            // What comes back for one call answers no other.
            Some(_) => {}
            None => self.answer(id, answer),
        }
        None
    }

    pub(super) fn answer(&self, id: u64, answer: Answer) {
        let flight = locked(&self.flights).all.remove(&id);
        match flight {
            Some(flight) => {
                flight.is_over();
                let _ = flight.answer.send(answer);
            }
            // Late, twice, or made up: nobody waits for it.
            None => {
                tracing::debug!(server = %self.hooks.server, id, "an answer that nobody waits for")
            }
        }
    }

    /// The one call that waits, if there is only one.
    pub(super) fn only(&self) -> Option<u64> {
        let flights = locked(&self.flights);
        let mut ids = flights.all.keys();
        ids.next().copied().filter(|_| ids.next().is_none())
    }

    fn heard_garbage(&self, text: &[u8]) {
        let text = String::from_utf8_lossy(&text[..text.len().min(200)]);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        tracing::debug!(server = %self.hooks.server, text, "not a message");
        locked(&self.hooks.noise).get_or_insert_with(|| text.to_owned());
    }

    /// A notification.
    fn told(&self, method: &str, params: Option<&Value>, within: Option<u64>) {
        let changed = &self.hooks.changed;
        match method {
            "notifications/progress" => self.progress(params),
            "notifications/message" => self.log(params, within),
            "notifications/tools/list_changed" => changed.add(Changed::TOOLS),
            "notifications/resources/list_changed" => changed.add(Changed::RESOURCES),
            "notifications/prompts/list_changed" => changed.add(Changed::PROMPTS),
            "notifications/resources/updated" => {
                let uri = params.and_then(|params| params.get("uri")?.as_str());
                uri.into_iter().for_each(|uri| self.hooks.updated(uri));
            }
            "notifications/elicitation/complete" => {
                let id = params.and_then(|params| params.get("elicitationId")?.as_str());
                id.into_iter().for_each(|id| self.hooks.completed(id));
            }
            "notifications/subscriptions/acknowledged" => self.hooks.listens.notify_one(),
            "notifications/cancelled" => {
                if let Some(id) = params.and_then(|params| params.get("requestId")) {
                    self.taken_back(id);
                }
            }
            _ => {}
        }
    }

    /// An older server takes a question back, a modern one ends a stream of notifications.
    fn taken_back(&self, id: &Value) {
        let over = locked(&self.asking).remove(&id.to_string());
        if let Some(over) = over {
            over.cancel();
        }
        let listening = self.listening.load(Ordering::Relaxed);
        if listening != 0 && id.as_u64() == Some(listening) {
            self.answer(
                listening,
                Err(Fault::Lost("the server ended it".to_owned())),
            );
        }
    }

    fn progress(&self, params: Option<&Value>) {
        let number = |name: &str| params.and_then(|params| params.get(name)?.as_f64());
        let token = params.and_then(|params| match params.get("progressToken")? {
            Value::String(text) => text.parse().ok(),
            number => number.as_u64(),
        });
        let (Some(token), Some(progress)) = (token, number("progress")) else {
            return;
        };
        let message = params.and_then(|params| params.get("message")?.as_str());
        let saying = Saying::Progress {
            progress,
            total: number("total"),
            message: message.map(str::to_owned),
        };
        self.say(token, saying);
    }

    /// On a shared stream only one who is alone can be meant: nobody sees what belongs to another's call.
    fn log(&self, params: Option<&Value>, within: Option<u64>) {
        if let (Some(id), Some(params)) = (within.or_else(|| self.only()), params) {
            self.say(id, Saying::Log(params.clone()));
        }
    }

    fn say(&self, id: u64, saying: Saying) {
        let listener = {
            let flights = locked(&self.flights);
            let flight = flights.all.get(&id);
            flight.and_then(|flight| flight.listener.clone())
        };
        if let Some(listener) = listener {
            listener.hear(saying);
        }
    }

    /// A request of the server.
    fn asked(
        self: &Arc<Self>,
        id: &Value,
        method: &str,
        message: &Incoming<'_>,
        within: Option<u64>,
    ) {
        let refuse = |code, text: &str| Err(RpcError::new(code, text));
        let answer = match method {
            "ping" => Ok(json!({})),
            "elicitation/create" | "sampling/createMessage" | "roots/list" => {
                match self.whom(method, within) {
                    Asked::One(listener, over) => {
                        let params = message.params().unwrap_or_else(|| json!({}));
                        return self.ask(id, method, params, listener, &over);
                    }
                    Asked::Nobody if method == "roots/list" => Ok(json!({"roots": []})),
                    Asked::Nobody => Err(cannot_be_asked(method)),
                    Asked::Several => {
                        let why = "several calls are under way, and it cannot be told which of them asks; try again";
                        refuse(code::INTERNAL, why)
                    }
                }
            }
            _ => refuse(code::NO_METHOD, "no such method"),
        };
        self.post(id, &answer);
    }

    fn whom(&self, method: &str, within: Option<u64>) -> Asked {
        let mut flights = locked(&self.flights);
        let can = |flight: &&mut Flight| flight.abilities.answer(method);
        let mut able = match within {
            Some(id) => flights.all.get_mut(&id).into_iter().filter(can).collect(),
            None => flights.all.values_mut().filter(can).collect::<Vec<_>>(),
        };
        let askers = &self.hooks.askers;
        match (able.pop(), able.is_empty()) {
            (None, _) => Asked::Nobody,
            (Some(flight), true) => match &flight.listener {
                Some(listener) => {
                    if let Some(label) = &flight.label {
                        askers.has_asked(label, Instant::now());
                    }
                    let over = flight.over.get_or_insert_default();
                    Asked::One(listener.clone(), over.clone())
                }
                None => Asked::Nobody,
            },
            (Some(flight), false) => {
                able.push(flight);
                let labels = able.iter().filter_map(|it| it.label.clone());
                askers.suspect(labels.collect(), Instant::now());
                Asked::Several
            }
        }
    }

    fn ask(
        self: &Arc<Self>,
        id: &Value,
        method: &str,
        params: Value,
        listener: Listener,
        over: &CancellationToken,
    ) {
        let Ok(permit) = Arc::clone(&self.asks).try_acquire_owned() else {
            let error = RpcError::new(code::INTERNAL, "too many questions are open");
            return self.post(id, &Err(error));
        };
        let (this, id, method) = (Arc::clone(self), id.clone(), method.to_owned());
        let over = over.child_token();
        locked(&self.asking).insert(id.to_string(), over.clone());
        // The client itself knows its roots.
        let open = (method != "roots/list").then(|| self.hooks.askers.open());
        tokio::spawn(async move {
            let (_permit, _open) = (permit, open);
            let answer = tokio::select! {
                answer = question(&listener, method, params) => answer,
                () = over.cancelled() => {
                    Err(RpcError::new(code::INTERNAL, "the call that it belonged to is over"))
                }
            };
            let is_open = locked(&this.asking).remove(&id.to_string()).is_some();
            // What was taken back wants no answer.
            if is_open {
                this.post(&id, &answer);
            }
        });
    }

    fn post(&self, id: &Value, answer: &Result<Value, RpcError>) {
        let text = message::answer(id, answer);
        // A server that asks without end and reads nothing is not answered.
        let _ = self.outbox.try_send(Letter { text, posted: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(flights_max: usize) -> (Arc<Exchange>, mpsc::Receiver<Letter>) {
        let (notices, _) = mpsc::unbounded_channel();
        let (outbox, letters) = mpsc::channel(1);
        let hooks = Arc::new(Hooks::new("s".into(), notices));
        (Arc::new(Exchange::new(hooks, outbox, flights_max)), letters)
    }

    #[tokio::test]
    async fn what_never_went_did_not_run() {
        let (exchange, _letters) = exchange(10);
        let enter = |posted| {
            exchange
                .enter(None, Abilities::default(), None, posted)
                .unwrap()
        };
        let posted = [(); 3].map(|()| Arc::new(Posted::default()));
        let [waits, went, left] = posted.each_ref().map(|it| enter(Some(Arc::clone(it))));
        let at_once = enter(None);
        assert!(posted[1].go());
        assert!(!exchange.leave(left.id), "there is nothing to cancel");
        assert!(!posted[2].go(), "and it must not go any more");
        exchange.end("over");
        let over = || "over".to_owned();
        let fault = |answer: Answer| answer.err();
        assert_eq!(
            fault(waits.answer.await.unwrap()),
            Some(Fault::NotSent(over()))
        );
        for gone in [went, at_once] {
            assert_eq!(fault(gone.answer.await.unwrap()), Some(Fault::Lost(over())));
        }
        let late = exchange.enter(None, Abilities::default(), None, None).err();
        assert_eq!(late, Some(Fault::NotSent(over())));
    }

    #[tokio::test]
    async fn the_table_has_an_end_and_answers_find_their_call() {
        let (exchange, _letters) = exchange(0);
        let enter = || exchange.enter(None, Abilities::default(), None, None);
        let mut all: Vec<Waiting> = (0..OWN_MAX).map(|_| enter().unwrap()).collect();
        assert!(enter().is_err());
        let last = all.pop().unwrap();
        let text = format!(
            r#"[{{"id":{},"result":1}},{{"id":{0},"result":2}}]"#,
            last.id
        );
        assert!(exchange.hear(text.as_bytes(), None).is_none());
        assert_eq!(last.answer.await.unwrap().unwrap().get(), "1");
        assert!(enter().is_ok());
        let own = exchange.hear(br#"{"id":1,"result":3}"#, Some(1));
        assert_eq!(own.unwrap().unwrap().get(), "3");
    }

    #[tokio::test]
    async fn nobody_answers_for_another() {
        let (exchange, _letters) = exchange(10);
        let enter = || {
            exchange
                .enter(None, Abilities::default(), None, None)
                .unwrap()
        };
        let (own, other) = (enter(), enter());
        let text = format!(r#"{{"id":{},"result":"forged"}}"#, other.id);
        assert!(exchange.hear(text.as_bytes(), Some(own.id)).is_none());
        let text = format!(r#"{{"id":{},"result":"its own"}}"#, other.id);
        exchange.hear(text.as_bytes(), None);
        let answer = other.answer.await.unwrap().unwrap();
        assert_eq!(answer.get(), r#""its own""#);
    }

    #[tokio::test]
    async fn a_question_that_is_taken_back_is_not_answered() {
        let (exchange, mut letters) = exchange(10);
        let over = CancellationToken::new();
        for id in [1, 2] {
            let listener = Listener::new(drop);
            exchange.ask(&json!(id), "m", json!({}), listener, &over);
        }
        let back = br#"{"method":"notifications/cancelled","params":{"requestId":1}}"#;
        exchange.hear(back, None);
        // Nobody is there to answer either; the first letter says so of the second.
        let letter = letters.recv().await.unwrap().text;
        assert!(letter.contains(r#""id":2"#), "{letter}");
    }
}
