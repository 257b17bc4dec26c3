//! One upstream, connected or not, and how it is asked.

use super::connection::Connection;
use super::credentials::Bearer;
use super::error::UpstreamError;
use super::exchange::Answer;
use super::fault::Fault;
use super::handshake::Way;
use super::hooks::{Changed, Hooks};
use super::known::Known;
use super::lists::{self, Lists};
use super::params::Params;
use super::people::People;
use super::secrets::Secrets;
use super::status::{State, Status};
use super::tail::Tail;
use super::talk::Talk;
use super::{Notice, Options, locked};
use crate::wire::{RpcError, code};
use arc_swap::{ArcSwap, ArcSwapOption};
use catalog::mcp_file::ServerConfig;
use serde_json::value::RawValue;
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// So many calls in a row without an answer, and a server counts as degraded.
const FAILURES: u32 = 3;

/// Why a call is not sent that would have to wait behind somebody.
const PONDERED: &str = "another call of this sort waits for somebody's answer, and only one at a time can ask; try again later";

/// An upstream server.
pub struct Upstream {
    pub(super) name: Arc<str>,
    /// As it is now: what has nothing to do with the connection may change under it.
    pub(super) config: ArcSwap<ServerConfig>,
    pub(super) options: Arc<Options>,
    pub(super) hooks: Arc<Hooks>,
    pub(super) tail: Arc<Tail>,
    /// What is never told.
    pub(super) secrets: Arc<Secrets>,
    pub(super) current: ArcSwapOption<Connection>,
    pub(super) lists: ArcSwap<Lists>,
    pub(super) status: Mutex<Status>,
    /// How many tries there have been, and what the last one came to.
    pub(super) tries: watch::Sender<Tried>,
    pub(super) known: Mutex<Option<Way>>,
    /// Where its tools must be approved: those that may be called, and no others.
    approved: ArcSwapOption<HashSet<String>>,
    /// Somebody needs a connection.
    pub(super) needed: Notify,
    /// Somebody wants another one.
    pub(super) renew: Notify,
    /// A call over HTTP went without an answer: is anybody there?
    pub(super) doubt: Notify,
    pub(super) use_: Use,
    /// Calls in a row that went without an answer.
    failures: AtomicU32,
    turn: Semaphore,
    /// Whose connection this is, where everybody has their own.
    pub(super) user: Option<Uuid>,
    /// The connections of single users.
    pub(super) people: People,
    /// Another one of its name takes its place.
    pub(super) is_replaced: AtomicBool,
    pub(super) end: CancellationToken,
    pub(super) ended: CancellationToken,
}

#[derive(Clone, Default)]
pub(super) struct Tried {
    pub(super) count: u64,
    pub(super) fault: Option<Fault>,
    pub(super) at: Option<Instant>,
    /// It is connected, or is not tried again before somebody needs it.
    pub(super) is_settled: bool,
}

/// Whether anybody needs the connection.
pub(super) struct Use {
    pub(super) calls: AtomicUsize,
    pub(super) last: Mutex<Instant>,
}

