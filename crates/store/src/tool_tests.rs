//! How the saved tests of each tool ended when they were last run.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ToolTestRow {
    pub tool_id: Uuid,
    /// Of the definition that was tested.
    pub hash: String,
    pub passed: i64,
    pub failed: i64,
    pub ran_at: Millis,
}

impl Db {
    pub async fn tool_tests(&self) -> Result<Vec<ToolTestRow>> {
        const SQL: &str = "SELECT tool_id, hash, passed, failed, ran_at FROM tool_tests";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }

    pub async fn put_tool_test(&self, row: &ToolTestRow) -> Result<()> {
        const SQL: &str = "INSERT INTO tool_tests (tool_id, hash, passed, failed, ran_at) VALUES ($1, $2, $3, $4, $5) \
            ON CONFLICT (tool_id) DO UPDATE SET hash = excluded.hash, passed = excluded.passed, \
            failed = excluded.failed, ran_at = excluded.ran_at WHERE tool_tests.ran_at <= excluded.ran_at";
        each!(self, pool => sqlx::query(SQL).bind(row.tool_id).bind(&row.hash).bind(row.passed).bind(row.failed)
            .bind(row.ran_at).execute(pool).await.map(drop))?;
        Ok(())
    }
}
