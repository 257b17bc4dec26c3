//! What somebody answers when they are asked, read as the value that the question's schema wants: people write "yes", "1,200개"
//! or "tomorrow", and lines for a form.

use crate::fill::Missing;
use crate::fill::values::read;
use catalog::schema::Schema;
use jiff::civil::Date;
use serde_json::{Map, Value};

/// A member of a form.
struct Field<'a> {
    name: &'a str,
    schema: &'a Value,
    is_required: bool,
}

/// The value in an answer: a text as what the schema wants; for a form an object by name, a text for its only member, or a
/// text with a line for each. What is wrong with it is said with what was expected.
pub fn answered(schema: &Value, answer: &Value, today: Date) -> Result<Value, String> {
    let fields = fields(schema);
    let value = match answer {
        Value::Object(given) if !fields.is_empty() => by_name(&fields, given, today)?,
        Value::String(text) if !fields.is_empty() => of_text(&fields, text, today)?,
        Value::String(text) => read_one(text, schema, today)?,
        other => other.clone(),
    };
    checked(value, schema)
}

/// The value, if it is what the schema wants.
fn checked(value: Value, schema: &Value) -> Result<Value, String> {
    let check = Schema::compile(schema).map_or(Ok(()), |schema| schema.check(&value));
    match check {
        Ok(()) => Ok(value),
        Err(violations) => {
            let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
            Err(texts.join("; "))
        }
    }
}

/// The arguments in an answer that was stored as `answered` made it, read as the model would: a text. What looks like a
/// number is one only where no text is wanted.
pub fn given(missing: &[Missing], text: &str) -> Result<Map<String, Value>, String> {
    let unfit = |error: serde_json::Error| format!("the answer does not fit any more ({error})");
    let [one] = missing else {
        return serde_json::from_str(text).map_err(unfit);
    };
    let as_text = Value::from(text);
    let is_text = Schema::compile(&one.schema).is_ok_and(|it| it.check(&as_text).is_ok());
    let value = match is_text {
        true => as_text,
        false => serde_json::from_str(text).map_err(unfit)?,
    };
    Ok(Map::from_iter([(one.name.clone(), value)]))
}

/// The members of a form; none where the schema is no form.
fn fields(schema: &Value) -> Vec<Field<'_>> {
    let properties = schema["properties"].as_object();
    let properties = properties.filter(|_| schema["type"] == "object");
    let all = properties.into_iter().flatten();
    all.map(|(name, own)| Field {
        name,
        schema: own,
        is_required: is_required(schema, name),
    })
    .collect()
}

/// Whether a form has to have this member.
pub fn is_required(form: &Value, name: &str) -> bool {
    let required = form["required"].as_array();
    required.is_some_and(|all| all.iter().any(|it| it == name))
}

/// What is wrong with a line as the answer to one member of a form.
pub fn fault_of_line(line: &str, schema: &Value, today: Date) -> Option<String> {
    let value = read_one(line, schema, today);
    value.and_then(|it| checked(it, schema)).err()
}

fn of_text(fields: &[Field<'_>], text: &str, today: Date) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(given)) => return by_name(fields, &given, today),
        Err(error) if text.trim_start().starts_with('{') => {
            let (line, column) = (error.line(), error.column());
            let why = format!("the JSON is broken at line {line}, column {column}");
            return Err(format!("{why}; {}", expected(fields)));
        }
        _ => {}
    }
    let kept = |part: &&str| !part.is_empty();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(kept).collect();
    if let Some(given) = named(fields, &lines) {
        return by_name(fields, &given, today);
    }
    // In the order in which they were asked for.
    let parts: Vec<&str> = match fields {
        [_] => vec![text],
        _ if lines.len() == fields.len() => lines,
        _ => text.split(',').map(str::trim).filter(kept).collect(),
    };
    if parts.len() != fields.len() {
        return Err(expected(fields));
    }
    let names = fields.iter().map(|it| it.name.to_owned());
    let given = names.zip(parts.into_iter().map(Value::from)).collect();
    by_name(fields, &given, today)
}

