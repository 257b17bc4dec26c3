//! What a parameter of a tool wants, as its schema says it.

use super::units::{Unit, unit, unit_of};
use selection::Parameter;
use selection::speech::{Want, is_hangul, spoken, want};
use serde_json::{Map, Value};

/// References are followed so far.
const REFERENCES_MAX: usize = 8;

/// Words of a name that say nothing about which number or text is meant.
const GENERIC: [&str; 17] = [
    "num", "number", "value", "val", "input", "arg", "param", "the", "of", "in", "is", "has",
    "text", "string", "data", "id", "name",
];

/// One parameter.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
    pub(crate) end: Option<End>,
    /// The unit in which a number is wanted.
    pub(crate) unit: Option<Unit>,
    /// Words that a request may name it by, in small letters.
    pub(crate) aliases: Vec<String>,
    /// The words of its name.
    pub(crate) spoken: String,
}

/// What kind of value it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    Number,
    Boolean,
    /// One of some values, each with the words for it.
    Choice(Vec<Choice>),
    Day,
    Hour,
    Mail,
    Web,
    File,
    /// Something to calculate.
    Formula,
    Sql,
    Code,
    /// What to look for.
    Query,
    /// Words of somebody's own.
    Text,
    /// Somebody, or something that has a name.
    Name,
    Place,
    /// The number or key of one thing.
    Key,
    Numbers,
    Texts,
    Mails,
    Choices(Vec<Choice>),
    /// Only what is given by name is taken.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: Value,
    /// In small letters.
    pub(crate) words: Vec<String>,
}

/// Of two parameters of a kind, the one that something begins with, or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    From,
    To,
}

impl Wanted<'_> {
    /// The words for all that may be chosen.
    pub(crate) fn choices(&self) -> impl Iterator<Item = &str> {
        let list: &[Choice] = match &self.shape {
            Shape::Choice(list) | Shape::Choices(list) => list,
            _ => &[],
        };
        list.iter().flat_map(|it| &it.words).map(String::as_str)
    }

    /// Whether it says how many of what is found are wanted. A size may be of anything, but for that of a page.
    pub(crate) fn counts_results(&self) -> bool {
        let counts = |it: &str| matches!(it, "count" | "limit" | "top" | "k" | "results");
        let is_size = matches!(self.spoken.as_str(), "size" | "page size" | "result size");
        is_size || self.spoken.split(' ').any(counts)
    }
}

impl Shape {
    /// Whether any words at all could be meant for it.
    pub(crate) fn is_free(&self) -> bool {
        matches!(
            self,
            Shape::Query | Shape::Text | Shape::Name | Shape::Place | Shape::Texts | Shape::Code
        )
    }
}

/// The parameters that a schema has.
pub(crate) fn wanted(root: &Value) -> Vec<Wanted<'_>> {
    let known = Parameter::of_schema(root);
    let properties = root["properties"].as_object().into_iter().flatten();
    let both = properties.zip(known);
    both.map(|((name, schema), known)| one(name, resolved(root, schema), &known))
        .collect()
}

fn one<'a>(name: &'a str, schema: &'a Value, known: &Parameter) -> Wanted<'a> {
    let spoken = spoken(name);
    let about = schema["description"].as_str().unwrap_or_default();
    let has = |words: &[&str]| spoken.split(' ').any(|own| words.contains(&own));
    let end = match () {
        () if spoken.contains("check in") => Some(End::From),
        () if spoken.contains("check out") => Some(End::To),
        () if has(&[
            "from",
            "sender",
            "origin",
            "source",
            "departure",
            "start",
            "begin",
            "checkin",
            "min",
        ]) =>
        {
            Some(End::From)
        }
        () if has(&[
            "to",
            "destination",
            "arrival",
            "end",
            "until",
            "target",
            "checkout",
            "max",
        ]) =>
        {
            Some(End::To)
        }
        () => None,
    };
    let shape = shape(name, schema, &spoken, known);
    Wanted {
        name,
        schema,
        required: known.required,
        end,
        unit: unit_of(&spoken, about),
        aliases: aliases(&spoken, schema),
        shape,
        spoken,
    }
}

/// The schema that a reference within the same document leads to.
fn resolved<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..REFERENCES_MAX {
        let target = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
        match target.and_then(|it| root.pointer(it)) {
            Some(found) => schema = found,
            None => break,
        }
    }
    schema
}

pub(crate) fn kind(schema: &Value) -> &str {
    let kind = match &schema["type"] {
        Value::Array(all) => {
            let mut kinds = all.iter().filter_map(Value::as_str);
            kinds.find(|it| *it != "null")
        }
        one => one.as_str(),
    };
    kind.unwrap_or_default()
}

