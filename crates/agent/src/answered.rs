//! What somebody answers when they are asked for arguments, read as the values that the tool takes.

use crate::fill::Missing;
use crate::fill::values::read;
use catalog::schema::Schema;
use jiff::civil::Date;
use serde_json::{Map, Value};

/// The arguments in an answer: an object by name, a text for the only one, or a text with a line for each. What is wrong
/// with it is said for each parameter, with what was expected.
pub fn answered(
    missing: &[Missing],
    answer: &Value,
    today: Date,
) -> Result<Map<String, Value>, String> {
    match (answer, missing) {
        (Value::Object(given), [one])
            if is_object(&one.schema) && !given.contains_key(&one.name) =>
        {
            checked(missing, vec![answer.clone()])
        }
        (Value::Object(given), _) => by_name(missing, given, today),
        (Value::String(text), _) => of_text(missing, text, today),
        (_, [_]) => checked(missing, vec![answer.clone()]),
        _ => Err(expected(missing)),
    }
}

fn of_text(missing: &[Missing], text: &str, today: Date) -> Result<Map<String, Value>, String> {
    let is_object = text.trim_start().starts_with('{');
    if is_object && let Ok(object @ Value::Object(_)) = serde_json::from_str(text) {
        return answered(missing, &object, today);
    }
    if let [one] = missing {
        let value =
            read(text, &one.schema, today).map_err(|wanted| wrong(&one.name, &wanted, text))?;
        return checked(missing, vec![value]);
    }
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect();
    if let Some(given) = named(missing, &lines) {
        return by_name(missing, &given, today);
    }
    // In the order in which they were asked for.
    let commas: Vec<&str> = text
        .split(',')
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect();
    let parts = if lines.len() == missing.len() {
        lines
    } else {
        commas
    };
    if parts.len() != missing.len() {
        return Err(expected(missing));
    }
    let both = missing.iter().zip(parts);
    let values: Result<Vec<Value>, String> = both
        .map(|(it, part)| {
            read(part, &it.schema, today).map_err(|wanted| wrong(&it.name, &wanted, part))
        })
        .collect();
    checked(missing, values?)
}

/// `name: value` or `name=value`, a line for each.
fn named(missing: &[Missing], lines: &[&str]) -> Option<Map<String, Value>> {
    let pair = |line: &&str| {
        let (name, value) = line.split_once([':', '='])?;
        let name = name.trim().trim_matches(['`', '"']);
        let known = missing.iter().find(|it| it.name == name)?;
        Some((known.name.clone(), Value::from(value.trim())))
    };
    lines.iter().map(pair).collect()
}

fn by_name(
    missing: &[Missing],
    given: &Map<String, Value>,
    today: Date,
) -> Result<Map<String, Value>, String> {
    let is_asked = |name: &&String| missing.iter().any(|it| it.name == **name);
    if let Some(other) = given.keys().find(|name| !is_asked(name)) {
        return Err(format!(
            "'{other}' was not asked for; {}",
            expected(missing)
        ));
    }
    let mut values = Vec::new();
    for it in missing {
        let value = match given.get(&it.name) {
            None => {
                return Err(format!(
                    "'{}' is not answered; {}",
                    it.name,
                    expected(missing)
                ));
            }
            // A form of text fields has nothing but texts.
            Some(Value::String(text)) => {
                read(text, &it.schema, today).map_err(|wanted| wrong(&it.name, &wanted, text))?
            }
            Some(other) => other.clone(),
        };
        values.push(value);
    }
    checked(missing, values)
}

/// The arguments, if each fits its schema.
fn checked(missing: &[Missing], values: Vec<Value>) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for (it, value) in missing.iter().zip(values) {
        if let Ok(schema) = Schema::compile(&it.schema)
            && let Err(violations) = schema.check(&value)
            && let Some(first) = violations.first()
        {
            return Err(format!(
                "{}: expected {}, got {}",
                it.name, first.expected, first.got
            ));
        }
        arguments.insert(it.name.clone(), value);
    }
    Ok(arguments)
}

fn is_object(schema: &Value) -> bool {
    schema["type"] == "object"
}

