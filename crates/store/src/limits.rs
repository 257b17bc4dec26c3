//! Daily quotas: how often a user may call, or a tool may be called, within a UTC day (seed 003's `h_mcp_tool_limit`).

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct LimitRow {
    /// `USER` or `TOOL`.
    pub target_type: String,
    pub target_id: Uuid,
    /// What the target was called when the limit was set.
    pub target_name: Option<String>,
    pub max_count: i64,
    pub updated_at: Millis,
}

pub(crate) const PUT_LIMIT: &str = "INSERT INTO limits (target_type, target_id, target_name, max_count, updated_at) \
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (target_type, target_id) \
    DO UPDATE SET target_name = excluded.target_name, max_count = excluded.max_count, updated_at = excluded.updated_at";

pub(crate) const DELETE_LIMIT: &str =
    "DELETE FROM limits WHERE target_type = $1 AND target_id = $2";

impl Db {
    pub async fn limits(&self) -> Result<Vec<LimitRow>> {
        const SQL: &str = "SELECT target_type, target_id, target_name, max_count, updated_at FROM limits ORDER BY target_type, target_id";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
