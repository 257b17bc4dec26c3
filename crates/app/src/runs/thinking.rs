//! The next turn of a run: asked of its model, or of the built-in planner where it has none.

use super::acting::sleep;
use super::driver::Driver;
use super::journal::Lost;
use super::model::Model;
use agent::entry::{Entry, RunError};
use agent::window::{Window, size, tokens};
use providers::{Call, Choice, Class, Delta, Request, Said, Stop, Turn};
use serde_json::Value;
use std::sync::Arc;
use store::agents::AgentRow;

/// What is left of a conversation that a model could not take.
const SMALLER: usize = 2;

/// A conversation is not cut below this many tokens: then the request itself is too long.
const TOKENS_LEAST: usize = 1_000;

impl Driver {
    /// The agent that the run is of, as it is now.
    pub(crate) fn agent(&self) -> Option<Arc<AgentRow>> {
        let id = self.journal.row.agent_id?;
        self.journal.app.agents.load().by_id(id)
    }

    pub(crate) async fn think(&mut self) -> Result<(), Lost> {
        if !self.has_model() {
            return self.think_without_model().await;
        }
        if self.journal.state.planned.is_none() {
            self.plan().await?;
            // It failed, or somebody wants it to end.
            if self.journal.state.planned.is_none() {
                return Ok(());
            }
            if let Err(error) = self.plan_skills().await {
                self.fail(RunError::new(error.code().as_str(), error.to_string()));
                return Ok(());
            }
        }
        if !self.retrieve().await? {
            return Ok(());
        }
        let app = &self.journal.app;
        let model = app.model_of_run(&self.journal.row, self.agent().as_deref());
        let limits = self.journal.state.limits();
        let model = model.and_then(|model| {
            let settings = &app.runs.settings;
            settings.check_budget(&limits, &model.name).map(|()| model)
        });
        let model = match model {
            Ok(model) => model,
            Err(error) => {
                self.fail(error);
                return Ok(());
            }
        };
        // What it is asked with is stored before it is asked.
        self.journal.store().await?;
        let request = self.asked(&model);
        let shown = shown(&request);
        let Some(answer) = self.ask(&model, request).await? else {
            return Ok(());
        };
        if answer.is_err() {
            self.journal.app.runs.counted.note_failure(&model.name);
        }
        match answer {
            Ok(turn) => self.take(&model, turn, shown),
            Err(error) if error.class == Class::TooLong && self.shrink(&model) => {
                let message = "The model could not take the whole conversation; it is shown less";
                self.journal.note("shortened", message);
            }
            Err(error) => {
                let code = format!("model_{}", error.class.as_str());
                let message = unanswered(&model, self.agent().as_deref(), &error);
                self.fail(RunError { code, message });
            }
        }
        Ok(())
    }

    /// Documents that fit the request, where the agent wants them: shown before the model is asked first. False where the run
    /// is to end, or the server stops, before they are found: then the next driver looks for them.
    async fn retrieve(&mut self) -> Result<bool, Lost> {
        let state = &self.journal.state;
        let wants = |row: &AgentRow| row.config.0.get("retrieval") == Some(&Value::Bool(true));
        let is_due = state.steps == 0 && !state.is_retrieved;
        if !is_due || !self.agent().is_some_and(|row| wants(&row)) {
            return Ok(true);
        }
        // The same documents that this tool finds: whom it is kept from gets none of them here, either.
        let policy = self.journal.app.executor.policy.load();
        if !policy.may_use(&self.caller, crate::retrieval::SAME) {
            let message = "No documents are shown: they may not be searched on behalf of whoever began the run";
            self.journal.note("retrieval_denied", message);
            return Ok(true);
        }
        drop(policy);
        let within = std::time::Duration::from_secs(30);
        let deadline = std::time::Instant::now() + within;
        let (app, request) = (Arc::clone(&self.journal.app), self.request());
        let looking = async move { app.retrieve(&request, deadline).await };
        let Some(found) = self.meanwhile(looking).await? else {
            return Ok(false);
        };
        match found {
            Ok(turn) => self.journal.add(Entry::Shown {
                text: turn.text,
                is_trusted: false,
            }),
            Err(error) => {
                let message = format!("No documents could be looked for: {error}");
                self.journal.note("retrieval_failed", message);
            }
        }
        Ok(true)
    }

