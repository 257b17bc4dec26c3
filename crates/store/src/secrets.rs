//! Sealed secrets: only what the sealing key can open is stored here, and nothing else in the database is secret.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SecretRow {
    pub id: Uuid,
    pub owner_id: Uuid,
    /// A named secret has one; a value of a definition has not.
    pub name: Option<String>,
    /// The tool or the server in whose definition it was written.
    pub tool_id: Option<Uuid>,
    pub sealed: String,
    pub key_id: String,
    /// The end of the value, for people to recognise it; none where that would tell too much.
    pub last4: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
}

pub(crate) const PUT_SECRET: &str = "INSERT INTO secrets \
    (id, owner_id, name, tool_id, sealed, key_id, last4, created_at, updated_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
    ON CONFLICT (id) DO UPDATE SET owner_id = excluded.owner_id, sealed = excluded.sealed, \
    key_id = excluded.key_id, last4 = excluded.last4, updated_at = excluded.updated_at";

/// Only where nobody else has changed it since it was read: a newer value must not be put back.
pub(crate) const REWRAP_SECRET: &str =
    "UPDATE secrets SET sealed = $1, key_id = $2 WHERE id = $3 AND sealed = $4";

pub(crate) const SECRET_OWNER: &str =
    "UPDATE secrets SET owner_id = $1, updated_at = $2 WHERE id = $3";

pub(crate) const DELETE_SECRET: &str = "DELETE FROM secrets WHERE id = $1";

impl Db {
    pub async fn secret_named(&self, name: &str) -> Result<Option<SecretRow>> {
        const SQL: &str = "SELECT id, owner_id, name, tool_id, sealed, key_id, last4, created_at, updated_at \
            FROM secrets WHERE name = $1";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(name).fetch_optional(pool).await)?)
    }

    /// Some of those that another key seals, in the order of their ids after `after`.
    pub async fn secrets_not_under(
        &self,
        key_id: &str,
        after: Uuid,
        limit: i64,
    ) -> Result<Vec<SecretRow>> {
        const SQL: &str = "SELECT id, owner_id, name, tool_id, sealed, key_id, last4, created_at, updated_at \
            FROM secrets WHERE key_id <> $1 AND id > $2 ORDER BY id LIMIT $3";
        Ok(each!(self, pool => sqlx::query_as(SQL)
            .bind(key_id).bind(after).bind(limit).fetch_all(pool).await)?)
    }

    /// Those of these that are there.
    pub async fn secrets_by_id(&self, ids: &[Uuid]) -> Result<Vec<SecretRow>> {
        const SQL: &str = "SELECT id, owner_id, name, tool_id, sealed, key_id, last4, created_at, updated_at \
            FROM secrets WHERE id = ANY($1)";
        match self {
            // One process knows what it has changed.
            Db::Sqlite(..) => Ok(Vec::new()),
            Db::Postgres(pool, ..) => Ok(sqlx::query_as(SQL).bind(ids).fetch_all(pool).await?),
        }
    }

    pub async fn secrets(&self) -> Result<Vec<SecretRow>> {
        const SQL: &str = "SELECT id, owner_id, name, tool_id, sealed, key_id, last4, created_at, updated_at \
            FROM secrets ORDER BY name, id";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
