//! What people ask of runs: to begin one, to answer what it asks, to stop it.

use super::hidden::{has_hidden, text};
use super::model::limits_of;
use super::views::RunView;
use super::warrant::Warrant;
use crate::App;
use crate::error::{Error, Result};
use agent::entry::{Began, Decision, Entry, Pending, PendingKind};
use agent::state::State;
use catalog::caller::Caller;
use catalog::policy::Verdict;
use catalog::redaction::HIDDEN;
use catalog::schema::Schema;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use store::agents::AgentRow;
use store::runs::{RunRow, RunWrite, Written};
use uuid::Uuid;

const INPUT_CHARS_MAX: usize = 200_000;

/// What of a request is shown in lists.
const REQUEST_CHARS: usize = 500;

const KEY_CHARS_MAX: usize = 200;

/// How long whoever cancels a run waits until it has ended.
const CANCEL_WITHIN: Duration = Duration::from_secs(10);

/// What a run is begun with.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    pub input: String,
    /// An agent, by name or id; the configured model, or the built-in planner, where none is named.
    pub agent: Option<String>,
    /// The only tools that it may use; all where none are named.
    pub tools: Vec<String>,
    pub output_schema: Option<Value>,
    /// The run whose conversation this one goes on with.
    pub after: Option<String>,
    pub idempotency_key: Option<String>,
}

/// What somebody answers.
#[derive(Debug, Clone)]
pub struct Answer {
    pub request_id: String,
    pub answer: Value,
}

impl App {
    /// Begins a run; it goes on whether or not somebody waits for it.
    pub async fn begin_run(self: &Arc<Self>, caller: &Caller, request: RunRequest) -> Result<Uuid> {
        self.check_run(caller, &request)?;
        let agent = match &request.agent {
            Some(name) => Some(self.agents.load().visible(caller, name, false)?),
            None => None,
        };
        let agent = agent.as_deref();
        self.check_agent(agent)?;
        let before = match &request.after {
            Some(id) => self.said_before(caller, id).await?,
            None => Vec::new(),
        };
        let has_model = agent.is_some() || self.runs.settings.model.is_some();
        let config = agent.and_then(|it| it.config.0.get("output_schema").cloned());
        let began = Entry::Began(Box::new(Began {
            before,
            tools: request.tools,
            limits: limits_of(agent, &self.runs.settings.limits),
            has_model,
            output_schema: request.output_schema.or(config),
            input: request.input.clone(),
        }));
        let now = self.clock.now();
        let warrant = serde_json::to_string(&Warrant::of(caller));
        let row = RunRow {
            id: Uuid::now_v7(),
            owner_id: caller.user,
            warrant: warrant.map_err(|error| Error::Internal(error.to_string()))?,
            agent_id: agent.map(|agent| agent.id),
            request: request.input.chars().take(REQUEST_CHARS).collect(),
            status: "running".to_owned(),
            output: None,
            error: None,
            epoch: 1,
            node: Some(self.node.clone()),
            last_seq: 1,
            wake_at: None,
            idempotency_key: request.idempotency_key,
            created_at: now,
            updated_at: now,
            ended_at: None,
        };
        if let Some(there) = self.store.begin_run(&row, &[text(&began)]).await? {
            if there.request != row.request || there.agent_id != row.agent_id {
                let why = "idempotency_key was used for another run; take a new key for a new run";
                return Err(Error::conflict(why));
            }
            return Ok(there.id);
        }
        let id = row.id;
        self.drive(row);
        Ok(id)
    }

    fn check_run(&self, caller: &Caller, request: &RunRequest) -> Result<()> {
        let length = request.input.chars().take(INPUT_CHARS_MAX + 1).count();
        if request.input.trim().is_empty() || length > INPUT_CHARS_MAX {
            let why = format!("input: expected a text of 1 to {INPUT_CHARS_MAX} characters");
            return Err(Error::invalid(why));
        }
        let printable = |key: &String| {
            (1..=KEY_CHARS_MAX).contains(&key.chars().count()) && !key.chars().any(char::is_control)
        };
        if !request.idempotency_key.as_ref().is_none_or(printable) {
            let why =
                format!("idempotency_key: expected 1 to {KEY_CHARS_MAX} printable characters");
            return Err(Error::invalid(why));
        }
        if let Some(schema) = &request.output_schema {
            Schema::compile(schema)
                .map_err(|error| Error::invalid(format!("output_schema: {error}")))?;
        }
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        for name in &request.tools {
            let found = policy.find(&catalogue, caller, name);
            let seen = found.filter(|it| policy.verdict(caller, &it.entry.tool) != Verdict::Hidden);
            if seen.is_none() {
                return Err(Error::invalid(format!("tools: there is no tool '{name}'")));
            }
        }
        if self.runs.under_way() >= self.runs.settings.runs_max || self.runs.tasks.is_closed() {
            return Err(Error::TooMany {
                message: "This server has as many runs under way as it takes; try again soon"
                    .to_owned(),
                retry_after_seconds: 5,
            });
        }
        Ok(())
    }

    /// Whether its model can be asked at all: said at once, and not by a run that fails.
    fn check_agent(&self, agent: Option<&AgentRow>) -> Result<()> {
        let Some(agent) = agent else { return Ok(()) };
        let model = self.model_of_agent(agent);
        model
            .map(drop)
            .map_err(|error| Error::conflict(error.message))
    }

