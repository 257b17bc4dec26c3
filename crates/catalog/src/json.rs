//! A strict JSON reader that keeps document order, duplicate keys and the place of every value,
//! so that a fault can be named by line and a file can be edited without reformatting it.

mod document;
mod parse;
mod reader;
mod syntax;

pub use document::{Document, LineIndex, object_problems};
pub use parse::{MAX_DEPTH, parse};
pub use reader::did_you_mean;
pub use syntax::SyntaxError;

pub(crate) use reader::{Reader, member, present, quoted_list, read_body, unknown_key};

use serde_json::{Map, Number, Value};
use std::ops::Range;

/// One value of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Byte offsets in the text.
    pub span: Range<usize>,
    pub kind: NodeKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Node>),
    /// In document order; a key that is written twice is here twice.
    Object(Vec<Member>),
}

/// One `"key": value` of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub key: String,
    /// Where the key is, its quotes included.
    pub key_span: Range<usize>,
    pub value: Node,
}

impl Member {
    /// From the key's opening quote to the end of the value.
    pub fn span(&self) -> Range<usize> {
        self.key_span.start..self.value.span.end
    }
}

impl Node {
    /// The plain value; of a duplicate key the last one counts, as everywhere in JSON land.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(b) => Value::Bool(*b),
            NodeKind::Number(n) => Value::Number(n.clone()),
            NodeKind::String(s) => Value::String(s.clone()),
            NodeKind::Array(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            NodeKind::Object(members) => Value::Object(to_map(members)),
        }
    }

    pub fn as_object(&self) -> Option<&[Member]> {
        match &self.kind {
            NodeKind::Object(members) => Some(members),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::String(s) => Some(s),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        self.kind == NodeKind::Null
    }

    /// A few words for an error message; long strings are cut.
    pub fn describe(&self) -> String {
        match &self.kind {
            NodeKind::Null => "null".to_owned(),
            NodeKind::Bool(b) => b.to_string(),
            NodeKind::Number(n) => format!("the number {n}"),
            NodeKind::String(s) if s.is_empty() => "an empty string".to_owned(),
            NodeKind::String(s) => format!("the string {}", quote_short(s)),
            NodeKind::Array(items) if items.is_empty() => "an empty array".to_owned(),
            NodeKind::Array(_) => "an array".to_owned(),
            NodeKind::Object(_) => "an object".to_owned(),
        }
    }
}

/// The members as a map, in document order.
pub fn to_map(members: &[Member]) -> Map<String, Value> {
    members
        .iter()
        .map(|m| (m.key.clone(), m.value.to_value()))
        .collect()
}

/// The text in quotes, cut to a length that fits a message.
pub(crate) fn quote_short(text: &str) -> String {
    const SHOWN_CHARS: usize = 40;
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((cut, _)) => format!("\"{}…\"", text[..cut].escape_debug()),
        None => format!("\"{}\"", text.escape_debug()),
    }
}

/// Appends one key to a JSON path; a long key is cut.
pub fn path_of_key(path: &str, key: &str) -> String {
    const PLAIN_KEY_MAX: usize = 64;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    if (1..=PLAIN_KEY_MAX).contains(&key.len()) && key.chars().all(plain) {
        format!("{path}.{key}")
    } else {
        format!("{path}[{}]", quote_short(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keeps_order_duplicates_and_spans() {
        let text = r#"{"b": [1, -2.5e3], "a": "\u00e9\ud83d\ude00", "b": null}"#;
        let node = parse(text).unwrap();
        let members = node.as_object().unwrap();
        let keys: Vec<_> = members.iter().map(|m| m.key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "b"]);
        assert_eq!(&text[members[0].span()], r#""b": [1, -2.5e3]"#);
        assert_eq!(members[1].value.as_str(), Some("é😀"));
        assert_eq!(node.to_value(), json!({"b": null, "a": "é😀"}));
        assert_eq!(node.span, 0..text.len());
    }

    #[test]
    fn a_byte_order_mark_is_tolerated_and_not_counted() {
        let doc = Document::new("x.json", "\u{feff}{\"é\": tru}");
        let problem = doc.parse().unwrap_err().remove(0);
        assert_eq!((problem.line, problem.column), (1, 7));
        assert!(parse("\u{feff}[]").is_ok());
    }

    #[test]
    fn columns_count_characters_on_the_right_line() {
        let index = LineIndex::new("ab\r\néé x\n");
        assert_eq!(index.place("ab\r\néé x\n", 0), (1, 1));
        assert_eq!(index.place("ab\r\néé x\n", 9), (2, 4));
        assert_eq!(index.place("ab\r\néé x\n", 11), (3, 1));
        assert_eq!(index.place("ab\r\néé x\n", 999), (3, 1));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        let error = parse(&nested(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.offset, MAX_DEPTH);
        assert!(parse(&"[".repeat(1_000_000)).is_err());
        assert!(parse(&"{\"a\":".repeat(1_000_000)).is_err());
    }
}
