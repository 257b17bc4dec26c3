//! Requests that must ask somebody before they can be answered. A legacy client is asked while it waits; a modern one gets
//! the questions as its answer, and the request is kept until it comes back with what it was asked for.

use crate::context::{Context, Params, invalid};
use crate::result::Done;
use crate::sessions::{Hears, random};
use catalog::caller::Caller;
use executor::line::Receiver;
use executor::{Event, Question, Unanswered};
use mcp::wire::{Era, RpcError, code, request};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a question may stay open, and how many requests may wait, in all and of one user.
const KEPT: Duration = Duration::from_secs(600);
const WAITING_MAX: usize = 10_000;
const WAITING_OF_ONE_MAX: usize = 100;

/// How long a request that is let go may take to see it.
const LET_GO: Duration = Duration::from_secs(1);

/// What the levels of log lines are worth.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

pub(crate) type Pending = Pin<Box<dyn Future<Output = Result<Done, RpcError>> + Send>>;

/// A request under way that may have something to say or to ask.
pub(crate) struct Underway {
    pub(crate) work: Pending,
    pub(crate) events: Receiver<Event>,
    open: Vec<(String, Question)>,
    /// What the client has answered before it was asked.
    answers: Map<String, Value>,
    token: Option<Value>,
    level: Option<String>,
    asked: usize,
}

impl Underway {
    pub(crate) fn new(
        work: Pending,
        events: Receiver<Event>,
        context: &Context,
        params: &mut Params,
    ) -> Self {
        Underway {
            work,
            events,
            open: Vec::new(),
            answers: given(params),
            token: params.progress_token(),
            level: context.log_level(params),
            asked: 0,
        }
    }

    /// Follows the request until it is done or, in the modern era, until it has to ask.
    pub(crate) async fn drive(mut self, context: &Context, about: About) -> Result<Done, RpcError> {
        loop {
            tokio::select! {
                biased;
                event = self.events.recv() => {
                    if let Some(text) = self.heard(context, event) {
                        let mut saying = pin!(context.say(text));
                        tokio::select! {
                            biased;
                            () = &mut saying => {}
                            // A client that does not read holds up nothing but what it is told.
                            done = &mut self.work => {
                                saying.await;
                                return self.over(context, done).await;
                            }
                        }
                    }
                    if !self.open.is_empty() && self.events.is_empty() {
                        return context.park(self, about);
                    }
                }
                done = &mut self.work => return self.over(context, done).await,
            }
        }
    }

    /// What was said before the end goes before it; nobody waits for answers any more.
    async fn over(
        mut self,
        context: &Context,
        done: Result<Done, RpcError>,
    ) -> Result<Done, RpcError> {
        while let Some(event) = self.events.try_recv() {
            if let Some(text) = self.heard(context, event) {
                context.say(text).await;
            }
        }
        done
    }

    /// Takes an event in; what the client is told of it.
    fn heard(&mut self, context: &Context, event: Event) -> Option<String> {
        match event {
            Event::Progress {
                progress,
                total,
                message,
            } => {
                let token = self.token.as_ref()?;
                let mut params = json!({"progressToken": token, "progress": progress});
                if let Some(total) = total {
                    params["total"] = json!(total);
                }
                if let Some(message) = message {
                    params["message"] = message.into();
                }
                Some(request(None, "notifications/progress", Some(&params)))
            }
            Event::Log(line) => is_wanted(self.level.as_deref(), &line)
                .then(|| request(None, "notifications/message", Some(&line))),
            Event::Ask(question) => {
                self.asked(context, question);
                None
            }
        }
    }

    fn asked(&mut self, context: &Context, question: Question) {
        let refuse = |question: Question, why: &str| {
            let _ = question.reply.send(Err(Unanswered {
                code: code::NO_METHOD,
                message: why.to_owned(),
            }));
        };
        if !context.can(capability(&question.method)) {
            return refuse(question, "The client cannot be asked this");
        }
        if context.hears == Hears::AnswersOnly {
            let why = "The client takes no event stream for this request, so it cannot be asked";
            return refuse(question, why);
        }
        if let Some(session) = &context.session {
            let asked = &context.face.asked;
            asked.note(session, question.from.as_ref(), &question.params);
            let (session, line) = (Arc::clone(session), context.line.clone());
            tokio::spawn(async move {
                let mut question = question;
                let answer = tokio::select! {
                    answer = session.ask(&line, &question.method, &question.params) => answer,
                    // The call has ended without waiting for it.
                    () = question.reply.closed() => return,
                };
                let _ = question.reply.send(answer);
            });
            return;
        }
        self.asked += 1;
        let key = question.key.clone();
        let key = key.unwrap_or_else(|| format!("ask-{}", self.asked));
        self.open.push((key, question));
        self.settle();
    }

    /// Gives the answers that are there to the questions that are open.
    fn settle(&mut self) {
        let open = std::mem::take(&mut self.open);
        for (key, question) in open {
            let answer = self.answers.get(&key);
            match answer.filter(|answer| is_answer(&question.method, answer)) {
                Some(answer) => {
                    let _ = question.reply.send(Ok(answer.clone()));
                }
                None => self.open.push((key, question)),
            }
        }
    }

    fn questions(&self) -> Value {
        let all = self.open.iter().map(|(key, question)| {
            let asked = json!({"method": question.method, "params": question.params});
            (key.clone(), asked)
        });
        Value::Object(all.collect())
    }
}

/// Whose request it is and what for: nobody else's answer is taken for it.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) caller: Arc<Caller>,
    pub(crate) method: String,
    pub(crate) name: String,
}

