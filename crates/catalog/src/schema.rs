//! A tool's two JSON Schemas, compiled: checking values against them and hiding what they mark as secret.

use jsonschema::error::ValidationErrorKind as ErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde::Serialize;
use serde_json::{Map, Value};

/// How many violations one answer lists; a caller mends them a few at a time.
const VIOLATIONS_MAX: usize = 20;

/// What stands in the log in place of a secret.
pub const HIDDEN: &str = "***";

/// One place where a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON path such as `$.items[2].price`.
    pub path: String,
    pub expected: String,
    pub got: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Violation {
            path,
            expected,
            got,
        } = self;
        write!(f, "at {path}: expected {expected}, got {got}")
    }
}

/// One compiled schema.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    validator: Validator,
    has_secrets: bool,
}

impl Schema {
    /// Compiles with draft 2020-12 unless `$schema` says otherwise. Patterns run on a linear-time
    /// engine and nothing is ever fetched: a schema comes from an author, not from us.
    pub fn compile(source: &Value) -> Result<Self, String> {
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::regex())
            .build(source)
            .map_err(|e| {
                let at = json_path(e.instance_path().as_str());
                format!("at {at} of the schema: {}", e.masked())
            })?;
        Ok(Schema {
            has_secrets: marks_secret_anywhere(source),
            source: source.clone(),
            validator,
        })
    }

    pub fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let violations: Vec<Violation> = self
            .validator
            .iter_errors(value)
            .take(VIOLATIONS_MAX)
            .map(|e| self.violation(value, &e))
            .collect();
        if violations.is_empty() {
            Ok(())
        } else {
            Err(violations)
        }
    }

    /// What may stand where an unknown property was found.
    fn known_properties(&self, error: &ValidationError<'_>) -> String {
        let schema_path = error.schema_path().as_str();
        let parent = schema_path
            .rsplit_once('/')
            .map_or("", |(parent, _)| parent);
        let object = self.source.pointer(parent);
        match object.and_then(|object| object.get("properties")?.as_object()) {
            Some(known) if !known.is_empty() => {
                format!("no other properties than {}", quoted(known.keys()))
            }
            _ => "no such property".to_owned(),
        }
    }

    fn violation(&self, value: &Value, error: &ValidationError<'_>) -> Violation {
        let keyword = error.kind().keyword();
        let rule = self.source.pointer(error.schema_path().as_str());
        let mut got = if self.has_secrets && self.is_secret_at(value, error) {
            HIDDEN.to_owned()
        } else {
            short(error.instance())
        };
        let expected = match (error.kind(), rule) {
            (ErrorKind::Required { property }, _) => format!("property {property}"),
            (ErrorKind::Type { .. }, Some(Value::String(name))) => format!("type {name}"),
            (
                ErrorKind::AdditionalProperties { unexpected }
                | ErrorKind::UnevaluatedProperties { unexpected },
                _,
            ) => {
                got = quoted(unexpected.iter());
                self.known_properties(error)
            }
            (ErrorKind::FalseSchema, _) => "nothing here".to_owned(),
            (_, None) => error.masked_with("the value").to_string(),
            (_, Some(rule)) => format!("{keyword} {rule}"),
        };
        Violation {
            path: json_path(error.instance_path().as_str()),
            expected,
            got,
        }
    }

    /// Whether the violating value is, or contains, something marked secret.
    fn is_secret_at(&self, root: &Value, error: &ValidationError<'_>) -> bool {
        let mut shown = root.clone();
        self.redact(&mut shown);
        let pointer = error.instance_path().as_str();
        shown.pointer(pointer) != root.pointer(pointer)
    }

    /// Replaces every value that the schema marks `writeOnly`, `format: password` or `x-secret`.
    pub fn redact(&self, value: &mut Value) {
        if !self.has_secrets {
            return;
        }
        let mut redaction = Redaction {
            root: &self.source,
            steps_left: STEPS_MAX,
            lost: false,
        };
        redaction.walk(&self.source, value, 0);
        if redaction.lost {
            *value = Value::String(HIDDEN.to_owned());
        }
    }

    pub fn has_secrets(&self) -> bool {
        self.has_secrets
    }

    /// The strings among the secret values: they are scrubbed from outputs and errors as well.
    pub fn secret_strings(&self, value: &Value) -> Vec<String> {
        if !self.has_secrets {
            return Vec::new();
        }
        let mut shown = value.clone();
        self.redact(&mut shown);
        let mut secrets = Vec::new();
        changed_strings(value, &shown, &mut secrets);
        // A one-letter secret would blank out ordinary text and protects nothing.
        secrets.retain(|s| s.len() >= 4);
        secrets
    }
}

