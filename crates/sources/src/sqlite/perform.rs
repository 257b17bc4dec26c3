//! What is done on a blocking thread: one statement, watched by the clock, its rows as JSON.

use super::heavy::{Care, Memory};
use super::open::BUSY_MAX;
use super::{VALUE_BYTES_MAX, codes};
use crate::answer::{
    Answer, Keys, More, Shape, Writer, affected, push_bytes, push_integer, push_string,
};
use crate::error::Error;
use crate::memo::Memo;
use crate::source::Call;
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How many steps of its machine SQLite makes between two looks at the clock.
pub(super) const STEPS: i32 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Read,
    Write,
    /// Have SQLite read the text as one that writes, and run nothing.
    LookAtWrite,
    Explain,
}

#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
    pub(super) care: Care,
    /// What is learned of a text that will come again. Of such it is worth keeping what SQLite made of it, too.
    pub(super) recurs: Option<Arc<Memo>>,
    pub(super) shape: Shape,
    pub(super) rows_max: u64,
    pub(super) bytes_max: usize,
}

impl Job {
    pub(super) fn new(work: Work, sql: String, values: Vec<Value>, call: &Call) -> Job {
        Job {
            work,
            sql,
            values,
            care: Care {
                value_bytes_max: VALUE_BYTES_MAX,
                steps: STEPS,
                growth_bytes_max: None,
                is_heavy: false,
                is_deep: false,
            },
            recurs: None,
            shape: call.shape,
            rows_max: call.rows_max,
            bytes_max: call.bytes_max,
        }
    }
}

/// When to stop: at the deadline, or when nobody wants the answer any more.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) deadline: Instant,
    pub(super) unwanted: AtomicBool,
    /// The query has gathered more than it may.
    pub(super) too_much: AtomicBool,
}

impl Stop {
    pub(super) fn now(&self) -> bool {
        self.unwanted.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// What was answered as stopped must not be done afterwards: asked wherever a wait may have been long.
    fn check(&self) -> Result<(), Error> {
        match self.now() {
            true => Err(self.error()),
            false => Ok(()),
        }
    }

    fn error(&self) -> Error {
        if self.too_much.load(Ordering::Relaxed) {
            Error::TooLarge {
                message: "the query was stopped because it gathered too much; ask for fewer or shorter values"
                    .to_owned(),
            }
        } else if self.unwanted.load(Ordering::Relaxed) {
            Error::Cancelled
        } else {
            Error::Deadline
        }
    }
}

/// Runs the job. An error means that the connection is not to be used again, `Ok(Err(…))` that it is fine.
pub(super) fn perform(
    connection: &Connection,
    job: &Job,
    stop: &Arc<Stop>,
) -> Result<Result<Answer, Error>, Error> {
    let watch = Arc::clone(stop);
    let mut memory = job.care.growth_bytes_max.and_then(Memory::watch);
    let unwanted = move || {
        let too_much = memory.as_mut().is_some_and(Memory::is_too_much);
        if too_much {
            watch.too_much.store(true, Ordering::Relaxed);
        }
        too_much || watch.now()
    };
    let set_up = connection
        .progress_handler(job.care.steps, Some(unwanted))
        .and_then(|()| be_patient(connection, stop))
        .and_then(|()| connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, job.care.value_bytes_max));
    set_up.map_err(|error| told(&error, stop))?;
    let work = || match job.work {
        Work::Write => write(connection, job, stop),
        Work::LookAtWrite => look(connection, job, stop),
        Work::Read | Work::Explain => read(connection, job, stop),
    };
    let mut answer = work();
    let reads = matches!(job.work, Work::Read | Work::Explain);
    if reads
        && answer.as_ref().is_err_and(super::rtree::may_sleep)
        && super::rtree::wake(connection).map_err(|error| told(&error, stop))?
    {
        answer = work();
    }
    connection
        .progress_handler(0, None::<fn() -> bool>)
        .map_err(|error| told(&error, stop))?;
    if !connection.is_autocommit() {
        return Err(answer.err().unwrap_or_else(|| {
            Error::unavailable("the query left a transaction open, so its connection was closed")
        }));
    }
    Ok(answer)
}

/// Nobody waits for the lock of somebody else longer than the call does.
fn be_patient(connection: &Connection, stop: &Stop) -> Result<(), rusqlite::Error> {
    let left = stop.deadline.saturating_duration_since(Instant::now());
    connection.busy_timeout(left.min(BUSY_MAX))
}

