//! A row into and out of SQLite.

use crate::error::LogError;
use crate::query::{Query, Value, replace, written};
use crate::queue::{Entry, Mode};
use crate::record::{Execution, Status};
use crate::stats::Group;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Row, ToSql, params};
use std::borrow::Cow;
use uuid::Uuid;

macro_rules! insert {
    () => {
        concat!(
            "INSERT INTO executions (",
            written!(),
            ") VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20)"
        )
    };
}
const INSERT_STARTED: &str = concat!(insert!(), " ON CONFLICT (started_at, id) DO NOTHING");
const INSERT_FINISHED: &str = concat!(insert!(), replace!());
const INSERT_INTERRUPTED: &str = concat!(
    insert!(),
    replace!(),
    " WHERE executions.status = 'started'"
);

/// The inserts of a batch, prepared once for all its rows.
pub(super) struct Inserts<'a> {
    started: CachedStatement<'a>,
    finished: CachedStatement<'a>,
    /// For what a killed server left.
    interrupted: Option<CachedStatement<'a>>,
    connection: &'a Connection,
}

impl<'a> Inserts<'a> {
    pub(super) fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        let started = connection.prepare_cached(INSERT_STARTED)?;
        Ok(Inserts {
            started,
            finished: connection.prepare_cached(INSERT_FINISHED)?,
            interrupted: None,
            connection,
        })
    }

    pub(super) fn insert(&mut self, entry: &Entry) -> rusqlite::Result<()> {
        let statement = match entry.mode {
            Mode::Started => &mut self.started,
            Mode::Finish => &mut self.finished,
            Mode::Interrupted => match &mut self.interrupted {
                Some(prepared) => prepared,
                none => none.insert(self.connection.prepare_cached(INSERT_INTERRUPTED)?),
            },
        };
        let row = &entry.row;
        statement.execute(params![
            row.id.as_bytes(),
            row.started_at,
            row.status.as_str(),
            &*row.tool_name,
            row.tool_version,
            &*row.tool_hash,
            &*row.caller,
            row.key.as_deref(),
            row.agent.as_ref().map(Uuid::as_bytes),
            row.run.as_ref().map(Uuid::as_bytes),
            row.toolset.as_deref(),
            row.transport.as_ref(),
            row.error_code.as_deref(),
            row.elapsed_us,
            &*row.node,
            row.arguments,
            row.output,
            row.error,
            row.log_text,
            row.behind.as_deref(),
        ])?;
        Ok(())
    }
}

/// Runs a query, giving each row to `take` until it says that it has enough.
pub(super) fn rows(
    connection: &Connection,
    query: &Query,
    mut take: impl FnMut(Execution) -> bool,
) -> Result<(), LogError> {
    let mut statement = connection.prepare_cached(&query.sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(&query.values))?;
    while let Some(row) = rows.next()? {
        if !take(execution(row)?) {
            break;
        }
    }
    Ok(())
}

pub(super) fn execution(row: &Row<'_>) -> Result<Execution, LogError> {
    Ok(Execution {
        id: uuid(row, 0)?.ok_or_else(|| LogError::damaged("an execution without an id"))?,
        started_at: row.get(1)?,
        status: Status::stored(text(row, 2)?.unwrap_or_default())?,
        tool_name: row.get(3)?,
        tool_version: row.get(4)?,
        tool_hash: row.get(5)?,
        caller: row.get(6)?,
        key: row.get(7)?,
        agent: uuid(row, 8)?,
        run: uuid(row, 9)?,
        toolset: row.get(10)?,
        transport: Cow::Owned(row.get(11)?),
        error_code: row.get::<_, Option<String>>(12)?.map(Cow::Owned),
        elapsed_us: row.get(13)?,
        node: row.get(14)?,
        arguments: row.get(15)?,
        output: row.get(16)?,
        error: row.get(17)?,
        log_text: row.get(18)?,
        behind: None,
    })
}

/// A row of `NEWEST`, still lying in SQLite's memory.
pub(super) fn group<'a>(row: &'a Row<'_>) -> Result<Group<'a>, LogError> {
    Ok(Group {
        tool_name: text(row, 0)?.unwrap_or_default(),
        caller: text(row, 1)?.unwrap_or_default(),
        status: text(row, 2)?.unwrap_or_default(),
        error_code: text(row, 3)?,
        bucket: row.get(4)?,
        oldest: row.get(5)?,
        calls: 1,
    })
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a str>, LogError> {
    row.get_ref(column)?
        .as_str_or_null()
        .map_err(|error| LogError::damaged(error.to_string()))
}

fn uuid(row: &Row<'_>, column: usize) -> Result<Option<Uuid>, LogError> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Blob(bytes) => Uuid::from_slice(bytes)
            .map(Some)
            .map_err(|error| LogError::damaged(error.to_string())),
        other => Err(LogError::damaged(format!(
            "an id that is {:?} instead of a blob",
            other.data_type()
        ))),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Value::Int(number) => ToSqlOutput::from(*number),
            Value::Text(text) => ToSqlOutput::from(text.as_str()),
            Value::Id(id) => ToSqlOutput::Borrowed(ValueRef::Blob(id.as_bytes())),
        })
    }
}
