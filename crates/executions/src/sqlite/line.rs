//! The lines of the journal: how a row is written down, and read again after a server was killed.

use super::journal::Rows;
use crate::record::{Execution, Status};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use uuid::Uuid;

/// Most lines are shorter.
const LINE_BYTES: usize = 1024;

/// A row as it is written.
pub(super) struct Line {
    pub(super) text: Vec<u8>,
    /// Of a call whose beginning is a line as well.
    pub(super) is_end: bool,
}

impl Line {
    /// The rest of an ending stands with its beginning.
    pub(super) fn of(row: &Execution, has_begun: bool) -> Self {
        let mut text = Vec::with_capacity(LINE_BYTES);
        match has_begun {
            true => write_end(&mut text, row),
            false => write_line(&mut text, row),
        }
        let is_end = has_begun;
        Line { text, is_end }
    }
}

/// A line with a whole row. What is behind a tool is not part of a row's JSON, but limits count by it.
#[derive(Deserialize)]
struct RowLine {
    row: Execution,
    /// An earlier version knew builtins only.
    #[serde(alias = "builtin")]
    behind: Option<Arc<str>>,
}

/// A line with how a call ended whose beginning is a line as well: the rest stands there.
#[derive(Deserialize)]
struct EndLine<'a> {
    end: Uuid,
    status: Status,
    elapsed_us: i64,
    #[serde(borrow)]
    error_code: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
    #[serde(borrow)]
    log_text: Option<Cow<'a, str>>,
}

impl EndLine<'_> {
    fn apply(self, row: &mut Execution) {
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        row.status = self.status;
        row.elapsed_us = self.elapsed_us;
        row.error_code = owned(self.error_code).map(Cow::Owned);
        row.output = owned(self.output);
        row.error = owned(self.error);
        row.log_text = owned(self.log_text);
    }
}

/// First of all a new line, so that half a line spoils no other.
pub(super) fn write_line(text: &mut Vec<u8>, row: &Execution) {
    text.extend_from_slice(b"\n{\"row\":{");
    let mut members = Members(text);
    members.id("id", Some(row.id));
    members.number("started_at", row.started_at);
    members.text("tool_name", &row.tool_name);
    members.number("tool_version", row.tool_version);
    members.text("tool_hash", &row.tool_hash);
    members.text("caller", &row.caller);
    members.perhaps("key", row.key.as_deref());
    members.id("agent", row.agent);
    members.id("run", row.run);
    members.perhaps("toolset", row.toolset.as_deref());
    members.text("transport", &row.transport);
    members.text("node", &row.node);
    members.text("arguments", &row.arguments);
    members.ending(row);
    text.push(b'}');
    let mut members = Members(text);
    members.perhaps("behind", row.behind.as_deref());
    text.push(b'}');
}

fn write_end(text: &mut Vec<u8>, row: &Execution) {
    text.extend_from_slice(b"\n{");
    let mut members = Members(text);
    members.id("end", Some(row.id));
    members.ending(row);
    text.push(b'}');
}

/// Writes the members of an object. By hand, because it is done twice for every call and takes a third of the time;
/// what there is none of is left out.
struct Members<'a>(&'a mut Vec<u8>);

impl Members<'_> {
    fn name(&mut self, name: &str) {
        if !self.0.ends_with(b"{") {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        // Looks at all of it, which takes less than stopping early.
        let is_special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
        let is_plain = !value
            .bytes()
            .fold(false, |any, byte| any | is_special(&byte));
        if is_plain {
            self.0.push(b'"');
            self.0.extend_from_slice(value.as_bytes());
            self.0.push(b'"');
        } else {
            // Memory takes everything.
            let _ = serde_json::to_writer(&mut *self.0, value);
        }
    }

    fn perhaps(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn id(&mut self, name: &str, id: Option<Uuid>) {
        if let Some(id) = id {
            let mut room = Uuid::encode_buffer();
            self.text(name, id.hyphenated().encode_lower(&mut room));
        }
    }

    fn number(&mut self, name: &str, number: i64) {
        self.name(name);
        let _ = serde_json::to_writer(&mut *self.0, &number);
    }

    /// What is known only when a call has ended.
    fn ending(&mut self, row: &Execution) {
        self.text("status", row.status.as_str());
        self.number("elapsed_us", row.elapsed_us);
        self.perhaps("error_code", row.error_code.as_deref());
        self.perhaps("output", row.output.as_deref());
        self.perhaps("error", row.error.as_deref());
        self.perhaps("log_text", row.log_text.as_deref());
    }
}

/// Whatever can be read: the last line may have been cut off with its server. Endings come last: a beginning may stand in
/// the file that is read later.
pub(super) fn read(texts: &[(&PathBuf, Vec<u8>)]) -> Rows {
    let mut rows = Rows::default();
    let mut ends = Vec::new();
    for (path, text) in texts {
        let lines = text.split(|byte| *byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            if line.starts_with(br#"{"end":"#) {
                match serde_json::from_slice::<EndLine<'_>>(line) {
                    Ok(end) => ends.push(end),
                    Err(error) => cannot_read(path, &error),
                }
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(RowLine { row, behind }) => rows.add(Box::new(Execution { behind, ..row })),
                Err(error) => cannot_read(path, &error),
            }
        }
    }
    for end in ends {
        // Where there is no beginning, its row is in its day file, ending and all.
        if let Some(row) = rows.all.get_mut(&end.end) {
            end.apply(row);
        }
    }
    rows
}

fn cannot_read(path: &Path, error: &serde_json::Error) {
    tracing::warn!(file = %path.display(), %error, "a line of the execution log's journal cannot be read");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owed::tests::ending;

    fn read_back(text: Vec<u8>) -> Vec<Execution> {
        let path = PathBuf::from("journal");
        let rows = read(&[(&path, text)]).all;
        rows.into_values().map(|row| *row).collect()
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let odd = "a\"b\\c\nd\u{1}\u{7f}é한😀{";
        let text = || Some(Arc::from(odd));
        let full = Execution {
            tool_name: odd.into(),
            caller: odd.into(),
            key: text(),
            agent: Some(Uuid::from_u128(7)),
            run: Some(Uuid::from_u128(u128::MAX)),
            toolset: text(),
            transport: Cow::Owned(odd.to_owned()),
            error_code: Some(Cow::Owned(odd.to_owned())),
            elapsed_us: i64::MIN,
            node: "".into(),
            arguments: r#"{"a":"b"}"#.to_owned(),
            output: Some(odd.to_owned()),
            error: Some(String::new()),
            log_text: Some(odd.to_owned()),
            behind: text(),
            ..ending()
        };
        let none = Execution {
            key: None,
            output: None,
            ..ending()
        };
        for row in [full, none] {
            assert_eq!(
                read_back(Line::of(&row, false).text),
                std::slice::from_ref(&row)
            );
            let mut begun = row.clone();
            begun.status = Status::Started;
            begun.elapsed_us = 0;
            begun.error_code = None;
            (begun.output, begun.error, begun.log_text) = (None, None, None);
            let mut both = Line::of(&begun, false).text;
            both.extend(Line::of(&row, true).text);
            assert_eq!(read_back(both), [row]);
        }
    }
}