fn read(connection: &Connection, job: &Job, stop: &Stop) -> Result<Answer, Error> {
    let tell = |error: rusqlite::Error| told(&error, stop);
    if job.recurs.is_some() {
        let mut statement = connection.prepare_cached(&job.sql).map_err(tell)?;
        return query(&mut statement, job, &tell);
    }
    let mut plain = connection.prepare(&job.sql).map_err(tell)?;
    if job.work != Work::Explain {
        return query(&mut plain, job, &tell);
    }
    // There are plans of what may not be run: what is explained is always something that only reads.
    check_reads(&plain)?;
    let explain = format!("EXPLAIN QUERY PLAN {}", job.sql);
    query(&mut connection.prepare(&explain).map_err(tell)?, job, &tell)
}

fn check_reads(statement: &Statement<'_>) -> Result<(), Error> {
    match statement.readonly() && statement.column_count() > 0 {
        true => Ok(()),
        false => Err(reads_only()),
    }
}

fn reads_only() -> Error {
    Error::refused("only queries that read are run here; expected SELECT, WITH or VALUES")
}

/// `tell` says what SQLite's errors mean here.
pub(super) fn query(
    statement: &mut Statement<'_>,
    job: &Job,
    tell: &impl Fn(rusqlite::Error) -> Error,
) -> Result<Answer, Error> {
    check_reads(statement)?;
    let explains = statement.is_explain() != 0;
    if explains != (job.work == Work::Explain) {
        return Err(reads_only());
    }
    rows(statement, job, tell).map(Writer::finish)
}

fn look(connection: &Connection, job: &Job, stop: &Stop) -> Result<Answer, Error> {
    let tell = |error: rusqlite::Error| told(&error, stop);
    connection.prepare(&job.sql).map_err(tell)?;
    Ok(affected(0))
}

fn write(connection: &Connection, job: &Job, stop: &Stop) -> Result<Answer, Error> {
    let tell = |error: rusqlite::Error| match stop.check() {
        // A lock that was not given before the deadline, say.
        Err(stopped) => stopped,
        Ok(()) => told(&error, stop),
    };
    // Others may have had the connection, and then the file, for longer than the caller waits.
    stop.check()?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(tell)?;
    let before = connection.total_changes();
    let written = stop
        .check()
        .and_then(|()| connection.prepare(&job.sql).map_err(tell))
        .and_then(|mut statement| {
            let returns = statement.column_count() > 0;
            rows(&mut statement, job, &tell).map(|writer| (returns, writer))
        })
        .and_then(|written| {
            be_patient(connection, stop).map_err(tell)?;
            // A short statement takes fewer steps than there are between two looks at the clock.
            stop.check().map(|()| written)
        });
    let end = if written.is_ok() {
        "COMMIT"
    } else {
        "ROLLBACK"
    };
    // What triggers and keys did beside it is not counted, unless they did all of it, for a view. What changed nothing
    // leaves the count of what was before.
    let touched = match (connection.total_changes() - before, connection.changes()) {
        (0, _) => 0,
        (all, 0) => all,
        (_, own) => own,
    };
    if let Err(error) = connection.execute_batch(end) {
        // A commit that failed leaves the transaction open; what is asked for then is that nothing stays.
        if !connection.is_autocommit() {
            drop(connection.execute_batch("ROLLBACK"));
        }
        return Err(written.err().unwrap_or_else(|| tell(error)));
    }
    let (returns, writer) = written?;
    if !returns {
        return Ok(affected(touched));
    }
    Ok(Answer {
        affected: Some(touched),
        ..writer.finish()
    })
}

fn rows(
    statement: &mut Statement<'_>,
    job: &Job,
    tell: &impl Fn(rusqlite::Error) -> Error,
) -> Result<Writer, Error> {
    if statement.parameter_count() != job.values.len() {
        return Err(Error::refused(
            "the query holds parameters that nothing is bound to; write the values",
        ));
    }
    for (index, value) in job.values.iter().enumerate() {
        statement
            .raw_bind_parameter(index + 1, value)
            .map_err(tell)?;
    }
    let mut writer = Writer::new(job.shape, job.rows_max, job.bytes_max);
    let writes = job.work == Work::Write;
    let mut more = More::Wanted;
    let mut rows = statement.raw_query();
    let mut count = None;
    while let Some(row) = rows.next().map_err(tell)? {
        // Not before the first step: a statement that was kept is made anew by it where the tables have changed since.
        let count = *count.get_or_insert_with(|| {
            writer.set_keys(keys(row.as_ref(), job));
            row.as_ref().column_count()
        });
        if more == More::Enough || writer.begin_row() == More::Enough {
            more = More::Enough;
            // A write has to come to its end whatever of it is shown.
            if writes {
                continue;
            }
            break;
        }
        for index in 0..count {
            let value = row.get_ref(index).map_err(tell)?;
            let bytes = match value {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
                _ => 1,
            };
            writer.value(bytes, |out| push_value(out, value));
        }
        more = writer.end_row()?;
    }
    drop(rows);
    if count.is_none() {
        writer.set_keys(keys(statement, job));
    }
    Ok(writer)
}

