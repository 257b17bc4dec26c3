//! Sources that are kept over the API: the databases of SQL tools.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SourceRow {
    pub id: Uuid,
    pub name: String,
    /// JSON text; its password is sealed elsewhere.
    pub definition: String,
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
}

pub(crate) const PUT_SOURCE: &str = "INSERT INTO sources (id, name, definition, version, created_at, updated_at) \
    VALUES ($1, $2, $3, $4, $5, $6) \
    ON CONFLICT (id) DO UPDATE SET definition = excluded.definition, version = excluded.version, \
    updated_at = excluded.updated_at WHERE sources.version < excluded.version";

pub(crate) const REMOVE_SOURCE: &str = "DELETE FROM sources WHERE id = $1 AND version = $2";

impl Db {
    pub async fn sources(&self) -> Result<Vec<SourceRow>> {
        const SQL: &str = "SELECT id, name, definition, version, created_at, updated_at FROM sources ORDER BY name";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