    /// Does something that takes its time, and is dropped where the run is to end: somebody cancels it, its time is over, or
    /// the server stops. Then there is nothing.
    pub(crate) async fn meanwhile<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<Option<T>, Lost> {
        tokio::pin!(work);
        let stopping = self.journal.app.runs.stopping.clone();
        loop {
            let seconds_left = self.seconds_left();
            tokio::select! {
                done = &mut work => return Ok(Some(done)),
                () = self.heard() => {}
                () = sleep(seconds_left) => return Ok(None),
                () = stopping.cancelled() => return Ok(None),
            }
            self.journal.look().await?;
            if self.journal.state.cancelled_by.is_some() {
                return Ok(None);
            }
        }
    }

    /// None where somebody stopped the run, or the server stops: then nothing has happened.
    async fn ask(
        &mut self,
        model: &Model,
        request: Request,
    ) -> Result<Option<Result<Turn, providers::Error>>, Lost> {
        let (client, target) = (self.journal.app.runs.client.clone(), model.target.clone());
        let live = Arc::clone(&self.journal.live);
        let span = self.chat_span(model);
        let asking = async move {
            let mut tell = |delta: Delta| match delta {
                Delta::Text(text) => live.write(&text),
                Delta::Again => live.write_again(),
                _ => {}
            };
            live.begin_turn();
            client.turn(&target, &request, &mut tell).await
        };
        let answer = self.meanwhile(asking).await?;
        if let Some(answer) = &answer {
            close_chat(span, answer);
        }
        Ok(answer)
    }

    fn asked(&self, model: &Model) -> Request {
        let state = &self.journal.state;
        let window = Window {
            tokens_max: self.tokens_max.or(model.window.tokens_max),
            ..model.window
        };
        let began = state.began.as_ref();
        Request {
            model: model.name.clone(),
            system: self.system(model.system.as_ref()),
            said: window.of(&state.said, state.request_at),
            tools: self.shown(),
            tool_choice: match state.limited {
                Some(_) => Choice::None,
                None => Choice::Auto,
            },
            output_schema: began.and_then(|began| began.output_schema.clone()),
            ..model.settings.clone()
        }
    }

    fn take(&mut self, model: &Model, mut turn: Turn, shown: usize) {
        let is_estimated = turn.usage.input_tokens == 0 && turn.usage.output_tokens == 0;
        if is_estimated {
            // A budget that nothing counts towards would be none.
            turn.usage.input_tokens = shown as u64;
            turn.usage.output_tokens = size(&[Said::Model(turn.clone())]) as u64;
        }
        let cost = self
            .journal
            .app
            .runs
            .settings
            .cost(&model.name, &turn.usage);
        let counted = &self.journal.app.runs.counted;
        counted.note_turn(&model.name, &turn.usage, cost);
        let cut_calls = cut_calls(&turn);
        let is_cut = turn.calls.is_empty() || !cut_calls.is_empty();
        let cut = cut_short(&turn.stop).filter(|_| is_cut);
        let ends = turn.calls.is_empty() && turn.stop != Stop::Paused;
        let empty = empty(&turn.text).filter(|_| ends && cut.is_none());
        let is_first = self.journal.state.steps == 0;
        let is_filtered = turn.stop == providers::Stop::Filtered && turn.text.is_empty();
        // Told after the turn: whoever has read some of its text counts from the entry before it.
        let notes = turn.notes.clone();
        self.journal.add(Entry::Turn {
            turn: Box::new(turn),
            cost,
        });
        for note in notes {
            self.journal.note("dropped", note);
        }
        if is_filtered {
            let message = "The provider's policy kept the model from answering";
            return self.fail(RunError::new("model_filtered", message));
        }
        if is_estimated && is_first {
            let message = "The provider does not say how many tokens were used; they are estimated";
            self.journal.note("usage_estimated", message);
        }
        if let Some(cut) = cut {
            for call in &cut_calls {
                let why = format!("{}, so this call was not made", cut.message);
                let refused = Entry::refused(call, &cut.code, why);
                self.journal.add(refused);
            }
            self.journal.note(&cut.code, cut.message);
        }
        if let Some(empty) = empty {
            self.journal.note(&empty.code, empty.message);
        }
    }

    /// Half of what was shown; false where that would leave nothing.
    fn shrink(&mut self, model: &Model) -> bool {
        let now = self.tokens_max.or(model.window.tokens_max);
        let now = now
            .unwrap_or(usize::MAX)
            .min(size(&self.journal.state.said));
        let smaller = now / SMALLER;
        self.tokens_max = Some(smaller);
        smaller >= TOKENS_LEAST
    }

    fn chat_span(&self, model: &Model) -> Option<telemetry::Span> {
        let run = self.span.as_ref()?;
        let telemetry = self.journal.app.executor.telemetry()?;
        let name = format!("chat {}", model.name);
        let mut span = telemetry.span(Some(&run.context), name, telemetry::Kind::Client);
        span.set("gen_ai.operation.name", "chat");
        span.set("gen_ai.provider.name", model.provider.as_str());
        span.set("gen_ai.request.model", model.name.as_str());
        Some(span)
    }
}

