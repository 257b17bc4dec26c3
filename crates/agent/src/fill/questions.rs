//! How somebody is asked for what a request does not give, in the language of the request, and the form to answer with.

use super::Missing;
use super::values::shown;
use super::wanted::{Shape, Wanted};
use selection::speech::is_hangul;
use serde_json::{Map, Value, json};

/// More choices are left to the form.
const CHOICES_SHOWN: usize = 8;

/// What one parameter is asked with.
pub(super) fn question(wanted: &Wanted<'_>, is_korean: bool) -> String {
    let name = wanted.name;
    let about = about(wanted, is_korean);
    if let Shape::Choice(list) | Shape::Choices(list) = &wanted.shape {
        let mut all: Vec<String> = list
            .iter()
            .take(CHOICES_SHOWN)
            .map(|it| shown(&it.value))
            .collect();
        if list.len() > CHOICES_SHOWN {
            all.push("…".to_owned());
        }
        let all = all.join(", ");
        return match is_korean {
            true => format!("`{name}`은(는) 어느 것으로 할까요? {all}{about}"),
            false => format!("Which `{name}`: {all}?{about}"),
        };
    }
    let kind = match (&wanted.shape, is_korean) {
        (Shape::Number, true) => " (숫자)",
        (Shape::Number, false) => " (a number)",
        (Shape::Boolean, true) => " (예/아니오)",
        (Shape::Boolean, false) => " (yes or no)",
        (Shape::Day, true) => " (예: 2026-11-18)",
        (Shape::Day, false) => " (a day such as 2026-11-18)",
        (Shape::Hour, true) => " (예: 09:30)",
        (Shape::Hour, false) => " (an hour such as 09:30)",
        _ => "",
    };
    match is_korean {
        true => format!("`{name}` 값을 알려 주세요{kind}.{about}"),
        false => format!("What should `{name}` be{kind}?{about}"),
    }
}

/// What is said of it. A description in another language is quoted, so that the Korean around it stays whole.
fn about(wanted: &Wanted<'_>, is_korean: bool) -> String {
    let text = wanted.schema["description"].as_str().map(str::trim);
    let Some(text) = text.filter(|it| !it.is_empty()) else {
        return String::new();
    };
    match is_foreign(text, is_korean) {
        true => format!(" (도구의 설명: “{}”)", text.trim_end_matches('.')),
        false => format!(" {text}"),
    }
}

/// Whether a text stands out in a question that is asked in Korean.
pub(crate) fn is_foreign(text: &str, is_korean: bool) -> bool {
    is_korean && !text.chars().any(is_hangul)
}

/// One question for all that is missing.
#[must_use]
pub fn questions(missing: &[Missing]) -> String {
    let all: Vec<&str> = missing.iter().map(|it| it.question.as_str()).collect();
    all.join("\n")
}

/// The schema of an answer to all of it.
#[must_use]
pub fn form(missing: &[Missing]) -> Value {
    let properties: Map<String, Value> = missing
        .iter()
        .map(|it| (it.name.clone(), it.schema.clone()))
        .collect();
    let names: Vec<&str> = missing.iter().map(|it| it.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}
