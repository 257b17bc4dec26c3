//! A row into and out of SQLite.

use crate::error::LogError;
use crate::query::{Query, Value, replace, written};
use crate::queue::{Entry, Mode};
use crate::record::{Execution, Status};
use crate::stats::Group;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Row, Statement, ToSql};
use std::borrow::Cow;
use uuid::Uuid;

/// A place in an insert for each of `written!`.
macro_rules! places {
    () => {
        "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
    };
}
/// `OR FAIL`: after an error all is taken back with its transaction, so SQLite need not be able to take back a statement.
macro_rules! insert {
    () => {
        concat!("INSERT OR FAIL INTO executions (", written!(), ") VALUES ")
    };
}
const INSERT_STARTED: &str = concat!(
    insert!(),
    places!(),
    " ON CONFLICT (started_at, id) DO NOTHING"
);
const INSERT_FINISHED: &str = concat!(insert!(), places!(), replace!());
const INSERT_INTERRUPTED: &str = concat!(
    insert!(),
    places!(),
    replace!(),
    " WHERE executions.status = 'started'"
);

/// Ends of calls are most of all rows, so several go into one statement: each new one finds its place in the trees from the
/// place of the last.
const TOGETHER: usize = 16;
macro_rules! four {
    ($places:expr) => {
        concat!($places, ",", $places, ",", $places, ",", $places)
    };
}
const INSERT_TOGETHER: &str = concat!(insert!(), four!(four!(places!())), replace!());

/// The inserts of a batch, prepared once for all its rows.
pub(super) struct Inserts<'a> {
    started: CachedStatement<'a>,
    finished: CachedStatement<'a>,
    together: CachedStatement<'a>,
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
            together: connection.prepare_cached(INSERT_TOGETHER)?,
            interrupted: None,
            connection,
        })
    }

    /// In their order.
    pub(super) fn insert(&mut self, entries: &[Entry]) -> rusqlite::Result<()> {
        let mut left = entries;
        while let Some(first) = left.first() {
            let several = left.first_chunk::<TOGETHER>();
            let several = several.filter(|all| all.iter().all(|it| it.mode == Mode::Finish));
            let (statement, now) = match (several, first.mode) {
                (Some(_), _) => (&mut self.together, TOGETHER),
                (None, Mode::Finish) => (&mut self.finished, 1),
                (None, Mode::Started) => (&mut self.started, 1),
                (None, Mode::Interrupted) => {
                    let prepared = match &mut self.interrupted {
                        Some(prepared) => prepared,
                        none => none.insert(self.connection.prepare_cached(INSERT_INTERRUPTED)?),
                    };
                    (prepared, 1)
                }
            };
            let (these, rest) = left.split_at(now);
            let mut place = 0;
            for entry in these {
                bind(statement, &mut place, &entry.row)?;
            }
            statement.raw_execute()?;
            left = rest;
        }
        Ok(())
    }
}

/// A row into the places of a statement that follow `place`, in the order of `written!`.
fn bind(statement: &mut Statement<'_>, place: &mut usize, row: &Execution) -> rusqlite::Result<()> {
    let mut next = |value: &dyn ToSql| {
        *place += 1;
        statement.raw_bind_parameter(*place, value)
    };
    next(row.id.as_bytes())?;
    next(&row.started_at)?;
    next(&row.status.as_str())?;
    next(&&*row.tool_name)?;
    next(&row.tool_version)?;
    next(&&*row.tool_hash)?;
    next(&&*row.caller)?;
    next(&row.key.as_deref())?;
    next(&row.agent.as_ref().map(Uuid::as_bytes))?;
    next(&row.run.as_ref().map(Uuid::as_bytes))?;
    next(&row.toolset.as_deref())?;
    next(&row.transport.as_ref())?;
    next(&row.error_code.as_deref())?;
    next(&row.elapsed_us)?;
    next(&&*row.node)?;
    next(&row.arguments)?;
    next(&row.output)?;
    next(&row.error)?;
    next(&row.log_text)?;
    next(&row.behind.as_deref())
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
        slot: row.get(6)?,
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
