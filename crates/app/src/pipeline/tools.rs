//! The fourth step: the tools of the plan, and no others. One that fails leaves its failure beside the results of the rest.

use super::PipelineState;
use super::plan::Step;
use crate::App;
use catalog::caller::Caller;
use catalog::policy::{BLOCKED_BY_WHITELIST, Verdict};
use executor::{CallRequest, Code, Failure, StepView, python_float};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Who calls, and how long they wait.
#[derive(Clone)]
pub(super) struct Turn {
    pub(super) caller: Arc<Caller>,
    pub(super) trace: Option<Box<telemetry::Context>>,
    /// Seconds for all tools together.
    pub(super) patience: f64,
}

impl App {
    /// Runs the tools. Says why, where it does not: then the state is as it was.
    pub(super) async fn tools_step(
        self: &Arc<Self>,
        turn: &Turn,
        state: &mut PipelineState,
        steps: Vec<Step>,
    ) -> Option<&'static str> {
        if !self.pipeline.mcp_tools {
            tracing::info!("Step 4 (tools) skipped (mcp_tools flag OFF)");
            return Some("mcp_tools flag OFF; FEATURE_MCP_TOOLS=true turns it on");
        }
        if steps.is_empty() {
            tracing::info!("Step 4 (tools) skipped (no tools in plan)");
            return Some("no tools in plan");
        }
        let give_up = Instant::now() + Duration::from_secs_f64(turn.patience);
        let count = steps.len();
        let mut steps = steps.into_iter().peekable();
        while let Some(first) = steps.next() {
            // Side by side are only those that may be; the others keep their place in the order.
            let mut beside = vec![first];
            while self.is_parallel(&turn.caller, &beside[beside.len() - 1].tool)
                && let Some(next) = steps.next_if(|it| self.is_parallel(&turn.caller, &it.tool))
            {
                beside.push(next);
            }
            state
                .tool_results
                .extend(self.beside(turn, beside, give_up).await);
        }
        tracing::info!("Step 4 (tools) executed: {count} tools");
        None
    }

    /// Some calls at once; their results are in the order of the plan, whichever ends first.
    async fn beside(
        self: &Arc<Self>,
        turn: &Turn,
        steps: Vec<Step>,
        give_up: Instant,
    ) -> Vec<StepView> {
        let mut calls = JoinSet::new();
        let mut results: Vec<StepView> = Vec::new();
        for (at, step) in steps.into_iter().enumerate() {
            results.push(StepView {
                tool: step.tool.clone(),
                error: Some("Execution error: the call was lost".to_owned()),
                ..StepView::default()
            });
            let (app, turn) = (Arc::clone(self), turn.clone());
            calls.spawn(async move { (at, app.step(&turn, step, give_up).await) });
        }
        // Whoever stops waiting drops the set, and with it the calls.
        while let Some(done) = calls.join_next().await {
            match done {
                Ok((at, result)) => results[at] = result,
                Err(error) => tracing::error!(%error, "a call of the pipeline was lost"),
            }
        }
        results
    }

    async fn step(self: &Arc<Self>, turn: &Turn, step: Step, give_up: Instant) -> StepView {
        let left = give_up.saturating_duration_since(Instant::now());
        let request = CallRequest {
            tool: step.tool.clone(),
            arguments: Value::Object(step.arguments.unwrap_or_default()),
            // No more digits than somebody reads.
            timeout_seconds: Some((left.as_secs_f64() * 1000.0).ceil() / 1000.0),
            talk: None,
            trace: turn.trace.clone(),
            is_approved: false,
        };
        let refusal = if !self.is_listed(&turn.caller, &step.tool) {
            tracing::warn!("Tool '{}' blocked by whitelist", step.tool);
            Some(Failure::new(Code::BlockedByPolicy, BLOCKED_BY_WHITELIST))
        } else if left.is_zero() {
            let why = format!("Tool execution timeout ({}s)", python_float(turn.patience));
            Some(Failure::new(Code::Timeout, why))
        } else {
            None
        };
        let answered = match refusal {
            Some(refusal) => Ok(self.executor.refuse(&turn.caller, &request, refusal).await),
            None => Box::pin(self.call(Arc::clone(&turn.caller), request, None)).await,
        };
        match answered {
            Ok(response) => StepView {
                tool: step.tool,
                ..response.step()
            },
            Err(error) => {
                tracing::error!(%error, tool = step.tool, "a call of the pipeline failed");
                StepView {
                    tool: step.tool,
                    error: Some(format!("Execution error: {error}")),
                    ..StepView::default()
                }
            }
        }
    }

    /// Whether the whitelist lets a name through. It is asked before it is known whether there is such a tool, so that
    /// what is blocked tells nobody what there is.
    fn is_listed(&self, caller: &Caller, name: &str) -> bool {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let shown = policy
            .find(&catalogue, caller, name)
            .filter(|shown| policy.verdict(caller, &shown.entry.tool) != Verdict::Hidden);
        match shown {
            Some(shown) => policy.is_listed(&shown.entry.tool),
            None => policy.lists(name),
        }
    }

    fn is_parallel(&self, caller: &Caller, name: &str) -> bool {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let shown = policy.find(&catalogue, caller, name);
        shown.is_some_and(|shown| shown.entry.tool.definition.runs_in_parallel())
    }
}
