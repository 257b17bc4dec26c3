//! One thing that is wrong in a document: where, what was expected, what was found, how to mend it.

use serde::Serialize;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Name of the document: a file's name, or `body` for a request.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, counted in characters.
    pub column: u32,
    /// JSON path such as `$.tools[3].config.method`.
    pub path: String,
    pub expected: String,
    pub found: String,
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: at {}: expected {}, found {}. {}",
            self.file, self.line, self.column, self.path, self.expected, self.found, self.remedy
        )
    }
}
