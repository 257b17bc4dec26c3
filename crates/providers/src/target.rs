//! Where a request goes, as whom, and for how long it is waited.

use crate::api::Api;
use fetch::Trust;
use std::fmt;
use std::time::Duration;

/// A provider, as one agent reaches it.
#[derive(Clone)]
pub struct Target {
    pub api: Api,
    /// Without the operation: what `Api::default_base_url` shows.
    pub base_url: String,
    pub key: Option<String>,
    /// Who chose the address. Only the operator's may be private.
    pub trust: Trust,
    /// Until the answer begins.
    pub answer_timeout: Duration,
    /// Between two pieces of a stream.
    pub idle_timeout: Duration,
    /// For one try from its first byte to its last.
    pub total_timeout: Duration,
    /// How often a request is sent at most, where its failure is one that passes.
    pub tries_max: u32,
    /// Before the second try; twice that before the third, and so on, unless the provider says how long.
    pub first_pause: Duration,
    /// No pause is longer: a provider that wants more is given up.
    pub pause_max: Duration,
    /// Of an answer.
    pub answer_bytes_max: usize,
}

impl Target {
    pub fn new(api: Api, base_url: Option<&str>, key: Option<String>) -> Self {
        Target {
            api,
            base_url: base_url.unwrap_or(api.default_base_url()).to_owned(),
            key,
            trust: Trust::Operator,
            answer_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(120),
            total_timeout: Duration::from_secs(600),
            tries_max: 3,
            first_pause: Duration::from_secs(1),
            pause_max: Duration::from_secs(60),
            answer_bytes_max: 16 << 20,
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("api", &self.api)
            .field("base_url", &self.base_url)
            .field("key", &self.key.as_ref().map(|_| "[hidden]"))
            .field("trust", &self.trust)
            .field("tries_max", &self.tries_max)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        let target = Target::new(Api::Chat, None, Some("sk-secret".to_owned()));
        let shown = format!("{target:?} {target:#?}");
        assert!(!shown.contains("sk-secret"), "{shown}");
        assert_eq!(target.base_url, "https://api.openai.com/v1");
    }
}
