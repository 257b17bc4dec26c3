//! What an agent is: a model, its instructions, and the tools it may use (seed 002 REQ-003, SPEC-004-C).

mod config;

use crate::json::{Member, Reader, member, path_of_key, present, read_body, to_map};
use crate::problem::Problem;
use serde_json::{Map, Value};

pub const NAME_CHARS_MAX: usize = 255;
pub const MODEL_CHARS_MAX: usize = 100;
pub const PROMPT_BYTES_MAX: usize = 256 * 1024;
const TOOLS_MAX: usize = 1_000;

/// The model providers whose wire formats we speak (REQ-004).
pub const PROVIDERS: [&str; 3] = ["anthropic", "openai", "zhipuai"];

/// What an author writes. Tools are names or ids here; what is stored are ids.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentDefinition {
    pub name: String,
    pub description: Option<String>,
    pub model_provider: String,
    pub model_name: String,
    /// Any service that speaks the provider's format.
    pub base_url: Option<String>,
    pub system_prompt: Option<String>,
    pub config: Map<String, Value>,
    pub tools: Vec<String>,
    pub memory_config: Option<Map<String, Value>>,
    pub is_active: bool,
    pub is_public: bool,
}

/// What an author may write, in the order in which it is written out.
pub const AGENT_FIELDS: [&str; 12] = [
    "name",
    "description",
    "model_provider",
    "provider",
    "model_name",
    "base_url",
    "system_prompt",
    "config",
    "tools",
    "memory_config",
    "is_active",
    "is_public",
];

/// Reads one agent, with everything that is wrong with it.
pub fn agent_from_text(text: &str) -> Result<AgentDefinition, Vec<Problem>> {
    read_body(text, &AGENT_FIELDS, &["tools_missing"], |r, at, members| {
        Fields { at, members }.read(r)
    })
}

struct Fields<'n> {
    at: usize,
    members: &'n [Member],
}

impl<'n> Fields<'n> {
    fn read(&self, r: &mut Reader<'_>) -> Option<AgentDefinition> {
        let name = self.required(r, "name", "Add \"name\": \"…\".");
        let name = name.and_then(|m| self.bounded(r, m, NAME_CHARS_MAX));
        let provider = self.provider(r);
        let remedy = "Add \"model_name\": the model as its provider calls it.";
        let model = self.required(r, "model_name", remedy);
        let model = model.and_then(|m| self.bounded(r, m, MODEL_CHARS_MAX));
        let text = |key: &str| present(self.members, key);
        let agent = AgentDefinition {
            description: text("description").and_then(|m| self.long(r, m)),
            base_url: text("base_url").and_then(|m| base_url(r, m)),
            system_prompt: text("system_prompt").and_then(|m| self.long(r, m)),
            config: self.config(r),
            tools: self.tools(r),
            memory_config: self.memory_config(r),
            is_active: text("is_active").is_none_or(|m| r.boolean(m, "$").unwrap_or(true)),
            is_public: text("is_public").is_some_and(|m| r.boolean(m, "$").unwrap_or(false)),
            name: name?,
            model_provider: provider?,
            model_name: model?,
        };
        Some(agent)
    }

