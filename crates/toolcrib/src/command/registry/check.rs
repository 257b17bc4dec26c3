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
            let place = crate::command::definition::place(text, &format!("$.{path}"));
            let at = place.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
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

/// A file with one list of objects, under its only member: the objects.
pub(super) fn list(file: &str, text: &str, member: &str) -> Result<Vec<Value>, Vec<String>> {
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
    match items.iter().all(Value::is_object) {
        true => Ok(items.clone()),
        false => Err(wrong("a list of something else than objects")),
    }
}
