//! Runs and their journals. An entry is written only by who knows all entries before it and has not been replaced as the
//! run's driver since: the row's `epoch` and `last_seq` are compared in the same transaction.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct RunRow {
    pub id: Uuid,
    pub owner_id: Uuid,
    pub warrant: String,
    pub agent_id: Option<Uuid>,
    /// The beginning of what was asked for.
    pub request: String,
    pub status: String,
    pub output: Option<String>,
    /// As JSON.
    pub error: Option<String>,
    pub epoch: i64,
    /// The server that drives it; none where nobody does.
    pub node: Option<String>,
    pub last_seq: i64,
    /// When what somebody was asked for expires.
    pub wake_at: Option<Millis>,
    pub idempotency_key: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub ended_at: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct RunEntryRow {
    pub seq: i64,
    pub at: Millis,
    pub body: String,
}

/// What is to be added to a run, by who knows it up to `last_seq`.
#[derive(Debug)]
pub struct RunWrite<'a> {
    pub id: Uuid,
    pub epoch: i64,
    pub last_seq: i64,
    pub at: Millis,
    pub bodies: &'a [String],
    pub status: &'a str,
    pub output: Option<&'a str>,
    pub error: Option<&'a str>,
    pub wake_at: Option<Millis>,
    pub is_over: bool,
    /// Whether nobody drives it from now on.
    pub is_released: bool,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Done,
    /// Somebody added to it meanwhile: their entries count first.
    Behind,
    /// Somebody else drives it, or it is gone.
    Replaced,
}

/// Which runs to list, the newest first.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    pub owner: Option<Uuid>,
    pub agent: Option<Uuid>,
    pub status: Option<String>,
    /// Those older than this one.
    pub before: Option<(Millis, Uuid)>,
    pub limit: i64,
}

const COLUMNS: &str = "id, owner_id, warrant, agent_id, request, status, output, error, epoch, node, last_seq, wake_at, \
    idempotency_key, created_at, updated_at, ended_at";
const ADD_ENTRY: &str = "INSERT INTO run_entries (run_id, seq, at, body) VALUES ($1, $2, $3, $4)";

impl Db {
    /// Stores a new run with its first entries. The run that stands under the same idempotency key, where there is one.
    pub async fn begin_run(&self, row: &RunRow, bodies: &[String]) -> Result<Option<RunRow>> {
        const PUT: &str = "INSERT INTO runs (id, owner_id, warrant, agent_id, request, status, epoch, node, last_seq, \
            idempotency_key, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) \
            ON CONFLICT DO NOTHING";
        let begin = self.begin();
        let put = each!(self, pool => {
            let mut connection = pool.acquire().await?;
            let done = async {
                let mut tx = sqlx::Connection::begin_with(&mut *connection, begin).await?;
                let put = sqlx::query(PUT).bind(row.id).bind(row.owner_id).bind(&row.warrant).bind(row.agent_id)
                    .bind(&row.request).bind(&row.status).bind(row.epoch).bind(&row.node).bind(row.last_seq)
                    .bind(&row.idempotency_key).bind(row.created_at).execute(&mut *tx).await?.rows_affected();
                for (i, body) in bodies.iter().enumerate().filter(|_| put == 1) {
                    sqlx::query(ADD_ENTRY).bind(row.id).bind(i as i64 + 1).bind(row.created_at).bind(body)
                        .execute(&mut *tx).await?;
                }
                tx.commit().await.map(|()| put)
            }.await;
            if done.is_err() {
                // As for every write: a full disk makes SQLite roll back by itself, which the pool does not learn.
                connection.close_on_drop();
            }
            done
        })?;
        if put == 1 {
            return Ok(None);
        }
        match &row.idempotency_key {
            Some(key) => self.run_of_key(row.owner_id, key).await,
            None => self.run(row.id).await,
        }
    }

    /// The run that somebody began with an idempotency key.
    pub async fn run_of_key(&self, owner: Uuid, key: &str) -> Result<Option<RunRow>> {
        let sql =
            format!("SELECT {COLUMNS} FROM runs WHERE owner_id = $1 AND idempotency_key = $2");
        Ok(
            each!(self, pool => sqlx::query_as(AssertSqlSafe(sql)).bind(owner).bind(key)
            .fetch_optional(pool).await)?,
        )
    }

    /// Adds entries to a run.
    pub async fn write_run(&self, write: &RunWrite<'_>) -> Result<Written> {
        const MOVE: &str = "UPDATE runs SET last_seq = $1, updated_at = $2, status = $3, output = $4, error = $5, \
            wake_at = $6, ended_at = CASE WHEN $7 THEN $2 ELSE ended_at END, node = CASE WHEN $8 THEN NULL ELSE node END \
            WHERE id = $9 AND epoch = $10 AND last_seq = $11";
        let begin = self.begin();
        let next = write.last_seq + write.bodies.len() as i64;
        let moved = each!(self, pool => {
            let mut connection = pool.acquire().await?;
            let done = async {
                let mut tx = sqlx::Connection::begin_with(&mut *connection, begin).await?;
                let moved = sqlx::query(MOVE).bind(next).bind(write.at).bind(write.status).bind(write.output)
                    .bind(write.error).bind(write.wake_at).bind(write.is_over).bind(write.is_released)
                    .bind(write.id).bind(write.epoch).bind(write.last_seq).execute(&mut *tx).await?.rows_affected();
                for (i, body) in write.bodies.iter().enumerate().filter(|_| moved == 1) {
                    sqlx::query(ADD_ENTRY).bind(write.id).bind(write.last_seq + i as i64 + 1).bind(write.at).bind(body)
                        .execute(&mut *tx).await?;
                }
                tx.commit().await.map(|()| moved)
            }.await;
            if done.is_err() {
                connection.close_on_drop();
            }
            done
        })?;
        if moved == 1 {
            return Ok(Written::Done);
        }
        let found = self.run(write.id).await?;
        Ok(match found.is_some_and(|row| row.epoch == write.epoch) {
            true => Written::Behind,
            false => Written::Replaced,
        })
    }

