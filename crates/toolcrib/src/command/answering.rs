//! What a run asks, shown on the command line with how to answer it, and what somebody answers there: at the prompt of
//! `run`, or as the words of `runs answer`. The server reads the answer as what the question wants.

use super::call::example;
use super::tools::text;
use agent::answered::{fault_of_line, is_required};
use agent::words::{Verb, decision, verb};
use serde_json::{Map, Value, json};

/// What is asked, on one line.
pub(super) fn asked_line(pending: &Value) -> String {
    match is_approval(pending) {
        true => format!(
            "it asks whether {} may be called with {} ({})",
            text(pending, "tool"),
            pending["arguments"],
            text(pending, "because"),
        ),
        false => match text(pending, "tool") {
            "" => format!("it asks: {}", text(pending, "question")),
            tool => format!("it asks for {tool}: {}", text(pending, "question")),
        },
    }
}

/// How it may be answered, a line for each thing to know.
pub(super) fn how_to_answer(pending: &Value) -> Vec<String> {
    let schema = &pending["schema"];
    if is_approval(pending) {
        return vec![
            "approve (y, 예): call it".to_owned(),
            format!(
                "edit (수정): call it with other arguments, such as: edit {}",
                // What is hidden cannot be given again as it is shown.
                pending["arguments"].to_string().replace("\"***\"", "\"…\"")
            ),
            "reject (n, 아니오, 거절): do not call it; a reason may follow".to_owned(),
            "respond (대답): do not call it, and take the text that follows as its answer"
                .to_owned(),
            "always (항상): call it, and do not ask again about this tool in this run".to_owned(),
        ];
    }
    if let Some(fields) = fields(schema) {
        let line = |(name, field): (&String, &Value)| {
            let optional = match is_required(schema, name) {
                true => "",
                false => ", may be left out",
            };
            let about = match text(field, "description") {
                "" => String::new(),
                about => format!(": {about}"),
            };
            format!("{name} ({}{optional}){about}", wanted(field))
        };
        let whole = format!("as JSON, such as {}", example(schema));
        return fields.iter().map(line).chain([whole]).collect();
    }
    match choices(schema) {
        [] => Vec::new(),
        choices => {
            let numbered = choices.iter().zip(1..);
            let lines = numbered.map(|(it, number)| format!("{number}) {}", shown(it)));
            lines.collect()
        }
    }
}

/// What an answer may look like, in a command that gives it.
pub(super) fn answers(pending: &Value) -> String {
    let schema = &pending["schema"];
    match is_approval(pending) {
        true => Verb::ALL.map(Verb::as_str).join("|"),
        false if fields(schema).is_some() => format!("'{}'", example(schema)),
        false => "…".to_owned(),
    }
}

pub(super) fn is_approval(pending: &Value) -> bool {
    text(pending, "kind") == "approval"
}

/// What somebody decides in a line. `more` gives what belongs to it and is not in the line; the error says what was expected.
pub(super) fn decided(
    line: &str,
    more: impl FnOnce(Verb) -> Option<String>,
) -> Result<Value, String> {
    let Some((verb, rest)) = verb(line) else {
        let known = Verb::ALL.map(Verb::as_str).join(", ");
        return Err(format!("expected one of {known}, got '{line}'"));
    };
    let rest = match rest {
        "" => more(verb).unwrap_or_default(),
        said => said.to_owned(),
    };
    let whole = decision(&format!("{} {rest}", verb.as_str()));
    whole.map(|it| json!(it)).ok_or_else(|| match verb {
        Verb::Edit => format!("edit: expected all arguments as a JSON object, got '{rest}'"),
        Verb::Respond => "respond: expected what is answered in the tool's place".to_owned(),
        _ => format!(
            "{}: expected nothing behind it, got '{rest}'",
            verb.as_str()
        ),
    })
}

/// An answer as somebody wrote it: of choices that were shown with numbers, the number stands for its choice.
pub(super) fn said(schema: &Value, line: &str) -> Value {
    let line = line.trim();
    let choices = choices(schema);
    let is_one = choices.iter().any(|it| shown(it) == line);
    let number = line.parse::<usize>().ok().filter(|_| !is_one);
    let named = number.and_then(|it| choices.get(it.checked_sub(1)?));
    named.cloned().unwrap_or_else(|| Value::from(line))
}

/// What somebody types who does not want to answer a question.
pub(super) const DECLINE: &str = "/decline";

/// What is sent where somebody does not want to answer.
pub(super) fn declined() -> Value {
    json!({"decline": true})
}

