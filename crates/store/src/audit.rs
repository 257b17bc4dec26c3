//! The audit log: who changed what. Each row's hash covers the row and the hash before it, so that a row that was
//! changed or taken out afterwards is found.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// What the first row is chained to.
const START: [u8; 32] = [0; 32];

/// How many rows are looked at in one go.
const PAGE: i64 = 1_000;

/// An administrative act, before it has its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// JSON text, without any secret.
    pub before: Option<String>,
    pub after: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct AuditRow {
    pub seq: i64,
    pub at: Millis,
    pub actor_id: Uuid,
    pub actor: String,
    pub key: Option<String>,
    pub transport: String,
    pub action: String,
    pub target: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub hash: Vec<u8>,
}

impl AuditRow {
    /// The row that follows after `last` (its number and hash).
    pub(crate) fn after(last: Option<(i64, Vec<u8>)>, act: &Act) -> Self {
        let (seq, previous) = last.unwrap_or((0, START.to_vec()));
        let mut row = AuditRow {
            seq: seq + 1,
            at: act.at,
            actor_id: act.actor_id,
            actor: act.actor.clone(),
            key: act.key.clone(),
            transport: act.transport.clone(),
            action: act.action.clone(),
            target: act.target.clone(),
            before: act.before.clone(),
            after: act.after.clone(),
            hash: Vec::new(),
        };
        row.hash = row.digest(&previous);
        row
    }

    fn digest(&self, previous: &[u8]) -> Vec<u8> {
        // A JSON array: no two rows have the same text, whatever stands in their fields.
        let text = json!([
            self.seq,
            self.at,
            self.actor_id,
            self.actor,
            self.key,
            self.transport,
            self.action,
            self.target,
            self.before,
            self.after
        ]);
        let mut hasher = Sha256::new_with_prefix(previous);
        hasher.update(text.to_string().as_bytes());
        hasher.finalize().to_vec()
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
    /// Newest first.
    pub async fn audit(&self, filter: &AuditFilter, limit: i64) -> Result<Vec<AuditRow>> {
        const SQL: &str = "SELECT seq, at, actor_id, actor, key, transport, action, target, before, after, hash \
            FROM audit WHERE seq < $1 AND at >= $2 AND at < $3 AND ($4 = '' OR actor = $4) \
            AND ($5 = '' OR action = $5) AND ($6 = '' OR target = $6) ORDER BY seq DESC LIMIT $7";
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Ok(each!(self, pool => sqlx::query_as(SQL)
            .bind(filter.before.unwrap_or(i64::MAX))
            .bind(filter.since.unwrap_or(i64::MIN)).bind(filter.until.unwrap_or(i64::MAX))
            .bind(text(&filter.actor)).bind(text(&filter.action)).bind(text(&filter.target))
            .bind(limit).fetch_all(pool).await)?)
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
                .bind(chain.rows).bind(PAGE).fetch_all(pool).await)?;
            if rows.is_empty() {
                return Ok(chain);
            }
            for row in rows {
                if row.seq != chain.rows + 1 {
                    chain.broken = Some((chain.rows + 1, "it is missing"));
                } else if row.digest(&chain.head) != row.hash {
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
