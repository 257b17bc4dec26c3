//! The log of many replicas: one PostgreSQL table in day partitions.

mod partitions;
mod row;
mod writer;

use crate::counting::{Calls, calls};
use crate::day::Day;
use crate::error::LogError;
use crate::log::Options;
use crate::owed::Owed;
use crate::query::{GET, INTERRUPT, Page, Search};
use crate::queue::Job;
use crate::record::{Execution, INTERRUPTED_ERROR, id_time};
use crate::stats::{GROUPS, Stats, Tally};
use catalog::clock::Clock;
use sqlx::{PgPool, Row};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Rows fetched at once: bounds the memory that a page of long outputs needs.
const CHUNK_ROWS: usize = 50;

pub(crate) struct Postgres {
    pool: PgPool,
    /// Days whose partition exists as far as this replica knows.
    known: Mutex<HashSet<Day>>,
}

/// Makes the tables, marks what this node left behind, and starts the writing tasks.
pub(crate) async fn open(
    pool: PgPool,
    options: Options,
    clock: Clock,
    jobs: mpsc::Receiver<Job>,
    owed: Arc<Owed>,
) -> Result<Arc<Postgres>, LogError> {
    let postgres = Arc::new(Postgres {
        pool,
        known: Mutex::default(),
    });
    postgres.create_tables().await?;
    postgres
        .turn_day(clock.now(), options.retention_days)
        .await?;
    postgres.interrupt(&options.node).await?;
    writer::Writer {
        postgres: Arc::clone(&postgres),
        options,
        clock,
        owed,
    }
    .start(jobs);
    Ok(postgres)
}

impl Postgres {
    /// Marks the calls that this node left behind.
    pub(crate) async fn interrupt(&self, node: &str) -> Result<(), LogError> {
        let mark = sqlx::query(INTERRUPT)
            .bind(INTERRUPTED_ERROR)
            .bind(Some(node));
        let marked = mark.execute(&self.pool).await?.rows_affected();
        if marked > 0 {
            tracing::warn!(
                node,
                count = marked,
                "calls were running when the server stopped; they are logged as interrupted"
            );
        }
        Ok(())
    }

    pub(crate) async fn get(&self, id: Uuid) -> Result<Option<Execution>, LogError> {
        let Some(time) = id_time(id) else {
            return Ok(None);
        };
        let found = sqlx::query(GET)
            .bind(time)
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        found.as_ref().map(row::execution).transpose()
    }

    pub(crate) async fn list(&self, mut search: Search) -> Result<Page, LogError> {
        let mut filling = search.filling();
        loop {
            let wanted = filling.wanted().min(CHUNK_ROWS);
            let rows = row::bound(search.query(wanted))
                .fetch_all(&self.pool)
                .await?;
            for row in &rows {
                if !filling.push(row::execution(row)?) {
                    return Ok(filling.page());
                }
            }
            match filling.last() {
                Some(last) if rows.len() == wanted => search.go_on_from(last),
                _ => return Ok(filling.page()),
            }
        }
    }

    pub(crate) async fn stats(&self, mut tally: Tally) -> Result<Stats, LogError> {
        let query = sqlx::query(GROUPS)
            .bind(tally.from)
            .bind(tally.to)
            .bind(tally.rows_left());
        for row in &query.fetch_all(&self.pool).await? {
            tally.add(&row::group(row)?)?;
        }
        Ok(tally.stats())
    }

    pub(crate) async fn counted(
        &self,
        sql: &'static str,
        name: &str,
        since: i64,
        until: i64,
    ) -> Result<Vec<Calls>, LogError> {
        let query = sqlx::query(sql).bind(name).bind(since).bind(until);
        let rows = query.fetch_all(&self.pool).await?;
        let read = |row: &sqlx::postgres::PgRow| {
            Ok(calls(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
        };
        rows.iter().map(read).collect()
    }
}