/// Asks whoever sits at the prompt: what to send; none where they have gone. `ask` shows a prompt and reads a line, `say` tells
/// what was wrong.
pub(super) fn asked_here(
    pending: &Value,
    ask: &mut dyn FnMut(&str) -> Option<String>,
    say: &mut dyn FnMut(&str),
) -> Option<Value> {
    let schema = &pending["schema"];
    if is_approval(pending) {
        loop {
            let line = ask("approve, edit, reject, respond or always? ")?;
            if line == DECLINE {
                return Some(declined());
            }
            let more = |verb: Verb| match verb {
                Verb::Edit => ask("all arguments, as JSON: "),
                Verb::Reject => ask("why (may be left empty): "),
                Verb::Respond => ask("what is answered in its place: "),
                Verb::Approve | Verb::Always => None,
            };
            match decided(&line, more) {
                Ok(answer) => return Some(json!({"answer": answer})),
                Err(why) => say(&why),
            }
        }
    }
    if let Some(fields) = fields(schema).filter(|it| it.len() > 1) {
        return form(schema, fields, ask, say);
    }
    // A form with one field is asked like a plain question; left empty, it says as little.
    let needed = fields(schema).and_then(|it| it.keys().next());
    let needed = needed.filter(|name| is_required(schema, name));
    loop {
        let line = ask("> ")?;
        match (line.as_str(), needed) {
            (DECLINE, _) => return Some(declined()),
            ("", Some(name)) => say(&needs(name)),
            (line, _) => return Some(json!({"answer": said(schema, line)})),
        }
    }
}

/// What is told of a field that was left empty and may not be.
fn needs(name: &str) -> String {
    format!("{name}: a value is needed ({DECLINE}: do not answer)")
}

/// A line for each field, or all of them as JSON. A line that does not fit its field is asked for again at once: what stands
/// in the others need not be typed twice.
fn form(
    schema: &Value,
    fields: &Map<String, Value>,
    ask: &mut dyn FnMut(&str) -> Option<String>,
    say: &mut dyn FnMut(&str),
) -> Option<Value> {
    let today = jiff::Zoned::now().date();
    let mut given = Map::new();
    for (name, field) in fields {
        loop {
            let line = ask(&format!("{name}> "))?;
            if line == DECLINE {
                return Some(declined());
            }
            if given.is_empty()
                && let Ok(Value::Object(all)) = serde_json::from_str(&line)
            {
                return Some(json!({"answer": all}));
            }
            if line.is_empty() {
                if is_required(schema, name) {
                    say(&needs(name));
                    continue;
                }
                // What is left empty is left out.
                break;
            }
            let value = said(field, &line);
            let fault = value
                .as_str()
                .and_then(|it| fault_of_line(it, field, today));
            match fault {
                None => {
                    given.insert(name.clone(), value);
                    break;
                }
                Some(why) => say(&format!("{name}: {why}")),
            }
        }
    }
    Some(json!({"answer": given}))
}

/// The members of a form; none where one value is wanted.
fn fields(schema: &Value) -> Option<&Map<String, Value>> {
    let all = schema["properties"].as_object()?;
    (schema["type"] == "object" && !all.is_empty()).then_some(all)
}

fn choices(schema: &Value) -> &[Value] {
    schema["enum"].as_array().map_or(&[], Vec::as_slice)
}

