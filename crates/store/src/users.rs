//! Users: who owns what. The system user owns builtins and the file shelf; `admin` owns the rest until
//! there are more.

use crate::db::{Db, Result, each};
use catalog::tool::{Millis, SYSTEM_USER};
use uuid::Uuid;

/// The first person: every key belongs to somebody.
pub const ADMIN_USER: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0002);

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct UserRow {
    pub id: Uuid,
    pub name: String,
    pub created_at: Millis,
}

impl Db {
    /// Makes the two users every crib has.
    pub async fn ensure_first_users(&self, now: Millis) -> Result<()> {
        const SQL: &str =
            "INSERT INTO users (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        for (id, name) in [(SYSTEM_USER, "system"), (ADMIN_USER, "admin")] {
            each!(self, pool => sqlx::query(SQL).bind(id).bind(name).bind(now).execute(pool).await.map(|_| ()))?;
        }
        Ok(())
    }

    pub async fn users(&self) -> Result<Vec<UserRow>> {
        const SQL: &str = "SELECT id, name, created_at FROM users ORDER BY name";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
