//! What people ask of runs: to begin one, to answer what it asks, to stop it.

use super::hidden::{has_hidden, text};
use super::model::limits_of;
use super::views::RunView;
use super::warrant::Warrant;
use crate::App;
use crate::error::{Error, Result};
use agent::answered::answered;
use agent::entry::{Began, Decision, Entry, Pending, PendingKind};
use agent::limits::Limits;
use agent::state::State;
use agent::window::Window;
use agent::words::decision;
use catalog::caller::Caller;
use catalog::policy::Verdict;
use catalog::redaction::HIDDEN;
use catalog::schema::Schema;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use store::agents::AgentRow;
use store::runs::{RunRow, RunWrite, Written};
use uuid::Uuid;

const INPUT_CHARS_MAX: usize = 200_000;

/// What of a request is shown in lists.
const REQUEST_CHARS: usize = 500;

/// What a run carries on of an earlier one: a conversation over many runs does not grow without end in each of them.
const CARRIED: Window = Window {
    messages_max: Some(200),
    tokens_max: Some(100_000),
};

const KEY_CHARS_MAX: usize = 200;

/// How long whoever cancels a run waits until it has ended.
const CANCEL_WITHIN: Duration = Duration::from_secs(10);

/// What a run is begun with.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    pub input: String,
    /// An agent, by name or id; the configured model, or the built-in planner, where none is named.
    pub agent: Option<String>,
    /// The only tools that it may use, at least one; all where it is left out.
    pub tools: Option<Vec<String>>,
    pub output_schema: Option<Value>,
    /// The run whose conversation this one goes on with.
    pub after: Option<String>,
    pub idempotency_key: Option<String>,
}

impl RunRequest {
    /// What two requests have in common that are the same.
    fn fingerprint(&self) -> String {
        let schema = self.output_schema.clone().map(catalog::tool::sorted);
        // As it was before they could be left out: a key that was used then still stands for the same.
        let tools = self.tools.as_deref().unwrap_or_default();
        let all = serde_json::json!([self.input, self.agent, tools, schema, self.after]);
        catalog::hex::hex(&Sha256::digest(all.to_string().as_bytes()))
    }
}

fn check_key(key: Option<&str>) -> Result<()> {
    let printable = |key: &str| {
        (1..=KEY_CHARS_MAX).contains(&key.chars().count()) && !key.chars().any(char::is_control)
    };
    match key.is_none_or(printable) {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "idempotency_key: expected 1 to {KEY_CHARS_MAX} printable characters"
        ))),
    }
}

/// What somebody answers.
#[derive(Debug, Clone)]
pub struct Answer {
    pub request_id: String,
    /// None where they do not want to answer: a question goes unanswered, and a call does not run.
    pub answer: Option<Value>,
}

