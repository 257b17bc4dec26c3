//! The policy: one document, every version of it kept.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct PolicyRow {
    pub version: i64,
    /// JSON text.
    pub document: String,
    pub created_at: Millis,
}

pub(crate) const ADD_POLICY: &str =
    "INSERT INTO policies (version, document, created_at) VALUES ($1, $2, $3)";

impl Db {
    /// The one in force; none until somebody sets one.
    pub async fn policy(&self) -> Result<Option<PolicyRow>> {
        const SQL: &str =
            "SELECT version, document, created_at FROM policies ORDER BY version DESC LIMIT 1";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_optional(pool).await)?)
    }
}
