//! Driving a run: what is to be done next is asked of its state, done, and stored before the next thing. Whoever is cut off
//! here leaves a journal that the next driver goes on from.

use super::acting::Running;
use super::journal::{Journal, Lost};
use super::thinking::{cut_short, empty};
use crate::App;
use agent::entry::{Ending, Entry, RunError, Status};
use agent::limits::Reached;
use agent::state::{Next, Phase};
use catalog::caller::Caller;
use catalog::schema::Schema;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use store::runs::RunRow;

/// How often a driver looks whether somebody at another server added to its run.
const LOOK: Duration = Duration::from_millis(500);

/// How often the model is told what is wrong with its answer.
const CORRECTIONS_MAX: u64 = 2;

pub(crate) struct Driver {
    pub(crate) journal: Journal,
    pub(crate) caller: Arc<Caller>,
    pub(crate) running: Running,
    pub(crate) span: Option<telemetry::Span>,
    /// Whether its end is in the figures.
    is_counted: bool,
    /// Whether it was tried with less of the conversation: the model could not take all of it.
    pub(crate) tokens_max: Option<usize>,
}

/// Drives a run until it rests.
pub(super) async fn drive(app: Arc<App>, row: RunRow) -> Result<(), Lost> {
    let caller = app.caller_of_run(&row);
    let mut journal = Journal::open(Arc::clone(&app), row).await?;
    let caller = match caller {
        Ok(caller) => caller,
        Err(error) => {
            settle_interrupted(&mut journal);
            settle_open(&mut journal, "cancelled", "The run ended before this call");
            end(&mut journal, Status::Failed, None, Some(error));
            return journal.release().await.map(drop);
        }
    };
    let span = app.run_span(&journal);
    let mut driver = Driver {
        journal,
        caller,
        running: Running::default(),
        span,
        is_counted: false,
        tokens_max: None,
    };
    settle_interrupted(&mut driver.journal);
    driver.go_on().await
}

/// What an earlier driver started and nobody saw end: it is never run again.
fn settle_interrupted(journal: &mut Journal) {
    let calls: Vec<providers::Call> = journal.state.in_flight().cloned().collect();
    for call in calls {
        let why = "The server stopped while this call was running; whether it took effect is unknown. Find out before you call it again";
        journal.add(Entry::refused(&call, "interrupted", why));
    }
}

impl Driver {
    async fn go_on(&mut self) -> Result<(), Lost> {
        loop {
            if self.journal.app.runs.stopping.is_cancelled() && self.running.is_empty() {
                self.journal.store().await?;
                return Err(Lost::Stopping);
            }
            if self.journal.has_lost && self.journal.state.ending.is_none() {
                self.running = Running::default();
                let why = "What the run calls with is sealed with a key that this server does not have (any more)";
                self.fail(RunError::new("secrets_unreadable", why));
            }
            let now = self.journal.app.clock.now();
            let next = self.journal.state.next(now);
            if matches!(next, Next::Think | Next::Act) && !self.may_go_on() {
                continue;
            }
            match next {
                Next::Over => {
                    self.close_span();
                    self.count_end();
                    if self.journal.release().await? {
                        return Ok(());
                    }
                }
                Next::Cancel(by) => self.cancel(&by),
                Next::Wait if self.is_expired(now) => self.expire(),
                Next::Wait => {
                    if self.journal.release().await? {
                        return Ok(());
                    }
                }
                Next::Conclude(text) => self.conclude(text),
                Next::Limit(reached) => self.limit(reached),
                Next::Think => self.think().await?,
                Next::Act => self.act().await?,
            }
        }
    }

    /// Whoever it runs for may have lost a right, or all of them, since it was last asked.
    fn may_go_on(&mut self) -> bool {
        match self.journal.app.caller_of_run(&self.journal.row) {
            Ok(caller) => {
                self.caller = caller;
                true
            }
            Err(error) => {
                // Dropped, they are stopped and logged.
                self.running = Running::default();
                self.fail(error);
                false
            }
        }
    }

    /// Until somebody may have added to the run who does not drive it. Nothing is read here: this may be dropped.
    pub(crate) async fn heard(&self) {
        let live = Arc::clone(&self.journal.live);
        tokio::select! {
            () = live.poked.notified() => {}
            () = tokio::time::sleep(LOOK), if self.journal.app.is_shared() => {}
        }
    }

    fn is_expired(&self, now: i64) -> bool {
        let mut pending = self.journal.state.pending();
        pending.any(|it| it.expires_at <= now)
    }

    fn expire(&mut self) {
        let why = "Nobody answered in time";
        settle_open(&mut self.journal, "expired", why);
        let error = RunError::new("expired", why);
        end(&mut self.journal, Status::Expired, None, Some(error));
    }

    fn cancel(&mut self, by: &str) {
        // Dropped, they are stopped and logged.
        self.running = Running::default();
        settle_open(&mut self.journal, "cancelled", "The run was cancelled");
        let error = RunError::new("cancelled", format!("'{by}' cancelled the run"));
        let text = self.last_text();
        end(&mut self.journal, Status::Cancelled, text, Some(error));
    }

    fn limit(&mut self, reached: Reached) {
        if reached.may_answer {
            self.journal.add(Entry::Limited {
                code: reached.code.to_owned(),
                message: reached.message,
            });
            return;
        }
        self.running = Running::default();
        settle_open(&mut self.journal, "cancelled", &reached.message);
        let error = RunError::new(reached.code, reached.message);
        let text = self.last_text();
        end(&mut self.journal, Status::Failed, text, Some(error));
    }