impl App {
    /// Begins a run; it goes on whether or not somebody waits for it.
    pub async fn begin_run(self: &Arc<Self>, caller: &Caller, request: RunRequest) -> Result<Uuid> {
        check_key(request.idempotency_key.as_deref())?;
        let asked = request.fingerprint();
        // Before anything else: what stands is told whatever has changed since.
        if let Some(key) = &request.idempotency_key
            && let Some(there) = self.store.run_of_key(caller.user, key).await?
        {
            return self.same_run(&there, &asked).await;
        }
        self.check_run(caller, &request)?;
        let agent = match &request.agent {
            Some(name) => Some(self.agents.load().visible(caller, name, false)?),
            None => None,
        };
        let agent = agent.as_deref();
        let may_exceed = agent.is_none_or(|it| self.is_trusted(it.owner_id));
        let limits = limits_of(agent, &self.runs.settings.limits, may_exceed);
        self.check_agent(agent, &limits)?;
        let before = match &request.after {
            Some(id) => self.said_before(caller, id).await?,
            None => (Vec::new(), false),
        };
        let (before, is_tainted) = before;
        let has_model = agent.is_some() || self.runs.settings.model.is_some();
        if !has_model && request.output_schema.is_some() {
            let why = "output_schema: there is no model that could answer in this form; set up a model, name an agent, or leave it out";
            return Err(Error::conflict(why));
        }
        let config = agent.and_then(|it| it.config.0.get("output_schema").cloned());
        let began = Entry::Began(Box::new(Began {
            before,
            is_tainted,
            tools: request.tools.unwrap_or_default(),
            limits,
            asked: Some(asked.clone()),
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
        let id = row.id;
        let driving = self.runs.driven.drives(id);
        if let Some(there) = self.store.begin_run(&row, &[text(&began)]).await? {
            return self.same_run(&there, &asked).await;
        }
        self.drive(row, driving);
        Ok(id)
    }

    /// The run that an idempotency key stands for, where it was begun with the same request.
    async fn same_run(&self, there: &RunRow, asked: &str) -> Result<Uuid> {
        let state = self.run_state(there).await?;
        let before = state.began.and_then(|began| began.asked);
        if before.is_some_and(|before| before != asked) {
            let why = "idempotency_key was used for another run; take a new key for a new run";
            return Err(Error::conflict(why));
        }
        Ok(there.id)
    }

    fn check_run(&self, caller: &Caller, request: &RunRequest) -> Result<()> {
        let length = request.input.chars().take(INPUT_CHARS_MAX + 1).count();
        if request.input.trim().is_empty() || length > INPUT_CHARS_MAX {
            let why = format!("input: expected a text of 1 to {INPUT_CHARS_MAX} characters");
            return Err(Error::invalid(why));
        }
        // PostgreSQL's text cannot hold it, so neither engine takes it.
        if request.input.contains('\0') {
            return Err(Error::invalid("input: expected a text without U+0000"));
        }
        if let Some(schema) = &request.output_schema {
            Schema::compile(schema)
                .map_err(|error| Error::invalid(format!("output_schema: {error}")))?;
        }
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        if request.tools.as_ref().is_some_and(Vec::is_empty) {
            let why = "tools: expected at least one tool; leave it out for all that you may call";
            return Err(Error::invalid(why));
        }
        for name in request.tools.iter().flatten() {
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

    /// Whether its model can be asked at all, and its budget be kept: said at once, and not by a run that fails.
    fn check_agent(&self, agent: Option<&AgentRow>, limits: &Limits) -> Result<()> {
        let settings = &self.runs.settings;
        let checked = match (agent, &settings.model) {
            (Some(agent), _) => self
                .model_of_agent(agent)
                .and_then(|model| settings.check_budget(limits, &model.name)),
            (None, Some((_, name))) => settings.check_budget(limits, name),
            (None, None) => Ok(()),
        };
        checked.map_err(|error| Error::conflict(error.message))
    }

    /// The conversation that a run ended with, as far as it is carried on, and whether somebody outside may have written
    /// some of it: what is left out of it has been read all the same.
    async fn said_before(&self, caller: &Caller, id: &str) -> Result<(Vec<providers::Said>, bool)> {
        let row = self.run_row(caller, id).await?;
        let state = self.run_state(&row).await?;
        if state.ending.is_none() {
            let why = format!("Run '{id}' is not over yet; wait for it, or cancel it");
            return Err(Error::conflict(why));
        }
        // A run that had to be given up may have left calls open: no provider takes a call without its result.
        let mut said = state.said.clone();
        said.extend(state.unknown());
        Ok((CARRIED.of(&said, state.request_at), state.is_tainted))
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
            let (request_id, by) = (answer.request_id.clone(), caller.user_name.to_string());
            let rejected = || serde_json::json!(Decision::Reject { text: None });
            let answer = match (&answer.answer, pending.kind) {
                (Some(answer), _) => self.checked_answer(state, pending, answer)?,
                (None, PendingKind::Approval) => rejected(),
                (None, PendingKind::Question) => {
                    return Ok(Some(Entry::Declined { request_id, by }));
                }
            };
            Ok(Some(Entry::Answered {
                request_id,
                answer,
                by,
            }))
        })
        .await
    }

    fn not_asked(&self, state: &State, request_id: &str) -> Error {
        let open: Vec<&str> = state.pending().map(|it| it.request_id.as_str()).collect();
        let open = match open.is_empty() {
            true => format!("it asks nothing now, and is {}", state.status().as_str()),
            false => format!("it asks {}", open.join(", ")),
        };
        Error::conflict(format!(
            "The run does not ask '{request_id}' (any more): {open}"
        ))
    }

    /// What fits the question, as it is stored.
    fn checked_answer(&self, state: &State, pending: &Pending, answer: &Value) -> Result<Value> {
        match pending.kind {
            PendingKind::Question => {
                // A model understands what people write as long as it fits; a planner calls with what is stored.
                let has_model = state.began.as_ref().is_some_and(|it| it.has_model);
                let fits = |schema: Schema| schema.check(answer).is_ok();
                if has_model && Schema::compile(&pending.schema).is_ok_and(fits) {
                    return Ok(answer.clone());
                }
                let read = answered(&pending.schema, answer, self.today());
                read.map_err(|why| Error::invalid(format!("answer: {why}")))
            }
            PendingKind::Approval => {
                let read = match answer {
                    Value::String(line) => decision(line).ok_or_else(|| format!("got '{line}'")),
                    whole => serde_json::from_value(whole.clone()).map_err(|it| it.to_string()),
                };
                let decision: Decision = read.map_err(|why| {
                    Error::invalid(format!("answer: expected {{\"decision\": \"approve|edit|reject|respond|always\", \"arguments\"?, \"text\"?}} ({why})"))
                })?;
                let is_edited = matches!(decision, Decision::Edit { .. });
                if !is_edited && answer.get("arguments").is_some() {
                    let why = "answer: arguments belong to the decision \"edit\", and to no other";
                    return Err(Error::invalid(why));
                }
                if let Decision::Edit { arguments } = &decision {
                    self.check_edited(pending, &Value::Object(arguments.clone()))?;
                }
                Ok(serde_json::json!(decision))
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
            let driving = self.runs.driven.drives(row.id);
            if let Some(claimed) = self.store.claim_run(row.id, &self.node).await? {
                self.drive(claimed, driving);
            }
            return Ok(self.run_view(&row, Some(&state)));
        }
    }
}
