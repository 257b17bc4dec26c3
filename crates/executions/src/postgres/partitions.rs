//! The table and its day partitions: made ahead, made on demand, dropped by retention, safe among many replicas.

use super::Postgres;
use crate::day::Day;
use crate::error::LogError;
use crate::log::Keeping;
use sqlx::{AssertSqlSafe, PgConnection, Row};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{MutexGuard, PoisonError};

/// One replica at a time changes tables; the lock ends with its transaction.
const LOCK: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended('executions of ' || current_schema(), 0))";
/// One replica at a time drops days; the others leave it to that one.
const DROPS: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended('retention of executions of ' || current_schema(), 0))";
const PARTITIONS: &str = "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid \
     WHERE i.inhparent = 'executions'::regclass";
/// One that is dropped meanwhile has no size.
const SIZES: &str = "SELECT c.relname::text, COALESCE(pg_total_relation_size(c.oid), 0) FROM pg_inherits i \
     JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'executions'::regclass";

impl Postgres {
    pub(super) async fn create_tables(&self) -> Result<(), LogError> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query(LOCK).execute(&mut *transaction).await?;
        sqlx::raw_sql(include_str!("schema.sql"))
            .execute(&mut *transaction)
            .await?;
        Ok(transaction.commit().await?)
    }

    /// Today and tomorrow exist, what is too old does not.
    pub(super) async fn turn_day(&self, keeping: &Keeping) -> Result<(), LogError> {
        let today = keeping.today();
        self.ensure(&[today, today.next()]).await?;
        let by_age = today.back(keeping.options.retention_days);
        // Retention waits for readers, and gives way: another replica or the next try gets it done.
        let dropped = async {
            let mut sizes = self.sizes().await?;
            let kept = sizes.split_off(&by_age);
            let by_room = keeping.measured.first_kept(&kept, today);
            let first_kept = by_room.unwrap_or(by_age);
            let days = sizes.into_keys().chain(kept.into_keys());
            self.drop_days(days.filter(|day| *day < first_kept).collect())
                .await
        };
        if let Err(error) = dropped.await {
            tracing::warn!(%error, "old partitions of the execution log were not dropped");
        }
        Ok(())
    }

    /// Makes the partitions of these days unless they are known to exist.
    pub(super) async fn ensure(&self, days: &[Day]) -> Result<(), LogError> {
        let missing: Vec<Day> = {
            let known = self.lock_known();
            days.iter()
                .copied()
                .filter(|day| !known.contains(day))
                .collect()
        };
        if missing.is_empty() {
            return Ok(());
        }
        let mut transaction = self.pool.begin().await?;
        sqlx::query(LOCK).execute(&mut *transaction).await?;
        for day in &missing {
            create_partition(&mut transaction, *day).await?;
        }
        transaction.commit().await?;
        self.lock_known().extend(missing);
        Ok(())
    }

    /// The days that have a partition, oldest first.
    pub(crate) async fn days(&self) -> Result<BTreeSet<Day>, LogError> {
        let names: Vec<String> = sqlx::query_scalar(PARTITIONS).fetch_all(&self.pool).await?;
        Ok(names
            .iter()
            .filter_map(|name| Day::of_partition(name))
            .collect())
    }

    /// What each day takes, its indexes and long values included.
    async fn sizes(&self) -> Result<BTreeMap<Day, u64>, LogError> {
        let rows: Vec<(String, i64)> = sqlx::query_as(SIZES).fetch_all(&self.pool).await?;
        let of = |(name, bytes): (String, i64)| {
            Some((
                Day::of_partition(&name)?,
                u64::try_from(bytes).unwrap_or_default(),
            ))
        };
        Ok(rows.into_iter().filter_map(of).collect())
    }

    async fn drop_days(&self, old: Vec<Day>) -> Result<(), LogError> {
        if old.is_empty() {
            return Ok(());
        }
        for day in &old {
            if !self.drop_day(*day).await? {
                // Another replica is at it.
                return Ok(());
            }
        }
        self.lock_known().retain(|day| !old.contains(day));
        tracing::info!(
            days = old.len(),
            "dropped partitions older than what the log keeps"
        );
        Ok(())
    }

    /// False where another replica drops days at this moment. Whoever waits for a reader holds up everybody who writes, so it is
    /// done by one at a time, a day at a time, and given up soon.
    async fn drop_day(&self, day: Day) -> Result<bool, LogError> {
        let mut transaction = self.pool.begin().await?;
        let is_alone: bool = sqlx::query_scalar(DROPS)
            .fetch_one(&mut *transaction)
            .await?;
        if !is_alone {
            return Ok(false);
        }
        sqlx::query("SET LOCAL lock_timeout = '100ms'")
            .execute(&mut *transaction)
            .await?;
        sqlx::query(LOCK).execute(&mut *transaction).await?;
        let sql = format!("DROP TABLE IF EXISTS {}", day.partition());
        sqlx::query(AssertSqlSafe(sql))
            .persistent(false)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Another replica may have dropped what this one takes for known.
    pub(super) fn forget_known(&self) {
        self.lock_known().clear();
    }

    fn lock_known(&self) -> MutexGuard<'_, HashSet<Day>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Made beside the table and then attached: unlike `PARTITION OF`, that does not wait for readers nor hold up writers.
async fn create_partition(connection: &mut PgConnection, day: Day) -> Result<(), LogError> {
    let name = day.partition();
    let found = sqlx::query("SELECT to_regclass($1) IS NOT NULL")
        .bind(&name)
        .fetch_one(&mut *connection)
        .await?;
    if found.try_get::<bool, _>(0)? {
        return Ok(());
    }
    let create = format!("CREATE TABLE {name} (LIKE executions INCLUDING ALL)");
    let attach = format!(
        "ALTER TABLE executions ATTACH PARTITION {name} FOR VALUES FROM ({}) TO ({})",
        day.start(),
        day.end()
    );
    for sql in [create, attach] {
        sqlx::query(AssertSqlSafe(sql))
            .persistent(false)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
