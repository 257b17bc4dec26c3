//! The sorts of things that have a file each, and the form in which they stand there: the author's members in a fixed order,
//! nothing that is so by default, nothing that changes by itself.

use super::sealed;
use catalog::agent::AGENT_FIELDS;
use catalog::definition::FIELDS;
use catalog::mcp_file::SERVER_KEYS;
use catalog::source::SOURCE_KEYS;
use catalog::test_case::is_same;
use catalog::tool::KindName;
use catalog::toolset::TOOLSET_FIELDS;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// In the order in which they are applied: what is named by others comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Sort {
    Source,
    Server,
    Tool,
    Toolset,
    Agent,
}

impl Sort {
    pub(super) const ALL: [Sort; 5] = [
        Sort::Source,
        Sort::Server,
        Sort::Tool,
        Sort::Toolset,
        Sort::Agent,
    ];

    /// The folder's name, and the end of the address.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Sort::Source => "sources",
            Sort::Server => "servers",
            Sort::Tool => "tools",
            Sort::Toolset => "toolsets",
            Sort::Agent => "agents",
        }
    }

    pub(super) fn api(self) -> String {
        format!("/api/v1/{}", self.folder())
    }

    /// The members of a file, in their order: all that may be written of it, but for other words for the same, and whose it
    /// is.
    fn keys(self) -> impl Iterator<Item = &'static str> {
        let (first, written, last): (&[&str], &[&str], &[&str]) = match self {
            Sort::Source => (&[], &SOURCE_KEYS, &[]),
            Sort::Server => (&["name"], &SERVER_KEYS, &["owner"]),
            Sort::Tool => (&[], &FIELDS, &["owner"]),
            Sort::Toolset => (&[], &TOOLSET_FIELDS, &["owner"]),
            Sort::Agent => (&[], &AGENT_FIELDS, &["owner"]),
        };
        let is_alias = move |key: &&str| written.iter().any(|of| self.alias(of) == Some(*key));
        let all = first.iter().chain(written).chain(last).copied();
        all.filter(move |key| !is_alias(key))
    }

    /// Other words for the same member.
    fn alias(self, key: &str) -> Option<&'static str> {
        match (self, key) {
            (Sort::Tool, "kind") => Some("tool_type"),
            (Sort::Tool, "description") => Some("description_agent"),
            (Sort::Server, "transport") => Some("type"),
            (Sort::Agent, "model_provider") => Some("provider"),
            _ => None,
        }
    }

    /// Whether this belongs into the folder: what its author keeps in a file is in git already, and what is built in or
    /// offered by an upstream server is nobody's to write.
    pub(super) fn is_kept(self, view: &Value) -> bool {
        match self {
            Sort::Tool => view["shelf"] == "database",
            Sort::Server => view["source"] == "database",
            Sort::Source => view["origin"] == "database",
            Sort::Toolset => view["owner"] != "system",
            Sort::Agent => true,
        }
    }

    /// What a file holds of something that the server shows or an author wrote. `names` has the names of tools by their ids.
    pub(super) fn document(self, shown: &Value, names: &HashMap<String, String>) -> Value {
        let mut document = Map::new();
        for key in self.keys() {
            let written = shown.get(key);
            let written = written.or_else(|| shown.get(self.alias(key)?));
            let Some(value) = written.filter(|value| !self.is_default(shown, key, value)) else {
                continue;
            };
            let value = match (self, key) {
                (Sort::Toolset | Sort::Agent, "tools") => named(value, names),
                _ => value.clone(),
            };
            document.insert(key.to_owned(), value);
        }
        let mut document = Value::Object(document);
        sealed::without_ends(self, &mut document);
        document
    }

    /// Whether leaving a member out says the same.
    fn is_default(self, shown: &Value, key: &str, value: &Value) -> bool {
        let is = |default: Value| is_same(value, &default);
        match (self, key) {
            _ if value.is_null() => true,
            (Sort::Tool, "parallel_capable") => {
                let kind = shown["kind"]
                    .as_str()
                    .or_else(|| shown["tool_type"].as_str());
                let kind = kind.and_then(KindName::from_name);
                kind.is_some_and(|kind| is(kind.parallel_by_default().into()))
            }
            (Sort::Tool, "output_format") => is("json".into()),
            (Sort::Tool, "annotations") | (Sort::Agent, "config") => is(json!({})),
            (Sort::Tool, "examples" | "tests")
            | (Sort::Toolset, "tools" | "deny")
            | (Sort::Agent, "tools")
            | (Sort::Server, "args")
            | (Sort::Source, "functions" | "search_path") => is(json!([])),
            (Sort::Tool | Sort::Agent, "is_active") => is(true.into()),
            (_, "is_public" | "find_tools" | "disabled") => is(false.into()),
            (Sort::Source, "allow_write" | "pgbouncer" | "allow_superuser") => is(false.into()),
            (Sort::Source, "authors") => is("admins".into()),
            // It is told from the address, unless that looks like the other one.
            (Sort::Server, "transport") => {
                let url = shown["url"].as_str().unwrap_or_default();
                value != "sse" && !(value == "http" && url.contains("sse"))
            }
            _ => false,
        }
    }
}

