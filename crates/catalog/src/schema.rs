//! A tool's two JSON Schemas, compiled: checking values against them and hiding what they mark as secret.

use crate::effort::{DEPTH_MAX, Effort, STEPS_MAX, TooMuch};
use crate::graph::{Failure, Graph};
use crate::pointer;
use crate::redaction::{HIDDEN, Redaction, changed_strings};
use jsonschema::error::ValidationErrorKind as ErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// How many violations one answer lists; a caller mends them a few at a time.
const VIOLATIONS_MAX: usize = 20;

/// Characters of what was expected: a long `enum` is not repeated for each violation.
const EXPECTED_MAX: usize = 300;

/// Bytes of one compiled pattern. The parts of a pattern are counted first; this is for what their number does not show.
const PATTERN_BYTES_MAX: usize = 10 << 20;

const NO_PATTERN: &str =
    "the pattern is no regular expression, or looks around or back, or is too large when compiled";

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

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at {} of the schema: {reason}", json_path(.pointer))]
pub struct Unusable {
    /// A JSON pointer into the schema.
    pub pointer: String,
    pub reason: String,
}

/// One compiled schema.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    validator: Validator,
    effort: Effort,
    secrets: Option<Redaction>,
    /// Where the parts with an `$id` stand.
    parts: HashMap<String, String>,
}

impl Schema {
    /// Compiles with draft 2020-12 unless `$schema` says otherwise. Patterns run on a linear-time
    /// engine, nothing is ever fetched and the work of a check is bounded: a schema comes from an author, not from us.
    pub fn compile(source: &Value) -> Result<Self, Unusable> {
        let graph = match Graph::new(source) {
            Ok(graph) => Arc::new(graph),
            Err(Failure::TooLarge(why)) => return Err(why),
            Err(Failure::NoSchema(error)) => {
                build(source)?;
                return Err(Unusable {
                    pointer: String::new(),
                    reason: error.to_string(),
                });
            }
        };
        // First, because compiling takes as long as the check it refuses.
        let effort = Effort::of(&graph)?;
        Ok(Schema {
            validator: build(source)?,
            effort,
            secrets: Redaction::of(source, &graph),
            parts: graph.parts.clone(),
            source: source.clone(),
        })
    }

