//! Records from a file of JSON lines: `{"id": …, "document": …, "embedding"?: […], "metadata"?: {…}}`. All of it is
//! good, or nothing of it is taken; then every bad line is told by its number, up to a point.

use crate::Result;
use crate::embedded::Limits;
use crate::error::{Error, Problem};
use crate::record::{ID_BYTES_MAX, Metadata, is_finite, unusable_metadata};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{BufRead, Read};

/// A record that may still lack its vector; then its document is to be embedded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Vec<f32>>,
    pub document: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// A line longer than this is no record.
const LINE_BYTES_MAX: usize = 4 << 20;
/// More problems than this are only counted.
const PROBLEMS_MAX: usize = 20;

/// Reads all lines. Empty ones count, but say nothing.
pub fn read(mut input: impl BufRead, limits: &Limits) -> Result<Vec<Line>> {
    let mut reading = Reading::default();
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let mut bounded = input.by_ref().take(LINE_BYTES_MAX as u64 + 1);
        let length = bounded
            .read_until(b'\n', &mut bytes)
            .map_err(Error::file("The file of records", "read"))?;
        if length == 0 {
            break;
        }
        if length > LINE_BYTES_MAX {
            reading.problem(number, format!("it is longer than {LINE_BYTES_MAX} bytes"));
            // Where it ends is unknown, and with it what the lines after it are.
            break;
        }
        if number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        reading.line(number, &bytes, limits);
        if reading.lines.len() > limits.vectors_max {
            return Err(Error::TooMuch(format!(
                "The file holds more than {} records; import it in parts, into several collections",
                limits.vectors_max
            )));
        }
    }
    reading.finish()
}

/// Looks at lines that were read elsewhere in the same way; the first of them is line 1.
pub fn check(lines: Vec<Line>, limits: &Limits) -> Result<Vec<Line>> {
    if lines.len() > limits.vectors_max {
        return Err(Error::TooMuch(format!(
            "{} records are more than a collection holds, which is {}",
            lines.len(),
            limits.vectors_max
        )));
    }
    let mut reading = Reading::default();
    for (index, line) in lines.into_iter().enumerate() {
        reading.take(index + 1, line, limits);
    }
    reading.finish()
}

#[derive(Default)]
struct Reading {
    lines: Vec<Line>,
    problems: Vec<Problem>,
    more: usize,
    /// Where each id was first.
    ids: HashMap<String, usize>,
    /// How long the first vector was, and where.
    dimension: Option<(usize, usize)>,
}

impl Reading {
    fn line(&mut self, number: usize, bytes: &[u8], limits: &Limits) {
        match serde_json::from_slice::<Line>(bytes) {
            Ok(line) => self.take(number, line, limits),
            Err(error) => self.problem(number, plain(&error)),
        }
    }

    fn take(&mut self, number: usize, line: Line, limits: &Limits) {
        match self.check(&line, number, limits) {
            Ok(()) => self.lines.push(line),
            Err(what) => self.problem(number, what),
        }
    }

    fn finish(self) -> Result<Vec<Line>> {
        match self.problems.is_empty() {
            true => Ok(self.lines),
            false => Err(Error::Lines {
                problems: self.problems,
                more: self.more,
            }),
        }
    }

    fn check(
        &mut self,
        line: &Line,
        number: usize,
        limits: &Limits,
    ) -> std::result::Result<(), String> {
        if line.id.is_empty() {
            return Err("its id is empty".to_owned());
        }
        if line.id.len() > ID_BYTES_MAX {
            return Err(format!("its id is longer than {ID_BYTES_MAX} bytes"));
        }
        if let Some(first) = self.ids.insert(line.id.clone(), number) {
            return Err(format!(
                "its id '{}' stands in line {first} already",
                line.id
            ));
        }
        if let Some(what) = line.metadata.as_ref().and_then(unusable_metadata) {
            return Err(format!("it {what}"));
        }
        match &line.embedding {
            Some(embedding) => self.check_embedding(embedding, number, limits),
            None => Ok(()),
        }
    }

    fn check_embedding(
        &mut self,
        embedding: &[f32],
        number: usize,
        limits: &Limits,
    ) -> std::result::Result<(), String> {
        let found = embedding.len();
        if found == 0 || found > limits.dimensions_max {
            return Err(format!(
                "its embedding has {found} numbers; it can have from 1 to {}",
                limits.dimensions_max
            ));
        }
        if !is_finite(embedding) {
            return Err("its embedding holds a number that is too large".to_owned());
        }
        let (expected, first) = *self.dimension.get_or_insert((found, number));
        match found == expected {
            true => Ok(()),
            false => Err(format!(
                "its embedding has {found} numbers, and that of line {first} has {expected}; all must be equally long"
            )),
        }
    }