impl Upstream {
    pub(super) fn new(config: ServerConfig, options: Arc<Options>, mut known: Known) -> Self {
        if config.knows_people() {
            known.lists.keep_common();
        }
        let name: Arc<str> = config.name.as_str().into();
        let fault = config.fault().filter(|_| !config.disabled);
        let state = match (config.disabled, &fault) {
            (true, _) => State::Disabled,
            (false, Some(_)) => State::Failed,
            (false, None) => State::Starting,
        };
        let status = Status {
            cause: fault,
            ..known.status(state)
        };
        let secrets = Arc::new(Secrets::of(&config));
        let kept = options.settings.stderr_bytes_kept;
        Upstream {
            hooks: Arc::new(Hooks::new(Arc::clone(&name), options.notices.clone())),
            tail: Arc::new(Tail::new(kept, Arc::clone(&secrets))),
            secrets,
            name,
            config: ArcSwap::from_pointee(config),
            options,
            current: ArcSwapOption::empty(),
            status: Mutex::new(status),
            known: Mutex::new(known.way),
            lists: ArcSwap::from_pointee(known.lists),
            approved: ArcSwapOption::empty(),
            tries: watch::Sender::new(Tried::default()),
            needed: Notify::new(),
            renew: Notify::new(),
            doubt: Notify::new(),
            use_: Use {
                calls: AtomicUsize::new(0),
                last: Mutex::new(Instant::now()),
            },
            failures: AtomicU32::new(0),
            turn: Semaphore::new(1),
            user: None,
            people: People::default(),
            is_replaced: AtomicBool::new(false),
            end: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    pub fn config(&self) -> Arc<ServerConfig> {
        self.config.load_full()
    }

    /// Takes what is written of it now, which says the same about its connection.
    pub(super) fn adopt(&self, config: ServerConfig) {
        let config = Arc::new(config);
        for own in self.people.all().values() {
            own.config.store(Arc::clone(&config));
        }
        self.config.store(config);
    }

    /// Ends it. Where another takes its place, what is under way over HTTP may still come to its end.
    pub(super) fn retire(&self, is_replaced: bool) {
        if is_replaced {
            for own in self.people.all().values() {
                own.is_replaced.store(true, Ordering::Relaxed);
            }
            self.is_replaced.store(true, Ordering::Relaxed);
        }
        self.end.cancel();
    }

    pub fn status(&self) -> Status {
        let mut status = locked(&self.status).clone();
        status.stderr = self.tail.shown();
        status
    }

    /// What it offers, or offered last.
    pub fn lists(&self) -> Arc<Lists> {
        self.lists.load_full()
    }

    /// Lets only these of its tools be called, or all of them again.
    pub fn approve(&self, tools: Option<HashSet<String>>) {
        self.approved.store(tools.map(Arc::new));
    }

    /// Whether a tool of it may be called, or waits for somebody's approval.
    pub fn is_approved(&self, tool: &str) -> bool {
        let approved = self.approved.load();
        approved.as_ref().is_none_or(|all| all.contains(tool))
    }

    /// Connects anew, now.
    pub fn reconnect(&self) {
        self.renew.notify_one();
    }

    /// Whether it is ever tried: not where it is switched off, or cannot be connected as it is configured.
    pub(super) fn is_tried(&self) -> bool {
        let config = self.config.load();
        !config.disabled && config.is_usable()
    }

    /// Connects anew, and waits for what that comes to, but not longer than it may take.
    pub async fn reconnected(&self) {
        if !self.is_tried() {
            return;
        }
        let mut tries = self.tries.subscribe();
        let before = tries.borrow_and_update().count;
        self.reconnect();
        let limit = self.options.settings.connect_timeout;
        let tried = tries.wait_for(|tried| tried.count > before);
        let _ = tokio::time::timeout(limit, tried).await;
    }

    /// What the server is shown, as it is now.
    pub(super) fn bearer(&self) -> Bearer {
        let all = self.options.credentials.as_ref();
        Bearer(all.and_then(|all| all.of(&self.config.load(), self.user)))
    }

    /// The resources of which changes are to be told, all of them; those of before are forgotten.
    pub fn watch(&self, uris: BTreeSet<String>) {
        let watched = &self.hooks.watched;
        let differs = {
            let mut now = locked(&watched.uris);
            let differs = *now != uris;
            *now = uris;
            differs
        };
        if differs {
            watched.told.notify_one();
        }
    }

    /// Sends a request and returns the raw result. What may have run is not sent again, unless `talk` allows it.
    /// What most requests do without is boxed: a future is moved as a whole, and made for each of them.
    pub async fn request(
        &self,
        method: &str,
        params: Params<'_>,
        talk: Talk,
    ) -> Result<Box<RawValue>, UpstreamError> {
        if self.is_of_many() {
            // The connection for its lists is somebody's own.
            let cause = "everybody has their own connection to it".to_owned();
            return Err(self.told(Fault::NotSent(cause)));
        }
        let in_use = InUse::new(&self.use_);
        if in_use.others >= self.options.settings.calls_max {
            return Err(self.told(Fault::NotSent("too many calls wait for it".to_owned())));
        }
        let mut is_second = false;
        loop {
            let connection = match self.usable() {
                Some(connection) => connection,
                None => Box::pin(self.connection(&talk)).await?,
            };
            let _turn = match self.wants_turn(method, params, &talk) {
                true => Some(
                    Box::pin(self.take_turn(&talk))
                        .await
                        .map_err(|fault| self.told(fault))?,
                ),
                false => None,
            };
            let rounds_max = self.options.settings.rounds_max;
            let outcome = connection.ask(method, params, &talk, rounds_max).await;
            self.saw(&connection, &outcome);
            let fault = match outcome {
                Ok(result) => return Ok(result),
                Err(fault) => fault,
            };
            let fault = match fault {
                // A session that has just begun is known: it means something else, and may have run.
                Fault::NoSession(cause) if is_second => Fault::Lost(cause),
                fault => fault,
            };
            if is_second || !Box::pin(self.may_go_again(&connection, &fault, &talk)).await {
                return Err(self.told(fault));
            }
            is_second = true;
        }
    }

    /// Whether a request may be sent again: what did not run, and what may run twice.
    async fn may_go_again(&self, connection: &Connection, fault: &Fault, talk: &Talk) -> bool {
        let mismatch = |error: &RpcError| error.code == code::HEADER_MISMATCH;
        if connection.is_http() && fault.rpc().is_some_and(mismatch) {
            // It was refused because a tool has other headers by now.
            let before = self.lists.load();
            let read = lists::read(connection, &before, Changed::TOOLS, &self.options);
            let read = talk.bound(async { Ok(read.await) }).await;
            self.hooks.changed.add(Changed::TOOLS);
            return read.is_ok_and(|(_, fault)| fault.is_none());
        }
        (fault.is_unsent() && connection.is_gone())
            || (talk.may_repeat && matches!(fault, Fault::Lost(_)))
    }

    /// Tells a server something, if it is connected.
    pub async fn notify(&self, method: &str, params: Params<'_>) -> Result<(), UpstreamError> {
        let connection = self.current.load_full();
        let Some(connection) = connection.filter(|connection| !connection.is_gone()) else {
            return Err(self.told(Fault::NotSent("it is not connected".to_owned())));
        };
        let told = connection.notify(method, params).await;
        told.map_err(|fault| self.told(fault))
    }

    pub(super) fn told(&self, fault: Fault) -> UpstreamError {
        let state = locked(&self.status).state.clone();
        let told = fault.told(&state, &self.remedy());
        self.secrets.out_of_error(told)
    }

    pub(super) fn usable(&self) -> Option<Arc<Connection>> {
        let connection = self.current.load_full();
        connection.filter(|connection| !connection.is_gone())
    }

    /// Of those that may have asked when it could not be told who did, only one at a time may run.
    fn wants_turn(&self, method: &str, params: Params<'_>, talk: &Talk) -> bool {
        let askers = &self.hooks.askers;
        talk.abilities().any() && askers.goes_alone(&params.label(method), Instant::now())
    }

    async fn take_turn(&self, talk: &Talk) -> Result<tokio::sync::SemaphorePermit<'_>, Fault> {
        let patience = self.options.settings.question_patience;
        let turn = async {
            let gone = |_| Fault::NotSent("the server was removed".to_owned());
            tokio::select! {
                biased;
                turn = self.turn.acquire() => turn.map_err(gone),
                // It never left. Who knows when somebody comes back to what they were asked.
                () = self.hooks.askers.somebody_ponders(patience) => {
                    Err(Fault::NotSent(PONDERED.to_owned()))
                }
            }
        };
        talk.bound(turn).await
    }

    /// What a call tells of the server.
    fn saw(&self, connection: &Connection, outcome: &Answer) {
        let is_fault = matches!(
            outcome,
            Err(Fault::Lost(_) | Fault::Protocol(_) | Fault::Late)
        ) || matches!(outcome, Err(Fault::Status { error: None, status, .. }) if *status >= 500);
        if !is_fault {
            if outcome.is_ok() && self.failures.swap(0, Ordering::Relaxed) >= FAILURES {
                self.change(|status| {
                    if status.state == State::Degraded {
                        (status.state, status.cause) = (State::Connected, None);
                    }
                });
            }
            return;
        }
        if connection.is_http() && matches!(outcome, Err(Fault::Lost(_))) {
            self.doubt.notify_one();
        }
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= FAILURES {
            self.change(|status| {
                if status.state == State::Connected {
                    status.state = State::Degraded;
                    status.cause = Some("its last calls went without an answer".to_owned());
                }
            });
        }
    }

    /// Changes the status, and tells so if it is another.
    pub(super) fn change(&self, change: impl FnOnce(&mut Status)) {
        let (differs, told) = {
            let mut status = locked(&self.status);
            let before = (status.state.clone(), status.cause.clone(), status.pid);
            change(&mut status);
            status.cause = status.cause.take().map(|it| self.secrets.out_of(it));
            let now = (status.state.clone(), status.cause.clone(), status.pid);
            let is_other = before.0.as_str() != now.0.as_str();
            (before != now, is_other.then_some((now.0, now.1)))
        };
        if let Some((state, cause)) = told {
            self.log(&state, cause.as_deref());
        }
        if differs {
            let _ = self
                .options
                .notices
                .send(Notice::State(Arc::clone(&self.name)));
        }
    }
}

/// Why a try came to nothing, in words.
pub(super) fn cause(fault: Fault, state: &State) -> String {
    match fault {
        Fault::NotSent(cause) | Fault::NoSession(cause) | Fault::Lost(cause) => cause,
        fault => fault.told(state, "sign in to it again").to_string(),
    }
}

/// Somebody uses the connection, beside so many others.
pub(super) struct InUse<'a> {
    use_: &'a Use,
    others: usize,
}

impl<'a> InUse<'a> {
    pub(super) fn new(use_: &'a Use) -> Self {
        // In one order with the swap of the connection, so that nobody's is closed under them.
        let others = use_.calls.fetch_add(1, Ordering::SeqCst);
        InUse { use_, others }
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        *locked(&self.use_.last) = Instant::now();
        self.use_.calls.fetch_sub(1, Ordering::SeqCst);
    }
}
