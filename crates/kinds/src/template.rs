//! Where a tool's config says `{{name}}` (or `{name}`) and the input schema knows that name, the argument goes. What it
//! is for decides how it is written; it is never read again as a template, and never pasted into a shell line.

use executor::{Code, Failure};
use serde_json::{Map, Value};

/// A text of a config, taken apart: once for each version of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Argument(String),
}

impl Template {
    /// `knows` says which names are arguments; everything else stays as it is written.
    pub(crate) fn new(text: &str, knows: &impl Fn(&str) -> bool) -> Self {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            match argument(rest).filter(|(name, _)| knows(name)) {
                Some((name, length)) => {
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(Part::Argument(name.to_owned()));
                    rest = &rest[length..];
                }
                None => {
                    plain.push('{');
                    rest = &rest[1..];
                }
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Template(parts)
    }

    /// The argument's name where the text is nothing but one.
    pub(crate) fn whole(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// The text with every argument written by `write`; one that was not given is nothing.
    pub(crate) fn fill(
        &self,
        arguments: &Map<String, Value>,
        write: impl Fn(&str) -> String,
    ) -> String {
        let mut out = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Argument(name) => {
                    if let Some(value) = given(arguments, name) {
                        out.push_str(&write(&plain(value)));
                    }
                }
            }
        }
        out
    }

    /// The text with every argument as it is.
    pub(crate) fn text(&self, arguments: &Map<String, Value>) -> String {
        self.fill(arguments, str::to_owned)
    }
}

/// An argument that is there and not null.
pub(crate) fn given<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    arguments.get(name).filter(|value| !value.is_null())
}

/// A value as text: strings bare, everything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The name at the beginning of `{{name}}…` or `{name}…`, and how long that is.
fn argument(text: &str) -> Option<(&str, usize)> {
    for (open, close) in [("{{", "}}"), ("{", "}")] {
        if let Some(inside) = text.strip_prefix(open)
            && let Some(end) = inside.find(close)
        {
            let name = inside[..end].trim();
            if !name.is_empty() && !name.contains(['{', '}']) {
                return Some((name, open.len() + end + close.len()));
            }
        }
    }
    None
}

/// A JSON value with templates in its strings, filled: a string that is one argument becomes its value, whatever its
/// type; a member whose argument was not given is left out.
pub(crate) fn fill_value(
    value: &Value,
    arguments: &Map<String, Value>,
    knows: &impl Fn(&str) -> bool,
) -> Option<Value> {
    Some(match value {
        Value::String(text) => {
            let template = Template::new(text, knows);
            match template.whole() {
                Some(name) => given(arguments, name)?.clone(),
                None => Value::String(template.text(arguments)),
            }
        }
        Value::Array(items) => {
            let filled = items
                .iter()
                .filter_map(|item| fill_value(item, arguments, knows));
            Value::Array(filled.collect())
        }
        Value::Object(members) => {
            let filled = members.iter().filter_map(|(name, item)| {
                Some((name.clone(), fill_value(item, arguments, knows)?))
            });
            Value::Object(filled.collect())
        }
        other => other.clone(),
    })
}

/// The first `{{name}}` in a config that no argument of the schema has, with where it stands: a slip of the pen, which
/// would be sent as it is written. Single braces count in an address, where they can stand for nothing else; elsewhere
/// they may mean anything.
pub(crate) fn check_names(config: &Map<String, Value>, schema: &Value) -> Result<(), Failure> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    for (key, value) in config {
        let is_address = matches!(key.as_str(), "base_url" | "path");
        let single = value.as_str().filter(|_| is_address);
        let single = single.and_then(|text| unknown_in(text, ("{", "}"), &names));
        if let Some(name) = unknown(value, &names).or(single) {
            let known = if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            };
            return Err(Failure::new(
                Code::InvalidInput,
                format!(
                    "config.{key}: '{{{{{name}}}}}' names no argument; the input schema has {known}"
                ),
            ));
        }
    }
    Ok(())
}

fn unknown<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    match value {
        Value::String(text) => unknown_in(text, ("{{", "}}"), names),
        Value::Array(items) => items.iter().find_map(|item| unknown(item, names)),
        Value::Object(members) => members.values().find_map(|item| unknown(item, names)),
        _ => None,
    }
}

fn unknown_in<'a>(text: &'a str, (open, close): (&str, &str), names: &[&str]) -> Option<&'a str> {
    text.split(open).skip(1).find_map(|rest| {
        let name = rest.split_once(close)?.0.trim();
        let is_name = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-".contains(c));
        (is_name && !names.contains(&name)).then_some(name)
    })
}

/// Whether a name is one of the arguments that a schema describes.
pub(crate) fn knows(schema: &Value) -> impl Fn(&str) -> bool + '_ {
    let properties = schema.get("properties").and_then(Value::as_object);
    move |name| properties.is_some_and(|properties| properties.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn only_known_names_are_replaced_and_only_once() {
        let knows = |name: &str| matches!(name, "a" | "b");
        let fill = |text: &str, given: Value| Template::new(text, &knows).text(&arguments(given));
        assert_eq!(fill("{{a}}-{b}-{c}", json!({"a": 1, "b": "x"})), "1-x-{c}");
        assert_eq!(
            fill("{ a }{{ b }}", json!({"a": "{{b}}", "b": "y"})),
            "{{b}}y"
        );
        assert_eq!(fill("{print $1} {", json!({})), "{print $1} {");
        assert_eq!(fill("{{{a}}}", json!({"a": 1})), "{1}");
        assert_eq!(fill("[{a}]", json!({"a": null})), "[]");
        assert_eq!(
            fill("[{a}]", json!({"a": [1, {"b": 2}]})),
            "[[1,{\"b\":2}]]"
        );
        assert_eq!(Template::new("{a}", &knows).whole(), Some("a"));
        assert_eq!(Template::new("{a} ", &knows).whole(), None);
    }

    #[test]
    fn values_keep_their_types() {
        let knows = |name: &str| matches!(name, "a" | "b");
        let body = json!({"n": "{{a}}", "s": "is {{a}}", "l": ["{{b}}", 1], "gone": "{{b}}", "x": "{{c}}"});
        let filled = fill_value(&body, &arguments(json!({"a": 5})), &knows);
        let expected = json!({"n": 5, "s": "is 5", "l": [1], "x": "{{c}}"});
        assert_eq!(filled, Some(expected));
    }

    #[test]
    fn a_slip_in_a_name_is_found() {
        let schema = json!({"properties": {"text": {}, "n": {}}});
        let check = |config: Value| check_names(&arguments(config), &schema);
        assert!(
            check(json!({"stdin": "{{text}} {other} {{ n }}", "command": ["awk", "{print $1}"]}))
                .is_ok()
        );
        assert!(check(json!({"body": {"template": "{{#if x}}{{}}"}})).is_ok());
        let message = check(json!({"body": {"a": ["x {{txt}}"]}}))
            .unwrap_err()
            .message;
        assert_eq!(
            message,
            "config.body: '{{txt}}' names no argument; the input schema has text, n"
        );
        assert!(check(json!({"path": "/a/{text}/{{n}}", "query": {"fields": "{id}"}})).is_ok());
        let message = check(json!({"path": "/a/{txt}"})).unwrap_err().message;
        assert!(
            message.starts_with("config.path: '{{txt}}' names no argument"),
            "{message}"
        );
    }
}