    fn problem(&mut self, line: usize, what: String) {
        match self.problems.len() < PROBLEMS_MAX {
            true => self.problems.push(Problem { line, what }),
            false => self.more += 1,
        }
    }
}

/// What the reader of JSON says, without its own idea of the line.
fn plain(error: &serde_json::Error) -> String {
    const CHARS_MAX: usize = 200;
    let text = error.to_string();
    let what = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(what, _)| what);
    // It may quote all of a string that stands in the wrong place.
    let what: String = what.chars().take(CHARS_MAX).collect();
    match error.column() {
        0 => what,
        column => format!("{what} (column {column})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Line>> {
        read(text.as_bytes(), &Limits::default())
    }

    fn problems(text: &str) -> Vec<Problem> {
        match read_text(text) {
            Err(Error::Lines { problems, .. }) => problems,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_with_and_without_vectors() {
        let text = "\u{feff}{\"id\":\"a\",\"document\":\"사용자 이메일\"}\r\n\n  \n{\"id\":\"b\",\"embedding\":[1,2.5e-1],\"document\":\"d\",\"metadata\":{\"t\":\"users\"}}";
        let lines = read_text(text).unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].document, "사용자 이메일");
        assert_eq!(lines[0].embedding, None);
        assert_eq!(lines[1].embedding.as_deref(), Some(&[1.0, 0.25][..]));
        assert_eq!(lines[1].metadata.as_ref().unwrap()["t"], "users");
        assert_eq!(read_text("").unwrap(), []);
    }

    #[test]
    fn every_bad_line_is_told_by_its_number() {
        let text = [
            r#"{"id":"a","document":"d","embedding":[1,2]}"#,
            r#"{"id":"b"}"#,
            "not json",
            r#"{"id":"a","document":"again"}"#,
            "",
            r#"{"id":"c","document":"d","embedding":[1,2,3]}"#,
            r#"{"id":"d","document":"d","embedding":[1e300,2]}"#,
            r#"{"id":"e","document":"d","embedding":[]}"#,
            r#"{"id":"f","document":"d","metadata":{"tags":["x"]}}"#,
            r#"{"id":"","document":"d"}"#,
            r#"{"id":"g","document":"d","text":"x"}"#,
            r#"{"id":7,"document":"d"}"#,
        ];
        let found = problems(&text.join("\n"));
        let expected = [
            (2, "missing field `document`"),
            (3, "expected"),
            (4, "'a' stands in line 1 already"),
            (6, "3 numbers, and that of line 1 has 2"),
            (7, ""),
            (8, "0 numbers"),
            (9, "a list as its metadata 'tags'"),
            (10, "its id is empty"),
            (11, "unknown field `text`"),
            (12, "invalid type"),
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (problem, (line, what)) in found.iter().zip(expected) {
            assert_eq!(problem.line, line);
            assert!(problem.what.contains(what), "{problem}");
            assert!(!problem.what.contains("line 1 column"), "{problem}");
        }
        let error = read_text(&text.join("\n")).unwrap_err().to_string();
        assert!(
            error.starts_with("Nothing was imported: line 2: "),
            "{error}"
        );
    }

    #[test]
    fn what_has_no_end_is_bounded() {
        let many = "x\n".repeat(PROBLEMS_MAX + 5);
        assert_eq!(problems(&many).len(), PROBLEMS_MAX);
        assert!(
            read_text(&many)
                .unwrap_err()
                .to_string()
                .ends_with("and 5 more lines")
        );
        let long = format!(
            "{{\"id\":\"a\",\"document\":\"{}\"}}",
            "x".repeat(LINE_BYTES_MAX)
        );
        assert!(problems(&long)[0].what.contains("longer than"));
        let limits = Limits {
            vectors_max: 1,
            ..Limits::default()
        };
        let two = "{\"id\":\"a\",\"document\":\"\"}\n{\"id\":\"b\",\"document\":\"\"}";
        assert!(matches!(
            read(two.as_bytes(), &limits),
            Err(Error::TooMuch(_))
        ));
    }
}