fn wrong(name: &str, wanted: &str, got: &str) -> String {
    format!("{name}: expected {wanted}, got '{}'", got.trim())
}

/// How to answer.
fn expected(missing: &[Missing]) -> String {
    let names: Vec<&str> = missing.iter().map(|it| it.name.as_str()).collect();
    match &names[..] {
        [one] => format!("expected a value for {one}"),
        _ => format!(
            "expected a value for each of {}: an object by these names, or a line 'name: value' for each",
            names.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use serde_json::json;

    fn missing(all: &[(&str, Value)]) -> Vec<Missing> {
        let one = |(name, schema): &(&str, Value)| Missing {
            name: (*name).to_owned(),
            schema: schema.clone(),
            question: String::new(),
        };
        all.iter().map(one).collect()
    }

    fn read(all: &[(&str, Value)], answer: &Value) -> Result<Value, String> {
        let today = date(2026, 11, 18);
        answered(&missing(all), answer, today).map(Value::Object)
    }

    #[test]
    fn a_text_answers_the_only_question() {
        let day = [("date", json!({"type": "string", "format": "date"}))];
        let number = [("n", json!({"type": "integer", "minimum": 1}))];
        let flag = [("ok", json!({"type": "boolean"}))];
        let mode = [("mode", json!({"enum": ["car", "half_day"]}))];
        let text = [("body", json!({"type": "string"}))];
        for (all, answer, expected) in [
            (&day, json!("tomorrow"), json!({"date": "2026-11-19"})),
            (&day, json!("내일"), json!({"date": "2026-11-19"})),
            (&number, json!("3"), json!({"n": 3})),
            (&number, json!("1,200개"), json!({"n": 1200})),
            (&number, json!(3), json!({"n": 3})),
            (&flag, json!("네"), json!({"ok": true})),
            (&flag, json!("no"), json!({"ok": false})),
            (&mode, json!("a half day"), json!({"mode": "half_day"})),
            (
                &text,
                json!(" as it stands: 3, 4 "),
                json!({"body": "as it stands: 3, 4"}),
            ),
            (&text, json!({"body": "b"}), json!({"body": "b"})),
        ] {
            assert_eq!(read(all, &answer), Ok(expected), "{answer}");
        }
    }

    #[test]
    fn several_are_answered_by_name_or_in_order() {
        let all = [
            ("num1", json!({"type": "number"})),
            ("day", json!({"type": "string", "format": "date"})),
        ];
        let expected = json!({"num1": 2.5, "day": "2026-11-18"});
        for answer in [
            json!({"num1": 2.5, "day": "today"}),
            json!({"day": "2026-11-18", "num1": "2.5"}),
            json!("num1: 2.5\nday: 오늘"),
            json!("2.5, today"),
            json!("{\"num1\": 2.5, \"day\": \"today\"}"),
        ] {
            assert_eq!(read(&all, &answer), Ok(expected.clone()), "{answer}");
        }
    }

    #[test]
    fn what_does_not_fit_is_said_with_what_was_expected() {
        let two = [
            ("a", json!({"type": "integer"})),
            ("b", json!({"type": "string"})),
        ];
        for (answer, says) in [
            (json!({"a": 1}), "'b' is not answered"),
            (json!({"a": 1, "b": "x", "c": 2}), "'c' was not asked for"),
            (json!("x, y"), "a: expected a whole number, got 'x'"),
            (json!("just this"), "an object by these names"),
            (json!(7), "an object by these names"),
            (
                json!({"a": 1.5, "b": "x"}),
                "a: expected type integer, got 1.5",
            ),
        ] {
            let said = read(&two, &answer).unwrap_err();
            assert!(said.contains(says), "{answer}: {said}");
        }
        let one = [("mode", json!({"enum": ["car", "bus"]}))];
        let said = read(&one, &json!("by plane")).unwrap_err();
        assert_eq!(said, "mode: expected one of car, bus, got 'by plane'");
        let small = [("n", json!({"type": "integer", "minimum": 10}))];
        assert!(
            read(&small, &json!("3"))
                .unwrap_err()
                .contains("minimum 10")
        );
    }
}
