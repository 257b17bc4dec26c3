//! A query that was quick before is tried where its caller is, because handing it to another thread and back takes longer
//! than a row by its key does. The try is given few steps, small values and no waiting for locks; what needs more of any of
//! these begins anew on a blocking thread.

use super::perform::{Job, query};
use super::{Sqlite, heavy};
use crate::answer::Answer;
use crate::error::Error;
use crate::memo::Memo;
use rusqlite::functions::FunctionFlags;
use rusqlite::limits::Limit;
use rusqlite::{Connection, StatementStatus};
use std::time::{Duration, Instant};

/// A query that took longer than this is not tried in place.
const QUICK: Duration = Duration::from_millis(1);
/// How many steps of SQLite's machine a try may take: some dozens of rows by their key.
const STEPS: i32 = 1000;
/// No single step with values of this size takes long.
const VALUE_BYTES_MAX: i32 = 65_536;

/// The most that quick runs earn a text, one each. Now and then a query waits for a processor and not for itself: that may
/// not cost all of its credit.
const CREDIT_MAX: i8 = 16;
/// What a slow run costs.
const PENALTY: i8 = 8;
/// The credit of a text of which a single step may take long.
const NEVER: i8 = i8::MIN;

/// Notes how long a text took. Above zero its credit has it tried in place.
pub(super) fn note(memo: &Memo, source: &Sqlite, sql: &str, took: Duration) {
    let credit = memo.of(source.number);
    memo.note(source.number, credit_after(credit, sql, took));
}

fn credit_after(credit: Option<i8>, sql: &str, took: Duration) -> i8 {
    let credit = match credit {
        Some(credit) => credit,
        None if heavy::is_light(sql) => 0,
        None => NEVER,
    };
    match credit {
        NEVER => NEVER,
        credit if took > QUICK => (credit - PENALTY).max(-CREDIT_MAX),
        credit => (credit + 1).min(CREDIT_MAX),
    }
}

/// The answer, if the query is known to be quick and was so again. Whatever goes wrong is left to the thread, which says
/// what it was.
pub(super) fn attempt(source: &Sqlite, job: &Job) -> Option<Answer> {
    let memo = job.recurs.as_ref()?;
    let credit = memo.of(source.number).unwrap_or(0);
    if credit <= 0 {
        return None;
    }
    let identity = source.glance().ok()?;
    let connection = match source.tried.take(identity) {
        Some(connection) => connection,
        None => armed(source.readers.take(identity)?)?,
    };
    let began = Instant::now();
    let answer = tried(&connection, job);
    let took = began.elapsed();
    if answer.is_err() {
        note(memo, source, &job.sql, took.max(QUICK * 2));
    } else if took > QUICK || credit < CREDIT_MAX {
        note(memo, source, &job.sql, took);
    }
    if connection.is_autocommit() {
        source.tried.keep(identity, connection);
    }
    answer.ok()
}

/// Sets a connection for tries, for good.
fn armed(connection: Connection) -> Option<Connection> {
    let set = connection
        .progress_handler(STEPS, Some(|| true))
        .and_then(|()| connection.busy_timeout(Duration::ZERO))
        .and_then(|()| connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX))
        .and_then(|_| without_depth(&connection));
    set.is_ok().then_some(connection)
}

/// A table may have come to call a function that goes deep since the text was found to be quick, and SQLite asks nobody about
/// that. Here those functions only fail.
fn without_depth(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    heavy::DEEP.iter().try_for_each(|name| {
        connection.create_scalar_function(*name, -1, flags, |_| -> rusqlite::Result<bool> {
            Err(rusqlite::Error::InvalidQuery)
        })
    })
}

fn tried(connection: &Connection, job: &Job) -> Result<Answer, Error> {
    let failed = |error: rusqlite::Error| Error::refused(error.to_string());
    let mut statement = connection.prepare_cached(&job.sql).map_err(failed)?;
    // SQLite goes on counting where the last run of the statement ended.
    statement.reset_status(StatementStatus::VmStep);
    query(&mut statement, job, &failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Shape;
    use crate::source::Call;
    use crate::sqlite::perform::Work;
    use rusqlite::types::Value;
    use tokio_util::sync::CancellationToken;

    struct Text(&'static str, Option<i8>);

    impl Text {
        fn ran(&mut self, took: Duration) {
            self.1 = Some(credit_after(self.1, self.0, took));
        }

        fn is_tried(&self) -> bool {
            self.1.is_some_and(|credit| credit > 0)
        }
    }

    #[test]
    fn trust_is_earned_and_lost() {
        let mut text = Text("SELECT a FROM t WHERE id = ?1", None);
        text.ran(Duration::ZERO);
        assert!(text.is_tried());
        text.ran(QUICK * 2);
        for _ in 1..PENALTY {
            assert!(!text.is_tried());
            text.ran(Duration::ZERO);
        }
        assert!(!text.is_tried());
        text.ran(Duration::ZERO);
        assert!(text.is_tried());
        for _ in 0..CREDIT_MAX {
            text.ran(Duration::ZERO);
        }
        text.ran(QUICK * 2);
        assert!(text.is_tried(), "once is an accident");
        text.ran(QUICK * 2);
        assert!(!text.is_tried());
        let mut heavy = Text("SELECT a FROM t WHERE a LIKE ?1", None);
        for _ in 0..100 {
            heavy.ran(Duration::ZERO);
        }
        assert!(!heavy.is_tried());
    }

    fn call(shape: Shape) -> Call {
        Call {
            tool: "t".into(),
            deadline: tokio::time::Instant::now(),
            cancel: CancellationToken::new(),
            shape,
            rows_max: 1,
            bytes_max: 100,
        }
    }

    #[test]
    fn columns_that_came_since_a_query_was_kept_are_there() {
        let connection = Connection::open_in_memory().unwrap();
        let made = "CREATE TABLE t (a); INSERT INTO t VALUES (1)";
        connection.execute_batch(made).unwrap();
        let all = || {
            let sql = "SELECT * FROM t".to_owned();
            let job = Job::new(Work::Read, sql, Vec::new(), &call(Shape::Row));
            tried(&connection, &job).unwrap().json
        };
        assert_eq!(all(), r#"{"a":1}"#);
        let more = "ALTER TABLE t ADD COLUMN b DEFAULT 2";
        connection.execute_batch(more).unwrap();
        assert_eq!(all(), r#"{"a":1,"b":2}"#);
    }

    #[test]
    fn each_try_has_all_of_its_steps() {
        let call = call(Shape::Scalar);
        let count = |to: i64| {
            let sql = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ?1) SELECT max(i) FROM r";
            Job::new(Work::Read, sql.to_owned(), vec![Value::Integer(to)], &call)
        };
        let connection = armed(Connection::open_in_memory().unwrap()).unwrap();
        for _ in 0..200 {
            assert_eq!(tried(&connection, &count(3)).unwrap().json, "3");
        }
        assert!(tried(&connection, &count(1000)).is_err());
        assert_eq!(tried(&connection, &count(3)).unwrap().json, "3");
    }
}
