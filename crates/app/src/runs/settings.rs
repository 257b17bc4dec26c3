//! What the configuration decides about runs.

use agent::limits::Limits;
use catalog::secret::Secret;
use std::collections::HashMap;
use std::time::Duration;

/// How a provider is reached by agents that do not say otherwise.
#[derive(Debug, Clone, Default)]
pub struct ProviderSettings {
    pub key: Option<Secret>,
    pub base_url: Option<String>,
}

/// What a million tokens of a model cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// The beginning of the model's name.
    pub model: String,
    pub input: f64,
    pub output: f64,
}

#[derive(Debug, Clone)]
pub struct Settings {
    /// By the names that agents give them.
    pub providers: HashMap<&'static str, ProviderSettings>,
    /// Provider and model of runs without an agent; none leaves them to the built-in planner.
    pub model: Option<(String, String)>,
    /// Of runs that do not say otherwise.
    pub limits: Limits,
    /// How long somebody has to answer.
    pub answer_within: Duration,
    /// How many tools a model is shown; of more, those that fit the request.
    pub tools_max: usize,
    /// Of a result, what a model is shown.
    pub result_chars_max: usize,
    /// Calls of one run at a time.
    pub parallel_max: usize,
    /// Whether a destructive call has to be approved once the model has read what somebody else may have written.
    pub guard_untrusted: bool,
    pub prices: Vec<Price>,
    /// Runs under way in this process.
    pub runs_max: usize,
    pub keep_days: i64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            providers: HashMap::new(),
            model: None,
            limits: Limits::default(),
            answer_within: Duration::from_secs(7 * 24 * 3600),
            tools_max: 40,
            result_chars_max: 50_000,
            parallel_max: 8,
            guard_untrusted: true,
            prices: Vec::new(),
            runs_max: 1_000,
            keep_days: 30,
        }
    }
}

impl Settings {
    /// What a turn cost, where the price of its model is known: the longest name that fits counts.
    pub(crate) fn cost(&self, model: &str, usage: &providers::Usage) -> Option<f64> {
        let fits = self.prices.iter().filter(|it| model.starts_with(&it.model));
        let price = fits.max_by_key(|it| it.model.len())?;
        let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        Some(of(usage.input_tokens, price.input) + of(usage.output_tokens, price.output))
    }
}
