//! Requests of which somebody confirmed that a tool was right for them.

use crate::db::{Db, Result, each};
use catalog::hex::hex;
use catalog::tool::Millis;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// So many are kept for each tool; the next one takes the place of the oldest.
pub const CONFIRMED_MAX: i64 = 20;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ConfirmedRow {
    pub tool_id: Uuid,
    pub request: String,
    /// Who confirmed it last.
    pub user_id: Uuid,
    /// No two of a tool have the same: it says which of them is the oldest.
    pub at: Millis,
}

impl ConfirmedRow {
    /// What a request is found by.
    pub(crate) fn hash(request: &str) -> String {
        hex(&Sha256::digest(request.as_bytes()))
    }
}

/// A change of what is confirmed.
#[derive(Debug, Clone)]
pub enum ConfirmedWrite {
    /// One that is there already is the newest again.
    Put(ConfirmedRow),
    /// Not where somebody else has taken it back meanwhile.
    Remove {
        tool_id: Uuid,
        request: String,
    },
    RemoveAll(Uuid),
}

pub(crate) const PUT_CONFIRMED: &str = "INSERT INTO confirmed_requests (tool_id, hash, request, user_id, at) \
    VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (tool_id, hash) DO UPDATE SET user_id = excluded.user_id, at = excluded.at";

pub(crate) const BOUND_CONFIRMED: &str = "DELETE FROM confirmed_requests WHERE tool_id = $1 AND hash NOT IN \
    (SELECT hash FROM confirmed_requests WHERE tool_id = $1 ORDER BY at DESC, hash LIMIT $2)";

pub(crate) const REMOVE_CONFIRMED: &str =
    "DELETE FROM confirmed_requests WHERE tool_id = $1 AND hash = $2";

pub(crate) const REMOVE_ALL_CONFIRMED: &str = "DELETE FROM confirmed_requests WHERE tool_id = $1";

impl Db {
    /// The newest of each tool first.
    pub async fn confirmed_requests(&self) -> Result<Vec<ConfirmedRow>> {
        const SQL: &str = "SELECT tool_id, request, user_id, at FROM confirmed_requests ORDER BY tool_id, at DESC, hash";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
