//! The lines of the journal: how a row is written down, and read again after a server was killed.

use super::journal::Rows;
use crate::record::{Execution, Status};
use serde::{Deserialize, Serialize};
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
    pub(super) fn of(row: &Execution, has_begun: bool) -> std::io::Result<Self> {
        let mut text = Vec::with_capacity(LINE_BYTES);
        match has_begun {
            true => write_end(&mut text, row)?,
            false => write_line(&mut text, row)?,
        }
        let is_end = has_begun;
        Ok(Line { text, is_end })
    }
}

/// A line with a whole row. What is behind a tool is not part of a row's JSON, but limits count by it.
#[derive(Serialize, Deserialize)]
struct RowLine<R> {
    row: R,
    /// An earlier version knew builtins only.
    #[serde(alias = "builtin")]
    behind: Option<Arc<str>>,
}

/// A line with how a call ended whose beginning is a line as well: the rest stands there.
#[derive(Serialize, Deserialize)]
struct EndLine<'a> {
    end: Uuid,
    status: Status,
    elapsed_us: i64,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    error_code: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    output: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    log_text: Option<Cow<'a, str>>,
}

impl<'a> EndLine<'a> {
    fn of(row: &'a Execution) -> Self {
        EndLine {
            end: row.id,
            status: row.status,
            elapsed_us: row.elapsed_us,
            error_code: row.error_code.as_deref().map(Cow::Borrowed),
            output: row.output.as_deref().map(Cow::Borrowed),
            error: row.error.as_deref().map(Cow::Borrowed),
            log_text: row.log_text.as_deref().map(Cow::Borrowed),
        }
    }

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

pub(super) fn write_line(text: &mut Vec<u8>, row: &Execution) -> std::io::Result<()> {
    // First of all, so that half a line spoils no other.
    text.push(b'\n');
    let behind = row.behind.clone();
    Ok(serde_json::to_writer(text, &RowLine { row, behind })?)
}

fn write_end(text: &mut Vec<u8>, row: &Execution) -> std::io::Result<()> {
    text.push(b'\n');
    Ok(serde_json::to_writer(text, &EndLine::of(row))?)
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
