//! The counts of limits that servers on one PostgreSQL share (ADR 24). What is asked there and answered is JSON, made and read
//! by whoever leases; the functions stand in the migrations.

use crate::db::{Db, Error, Result};
use serde_json::{Value, json};

/// The tables of the shared counts, emptied when a backup is restored: the log says what was used.
pub(crate) const TABLES: [&str; 5] = [
    "lease_days",
    "lease_times",
    "lease_blocks",
    "lease_places",
    "lease_servers",
];

impl Db {
    /// Gives back, asks and is answered, in one round trip and one transaction.
    pub async fn lease(&self, request: &Value) -> Result<Value> {
        self.asked("SELECT lease($1::jsonb)::text", request).await
    }

    /// How much of limits is used up.
    pub async fn leases_used(&self, request: &Value) -> Result<Value> {
        self.asked("SELECT lease_used($1::jsonb)::text", request)
            .await
    }

    /// Frees the places of processes that ran before this one under the same name: of one name there is one at a time.
    pub async fn drop_places(&self, node: &str, instance: &str) -> Result<()> {
        const SQL: &str = "DELETE FROM lease_servers WHERE node = $1 AND instance <> $2";
        if let Db::Postgres(pool, ..) = self {
            let gone = sqlx::query(SQL).bind(node).bind(instance);
            gone.execute(pool).await?;
        }
        Ok(())
    }

    /// Removes what counts no more, a part of it each time. `now` is for clocks that a test sets.
    pub async fn forget_leases(&self, now: Option<i64>) -> Result<()> {
        if let Db::Postgres(pool, ..) = self {
            let forget = sqlx::query("SELECT lease_forget($1::jsonb)");
            let request = json!({"now": now}).to_string();
            forget.bind(request).execute(pool).await?;
        }
        Ok(())
    }

    async fn asked(&self, sql: &'static str, request: &Value) -> Result<Value> {
        let Db::Postgres(pool, ..) = self else {
            return Err(Error::Open("SQLite has one server and no leases".into()));
        };
        let answer = sqlx::query_scalar(sql).bind(request.to_string());
        let text: String = answer.fetch_one(pool).await?;
        serde_json::from_str(&text).map_err(|error| Error::Corrupt(error.to_string()))
    }
}
