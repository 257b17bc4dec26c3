//! What is wrong with the files of a folder, all of it, before anything is asked or changed. Each file is read by the readers
//! that the server has, so that what passes here is refused there only for what the server alone can know.

use super::sealed;
use super::sort::Sort;
use catalog::agent::agent_from_text;
use catalog::definition::{Origin, checked_definition_from_text};
use catalog::mcp_file::server_from_text;
use catalog::problem::Problem;
use catalog::source::source_from_text;
use catalog::tool::Shelf;
use catalog::toolset::toolset_from_text;
use serde_json::Value;

/// The document of a file of this sort, or everything that is wrong with it.
pub(super) fn item(sort: Sort, file: &str, text: &str) -> Result<Value, Vec<String>> {
    let read = match sort {
        Sort::Tool => {
            let origin = Origin::Body(Shelf::Database);
            checked_definition_from_text(file, text, origin, |_| Vec::new()).map(drop)
        }
        Sort::Toolset => toolset_from_text(text).map(drop),
        Sort::Agent => agent_from_text(text).map(drop),
        Sort::Source => source_from_text(text, None).map(drop),
        // Which variables there are is known where the server runs.
        Sort::Server => server_from_text(text, None, &|_| Some("x".to_owned())).map(drop),
    };
    read.map_err(|problems| told(file, problems))?;
    let document: Value = serde_json::from_str(text).map_err(|e| vec![format!("{file}: {e}")])?;
    let open = sealed::in_clear(sort, &document);
    if !open.is_empty() {
        let line = |path: String| {
            let at = place(text, &format!("$.{path}"));
            let instead = match sort {
                Sort::Tool => {
                    "{\"$secret\": \"NAME\"}, and set it with `toolcrib secrets set NAME`"
                }
                _ => {
                    "\"${NAME}\" for a variable of the server, or {\"set\": true} with the value in the file of --values"
                }
            };
            format!(
                "{file}{at}: at $.{path}: expected a reference, found a value in the clear. A folder for git holds no secrets: write {instead}."
            )
        };
        return Err(open.into_iter().map(line).collect());
    }
    Ok(document)
}

fn told(file: &str, problems: Vec<Problem>) -> Vec<String> {
    let problems = problems.into_iter().map(|problem| Problem {
        file: file.to_owned(),
        ..problem
    });
    problems.map(|problem| problem.to_string()).collect()
}

/// A file with a list of objects under one of its members: the objects. What nobody reads would be taken for said.
pub(super) fn list(
    file: &str,
    text: &str,
    (member, others): (&str, &[&str]),
    known: &[&str],
) -> Result<Vec<Value>, Vec<String>> {
    let wrong = |found: &str| {
        vec![format!(
            "{file}: expected {{\"{member}\": […]}}, found {found}. `toolcrib export registry` shows the form."
        )]
    };
    let all: Value = match serde_json::from_str(text) {
        Ok(all) => all,
        Err(error) => return Err(vec![format!("{file}: {error}")]),
    };
    let items = all[member]
        .as_array()
        .ok_or_else(|| wrong("something else"))?;
    if !items.iter().all(Value::is_object) {
        return Err(wrong("a list of something else than objects"));
    }
    let mut members = vec![member];
    members.extend(others);
    let mut unknown = unknown(file, text, ("$", &all), &members);
    for (number, item) in items.iter().enumerate() {
        let at = format!("$.{member}[{number}]");
        unknown.extend(self::unknown(file, text, (&at, item), known));
    }
    match unknown.is_empty() {
        true => Ok(items.clone()),
        false => Err(unknown),
    }
}

fn unknown(file: &str, text: &str, (at, object): (&str, &Value), known: &[&str]) -> Vec<String> {
    let members = object.as_object().into_iter().flatten();
    let strange = members.filter(|(key, _)| !known.contains(&key.as_str()));
    let told = |(key, _): (&String, &Value)| {
        let path = format!("{at}.{key}");
        format!(
            "{file}{}: at {path}: expected one of {}, found '{key}'. Correct it, or take it out.",
            place(text, &path),
            known.join(", ")
        )
    };
    strange.map(told).collect()
}

/// `:line:column` of something in a text; nothing where it is not found.
pub(super) fn place(text: &str, path: &str) -> String {
    let place = crate::command::definition::place(text, path);
    place.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"))
}
