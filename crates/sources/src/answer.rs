//! Rows become JSON text, once, within a limit of rows and bytes.

use crate::error::Error;
use crate::sound::is_sound;
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;

/// What a tool wants of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// All rows, each an object: a list.
    #[default]
    Records,
    /// The first row as an object, or null.
    Row,
    /// The first value of the first row, or null.
    Scalar,
}

/// What a query gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The answer as JSON text.
    pub json: String,
    /// How many rows the answer holds.
    pub rows: u64,
    /// There were more rows than the call wanted or had room for.
    pub truncated: bool,
    /// How many rows a write touched.
    pub affected: Option<u64>,
}

/// `"name":` for each column, with no name twice: the second `a` is `a_2`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(Arc<[Key]>);

#[derive(Debug)]
struct Key {
    /// As the database has it.
    name: String,
    /// As it stands before a value, with its colon.
    text: String,
}

impl Keys {
    pub(crate) fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Keys {
        let names: Vec<&str> = names.into_iter().collect();
        let key = |(name, unique): (&&str, String)| {
            let mut text = String::with_capacity(unique.len() + 4);
            push_string(&mut text, &unique);
            text.push(':');
            Key {
                name: (*name).to_owned(),
                text,
            }
        };
        Keys(names.iter().zip(apart(&names)).map(key).collect())
    }

    pub(crate) fn are_of<'n>(&self, names: impl Iterator<Item = &'n str>) -> bool {
        self.0.iter().map(|key| key.name.as_str()).eq(names)
    }
}

/// Collects rows. A row is begun, gets its values in order, and is ended.
#[derive(Debug)]
pub(crate) struct Writer {
    shape: Shape,
    out: String,
    keys: Keys,
    rows: u64,
    rows_max: u64,
    bytes_max: usize,
    /// Where the row that is being written began.
    row_start: usize,
    column: usize,
    /// There was no room for a value of the row that is being written.
    full: bool,
    truncated: bool,
}

/// Whether more rows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    Wanted,
    Enough,
}

impl Writer {
    pub(crate) fn new(shape: Shape, rows_max: u64, bytes_max: usize) -> Writer {
        let rows_max = match shape {
            Shape::Records => rows_max,
            Shape::Row | Shape::Scalar => 1,
        };
        Writer {
            shape,
            out: String::new(),
            keys: Keys::default(),
            rows: 0,
            rows_max,
            bytes_max,
            row_start: 0,
            column: 0,
            full: false,
            truncated: false,
        }
    }

    /// How many rows to ask the database for: one more than are shown, so that it is known whether there are more.
    pub(crate) fn rows_wanted(&self) -> u64 {
        match self.shape {
            Shape::Records => self.rows_max.saturating_add(1),
            Shape::Row | Shape::Scalar => 1,
        }
    }

    pub(crate) fn set_keys(&mut self, keys: Keys) {
        self.keys = keys;
    }

    /// Begins a row, unless there are enough already.
    pub(crate) fn begin_row(&mut self) -> More {
        if self.rows >= self.rows_max {
            self.truncated |= self.shape == Shape::Records;
            return More::Enough;
        }
        self.row_start = self.out.len();
        self.column = 0;
        match self.shape {
            Shape::Scalar => {}
            Shape::Row => self.out.push('{'),
            Shape::Records => self.out.push_str(if self.rows == 0 { "[{" } else { ",{" }),
        }
        More::Wanted
    }

    /// Writes the next value of the row, which takes `bytes` or more; `write` puts JSON text at the end of the string. One
    /// for which there is no room is not written, nor what follows in its row.
    pub(crate) fn value(&mut self, bytes: usize, write: impl FnOnce(&mut String)) {
        let index = self.column;
        self.column += 1;
        if self.shape == Shape::Scalar && index > 0 {
            return;
        }
        self.full |= self.out.len().saturating_add(bytes) > self.bytes_max;
        if self.full {
            return;
        }
        if self.shape == Shape::Scalar {
            return write(&mut self.out);
        }
        if index > 0 {
            self.out.push(',');
        }
        match self.keys.0.get(index) {
            Some(key) => self.out.push_str(&key.text),
            None => self.out.push_str("\"\":"),
        }
        write(&mut self.out);
    }

    /// Ends a row. One for which there is no room is taken back.
    pub(crate) fn end_row(&mut self) -> Result<More, Error> {
        if self.shape != Shape::Scalar {
            self.out.push('}');
        } else if self.column == 0 {
            self.out.push_str("null");
        }
        // One byte is for the bracket at the end.
        if std::mem::take(&mut self.full) || self.out.len() + 1 > self.bytes_max {
            // No row at all would read as if there were none.
            if self.shape != Shape::Records || self.rows == 0 {
                return Err(too_large(self.bytes_max));
            }
            self.out.truncate(self.row_start);
            self.truncated = true;
            return Ok(More::Enough);
        }
        self.rows += 1;
        Ok(More::Wanted)
    }

    pub(crate) fn finish(mut self) -> Answer {
        match self.shape {
            Shape::Records if self.rows == 0 => {
                self.out.clear();
                self.out.push_str("[]");
            }
            Shape::Records => self.out.push(']'),
            Shape::Row | Shape::Scalar if self.rows == 0 => self.out.push_str("null"),
            Shape::Row | Shape::Scalar => {}
        }
        Answer {
            json: self.out,
            rows: self.rows,
            truncated: self.truncated,
            affected: None,
        }
    }
}

