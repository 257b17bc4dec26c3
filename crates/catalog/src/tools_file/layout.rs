//! How a file is laid out (indentation, line ends, spaces) and JSON written in that manner.

use crate::json::Node;
use serde_json::{Map, Value};

/// An array of plain values is kept on one line up to this many characters.
const LINE_CHARS_MAX: usize = 80;

/// The manner a file is written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    newline: &'static str,
    /// One step of indentation.
    step: String,
    /// After `:` and `,`.
    space: &'static str,
}

impl Layout {
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let first = root.as_object().and_then(<[_]>::first);
        let step = first.and_then(|m| line_indent(text, m.key_span.start));
        let tight = first.is_some_and(|m| text[m.key_span.end..m.value.span.start].ends_with(':'));
        Self {
            newline,
            step: step.filter(|s| !s.is_empty()).unwrap_or("  ").to_owned(),
            space: if tight { "" } else { " " },
        }
    }

    /// `"key": value` as a member of an object whose members are indented by `indent`; `None` = on one line.
    pub(super) fn member(&self, key: &str, value: &Value, indent: Option<&str>) -> String {
        let key = Value::from(key);
        format!("{key}:{}{}", self.space, self.value(value, indent))
    }

    /// The value, its inner lines indented below `indent`; `None` = on one line.
    pub(super) fn value(&self, value: &Value, indent: Option<&str>) -> String {
        match (value, indent) {
            (Value::Object(map), _) if map.is_empty() => "{}".to_owned(),
            (Value::Array(items), _) if items.is_empty() => "[]".to_owned(),
            (Value::Object(map), Some(indent)) => self.tall_object(map, indent),
            (Value::Object(map), None) => {
                let members = map.iter().map(|(k, v)| self.member(k, v, None));
                format!("{{{}}}", self.joined(members))
            }
            (Value::Array(items), None) => {
                let items = items.iter().map(|v| self.value(v, None));
                format!("[{}]", self.joined(items))
            }
            (Value::Array(items), Some(indent)) => {
                let line = self.value(value, None);
                let plain = !items.iter().any(|v| v.is_object() || v.is_array());
                if plain && line.chars().count() <= LINE_CHARS_MAX {
                    return line;
                }
                let inner = format!("{indent}{}", self.step);
                let items = items.iter().map(|v| self.value(v, Some(&inner)));
                self.tall('[', items, ']', indent)
            }
            (scalar, _) => scalar.to_string(),
        }
    }

    fn tall_object(&self, map: &Map<String, Value>, indent: &str) -> String {
        let inner = format!("{indent}{}", self.step);
        let members = map.iter().map(|(k, v)| self.member(k, v, Some(&inner)));
        self.tall('{', members, '}', indent)
    }

    /// Entries on lines of their own between two brackets.
    pub(super) fn tall(
        &self,
        open: char,
        entries: impl Iterator<Item = String>,
        close: char,
        indent: &str,
    ) -> String {
        let newline = self.newline;
        let between = format!(",{newline}{indent}{}", self.step);
        let entries: Vec<String> = entries.collect();
        let entries = entries.join(&between);
        format!(
            "{open}{newline}{indent}{}{entries}{newline}{indent}{close}",
            self.step
        )
    }

    fn joined(&self, entries: impl Iterator<Item = String>) -> String {
        let entries: Vec<String> = entries.collect();
        entries.join(&format!(",{}", self.space))
    }

    /// What goes before an entry that is put after others.
    pub(super) fn separator(&self, indent: Option<&str>) -> String {
        match indent {
            Some(indent) => format!(",{}{indent}", self.newline),
            None => format!(",{}", self.space),
        }
    }

    pub(super) fn step(&self) -> &str {
        &self.step
    }
}

/// The indentation of the line, if nothing but that stands before `offset` and the line is not the first.
pub(super) fn line_indent(text: &str, offset: usize) -> Option<&str> {
    let start = text[..offset].rfind('\n')? + 1;
    let indent = &text[start..offset];
    indent
        .bytes()
        .all(|b| b == b' ' || b == b'\t')
        .then_some(indent)
}

/// The indentation of the line that holds `offset`, whatever stands before it there.
pub(super) fn indent_at(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