impl About {
    fn is_same(&self, other: &About) -> bool {
        let is_same = self.method == other.method && self.name == other.name;
        is_same && self.caller.is_same(&other.caller)
    }
}

/// Requests whose client has been asked.
#[derive(Default)]
pub(crate) struct Parked(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    waiting: HashMap<String, Waiting>,
    /// The server stops: nobody could come back.
    is_closed: bool,
}

struct Waiting {
    underway: Underway,
    about: About,
    since: Instant,
}

impl Parked {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the request, and makes its questions the answer. What the client brings back is as good as a key: it is
    /// made anew each time, and nobody can guess it.
    fn park(&self, underway: Underway, about: About, state: String) -> Result<Done, RpcError> {
        let mut kept = self.lock();
        if kept.is_closed {
            drop(kept);
            underway.let_go();
            let message = "The server is stopping, and keeps no question open";
            return Err(RpcError::new(code::INTERNAL, message));
        }
        let waiting = &mut kept.waiting;
        let of_one = waiting
            .values()
            .filter(|it| it.about.caller.user == about.caller.user);
        if waiting.len() >= WAITING_MAX || of_one.count() >= WAITING_OF_ONE_MAX {
            let message = "Too many requests wait for answers; answer some of them first";
            return Err(RpcError::new(code::INTERNAL, message));
        }
        let result = json!({
            "resultType": "input_required",
            "inputRequests": underway.questions(),
            "requestState": state,
        });
        let since = Instant::now();
        waiting.insert(
            state,
            Waiting {
                underway,
                about,
                since,
            },
        );
        Ok(Done::value(result))
    }

    /// The request that a client comes back to.
    pub(crate) fn take(
        &self,
        context: &Context,
        state: &str,
        about: &About,
        params: &mut Params,
    ) -> Result<Underway, RpcError> {
        let unknown =
            || invalid("params.requestState is none that this server has given, or too old");
        let mut kept = self.lock();
        let found = kept.waiting.get(state);
        let found = found.filter(|it| it.about.is_same(about));
        found.ok_or_else(unknown)?;
        let mut underway = kept.waiting.remove(state).ok_or_else(unknown)?.underway;
        drop(kept);
        underway.answers = given(params);
        underway.token = params.progress_token();
        underway.level = context.log_level(params);
        underway.settle();
        Ok(underway)
    }

    /// Lets go of requests that nobody came back to, which cancels them.
    pub(crate) fn sweep(&self) {
        let old = |_: &String, it: &mut Waiting| it.since.elapsed() > KEPT;
        let gone: Vec<_> = self.lock().waiting.extract_if(old).collect();
        gone.into_iter().for_each(|(_, it)| it.underway.let_go());
    }

    /// Lets go of all of them, which cancels them: nobody works on what is kept, so it would see no end of its own.
    pub(crate) fn close(&self) {
        let gone = {
            let mut kept = self.lock();
            kept.is_closed = true;
            std::mem::take(&mut kept.waiting)
        };
        gone.into_values().for_each(|it| it.underway.let_go());
    }
}

impl Underway {
    /// Cancels it. Its questions stay open until it has seen that: otherwise it would end with one that was not
    /// answered. One that nobody can cancel, because its answer is kept for later, ends with them.
    fn let_go(self) {
        let Underway {
            work, events, open, ..
        } = self;
        drop(work);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _events = events;
                let over = async {
                    for (_, mut question) in open {
                        question.reply.closed().await;
                    }
                };
                let _ = tokio::time::timeout(LET_GO, over).await;
            });
        }
    }

    /// Whether there are still questions that the client has not answered.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }
}

impl Context {
    fn park(&self, underway: Underway, about: About) -> Result<Done, RpcError> {
        let state = self.face.app.replicas.named(&random());
        self.face.parked.park(underway, about, state)
    }

    /// Starts a request that may ask, or goes on with it.
    pub(crate) async fn follow(
        &self,
        method: &str,
        name: &str,
        mut params: Params,
        start: impl FnOnce(&Context, &mut Params) -> Result<Underway, RpcError>,
    ) -> Result<Done, RpcError> {
        let about = About {
            caller: Arc::clone(&self.caller),
            method: method.to_owned(),
            name: name.to_owned(),
        };
        let state = params.take("requestState");
        let parked = &self.face.parked;
        let underway = match (self.era(), state) {
            (Era::Modern, Some(Value::String(state))) => {
                let underway = parked.take(self, &state, &about, &mut params)?;
                if underway.is_open() {
                    return self.park(underway, about);
                }
                underway
            }
            _ => start(self, &mut params)?,
        };
        underway.drive(self, about).await
    }
}

fn given(params: &mut Params) -> Map<String, Value> {
    match params.take("inputResponses") {
        Some(Value::Object(given)) => given,
        _ => Map::new(),
    }
}

fn capability(method: &str) -> &'static str {
    match method {
        "elicitation/create" => "elicitation",
        "sampling/createMessage" => "sampling",
        _ => "roots",
    }
}

/// What cannot be an answer is asked for again.
fn is_answer(method: &str, answer: &Value) -> bool {
    let has = |name: &str| answer.get(name).is_some();
    match method {
        "elicitation/create" => answer["action"].is_string(),
        "sampling/createMessage" => has("role") && has("content"),
        _ => answer["roots"].is_array(),
    }
}

fn is_wanted(level: Option<&str>, line: &Value) -> bool {
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    let Some(least) = level.and_then(rank) else {
        return false;
    };
    let own = line.get("level").and_then(Value::as_str).and_then(rank);
    own.is_none_or(|own| own >= least)
}

pub(crate) fn is_level(level: &str) -> bool {
    LEVELS.contains(&level)
}
