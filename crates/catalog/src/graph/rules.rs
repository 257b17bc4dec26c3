//! What one subschema asks for, as far as it says where a check goes and what it costs.

use super::texts::Texts;
use crate::redaction::marks_secret;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// What one subschema applies, as numbers of other subschemas.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// A JSON pointer.
    pub place: String,
    /// What it costs to apply them, beside what can be told from the rest.
    pub steps: u32,
    /// The types it asks for; none asks for nothing.
    pub(super) types: Vec<String>,
    pub(super) required: Vec<String>,
    /// To the value itself.
    pub here: Vec<usize>,
    /// To the value itself, through a reference.
    pub references: Vec<usize>,
    properties: HashMap<String, usize>,
    /// To the name of every member.
    pub names: Vec<usize>,
    /// To every member.
    pub(super) members: Vec<usize>,
    /// To every member that `properties` does not name.
    other_members: Vec<usize>,
    first_items: HashMap<usize, usize>,
    /// To every item.
    pub(super) items: Vec<usize>,
    /// It asks what the others have looked at, which makes them look a second time.
    pub looks_again: bool,
    /// It compares all that is in the items.
    pub asks_for_unique: bool,
    pub compared: Compared,
    pub texts: Texts,
    /// It marks the value as secret.
    pub is_secret: bool,
    /// It refers to something that cannot be found; the validator has no use for it either.
    pub is_lost: bool,
}

impl Rules {
    pub(super) fn new(place: String, schema: &Map<String, Value>) -> Self {
        let listed = |keyword| schema.get(keyword).map(strings).unwrap_or_default();
        let looks_again = ["unevaluatedProperties", "unevaluatedItems"];
        Rules {
            place,
            types: listed("type"),
            required: listed("required"),
            looks_again: looks_again.iter().any(|name| schema.contains_key(*name)),
            asks_for_unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
            compared: Compared::of(schema),
            is_secret: marks_secret(schema),
            ..Rules::default()
        }
    }

    /// Whether the cheap rules, which are checked first, let the value pass to the others.
    pub(crate) fn may_fit(&self, value: &Value) -> bool {
        let is = |name: &String| match value {
            Value::Null => name == "null",
            Value::Bool(_) => name == "boolean",
            Value::Number(_) => name == "number" || name == "integer",
            Value::String(_) => name == "string",
            Value::Array(_) => name == "array",
            Value::Object(_) => name == "object",
        };
        let has_required = match value {
            Value::Object(members) => self.required.iter().all(|name| members.contains_key(name)),
            _ => true,
        };
        has_required && (self.types.is_empty() || self.types.iter().any(is))
    }

    /// What is applied to a member.
    pub(crate) fn of_member(&self, name: &str) -> impl Iterator<Item = usize> {
        let own = self.properties.get(name);
        let others = self.other_members.iter().filter(move |_| own.is_none());
        own.into_iter().chain(others).chain(&self.members).copied()
    }

    /// What is applied to an item.
    pub(crate) fn of_item(&self, at: usize) -> impl Iterator<Item = usize> {
        let own = self.first_items.get(&at);
        own.into_iter().chain(&self.items).copied()
    }

    pub(super) fn add(&mut self, keyword: &str, part: &str, to: usize) {
        match keyword {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => self.here.push(to),
            "properties" => {
                self.properties.insert(part.to_owned(), to);
            }
            "propertyNames" => self.names.push(to),
            "patternProperties" => self.members.push(to),
            "additionalProperties" | "unevaluatedProperties" => self.other_members.push(to),
            "prefixItems" => {
                self.first_items
                    .extend(part.parse().map(|at: usize| (at, to)));
            }
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => self.items.push(to),
            _ => {}
        }
    }
}

/// The values of `enum` and `const`, where the validator compares them one after the other.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    values: u32,
    /// The values and all that is in them.
    parts: u32,
    /// Whole numbers are looked up, unless the value is written as another kind of number.
    integers: u32,
}

impl Compared {
    fn of(schema: &Map<String, Value>) -> Self {
        let listed = schema.get("enum").and_then(Value::as_array);
        let listed = listed.map(Vec::as_slice).unwrap_or_default();
        let constant = schema.get("const").map_or(0, size);
        let count = u32::try_from(listed.len()).unwrap_or(u32::MAX);
        let is_kind = |kind: fn(&Value) -> bool| listed.iter().all(|v| v.is_null() || kind(v));
        let mut compared = Compared {
            parts: constant,
            ..Compared::default()
        };
        if is_kind(|v| v.as_i64().is_some()) {
            compared.integers = count;
        } else if !is_kind(Value::is_string) {
            compared.values = count;
            let parts = listed.iter().map(size).fold(0, u32::saturating_add);
            compared.parts = compared.parts.saturating_add(parts);
        }
        compared
    }

    /// The steps it takes to compare the value with them.
    pub(crate) fn steps(&self, value: &Value) -> u32 {
        match value {
            Value::Array(_) | Value::Object(_) => self.parts,
            Value::Number(number) if number.as_i64().is_none() => self.values.max(self.integers),
            _ => self.values,
        }
    }

    /// The steps it takes for any value.
    pub(crate) fn steps_max(&self) -> u32 {
        self.parts.max(self.values).max(self.integers)
    }
}

/// The value and all that is in it.
pub(crate) fn size(value: &Value) -> u32 {
    let inside = match value {
        Value::Array(items) => items.iter().map(size).fold(0, u32::saturating_add),
        Value::Object(members) => members.values().map(size).fold(0, u32::saturating_add),
        _ => 0,
    };
    inside.saturating_add(1)
}

fn strings(value: &Value) -> Vec<String> {
    let texts = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts = texts.iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
