//! Who asks: carried by every operation and written into every log row.

use serde::Serialize;
use std::sync::Arc;
use uuid::Uuid;

/// Which face a request came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    Rest,
    Mcp,
    Cli,
    Page,
    Agent,
}

impl Transport {
    pub fn as_str(self) -> &'static str {
        match self {
            Transport::Rest => "rest",
            Transport::Mcp => "mcp",
            Transport::Cli => "cli",
            Transport::Page => "page",
            Transport::Agent => "agent",
        }
    }
}

/// What a key may do. A set of four bits, so that a check costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u8);

/// One right. `admin` holds all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Scope {
    Read = 1,
    Call = 2,
    Author = 4,
    Admin = 8,
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Read, Scope::Call, Scope::Author, Scope::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Call => "call",
            Scope::Author => "author",
            Scope::Admin => "admin",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == name)
    }
}

impl Scopes {
    pub fn all() -> Self {
        Scopes(15)
    }

    pub fn with(self, scope: Scope) -> Self {
        Scopes(self.0 | scope as u8)
    }

    pub fn allow(self, scope: Scope) -> bool {
        self.0 & (scope as u8 | Scope::Admin as u8) != 0
    }

    /// The scopes by name, in the order of `Scope::ALL`.
    pub fn names(self) -> Vec<&'static str> {
        Scope::ALL
            .into_iter()
            .filter(|s| self.0 & *s as u8 != 0)
            .map(Scope::as_str)
            .collect()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        scopes.into_iter().fold(Scopes::default(), Scopes::with)
    }
}

/// The one who asks, and through which door.
#[derive(Debug, Clone)]
pub struct Caller {
    pub user: Uuid,
    pub user_name: Arc<str>,
    /// Name of the key that was shown; none on the local socket and in `--dev`.
    pub key: Option<Arc<str>>,
    pub agent: Option<Uuid>,
    pub run: Option<Uuid>,
    pub toolset: Option<Arc<str>>,
    pub transport: Transport,
    pub scopes: Scopes,
}
