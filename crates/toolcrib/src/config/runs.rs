//! What the configuration says about runs and the models they ask.

use super::Config;
use agent::limits::Limits;
use app::runs::{Price, ProviderSettings, Settings};
use catalog::agent::PROVIDERS;
use catalog::secret::Secret;
use std::time::Duration;

impl Config {
    pub(crate) fn runs(&self) -> Result<Settings, String> {
        let text = |name: &str| Some(self.text(name).to_owned()).filter(|it| !it.is_empty());
        let provider = |name: &'static str| {
            let settings = ProviderSettings {
                key: text(&format!("providers.{name}_key")).map(Secret::new),
                base_url: text(&format!("providers.{name}_url")),
            };
            (name, settings)
        };
        let model = text("runs.model").map(|it| model(&it)).transpose()?;
        let prices = self.names("runs.prices");
        let prices: Result<Vec<Price>, String> = prices.iter().map(|it| price(it)).collect();
        let hours = self.count("runs.answer_within_hours") as u64;
        Ok(Settings {
            providers: PROVIDERS.into_iter().map(provider).collect(),
            model,
            limits: Limits {
                steps_max: self.count("runs.max_steps") as u64,
                calls_max: self.count("runs.max_tool_calls") as u64,
                seconds_max: Some(self.seconds("runs.max_seconds")),
                ..Limits::default()
            },
            answer_within: Duration::from_secs(hours * 3_600),
            tools_max: self.count("runs.tools_max"),
            result_chars_max: self.count("runs.result_chars_max"),
            guard_untrusted: self.yes("runs.guard_untrusted"),
            prices: prices?,
            runs_max: self.count("runs.under_way_max"),
            keep_days: self.count("runs.keep_days") as i64,
            ..Settings::default()
        })
    }
}

fn model(text: &str) -> Result<(String, String), String> {
    let wrong = || {
        let known = PROVIDERS.join(", ");
        format!(
            "runs.model: expected \"provider/model\" with one of {known}, such as \"anthropic/claude-sonnet-4-5\", got '{text}'"
        )
    };
    let (provider, model) = text.split_once('/').ok_or_else(wrong)?;
    let is_known = PROVIDERS.contains(&provider) && !model.is_empty();
    is_known
        .then(|| (provider.to_owned(), model.to_owned()))
        .ok_or_else(wrong)
}

fn price(text: &str) -> Result<Price, String> {
    let wrong = || {
        format!(
            "runs.prices: expected \"model=input/output\" or \"model=input/output/cache read/cache write\", such as \"claude-sonnet-4-5=3/15/0.3/3.75\", got '{text}'"
        )
    };
    let (model, prices) = text.rsplit_once('=').ok_or_else(wrong)?;
    let number = |text: &str| {
        let number: Option<f64> = text.trim().parse().ok();
        number
            .filter(|it| it.is_finite() && *it >= 0.0)
            .ok_or_else(wrong)
    };
    let prices: Result<Vec<f64>, String> = prices.split('/').map(number).collect();
    let (input, output, cache_read, cache_write) = match prices?[..] {
        [input, output] => (input, output, None, None),
        [input, output, read, write] => (input, output, Some(read), Some(write)),
        _ => return Err(wrong()),
    };
    Ok(Price {
        model: model.trim().to_owned(),
        input,
        output,
        cache_read,
        cache_write,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_names_its_model() {
        let read = price("claude-sonnet-4-5=3/15").unwrap();
        assert_eq!(
            (read.model.as_str(), read.input, read.output),
            ("claude-sonnet-4-5", 3.0, 15.0)
        );
        let read = price("claude=3/15/0.3/3.75").unwrap();
        assert_eq!((read.cache_read, read.cache_write), (Some(0.3), Some(3.75)));
        for wrong in [
            "claude",
            "claude=3",
            "claude=a/b",
            "claude=-1/2",
            "claude=1/2/3",
        ] {
            assert!(price(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_model_names_its_provider() {
        let (provider, name) = model("openai/org/model").unwrap();
        assert_eq!((provider.as_str(), name.as_str()), ("openai", "org/model"));
        for wrong in ["gpt-5", "google/x", "openai/"] {
            assert!(model(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
    }
}