    pub fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        let whole = |expected: String, got: String| {
            let path = "$".to_owned();
            vec![Violation {
                path,
                expected,
                got,
            }]
        };
        if let Err(why) = self.effort.check(value) {
            let (expected, got) = match why {
                TooMuch::Steps => (
                    format!("a value that is checked in {STEPS_MAX} steps"),
                    "one that this schema needs more for; make it smaller or less deep",
                ),
                TooMuch::Depth => (
                    format!(
                        "a value that leads through {DEPTH_MAX} subschemas inside each other at most"
                    ),
                    "one that leads deeper into this schema; make it less deep",
                ),
            };
            return Err(whole(expected, got.to_owned()));
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        if !self.effort.can_list(value) {
            let got = if self.has_secrets() {
                HIDDEN.to_owned()
            } else {
                short(value)
            };
            return Err(whole("a value that fits the schema".to_owned(), got));
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
        let place = self.place(error);
        let parent = place.as_deref().and_then(|place| place.rsplit_once('/'));
        let object = parent.and_then(|(parent, _)| self.source.pointer(parent));
        match object.and_then(|object| object.get("properties")?.as_object()) {
            Some(known) if !known.is_empty() => {
                format!("no other properties than {}", quoted(known.keys()))
            }
            _ => "no such property".to_owned(),
        }
    }

    /// Where the violated rule stands. The path of an error begins at the part with an `$id` that a reference led to.
    fn place(&self, error: &ValidationError<'_>) -> Option<String> {
        let Some(location) = error.absolute_keyword_location() else {
            return Some(error.schema_path().as_str().to_owned());
        };
        let part = self.parts.get(location.strip_fragment().as_str())?;
        let fragment = location.fragment()?.decode().to_string().ok()?;
        Some(format!("{part}{fragment}"))
    }

    fn violation(&self, value: &Value, error: &ValidationError<'_>) -> Violation {
        let keyword = error.kind().keyword();
        let rule = self.place(error);
        let rule = rule.and_then(|place| self.source.pointer(&place));
        let mut got = if self.has_secrets() && self.is_secret_at(value, error) {
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
        let expected = match expected.char_indices().nth(EXPECTED_MAX) {
            None => expected,
            Some((cut, _)) => format!("{}…", &expected[..cut]),
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
        if let Some(secrets) = &self.secrets {
            secrets.redact(value);
        }
    }

    pub fn has_secrets(&self) -> bool {
        self.secrets.is_some()
    }

    /// The strings among the secret values: they are scrubbed from outputs and errors as well.
    pub fn secret_strings(&self, value: &Value) -> Vec<String> {
        if !self.has_secrets() {
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

fn build(source: &Value) -> Result<Validator, Unusable> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
        .build(source)
        .map_err(|e| Unusable {
            pointer: e.instance_path().as_str().to_owned(),
            reason: match e.kind() {
                // The validator says the same of what is no pattern and of what is too large for one.
                ErrorKind::Format { format } if format == "regex" => NO_PATTERN.to_owned(),
                _ => e.masked().to_string(),
            },
        })
}

/// `/items/2/price` → `$.items[2].price`.
fn json_path(pointer: &str) -> String {
    let mut path = "$".to_owned();
    for part in pointer::parts(pointer) {
        if !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) {
            path.push_str(&format!("[{part}]"));
        } else {
            path.push('.');
            path.push_str(&part);
        }
    }
    path
}

fn quoted<'a>(names: impl Iterator<Item = &'a String>) -> String {
    const NAMES_MAX: usize = 20;
    let shown = |name: &String| short(&Value::from(name.as_str()));
    let names: Vec<String> = names.take(NAMES_MAX).map(shown).collect();
    names.join(", ")
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
    fn the_rule_of_a_part_with_its_own_id_is_quoted() {
        let schema = json!({"$id": "urn:whole", "properties": {"a": {"minimum": 2}, "b": {"$ref": "urn:part"}},
            "additionalProperties": false,
            "$defs": {"p/1": {"$id": "urn:part", "additionalProperties": false, "properties": {
                "a": {"minimum": 3}, "c": {"maxLength": 1}, "d": {"$ref": "#/$defs/d%20e"}, "f": {"$ref": "#f"}},
                "$defs": {"d e": {"multipleOf": 2}, "f": {"$anchor": "f", "minLength": 2}}}}});
        assert_eq!(
            violations(
                &schema,
                &json!({"a": 1, "b": {"a": 1, "c": "cc", "d": 3, "e": 4, "f": ""}})
            ),
            [
                "at $.a: expected minimum 2, got 1",
                "at $.b.a: expected minimum 3, got 1",
                "at $.b.c: expected maxLength 1, got \"cc\"",
                "at $.b.d: expected multipleOf 2, got 3",
                "at $.b.f: expected minLength 2, got \"\"",
                "at $.b: expected no other properties than \"a\", \"c\", \"d\", \"f\", got \"e\"",
            ]
        );
    }

    #[test]
    fn what_was_expected_is_cut_where_it_is_long() {
        let names: Vec<String> = (0..5_000).map(|i| format!("näme{i}")).collect();
        let found = violations(&json!({"items": {"enum": names}}), &json!(["a", "b"]));
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("at $[0]: expected enum [\"näme0\",\"näme1\","));
        assert!(found[0].ends_with("…, got \"a\""), "{}", found[0]);
        assert!(found[0].chars().count() < 350, "{}", found[0]);
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
    fn a_violation_never_shows_a_secret() {
        let schema = json!({"properties":{"pin":{"type":"integer","writeOnly":true}}});
        assert_eq!(
            violations(&schema, &json!({"pin":"hunter2"})),
            ["at $.pin: expected type integer, got ***"]
        );
    }
}
