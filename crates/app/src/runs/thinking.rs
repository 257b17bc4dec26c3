//! The next turn of a run: asked of its model, or of the built-in planner where it has none.

use super::acting::sleep;
use super::driver::Driver;
use super::journal::Lost;
use super::model::Model;
use agent::entry::{Entry, RunError};
use agent::window::Window;
use providers::{Choice, Class, Delta, Request, Turn};
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
            let planned = match self.plan().await {
                Ok(()) => self.plan_skills().await,
                failed => failed,
            };
            if let Err(error) = planned {
                self.fail(RunError::new(error.code().as_str(), error.to_string()));
                return Ok(());
            }
            self.retrieve().await;
        }
        let model = match self
            .journal
            .app
            .model_of_run(&self.journal.row, self.agent().as_deref())
        {
            Ok(model) => model,
            Err(error) => {
                self.fail(error);
                return Ok(());
            }
        };
        // What it is asked with is stored before it is asked.
        self.journal.store().await?;
        let request = self.asked(&model);
        let Some(answer) = self.ask(&model, request).await? else {
            return Ok(());
        };
        if answer.is_err() {
            self.journal.app.runs.counted.note_failure(&model.name);
        }
        match answer {
            Ok(turn) => self.take(&model, turn),
            Err(error) if error.class == Class::TooLong && self.shrink(&model) => {
                let message = "The model could not take the whole conversation; it is shown less";
                self.journal.note("shortened", message);
            }
            Err(error) => {
                let code = format!("model_{}", error.class.as_str());
                let message = format!("The model did not answer: {}", error.message);
                self.fail(RunError { code, message });
            }
        }
        Ok(())
    }

    /// Documents that fit the request, where the agent wants them: shown before the model is asked first.
    async fn retrieve(&mut self) {
        let wants = |row: &AgentRow| row.config.0.get("retrieval") == Some(&Value::Bool(true));
        if !self.agent().is_some_and(|row| wants(&row)) {
            return;
        }
        let within = std::time::Duration::from_secs(30);
        let deadline = std::time::Instant::now() + within;
        match self.journal.app.retrieve(&self.request(), deadline).await {
            Ok(turn) => self.journal.add(Entry::Shown { text: turn.text }),
            Err(error) => {
                let message = format!("No documents could be looked for: {error}");
                self.journal.note("retrieval_failed", message);
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
            client.turn(&target, &request, &mut tell).await
        };
        tokio::pin!(asking);
        let stopping = self.journal.app.runs.stopping.clone();
        let answer = loop {
            let seconds_left = self.seconds_left();
            tokio::select! {
                answer = &mut asking => break answer,
                () = self.heard() => {}
                () = sleep(seconds_left) => return Ok(None),
                () = stopping.cancelled() => return Ok(None),
            }
            self.journal.catch_up().await?;
            if self.journal.state.cancelled_by.is_some() {
                return Ok(None);
            }
        };
        close_chat(span, &answer);
        Ok(Some(answer))
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
            said: window.of(&state.said),
            tools: self.shown(),
            tool_choice: match state.limited {
                Some(_) => Choice::None,
                None => Choice::Auto,
            },
            output_schema: began.and_then(|began| began.output_schema.clone()),
            ..model.settings.clone()
        }
    }

    fn take(&mut self, model: &Model, turn: Turn) {
        let cost = self
            .journal
            .app
            .runs
            .settings
            .cost(&model.name, &turn.usage);
        let counted = &self.journal.app.runs.counted;
        counted.note_turn(&model.name, &turn.usage, cost);
        let is_cut = turn.stop == providers::Stop::Length && turn.calls.is_empty();
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
        if is_cut {
            let message = "The answer was cut off at max_tokens";
            self.journal.note("cut_off", message);
        }
        if is_filtered {
            let message = "The provider's policy kept the model from answering";
            self.fail(RunError::new("model_filtered", message));
        }
    }

    /// Half of what was shown; false where that would leave nothing.
    fn shrink(&mut self, model: &Model) -> bool {
        let now = self.tokens_max.or(model.window.tokens_max);
        let now = now.unwrap_or_else(|| agent::window::size(&self.journal.state.said));
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
