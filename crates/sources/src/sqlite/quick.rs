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

/// The most that quick runs earn a text, one each. Now and then a query waits for a processor and not for itself: that may
/// not cost all of its credit.
const CREDIT_MAX: i32 = 16;
/// What a slow run costs.
const PENALTY: i32 = 8;
/// The credit of a text of which a single step may take long.
const NEVER: i32 = i32::MIN;

/// The credit of texts that come again; above zero they are tried in place.
#[derive(Debug, Default)]
pub(super) struct Quick(Texts<i32>);

impl Quick {
    fn credit(&self, sql: &str) -> i32 {
        self.0.of(sql).unwrap_or(0)
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
            credit if took > QUICK => (credit - PENALTY).max(-CREDIT_MAX),
            credit => (credit + 1).min(CREDIT_MAX),
        };
        self.0.note(sql, credit);
    }
}

/// The answer, if the query is known to be quick and was so again. Whatever goes wrong is left to the thread, which says
/// what it was.
pub(super) fn attempt(source: &Sqlite, job: &Job) -> Option<Answer> {
    let credit = match job.recurs {
        true => source.quick.credit(&job.sql),
        false => 0,
    };
    if credit <= 0 {
        return None;
    }
    let identity = open::identify(&source.config).ok()?;
    let connection = source.kept_reader(identity)?;
    let began = Instant::now();
    let answer = tried(&connection, job);
    let took = began.elapsed();
    if answer.is_err() {
        source.quick.note(&job.sql, took.max(QUICK * 2));
    } else if took > QUICK || credit < CREDIT_MAX {
        source.quick.note(&job.sql, took);
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

    fn is(quick: &Quick, sql: &str) -> bool {
        quick.credit(sql) > 0
    }

    #[test]
    fn trust_is_earned_and_lost() {
        let quick = Quick::default();
        let sql = "SELECT a FROM t WHERE id = ?1";
        assert!(!is(&quick, sql), "it was never seen");
        quick.note(sql, Duration::ZERO);
        assert!(is(&quick, sql));
        quick.note(sql, QUICK * 2);
        for _ in 1..PENALTY {
            assert!(!is(&quick, sql));
            quick.note(sql, Duration::ZERO);
        }
        assert!(!is(&quick, sql));
        quick.note(sql, Duration::ZERO);
        assert!(is(&quick, sql));
        for _ in 0..CREDIT_MAX {
            quick.note(sql, Duration::ZERO);
        }
        quick.note(sql, QUICK * 2);
        assert!(is(&quick, sql), "once is an accident");
        quick.note(sql, QUICK * 2);
        assert!(!is(&quick, sql));
        let heavy = "SELECT a FROM t WHERE a LIKE ?1";
        for _ in 0..100 {
            quick.note(heavy, Duration::ZERO);
        }
        assert!(!is(&quick, heavy));
    }
}
