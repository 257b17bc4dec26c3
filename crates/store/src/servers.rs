//! Upstream MCP servers: those kept over the API, and what is remembered of those and of the ones in `mcp.json`.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

/// A server that is kept over the API.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ServerRow {
    pub id: Uuid,
    pub owner_id: Uuid,
    pub name: String,
    /// JSON text, in the order in which it was written; what is secret in it is sealed elsewhere.
    pub definition: String,
    /// Whether an admin chose where it leads.
    pub is_trusted: bool,
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
}

/// What was last found out about a server.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ServerListsRow {
    pub server: String,
    /// The fingerprint of where the server is: what is known belongs to no other.
    pub address: String,
    /// JSON text.
    pub known: String,
    pub updated_at: Millis,
}

/// The definition of a tool that a server is held to.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ServerPinRow {
    pub server: String,
    pub tool: String,
    pub hash: String,
    /// JSON text; none where it is too large to be kept.
    pub definition: Option<String>,
    pub pinned_at: Millis,
}

/// A change of what is stored about servers.
#[derive(Debug, Clone)]
pub enum ServerWrite {
    Put(ServerRow),
    Remove {
        id: Uuid,
        version: i64,
    },
    Lists(ServerListsRow),
    Pin(ServerPinRow),
    /// Forgets what was found out about a server, and what it is held to.
    Forget(String),
}

pub(crate) const PUT_SERVER: &str = "INSERT INTO servers (id, owner_id, name, definition, is_trusted, version, created_at, \
    updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
    ON CONFLICT (id) DO UPDATE SET owner_id = excluded.owner_id, definition = excluded.definition, \
    is_trusted = excluded.is_trusted, version = excluded.version, updated_at = excluded.updated_at \
    WHERE servers.version < excluded.version";

pub(crate) const REMOVE_SERVER: &str = "DELETE FROM servers WHERE id = $1 AND version = $2";

pub(crate) const PUT_LISTS: &str = "INSERT INTO server_lists (server, address, known, updated_at) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (server) DO UPDATE SET address = excluded.address, known = excluded.known, updated_at = excluded.updated_at";

pub(crate) const PUT_PIN: &str = "INSERT INTO server_pins (server, tool, hash, definition, pinned_at) \
    VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (server, tool) DO UPDATE SET hash = excluded.hash, definition = excluded.definition, \
    pinned_at = excluded.pinned_at";

pub(crate) const FORGET_LISTS: &str = "DELETE FROM server_lists WHERE server = $1";

pub(crate) const FORGET_PINS: &str = "DELETE FROM server_pins WHERE server = $1";

impl Db {
    pub async fn servers(&self) -> Result<Vec<ServerRow>> {
        const SQL: &str = "SELECT id, owner_id, name, definition, is_trusted, version, created_at, updated_at \
            FROM servers ORDER BY name";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }

    pub async fn server_lists(&self) -> Result<Vec<ServerListsRow>> {
        const SQL: &str =
            "SELECT server, address, known, updated_at FROM server_lists ORDER BY server";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }

    pub async fn server_pins(&self) -> Result<Vec<ServerPinRow>> {
        const SQL: &str = "SELECT server, tool, hash, definition, pinned_at FROM server_pins ORDER BY server, tool";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
