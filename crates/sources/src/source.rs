//! A source of either engine, and what a call of it brings along.

use crate::answer::{Answer, Shape};
use crate::binding::Bindings;
use crate::error::Error;
use crate::postgres::Postgres;
use crate::schema::{SchemaFilter, SchemaPage, TestReport};
use crate::sqlite::Sqlite;
use crate::statement::{Engine, Statement};
use std::sync::Arc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Who asks, and how much and how long the answer may be.
#[derive(Clone, Debug)]
pub struct Call {
    /// Connections are shared out between tools by this name.
    pub tool: Arc<str>,
    pub deadline: Instant,
    /// Ends the query at the database too. Dropping the call's future does the same.
    pub cancel: CancellationToken,
    pub shape: Shape,
    pub rows_max: u64,
    pub bytes_max: usize,
}

/// A database that SQL tools use.
#[derive(Clone, Debug)]
pub enum Source {
    Postgres(Arc<Postgres>),
    Sqlite(Arc<Sqlite>),
}

impl Source {
    pub fn engine(&self) -> Engine {
        match self {
            Source::Postgres(_) => Engine::Postgres,
            Source::Sqlite(_) => Engine::Sqlite,
        }
    }

    /// Runs an author's query; the database itself keeps it from writing.
    pub async fn read(
        &self,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        self.check(statement)?;
        statement.check_reads()?;
        let done = match self {
            Source::Postgres(source) => source.read(statement, bindings, call).await,
            Source::Sqlite(source) => source.read(statement, bindings, call).await,
        };
        done.map_err(|error| statement.in_its_words(error))
    }

    /// Runs an author's statement that may write, in one transaction of its own.
    pub async fn write(
        &self,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        self.check(statement)?;
        statement.check_writes()?;
        let done = match self {
            Source::Postgres(source) => source.write(statement, bindings, call).await,
            Source::Sqlite(source) => source.write(statement, bindings, call).await,
        };
        done.map_err(|error| statement.in_its_words(error))
    }

    /// Has the database read a statement that may write; nothing is run.
    pub async fn look_at_write(&self, statement: &Statement, call: &Call) -> Result<(), Error> {
        self.check(statement)?;
        statement.check_writes()?;
        let done = match self {
            Source::Postgres(source) => source.look_at_write(statement, call).await,
            Source::Sqlite(source) => source.look_at_write(statement, call).await,
        };
        done.map_err(|error| statement.in_its_words(error))
    }

    /// Runs text that the caller wrote: exactly one query that reads, guarded.
    pub async fn ask(&self, sql: &str, call: &Call) -> Result<Answer, Error> {
        match self {
            Source::Postgres(source) => source.ask(sql, call).await,
            Source::Sqlite(source) => source.ask(sql, call).await,
        }
    }

    /// How the database would run an author's query; nothing is run.
    pub async fn explain(
        &self,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        self.check(statement)?;
        statement.check_reads()?;
        let done = match self {
            Source::Postgres(source) => source.explain(statement, bindings, call).await,
            Source::Sqlite(source) => source.explain(statement, bindings, call).await,
        };
        done.map_err(|error| statement.in_its_words(error))
    }

    /// Tables and views, a page at a time.
    pub async fn schema(&self, filter: &SchemaFilter, call: &Call) -> Result<SchemaPage, Error> {
        match self {
            Source::Postgres(source) => source.schema(filter, call).await,
            Source::Sqlite(source) => source.schema(filter, call).await,
        }
    }

    /// Connects, and shows that reading is all that a query can do.
    pub async fn test(&self, call: &Call) -> Result<TestReport, Error> {
        match self {
            Source::Postgres(source) => source.test(call).await,
            Source::Sqlite(source) => source.test(call).await,
        }
    }

    /// Whether nothing is known yet of how it works: nobody was connected to. A file was looked at when it was opened.
    pub fn is_untried(&self) -> bool {
        match self {
            Source::Postgres(source) => source.is_untried(),
            Source::Sqlite(_) => false,
        }
    }

    /// Why it did not work when it was last asked something.
    pub fn failure(&self) -> Option<String> {
        match self {
            Source::Postgres(source) => source.failure(),
            Source::Sqlite(_) => None,
        }
    }

    fn check(&self, statement: &Statement) -> Result<(), Error> {
        if statement.engine() == self.engine() {
            return Ok(());
        }
        Err(Error::source(
            "the query was read for another kind of database than the source is",
        ))
    }
}
