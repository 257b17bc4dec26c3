//! A named text with its line index: turns byte offsets into problems a person can find.

use super::{Node, Reader, parse};
use crate::problem::Problem;

/// Where the lines of a text begin.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub fn new(text: &str) -> Self {
        // A byte order mark is not a column.
        let first = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let rest = text.match_indices('\n');
        let starts = std::iter::once(first)
            .chain(rest.map(|(at, _)| at + 1))
            .collect();
        Self { starts }
    }

    /// The 1-based line of an offset.
    pub fn line(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(line.max(1)).unwrap_or(u32::MAX)
    }

    /// Line and column, both 1-based, the column counted in characters. Offsets past the end mean the end.
    pub fn place(&self, text: &str, offset: usize) -> (u32, u32) {
        let offset = text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1].min(offset);
        let column = text[start..offset].chars().count() + 1;
        (
            u32::try_from(line).unwrap_or(u32::MAX),
            u32::try_from(column).unwrap_or(u32::MAX),
        )
    }
}

/// A text and the name to report its problems under.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    pub file: &'a str,
    pub text: &'a str,
    lines: LineIndex,
}

/// Why a text is no JSON object; nothing where it is one.
pub fn object_problems(file: &str, text: &str) -> Vec<Problem> {
    let doc = Document::new(file, text);
    let mut problems = Vec::new();
    match doc.parse() {
        Ok(node) => drop(Reader::new(&doc, &mut problems).members(&node, "$")),
        Err(found) => problems = found,
    }
    problems
}

impl<'a> Document<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            lines: LineIndex::new(text),
        }
    }

    /// The document's value, or why it is not JSON.
    pub fn parse(&self) -> Result<Node, Vec<Problem>> {
        parse(self.text)
            .map_err(|e| vec![self.problem(e.offset, e.path, e.expected, e.found, e.remedy)])
    }

    pub fn line(&self, offset: usize) -> u32 {
        self.lines.line(offset)
    }

    pub fn problem(
        &self,
        offset: usize,
        path: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Problem {
        let (line, column) = self.lines.place(self.text, offset);
        Problem {
            file: self.file.to_owned(),
            line,
            column,
            path: path.into(),
            expected: expected.into(),
            found: found.into(),
            remedy: remedy.into(),
        }
    }
}