fn changed_strings(before: &Value, after: &Value, out: &mut Vec<String>) {
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

fn marks_secret_anywhere(schema: &Value) -> bool {
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

/// `/items/2/price` → `$.items[2].price`.
fn json_path(pointer: &str) -> String {
    let mut path = "$".to_owned();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) {
            path.push_str(&format!("[{part}]"));
        } else {
            path.push('.');
            path.push_str(&part);
        }
    }
    path
}

/// A value as it is shown in an error: whole when short, else its beginning.
fn quoted<'a>(names: impl Iterator<Item = &'a String>) -> String {
    const NAMES_MAX: usize = 20;
    let shown = |name: &String| short(&Value::from(name.as_str()));
    let names: Vec<String> = names.take(NAMES_MAX).map(shown).collect();
    names.join(", ")
}

fn short(value: &Value) -> String {
    const SHOWN_MAX: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        None => text,
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn violations(schema: &Value, value: &Value) -> Vec<String> {
        let schema = Schema::compile(schema).unwrap();
        let found = schema.check(value).err().unwrap_or_default();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_violation_names_path_expected_and_got() {
        let schema = json!({"type":"object","required":["a"],"properties":{
            "a":{"type":"string"},"n":{"type":"array","items":{"minimum":3}}}});
        assert_eq!(violations(&schema, &json!({"a":"x","n":[3]})), [""; 0]);
        assert_eq!(
            violations(&schema, &json!({"a":5})),
            ["at $.a: expected type string, got 5"]
        );
        assert_eq!(
            violations(&schema, &json!({})),
            ["at $: expected property \"a\", got {}"]
        );
        assert_eq!(
            violations(&schema, &json!({"a":"x","n":[4,1]})),
            ["at $.n[1]: expected minimum 3, got 1"]
        );
        let closed = json!({"properties":{"a":{},"b":{}},"additionalProperties":false});
        assert_eq!(
            violations(&closed, &json!({"a":1,"c":2,"d":3})),
            ["at $: expected no other properties than \"a\", \"b\", got \"c\", \"d\""]
        );
        assert_eq!(
            violations(&json!({"properties":{"a":false}}), &json!({"a":1})),
            ["at $.a: expected nothing here, got 1"]
        );
    }

    #[test]
    fn draft_07_is_honoured_and_2020_12_is_the_default() {
        let tuple = json!({"items":[{"type":"string"}]});
        let mut draft_07 = tuple.clone();
        draft_07["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        assert_eq!(violations(&draft_07, &json!([1])).len(), 1);
        assert!(
            Schema::compile(&tuple).is_err(),
            "an array is no `items` in 2020-12"
        );
    }

    #[test]
    fn nothing_is_fetched_and_patterns_are_linear() {
        let remote = json!({"$ref":"https://example.com/schema.json"});
        assert!(Schema::compile(&remote).is_err());
        let looking_back = json!({"pattern":"(?<=a)b"});
        assert!(Schema::compile(&looking_back).is_err());
    }

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
        let schema = json!({"properties": {"z": {"writeOnly": true}}, "allOf": [
            {"if": false, "then": {"$ref": "#"}}, {"if": false, "then": {"$ref": "#"}}]});
        let mut shown = json!({"z": "hunter2", "a": 1});
        Schema::compile(&schema).unwrap().redact(&mut shown);
        assert_eq!(
            shown,
            json!("***"),
            "what cannot be told apart is hidden whole"
        );
    }

    #[test]
    fn a_violation_never_shows_a_secret() {
        let schema = json!({"properties":{"pin":{"type":"integer","writeOnly":true}}});
        assert_eq!(
            violations(&schema, &json!({"pin":"hunter2"})),
            ["at $.pin: expected type integer, got ***"]
        );
    }
}