    fn required(&self, r: &mut Reader<'_>, key: &str, remedy: &str) -> Option<&'n Member> {
        let found = present(self.members, key);
        if found.is_none() {
            let expected = format!("\"{key}\"");
            r.report(self.at, path_of_key("$", key), expected, "nothing", remedy);
        }
        found
    }

    /// A line of text that is not empty.
    fn bounded(&self, r: &mut Reader<'_>, m: &Member, chars_max: usize) -> Option<String> {
        let text = r.text(m, "$")?;
        if text.chars().count() > chars_max || text.chars().any(char::is_control) {
            let expected = format!("1 to {chars_max} characters on one line");
            r.wrong(
                m,
                "$",
                &expected,
                "Shorten it, or take out what cannot be printed.",
            );
            return None;
        }
        Some(text.to_owned())
    }

    fn long(&self, r: &mut Reader<'_>, m: &Member) -> Option<String> {
        let text = r.string(m, "$")?;
        if text.len() > PROMPT_BYTES_MAX || text.contains('\0') {
            let expected = format!("text of at most {PROMPT_BYTES_MAX} bytes without U+0000");
            r.wrong(m, "$", &expected, "Shorten it.");
            return None;
        }
        Some(text.to_owned())
    }

    fn provider(&self, r: &mut Reader<'_>) -> Option<String> {
        let m = member(self.members, "provider");
        let m = match present(self.members, "model_provider").or(m) {
            Some(m) => m,
            None => {
                let remedy = "Add \"model_provider\": \"anthropic\", \"openai\" or \"zhipuai\".";
                self.required(r, "model_provider", remedy)?
            }
        };
        // The older name of the same provider.
        if m.value.as_str() == Some("glm") {
            return Some("zhipuai".to_owned());
        }
        r.one_of(m, "$", &PROVIDERS).map(str::to_owned)
    }

    fn config(&self, r: &mut Reader<'_>) -> Map<String, Value> {
        let Some(m) = present(self.members, "config") else {
            return Map::new();
        };
        let Some(members) = r.object(m, "$") else {
            return Map::new();
        };
        config::check(r, members);
        to_map(members)
    }

    fn tools(&self, r: &mut Reader<'_>) -> Vec<String> {
        let Some(m) = present(self.members, "tools") else {
            return Vec::new();
        };
        let items = r.array(m, "$", "names or ids of tools").unwrap_or_default();
        if items.len() > TOOLS_MAX {
            let expected = format!("at most {TOOLS_MAX} tools");
            r.wrong(m, "$", &expected, "Leave out those it does not need.");
        }
        let mut tools = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(name) => tools.push(name.to_owned()),
                None => r.report(
                    item.span.start,
                    format!("$.tools[{i}]"),
                    "the name or id of a tool",
                    item.describe(),
                    "Write it in double quotes.",
                ),
            }
        }
        tools
    }

    fn memory_config(&self, r: &mut Reader<'_>) -> Option<Map<String, Value>> {
        const KEYS: [&str; 3] = ["type", "max_messages", "max_tokens"];
        let m = present(self.members, "memory_config")?;
        let members = r.object(m, "$")?;
        let path = "$.memory_config";
        r.unknown_keys(members, path, &KEYS);
        match present(members, "type") {
            Some(m) => {
                r.one_of(m, path, &["sliding_window"]);
            }
            None => r.report(
                m.value.span.start,
                "$.memory_config.type",
                "\"type\"",
                "nothing",
                "Add \"type\": \"sliding_window\".",
            ),
        }
        for key in ["max_messages", "max_tokens"] {
            if let Some(m) = present(members, key) {
                r.positive(m, path);
            }
        }
        Some(to_map(members))
    }
}

fn base_url(r: &mut Reader<'_>, m: &Member) -> Option<String> {
    let text = r.text(m, "$")?;
    let rest = text
        .strip_prefix("https://")
        .or(text.strip_prefix("http://"));
    let fine = rest.is_some_and(|rest| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // A password in an address would be shown to everybody who may see the agent.
        !authority.is_empty() && !authority.contains('@')
    });
    if !fine || text.len() > 2048 || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        let expected = "an http:// or https:// address without a user in it";
        r.wrong(m, "$", expected, "Write \"https://api.example.com/v1\".");
        return None;
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_full_agent_is_read() {
        let text = json!({
            "name": "분석가", "description": "d", "provider": "glm", "model_name": "glm-5",
            "base_url": "http://127.0.0.1:1/v1", "system_prompt": "You are\nhelpful",
            "config": {"temperature": 0.7, "max_tokens": 4096, "top_p": 0.9, "stop_sequences": ["Human:"]},
            "tools": ["calculator"], "memory_config": {"type": "sliding_window", "max_messages": 20, "max_tokens": 8000},
            "is_active": false, "is_public": true, "id": "ignored", "version": 3
        });
        let agent = agent_from_text(&text.to_string()).unwrap();
        assert_eq!(agent.model_provider, "zhipuai");
        assert_eq!(agent.tools, ["calculator"]);
        assert_eq!(agent.config["stop_sequences"], json!(["Human:"]));
        assert!(agent.is_public && !agent.is_active);
    }

    #[test]
    fn every_mistake_is_reported_at_its_place() {
        let text = r#"{"model_provider": "google", "model_name": "", "base_url": "ftp://x", "colour": 1,
            "config": {"temperature": 3, "top_p": -1, "max_tokens": 0, "stop_sequences": [""], "temprature": 1},
            "tools": [1], "memory_config": {"max_messages": 0}, "is_public": "yes", "system_prompt": 5}"#;
        let problems = agent_from_text(text).unwrap_err();
        let mut paths: Vec<&str> = problems.iter().map(|p| p.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(
            paths,
            [
                "$.base_url",
                "$.colour",
                "$.config.max_tokens",
                "$.config.stop_sequences",
                "$.config.temperature",
                "$.config.temprature",
                "$.config.top_p",
                "$.is_public",
                "$.memory_config.max_messages",
                "$.memory_config.type",
                "$.model_name",
                "$.model_provider",
                "$.name",
                "$.system_prompt",
                "$.tools[0]",
            ]
        );
    }

    #[test]
    fn an_address_holds_no_password() {
        for (url, fine) in [
            ("https://api.example.com/v1", true),
            ("http://localhost:11434", true),
            ("https://kim:secret@api.example.com", false),
            ("api.example.com", false),
            ("https://", false),
        ] {
            let text = json!({"name": "a", "model_provider": "openai", "model_name": "m", "base_url": url});
            assert_eq!(agent_from_text(&text.to_string()).is_ok(), fine, "{url}");
        }
    }
}
