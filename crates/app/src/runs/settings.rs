//! What the configuration decides about runs.

use agent::entry::RunError;
use agent::limits::Limits;
use catalog::secret::Secret;
use providers::Usage;
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
    /// Of the input, what is read from a cache and what is written to one; as other input where it is not said.
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
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
    /// Before a run is tried again that could not go on; twice that before the next time.
    pub first_pause: Duration,
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
            first_pause: Duration::from_secs(1),
        }
    }
}

impl Settings {
    /// The price of a model: the longest name that fits counts.
    fn price(&self, model: &str) -> Option<&Price> {
        let fits = self.prices.iter().filter(|it| model.starts_with(&it.model));
        fits.max_by_key(|it| it.model.len())
    }

    /// What a turn cost, where the price of its model is known.
    pub(crate) fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.price(model)?;
        let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let (read, written) = (usage.cache_read_tokens, usage.cache_write_tokens);
        let plain = usage.input_tokens.saturating_sub(read + written);
        let input = of(plain, price.input)
            + of(read, price.cache_read.unwrap_or(price.input))
            + of(written, price.cache_write.unwrap_or(price.input));
        Some(input + of(usage.output_tokens, price.output))
    }

    /// A budget that nobody can count is none.
    pub(crate) fn check_budget(&self, limits: &Limits, model: &str) -> Result<(), RunError> {
        if limits.cost_max.is_none() || self.price(model).is_some() {
            return Ok(());
        }
        let why = format!(
            "cost_budget needs the price of '{model}': add \"{model}=INPUT/OUTPUT\" to runs.prices in toolcrib.toml, or leave cost_budget out"
        );
        Err(RunError::new("not_configured", why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_a_cache_costs_what_that_costs() {
        let price = |model: &str, cache_read, cache_write| Price {
            model: model.to_owned(),
            input: 3.0,
            output: 15.0,
            cache_read,
            cache_write,
        };
        let settings = Settings {
            prices: vec![
                price("claude", None, None),
                price("claude-sonnet", Some(0.3), Some(3.75)),
            ],
            ..Settings::default()
        };
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cache_read_tokens: 600_000,
            cache_write_tokens: 200_000,
            reasoning_tokens: 50_000,
        };
        let cost = |model: &str| settings.cost(model, &usage).unwrap();
        assert!(
            (cost("claude-opus") - 4.5).abs() < 1e-9,
            "one price for all input"
        );
        let expected = 0.2 * 3.0 + 0.6 * 0.3 + 0.2 * 3.75 + 0.1 * 15.0;
        assert!((cost("claude-sonnet-4-5") - expected).abs() < 1e-9);
        assert_eq!(settings.cost("gpt-5", &usage), None);
    }
}
