//! Rows into and out of PostgreSQL.

use crate::error::LogError;
use crate::query::{Query, Value, replace, written};
use crate::queue::{Entry, Mode};
use crate::record::{Execution, Status};
use crate::stats::Group;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{AssertSqlSafe, PgConnection, Postgres, Row};
use std::borrow::Cow;
use uuid::Uuid;

/// One array a column: a batch is one statement, atomic, in one round trip.
macro_rules! insert {
    () => {
        concat!(
            "INSERT INTO executions (",
            written!(),
            ") SELECT * FROM UNNEST($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::uuid[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[])"
        )
    };
}
const INSERT_STARTED: &str = concat!(insert!(), " ON CONFLICT (started_at, id) DO NOTHING");
const INSERT_FINISHED: &str = concat!(insert!(), replace!());

/// Inserts entries of one mode.
pub(super) async fn insert(
    connection: &mut PgConnection,
    mode: Mode,
    entries: &[Entry],
) -> Result<(), sqlx::Error> {
    let sql = match mode {
        Mode::Started => INSERT_STARTED,
        Mode::Finish | Mode::Interrupted => INSERT_FINISHED,
    };
    sqlx::query(sql)
        .bind(column(entries, |row| row.id))
        .bind(column(entries, |row| row.started_at))
        .bind(column(entries, |row| row.status.as_str()))
        .bind(column(entries, |row| &*row.tool_name))
        .bind(column(entries, |row| row.tool_version))
        .bind(column(entries, |row| &*row.tool_hash))
        .bind(column(entries, |row| &*row.caller))
        .bind(column(entries, |row| row.key.as_deref()))
        .bind(column(entries, |row| row.agent))
        .bind(column(entries, |row| row.run))
        .bind(column(entries, |row| row.toolset.as_deref()))
        .bind(column(entries, |row| row.transport.as_ref()))
        .bind(column(entries, |row| row.error_code.as_deref()))
        .bind(column(entries, |row| row.elapsed_us))
        .bind(column(entries, |row| &*row.node))
        .bind(column(entries, |row| row.arguments.as_str()))
        .bind(column(entries, |row| row.output.as_deref()))
        .bind(column(entries, |row| row.error.as_deref()))
        .bind(column(entries, |row| row.log_text.as_deref()))
        .bind(column(entries, |row| row.behind.as_deref()))
        .execute(connection)
        .await?;
    Ok(())
}

fn column<'a, T>(entries: &'a [Entry], of: impl Fn(&'a Execution) -> T) -> Vec<T> {
    entries.iter().map(|entry| of(&entry.row)).collect()
}

/// The statement is this crate's own text; everything from outside is among the values.
pub(super) fn bound(query: Query) -> sqlx::query::Query<'static, Postgres, PgArguments> {
    let mut statement = sqlx::query(AssertSqlSafe(query.sql));
    for value in query.values {
        statement = match value {
            Value::Int(number) => statement.bind(number),
            Value::Text(text) => statement.bind(text),
            Value::Id(id) => statement.bind(id),
        };
    }
    statement
}

pub(super) fn execution(row: &PgRow) -> Result<Execution, LogError> {
    let text = |column: usize| row.try_get::<&str, _>(column);
    let optional = |column: usize| row.try_get::<Option<&str>, _>(column);
    let owned = |column: usize| row.try_get::<Option<String>, _>(column);
    Ok(Execution {
        id: row.try_get::<Uuid, _>(0)?,
        started_at: row.try_get(1)?,
        status: Status::stored(text(2)?)?,
        tool_name: text(3)?.into(),
        tool_version: row.try_get(4)?,
        tool_hash: text(5)?.into(),
        caller: text(6)?.into(),
        key: optional(7)?.map(Into::into),
        agent: row.try_get(8)?,
        run: row.try_get(9)?,
        toolset: optional(10)?.map(Into::into),
        transport: Cow::Owned(row.try_get(11)?),
        error_code: owned(12)?.map(Cow::Owned),
        elapsed_us: row.try_get(13)?,
        node: text(14)?.into(),
        arguments: row.try_get(15)?,
        output: owned(16)?,
        error: owned(17)?,
        log_text: owned(18)?,
        behind: None,
    })
}

/// A row of `GROUPS`.
pub(super) fn group(row: &PgRow) -> Result<Group<'_>, LogError> {
    Ok(Group {
        tool_name: row.try_get(0)?,
        caller: row.try_get(1)?,
        status: row.try_get(2)?,
        error_code: row.try_get(3)?,
        bucket: row.try_get(4)?,
        oldest: row.try_get(5)?,
        slot: row.try_get(6)?,
        calls: row.try_get(7)?,
    })
}
