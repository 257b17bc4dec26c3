//! Idempotency keys: a call that carries one is reserved before it runs and answered from here afterwards.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;

/// What stands under a key.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct IdempotentCall {
    pub tool_name: String,
    pub arguments_hash: String,
    /// The process that runs it.
    pub node: String,
    /// The answer; none while the call runs.
    pub response: Option<String>,
    pub created_at: Millis,
}

impl Db {
    /// Takes the key for this call. `None` means it is ours; else what stands there already.
    pub async fn reserve_call(
        &self,
        caller: &str,
        key: &str,
        call: &IdempotentCall,
    ) -> Result<Option<IdempotentCall>> {
        const TAKE: &str = "INSERT INTO idempotency (caller, key, tool_name, arguments_hash, node, created_at) \
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
        loop {
            let taken = each!(self, pool => sqlx::query(TAKE)
                .bind(caller).bind(key).bind(&call.tool_name).bind(&call.arguments_hash).bind(&call.node)
                .bind(call.created_at).execute(pool).await.map(|done| done.rows_affected()))?;
            if taken == 1 {
                return Ok(None);
            }
            // Gone again in between: its call was refused, so the key is free.
            if let Some(found) = self.idempotent_call(caller, key).await? {
                return Ok(Some(found));
            }
        }
    }

    pub async fn idempotent_call(&self, caller: &str, key: &str) -> Result<Option<IdempotentCall>> {
        const SQL: &str = "SELECT tool_name, arguments_hash, node, response, created_at \
            FROM idempotency WHERE caller = $1 AND key = $2";
        Ok(
            each!(self, pool => sqlx::query_as(SQL).bind(caller).bind(key).fetch_optional(pool).await)?,
        )
    }

    pub async fn answer_call(&self, caller: &str, key: &str, response: &str) -> Result<()> {
        const SQL: &str = "UPDATE idempotency SET response = $1 WHERE caller = $2 AND key = $3";
        each!(self, pool => sqlx::query(SQL).bind(response).bind(caller).bind(key).execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    /// Answers a call that was cut off, unless it was answered after all.
    pub async fn settle_call(&self, caller: &str, key: &str, response: &str) -> Result<()> {
        const SQL: &str = "UPDATE idempotency SET response = $1 WHERE caller = $2 AND key = $3 AND response IS NULL";
        each!(self, pool => sqlx::query(SQL).bind(response).bind(caller).bind(key).execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    /// Gives the key of that moment back: the call was refused before it could run, or is a day old.
    pub async fn release_call(&self, caller: &str, key: &str, created_at: Millis) -> Result<()> {
        const SQL: &str =
            "DELETE FROM idempotency WHERE caller = $1 AND key = $2 AND created_at = $3";
        each!(self, pool => sqlx::query(SQL).bind(caller).bind(key).bind(created_at).execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    /// Forgets keys made before `before`; how many there were.
    pub async fn forget_calls(&self, before: Millis) -> Result<u64> {
        const SQL: &str = "DELETE FROM idempotency WHERE created_at < $1";
        Ok(
            each!(self, pool => sqlx::query(SQL).bind(before).execute(pool).await.map(|done| done.rows_affected()))?,
        )
    }

    /// Calls of this node that were running when it stopped: (caller, key, tool).
    pub async fn unanswered_calls(&self, node: &str) -> Result<Vec<(String, String, String)>> {
        const SQL: &str =
            "SELECT caller, key, tool_name FROM idempotency WHERE node = $1 AND response IS NULL";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(node).fetch_all(pool).await)?)
    }
}
