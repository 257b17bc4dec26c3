//! What is held of an upstream server's tools: whether a definition that is another than the one first seen is only told,
//! or has to be approved; and how two definitions are told apart.

use crate::hex::hex;
use crate::tool::sorted;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What happens when a server describes a tool in another way than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pinning {
    Off,
    /// It is told, and in force at once.
    #[default]
    Flag,
    /// It is in force when somebody has approved it, and so is a tool that is new.
    Approve,
}

impl Pinning {
    pub const NAMES: [&'static str; 3] = ["off", "flag", "approve"];

    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "off" => Some(Pinning::Off),
            "flag" => Some(Pinning::Flag),
            "approve" => Some(Pinning::Approve),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Pinning::Off => "off",
            Pinning::Flag => "flag",
            Pinning::Approve => "approve",
        }
    }
}

/// Members of a listed tool that no model reads, and that some servers make anew for each list.
const NOT_HELD: [&str; 2] = ["_meta", "icons"];

/// The part of a listed tool that is held: its name, descriptions, schemas and annotations.
pub fn held(listed: &Value) -> Value {
    let mut held = listed.clone();
    if let Some(members) = held.as_object_mut() {
        members.retain(|name, _| !NOT_HELD.contains(&name.as_str()));
    }
    held
}

/// The fingerprint of what is held. The order of members does not count.
pub fn hash(held: &Value) -> String {
    let digest = Sha256::digest(sorted(held.clone()).to_string().as_bytes());
    hex(&digest)
}

/// The members in which two definitions differ, in the order of the newer one.
pub fn differing(old: &Value, new: &Value) -> Vec<String> {
    let names = |value: &Value| -> Vec<String> {
        let members = value.as_object().into_iter().flatten();
        members.map(|(name, _)| name.clone()).collect()
    };
    let mut all = names(new);
    all.extend(
        names(old)
            .into_iter()
            .filter(|name| new.get(name).is_none()),
    );
    all.retain(|name| {
        let sorted = |value: &Value| value.get(name).cloned().map(sorted);
        sorted(old) != sorted(new)
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_is_held_counts() {
        let tool = json!({"name": "a", "inputSchema": {"type": "object", "title": "t"}, "_meta": {"at": 1}});
        let same = json!({"_meta": {"at": 2}, "inputSchema": {"title": "t", "type": "object"}, "name": "a", "icons": []});
        assert_eq!(hash(&held(&tool)), hash(&held(&same)));
        for other in [
            json!({"name": "a", "inputSchema": {"type": "object", "title": "u"}}),
            json!({"name": "a", "inputSchema": {"type": "object", "title": "t"}, "annotations": {"readOnlyHint": true}}),
            json!({"name": "b", "inputSchema": {"type": "object", "title": "t"}}),
        ] {
            assert_ne!(hash(&held(&tool)), hash(&held(&other)), "{other}");
        }
    }

    #[test]
    fn the_members_that_differ_are_named() {
        let old = json!({"name": "a", "title": "A", "inputSchema": {"a": 1, "b": 2}});
        let new = json!({"description": "d", "name": "a", "inputSchema": {"b": 2, "a": 1}});
        assert_eq!(differing(&old, &new), ["description", "title"]);
        assert!(differing(&old, &old).is_empty());
    }
}