    /// The conversation that a run ended with.
    async fn said_before(&self, caller: &Caller, id: &str) -> Result<Vec<providers::Said>> {
        let row = self.run_row(caller, id).await?;
        let state = self.run_state(&row).await?;
        if state.ending.is_none() {
            let why = format!("Run '{id}' is not over yet; wait for it, or cancel it");
            return Err(Error::conflict(why));
        }
        Ok(state.said)
    }

    /// Answers what a run asks.
    pub async fn answer_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
        answer: Answer,
    ) -> Result<RunView> {
        self.add_to_run(caller, id, |state| {
            let pending = state
                .pending()
                .find(|it| it.request_id == answer.request_id);
            let Some(pending) = pending else {
                return Err(self.not_asked(state, &answer.request_id));
            };
            if pending.expires_at <= self.clock.now() {
                let why = "Nobody answered in time; the run does not wait any more";
                return Err(Error::conflict(why));
            }
            Ok(Some(Entry::Answered {
                request_id: answer.request_id.clone(),
                answer: self.checked_answer(pending, &answer.answer)?,
                by: caller.user_name.to_string(),
            }))
        })
        .await
    }

    fn not_asked(&self, state: &State, request_id: &str) -> Error {
        let open: Vec<&str> = state.pending().map(|it| it.request_id.as_str()).collect();
        let open = match open.is_empty() {
            true => "it asks nothing now".to_owned(),
            false => format!("it asks {}", open.join(", ")),
        };
        Error::conflict(format!(
            "The run does not ask '{request_id}' (any more): {open}"
        ))
    }

    /// What fits the question, as it is stored.
    fn checked_answer(&self, pending: &Pending, answer: &Value) -> Result<Value> {
        match pending.kind {
            PendingKind::Question => {
                if let Ok(schema) = Schema::compile(&pending.schema)
                    && let Err(violations) = schema.check(answer)
                {
                    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
                    return Err(Error::invalid(format!("answer: {}", texts.join("; "))));
                }
                Ok(answer.clone())
            }
            PendingKind::Approval => {
                let whole = match answer {
                    Value::String(word) => serde_json::json!({"decision": word}),
                    other => other.clone(),
                };
                let decision: Decision = serde_json::from_value(whole.clone()).map_err(|error| {
                    Error::invalid(format!("answer: expected {{\"decision\": \"approve|edit|reject|respond|always\", \"arguments\"?, \"text\"?}} ({error})"))
                })?;
                if let Decision::Edit { arguments } = &decision {
                    self.check_edited(pending, &Value::Object(arguments.clone()))?;
                }
                Ok(whole)
            }
        }
    }

    fn check_edited(&self, pending: &Pending, arguments: &Value) -> Result<()> {
        let catalogue = self.executor.catalogue.load();
        let tool = pending
            .tool
            .as_deref()
            .and_then(|name| catalogue.find(name));
        let Some(tool) = tool else { return Ok(()) };
        if has_hidden(arguments) && self.takes_secrets(None, &tool.name) {
            let why = format!(
                "answer.arguments: {HIDDEN} stands for a secret that is not shown; write the secret itself"
            );
            return Err(Error::invalid(why));
        }
        let fits = self.executor.check_arguments(tool, arguments);
        fits.map_err(|failure| Error::invalid(format!("answer.arguments: {}", failure.message)))
    }

    /// Stops a run, whatever it is doing.
    pub async fn cancel_run(self: &Arc<Self>, caller: &Caller, id: &str) -> Result<RunView> {
        let asked = self.add_to_run(caller, id, |state| {
            let is_needed = state.ending.is_none() && state.cancelled_by.is_none();
            let by = caller.user_name.to_string();
            Ok(is_needed.then_some(Entry::CancelAsked { by }))
        });
        asked.await?;
        self.wait_for_run(caller, id, CANCEL_WITHIN).await
    }

    /// Adds an entry as somebody who does not drive the run, and sees to it that somebody does.
    async fn add_to_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
        decide: impl Fn(&State) -> Result<Option<Entry>>,
    ) -> Result<RunView> {
        loop {
            let row = self.run_row(caller, id).await?;
            let mut state = self.run_state(&row).await?;
            let seq = state.seq as i64;
            let Some(entry) = decide(&state)? else {
                return Ok(self.run_view(&row, Some(&state)));
            };
            let now = self.clock.now();
            let owner = self.caller_of_run(&row).ok();
            let told = self.told_of(owner.as_deref(), &state, &entry);
            let bodies = [self.body_of(row.id, &entry, told.as_ref())];
            state.apply(now, told.as_ref().unwrap_or(&entry));
            let write = RunWrite {
                id: row.id,
                epoch: row.epoch,
                last_seq: seq,
                at: now,
                bodies: &bodies,
                status: state.status().as_str(),
                output: None,
                error: None,
                wake_at: state.pending().map(|it| it.expires_at).min(),
                is_over: false,
                is_released: false,
            };
            // Somebody was faster: what is asked now decides.
            if self.store.write_run(&write).await? != Written::Done {
                continue;
            }
            self.runs.lives.of(row.id).poke();
            if let Some(claimed) = self.store.claim_run(row.id, &self.node).await? {
                self.drive(claimed);
            }
            return Ok(self.run_view(&row, Some(&state)));
        }
    }
}
