//! The database shelf and the history of every tool, whichever shelf it is on.

use crate::db::{Db, Result, each};
use catalog::tool::{Definition, Millis};
use uuid::Uuid;

/// A tool of the database shelf.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ToolRow {
    pub id: Uuid,
    pub name: String,
    pub owner_id: Uuid,
    /// The definition as JSON text, in the order its author wrote it.
    pub definition: String,
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub deleted_at: Option<Millis>,
}

/// One change of a tool.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct VersionRow {
    pub tool_id: Uuid,
    pub version: i64,
    pub name: String,
    pub shelf: String,
    /// `create`, `update`, `delete`, `restore`, `rollback` or `reassign`.
    pub action: String,
    pub definition: String,
    pub hash: String,
    pub changed_by: String,
    pub changed_at: Millis,
}

/// The newest version of a tool, without its definition.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Head {
    pub tool_id: Uuid,
    pub version: i64,
    pub name: String,
    pub shelf: String,
    pub action: String,
    pub hash: String,
    pub changed_at: Millis,
    pub created_at: Millis,
}

pub fn definition_text(definition: &Definition) -> String {
    serde_json::to_string(definition).expect("a definition is plain JSON")
}

pub(crate) const PUT_TOOL: &str = "INSERT INTO tools (id, name, owner_id, definition, version, created_at, updated_at, deleted_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, owner_id = excluded.owner_id, definition = excluded.definition, \
    version = excluded.version, updated_at = excluded.updated_at, deleted_at = excluded.deleted_at \
    WHERE tools.version < excluded.version";

/// A file shelf that is read for the first time has as many versions as tools: one statement takes so many.
pub(crate) const VERSIONS_AT_ONCE: usize = 50;

/// For this many versions at once.
pub(crate) fn add_versions(count: usize) -> String {
    let row = |row: usize| {
        let places: Vec<String> = (1..=9)
            .map(|column| format!("${}", row * 9 + column))
            .collect();
        format!("({})", places.join(", "))
    };
    let rows: Vec<String> = (0..count).map(row).collect();
    format!(
        "INSERT INTO tool_versions \
         (tool_id, version, name, shelf, action, definition, hash, changed_by, changed_at) VALUES {}",
        rows.join(", ")
    )
}

impl Db {
    /// The tools of the database shelf that are not deleted.
    pub async fn live_tools(&self) -> Result<Vec<ToolRow>> {
        const SQL: &str = "SELECT id, name, owner_id, definition, version, created_at, updated_at, deleted_at \
            FROM tools WHERE deleted_at IS NULL ORDER BY name";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }

    /// A tool of the database shelf, deleted or not.
    pub async fn tool(&self, id: Uuid) -> Result<Option<ToolRow>> {
        const SQL: &str = "SELECT id, name, owner_id, definition, version, created_at, updated_at, deleted_at \
            FROM tools WHERE id = $1";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(id).fetch_optional(pool).await)?)
    }

    /// Those of these that there ever were, deleted or not.
    pub async fn tools_by_id(&self, ids: &[Uuid]) -> Result<Vec<ToolRow>> {
        const SQL: &str = "SELECT id, name, owner_id, definition, version, created_at, updated_at, deleted_at \
            FROM tools WHERE id = ANY($1)";
        match self {
            // One process knows what it has changed.
            Db::Sqlite(..) => Ok(Vec::new()),
            Db::Postgres(pool, ..) => Ok(sqlx::query_as(SQL).bind(ids).fetch_all(pool).await?),
        }
    }

    /// The tools of the database shelf that somebody owns, deleted or not.
    pub async fn tools_of(&self, owner: Uuid) -> Result<Vec<Uuid>> {
        const SQL: &str = "SELECT id FROM tools WHERE owner_id = $1 ORDER BY name, id";
        Ok(each!(self, pool => sqlx::query_scalar(SQL).bind(owner).fetch_all(pool).await)?)
    }

    /// The newest version of every tool that ever was.
    pub async fn heads(&self) -> Result<Vec<Head>> {
        const SQL: &str = "SELECT v.tool_id, v.version, v.name, v.shelf, v.action, v.hash, v.changed_at, s.created_at \
            FROM tool_versions v JOIN (SELECT tool_id, MAX(version) AS newest, MIN(changed_at) AS created_at \
            FROM tool_versions GROUP BY tool_id) s ON s.tool_id = v.tool_id AND s.newest = v.version";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }

    pub async fn head(&self, tool_id: Uuid) -> Result<Option<Head>> {
        const SQL: &str = "SELECT v.tool_id, v.version, v.name, v.shelf, v.action, v.hash, v.changed_at, \
            (SELECT MIN(f.changed_at) FROM tool_versions f WHERE f.tool_id = $1) AS created_at \
            FROM tool_versions v WHERE v.tool_id = $1 ORDER BY v.version DESC LIMIT 1";
        Ok(each!(self, pool => sqlx::query_as(SQL).bind(tool_id).fetch_optional(pool).await)?)
    }

    /// A tool's history, newest first.
    pub async fn versions(
        &self,
        tool_id: Uuid,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<VersionRow>> {
        const SQL: &str = "SELECT tool_id, version, name, shelf, action, definition, hash, changed_by, changed_at \
            FROM tool_versions WHERE tool_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3";
        let before = before.unwrap_or(i64::MAX);
        Ok(
            each!(self, pool => sqlx::query_as(SQL).bind(tool_id).bind(before).bind(limit).fetch_all(pool).await)?,
        )
    }

    pub async fn version(&self, tool_id: Uuid, version: i64) -> Result<Option<VersionRow>> {
        const SQL: &str = "SELECT tool_id, version, name, shelf, action, definition, hash, changed_by, changed_at \
            FROM tool_versions WHERE tool_id = $1 AND version = $2";
        Ok(
            each!(self, pool => sqlx::query_as(SQL).bind(tool_id).bind(version).fetch_optional(pool).await)?,
        )
    }

    /// The id under which a name was last known: a deleted tool is found by its name.
    pub async fn last_id_of_name(&self, name: &str) -> Result<Option<Uuid>> {
        const SQL: &str = "SELECT tool_id FROM tool_versions WHERE name = $1 ORDER BY changed_at DESC, version DESC LIMIT 1";
        Ok(each!(self, pool => sqlx::query_scalar(SQL).bind(name).fetch_optional(pool).await)?)
    }
}
