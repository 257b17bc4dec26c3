//! A tool's two JSON Schemas, compiled: checking values against them and hiding what they mark as secret.

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

    fn violation(&self, value: &Value, error: &ValidationError<'_>) -> Violation {
        let keyword = error.kind().keyword();
        let rule = self.source.pointer(error.schema_path().as_str());
        let expected = match (keyword, rule) {
            ("required", _) => format!("the {} to be there", error.masked_with("object")),
            ("type", Some(Value::String(name))) => format!("type {name}"),
            ("additionalProperties" | "unevaluatedProperties" | "false schema", _) | (_, None) => {
                error.masked_with("the value").to_string()
            }
            (_, Some(rule)) => format!("{keyword} {rule}"),
        };
        let expected = match error.kind() {
            jsonschema::error::ValidationErrorKind::Required { property } => {
                format!("property {property}")
            }
            _ => expected,
        };
        let got = if self.has_secrets && self.is_secret_at(value, error) {
            HIDDEN.to_owned()
        } else {
            short(error.instance())
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
        if self.has_secrets {
            redact_by(&self.source, &self.source, value, 0);
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

/// Walks schema and value side by side. Every branch of a choice counts: hiding too much is safe.
fn redact_by(root: &Value, schema: &Value, value: &mut Value, depth: u8) {
    // A schema may refer to itself; values are at most 128 deep, so this ends with them.
    let (Value::Object(rules), true) = (schema, depth < 200) else {
        return;
    };
    if marks_secret(rules) {
        *value = Value::String(HIDDEN.to_owned());
        return;
    }
    if let Some(target) = rules.get("$ref").and_then(Value::as_str)
        && let Some(target) = target.strip_prefix('#').and_then(|p| root.pointer(p))
    {
        redact_by(root, target, value, depth + 1);
    }
    for choice in ["allOf", "anyOf", "oneOf"] {
        for branch in rules
            .get(choice)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            redact_by(root, branch, value, depth + 1);
        }
    }
    for branch in ["if", "then", "else"] {
        if let Some(branch) = rules.get(branch) {
            redact_by(root, branch, value, depth + 1);
        }
    }
    match value {
        Value::Object(members) => {
            let properties = rules.get("properties").and_then(Value::as_object);
            let rest = rules.get("additionalProperties");
            for (name, member) in members {
                if let Some(rule) = properties.and_then(|p| p.get(name)).or(rest) {
                    redact_by(root, rule, member, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            let first = rules.get("prefixItems").and_then(Value::as_array);
            let rest = rules.get("items");
            for (i, item) in items.iter_mut().enumerate() {
                let rule = first.and_then(|f| f.get(i)).or(match rest {
                    Some(Value::Array(tuple)) => tuple.get(i),
                    other => other,
                });
                if let Some(rule) = rule {
                    redact_by(root, rule, item, depth + 1);
                }
            }
        }
        _ => {}
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
    fn a_violation_never_shows_a_secret() {
        let schema = json!({"properties":{"pin":{"type":"integer","writeOnly":true}}});
        assert_eq!(
            violations(&schema, &json!({"pin":"hunter2"})),
            ["at $.pin: expected type integer, got ***"]
        );
    }
}