    pub async fn run(&self, id: Uuid) -> Result<Option<RunRow>> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = $1");
        Ok(
            each!(self, pool => sqlx::query_as(AssertSqlSafe(sql)).bind(id).fetch_optional(pool).await)?,
        )
    }

    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM runs WHERE ($1 IS NULL OR owner_id = $1) AND ($2 IS NULL OR agent_id = $2) \
             AND ($3 IS NULL OR status = $3) AND ($4 IS NULL OR created_at < $4 OR (created_at = $4 AND id < $5)) \
             ORDER BY created_at DESC, id DESC LIMIT $6"
        );
        let (at, id) = filter.before.unzip();
        Ok(
            each!(self, pool => sqlx::query_as(AssertSqlSafe(sql)).bind(filter.owner).bind(filter.agent)
            .bind(&filter.status).bind(at).bind(id).bind(filter.limit).fetch_all(pool).await)?,
        )
    }

    /// What happened in a run after an entry.
    pub async fn run_entries(&self, id: Uuid, after: i64) -> Result<Vec<RunEntryRow>> {
        const SQL: &str =
            "SELECT seq, at, body FROM run_entries WHERE run_id = $1 AND seq > $2 ORDER BY seq";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(id).bind(after).fetch_all(pool).await)?)
    }

    /// Takes a run that nobody drives.
    pub async fn claim_run(&self, id: Uuid, node: &str) -> Result<Option<RunRow>> {
        let sql = format!(
            "UPDATE runs SET node = $1, epoch = epoch + 1 WHERE id = $2 AND node IS NULL \
             AND status IN ('running', 'needs_input') RETURNING {COLUMNS}"
        );
        Ok(
            each!(self, pool => sqlx::query_as(AssertSqlSafe(sql)).bind(node).bind(id).fetch_optional(pool).await)?,
        )
    }

    /// Takes some run that goes on, or of which a question has expired, and that nobody drives.
    pub async fn claim_next_run(&self, node: &str, now: Millis) -> Result<Option<RunRow>> {
        // Servers that look at the same moment take different ones.
        let apart = match self.engine() {
            "postgres" => "FOR UPDATE SKIP LOCKED",
            _ => "",
        };
        let sql = format!(
            "UPDATE runs SET node = $1, epoch = epoch + 1 WHERE node IS NULL AND id = (SELECT id FROM runs \
             WHERE node IS NULL AND (status = 'running' OR (status = 'needs_input' AND wake_at <= $2)) \
             ORDER BY updated_at LIMIT 1 {apart}) RETURNING {COLUMNS}"
        );
        Ok(
            each!(self, pool => sqlx::query_as(AssertSqlSafe(sql)).bind(node).bind(now).fetch_optional(pool).await)?,
        )
    }

    /// Lets go of a run that this server took as its driver of this epoch.
    pub async fn release_run(&self, id: Uuid, node: &str, epoch: i64) -> Result<()> {
        const SQL: &str = "UPDATE runs SET node = NULL WHERE id = $1 AND node = $2 AND epoch = $3";
        each!(self, pool => sqlx::query(SQL).bind(id).bind(node).bind(epoch).execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    /// What a server is said to drive: runs, and their epochs.
    pub async fn runs_of_node(&self, node: &str) -> Result<Vec<(Uuid, i64)>> {
        const SQL: &str =
            "SELECT id, epoch FROM runs WHERE status IN ('running', 'needs_input') AND node = $1";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(node).fetch_all(pool).await)?)
    }

    /// Nobody drives any more what this server drove; how many there were.
    pub async fn release_runs(&self, node: &str) -> Result<u64> {
        const SQL: &str = "UPDATE runs SET node = NULL WHERE node = $1";
        Ok(
            each!(self, pool => sqlx::query(SQL).bind(node).execute(pool).await.map(|done| done.rows_affected()))?,
        )
    }

    /// Forgets runs that ended before this; how many there were.
    pub async fn forget_runs(&self, before: Millis) -> Result<u64> {
        const SQL: &str = "DELETE FROM runs WHERE ended_at < $1";
        Ok(
            each!(self, pool => sqlx::query(SQL).bind(before).execute(pool).await.map(|done| done.rows_affected()))?,
        )
    }

    /// How many runs are under way: running, and waiting for somebody.
    pub async fn runs_under_way(&self) -> Result<(i64, i64)> {
        const SQL: &str = "SELECT COUNT(CASE WHEN status = 'running' THEN 1 END), \
            COUNT(CASE WHEN status = 'needs_input' THEN 1 END) FROM runs WHERE status IN ('running', 'needs_input')";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_one(pool).await)?)
    }
}
