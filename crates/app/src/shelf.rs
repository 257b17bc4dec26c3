//! The file shelf on disk: where `tools.json` is, what it says, and whether that is valid.

use crate::exchange::{self, WriteError};
use catalog::definition::Fault;
use catalog::mcp_file::McpFile;
use catalog::problem::Problem;
use catalog::schema::Schema;
use catalog::tool::Definition;
use catalog::tools_file::read_checked_tools;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub const TOOLS_FILE: &str = "tools.json";
pub const MCP_FILE: &str = "mcp.json";

const A_SCHEMA: &str = "a valid JSON Schema (2020-12, or draft-07 where $schema says so)";
const MEND_SCHEMA: &str = "Correct the schema; patterns must do without look-around and back-references, and $ref must stay inside the schema.";

/// A file of the workspace and the text of it that is in force.
#[derive(Debug)]
pub struct FileShelf {
    path: PathBuf,
    pub text: String,
}

/// What was found on disk.
pub struct Loaded {
    pub text: String,
    pub definitions: Vec<Definition>,
}

impl FileShelf {
    pub fn new(workspace: &Path) -> Self {
        FileShelf {
            path: workspace.join(TOOLS_FILE),
            text: String::new(),
        }
    }

    /// The file itself. A link is followed each time, so that replacing the file does not replace the link, and
    /// a link that was pointed elsewhere counts from then on.
    fn target(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// Removes what a killed process may have left behind.
    pub fn sweep(&self) {
        exchange::sweep(&self.target());
    }

    /// The text on disk, or the problem with getting it.
    pub fn read_text(&self) -> Result<String, Vec<Problem>> {
        read_file(&self.path, TOOLS_FILE, "{\"version\": 1, \"tools\": []}")
    }

    /// Replaces the file by `text`, unless somebody edited it since `self.text` was read.
    pub fn replace(&mut self, text: String) -> Result<(), WriteError> {
        exchange::replace(&self.target(), &self.text, &text)?;
        self.text = text;
        Ok(())
    }
}

/// Reads a file of the workspace; what a missing or unreadable one needs is part of the problem.
pub fn read_file(path: &Path, name: &str, smallest: &str) -> Result<String, Vec<Problem>> {
    let problem = |expected: &str, found: String, remedy: String| {
        vec![Problem {
            file: name.to_owned(),
            line: 1,
            column: 1,
            path: "$".to_owned(),
            expected: expected.to_owned(),
            found,
            remedy,
        }]
    };
    let bytes = fs::read(path).map_err(|error| {
        let remedy = format!(
            "Create {} (the smallest valid one is {smallest}).",
            path.display()
        );
        match error.kind() {
            io::ErrorKind::NotFound => {
                problem("the file to be there", "no such file".to_owned(), remedy)
            }
            _ => problem(
                "a readable file",
                error.to_string(),
                format!("Check the permissions of {}.", path.display()),
            ),
        }
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        problem(
            "UTF-8 text",
            format!("other bytes at offset {at}"),
            "Save the file in UTF-8.".to_owned(),
        )
    })
}

/// How many problems of a file the log is given at once; `doctor` knows them all.
const LOGGED_MAX: usize = 20;

/// Why a file is not taken over, for the log.
pub(crate) fn log_problems(problems: &[Problem], what: &str) {
    for problem in problems.iter().take(LOGGED_MAX) {
        tracing::error!(%problem, "{what}");
    }
    let left = problems.len().saturating_sub(LOGGED_MAX);
    if left > 0 {
        tracing::error!("… and {left} more problems; `toolcrib doctor --json` shows all");
    }
}

/// What somebody who wrote `mcp.json` may have meant otherwise, for the log. A variable that is missing is told with the
/// server that it keeps from running.
pub(crate) fn log_oddities(file: &McpFile) {
    for problem in &file.warnings {
        tracing::warn!(%problem, "something in mcp.json has no effect");
    }
}

/// Reads and checks the whole text; `known` says which definitions were checked before and need no new look
/// at their schemas.
pub fn check_tools(
    text: &str,
    known: impl Fn(&Definition) -> bool,
) -> Result<Vec<Definition>, Vec<Problem>> {
    let check = |definition: &Definition| match known(definition) {
        true => Vec::new(),
        false => faults(definition),
    };
    read_checked_tools(TOOLS_FILE, text, check).map(|file| file.definitions)
}

/// What is wrong with a definition although it can be read.
pub(crate) fn faults(definition: &Definition) -> Vec<Fault> {
    let mut faults = Vec::new();
    if holds_nul(definition) {
        faults.push(Fault {
            pointer: String::new(),
            expected: "text without the character U+0000",
            found: "\\u0000".to_owned(),
            remedy: "Remove it; no text of a tool needs it.",
        });
    }
    faults.extend(kinds::sql::faults(definition));
    let schemas = [
        ("/input_schema", Some(&definition.input_schema)),
        ("/output_schema", definition.output_schema.as_ref()),
    ];
    for (field, schema) in schemas {
        if let Some(Err(why)) = schema.map(Schema::compile) {
            faults.push(Fault {
                pointer: format!("{field}{}", why.pointer),
                expected: A_SCHEMA,
                found: why.reason,
                remedy: MEND_SCHEMA,
            });
        }
    }
    faults
}

/// PostgreSQL's text and JSON cannot hold U+0000, so neither engine takes it, on either shelf.
fn holds_nul(definition: &Definition) -> bool {
    fn inside(value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains('\0'),
            Value::Array(items) => items.iter().any(inside),
            Value::Object(members) => members
                .iter()
                .any(|(key, value)| key.contains('\0') || inside(value)),
            _ => false,
        }
    }
    serde_json::to_value(definition).is_ok_and(|value| inside(&value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_stays_and_is_followed_wherever_it_points() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (first, second) = (folder.path().join("a.json"), folder.path().join("b.json"));
        fs::write(&first, "first").expect("writable");
        fs::write(&second, "second").expect("writable");
        let workspace = tempfile::tempdir().expect("a temporary folder");
        let link = workspace.path().join(TOOLS_FILE);
        symlink(&first, &link).expect("a link");
        let mut shelf = FileShelf::new(workspace.path());
        assert_eq!(shelf.read_text().expect("readable"), "first");
        fs::remove_file(&link).expect("own link");
        symlink(&second, &link).expect("a link");
        shelf.text = shelf.read_text().expect("readable");
        shelf.replace("changed".to_owned()).expect("replaced");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        let read = |path| fs::read_to_string(path).expect("the file is there");
        assert_eq!(
            (read(first), read(second)),
            ("first".into(), "changed".into())
        );
    }

    #[test]
    fn every_problem_is_told_at_once_and_at_its_line() {
        let text = r#"{"version": 1, "tools": [
{"name": "a", "description": "d", "kind": "builtin", "config": {"name": "calculator"}, "colour": 1},
{"name": "b", "description": "d", "kind": "builtin", "config": {"name": "calculator"},
 "input_schema": {"type": "object",
  "properties": {"x": {
   "type": "strin"}}},
 "output_schema": {
  "$ref": "https://example.com/elsewhere"}},
{"name": "c", "description": 5, "kind": "builtin", "config": {"name": "calculator"}}]}"#;
        let problems = check_tools(text, |_| false).expect_err("four problems");
        let places: Vec<(u32, &str)> = problems
            .iter()
            .map(|problem| (problem.line, problem.path.as_str()))
            .collect();
        assert_eq!(
            places,
            [
                (2, "$.tools[0].colour"),
                (6, "$.tools[1].input_schema.properties.x.type"),
                (7, "$.tools[1].output_schema"),
                (9, "$.tools[2].description"),
            ]
        );
    }
}