/// About how many tokens the model is shown.
fn shown(request: &Request) -> usize {
    let of_tool = |it: &providers::Tool| {
        tokens(&it.name) + tokens(&it.description) + tokens(&it.input_schema.to_string())
    };
    let tools: usize = request.tools.iter().map(of_tool).sum();
    size(&request.said) + request.system.as_deref().map_or(0, tokens) + tools
}

/// Why there is no answer, and what may be done about it: by the names under which people set it.
fn unanswered(model: &Model, agent: Option<&AgentRow>, error: &providers::Error) -> String {
    let status = error.status.map(|it| format!(" (status {it})"));
    let status = status.unwrap_or_default();
    let variable = |what: &str| {
        let provider = model.provider.to_ascii_uppercase();
        format!("{provider}_{what} where the server runs")
    };
    let address = match agent {
        Some(agent) if agent.base_url.is_some() => format!("the base_url of '{}'", agent.name),
        Some(agent) => {
            let ours = variable("BASE_URL");
            format!(
                "the base_url of '{}', which has none, or {ours}",
                agent.name
            )
        }
        None => variable("BASE_URL"),
    };
    let remedy = match error.class {
        Class::Auth if agent.is_some() => {
            let ours = variable("API_KEY");
            format!("check the key: the agent's config.api_key, or {ours}")
        }
        Class::Auth => format!("check the key: {}", variable("API_KEY")),
        Class::Quota => "what the key may spend is used up".to_owned(),
        Class::RateLimited | Class::Overloaded => "try it again later".to_owned(),
        Class::Network | Class::Timeout => {
            format!("check that the provider is reached from the server, and {address}")
        }
        Class::Protocol => {
            format!("check {address}: what answers there does not speak as this provider does")
        }
        Class::TooLong => "begin a new run, or ask a model with a larger context".to_owned(),
        Class::BadRequest => {
            let own = match agent {
                Some(_) => "model_name and the agent's config",
                None => "runs.model",
            };
            // Perhaps it was not sent at all: the address is none that may be called.
            match error.status {
                Some(_) => format!("check {own}"),
                None => format!("check {own}, and {address}"),
            }
        }
        Class::Filtered => "ask for something else".to_owned(),
    };
    let (name, said) = (&model.name, error.message.trim_end_matches('.'));
    format!("The model {name} did not answer{status}: {said}; {remedy}")
}

/// The calls of a turn that may lack some of what was to be said. Of one that was cut off the last: without its arguments,
/// or some of them, it may do more than was wanted.
fn cut_calls(turn: &Turn) -> Vec<Call> {
    match turn.stop {
        Stop::Length | Stop::TooLong => turn.calls.last().cloned().into_iter().collect(),
        Stop::Filtered => turn.calls.clone(),
        _ => Vec::new(),
    }
}

/// What an answer lacks that did not end by itself.
pub(super) fn cut_short(stop: &Stop) -> Option<RunError> {
    let (code, message) = match stop {
        Stop::Length => ("cut_off", "The answer was cut off at max_tokens".to_owned()),
        Stop::TooLong => {
            let why = "The answer was cut off: the model's context is full";
            ("cut_off", why.to_owned())
        }
        Stop::Filtered => {
            let why = "The provider's policy kept the model from saying more";
            ("filtered", why.to_owned())
        }
        Stop::Other(word) if !word.is_empty() => {
            let why = format!("The provider ended the answer as '{word}'");
            ("ended_early", why)
        }
        Stop::End | Stop::Calls | Stop::Paused | Stop::Other(_) => return None,
    };
    Some(RunError::new(code, message))
}

/// What an answer lacks that says nothing at all.
pub(super) fn empty(text: &str) -> Option<RunError> {
    let why = "The model's answer is empty: it wrote no text and called no tool";
    text.trim()
        .is_empty()
        .then(|| RunError::new("empty_answer", why))
}

fn close_chat(span: Option<telemetry::Span>, answer: &Result<Turn, providers::Error>) {
    let Some(mut span) = span else { return };
    match answer {
        Ok(turn) => {
            span.set("gen_ai.usage.input_tokens", turn.usage.input_tokens);
            span.set("gen_ai.usage.output_tokens", turn.usage.output_tokens);
            if let Some(model) = &turn.model {
                span.set("gen_ai.response.model", model.as_str());
            }
        }
        Err(error) => span.fail(error.class.as_str()),
    }
}
