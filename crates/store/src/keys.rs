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
    /// To the minute.
    pub last_used_at: Option<Millis>,
}

pub(crate) const PUT_KEY: &str = "INSERT INTO keys \
    (id, name, user_id, secret_hash, scopes, created_at, expires_at, revoked_at, last_used_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
    ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at";

/// Those that are revoked already keep the time of it.
pub(crate) const REVOKE_KEYS: &str =
    "UPDATE keys SET revoked_at = $1 WHERE user_id = $2 AND revoked_at IS NULL";

impl Db {
    pub async fn keys(&self) -> Result<Vec<KeyRow>> {
        const SQL: &str = "SELECT id, name, user_id, secret_hash, scopes, created_at, expires_at, revoked_at, last_used_at \
            FROM keys ORDER BY created_at, id";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }

    /// Notes when keys were last shown.
    pub async fn keys_used(&self, used: &[(Uuid, Millis)]) -> Result<()> {
        const SQL: &str = "UPDATE keys SET last_used_at = $1 WHERE id = $2";
        for (id, at) in used {
            each!(self, pool => sqlx::query(SQL).bind(at).bind(id).execute(pool).await.map(|_| ()))?;
        }
        Ok(())
    }
}
