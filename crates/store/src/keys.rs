//! API keys: only the hash of a key is kept.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct KeyRow {
    pub id: Uuid,
    pub name: String,
    pub user_id: Uuid,
    /// SHA-256 of the secret part.
    pub secret_hash: Vec<u8>,
    /// Comma separated scope names.
    pub scopes: String,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    pub revoked_at: Option<Millis>,
}

impl Db {
    pub async fn keys(&self) -> Result<Vec<KeyRow>> {
        const SQL: &str = "SELECT id, name, user_id, secret_hash, scopes, created_at, expires_at, revoked_at \
            FROM keys ORDER BY created_at, id";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }

    pub async fn insert_key(&self, key: &KeyRow) -> Result<()> {
        const SQL: &str = "INSERT INTO keys (id, name, user_id, secret_hash, scopes, created_at, expires_at, revoked_at) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        each!(self, pool => sqlx::query(SQL)
            .bind(key.id).bind(&key.name).bind(key.user_id).bind(&key.secret_hash).bind(&key.scopes)
            .bind(key.created_at).bind(key.expires_at).bind(key.revoked_at)
            .execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    /// Whether there was such a key to revoke.
    pub async fn revoke_key(&self, id: Uuid, now: Millis) -> Result<bool> {
        const SQL: &str = "UPDATE keys SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2";
        let touched = each!(self, pool => sqlx::query(SQL).bind(now).bind(id).execute(pool).await
            .map(|done| done.rows_affected()))?;
        Ok(touched > 0)
    }
}
