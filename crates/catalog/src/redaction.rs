//! Hiding what a JSON Schema marks as secret: `writeOnly`, `format: password` or `x-secret`.

use crate::graph::Graph;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What stands in the log in place of a secret.
pub const HIDDEN: &str = "***";

/// How many pairs of schema and value one redaction looks at. A schema that refers to itself can ask for more
/// than any value is worth; then the whole value is hidden.
const STEPS_MAX: u32 = 20_000;
/// Subschemas inside each other; each is a call on the stack.
const DEPTH_MAX: u32 = 200;

/// What a schema marks as secret.
#[derive(Debug)]
pub(crate) struct Redaction {
    graph: Arc<Graph>,
}

impl Redaction {
    /// None where the schema marks nothing.
    pub(crate) fn of(schema: &Value, graph: &Arc<Graph>) -> Option<Self> {
        let graph = Arc::clone(graph);
        marks_secret_anywhere(schema).then_some(Redaction { graph })
    }

    /// Replaces every value that the schema marks as secret.
    pub(crate) fn redact(&self, value: &mut Value) {
        let mut walk = Walk {
            graph: &self.graph,
            steps_left: STEPS_MAX,
            lost: false,
        };
        walk.visit(0, value, 0);
        if walk.lost {
            *value = Value::String(HIDDEN.to_owned());
        }
    }
}

/// The strings of `before` that are no longer in their place.
pub(crate) fn changed_strings(before: &Value, after: &Value, out: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                changed_strings(value, b.get(key).unwrap_or(&Value::Null), out);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for (x, y) in a.iter().zip(b) {
                changed_strings(x, y, out);
            }
        }
        (before, after) if before != after => all_strings(before, out),
        _ => {}
    }
}

fn all_strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(s) => out.push(s.clone()),
        Value::Number(n) => out.push(n.to_string()),
        Value::Array(items) => items.iter().for_each(|v| all_strings(v, out)),
        Value::Object(members) => members.values().for_each(|v| all_strings(v, out)),
        _ => {}
    }
}

pub(crate) fn marks_secret(schema: &Map<String, Value>) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("x-secret") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

fn marks_secret_anywhere(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            marks_secret(members) || members.values().any(marks_secret_anywhere)
        }
        Value::Array(items) => items.iter().any(marks_secret_anywhere),
        _ => false,
    }
}

/// Goes through schema and value side by side. Every branch of a choice counts and every pattern matches: hiding too
/// much is safe.
struct Walk<'g> {
    graph: &'g Graph,
    steps_left: u32,
    /// Set where the walk cannot tell what is secret.
    lost: bool,
}

impl Walk<'_> {
    fn visit(&mut self, rules: usize, value: &mut Value, depth: u32) {
        let left = self.steps_left.checked_sub(1);
        let Some(left) = left.filter(|_| depth < DEPTH_MAX) else {
            self.lost = true;
            return;
        };
        self.steps_left = left;
        let rules = &self.graph.rules[rules];
        self.lost |= rules.is_lost;
        if rules.is_secret {
            *value = Value::String(HIDDEN.to_owned());
            return;
        }
        for next in rules.here.iter().chain(&rules.references) {
            self.visit(*next, value, depth + 1);
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    for next in rules.of_member(name) {
                        self.visit(next, member, depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    for next in rules.of_item(i) {
                        self.visit(next, item, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::Schema;
    use serde_json::json;

    #[test]
    fn secrets_are_hidden_wherever_the_schema_marks_them() {
        let schema = Schema::compile(&json!({
            "type":"object",
            "properties":{
                "token":{"type":"string","writeOnly":true},
                "login":{"$ref":"#/$defs/login"},
                "list":{"type":"array","items":{"anyOf":[{"x-secret":true},{"type":"null"}]}},
                "plain":{"type":"string"}},
            "$defs":{"login":{"properties":{"password":{"format":"password"}}}}}))
        .unwrap();
        let value = json!({"token":"t0ken","login":{"password":"pa55","user":"u"},
            "list":["one2"],"plain":"shown"});
        let mut shown = value.clone();
        schema.redact(&mut shown);
        assert_eq!(
            shown,
            json!({"token":"***","login":{"password":"***","user":"u"},"list":["***"],"plain":"shown"})
        );
        assert_eq!(schema.secret_strings(&value), ["t0ken", "pa55", "one2"]);
    }

    #[test]
    fn no_way_of_reaching_the_mark_is_missed() {
        let secret = json!({"writeOnly": true});
        let ways = [
            json!({"patternProperties": {"^t": secret}}),
            json!({"unevaluatedProperties": secret}),
            json!({"dependentSchemas": {"token": {"properties": {"token": secret}}}}),
            json!({"properties": {"token": {"$ref": "#mark"}}, "$defs": {"m": {"$anchor": "mark", "writeOnly": true}}}),
            json!({"properties": {"token": {"$ref": "urn:mark"}}, "$defs": {"m": {"$id": "urn:mark", "writeOnly": true}}}),
            json!({"properties": {"token": {"$ref": "#/$defs/a%20b"}}, "$defs": {"a b": {"writeOnly": true}}}),
            json!({"properties": {"token": {"$id": "urn:sub", "$ref": "#/$defs/m", "$defs": {"m": secret}}}, "$defs": {"m": {}}}),
            json!({"properties": {"token": {"$ref": "urn:sub#m"}}, "$defs": {
                "a": {"$anchor": "m"}, "sub": {"$id": "urn:sub", "$defs": {"a": {"$anchor": "m", "x-secret": true}}}}}),
            json!({"$id": "urn:a", "$dynamicAnchor": "m", "properties": {"token": {"$ref": "urn:b"}}, "writeOnly": false,
                "$defs": {"b": {"$id": "urn:b", "$dynamicRef": "#m", "$defs": {"m": {"$dynamicAnchor": "m", "writeOnly": true}}}}}),
            json!({"properties": {"token": {"$ref": "#/elsewhere/m"}}, "elsewhere": {"m": secret}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"token": {"$ref": "#m"}},
                "definitions": {"m": {"$id": "#m", "writeOnly": true}}}),
        ];
        for way in ways {
            let mut shown = json!({"token": "hunter2"});
            Schema::compile(&way).unwrap().redact(&mut shown);
            assert!(!shown.to_string().contains("hunter2"), "{way}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let again = json!({"properties": {"a": {"$ref": "#"}}});
        let schema = json!({"properties": {"z": {"writeOnly": true}}, "allOf": [again, again]});
        let mut shown = json!({"z": "hunter2"});
        for _ in 0..20 {
            shown = json!({"a": shown});
        }
        Schema::compile(&schema).unwrap().redact(&mut shown);
        assert_eq!(
            shown,
            json!("***"),
            "what cannot be told apart is hidden whole"
        );
    }
}
