//! Single values: how a text is read as what a schema wants, and what is known by the way it is written.

use super::days::{Times, written};
use super::numbers::digits;
use super::said::{Said, unparticled};
use super::wanted::{Shape, Wanted, kind, wanted};
use super::{choices, numbers};
use crate::words::yes_or_no;
use jiff::civil::Date;
use selection::speech::FILES;
use serde_json::{Map, Value, json};

/// An object of JSON somewhere in a text.
pub(super) fn literal(text: &str) -> Option<Map<String, Value>> {
    let start = text.find('{')?;
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    match values.next()? {
        Ok(Value::Object(object)) if !object.is_empty() => Some(object),
        _ => None,
    }
}

/// What follows `name=`; with `by_colon` also what follows `name:`.
///
/// A list goes on behind its commas, and is nothing certain where other words follow it.
pub(super) fn pair<'a>(
    said: &Said<'a>,
    name: &str,
    by_colon: bool,
    is_list: bool,
) -> Option<&'a str> {
    let request = said.request;
    for (at, _) in request.match_indices(name) {
        let is_word = !request[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = request[at + name.len()..]
            .trim_start_matches(['"', '`'])
            .trim_start_matches(' ');
        let value = match (after.strip_prefix('='), after.strip_prefix(':')) {
            (Some(value), _) => value,
            (None, Some(value)) if by_colon => value,
            _ => continue,
        };
        let value = value.trim_start_matches(' ');
        let start = request.len() - value.len();
        if let Some(quote) = said.quotes.iter().find(|it| it.place.start == start) {
            return is_word.then_some(quote.text);
        }
        let ends: &[char] = match is_list {
            true => &[';', '\n'],
            false => &[' ', ',', ';', '\n'],
        };
        let end = value.find(ends).unwrap_or(value.len());
        let has_gap = |part: &str| part.trim().contains(' ');
        if is_list && !value.starts_with('[') && value[..end].split(',').any(has_gap) {
            continue;
        }
        let value = value[..end].trim_end_matches(['.', '?', '!', ')']);
        if is_word && !value.is_empty() && !value.starts_with('=') {
            return Some(value);
        }
    }
    None
}

pub(super) fn is_mail(bare: &str) -> Option<&str> {
    let end = bare.find(|c: char| !c.is_ascii()).unwrap_or(bare.len());
    let bare = &bare[..end];
    let bare = bare.strip_suffix("'s").unwrap_or(bare);
    let (name, host) = bare.split_once('@')?;
    let is_host =
        host.contains('.') && !host.starts_with('.') && !host.ends_with('.') && !host.contains('@');
    (!name.is_empty() && is_host).then_some(bare)
}

/// Korean endings are no part of an address.
pub(super) fn is_web(bare: &str) -> Option<&str> {
    let is_web = ["http://", "https://"]
        .iter()
        .any(|it| bare.starts_with(it));
    let (body, _) = unparticled(bare);
    (is_web && bare.len() > 10).then_some(body)
}

/// `report.pdf`, `contracts/lease_2026.pdf를`.
pub(super) fn is_file(text: &str) -> Option<&str> {
    if is_web(text).is_some() || text.contains('\n') {
        return None;
    }
    let dot = text.rfind('.')?;
    let ending = &text[dot + 1..];
    let end = ending
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(ending.len());
    let known = FILES.contains(&ending[..end].to_ascii_lowercase().as_str());
    (known && dot > 0).then(|| &text[..dot + 1 + end])
}

/// Whether it is a file as people keep them; `robots.txt` and `node.js` are names that the web knows.
pub(super) fn is_document(text: &str) -> bool {
    const NAMES: [&str; 13] = [
        "html", "htm", "json", "xml", "yaml", "yml", "md", "txt", "py", "js", "rs", "sql", "log",
    ];
    let ending = |it: &str| it.rsplit('.').next().unwrap_or_default().to_lowercase();
    is_file(text).is_some_and(|it| !NAMES.contains(&ending(it).as_str()))
}

