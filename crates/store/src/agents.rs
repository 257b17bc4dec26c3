//! Agents: a model, its instructions and the tools it may use (seed 002 REQ-003).

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use serde_json::Value;
pub use sqlx::types::Json;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub struct AgentRow {
    pub id: Uuid,
    pub owner_id: Uuid,
    pub name: String,
    pub description: Option<String>,
    pub model_provider: String,
    pub model_name: String,
    pub base_url: Option<String>,
    pub system_prompt: Option<String>,
    pub config: Json<Value>,
    /// The ids of its tools.
    pub tools: Json<Vec<Uuid>>,
    pub memory_config: Option<Json<Value>>,
    pub is_active: bool,
    pub is_public: bool,
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub deleted_at: Option<Millis>,
}

pub(crate) const PUT_AGENT: &str = "INSERT INTO agents (id, owner_id, name, description, model_provider, model_name, \
    base_url, system_prompt, config, tools, memory_config, is_active, is_public, version, created_at, updated_at, deleted_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
    ON CONFLICT (id) DO UPDATE SET owner_id = excluded.owner_id, name = excluded.name, description = excluded.description, \
    model_provider = excluded.model_provider, model_name = excluded.model_name, base_url = excluded.base_url, \
    system_prompt = excluded.system_prompt, config = excluded.config, tools = excluded.tools, \
    memory_config = excluded.memory_config, is_active = excluded.is_active, is_public = excluded.is_public, \
    version = excluded.version, updated_at = excluded.updated_at, deleted_at = excluded.deleted_at \
    WHERE agents.version < excluded.version";

impl Db {
    /// Every agent, also those that were removed.
    pub async fn agents(&self) -> Result<Vec<AgentRow>> {
        const SQL: &str = "SELECT id, owner_id, name, description, model_provider, model_name, base_url, system_prompt, \
            config, tools, memory_config, is_active, is_public, version, created_at, updated_at, deleted_at \
            FROM agents ORDER BY name, created_at";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
