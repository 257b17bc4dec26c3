//! What is different between two documents, member by member.

use catalog::json::path_of_key;
use catalog::test_case::is_same;
use serde_json::{Value, json};

/// How much of a value is shown to people.
const SHOWN_CHARS_MAX: usize = 120;

/// One place of a document that is to change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// Such as `config.path` or `tools[2]`.
    pub(super) path: String,
    pub(super) was: Option<Value>,
    pub(super) is: Option<Value>,
}

impl Difference {
    pub(super) fn of(was: &Value, is: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        compare("$", was, is, &mut found);
        found
    }

    pub(super) fn line(&self) -> String {
        let shown = |value: &Option<Value>| match value {
            None => "nothing".to_owned(),
            Some(value) => shortened(&value.to_string()),
        };
        format!("{}: {} → {}", self.path, shown(&self.was), shown(&self.is))
    }

    pub(super) fn json(&self) -> Value {
        let mut value = json!({"path": self.path});
        for (key, side) in [("was", &self.was), ("is", &self.is)] {
            if let Some(side) = side {
                value[key] = side.clone();
            }
        }
        value
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn compare(path: &str, was: &Value, is: &Value, found: &mut Vec<Difference>) {
    if is_same(was, is) {
        return;
    }
    match (was, is) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, was) in before {
                let path = path_of_key(path, key);
                match after.get(key) {
                    Some(is) => compare(&path, was, is, found),
                    None => found.push(difference(&path, Some(was), None)),
                }
            }
            let new = after.iter().filter(|(key, _)| !before.contains_key(*key));
            found.extend(new.map(|(key, is)| difference(&path_of_key(path, key), None, Some(is))));
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (number, (was, is)) in before.iter().zip(after).enumerate() {
                compare(&format!("{path}[{number}]"), was, is, found);
            }
        }
        _ => found.push(difference(path, Some(was), Some(is))),
    }
}

fn difference(path: &str, was: Option<&Value>, is: Option<&Value>) -> Difference {
    let path = path.strip_prefix("$.").unwrap_or(path);
    Difference {
        path: path.to_owned(),
        was: was.cloned(),
        is: is.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_named_once() {
        let was = json!({"a": 1, "b": {"c": [1, 2], "d": "x"}, "e": 4.0, "gone": null});
        let is = json!({"a": 1, "b": {"c": [1, 3], "d": "y"}, "e": 4, "new": [1]});
        let lines: Vec<String> = Difference::of(&was, &is)
            .iter()
            .map(Difference::line)
            .collect();
        let expected = [
            "b.c[1]: 2 → 3",
            r#"b.d: "x" → "y""#,
            "gone: null → nothing",
            "new: nothing → [1]",
        ];
        assert_eq!(lines, expected);
        let long = Difference::of(&json!({"a": "x".repeat(500)}), &json!({"a": [1, 2]}));
        assert!(long[0].line().ends_with("x… → [1,2]"), "{long:?}");
    }
}
