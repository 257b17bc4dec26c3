//! The pipeline: seven steps over one state. intent → retrieve → plan → tools → compose → cite → respond.
//!
//! Each step only adds to the state, and none of them ends the others: what fails is in the state, beside what did not.

mod answer;
mod compose;
mod plan;
mod retrieve;
mod tools;

pub use answer::{Composer, Draft};

use crate::App;
use crate::error::{Error, Result};
use crate::select::QUERY_MAX;
use catalog::caller::Caller;
use executor::StepView;
use selection::speech::is_hangul;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
use utoipa::ToSchema;

/// What the configuration says of the pipeline.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `FEATURE_MCP_TOOLS`: whether the tools step runs.
    pub mcp_tools: bool,
    /// How long all tools of a plan may take together.
    pub tools_timeout_seconds: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            mcp_tools: false,
            tools_timeout_seconds: 60.0,
        }
    }
}

/// What goes in.
#[derive(Default)]
pub struct Request {
    pub query: String,
    /// What to call: `{"tools": […], "<tool>_input": {…}}`. Where none is given, one is made.
    pub plan: Option<Map<String, Value>>,
    /// May only shorten the configured one.
    pub tools_timeout_seconds: Option<f64>,
    /// Who writes the answer; else the configured model does, and where there is none, it is taken from what was found.
    pub composer: Option<Composer>,
    pub trace: Option<Box<telemetry::Context>>,
}

/// What the steps make of a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct PipelineState {
    pub query: String,
    /// question or request
    #[schema(example = "question")]
    pub intent: String,
    /// Documents that are near to the query, nearest first; none where no vectors are configured.
    pub retrieved_chunks: Vec<Chunk>,
    /// `tools`, in the order in which they are called; `<tool>_input` for each; `strategy` and `reasoning`.
    #[schema(value_type = Object)]
    pub plan: Map<String, Value>,
    /// One for each tool of the plan and in its order, failures too.
    pub tool_results: Vec<StepView>,
    /// Null where there is nothing to answer with; `notes` say why.
    pub answer: Option<String>,
    /// What the answer rests on.
    pub sources: Vec<Source>,
    /// From 0 to 1.
    pub confidence: f64,
    /// Seconds, all steps together.
    pub latency: f64,
    pub step_timings: StepTimings,
    /// Why steps were left out, by their name; left out where none was.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub skipped: Map<String, Value>,
    /// What to know of how this came about; left out where it is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A document that is near to the query.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Chunk {
    pub id: String,
    pub text: String,
    /// From 0 to 1; the greater, the nearer.
    pub score: f64,
    #[schema(value_type = Object)]
    pub metadata: Value,
}

/// Something that an answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Source {
    /// tool or document
    #[schema(example = "tool")]
    pub kind: &'static str,
    /// The name of the tool, or the id of the document.
    pub name: String,
    /// The beginning of what it says.
    pub excerpt: String,
}

/// Seconds that each step took; all seven are always there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, ToSchema)]
pub struct StepTimings {
    pub intent: f64,
    pub retrieve: f64,
    pub plan: f64,
    pub tools: f64,
    pub compose: f64,
    pub cite: f64,
    pub respond: f64,
}

impl App {
    /// Runs the seven steps for a caller, who calls the tools.
    pub async fn pipeline(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        request: Request,
    ) -> Result<PipelineState> {
        let began = Instant::now();
        checked(&request.query)?;
        let given = request.plan.as_ref().map(plan::read).transpose()?;
        let patience = self.patience(request.tools_timeout_seconds)?;
        let mut state = PipelineState {
            query: request.query,
            ..PipelineState::default()
        };
        let mut lap = Lap(began);
        state.intent = intent(&state.query).to_owned();
        state.step_timings.intent = lap.seconds();

        self.retrieve_step(&caller, &mut state).await;
        state.step_timings.retrieve = lap.seconds();

        let steps = self
            .plan_step(&caller, &mut state, request.plan, given)
            .await?;
        state.step_timings.plan = lap.seconds();

        let turn = tools::Turn {
            caller: Arc::clone(&caller),
            trace: request.trace,
            patience,
        };
        if let Some(why) = self.tools_step(&turn, &mut state, steps).await {
            state.skipped.insert("tools".to_owned(), why.into());
        }
        state.step_timings.tools = lap.seconds();

        let composer = request.composer.or_else(|| self.composer());
        answer::compose_step(&mut state, composer.as_ref()).await;
        state.step_timings.compose = lap.seconds();
        answer::cite_step(&mut state);
        state.step_timings.cite = lap.seconds();
        answer::respond_step(&mut state);
        state.step_timings.respond = lap.seconds();
        state.latency = began.elapsed().as_secs_f64();
        Ok(state)
    }

    fn patience(&self, asked: Option<f64>) -> Result<f64> {
        let most = self.pipeline.tools_timeout_seconds;
        match asked {
            None => Ok(most),
            Some(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds.min(most)),
            Some(other) => Err(Error::invalid(format!(
                "timeout_seconds: expected a number above 0, got {other}"
            ))),
        }
    }
}

/// The time since it was last asked.
struct Lap(Instant);

impl Lap {
    fn seconds(&mut self) -> f64 {
        let last = std::mem::replace(&mut self.0, Instant::now());
        (self.0 - last).as_secs_f64()
    }
}

fn checked(query: &str) -> Result<()> {
    let length = query.chars().take(QUERY_MAX + 1).count();
    if query.trim().is_empty() || length > QUERY_MAX {
        let why = format!("query: expected a text of 1 to {QUERY_MAX} characters");
        return Err(Error::invalid(why));
    }
    Ok(())
}

/// Whether something is asked, or is to be done.
fn intent(query: &str) -> &'static str {
    let small = query.trim().to_lowercase();
    let first = small.split_whitespace().next().unwrap_or_default();
    let words = [
        "what", "what's", "who", "whom", "whose", "which", "when", "where", "why", "how", "is",
        "are", "was", "were", "do", "does", "did",
    ];
    let endings = [
        "까",
        "까요",
        "나요",
        "가요",
        "니",
        "인가",
        "뭐야",
        "얼마야",
        "어때",
        "지",
    ];
    let is_korean = small.chars().any(is_hangul);
    let bare = small.trim_end_matches(['.', '!', '~', ' ']);
    let asks = small.ends_with(['?', '？'])
        || words.contains(&first)
        || (is_korean && endings.iter().any(|it| bare.ends_with(it)));
    if asks { "question" } else { "request" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_from_requests() {
        for (query, expected) in [
            ("What is 12.5% of 340?", "question"),
            ("how many miles are 5 km", "question"),
            ("340의 12.5%는?", "question"),
            ("서울 날씨 어때", "question"),
            ("Add 3 and 4", "request"),
            ("메일 보내줘", "request"),
            ("12.5% of 340", "request"),
        ] {
            assert_eq!(intent(query), expected, "{query}");
        }
    }
}