/// What a field takes.
fn wanted(schema: &Value) -> String {
    let choices = choices(schema);
    if !choices.is_empty() {
        let all: Vec<String> = choices.iter().map(shown).collect();
        return format!("one of {}", all.join(", "));
    }
    match (text(schema, "format"), text(schema, "type")) {
        ("", "") => "any value".to_owned(),
        ("", "boolean") => "yes or no".to_owned(),
        ("", "string") => "text".to_owned(),
        ("", kind) => kind.to_owned(),
        (format, _) => format.to_owned(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of these lines at the prompt, and what was said about them.
    fn typed(pending: &Value, lines: &[&str]) -> (Option<Value>, Vec<String>) {
        let mut lines = lines.iter();
        let mut told = Vec::new();
        let mut ask = |_: &str| lines.next().map(|it| (*it).to_owned());
        let answer = asked_here(pending, &mut ask, &mut |why| told.push(why.to_owned()));
        (answer, told)
    }

    fn approval() -> Value {
        json!({"kind": "approval", "tool": "pay", "arguments": {"amount": 5}, "because": "b"})
    }

    fn question(schema: &Value) -> Value {
        json!({"kind": "question", "question": "?", "schema": schema})
    }

    #[test]
    fn all_that_may_be_decided_is_decided_at_the_prompt() {
        for (lines, expected) in [
            (&["예"][..], json!({"decision": "approve"})),
            (&["항상"], json!({"decision": "always"})),
            (&["n", ""], json!({"decision": "reject"})),
            (
                &["거절", "너무 많음"],
                json!({"decision": "reject", "text": "너무 많음"}),
            ),
            (
                &["reject: too much"],
                json!({"decision": "reject", "text": "too much"}),
            ),
            (
                &["수정", "{\"amount\": 3}"],
                json!({"decision": "edit", "arguments": {"amount": 3}}),
            ),
            (
                &["respond", "paid already"],
                json!({"decision": "respond", "text": "paid already"}),
            ),
        ] {
            let sent = json!({"answer": expected});
            assert_eq!(typed(&approval(), lines), (Some(sent), Vec::new()));
        }
        // What says too little is asked for again.
        let (answer, told) = typed(&approval(), &["perhaps", "edit", "amount=3", "y"]);
        assert_eq!(answer, Some(json!({"answer": {"decision": "approve"}})));
        assert!(
            told[0].contains("respond") && told[1].contains("JSON"),
            "{told:?}"
        );
        assert_eq!(typed(&approval(), &[]).0, None);
        let shown = how_to_answer(&approval()).join("\n");
        for verb in Verb::ALL {
            assert!(shown.contains(verb.as_str()), "{shown}");
        }
        assert!(shown.contains("edit {\"amount\":5}"), "{shown}");
    }

    #[test]
    fn a_choice_is_named_or_counted() {
        let colours = question(&json!({"enum": ["red", "blue"]}));
        assert_eq!(how_to_answer(&colours), ["1) red", "2) blue"]);
        for (line, expected) in [("2", "blue"), ("red", "red"), ("3", "3"), ("0", "0")] {
            let sent = json!({"answer": expected});
            assert_eq!(typed(&colours, &[line]).0, Some(sent), "{line}");
        }
        // A number that is a choice itself is no place in the list.
        let sizes = question(&json!({"enum": [2, 1, 7]}));
        assert_eq!(typed(&sizes, &["2"]).0, Some(json!({"answer": "2"})));
        assert_eq!(typed(&sizes, &["3"]).0, Some(json!({"answer": 7})));
    }

    #[test]
    fn a_form_is_shown_with_its_fields_and_filled_line_by_line_or_at_once() {
        let form = question(
            &json!({"type": "object", "required": ["day", "people"], "properties": {
            "day": {"type": "string", "format": "date", "description": "When it is"},
            "people": {"type": "integer"},
            "room": {"enum": ["A", "B"]}}}),
        );
        assert_eq!(
            how_to_answer(&form),
            [
                "day (date): When it is",
                "people (integer)",
                "room (one of A, B, may be left out)",
                "as JSON, such as {\"day\":\"…\",\"people\":1}",
            ]
        );
        for (lines, expected) in [
            (
                &["tomorrow", "3", "2"][..],
                json!({"day": "tomorrow", "people": "3", "room": "B"}),
            ),
            (&["today", "3", ""], json!({"day": "today", "people": "3"})),
            (
                &["{\"day\": \"2026-11-18\", \"people\": 3}"],
                json!({"day": "2026-11-18", "people": 3}),
            ),
        ] {
            let sent = json!({"answer": expected});
            assert_eq!(typed(&form, lines), (Some(sent), Vec::new()));
        }
        // A slip is told where it was made, and costs nothing that was typed before.
        let lines = ["tomorrow", "three or four", "", "3", ""];
        let (sent, told) = typed(&form, &lines);
        let expected = json!({"answer": {"day": "tomorrow", "people": "3"}});
        assert_eq!(sent, Some(expected));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("people: expected"), "{told:?}");
        assert_eq!(told[1], needs("people"));
        // A text that is needed is no empty one, also where it is the only field.
        let one = question(&json!({"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}}));
        let two = question(&json!({"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "note": {"type": "string"}}}));
        for (form, answer) in [(one, json!("kim")), (two, json!({"name": "kim"}))] {
            let (sent, told) = typed(&form, &["", "kim", ""]);
            assert_eq!(sent, Some(json!({"answer": answer})));
            assert_eq!(told, [needs("name")]);
        }
    }

    #[test]
    fn a_question_need_not_be_answered() {
        let form = json!({"type": "object", "properties": {"a": {}, "b": {}}});
        for (asked, lines) in [
            (question(&json!({"type": "string"})), &["/decline"][..]),
            (question(&form), &["x", "/decline"]),
            (approval(), &["/decline"]),
        ] {
            assert_eq!(typed(&asked, lines).0, Some(declined()));
        }
    }
}