/// Tools by name: ids are those of one installation.
fn named(tools: &Value, names: &HashMap<String, String>) -> Value {
    let name = |id: &Value| {
        let name = id.as_str().and_then(|id| names.get(id));
        name.map_or_else(|| id.clone(), |name| name.clone().into())
    };
    let items = tools.as_array().into_iter().flatten();
    let items = items.map(|item| match item.get("tool") {
        Some(tool) => {
            let mut pick = item.clone();
            pick["tool"] = name(tool);
            // One that only names its tool is written as the name.
            let members = pick.as_object_mut();
            if let Some(members) = members {
                members.retain(|_, value| !value.is_null());
            }
            match pick.as_object().is_some_and(|it| it.len() == 1) {
                true => pick["tool"].clone(),
                false => pick,
            }
        }
        None => name(item),
    });
    Value::Array(items.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_so_by_default_is_left_out_and_the_rest_has_its_order() {
        let shown = json!({
            "id": "7", "version": 3, "owner": "kim", "is_public": false, "is_active": true, "kind": "http",
            "parallel_capable": true, "name": "a", "config": {"b": 1, "a": 2}, "description": "d",
            "auth_config": {"type": "bearer", "token": {"set": true, "last4": "wxyz"}},
        });
        let document = Sort::Tool.document(&shown, &HashMap::new());
        let expected = r#"{"name":"a","description":"d","kind":"http","config":{"b":1,"a":2},"auth_config":{"type":"bearer","token":{"set":true}},"owner":"kim"}"#;
        assert_eq!(document.to_string(), expected);
        let slow = json!({"name": "a", "kind": "shell", "parallel_capable": true});
        let slow = Sort::Tool.document(&slow, &HashMap::new());
        assert_eq!(slow["parallel_capable"], true);
    }

    /// A member that may be written and is not exported would be lost without a word.
    #[test]
    fn every_member_is_exported_once_and_none_by_another_word() {
        for sort in Sort::ALL {
            let keys: Vec<&str> = sort.keys().collect();
            let once: std::collections::BTreeSet<&str> = keys.iter().copied().collect();
            assert_eq!(once.len(), keys.len(), "{keys:?}");
            for word in ["type", "tool_type", "description_agent", "provider"] {
                assert!(!once.contains(word), "{sort:?} {word}");
            }
            assert_eq!(keys[0], "name");
        }
        let server: Vec<&str> = Sort::Server.keys().collect();
        assert!(server.contains(&"timeout_seconds") && server.contains(&"owner"));
    }

    #[test]
    fn tools_are_named() {
        let names = HashMap::from([("17".to_owned(), "adder".to_owned())]);
        let set = json!({"tools": ["17", "b", {"tool": "17", "name": "plus"}, {"tool": "c", "name": null}]});
        let set = Sort::Toolset.document(&set, &names);
        assert_eq!(
            set["tools"],
            json!(["adder", "b", {"tool": "adder", "name": "plus"}, "c"])
        );
    }
}
