//! The audit log: who changed what. Each row's hash covers the row and the hash before it, so that a row that was
//! changed or taken out afterwards is found.

mod erase;

use crate::db::{Db, Result, each};
use crate::detail::Detail;
use catalog::tool::Millis;
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// What the first row is chained to.
const START: [u8; 32] = [0; 32];

/// How many rows are read in one go; a row is bounded by its details, so this bounds the bytes as well.
const ROWS_AT_ONCE: usize = 50;

/// A page ends where it has grown to this, however many rows were asked for.
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// An administrative act, before it has its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Act {
    pub at: Millis,
    pub actor_id: Uuid,
    pub actor: String,
    pub key: Option<String>,
    pub transport: String,
    /// Such as `user.create`.
    pub action: String,
    /// Such as `user:kim`.
    pub target: String,
    pub before: Option<Detail>,
    pub after: Option<Detail>,
}

/// An act in its place.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct AuditRow {
    pub seq: i64,
    #[sqlx(flatten)]
    pub act: Act,
    pub hash: Vec<u8>,
}

/// Some rows, and whether there are more that fit the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRows {
    pub rows: Vec<AuditRow>,
    pub more: bool,
}

/// Number and hash of the row that holds `act`, after the last one's.
pub(crate) fn chained(last: Option<(i64, Vec<u8>)>, act: &Act) -> (i64, Vec<u8>) {
    let (seq, previous) = last.unwrap_or((0, START.to_vec()));
    (seq + 1, digest(&previous, seq + 1, act))
}

fn digest(previous: &[u8], seq: i64, act: &Act) -> Vec<u8> {
    // A JSON array: no two rows have the same text, whatever stands in their fields.
    let text = json!([
        seq,
        act.at,
        act.actor_id,
        act.actor,
        act.key,
        act.transport,
        act.action,
        act.target,
        act.before.as_ref().map(Detail::as_str),
        act.after.as_ref().map(Detail::as_str)
    ]);
    let mut hasher = Sha256::new_with_prefix(previous);
    hasher.update(text.to_string().as_bytes());
    hasher.finalize().to_vec()
}

impl AuditRow {
    /// What it takes in memory, near enough.
    fn bytes(&self) -> usize {
        let detail = |detail: &Option<Detail>| detail.as_ref().map_or(0, |d| d.as_str().len());
        detail(&self.act.before) + detail(&self.act.after) + self.act.target.len() + 256
    }
}

/// Which acts to read.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    pub actor: Option<String>,
    pub action: Option<String>,
    pub target: Option<String>,
    pub since: Option<Millis>,
    pub until: Option<Millis>,
    /// Only rows before this number.
    pub before: Option<i64>,
}

/// What a look at the whole chain found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    pub rows: i64,
    /// The last row's hash: whoever notes it elsewhere also finds rows that were cut off at the end.
    pub head: Vec<u8>,
    /// Number and fault of the first row that does not fit.
    pub broken: Option<(i64, &'static str)>,
}

pub(crate) const LAST: &str = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1";

pub(crate) const APPEND: &str = "INSERT INTO audit \
    (seq, at, actor_id, actor, key, transport, action, target, before, after, hash) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

impl Db {
    /// Newest first: as many as asked for, or fewer where they are big.
    pub async fn audit(&self, filter: &AuditFilter, limit: usize) -> Result<AuditRows> {
        const SQL: &str = "SELECT seq, at, actor_id, actor, key, transport, action, target, before, after, hash \
            FROM audit WHERE seq < $1 AND at >= $2 AND at < $3 AND ($4 = '' OR actor = $4) \
            AND ($5 = '' OR action = $5) AND ($6 = '' OR target = $6) ORDER BY seq DESC LIMIT $7";
        let from = filter.before.unwrap_or(i64::MAX);
        self.audit_from(SQL, filter, from, limit).await
    }

    /// Oldest first, only what came after the row of this number.
    pub async fn audit_after(
        &self,
        filter: &AuditFilter,
        after: i64,
        limit: usize,
    ) -> Result<AuditRows> {
        const SQL: &str = "SELECT seq, at, actor_id, actor, key, transport, action, target, before, after, hash \
            FROM audit WHERE seq > $1 AND at >= $2 AND at < $3 AND ($4 = '' OR actor = $4) \
            AND ($5 = '' OR action = $5) AND ($6 = '' OR target = $6) ORDER BY seq LIMIT $7";
        self.audit_from(SQL, filter, after, limit).await
    }

    async fn audit_from(
        &self,
        sql: &'static str,
        filter: &AuditFilter,
        mut from: i64,
        limit: usize,
    ) -> Result<AuditRows> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (mut rows, mut bytes) = (Vec::new(), 0);
        loop {
            // One more than is given tells whether there are more.
            let wanted = (limit + 1 - rows.len()).min(ROWS_AT_ONCE);
            let read: Vec<AuditRow> = each!(self, pool => sqlx::query_as(sql).bind(from)
                .bind(filter.since.unwrap_or(i64::MIN)).bind(filter.until.unwrap_or(i64::MAX))
                .bind(text(&filter.actor)).bind(text(&filter.action)).bind(text(&filter.target))
                .bind(count(wanted)).fetch_all(pool).await)?;
            let is_last = read.len() < wanted;
            for row in read {
                if rows.len() == limit || bytes >= PAGE_BYTES_MAX {
                    return Ok(AuditRows { rows, more: true });
                }
                from = row.seq;
                bytes += row.bytes();
                rows.push(row);
            }
            if is_last {
                return Ok(AuditRows { rows, more: false });
            }
        }
    }

    /// Reads the whole chain, from its start.
    pub async fn audit_chain(&self) -> Result<Chain> {
        const SQL: &str = "SELECT seq, at, actor_id, actor, key, transport, action, target, before, after, hash \
            FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2";
        let mut chain = Chain {
            rows: 0,
            head: START.to_vec(),
            broken: None,
        };
        loop {
            let rows: Vec<AuditRow> = each!(self, pool => sqlx::query_as(SQL)
                .bind(chain.rows).bind(count(ROWS_AT_ONCE)).fetch_all(pool).await)?;
            if rows.is_empty() {
                return Ok(chain);
            }
            for row in rows {
                if row.seq != chain.rows + 1 {
                    chain.broken = Some((chain.rows + 1, "it is missing"));
                } else if digest(&chain.head, row.seq, &row.act) != row.hash {
                    chain.broken = Some((row.seq, "it was changed"));
                }
                if chain.broken.is_some() {
                    return Ok(chain);
                }
                chain.rows = row.seq;
                chain.head = row.hash;
            }
        }
    }
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
