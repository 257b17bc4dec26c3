//! Sessions of the page, and links that open one once. Of both only the hash of the secret is kept.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SessionRow {
    pub hash: Vec<u8>,
    pub user_id: Uuid,
    pub created_at: Millis,
    pub expires_at: Millis,
}

/// What ends every session and every open link of a user.
pub(crate) const END_SESSIONS: [&str; 2] = [
    "DELETE FROM sessions WHERE user_id = $1",
    "DELETE FROM login_links WHERE user_id = $1",
];

impl Db {
    pub async fn sessions(&self, now: Millis) -> Result<Vec<SessionRow>> {
        const SQL: &str =
            "SELECT hash, user_id, created_at, expires_at FROM sessions WHERE expires_at > $1";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(now).fetch_all(pool).await)?)
    }

    /// Opens a session; those that have ended are forgotten on the way.
    pub async fn open_session(&self, row: &SessionRow) -> Result<()> {
        const FORGET: &str = "DELETE FROM sessions WHERE expires_at <= $1";
        const SQL: &str =
            "INSERT INTO sessions (hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)";
        each!(self, pool => {
            sqlx::query(FORGET).bind(row.created_at).execute(pool).await?;
            sqlx::query(SQL).bind(&row.hash).bind(row.user_id).bind(row.created_at).bind(row.expires_at)
                .execute(pool).await?;
        });
        Ok(())
    }

    pub async fn end_session(&self, hash: &[u8]) -> Result<()> {
        const SQL: &str = "DELETE FROM sessions WHERE hash = $1";
        each!(self, pool => sqlx::query(SQL).bind(hash).execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    pub async fn add_login_link(&self, hash: &[u8], user: Uuid, expires_at: Millis) -> Result<()> {
        const SQL: &str = "INSERT INTO login_links (hash, user_id, expires_at) VALUES ($1, $2, $3)";
        each!(self, pool => sqlx::query(SQL).bind(hash).bind(user).bind(expires_at).execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    /// Takes a link out of the list: who it is for, the first time and until it expires.
    pub async fn use_login_link(&self, hash: &[u8], now: Millis) -> Result<Option<Uuid>> {
        const SQL: &str = "DELETE FROM login_links WHERE hash = $1 RETURNING user_id, expires_at";
        let found: Option<(Uuid, Millis)> =
            each!(self, pool => sqlx::query_as(SQL).bind(hash).fetch_optional(pool).await)?;
        Ok(found
            .filter(|(_, expires_at)| *expires_at > now)
            .map(|(user, _)| user))
    }
}