fn keys(statement: &Statement<'_>, job: &Job) -> Keys {
    let names = 0..statement.column_count();
    let names = names.map(|index| statement.column_name(index).unwrap_or_default());
    match &job.recurs {
        Some(memo) => memo.keys(names),
        None => Keys::new(names),
    }
}

fn push_value(out: &mut String, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.push_str("null"),
        ValueRef::Integer(number) => push_integer(out, number),
        ValueRef::Real(number) if number.is_finite() => {
            // Written with a point, so that 1.0 stays a number with one.
            out.push_str(&format!("{number:?}"));
        }
        ValueRef::Real(number) => push_string(
            out,
            if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            },
        ),
        ValueRef::Text(text) => push_string(out, &String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => push_bytes(out, bytes),
    }
}

/// What SQLite says, by what can be done about it.
pub(super) fn told(error: &rusqlite::Error, stop: &Stop) -> Error {
    let message = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    let failure = match error {
        rusqlite::Error::SqlInputError { error, .. } => Some(error),
        other => other.sqlite_error(),
    };
    match failure.map(|failure| failure.code) {
        Some(ErrorCode::OperationInterrupted) => stop.error(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::unavailable(message),
        Some(ErrorCode::CannotOpen | ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            Error::source(message)
        }
        Some(ErrorCode::TooBig) => Error::TooLarge {
            message: "a text or blob is longer than a query like this may hold; ask for shorter ones, or less of them at once"
                .to_owned(),
        },
        Some(ErrorCode::AuthorizationForStatementDenied) => Error::refused(format!(
            "{message}: only queries that read the tables of the file are run here"
        )),
        Some(_) => Error::Database {
            message,
            hint: None,
            code: failure.map(codes::name).unwrap_or_default(),
            parameter: None,
        },
        None => Error::refused(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio_util::sync::CancellationToken;

    fn stop(left: Duration) -> Arc<Stop> {
        Arc::new(Stop {
            deadline: Instant::now() + left,
            unwanted: AtomicBool::new(false),
            too_much: AtomicBool::new(false),
        })
    }

    fn insert() -> Job {
        let call = Call {
            tool: "t".into(),
            deadline: tokio::time::Instant::now(),
            cancel: CancellationToken::new(),
            shape: Shape::Records,
            rows_max: 1,
            bytes_max: 100,
        };
        let sql = "INSERT INTO t VALUES (1)".to_owned();
        Job::new(Work::Write, sql, Vec::new(), &call)
    }

    #[test]
    fn what_nobody_waits_for_is_not_written() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        let count = || {
            let count = connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0));
            count.unwrap_or(-1_i64)
        };
        let long = Duration::from_secs(600);
        // The caller went while others had the connection.
        let gone = stop(long);
        gone.unwanted.store(true, Ordering::Relaxed);
        let answer = perform(&connection, &insert(), &gone).unwrap();
        assert!(matches!(answer, Err(Error::Cancelled)), "{answer:?}");
        let answer = perform(&connection, &insert(), &stop(Duration::ZERO)).unwrap();
        assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
        assert_eq!(count(), 0);
        // The caller goes when the row is in already.
        let going = stop(long);
        let hears = Arc::clone(&going);
        let goes = move |_: rusqlite::hooks::Action, _: &str, _: &str, _: i64| {
            hears.unwanted.store(true, Ordering::Relaxed);
        };
        connection.update_hook(Some(goes)).unwrap();
        let answer = perform(&connection, &insert(), &going).unwrap();
        assert!(matches!(answer, Err(Error::Cancelled)), "{answer:?}");
        assert_eq!(count(), 0);
        let answer = perform(&connection, &insert(), &stop(long)).unwrap();
        assert_eq!(answer.unwrap().affected, Some(1));
        assert_eq!(count(), 1);
    }
}
