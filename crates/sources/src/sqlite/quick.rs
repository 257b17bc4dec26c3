//! A query that was quick before is tried where its caller is, because handing it to another thread and back takes longer
//! than a row by its key does. The try is given few steps, small values and no waiting for locks; what needs more of any of
//! these begins anew on a blocking thread.

use super::open::BUSY_MAX;
use super::perform::{Job, query};
use super::{Sqlite, heavy, open};
use crate::answer::Answer;
use crate::error::Error;
use crate::texts::Texts;
use rusqlite::Connection;
use rusqlite::limits::Limit;
use std::time::{Duration, Instant};

/// A query that took longer than this is not tried in place.
const QUICK: Duration = Duration::from_millis(1);
/// How many steps of SQLite's machine a try may take: some dozens of rows by their key.
const STEPS: i32 = 1000;
/// No single step with values of this size takes long.
const VALUE_BYTES_MAX: i32 = 65_536;

/// How many quick runs on a thread make up for a slow one.
const PENALTY: i32 = 16;
/// The credit of a text of which a single step may take long.
const NEVER: i32 = i32::MIN;

/// Texts that come again, with how often each was quick since it was slow; above zero it is tried in place.
#[derive(Debug, Default)]
pub(super) struct Quick(Texts<i32>);

impl Quick {
    fn is(&self, sql: &str) -> bool {
        self.0.of(sql).is_some_and(|credit| credit > 0)
    }

    /// Notes how long a text took.
    pub(super) fn note(&self, sql: &str, took: Duration) {
        let credit = match self.0.of(sql) {
            Some(credit) => credit,
            None if heavy::is_light(sql) => 0,
            None => NEVER,
        };
        let credit = match credit {
            NEVER => NEVER,
            _ if took > QUICK => -PENALTY,
            credit => (credit + 1).min(1),
        };
        self.0.note(sql, credit);
    }
}

/// The answer, if the query is known to be quick and was so again. Whatever goes wrong is left to the thread, which says
/// what it was.
pub(super) fn attempt(source: &Sqlite, job: &Job) -> Option<Answer> {
    if !job.recurs || !source.quick.is(&job.sql) {
        return None;
    }
    let identity = open::identify(&source.config).ok()?;
    let connection = source.kept_reader(identity)?;
    let began = Instant::now();
    let answer = tried(&connection, job);
    let took = began.elapsed();
    if answer.is_err() || took > QUICK {
        source.quick.note(&job.sql, took.max(QUICK * 2));
    }
    // A connection that could not be set back is closed.
    if set_back(&connection).is_ok() && connection.is_autocommit() {
        source.keep_reader(identity, connection);
    }
    answer.ok()
}

fn tried(connection: &Connection, job: &Job) -> Result<Answer, Error> {
    let failed = |error: rusqlite::Error| Error::refused(error.to_string());
    connection
        .progress_handler(STEPS, Some(|| true))
        .and_then(|()| connection.busy_timeout(Duration::ZERO))
        .and_then(|()| connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX))
        .map_err(failed)?;
    let mut statement = connection.prepare_cached(&job.sql).map_err(failed)?;
    query(&mut statement, job, &failed)
}

fn set_back(connection: &Connection) -> rusqlite::Result<()> {
    connection.progress_handler(0, None::<fn() -> bool>)?;
    connection.busy_timeout(BUSY_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_earned_and_lost() {
        let quick = Quick::default();
        let sql = "SELECT a FROM t WHERE id = ?1";
        assert!(!quick.is(sql), "it was never seen");
        quick.note(sql, Duration::ZERO);
        assert!(quick.is(sql));
        quick.note(sql, QUICK * 2);
        for _ in 0..PENALTY {
            assert!(!quick.is(sql));
            quick.note(sql, Duration::ZERO);
        }
        assert!(!quick.is(sql));
        quick.note(sql, Duration::ZERO);
        assert!(quick.is(sql));
        let heavy = "SELECT a FROM t WHERE a LIKE ?1";
        for _ in 0..100 {
            quick.note(heavy, Duration::ZERO);
        }
        assert!(!quick.is(heavy));
    }
}