/// `name: value` or `name=value`, a line for each.
fn named(fields: &[Field<'_>], lines: &[&str]) -> Option<Map<String, Value>> {
    let pair = |line: &&str| {
        let (name, value) = line.split_once([':', '='])?;
        let name = name.trim().trim_matches(['`', '"']);
        let known = fields.iter().find(|it| it.name == name)?;
        Some((known.name.to_owned(), Value::from(value.trim())))
    };
    lines.iter().map(pair).collect()
}

fn by_name(fields: &[Field<'_>], given: &Map<String, Value>, today: Date) -> Result<Value, String> {
    let is_asked = |name: &&String| fields.iter().any(|it| it.name == **name);
    if let Some(other) = given.keys().find(|name| !is_asked(name)) {
        let expected = expected(fields);
        return Err(format!("'{other}' was not asked for; {expected}"));
    }
    let mut values = Map::new();
    for Field {
        name,
        schema,
        is_required,
    } in fields
    {
        let value = match given.get(*name) {
            None if *is_required => {
                let expected = expected(fields);
                return Err(format!("'{name}' is not answered; {expected}"));
            }
            None => continue,
            // A form of text fields has nothing but texts.
            Some(Value::String(text)) => {
                read_one(text, schema, today).map_err(|why| format!("{name}: {why}"))?
            }
            Some(other) => other.clone(),
        };
        values.insert((*name).to_owned(), value);
    }
    Ok(Value::Object(values))
}

fn read_one(text: &str, schema: &Value, today: Date) -> Result<Value, String> {
    let wrong = |wanted: String| format!("expected {wanted}, got '{}'", text.trim());
    read(text, schema, today).map_err(wrong)
}

/// How to answer.
fn expected(fields: &[Field<'_>]) -> String {
    let names: Vec<&str> = fields.iter().map(|it| it.name).collect();
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
    use crate::fill::form;
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

    fn read(schema: &Value, answer: &Value) -> Result<Value, String> {
        answered(schema, answer, date(2026, 11, 18))
    }

    #[test]
    fn a_text_answers_the_only_question() {
        let day = json!({"type": "string", "format": "date"});
        let number = json!({"type": "integer", "minimum": 1});
        let flag = json!({"type": "boolean"});
        let mode = json!({"enum": ["car", "half_day"]});
        let text = json!({"type": "string"});
        for (schema, answer, expected) in [
            (&day, json!("tomorrow"), json!("2026-11-19")),
            (&day, json!("내일"), json!("2026-11-19")),
            (&number, json!("3"), json!(3)),
            (&number, json!("1,200개"), json!(1200)),
            (&number, json!(3), json!(3)),
            (&flag, json!("네"), json!(true)),
            (&flag, json!("no"), json!(false)),
            (&mode, json!("a half day"), json!("half_day")),
            (&text, json!(" it stands: 3, 4 "), json!("it stands: 3, 4")),
            (&text, json!("12345"), json!("12345")),
            (&text, json!("{\"a\": 1}"), json!("{\"a\": 1}")),
        ] {
            assert_eq!(read(schema, &answer), Ok(expected), "{answer}");
        }
        assert!(read(&text, &json!(5)).is_err());
    }

    #[test]
    fn several_are_answered_by_name_or_in_order() {
        let all = form(&missing(&[
            ("num1", json!({"type": "number"})),
            ("day", json!({"type": "string", "format": "date"})),
        ]));
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
        let one_needed = json!({"type": "object", "required": ["a"],
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}});
        assert_eq!(read(&one_needed, &json!({"a": "x"})), Ok(json!({"a": "x"})));
    }

    #[test]
    fn what_does_not_fit_is_said_with_what_was_expected() {
        let two = form(&missing(&[
            ("a", json!({"type": "integer"})),
            ("b", json!({"type": "string"})),
        ]));
        for (answer, says) in [
            (json!({"a": 1}), "'b' is not answered"),
            (json!({"a": 1, "b": "x", "c": 2}), "'c' was not asked for"),
            (json!("x, y"), "a: expected a whole number, got 'x'"),
            (json!("just this"), "an object by these names"),
            (json!(7), "expected type object"),
            (
                json!({"a": 1.5, "b": "x"}),
                "expected type integer, got 1.5",
            ),
        ] {
            let said = read(&two, &answer).unwrap_err();
            assert!(said.contains(says), "{answer}: {said}");
        }
        let said = read(&json!({"enum": ["car", "bus"]}), &json!("by plane"));
        assert_eq!(
            said.unwrap_err(),
            "expected one of car, bus, got 'by plane'"
        );
        let small = json!({"type": "integer", "minimum": 10});
        assert!(
            read(&small, &json!("3"))
                .unwrap_err()
                .contains("minimum 10")
        );
    }

    #[test]
    fn what_was_stored_is_read_as_it_was_meant() {
        for (schema, text, expected) in [
            (json!({"type": "string"}), "12345", json!({"it": "12345"})),
            (json!({"type": "string"}), "true", json!({"it": "true"})),
            (json!({"type": "integer"}), "12345", json!({"it": 12345})),
            (json!({"type": "boolean"}), "true", json!({"it": true})),
            (json!({"type": "array"}), "[1]", json!({"it": [1]})),
        ] {
            let read = given(&missing(&[("it", schema)]), text).map(Value::Object);
            assert_eq!(read, Ok(expected), "{text}");
        }
        let two = missing(&[("a", json!({})), ("b", json!({}))]);
        let read = given(&two, "{\"a\": \"1\", \"b\": 2}").map(Value::Object);
        assert_eq!(read, Ok(json!({"a": "1", "b": 2})));
        assert!(given(&two, "no object").is_err());
    }
}
