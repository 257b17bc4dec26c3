//! The calls of a turn: which may run, which somebody has to approve, which have to be asked about, and running them side
//! by side. Each is stored as started before it starts, and its result before anything follows from it.

use super::driver::Driver;
use super::journal::Lost;
use super::offered::Offer;
use super::own::Own;
use super::result::result_of;
use crate::risk::Risk;
use agent::entry::{CallResult, Entry, Pending, PendingKind};
use agent::planner::is_korean;
use agent::result::shortened;
use agent::state::{Open, Phase, counted};
use catalog::catalogue::Entry as Tool;
use executor::CallRequest;
use executor::talk::{Event, Talk};
use providers::{Arguments, Call};
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// Nobody sleeps longer at a time; who wakes looks again.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(24 * 3_600);

/// How a call ended.
pub(crate) struct Ended {
    pub(crate) result: CallResult,
    /// Tools that the model is shown from now on, and why.
    pub(crate) found: Vec<String>,
    pub(crate) because: String,
}

impl From<CallResult> for Ended {
    fn from(result: CallResult) -> Self {
        Ended {
            result,
            found: Vec::new(),
            because: String::new(),
        }
    }
}

type Work = Pin<Box<dyn Future<Output = Ended> + Send>>;

/// Calls under way. Behind a lock only because a future may not be looked at by two at a time; nobody waits for it.
#[derive(Default)]
pub(crate) struct Running(Mutex<Vec<Work>>);

