//! How far a run may go: steps, calls, tokens, money, time, and the same call over and over.

use serde::{Deserialize, Serialize};

/// The limits of one run; none is no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Turns of the model.
    pub steps_max: u64,
    pub calls_max: u64,
    #[serde(default)]
    pub calls_per_tool_max: Option<u64>,
    /// Of all turns together.
    #[serde(default)]
    pub tokens_max: Option<u64>,
    #[serde(default)]
    pub cost_max: Option<f64>,
    /// From the beginning, without the time that somebody was waited for.
    #[serde(default)]
    pub seconds_max: Option<f64>,
    pub at_limit: AtLimit,
    /// How often the same calls may be asked for with nothing else between.
    pub repeats_max: u64,
}

/// What happens where a run may make no more calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtLimit {
    /// The model is asked for an answer with what it has.
    #[default]
    Answer,
    /// The run fails.
    Fail,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps_max: 20,
            calls_max: 100,
            calls_per_tool_max: None,
            tokens_max: None,
            cost_max: None,
            seconds_max: None,
            at_limit: AtLimit::Answer,
            repeats_max: 3,
        }
    }
}

/// Which limit a run has reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    /// `max_steps`, `max_tool_calls`, `token_budget`, `cost_budget`, `max_seconds` or `repetition`.
    pub code: &'static str,
    pub message: String,
    /// Whether the model may still be asked for an answer: not where that itself would go beyond the limit.
    pub may_answer: bool,
}

impl Reached {
    pub(crate) fn soft(code: &'static str, message: String) -> Self {
        Reached {
            code,
            message,
            may_answer: true,
        }
    }

    pub(crate) fn hard(code: &'static str, message: String) -> Self {
        Reached {
            code,
            message,
            may_answer: false,
        }
    }
}
