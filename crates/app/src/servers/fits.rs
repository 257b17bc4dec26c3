//! Whether a tool of ours fits the upstream tool that it stands for. A name that the server does not know, or an argument
//! that it does not take, is told: what is set there holds nobody to anything.

use crate::App;
use catalog::caller::Caller;
use catalog::json::did_you_mean;
use catalog::schema::Schema;
use mcp::upstream::Lists;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What says more of an object's members than `properties` does.
const ELSEWHERE: [&str; 6] = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"];

/// What of a schema is about its members one by one.
const OF_MEMBERS: [&str; 4] = ["$schema", "$defs", "definitions", "properties"];

impl App {
    /// What a server says of one of its tools, or what is wrong with asking for it; none where that is not known. A
    /// tool that the caller may not use is not there for them; without a caller nobody's rights are asked.
    pub(crate) fn listed_tool(
        &self,
        caller: Option<&Caller>,
        server: &str,
        theirs: &str,
    ) -> Option<Result<Value, String>> {
        let lists = self.told_lists(server)?;
        let may_use = |tool: &str| {
            caller.is_none_or(|caller| self.may_use(caller, &format!("{server}.{tool}")))
        };
        let listed = lists.tools.iter().find(|it| it["name"] == theirs);
        if let Some(listed) = listed.filter(|_| may_use(theirs)) {
            return Some(Ok(listed.clone()));
        }
        let names = lists.tools.iter().filter_map(|it| it["name"].as_str());
        let names: Vec<&str> = names.filter(|name| may_use(name)).collect();
        let meant = match did_you_mean(theirs, &names) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("`toolcrib servers tools {server}` lists those it has"),
        };
        Some(Err(format!(
            "config.tool_name: MCP server '{server}' has no tool '{theirs}'; {meant}"
        )))
    }

    /// What a server has told, or had told last.
    fn told_lists(&self, server: &str) -> Option<Arc<Lists>> {
        let (lists, is_up) = match self.upstreams.get(server) {
            Some(live) => (live.lists(), live.status().state.is_up()),
            None => (self.last_lists(server).ok()?, false),
        };
        (is_up || !lists.tools.is_empty()).then_some(lists)
    }
}

/// What is wrong with the arguments that a tool of ours sets for `listed`.
pub(crate) fn set_fault(listed: &Value, set: &Map<String, Value>) -> Option<String> {
    let schema = listed.get("inputSchema")?;
    let properties = schema.get("properties")?.as_object()?;
    let more = schema.get("additionalProperties");
    let takes_more = more.is_some_and(|more| *more != Value::Bool(false))
        || ELSEWHERE.iter().any(|key| schema.get(key).is_some());
    let is_unknown = |name: &&String| !takes_more && !properties.contains_key(*name);
    if let Some(unknown) = set.keys().find(is_unknown) {
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let meant = match did_you_mean(unknown, &known) {
            Some(near) => format!("did you mean '{near}'?"),
            None if known.is_empty() => "it takes none".to_owned(),
            None => format!("it takes {}", known.join(", ")),
        };
        return Some(format!(
            "config.arguments: {} takes no '{unknown}', so setting it holds nobody to anything; {meant}",
            listed["name"]
        ));
    }
    let part = OF_MEMBERS.iter().filter_map(|key| {
        let value = schema.get(key)?;
        Some(((*key).to_owned(), value.clone()))
    });
    let part = Schema::compile(&Value::Object(part.collect())).ok()?;
    let violations = part.check(&Value::Object(set.clone())).err()?;
    let first = violations.first()?;
    Some(format!(
        "config.arguments: {} does not take what is set: {first}",
        listed["name"]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(schema: &Value, set: &Value) -> Option<String> {
        let listed = json!({"name": "search", "inputSchema": schema});
        set_fault(&listed, set.as_object().unwrap())
    }

    #[test]
    fn what_is_set_must_be_known_and_fit() {
        let schema = json!({"type": "object", "required": ["query"], "properties": {
            "query": {"type": "string"}, "limit": {"$ref": "#/$defs/few"}},
            "$defs": {"few": {"type": "integer", "maximum": 9}}});
        assert_eq!(fault(&schema, &json!({"limit": 5})), None);
        let slip = fault(&schema, &json!({"limt": 5})).unwrap();
        assert!(
            slip.contains("takes no 'limt'") && slip.contains("did you mean 'limit'?"),
            "{slip}"
        );
        let other = fault(&schema, &json!({"folder": "a"})).unwrap();
        assert!(other.contains("it takes query, limit"), "{other}");
        let wrong = fault(&schema, &json!({"limit": 50})).unwrap();
        assert!(wrong.contains("$.limit"), "{wrong}");
        let none = json!({"type": "object", "properties": {}});
        assert!(
            fault(&none, &json!({"a": 1}))
                .unwrap()
                .contains("it takes none")
        );
    }

    #[test]
    fn what_a_schema_leaves_open_is_not_judged() {
        let set = json!({"a": 1});
        for open in [
            json!({"type": "object"}),
            json!({"properties": {"b": {}}, "additionalProperties": true}),
            json!({"properties": {"b": {}}, "additionalProperties": {"type": "integer"}}),
            json!({"properties": {"b": {}}, "allOf": [{"properties": {"a": {}}}]}),
        ] {
            assert_eq!(fault(&open, &set), None, "{open}");
        }
        let closed = json!({"properties": {"b": {}}, "additionalProperties": false});
        assert!(fault(&closed, &set).is_some());
    }
}
