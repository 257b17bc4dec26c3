//! What to say about text that is not JSON: the usual mistakes are recognised and named.

use super::parse::{MAX_DEPTH, Parser};
use super::path_of_key;

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset of the mistake.
    pub offset: usize,
    /// JSON path of the value being read.
    pub path: String,
    pub expected: String,
    pub found: String,
    pub remedy: String,
}

impl SyntaxError {
    fn new(
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            offset,
            path: String::new(),
            expected: expected.into(),
            found: found.into(),
            remedy: remedy.into(),
        }
    }

    // The path is put together while the parser unwinds, so that good documents pay nothing for it.
    pub(super) fn at_root(mut self) -> Self {
        self.path.insert(0, '$');
        self
    }

    pub(super) fn in_key(mut self, key: &str) -> Self {
        self.path.insert_str(0, &path_of_key("", key));
        self
    }

    pub(super) fn in_item(mut self, index: usize) -> Self {
        self.path.insert_str(0, &format!("[{index}]"));
        self
    }
}

impl Parser<'_> {
    fn line_of(&self, offset: usize) -> usize {
        1 + self.text[..offset].matches('\n').count()
    }

    /// The word or character at the cursor.
    fn found(&self) -> String {
        let rest = &self.text[self.text.floor_char_boundary(self.at)..];
        let word_end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let word: String = rest[..word_end].chars().take(30).collect();
        match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some(_) if !word.is_empty() => format!("`{word}`"),
            Some(c) if c.is_control() => format!("`{}`", c.escape_debug()),
            Some(c) => format!("`{c}`"),
        }
    }

    fn at_comment(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#')
    }

    fn comment(&self, expected: &str) -> SyntaxError {
        let remedy = "JSON has no comments: delete it, or say it in a `description`.";
        SyntaxError::new(self.at, expected, "a comment", remedy)
    }

    /// The text ended inside the bracket at `open`.
    pub(super) fn unclosed(&self, open: usize) -> SyntaxError {
        let opened = &self.text[open..=open];
        let close = closing(opened);
        let line = self.line_of(open);
        SyntaxError::new(
            self.text.trim_end().len(),
            format!("`{close}`"),
            "the end of the text",
            format!("Close the `{opened}` of line {line} with `{close}`."),
        )
    }

    pub(super) fn trailing_comma(&self, comma: usize, close: char) -> SyntaxError {
        SyntaxError::new(
            comma,
            format!("`{close}` right after the last entry"),
            "a trailing comma",
            format!("Delete the comma before `{close}`."),
        )
    }

    pub(super) fn too_deep(&self) -> SyntaxError {
        let remedy = "Flatten the document: nothing a tool needs is nested this deep.";
        SyntaxError::new(
            self.at,
            format!("at most {MAX_DEPTH} levels of nesting"),
            "one level more",
            remedy,
        )
    }

    pub(super) fn text_after_document(&self) -> SyntaxError {
        let expected = "the end of the text";
        if self.at_comment() {
            return self.comment(expected);
        }
        let remedy = "A file holds one JSON value: delete what follows it, or look for a bracket closed too early.";
        SyntaxError::new(self.at, expected, self.found(), remedy)
    }

    pub(super) fn no_value(&self) -> SyntaxError {
        let expected = "a JSON value";
        if self.at_comment() {
            return self.comment(expected);
        }
        let found = self.found();
        let remedy = match found.trim_matches('`') {
            "'" => "Use double quotes (\") around strings.",
            "NaN" | "Infinity" | "inf" | "nan" => {
                "JSON has no such number: use null or leave the member out."
            }
            "True" | "False" => "Write it in lower case: true or false.",
            "None" | "undefined" | "nil" | "NULL" | "Null" => "Write null.",
            "," => "Delete the extra comma, or put a value before it.",
            "}" | "]" => "Put a value here, or delete the `:` or `,` before it.",
            "+" | "." => "Write numbers with a digit first and without `+`, such as 0.5.",
            "the end of the text" => "The document is empty or cut off: write its missing part.",
            word if word.starts_with(char::is_alphabetic) => {
                "Put the text in double quotes, or write true, false or null."
            }
            _ => {
                "Put a string in double quotes, a number, true, false, null, an object or an array here."
            }
        };
        SyntaxError::new(self.at, expected, found, remedy)
    }

    pub(super) fn no_key(&self, open: usize, comma: Option<usize>) -> SyntaxError {
        let expected = "a key in double quotes";
        let found = self.found();
        match (self.peek(), comma) {
            (None, _) => self.unclosed(open),
            (Some(b'}'), Some(comma)) => self.trailing_comma(comma, '}'),
            _ if self.at_comment() => self.comment(expected),
            (Some(b'\''), _) => SyntaxError::new(
                self.at,
                expected,
                "a single quote",
                "Use double quotes (\") around keys.",
            ),
            (Some(b','), _) => {
                SyntaxError::new(self.at, expected, "`,`", "Delete the extra comma.")
            }
            _ => {
                let word = found.trim_matches('`');
                let remedy = format!("Put the key in double quotes: \"{word}\".");
                SyntaxError::new(self.at, expected, found, remedy)
            }
        }
    }

    pub(super) fn no_colon(&self, open: usize, key: &str, end: usize) -> SyntaxError {
        if self.peek().is_none() {
            return self.unclosed(open);
        }
        let remedy = match self.peek() {
            Some(b'=') => "Write `:` instead of `=`.".to_owned(),
            _ => format!("Write `:` and a value after {}.", super::quote_short(key)),
        };
        SyntaxError::new(end, "`:` after the key", self.found(), remedy)
    }

    /// Neither a comma nor the closing bracket after a value that ended at `end`.
    pub(super) fn no_separator(&self, open: usize, end: usize) -> SyntaxError {
        let opened = &self.text[open..=open];
        let close = closing(opened);
        let expected = format!("`,` or `{close}`");
        match self.peek() {
            None => self.unclosed(open),
            _ if self.at_comment() => self.comment(&expected),
            Some(b'}' | b']') => {
                let line = self.line_of(open);
                let remedy = format!("Close the `{opened}` of line {line} with `{close}` first.");
                SyntaxError::new(self.at, expected, self.found(), remedy)
            }
            Some(b':') => {
                let remedy = "A value is followed by a comma: replace the `:`, or put the entries in an object `{}`.";
                SyntaxError::new(self.at, expected, "`:`", remedy)
            }
            // Pointing at the end of the value shows where the comma belongs.
            Some(_) if self.at > end => {
                let remedy = "Put a comma after this value.";
                SyntaxError::new(
                    end,
                    expected,
                    format!("{} and no comma", self.found()),
                    remedy,
                )
            }
            Some(_) => {
                let remedy =
                    "Put a comma between the values, or delete what does not belong to this one.";
                SyntaxError::new(end, expected, self.found(), remedy)
            }
        }
    }

    pub(super) fn bad_number(&self, start: usize) -> SyntaxError {
        let end = self.text[start..]
            .find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '+'))
            .map_or(self.text.len(), |n| start + n);
        let found: String = self.text[start..end].chars().take(30).collect();
        let remedy = if found.ends_with("Infinity") || found.ends_with("inf") {
            "JSON has no such number: use null or leave the member out."
        } else {
            "Write it like -12, 0.5 or 1e9: no leading zeros, digits on both sides of the point."
        };
        SyntaxError::new(start, "a number", format!("`{found}`"), remedy)
    }

    pub(super) fn number_too_large(&self, start: usize) -> SyntaxError {
        let found: String = self.text[start..self.at].chars().take(30).collect();
        SyntaxError::new(
            start,
            "a number of at most 1.8e308",
            format!("`{found}`"),
            "Write a smaller number, or put it in double quotes.",
        )
    }

    pub(super) fn unclosed_string(&self, open: usize) -> SyntaxError {
        SyntaxError::new(
            open,
            "a closing double quote",
            "the end of the text",
            "Close this string with a double quote (\").",
        )
    }

    pub(super) fn control_in_string(&self, open: usize) -> SyntaxError {
        if matches!(self.peek(), Some(b'\n' | b'\r')) {
            return SyntaxError::new(
                open,
                "a closing double quote on the same line",
                "the end of the line",
                "Close this string with a double quote (\"); write a line break inside a string as \\n.",
            );
        }
        let code = self.peek().unwrap_or_default();
        let remedy = match code {
            b'\t' => "Write a tab inside a string as \\t.".to_owned(),
            _ => format!("Write this character as \\u{code:04x}."),
        };
        let found = format!("the control character U+{code:04X}");
        SyntaxError::new(self.at, "no control character in a string", found, remedy)
    }

    pub(super) fn bad_escape(&self, start: usize) -> SyntaxError {
        let shown: String = self.text[start..].chars().take(2).collect();
        let (expected, remedy) = if shown == "\\u" {
            (
                "four hexadecimal digits after \\u",
                "Write four digits, such as \\u00e9, or the character itself.".to_owned(),
            )
        } else {
            let remedy =
                "Write a backslash as \\\\ (also in Windows paths and regular expressions).";
            (
                "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
                remedy.to_owned(),
            )
        };
        SyntaxError::new(
            start,
            expected,
            format!("`{}`", shown.escape_debug()),
            remedy,
        )
    }

    pub(super) fn lone_surrogate(&self, start: usize) -> SyntaxError {
        SyntaxError::new(
            start,
            "a surrogate pair \\uD8xx\\uDCxx",
            "half of one",
            "Write both halves, or the character itself.",
        )
    }
}

fn closing(open: &str) -> char {
    if open == "{" { '}' } else { ']' }
}