    pub(crate) fn has_model(&self) -> bool {
        let began = self.journal.state.began.as_ref();
        began.is_some_and(|began| began.has_model)
    }

    /// What the model said last: half an answer is better than none.
    fn last_text(&self) -> Option<String> {
        let said = self.journal.state.said.iter().rev();
        let mut texts = said.filter_map(|said| match said {
            providers::Said::Model(turn) if !turn.text.is_empty() => Some(turn.text.clone()),
            _ => None,
        });
        texts.next()
    }

    fn conclude(&mut self, text: String) {
        let began = self.journal.state.began.clone();
        let schema = began.and_then(|it| it.output_schema);
        let limited = self.journal.state.limited.clone();
        let limited = limited.map(|(code, message)| RunError { code, message });
        let error = limited.or_else(|| self.journal.state.last_stop().and_then(cut_short));
        let error = error.or_else(|| match self.has_model() {
            true => empty(&text),
            false => self.all_rejected(),
        });
        let Some(schema) = schema.filter(|_| self.has_model()) else {
            return end(&mut self.journal, Status::Done, Some(text), error);
        };
        match shaped(&text, &schema) {
            Ok(value) => {
                let mut ending = over(Status::Done, Some(text), error);
                ending.value = Some(value);
                self.journal.end(ending);
            }
            Err(why) if self.journal.state.corrections < CORRECTIONS_MAX => {
                self.journal.add(Entry::Corrected {
                    text: format!("Your answer is not what was asked for: {why}. Answer again with JSON that fits the schema, and nothing else."),
                });
            }
            Err(why) => {
                let message = format!("The answer is not what output_schema asks for: {why}");
                let error = RunError::new("invalid_output", message);
                end(&mut self.journal, Status::Failed, Some(text), Some(error));
            }
        }
    }

    pub(crate) fn fail(&mut self, error: RunError) {
        settle_open(&mut self.journal, "cancelled", &error.message);
        let text = self.last_text();
        end(&mut self.journal, Status::Failed, text, Some(error));
    }
}

impl App {
    /// The step that driving a run is, until it rests.
    fn run_span(&self, journal: &Journal) -> Option<telemetry::Span> {
        let telemetry = self.executor.telemetry()?;
        let agent = journal
            .row
            .agent_id
            .and_then(|id| self.agents.load().by_id(id));
        let name = match &agent {
            Some(agent) => format!("invoke_agent {}", agent.name),
            None => "invoke_agent".to_owned(),
        };
        let mut span = telemetry.span(None, name, telemetry::Kind::Internal);
        span.set("gen_ai.operation.name", "invoke_agent");
        span.set("gen_ai.conversation.id", journal.row.id.to_string());
        if let Some(agent) = agent {
            span.set("gen_ai.agent.id", agent.id.to_string());
            span.set("gen_ai.agent.name", agent.name.as_str());
        }
        Some(span)
    }
}

impl Driver {
    /// Before anybody is told of it, and once.
    fn count_end(&mut self) {
        if !std::mem::replace(&mut self.is_counted, true) {
            let status = self.journal.state.status();
            self.journal.app.runs.counted.note_end(status);
        }
    }

    fn close_span(&mut self) {
        let Some(mut span) = self.span.take() else {
            return;
        };
        let state = &self.journal.state;
        span.set("gen_ai.usage.input_tokens", state.usage.input_tokens);
        span.set("gen_ai.usage.output_tokens", state.usage.output_tokens);
        let error = state.ending.as_ref().and_then(|it| it.error.as_ref());
        if let Some(error) = error {
            span.fail(error.code.as_str());
        }
    }

    /// Calls at a time: one where the agent says so.
    pub(crate) fn parallel_max(&self) -> usize {
        let one = |row: &store::agents::AgentRow| {
            row.config.0.get("parallel_tool_calls") == Some(&Value::Bool(false))
        };
        match self.agent().is_some_and(|row| one(&row)) {
            true => 1,
            false => self.journal.app.runs.settings.parallel_max,
        }
    }
}

/// The JSON that a text is, where it fits the schema.
fn shaped(text: &str, schema: &Value) -> Result<Value, String> {
    let bare = text.trim();
    let bare = bare.strip_prefix("```json").or(bare.strip_prefix("```"));
    let bare = bare.map_or(text.trim(), |rest| rest.trim_end_matches('`').trim());
    let value: Value = serde_json::from_str(bare).map_err(|e| format!("it is not JSON ({e})"))?;
    let schema = Schema::compile(schema).map_err(|e| format!("the schema cannot be used: {e}"))?;
    schema.check(&value).map_err(|violations| {
        let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
        texts.join("; ")
    })?;
    Ok(value)
}

/// Every call has a result, whatever became of it: a conversation that goes on later holds no half of a pair.
fn settle_open(journal: &mut Journal, code: &str, why: &str) {
    for open in journal.state.open.clone() {
        let entry = match open.phase {
            Phase::Done(_) => continue,
            // It is stopped, and may have done something before.
            Phase::Started => {
                let why = format!("{why}; whether this call took effect is unknown");
                Entry::refused(&open.call, code, why)
            }
            _ => Entry::refused(&open.call, code, why),
        };
        journal.add(entry);
    }
}

fn over(status: Status, output: Option<String>, error: Option<RunError>) -> Ending {
    Ending {
        status,
        output,
        value: None,
        error,
        usage: providers::Usage::default(),
        cost: None,
    }
}

fn end(journal: &mut Journal, status: Status, output: Option<String>, error: Option<RunError>) {
    journal.end(over(status, output, error));
}
