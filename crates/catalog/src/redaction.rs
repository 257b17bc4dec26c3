//! Hiding what a JSON Schema marks as secret: `writeOnly`, `format: password` or `x-secret`.

use serde_json::{Map, Value};

/// What stands in the log in place of a secret.
pub const HIDDEN: &str = "***";

/// Replaces every value that the schema marks as secret.
pub(crate) fn redact(schema: &Value, value: &mut Value) {
    let mut redaction = Redaction {
        root: schema,
        steps_left: STEPS_MAX,
        lost: false,
    };
    redaction.walk(schema, value, 0);
    if redaction.lost {
        *value = Value::String(HIDDEN.to_owned());
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

fn marks_secret(schema: &Map<String, Value>) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("x-secret") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

pub(crate) fn marks_secret_anywhere(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            marks_secret(members) || members.values().any(marks_secret_anywhere)
        }
        Value::Array(items) => items.iter().any(marks_secret_anywhere),
        _ => false,
    }
}

/// How many pairs of schema and value one redaction looks at. A schema that refers to itself can ask for more
/// than any value is worth; then the whole value is hidden.
const STEPS_MAX: u32 = 20_000;

/// A walk through schema and value side by side. Every branch of a choice counts and every pattern matches:
/// hiding too much is safe.
struct Redaction<'a> {
    root: &'a Value,
    steps_left: u32,
    /// Set where the walk cannot tell what is secret.
    lost: bool,
}

impl Redaction<'_> {
    fn walk(&mut self, schema: &Value, value: &mut Value, depth: u8) {
        let Value::Object(rules) = schema else {
            return;
        };
        let Some(left) = self.steps_left.checked_sub(1).filter(|_| depth < 200) else {
            self.lost = true;
            return;
        };
        self.steps_left = left;
        if marks_secret(rules) {
            *value = Value::String(HIDDEN.to_owned());
            return;
        }
        self.references(rules, value, depth);
        for choice in ["allOf", "anyOf", "oneOf"] {
            let branches = rules.get(choice).and_then(Value::as_array);
            for branch in branches.into_iter().flatten() {
                self.walk(branch, value, depth + 1);
            }
        }
        for branch in ["if", "then", "else", "not"] {
            if let Some(branch) = rules.get(branch) {
                self.walk(branch, value, depth + 1);
            }
        }
        for branches in ["dependentSchemas", "dependencies"] {
            let branches = rules.get(branches).and_then(Value::as_object);
            for branch in branches.into_iter().flat_map(|b| b.values()) {
                self.walk(branch, value, depth + 1);
            }
        }
        match value {
            Value::Object(members) => self.members(rules, members, depth),
            Value::Array(items) => self.items(rules, items, depth),
            _ => {}
        }
    }

    fn references(&mut self, rules: &Map<String, Value>, value: &mut Value, depth: u8) {
        if rules.contains_key("$dynamicRef") || rules.contains_key("$recursiveRef") {
            self.lost = true;
        }
        let Some(target) = rules.get("$ref").and_then(Value::as_str) else {
            return;
        };
        let root = self.root;
        match target
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer))
        {
            Some(target) => self.walk(target, value, depth + 1),
            // By an id, an anchor or an encoded pointer: valid, but not ours to resolve a second time.
            None => self.lost = true,
        }
    }

    fn members(&mut self, rules: &Map<String, Value>, members: &mut Map<String, Value>, depth: u8) {
        let named = rules.get("properties").and_then(Value::as_object);
        let patterns = rules.get("patternProperties").and_then(Value::as_object);
        for (name, member) in members {
            let own = named.and_then(|rules| rules.get(name));
            let by_pattern = patterns.into_iter().flat_map(|rules| rules.values());
            let rest = ["additionalProperties", "unevaluatedProperties"];
            let rest = rest
                .into_iter()
                .filter_map(|rule| rules.get(rule))
                .filter(|_| own.is_none());
            for rule in own.into_iter().chain(by_pattern).chain(rest) {
                self.walk(rule, member, depth + 1);
            }
        }
    }

    fn items(&mut self, rules: &Map<String, Value>, items: &mut [Value], depth: u8) {
        let first = ["prefixItems", "items"].map(|rule| rules.get(rule).and_then(Value::as_array));
        let rest = ["items", "additionalItems", "unevaluatedItems", "contains"];
        for (i, item) in items.iter_mut().enumerate() {
            let own = first.iter().flatten().filter_map(|rules| rules.get(i));
            let rest = rest.iter().filter_map(|rule| rules.get(*rule));
            for rule in own.chain(rest) {
                self.walk(rule, item, depth + 1);
            }
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
