//! The wire formats, and which of them a provider speaks.

use serde::{Deserialize, Serialize};

/// One way to ask a model. Two providers that share it differ in their address only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Anthropic's `/v1/messages`.
    Messages,
    /// OpenAI's `/chat/completions`, which most other servers speak as well.
    Chat,
    /// What ZhipuAI (Z.ai) makes of it.
    Zhipu,
    /// OpenAI's `/responses`.
    Responses,
}

/// Providers by the names that agents give them, with what they speak: the first unless another is wanted.
const PROVIDERS: [(&str, &[Api]); 4] = [
    ("anthropic", &[Api::Messages]),
    ("openai", &[Api::Chat, Api::Responses]),
    ("zhipuai", &[Api::Zhipu]),
    ("glm", &[Api::Zhipu]),
];

impl Api {
    /// The wire format for a provider, where `wanted` may name another than the usual one.
    pub fn of(provider: &str, wanted: Option<&str>) -> Result<Api, String> {
        let known = PROVIDERS.iter().find(|(name, _)| *name == provider);
        let Some((_, spoken)) = known else {
            return Err(format!(
                "There is no model provider '{provider}'; write anthropic, openai (also for servers that are compatible with it) or zhipuai"
            ));
        };
        let Some(wanted) = wanted else {
            return Ok(spoken[0]);
        };
        let found = spoken.iter().find(|api| api.as_str() == wanted);
        found.copied().ok_or_else(|| {
            let words: Vec<&str> = spoken.iter().map(|api| api.as_str()).collect();
            format!(
                "{provider} does not speak '{wanted}'; write {}, or leave it out",
                words.join(" or ")
            )
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Api::Messages => "messages",
            Api::Chat => "chat",
            Api::Zhipu => "zhipu",
            Api::Responses => "responses",
        }
    }

    /// Where its inventor serves it: what the environment's `…_BASE_URL` replaces.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Api::Messages => "https://api.anthropic.com",
            Api::Chat | Api::Responses => "https://api.openai.com/v1",
            Api::Zhipu => "https://open.bigmodel.cn/api/paas/v4",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_speaks_what_it_says() {
        assert_eq!(Api::of("anthropic", None), Ok(Api::Messages));
        assert_eq!(Api::of("openai", None), Ok(Api::Chat));
        assert_eq!(Api::of("openai", Some("responses")), Ok(Api::Responses));
        assert_eq!(Api::of("glm", None), Ok(Api::Zhipu));
        let unknown = Api::of("anthropc", None).unwrap_err();
        assert!(unknown.contains("'anthropc'") && unknown.contains("zhipuai"));
        let other = Api::of("openai", Some("messages")).unwrap_err();
        assert!(other.contains("chat or responses"), "{other}");
    }
}
