//! The file shelf on disk: reading `tools.json` and replacing it so that it is whole at every instant.

use catalog::catalogue::Schemas;
use catalog::problem::Problem;
use catalog::tool::Definition;
use catalog::tools_file::read_tools;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub const TOOLS_FILE: &str = "tools.json";
pub const MCP_FILE: &str = "mcp.json";

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

#[derive(Debug)]
pub enum WriteError {
    /// Somebody edited the file in this very moment; nothing was overwritten.
    ChangedOnDisk,
    Io(io::Error),
}

impl FileShelf {
    pub fn new(workspace: &Path) -> Self {
        let path = workspace.join(TOOLS_FILE);
        // A link is followed, so that replacing the file does not replace the link.
        let path = fs::canonicalize(&path).unwrap_or(path);
        FileShelf {
            path,
            text: String::new(),
        }
    }

    /// Removes what a killed process may have left behind.
    pub fn sweep(&self) {
        let _ = fs::remove_file(self.temporary());
    }

    fn temporary(&self) -> PathBuf {
        self.path.with_file_name(".tools.json.toolcrib-new")
    }

    /// The text on disk, or the problem with getting it.
    pub fn read_text(&self) -> Result<String, Vec<Problem>> {
        read_file(&self.path, TOOLS_FILE, "{\"version\": 1, \"tools\": []}")
    }

    /// Replaces the file by `text`: temporary file, fsync, exchange, fsync of the folder. The exchange gives
    /// us the old file back, so an edit that came in between is seen and put back.
    pub fn replace(&mut self, text: String) -> Result<(), WriteError> {
        let temporary = self.temporary();
        let done = self.write_and_exchange(&temporary, &text);
        let _ = fs::remove_file(&temporary);
        done?;
        self.text = text;
        Ok(())
    }

    fn write_and_exchange(&self, temporary: &Path, text: &str) -> Result<(), WriteError> {
        let mut file = File::create(temporary).map_err(WriteError::Io)?;
        if let Ok(current) = fs::metadata(&self.path) {
            file.set_permissions(current.permissions())
                .map_err(WriteError::Io)?;
        }
        file.write_all(text.as_bytes()).map_err(WriteError::Io)?;
        file.sync_all().map_err(WriteError::Io)?;
        match renameat_with(CWD, temporary, CWD, &self.path, RenameFlags::EXCHANGE) {
            Ok(()) => {
                let replaced = fs::read(temporary).map_err(WriteError::Io)?;
                if replaced != self.text.as_bytes() {
                    renameat_with(CWD, temporary, CWD, &self.path, RenameFlags::EXCHANGE)
                        .map_err(|e| WriteError::Io(e.into()))?;
                    return Err(WriteError::ChangedOnDisk);
                }
            }
            // Some file systems cannot exchange; a plain rename is as atomic, only less watchful.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                fs::rename(temporary, &self.path).map_err(WriteError::Io)?;
            }
            Err(error) => return Err(WriteError::Io(error.into())),
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        File::open(folder)
            .and_then(|f| f.sync_all())
            .map_err(WriteError::Io)
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

/// Reads and checks the whole text; `known` says which definitions were checked before and need no new look
/// at their schemas.
pub fn check_tools(
    text: &str,
    known: impl Fn(&Definition) -> bool,
) -> Result<Vec<Definition>, Vec<Problem>> {
    let file = read_tools(TOOLS_FILE, text)?;
    let mut problems = Vec::new();
    for (i, definition) in file.definitions.iter().enumerate() {
        if known(definition) {
            continue;
        }
        if holds_nul(definition) {
            problems.push(nul_problem(file.lines[i], &format!("$.tools[{i}]")));
        }
        if let Err(why) =
            Schemas::compile(&definition.input_schema, definition.output_schema.as_ref())
        {
            problems.push(schema_problem(
                TOOLS_FILE,
                file.lines[i],
                &format!("$.tools[{i}]"),
                &why,
            ));
        }
    }
    if problems.is_empty() {
        Ok(file.definitions)
    } else {
        Err(problems)
    }
}

/// `why` begins with the field: `input_schema: …`.
pub fn schema_problem(file: &str, line: u32, path: &str, why: &str) -> Problem {
    let (field, reason) = why.split_once(": ").unwrap_or(("input_schema", why));
    Problem {
        file: file.to_owned(),
        line,
        column: 1,
        path: format!("{path}.{field}"),
        expected: "a valid JSON Schema (2020-12, or draft-07 where $schema says so)".to_owned(),
        found: reason.to_owned(),
        remedy: "Correct the schema; patterns must do without look-around and back-references, and $ref must stay inside the schema.".to_owned(),
    }
}

/// PostgreSQL's text and JSON cannot hold U+0000, so neither engine takes it, on either shelf.
pub(crate) fn holds_nul(definition: &Definition) -> bool {
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

fn nul_problem(line: u32, path: &str) -> Problem {
    Problem {
        file: TOOLS_FILE.to_owned(),
        line,
        column: 1,
        path: path.to_owned(),
        expected: "text without the character U+0000".to_owned(),
        found: "\\u0000".to_owned(),
        remedy: "Remove it; no text of a tool needs it.".to_owned(),
    }
}
