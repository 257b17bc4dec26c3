//! What one subschema asks of texts, and what it costs to read them for it.

use super::pattern::{PARTS_IN_ALL_MAX, Pattern};
use crate::pointer;
use crate::schema::Unusable;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Bytes that are read in one step where a keyword only counts or compares them.
const BYTES_COMPARED: usize = 1_000;
/// Bytes that are read in one step where a keyword parses them.
const BYTES_PARSED: usize = 4;
/// `format: regex` compares each name in the text with all before it; so many bytes, squared, take one step.
const NAMES_COMPARED: usize = 2_500;

const COMPARING: [&str; 4] = ["minLength", "maxLength", "const", "enum"];
const PARSING: [&str; 3] = ["format", "contentMediaType", "contentEncoding"];

/// The patterns of a document, each once.
#[derive(Default)]
pub(super) struct Patterns<'r> {
    known: HashMap<&'r str, Pattern>,
    parts: u32,
}

impl<'r> Patterns<'r> {
    /// Refuses a pattern that is too large, or one too many.
    fn pattern(&mut self, text: &'r str) -> Result<Pattern, &'static str> {
        if let Some(pattern) = self.known.get(text) {
            return Ok(*pattern);
        }
        let pattern = Pattern::new(text).ok_or(
            "the pattern is too large: with its repetitions written out it has too many parts; repeat less often, or \
             limit the length with maxLength",
        )?;
        self.parts = self.parts.saturating_add(pattern.parts);
        if self.parts > PARTS_IN_ALL_MAX {
            return Err(
                "the patterns up to here are too large to be compiled together; repeat less often in them",
            );
        }
        self.known.insert(text, pattern);
        Ok(pattern)
    }
}

/// The rules for texts of one subschema.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    patterns: Vec<Pattern>,
    /// For the names of members.
    names: Vec<Pattern>,
    comparing: usize,
    parsing: usize,
    parses_regex: bool,
}

impl Texts {
    pub(super) fn of<'r>(
        place: &str,
        schema: &'r Map<String, Value>,
        known: &mut Patterns<'r>,
    ) -> Result<Self, Unusable> {
        let mut pattern = |keyword: &str, name: &str, text: &'r str| {
            known.pattern(text).map_err(|reason| {
                let mut pointer = place.to_owned();
                pointer::push(&mut pointer, keyword);
                if !name.is_empty() {
                    pointer::push(&mut pointer, name);
                }
                let reason = reason.to_owned();
                Unusable { pointer, reason }
            })
        };
        let own = schema.get("pattern").and_then(Value::as_str);
        let own = own.map(|text| pattern("pattern", "", text)).transpose()?;
        let names = schema.get("patternProperties").and_then(Value::as_object);
        let names = names.into_iter().flat_map(Map::keys);
        let names = names.map(|text| pattern("patternProperties", text, text));
        let names = names.collect::<Result<_, _>>()?;
        let count = |keywords: &[&str]| {
            let used = keywords.iter().filter(|name| schema.contains_key(**name));
            used.count()
        };
        Ok(Texts {
            patterns: own.into_iter().collect(),
            names,
            comparing: count(&COMPARING),
            parsing: count(&PARSING),
            parses_regex: schema.get("format").is_some_and(|format| format == "regex"),
        })
    }

    /// What the schemas of the dialects ask for.
    pub(super) fn of_dialects() -> Self {
        Texts {
            parsing: 1,
            parses_regex: true,
            ..Texts::default()
        }
    }

    /// Whether they cost more than reading the text.
    pub(crate) fn are_plain(&self) -> bool {
        self.patterns.is_empty() && self.names.is_empty() && self.parsing == 0
    }

    /// The steps it takes to apply them to the value, without those for names.
    pub(crate) fn steps(&self, value: &Value) -> u32 {
        let Value::String(text) = value else {
            return 0;
        };
        let bytes = text.len();
        let patterns = sum(&self.patterns, bytes);
        let compared = (bytes / BYTES_COMPARED).saturating_mul(self.comparing);
        let parsed = (bytes / BYTES_PARSED).saturating_mul(self.parsing);
        let names = match self.parses_regex {
            true => bytes.saturating_mul(bytes) / NAMES_COMPARED,
            false => 0,
        };
        let read = compared.saturating_add(parsed).saturating_add(names);
        patterns.saturating_add(u32::try_from(read).unwrap_or(u32::MAX))
    }

    /// The steps it takes to match the names of the value's members.
    pub(crate) fn steps_of_names(&self, value: &Value) -> u32 {
        match value {
            Value::Object(members) if !self.names.is_empty() => {
                let steps = members.keys().map(|name| sum(&self.names, name.len()));
                steps.fold(0, u32::saturating_add)
            }
            _ => 0,
        }
    }
}

fn sum(patterns: &[Pattern], bytes: usize) -> u32 {
    let steps = patterns.iter().map(|pattern| pattern.steps(bytes));
    steps.fold(0, u32::saturating_add)
}
