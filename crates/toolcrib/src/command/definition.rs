//! Sending a definition, and turning what the server says about it into places of the text it came from.

use super::input::Input;
use crate::client::{Client, problem_line};
use crate::context::Context;
use crate::out::{Cause, Document, Failure, Result};
use catalog::json::{LineIndex, Node, NodeKind, parse, path_of_key};
use serde_json::{Map, Value, json};

/// How the server takes a definition.
#[derive(Clone, Copy)]
pub(super) enum How {
    Create,
    Replace,
    /// Only the members that are given.
    Patch,
}

impl How {
    fn method(self) -> &'static str {
        match self {
            How::Create => "POST",
            How::Replace => "PUT",
            How::Patch => "PATCH",
        }
    }
}

/// Sends a definition; problems name where it came from instead of the request's body.
pub(super) async fn send(context: &Context, how: How, path: &str, input: &Input) -> Result<Value> {
    let body = input.text.clone().into_bytes();
    let send = async |client: &Client| client.send(how.method(), path, Some(body)).await?.ok();
    let sent = Client::with(context, send).await;
    sent.map_err(|failure| placed(failure, how, input))
}

/// What a request's body is called in problems.
const BODY: &str = "body";

fn placed(mut failure: Failure, how: How, input: &Input) -> Failure {
    // What is no JSON at all is a slip of whoever typed it, as in `call`.
    if parse(&input.text).is_err() {
        failure.cause = Cause::Usage;
    }
    let Document::Answer(answer) = &mut failure.document else {
        return failure;
    };
    let Some(problems) = answer["error"]["details"]["problems"].as_array_mut() else {
        return failure;
    };
    // The file that the tool should go into may be what is wrong.
    let elsewhere = problems.iter().find(|problem| problem["file"] != BODY);
    let elsewhere = elsewhere.and_then(|problem| problem["file"].as_str().map(str::to_owned));
    for problem in problems.iter_mut().filter(|it| it["file"] == BODY) {
        problem["file"] = json!(input.shown);
        // The server has looked at the whole tool that the patch makes, which nobody but it has seen.
        if matches!(how, How::Patch) {
            let path = problem["path"].as_str().unwrap_or_default();
            let place = place(&input.text, path);
            problem["line"] = json!(place.map(|(line, _)| line));
            problem["column"] = json!(place.map(|(_, column)| column));
        }
    }
    let lines: Vec<String> = problems.iter().map(problem_line).collect();
    if !lines.is_empty() {
        failure.errors = lines;
    }
    match elsewhere {
        Some(file) => {
            let done = if matches!(how, How::Create) {
                "added"
            } else {
                "changed"
            };
            failure.hint(format!("nothing was {done}; mend {file} first"))
        }
        None => failure,
    }
}

/// Line and column of the innermost value on the way to `path` that the text holds.
pub(super) fn place(text: &str, path: &str) -> Option<(u32, u32)> {
    let root = parse(text).ok()?;
    let found = offset(&root, "$", path)?;
    Some(LineIndex::new(text).place(text, found))
}

fn offset(node: &Node, at: &str, path: &str) -> Option<usize> {
    let leads = |to: &str| {
        let rest = path.strip_prefix(to);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    match &node.kind {
        NodeKind::Object(members) => members.iter().rev().find_map(|member| {
            let to = path_of_key(at, &member.key);
            leads(&to).then(|| offset(&member.value, &to, path).unwrap_or(member.value.span.start))
        }),
        NodeKind::Array(items) => items.iter().enumerate().find_map(|(number, item)| {
            let to = format!("{at}[{number}]");
            leads(&to).then(|| offset(item, &to, path).unwrap_or(item.span.start))
        }),
        _ => None,
    }
}

/// Puts the shelf behind everything else, so that every problem keeps its line and column.
pub(super) fn with_shelf(mut input: Input, shelf: Option<&str>) -> Result<Input> {
    let Some(shelf) = shelf else { return Ok(input) };
    // What is not an object at all is for the server to explain.
    let Ok(members) = serde_json::from_str::<Map<String, Value>>(&input.text) else {
        return Ok(input);
    };
    match members.get("shelf") {
        Some(said) if said == shelf => {}
        Some(said) => {
            return Err(Failure::usage(format!(
                "--shelf says {shelf}, but {} says {said}",
                input.shown
            ))
            .hint("leave one of the two out"));
        }
        None if members.is_empty() => {}
        None => put(&mut input.text, "shelf", shelf),
    }
    Ok(input)
}

/// The same with the name that the command was given, unless the definition has one.
pub(super) fn with_name(mut input: Input, name: &str) -> Input {
    let members = serde_json::from_str::<Map<String, Value>>(&input.text);
    let lacks = members.is_ok_and(|it| !it.is_empty() && !it.contains_key("name"));
    // By its id a thing is found, not called.
    let is_id = name.len() == 36 && name.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    if lacks && !is_id {
        put(&mut input.text, "name", name);
    }
    input
}

/// Behind the last member of an object that has some.
fn put(text: &mut String, key: &str, value: &str) {
    let end = text.rfind('}').unwrap_or(text.len());
    text.insert_str(end, &format!(", \"{key}\": {}", Value::from(value)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_in_the_text() {
        let text = "{\n  \"config\": {\"name\": 7},\n  \"tests\": [1, {\"x y\": 2}]\n}";
        assert_eq!(place(text, "$.config.name"), Some((2, 22)));
        assert_eq!(place(text, "$.tests[1][\"x y\"]"), Some((3, 24)));
        assert_eq!(place(text, "$.config.other"), Some((2, 13)));
        assert_eq!(place(text, "$.configs"), None);
        assert_eq!(place(text, "$"), None);
    }
}
