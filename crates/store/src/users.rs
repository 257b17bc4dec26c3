//! Users: who owns what. The system user owns builtins and the file shelf; `admin` is the first person.

use crate::db::{Db, Result, each};
use catalog::tool::{Millis, SYSTEM_USER};
use uuid::Uuid;

/// The first person: every key belongs to somebody.
pub const ADMIN_USER: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0002);

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct UserRow {
    pub id: Uuid,
    /// Never given to anybody else, even after the user is gone: the log and the audit log name people by it.
    pub name: String,
    pub role: String,
    /// An argon2id hash; none for those who only use keys or come from the identity provider.
    pub password_hash: Option<String>,
    /// Who it is at the identity provider.
    pub oidc_subject: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub deleted_at: Option<Millis>,
}

pub(crate) const PUT_USER: &str = "INSERT INTO users \
    (id, name, role, password_hash, oidc_subject, created_at, updated_at, deleted_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
    ON CONFLICT (id) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash, \
    oidc_subject = excluded.oidc_subject, updated_at = excluded.updated_at, deleted_at = excluded.deleted_at";

impl Db {
    /// Makes the two users every crib has.
    pub async fn ensure_first_users(&self, now: Millis) -> Result<()> {
        const SQL: &str = "INSERT INTO users (id, name, role, created_at, updated_at) \
            VALUES ($1, 'system', 'admin', $3, $3), ($2, 'admin', 'admin', $3, $3) ON CONFLICT DO NOTHING";
        each!(self, pool => sqlx::query(SQL).bind(SYSTEM_USER).bind(ADMIN_USER).bind(now)
            .execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    /// Everybody, also those who are gone.
    pub async fn users(&self) -> Result<Vec<UserRow>> {
        const SQL: &str = "SELECT id, name, role, password_hash, oidc_subject, created_at, updated_at, deleted_at \
            FROM users ORDER BY name";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
