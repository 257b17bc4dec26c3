//! What the first word of a statement tells: whether it may be run for reading or for writing.

use crate::error::Error;
use crate::statement::{Engine, Statement};

/// Statements that may run in a transaction of ours without ending or changing it.
const WRITES: &[&str] = &[
    "DELETE", "INSERT", "MERGE", "REPLACE", "SELECT", "UPDATE", "WITH",
];
/// Those that only read or, hidden inside, are found out by the database.
const READS: &[&str] = &["SELECT", "TABLE", "VALUES", "WITH"];

impl Engine {
    /// With what a query that reads begins, for messages.
    pub(crate) fn words_that_read(self) -> &'static str {
        match self {
            Engine::Postgres => "SELECT, WITH, VALUES or TABLE",
            Engine::Sqlite => "SELECT, WITH or VALUES",
        }
    }
}

impl Statement {
    /// Refuses what is no query that reads, as far as its first word tells. PostgreSQL would call it a mistake in the
    /// grammar: a cursor's has no place for it. SQLite finds words of its own for what does not change rows.
    pub fn check_reads(&self) -> Result<(), Error> {
        if READS.contains(&self.verb()) {
            return Ok(());
        }
        self.check_plan()?;
        let expected = self.engine().words_that_read();
        let instead = match (WRITES.contains(&self.verb()), self.engine()) {
            (true, _) => ", or a tool that says \"write\": true",
            (false, Engine::Postgres) => "",
            (false, Engine::Sqlite) => return Ok(()),
        };
        Err(Error::refused(format!(
            "only queries that read are run here; expected {expected}{instead}"
        )))
    }

    /// Refuses what no tool runs that writes.
    pub fn check_writes(&self) -> Result<(), Error> {
        if WRITES.contains(&self.verb()) {
            return Ok(());
        }
        self.check_plan()?;
        Err(Error::refused(format!(
            "a query that writes begins with one of {}, not with {}",
            WRITES.join(", "),
            self.verb()
        )))
    }

    fn check_plan(&self) -> Result<(), Error> {
        match self.verb() {
            "EXPLAIN" => Err(Error::refused(
                "a tool runs its query and explains none; leave EXPLAIN out, and `toolcrib tools explain NAME` shows the plan",
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_tells_what_a_statement_is_for() {
        let both = [Engine::Postgres, Engine::Sqlite];
        for engine in both {
            let read = |sql: &str| Statement::read(sql, engine).unwrap();
            let reads = |sql: &str| read(sql).check_reads().map_err(|error| error.to_string());
            let writes = |sql: &str| read(sql).check_writes().map_err(|error| error.to_string());
            assert_eq!(reads("(SELECT 1)"), Ok(()));
            assert_eq!(writes("with a AS (SELECT 1) DELETE FROM t"), Ok(()));
            let refused = reads("delete FROM t").unwrap_err();
            assert!(refused.contains("\"write\": true"), "{refused}");
            for refused in [reads("EXPLAIN SELECT 1"), writes("EXPLAIN SELECT 1")] {
                let refused = refused.unwrap_err();
                assert!(refused.contains("toolcrib tools explain"), "{refused}");
            }
            for sql in ["CREATE TABLE t (a int)", "COMMIT", "VALUES (1)", "REINDEX"] {
                let refused = writes(sql).unwrap_err();
                assert!(refused.contains("begins with one of DELETE"), "{refused}");
            }
        }
    }
}
