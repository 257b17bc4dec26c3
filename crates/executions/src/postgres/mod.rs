//! The log of many replicas: one PostgreSQL table in day partitions.

mod partitions;
mod row;
mod writer;

use crate::counting::{Calls, calls};
use crate::day::Day;
use crate::erase::{COUNT, ERASE, ERASED, Erased};
use crate::error::LogError;
use crate::log::Keeping;
use crate::query::{GET, INTERRUPT, Page, Search};
use crate::queue::Job;
use crate::record::{Execution, INTERRUPTED_ERROR, id_time};
use crate::stats::{GROUPS, Stats, Tally};
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
    keeping: Keeping,
    jobs: mpsc::Receiver<Job>,
) -> Result<Arc<Postgres>, LogError> {
    let postgres = Arc::new(Postgres {
        pool,
        known: Mutex::default(),
    });
    postgres.create_tables().await?;
    postgres.turn_day(&keeping).await?;
    postgres.interrupt(&keeping.options.node).await?;
    writer::Writer {
        postgres: Arc::clone(&postgres),
        keeping,
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
            .bind(tally.slot_ms)
            .bind(tally.to)
            .bind(tally.tool.clone())
            .bind(tally.caller.clone())
            .bind(tally.status)
            .bind(tally.transports.clone())
            .bind(tally.rows_left());
        for row in &query.fetch_all(&self.pool).await? {
            tally.add(&row::group(row)?)?;
        }
        Ok(tally.stats())
    }

    pub(crate) async fn calls_of(
        &self,
        name: &str,
        since: i64,
        until: i64,
    ) -> Result<u64, LogError> {
        let query = sqlx::query_scalar(COUNT).bind(name).bind(since).bind(until);
        let count: i64 = query.fetch_one(&self.pool).await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    pub(crate) async fn erase(&self, who: &Erased, first: Day) -> Result<u64, LogError> {
        let mut count = 0;
        for day in self.days().await?.range(first..) {
            let end = day.end().min(who.until.saturating_add(1));
            if self.calls_of(&who.name, day.start(), end).await? == 0 {
                continue;
            }
            for (from, to) in who.spans(*day) {
                let query = sqlx::query(ERASE).bind(&*who.pseudonym).bind(ERASED);
                let query = query.bind(&*who.name).bind(from).bind(to);
                count += query.execute(&self.pool).await?.rows_affected();
            }
        }
        Ok(count)
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
