//! What an entry of the audit log tells of a thing before or after a change: JSON, and short however big the thing is.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A member that is longer is told by its beginning, its length and its hash.
const MEMBER_BYTES_MAX: usize = 2 * 1024;

/// Longer than this nothing is, also with many members.
pub(crate) const BYTES_MAX: usize = 16 * 1024;

const BEGINNING_CHARS: usize = 200;

/// Short by construction: whoever reads entries knows how many bytes they are at most.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct Detail(String);

impl Detail {
    /// `value` never holds a secret.
    pub fn new(mut value: Value) -> Self {
        let members = value
            .as_object_mut()
            .into_iter()
            .flat_map(|o| o.values_mut());
        for member in members {
            let text = plain(member);
            if text.len() > MEMBER_BYTES_MAX {
                *member = brief(&text);
            }
        }
        let text = value.to_string();
        if text.len() > BYTES_MAX {
            return Detail(brief(&text).to_string());
        }
        Detail(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The hash stands for the rest: two that differ anywhere differ in it.
fn brief(text: &str) -> Value {
    let beginning: String = text.chars().take(BEGINNING_CHARS).collect();
    let hash = Sha256::digest(text.as_bytes());
    let hash = catalog::hex::hex(&hash);
    json!({"beginning": beginning, "bytes": text.len(), "sha256": hash})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_things_are_told_in_full() {
        let value = json!({"name": "kim", "tools": ["a", "b"], "none": null, "한글": {"x": 1.5}});
        assert_eq!(Detail::new(value.clone()).as_str(), value.to_string());
        assert_eq!(Detail::new(json!("kim")).as_str(), "\"kim\"");
    }

    #[test]
    fn long_members_are_told_by_beginning_length_and_hash() {
        let prompt = "한".repeat(1_000_000);
        let detail = |prompt: &str| Detail::new(json!({"name": "helper", "system_prompt": prompt}));
        let told: Value = serde_json::from_str(detail(&prompt).as_str()).unwrap();
        assert_eq!(told["name"], "helper");
        assert_eq!(told["system_prompt"]["bytes"], 3_000_000);
        assert_eq!(told["system_prompt"]["beginning"], "한".repeat(200));
        assert_eq!(told["system_prompt"]["sha256"].as_str().unwrap().len(), 64);
        let other = prompt.clone() + "!";
        assert_ne!(detail(&prompt), detail(&other), "the end counts as well");

        let tools: Vec<String> = (0..1_000).map(|i| format!("tool-{i}")).collect();
        let told = Detail::new(json!({"version": 3, "tools": tools}));
        let told: Value = serde_json::from_str(told.as_str()).unwrap();
        assert_eq!(told["version"], 3);
        assert!(
            told["tools"]["beginning"]
                .as_str()
                .unwrap()
                .starts_with("[\"tool-0\"")
        );
    }

    #[test]
    fn whatever_it_is_it_is_short() {
        let many: serde_json::Map<String, Value> = (0..10_000)
            .map(|i| (format!("member {i}"), json!(i)))
            .collect();
        let long_name: serde_json::Map<String, Value> =
            [("n".repeat(100_000), json!(1))].into_iter().collect();
        let escapes = "\u{1}".repeat(1_900);
        let escaped: serde_json::Map<String, Value> =
            (0..8).map(|i| (format!("{i}"), json!(escapes))).collect();
        let list: Vec<u32> = (0..100_000).collect();
        for value in [
            json!(many),
            json!(long_name),
            json!(escaped),
            json!(list),
            json!("x".repeat(100_000)),
        ] {
            let detail = Detail::new(value);
            assert!(
                detail.as_str().len() <= BYTES_MAX,
                "{}",
                detail.as_str().len()
            );
            assert!(serde_json::from_str::<Value>(detail.as_str()).is_ok());
        }
    }
}