/// A text that somebody gave for one parameter, as the value that the schema wants. What is wrong is said as what was
/// expected.
pub(crate) fn read(text: &str, schema: &Value, today: Date) -> Result<Value, String> {
    let trimmed = text.trim();
    let root = json!({"properties": {"it": schema}, "required": ["it"]});
    let all = wanted(&root);
    let Some(it) = all.first() else {
        return Ok(Value::from(trimmed));
    };
    match &it.shape {
        Shape::Choice(list) => choice(trimmed, it, list),
        Shape::Boolean => match yes_or_no(trimmed) {
            Some(yes) => Ok(Value::Bool(yes)),
            None => Err("yes or no".to_owned()),
        },
        Shape::Number => number(trimmed).ok_or_else(|| {
            let is_whole = kind(schema) == "integer";
            if is_whole {
                "a whole number"
            } else {
                "a number"
            }
            .to_owned()
        }),
        Shape::Day => day(trimmed, today).ok_or_else(|| "a day such as 2026-11-18".to_owned()),
        Shape::Hour => Ok(hour(trimmed, today).unwrap_or_else(|| Value::from(trimmed))),
        _ if matches!(kind(schema), "array") => list(trimmed, schema, today),
        _ if matches!(kind(schema), "object" | "null" | "") => {
            let parsed = serde_json::from_str(trimmed);
            match kind(schema) {
                "" => Ok(parsed.unwrap_or_else(|_| Value::from(trimmed))),
                kind => parsed.map_err(|_| format!("JSON of type {kind}")),
            }
        }
        _ => Ok(Value::from(text.trim())),
    }
}

fn choice(text: &str, it: &Wanted<'_>, list: &[super::wanted::Choice]) -> Result<Value, String> {
    let same = list.iter().find(|it| match &it.value {
        Value::String(own) => own.eq_ignore_ascii_case(text),
        other => shown(other) == text,
    });
    if let Some(same) = same {
        return Ok(same.value.clone());
    }
    let named = choices::chosen(&Said::new(text), it, list, usize::MAX);
    named.map(|at| list[at].value.clone()).ok_or_else(|| {
        let all: Vec<String> = list.iter().map(|it| shown(&it.value)).collect();
        format!("one of {}", all.join(", "))
    })
}

/// A value as it is shown in a sentence.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn number(text: &str) -> Option<Value> {
    if let Some((value, "")) = digits(text) {
        return numbers::json(value);
    }
    // `no more than 5` and `reject: 10 is too much` hold a number and are none.
    const AROUND: [&str; 10] = [
        "it", "is", "it's", "its", "please", "make", "let's", "say", "the", "요",
    ];
    let said = Said::new(text);
    let [one] = &numbers::numbers(&said, &[])[..] else {
        return None;
    };
    let is_own = |at: usize| (one.at..=one.last).contains(&at);
    let words = said.words.iter().enumerate();
    let mut others = words
        .filter(|(at, _)| !is_own(*at))
        .map(|it| it.1.stem.as_str());
    let is_all = said.quotes.is_empty() && others.all(|it| AROUND.contains(&it));
    one.json().filter(|_| is_all)
}

fn day(text: &str, today: Date) -> Option<Value> {
    match &Times::new(&Said::new(text), today).days[..] {
        [one] => Some(Value::from(one.value.to_string())),
        _ => None,
    }
}

fn hour(text: &str, today: Date) -> Option<Value> {
    match &Times::new(&Said::new(text), today).hours[..] {
        [one] => Some(Value::from(written(one.value))),
        _ => None,
    }
}

/// A list in JSON, or with commas between.
fn list(text: &str, schema: &Value, today: Date) -> Result<Value, String> {
    if let Ok(list @ Value::Array(_)) = serde_json::from_str(text) {
        return Ok(list);
    }
    let parts = text
        .split([',', '\n'])
        .map(str::trim)
        .filter(|it| !it.is_empty());
    let values: Result<Vec<Value>, String> =
        parts.map(|it| read(it, &schema["items"], today)).collect();
    values.map(Value::Array)
}