impl Running {
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn all(&mut self) -> &mut Vec<Work> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&mut self, work: impl Future<Output = Ended> + Send + 'static) {
        self.all().push(Box::pin(work));
    }

    /// The next that ends.
    async fn next(&mut self) -> Ended {
        let all = self.all();
        std::future::poll_fn(|context: &mut Context<'_>| {
            for i in 0..all.len() {
                if let Poll::Ready(result) = all[i].as_mut().poll(context) {
                    drop(all.swap_remove(i));
                    return Poll::Ready(result);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// What is to be done about a call.
enum Step {
    /// It is settled without running anything.
    Settle(Entry),
    Ask(Box<Pending>),
    Run {
        arguments: Value,
        what: What,
    },
    /// Not yet: enough are running.
    Later,
}

/// What a call runs.
enum What {
    Own(Own),
    Tool { tool: Arc<Tool>, is_approved: bool },
}

impl Driver {
    /// Starts what can be started, then waits for the first thing to happen.
    pub(crate) async fn act(&mut self) -> Result<(), Lost> {
        let mut starting = Vec::new();
        let mut open = self.journal.state.open.clone();
        // A server that stops ends what it has begun, and begins nothing.
        if self.journal.app.runs.stopping.is_cancelled() {
            open.clear();
        }
        for it in &open {
            match self.step(it, starting.len()) {
                Step::Settle(entry) => self.journal.add(entry),
                Step::Ask(pending) => self.journal.add(Entry::Asked(pending)),
                Step::Run { arguments, what } => {
                    self.journal.add(Entry::Started {
                        call: it.call.id.clone(),
                        arguments: arguments.clone(),
                    });
                    starting.push((it.call.clone(), arguments, what));
                }
                Step::Later => {}
            }
        }
        // A question is stored in one write with letting go of the run: whoever sees it may answer, and is heard.
        if starting.is_empty() && self.running.is_empty() {
            return Ok(());
        }
        // Before any of them starts: what is not in the journal has not happened.
        self.journal.store().await?;
        // Somebody may have been faster. What is journalled as started and never was is settled by the cancelling.
        if self.journal.state.cancelled_by.is_some() {
            return Ok(());
        }
        for (call, arguments, what) in starting {
            match what {
                What::Own(own) => {
                    let work = self.carry_out(own, call, arguments);
                    self.running.push(work);
                }
                What::Tool { tool, is_approved } => {
                    self.start(&call, arguments, is_approved, &tool);
                }
            }
        }
        if self.running.is_empty() {
            return Ok(());
        }
        let mut running = std::mem::take(&mut self.running);
        let seconds_left = self.seconds_left();
        let ended = tokio::select! {
            result = running.next() => Some(result),
            () = self.heard() => None,
            () = sleep(seconds_left) => None,
        };
        self.running = running;
        match ended {
            Some(ended) => {
                self.journal.add(Entry::Result(Box::new(ended.result)));
                self.show_more(ended.found, ended.because);
                self.journal.store().await
            }
            None => self.journal.look().await,
        }
    }

    /// The model is shown these tools from now on.
    fn show_more(&mut self, names: Vec<String>, because: String) {
        let planned = self.journal.state.planned.iter().flatten();
        let mut tools: Vec<String> = planned.map(|it| it.tool.clone()).collect();
        let new: Vec<String> = names.into_iter().filter(|it| !tools.contains(it)).collect();
        if new.is_empty() {
            return;
        }
        tools.extend(new);
        self.journal.add(Entry::Plan {
            tools,
            because,
            parts: Vec::new(),
            left: Vec::new(),
        });
    }

    /// Until the run may not go on, where that is bounded.
    pub(crate) fn seconds_left(&self) -> Option<f64> {
        let most = self.journal.state.limits().seconds_max?;
        let now = self.journal.app.clock.now();
        Some((most - self.journal.state.seconds_spent(now)).max(0.0))
    }

    fn step(&self, open: &Open, starting: usize) -> Step {
        let call = &open.call;
        let cleared = match &open.phase {
            Phase::New => None,
            Phase::Cleared(cleared) => Some(cleared),
            _ => return Step::Later,
        };
        let arguments = match (cleared, &call.arguments) {
            (Some(cleared), _) => cleared.arguments.clone(),
            (None, Arguments::Json(arguments)) => arguments.clone(),
            (None, Arguments::Bad(text)) => {
                let app = &self.journal.app;
                let why = match app.takes_secrets(Some(&self.caller), &call.name) {
                    true => "The arguments are not JSON".to_owned(),
                    false => format!("The arguments are not JSON: {}", shortened(text, 500).0),
                };
                return refused(call, "invalid_input", why);
            }
        };
        let offer = match self.find(&call.name) {
            Offer::Unknown(why) => return refused(call, "tool_not_found", why),
            Offer::Own(Own::Ask) => return Step::Settle(self.question(call, &arguments)),
            other => other,
        };
        let state = &self.journal.state;
        let made = state.calls_by_tool.get(&call.name).copied().unwrap_or(0);
        let limits = state.limits();
        if limits.calls_per_tool_max.is_some_and(|most| made >= most) {
            let times = counted(made, "time");
            let why = format!("'{}' was called {times}, the most in a run", call.name);
            return refused(call, "max_calls_per_tool", why);
        }
        if state.calls >= limits.calls_max {
            let calls = counted(state.calls, "call");
            let why = format!("The run made {calls}, the most it may");
            return refused(call, "max_tool_calls", why);
        }
        if self.running.len() + starting >= self.parallel_max() {
            return Step::Later;
        }
        let tool = match offer {
            Offer::Tool(tool) => tool,
            Offer::Own(own) => return own_step(own, call, arguments),
            Offer::Unknown(why) => return refused(call, "tool_not_found", why),
        };
        let app = &self.journal.app;
        if let Err(failure) = app.executor.check_arguments(&tool, &arguments) {
            return refused(call, failure.code.as_str(), failure.message);
        }
        // It may be long ago that somebody let it run: what counts for the tool as it was then counts for no other.
        let lets: Vec<_> = cleared
            .into_iter()
            .chain(state.always(&call.name))
            .collect();
        let is_approved = lets.iter().any(|it| it.is_of(&tool.tool.hash));
        // Nobody is asked about what cannot be called.
        let may_ask = !is_approved && tool.tool.definition.is_active;
        match self.must_approve(call, &tool).filter(|_| may_ask) {
            Some(because) if lets.is_empty() => {
                Step::Ask(self.approval(call, &tool, arguments, because))
            }
            Some(_) => {
                let because = changed(&self.request()).to_owned();
                Step::Ask(self.approval(call, &tool, arguments, because))
            }
            None => Step::Run {
                arguments,
                what: What::Tool { tool, is_approved },
            },
        }
    }

    /// Why somebody has to approve a call of this tool.
    fn must_approve(&self, call: &Call, tool: &Tool) -> Option<String> {
        let definition = &tool.tool.definition;
        let wanted = definition.approval.as_ref();
        if wanted.is_some_and(|word| *word == true || *word == "always") {
            return Some("The tool asks for approval of every call".to_owned());
        }
        let app = &self.journal.app;
        let request = self.request();
        if !self.has_model()
            && let Some(why) = self.contrary(call, &tool.tool)
        {
            return Some(why.to_owned());
        }
        let because = match self.has_model() {
            false if is_korean(&request) => {
                "무언가를 지우거나 되돌릴 수 없게 바꿀 수 있는 호출이고, 플래너가 요청의 낱말만 보고 골랐습니다"
            }
            false => {
                "The call may destroy something, and the planner has chosen it by the words of the request"
            }
            true if app.runs.settings.guard_untrusted && self.journal.state.is_tainted => {
                "The call may destroy something, and the model has read what somebody outside may have written"
            }
            true => return None,
        };
        (app.risk(&tool.tool) == Risk::Destructive).then(|| because.to_owned())
    }

    fn approval(
        &self,
        call: &Call,
        tool: &Tool,
        arguments: Value,
        because: String,
    ) -> Box<Pending> {
        let question = match is_korean(&self.request()) {
            true => format!("이 인자로 '{}'을(를) 호출해도 될까요?", call.name),
            false => format!("May '{}' be called with these arguments?", call.name),
        };
        self.pending(PendingKind::Approval, call, question)
            .with(|pending| {
                pending.tool = Some(call.name.clone());
                pending.definition = Some(tool.tool.hash.to_string());
                pending.arguments = arguments;
                pending.because = because;
                pending.schema = json!({
                    "type": "object",
                    "properties": {
                        "decision": {"enum": ["approve", "edit", "reject", "respond", "always"]},
                        "arguments": {"type": "object"},
                        "text": {"type": "string"},
                    },
                    "required": ["decision"],
                });
            })
    }

    /// Somebody is asked about a call.
    pub(crate) fn pending(&self, kind: PendingKind, call: &Call, question: String) -> Asking {
        let app = &self.journal.app;
        let now = app.clock.now();
        let within = app.runs.settings.answer_within.as_millis();
        Asking(Box::new(Pending {
            request_id: uuid::Uuid::now_v7().to_string(),
            kind,
            call: call.id.clone(),
            question,
            schema: Value::Null,
            tool: None,
            definition: None,
            arguments: Value::Null,
            because: String::new(),
            asked_at: now,
            expires_at: now + i64::try_from(within).unwrap_or(i64::MAX / 2),
        }))
    }

    fn start(&mut self, call: &Call, arguments: Value, is_approved: bool, tool: &Arc<Tool>) {
        let (events, mut told) = executor::line::line(16);
        let request = CallRequest {
            tool: call.name.clone(),
            arguments,
            talk: Some(Talk {
                events,
                capabilities: Arc::new(json!({})),
                wants_progress: true,
                log_level: None,
            }),
            trace: self
                .span
                .as_ref()
                .map(|span| Box::new(span.context.clone())),
            is_approved,
            ..CallRequest::default()
        };
        let app = Arc::clone(&self.journal.app);
        let (caller, live) = (Arc::clone(&self.caller), Arc::clone(&self.journal.live));
        let (id, untrusted) = (call.id.clone(), app.is_open_world(&tool.tool));
        let chars_max = app.runs.settings.result_chars_max;
        self.running.push(async move {
            // Where nobody keeps servers connected, the tool's own is connected now; what fails there, the call tells.
            let _ = app.reach_upstream(&request.tool).await;
            let work = app.call(caller, request, None);
            tokio::pin!(work);
            let answer = loop {
                tokio::select! {
                    answer = &mut work => break answer,
                    event = told.recv() => {
                        if let Event::Progress { progress, total, message } = event {
                            live.note_progress(&id, progress_line(progress, total, message));
                        }
                    }
                }
            };
            Ended::from(match answer {
                Ok(response) => result_of(&id, &response, untrusted, chars_max),
                Err(error) => CallResult::told(&id, error.to_string(), Some(error.code().as_str())),
            })
        });
    }
}

/// A question on its way to somebody.
pub(crate) struct Asking(Box<Pending>);

impl Asking {
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Pending)) -> Box<Pending> {
        change(&mut self.0);
        self.0
    }
}

/// A call of one of the run's own tools, where it has what it needs.
fn own_step(own: Own, call: &Call, arguments: Value) -> Step {
    match own.lacks(&arguments) {
        Some(why) => refused(call, "invalid_input", why),
        None => Step::Run {
            arguments,
            what: What::Own(own),
        },
    }
}

/// Why somebody is asked again.
fn changed(request: &str) -> &'static str {
    match is_korean(request) {
        true => "허락한 뒤에 도구가 바뀌었습니다. 지금의 도구를 보고 다시 정해 주세요",
        false => "The tool was changed since somebody let it run: look at it as it is now",
    }
}

fn refused(call: &Call, code: &str, why: impl Into<String>) -> Step {
    Step::Settle(Entry::refused(call, code, why))
}

pub(crate) async fn sleep(seconds: Option<f64>) {
    match seconds {
        Some(seconds) => {
            let span = std::time::Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST);
            tokio::time::sleep(span.min(LONGEST)).await;
        }
        None => std::future::pending().await,
    }
}

fn progress_line(progress: f64, total: Option<f64>, message: Option<String>) -> String {
    let of = total.map_or_else(String::new, |total| format!(" of {total}"));
    let message = message.map_or_else(String::new, |message| format!(": {message}"));
    format!("{progress}{of}{message}")
}