fn shape(name: &str, schema: &Value, spoken: &str, known: &Parameter) -> Shape {
    if let Some(choices) = choices(schema) {
        return Shape::Choice(choices);
    }
    match kind(schema) {
        "number" | "integer" => return Shape::Number,
        "boolean" => return Shape::Boolean,
        "array" => return list(name, &schema["items"]),
        "string" => {}
        _ => return Shape::Other,
    }
    let about = known.description.to_lowercase();
    let says = |all: &[&str]| all.iter().any(|it| about.contains(it));
    let is = |all: &[&str]| spoken.split(' ').any(|own| all.contains(&own));
    if says(&["base64"]) || is(&["base64", "token", "password", "secret"]) {
        return Shape::Other;
    }
    if is(&["sql"]) || (is(&["query", "statement"]) && says(&["sql"])) {
        return Shape::Sql;
    }
    if is(&["expression", "formula", "calculation", "equation"]) {
        let is_other = says(&["cron", "regex", "regular expression", "정규"]);
        return if is_other {
            Shape::Other
        } else {
            Shape::Formula
        };
    }
    let is_code = is(&["code", "script", "snippet", "source"])
        && says(&[
            "program",
            "source code",
            "script",
            "snippet",
            "프로그램",
            "코드",
        ]);
    if is_code {
        return Shape::Code;
    }
    match want(known, spoken, &about) {
        Want::Day => Shape::Day,
        Want::Hour => Shape::Hour,
        Want::Mail => Shape::Mail,
        Want::Web => Shape::Web,
        Want::Picture | Want::File => Shape::File,
        Want::Query => Shape::Query,
        Want::Text => Shape::Text,
        Want::Name => Shape::Name,
        Want::Place => Shape::Place,
        Want::Key if is(&["name"]) => Shape::Name,
        Want::Key => Shape::Key,
        // A point in time has a zone that nobody says, and a number in a text may be written in many ways.
        Want::Moment | Want::Number | Want::Language | Want::Currency | Want::Choice => {
            Shape::Other
        }
        Want::Any if is(&["data", "input", "sentence", "paragraph"]) => Shape::Text,
        Want::Any => Shape::Other,
    }
}

fn list(name: &str, items: &Value) -> Shape {
    if let Some(choices) = choices(items) {
        return Shape::Choices(choices);
    }
    let spoken = spoken(name);
    let is_mail = items["format"] == "email"
        || spoken
            .split(' ')
            .any(|it| matches!(it, "email" | "emails" | "mail" | "mails"));
    match kind(items) {
        "number" | "integer" => Shape::Numbers,
        "string" if is_mail => Shape::Mails,
        "string" => Shape::Texts,
        _ => Shape::Other,
    }
}

/// All that it may be, where that is a list.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let choice = |value: &Value, title: Option<&str>| {
        let own = match value {
            Value::String(text) => spoken(text),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let title = title.map(str::to_lowercase);
        let words = std::iter::once(own).chain(title);
        Choice {
            value: value.clone(),
            words: words.filter(|it| !it.is_empty()).collect(),
        }
    };
    if let Some(values) = schema["enum"].as_array() {
        let named = values.iter().filter(|it| !it.is_null());
        return Some(named.map(|it| choice(it, None)).collect());
    }
    if let Some(value) = schema.get("const") {
        return Some(vec![choice(value, None)]);
    }
    let some = schema["oneOf"].as_array().or(schema["anyOf"].as_array())?;
    let some = some.iter().map(|it| {
        let title = it["title"].as_str().or(it["description"].as_str());
        Some(choice(it.get("const")?, title))
    });
    some.collect()
}

/// `party_size` is called so by `party size` and `size`, and by what a Korean description begins with.
fn aliases(spoken: &str, schema: &Value) -> Vec<String> {
    let mut aliases = vec![spoken.to_owned()];
    let words = spoken.split(' ').filter(|it| it.chars().count() > 1);
    let telling =
        words.filter(|it| !GENERIC.contains(it) && !it.ends_with(|c: char| c.is_ascii_digit()));
    // `page 3` is no `page_size`; `duration_minutes` is called by both.
    let telling: Vec<&str> = telling.collect();
    let is_unit = telling.last().is_some_and(|it| unit(it).is_some());
    let last = telling.into_iter().rev();
    aliases.extend(last.take(if is_unit { 2 } else { 1 }).map(str::to_owned));
    for key in ["title", "description"] {
        let text = schema[key].as_str().unwrap_or_default();
        let first = text
            .split(|c: char| !is_hangul(c))
            .find(|it| !it.is_empty());
        let is_first = first.is_some_and(|it| text.starts_with(it));
        aliases.extend(
            first
                .filter(|it| is_first && it.chars().count() > 1)
                .map(str::to_owned),
        );
    }
    aliases.sort_unstable();
    aliases.dedup();
    aliases
}

/// A schema that checks one parameter at a time: without what it says about all of them together.
pub(crate) fn loosened(root: &Value) -> Value {
    let together = [
        "required",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "minProperties",
        "maxProperties",
    ];
    let own = root.as_object().into_iter().flatten();
    let kept = own.filter(|(key, _)| !together.contains(&key.as_str()));
    let kept: Map<String, Value> = kept
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    Value::Object(kept)
}
