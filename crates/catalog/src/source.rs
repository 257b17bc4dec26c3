//! What a source is: a database that SQL tools use, and what they may do there.

mod read;
mod url;

pub use read::{SOURCE_KEYS, source_from_text};
pub use url::{UrlParts, expanded};

use crate::auth::{mask, sealed};
use crate::secret::Secret;
use serde_json::{Map, Value, json};
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceKind {
    #[default]
    Sqlite,
    Postgres,
}

impl SourceKind {
    pub const NAMES: [&str; 2] = ["sqlite", "postgres"];

    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::Sqlite => "sqlite",
            SourceKind::Postgres => "postgres",
        }
    }
}

/// Who may store SQL tools on a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Authors {
    #[default]
    Admins,
    Everyone,
}

impl Authors {
    pub const NAMES: [&str; 2] = ["admins", "everyone"];

    pub fn as_str(self) -> &'static str {
        match self {
            Authors::Admins => "admins",
            Authors::Everyone => "everyone",
        }
    }
}

/// Where the password of a source is.
#[derive(Debug, Clone)]
pub enum Password {
    /// Written into the definition; what is stored never holds it.
    Given(Secret),
    /// A variable of the server's environment.
    Variable(String),
    Sealed(Uuid),
    /// The mask that was shown: it stays what it is.
    Kept,
}

/// What an admin writes. Addresses are without their password, which stands beside them.
#[derive(Debug, Clone, Default)]
pub struct SourceDefinition {
    pub name: String,
    pub kind: SourceKind,
    pub description: Option<String>,
    /// Of a SQLite file; a relative one begins in the workspace.
    pub path: Option<String>,
    /// Of a PostgreSQL.
    pub url: Option<String>,
    pub password: Option<Password>,
    pub allow_write: bool,
    pub authors: Authors,
    pub pgbouncer: bool,
    pub allow_superuser: bool,
    pub functions: Vec<String>,
    pub search_path: Vec<String>,
    pub connections_min: Option<u32>,
    pub connections_max: Option<u32>,
}

impl SourceDefinition {
    /// As short as an admin would write it, without its name. A password in the clear is left out: it is sealed before
    /// anything is stored.
    pub fn written(&self) -> Map<String, Value> {
        let mut all = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                all.insert(key.to_owned(), value);
            }
        };
        let list = |names: &[String]| (!names.is_empty()).then(|| json!(names));
        let yes = |flag: bool| flag.then_some(Value::Bool(true));
        let is_open = self.authors != Authors::Admins;
        put("kind", Some(self.kind.as_str().into()));
        put("path", self.path.as_deref().map(Value::from));
        put("url", self.url.as_deref().map(Value::from));
        put("password", self.password.as_ref().and_then(reference));
        put("description", self.description.as_deref().map(Value::from));
        put("allow_write", yes(self.allow_write));
        put("authors", is_open.then(|| self.authors.as_str().into()));
        put("pgbouncer", yes(self.pgbouncer));
        put("allow_superuser", yes(self.allow_superuser));
        put("functions", list(&self.functions));
        put("search_path", list(&self.search_path));
        put("connections_min", self.connections_min.map(Value::from));
        put("connections_max", self.connections_max.map(Value::from));
        all
    }
}

/// What stands in a stored definition in place of the password.
fn reference(password: &Password) -> Option<Value> {
    match password {
        Password::Given(_) => None,
        Password::Variable(name) => Some(format!("${{{name}}}").into()),
        Password::Sealed(id) => Some(sealed(*id)),
        Password::Kept => Some(mask(None)),
    }
}

#[cfg(test)]
mod tests;
