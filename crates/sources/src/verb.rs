//! What the first word of a statement tells: whether it may be run for reading or for writing.

use crate::error::Error;
use crate::lexeme::Lexeme;
use crate::statement::{Engine, Statement};

/// Statements that may run in a transaction of ours without ending or changing it.
const WRITES: &[&str] = &[
    "DELETE", "INSERT", "MERGE", "REPLACE", "SELECT", "UPDATE", "WITH",
];
/// Those that only read or, hidden inside, are found out by the database.
const READS: &[&str] = &["SELECT", "TABLE", "VALUES", "WITH"];
/// Those that change rows, also behind a WITH or inside of it.
const CHANGES: &[&str] = &["DELETE", "INSERT", "MERGE", "REPLACE", "UPDATE"];

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
        const TOOL_THAT_WRITES: &str = ", or a tool that says \"write\": true";
        let expected = self.engine().words_that_read();
        if let Some(change) = self.changes_with() {
            // The database would refuse it as well, but knows nothing of tools.
            return Err(Error::refused(format!(
                "only queries that read are run here, and this WITH has {change}; expected {expected} without it{TOOL_THAT_WRITES}"
            )));
        }
        if READS.contains(&self.verb()) {
            return Ok(());
        }
        self.check_plan()?;
        let instead = match (WRITES.contains(&self.verb()), self.engine()) {
            (true, _) => TOOL_THAT_WRITES,
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

/// The word that changes rows in a statement that begins with WITH: behind its list of queries, or first in one of them.
/// The same words as names of queries, columns and aliases stand elsewhere.
pub(crate) fn change_with(pieces: &[Lexeme<'_>]) -> Option<&'static str> {
    let (first, pieces) = pieces.split_first()?;
    if !first.is_word("WITH") {
        return None;
    }
    let is_any = |piece: &Lexeme<'_>, words: &[&'static str]| {
        let mut words = words.iter().copied();
        words.find(|word| piece.is_word(word))
    };
    let mut depth = 0_usize;
    for (at, piece) in pieces.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).and_then(|at| pieces.get(at));
        let follows = |mark: &str| before(1).is_some_and(|it| it.is_mark(mark));
        if piece.is_mark("(") {
            depth += 1;
        } else if piece.is_mark(")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && follows(")") {
            let change = is_any(piece, CHANGES);
            if change.is_some() || is_any(piece, READS).is_some() {
                return change;
            }
        } else if depth == 1 && follows("(") {
            let opens = |it: &Lexeme<'_>| is_any(it, &["AS", "MATERIALIZED"]).is_some();
            let change = is_any(piece, CHANGES).filter(|_| before(2).is_some_and(opens));
            if change.is_some() {
                return change;
            }
        }
    }
    None
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

    #[test]
    fn what_a_with_changes_is_found_and_names_are_not() {
        let changed = |sql: &str| {
            let statement = Statement::read(sql, Engine::Postgres).unwrap();
            statement.changes_with()
        };
        for (sql, change) in [
            ("with a AS (SELECT 1) delete FROM t", "DELETE"),
            (
                "WITH a(b, c) AS (SELECT 1, 2), d AS (SELECT 3) INSERT INTO t SELECT * FROM a",
                "INSERT",
            ),
            (
                "WITH RECURSIVE a AS NOT MATERIALIZED (SELECT 1) UPDATE t SET a = :a",
                "UPDATE",
            ),
            (
                "WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a",
                "DELETE",
            ),
            (
                "WITH a AS MATERIALIZED (UPDATE t SET a = 1 RETURNING *) SELECT * FROM a",
                "UPDATE",
            ),
        ] {
            assert_eq!(changed(sql), Some(change), "{sql}");
            let read = Statement::read(sql, Engine::Postgres).unwrap();
            let refused = read.check_reads().unwrap_err().to_string();
            assert!(refused.contains("\"write\": true"), "{refused}");
            assert!(read.check_writes().is_ok());
        }
        for sql in [
            "WITH update AS (SELECT 1) SELECT * FROM update",
            "WITH a(delete) AS (SELECT 1), insert AS (SELECT 2) SELECT * FROM (SELECT 1) merge",
            "WITH a AS (SELECT replace(x, 'a', 'b') FROM t) SELECT replace(x, 'a', 'b') FROM a",
            "WITH a AS (SELECT 'DELETE') TABLE a",
            "SELECT 1 FROM t FOR UPDATE",
        ] {
            assert_eq!(changed(sql), None, "{sql}");
            let read = Statement::read(sql, Engine::Postgres).unwrap();
            assert!(read.check_reads().is_ok(), "{sql}");
        }
    }
}