pub(crate) fn too_large(bytes_max: usize) -> Error {
    Error::TooLarge {
        message: format!(
            "the answer is larger than {bytes_max} bytes; ask for fewer columns or shorter values"
        ),
    }
}

/// The answer of a write that returns no rows.
pub(crate) fn affected(rows: u64) -> Answer {
    Answer {
        json: format!("{{\"affected_rows\":{rows}}}"),
        rows: 0,
        truncated: false,
        affected: Some(rows),
    }
}

fn apart(names: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::with_capacity(names.len());
    let given: HashSet<&str> = names.iter().copied().collect();
    let mut apart = Vec::with_capacity(names.len());
    for name in names {
        let mut unique = (*name).to_owned();
        let mut number = 2;
        while taken.contains(&unique) || (number > 2 && given.contains(unique.as_str())) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        taken.insert(unique.clone());
        apart.push(unique);
    }
    apart
}

/// JSON as it is, or as a string where readers would refuse it.
pub(crate) fn push_json(out: &mut String, text: &str) {
    if is_sound(text) {
        out.push_str(text.trim_ascii());
    } else {
        push_string(out, text);
    }
}

/// A JSON string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        if escape.is_empty() {
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        } else {
            out.push_str(escape);
        }
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out.push('"');
}

/// A whole number; one that a double cannot hold exactly is a string, because most readers of JSON would round it.
pub(crate) fn push_integer(out: &mut String, number: i64) {
    const EXACT: u64 = 1 << 53;
    let text = number.to_string();
    if number.unsigned_abs() <= EXACT {
        out.push_str(&text);
    } else {
        push_string(out, &text);
    }
}

/// Bytes as `\x` and two digits for each, the way PostgreSQL writes them.
pub(crate) fn push_bytes(out: &mut String, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2 + 5);
    out.push_str("\"\\\\x");
    for byte in bytes {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(
        shape: Shape,
        rows_max: u64,
        bytes_max: usize,
        rows: &[&[&str]],
    ) -> Result<Answer, Error> {
        let mut writer = Writer::new(shape, rows_max, bytes_max);
        writer.set_keys(Keys::new(["a", "a", "b"]));
        for row in rows {
            if writer.begin_row() == More::Enough {
                break;
            }
            for value in *row {
                writer.value(value.len(), |out| push_string(out, value));
            }
            if writer.end_row()? == More::Enough {
                break;
            }
        }
        Ok(writer.finish())
    }

    #[test]
    fn shapes_and_caps() {
        let rows: &[&[&str]] = &[&["1", "2", "3"], &["4", "5", "6"]];
        let all = written(Shape::Records, 9, 999, rows).unwrap();
        assert_eq!(
            all.json,
            r#"[{"a":"1","a_2":"2","b":"3"},{"a":"4","a_2":"5","b":"6"}]"#
        );
        assert!(!all.truncated);
        let one = written(Shape::Records, 1, 999, rows).unwrap();
        assert_eq!((one.rows, one.truncated), (1, true));
        let short = written(Shape::Records, 9, 40, rows).unwrap();
        assert_eq!(short.json, r#"[{"a":"1","a_2":"2","b":"3"}]"#);
        assert!(short.truncated);
        let none = written(Shape::Records, 9, 5, rows);
        assert!(matches!(none, Err(Error::TooLarge { .. })), "{none:?}");
        assert_eq!(
            written(Shape::Row, 9, 999, rows).unwrap().json,
            r#"{"a":"1","a_2":"2","b":"3"}"#
        );
        assert_eq!(written(Shape::Scalar, 9, 999, rows).unwrap().json, r#""1""#);
        assert_eq!(written(Shape::Row, 9, 999, &[]).unwrap().json, "null");
        assert_eq!(written(Shape::Scalar, 9, 999, &[]).unwrap().json, "null");
        assert!(written(Shape::Row, 9, 5, rows).is_err());
        let long = "x".repeat(50);
        let cut = written(
            Shape::Records,
            9,
            40,
            &[&["1", "2", "3"], &["1", &long, "3"]],
        )
        .unwrap();
        assert_eq!((cut.rows, cut.truncated), (1, true));
        assert!(written(Shape::Scalar, 9, 40, &[&[&long, "2", "3"]]).is_err());
        assert!(written(Shape::Scalar, 9, 40, &[&["1", &long, "3"]]).is_ok());
    }

    #[test]
    fn names_are_kept_apart() {
        assert_eq!(apart(&["a", "a", "a_2", "a"]), ["a", "a_3", "a_2", "a_4"]);
        assert_eq!(apart(&["?column?", "?column?"]), ["?column?", "?column?_2"]);
    }

    #[test]
    fn strings_and_numbers() {
        let mut out = String::new();
        push_string(&mut out, "a\"\\\n\u{1}한\u{7f}");
        assert_eq!(
            serde_json::from_str::<String>(&out).unwrap(),
            "a\"\\\n\u{1}한\u{7f}"
        );
        let integers = [
            (1 << 53, "9007199254740992"),
            ((1 << 53) + 1, "\"9007199254740993\""),
            (i64::MIN, "\"-9223372036854775808\""),
        ];
        for (number, expected) in integers {
            let mut out = String::new();
            push_integer(&mut out, number);
            assert_eq!(out, expected);
        }
        let mut out = String::new();
        push_bytes(&mut out, &[0, 255]);
        assert_eq!(out, r#""\\x00ff""#);
    }
}
