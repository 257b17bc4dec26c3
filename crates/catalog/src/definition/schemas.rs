//! The outer shape of `input_schema` and `output_schema`; whether a schema compiles is `schema.rs`'s to say.

use crate::json::{Member, NodeKind, Reader, path_of_key, present};
use serde_json::Value;

/// The dialects a call can be checked against, as `$schema` names them without scheme and `#`.
const DIALECTS: [&str; 2] = [
    "json-schema.org/draft/2020-12/schema",
    "json-schema.org/draft-07/schema",
];

/// An input schema: its root must describe an object, because arguments are one.
pub(super) fn input(r: &mut Reader<'_>, m: &Member, path: &str) -> Value {
    check(r, m, path);
    let kind = m
        .value
        .as_object()
        .and_then(|members| present(members, "type"));
    if let Some(kind) = kind
        && kind.value.as_str() != Some("object")
    {
        let remedy = "Arguments are always an object: write \"type\": \"object\" and put this schema under \"properties\".";
        r.wrong(kind, &path_of_key(path, &m.key), "\"object\"", remedy);
    }
    m.value.to_value()
}

pub(super) fn check(r: &mut Reader<'_>, m: &Member, path: &str) {
    let members = match &m.value.kind {
        NodeKind::Object(members) => members,
        NodeKind::Bool(_) => return,
        _ => {
            let remedy = "Write a JSON Schema such as {\"type\": \"object\", \"properties\": {…}}.";
            r.wrong(m, path, "a JSON Schema (an object, true or false)", remedy);
            return;
        }
    };
    let Some(dialect) = present(members, "$schema") else {
        return;
    };
    let named = dialect
        .value
        .as_str()
        .unwrap_or_default()
        .trim_end_matches('#');
    let named = named
        .strip_prefix("https://")
        .or_else(|| named.strip_prefix("http://"));
    if !named.is_some_and(|named| DIALECTS.contains(&named)) {
        let remedy = "Write \"https://json-schema.org/draft/2020-12/schema\" or \"http://json-schema.org/draft-07/schema#\", or leave \"$schema\" out for 2020-12.";
        let expected = "JSON Schema 2020-12 or draft-07, the two supported dialects";
        r.wrong(dialect, &path_of_key(path, &m.key), expected, remedy);
    }
}
