//! Toolsets: named, ordered selections of tools.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ToolsetRow {
    pub id: Uuid,
    pub owner_id: Uuid,
    pub name: String,
    /// JSON text, in the order in which it was written.
    pub definition: String,
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub deleted_at: Option<Millis>,
}

pub(crate) const PUT_TOOLSET: &str = "INSERT INTO toolsets (id, owner_id, name, definition, version, created_at, updated_at, \
    deleted_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
    ON CONFLICT (id) DO UPDATE SET owner_id = excluded.owner_id, name = excluded.name, definition = excluded.definition, \
    version = excluded.version, updated_at = excluded.updated_at, deleted_at = excluded.deleted_at \
    WHERE toolsets.version < excluded.version";

impl Db {
    /// Every toolset, also those that were removed.
    pub async fn toolsets(&self) -> Result<Vec<ToolsetRow>> {
        const SQL: &str = "SELECT id, owner_id, name, definition, version, created_at, updated_at, deleted_at \
            FROM toolsets ORDER BY name, created_at";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
