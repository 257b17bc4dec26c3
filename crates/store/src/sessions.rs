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

/// A link that opens a session once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRow {
    pub hash: Vec<u8>,
    pub user_id: Uuid,
    pub created_at: Millis,
    pub expires_at: Millis,
}

pub(crate) const OPEN_SESSION: &str =
    "INSERT INTO sessions (hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)";
pub(crate) const END_SESSION: &str = "DELETE FROM sessions WHERE hash = $1";
pub(crate) const END_SESSIONS: &str = "DELETE FROM sessions WHERE user_id = $1";
pub(crate) const FORGET_SESSIONS: &str = "DELETE FROM sessions WHERE expires_at <= $1";
pub(crate) const ADD_LINK: &str =
    "INSERT INTO login_links (hash, user_id, expires_at) VALUES ($1, $2, $3)";
pub(crate) const END_LINKS: &str = "DELETE FROM login_links WHERE user_id = $1";
pub(crate) const FORGET_LINKS: &str = "DELETE FROM login_links WHERE expires_at <= $1";

impl Db {
    pub async fn sessions(&self, now: Millis) -> Result<Vec<SessionRow>> {
        const SQL: &str =
            "SELECT hash, user_id, created_at, expires_at FROM sessions WHERE expires_at > $1";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(now).fetch_all(pool).await)?)
    }

    /// The same of these people only.
    pub async fn sessions_of(&self, users: &[Uuid], now: Millis) -> Result<Vec<SessionRow>> {
        const SQL: &str = "SELECT hash, user_id, created_at, expires_at FROM sessions \
            WHERE expires_at > $1 AND user_id = ANY($2)";
        match self {
            // One process knows what it has changed.
            Db::Sqlite(..) => Ok(Vec::new()),
            Db::Postgres(pool, ..) => {
                let rows = sqlx::query_as(SQL).bind(now).bind(users);
                Ok(rows.fetch_all(pool).await?)
            }
        }
    }

    /// Takes a link out of the list: whom it is for and until when, the first time.
    pub async fn use_login_link(&self, hash: &[u8]) -> Result<Option<(Uuid, Millis)>> {
        const SQL: &str = "DELETE FROM login_links WHERE hash = $1 RETURNING user_id, expires_at";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(hash).fetch_optional(pool).await)?)
    }
}
