//! What a running call and whoever asked for it say to each other before it is done: progress, log lines, questions.
//! The deadline of a call stands still while a question is open.

use crate::code::Code;
use crate::kind::{Failure, Run};
use crate::line::Sender;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

/// How long somebody may think about a question.
const ANSWER_WITHIN: Duration = Duration::from_secs(600);

/// The line to whoever asked.
#[derive(Debug, Clone)]
pub struct Talk {
    pub events: Sender<Event>,
    /// What can be asked there, as an MCP client declares it: `{"elicitation": {}, …}`.
    pub capabilities: Arc<Value>,
    pub wants_progress: bool,
    /// The least level of the log lines that are wanted; none wants none.
    pub log_level: Option<String>,
}

/// What a running call tells its caller.
#[derive(Debug)]
pub enum Event {
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    /// A line of the tool's own log, as MCP words it: `{"level", "logger", "data"}`.
    Log(Value),
    Ask(Question),
}

/// Something that only the other side can tell, in the words of MCP.
#[derive(Debug)]
pub struct Question {
    /// What its asker calls it, where that matters.
    pub key: Option<String>,
    /// The upstream server that asks; none where it is a tool of ours.
    pub from: Option<Arc<str>>,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    pub params: Value,
    pub reply: oneshot::Sender<Result<Value, Unanswered>>,
}

/// Why there is no answer, in the words of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    pub code: i64,
    pub message: String,
}

impl Run {
    pub async fn tell(&self, event: Event) {
        if let Some(talk) = &self.talk {
            // Who does not listen any more is not told.
            let _ = talk.events.send(event).await;
        }
    }

    /// Whether there is somebody who could answer.
    pub fn can_ask(&self, capability: &str) -> bool {
        let able = self.talk.as_ref().map(|talk| &talk.capabilities);
        able.is_some_and(|able| able.get(capability).is_some_and(|it| !it.is_null()))
    }

    /// Puts a question and waits for the answer. Meanwhile the deadline stands still.
    pub async fn ask(&self, method: &str, params: Value) -> Result<Value, Unanswered> {
        self.ask_as(None, method, params).await
    }

    /// The same, under a name that the other side sees.
    pub async fn ask_as(
        &self,
        key: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, Unanswered> {
        self.asker().ask(key, method, params).await
    }

    /// For whoever asks in a task of its own.
    pub fn asker(&self) -> Asker {
        Asker {
            talk: self.talk.clone(),
            patience: Arc::clone(&self.patience),
            from: None,
        }
    }
}

/// Puts questions for a call.
#[derive(Debug, Clone)]
pub struct Asker {
    talk: Option<Talk>,
    patience: Arc<Patience>,
    from: Option<Arc<str>>,
}

impl Asker {
    /// For what is no call of a tool.
    pub fn new(talk: Talk) -> Self {
        Asker {
            talk: Some(talk),
            patience: Arc::default(),
            from: None,
        }
    }

    /// The same for what an upstream server asks.
    pub fn of(mut self, server: Arc<str>) -> Self {
        self.from = Some(server);
        self
    }

    /// The line to whoever asked; none where they only wait for the end.
    pub fn talk(&self) -> Option<&Talk> {
        self.talk.as_ref()
    }

    /// Tells them something, unless they are too slow to hear of it: nothing waits for them.
    pub fn tell(&self, event: Event) {
        if let Some(talk) = &self.talk {
            let _ = talk.events.try_send(event);
        }
    }

    /// Waits until a deadline that stands still while a question is open.
    pub async fn until(&self, deadline: Instant) {
        self.patience.until(deadline).await;
    }

    pub async fn ask(
        &self,
        key: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, Unanswered> {
        let (reply, answer) = oneshot::channel();
        let question = Question {
            key: key.map(str::to_owned),
            from: self.from.clone(),
            method: method.to_owned(),
            params,
            reply,
        };
        let nobody = || Unanswered {
            code: -32603,
            message: "There is nobody who could be asked".to_owned(),
        };
        let talk = self.talk.as_ref().ok_or_else(nobody)?;
        let _asking = self.patience.asking();
        let sent = talk.events.send(Event::Ask(question)).await;
        sent.map_err(|_| nobody())?;
        match tokio::time::timeout(ANSWER_WITHIN, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(nobody()),
            Err(_) => Err(Unanswered {
                code: -32603,
                message: "Nobody answered in time".to_owned(),
            }),
        }
    }
}

impl From<Unanswered> for Failure {
    fn from(unanswered: Unanswered) -> Self {
        let message = format!("The question was not answered: {}", unanswered.message);
        Failure::new(Code::ToolExecutionError, message)
    }
}

/// How much of a call's time was spent waiting for answers.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    waited: Mutex<Waited>,
    answered: Notify,
}

#[derive(Debug, Default)]
struct Waited {
    /// Questions that are open now, and since when there has been one.
    open: usize,
    since: Option<Instant>,
    before: Duration,
}

impl Patience {
    fn asking(&self) -> Asking<'_> {
        let mut waited = self.lock();
        waited.open += 1;
        waited.since.get_or_insert_with(Instant::now);
        Asking(self)
    }

    /// Waits until the deadline, moved by the time that questions took.
    pub(crate) async fn until(&self, deadline: Instant) {
        loop {
            let answered = self.answered.notified();
            let (is_open, before) = {
                let waited = self.lock();
                (waited.open > 0, waited.before)
            };
            let deadline = deadline + before;
            if is_open {
                answered.await;
            } else if Instant::now() >= deadline {
                return;
            } else {
                // A question may begin and end meanwhile.
                tokio::time::sleep_until(deadline.into()).await;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waited> {
        self.waited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open question.
struct Asking<'a>(&'a Patience);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut waited = self.0.lock();
        waited.open -= 1;
        if waited.open == 0 {
            let since = waited.since.take();
            waited.before += since.map_or(Duration::ZERO, |since| since.elapsed());
            self.0.answered.notify_waiters();
        }
    }
}
