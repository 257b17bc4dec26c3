//! Who asks: carried by every operation and written into every log row.

use crate::names::Names;
use crate::tool::Millis;
use serde::Serialize;
use serde_json::{Map, Value};
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
    pub const ALL: [Transport; 5] = [
        Transport::Rest,
        Transport::Mcp,
        Transport::Cli,
        Transport::Page,
        Transport::Agent,
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

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

/// What a key may do. A set of bits, so that a check costs nothing.
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
    /// Upstream servers and limits.
    Operate = 16,
}

impl Scope {
    pub const ALL: [Scope; 5] = [
        Scope::Read,
        Scope::Call,
        Scope::Author,
        Scope::Operate,
        Scope::Admin,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Call => "call",
            Scope::Author => "author",
            Scope::Operate => "operate",
            Scope::Admin => "admin",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == name)
    }
}

impl Scopes {
    pub fn all() -> Self {
        Self::from_iter(Scope::ALL)
    }

    pub fn with(self, scope: Scope) -> Self {
        Scopes(self.0 | scope as u8)
    }

    pub fn allow(self, scope: Scope) -> bool {
        self.0 & (scope as u8 | Scope::Admin as u8) != 0
    }

    /// What is left of these rights inside others: a key never has more than its user.
    pub fn within(self, others: Scopes) -> Self {
        Scope::ALL
            .into_iter()
            .filter(|scope| self.allow(*scope) && others.allow(*scope))
            .collect()
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

/// What a person is in the organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Viewer,
    Operator,
    Author,
    Admin,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Viewer, Role::Operator, Role::Author, Role::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Author => "author",
            Role::Admin => "admin",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    pub fn scopes(self) -> Scopes {
        match self {
            Role::Viewer => Scopes::from_iter([Scope::Read]),
            Role::Operator => Scopes::from_iter([Scope::Read, Scope::Call, Scope::Operate]),
            Role::Author => Scopes::from_iter([Scope::Read, Scope::Call, Scope::Author]),
            Role::Admin => Scopes::all(),
        }
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
    pub role: Role,
    /// Name of the key that was shown; none on the local socket, in `--dev` and with a session.
    pub key: Option<Arc<str>>,
    pub key_id: Option<Uuid>,
    pub agent: Option<Uuid>,
    pub run: Option<Uuid>,
    pub toolset: Option<Arc<str>>,
    /// How tools are to be named to them; none leaves it to their toolset and the server.
    pub names: Option<Names>,
    pub transport: Transport,
    pub scopes: Scopes,
    /// When what they showed to come in ends; none where it does not end by itself.
    pub until: Option<Millis>,
    /// What the token says of them that they came with, if it was one.
    pub claims: Option<Arc<Map<String, Value>>>,
}

impl Caller {
    /// Somebody with all the rights of their role, and no key.
    pub fn of_user(user: Uuid, name: &str, role: Role, transport: Transport) -> Self {
        Caller {
            user,
            user_name: name.into(),
            role,
            key: None,
            key_id: None,
            agent: None,
            run: None,
            toolset: None,
            names: None,
            transport,
            scopes: role.scopes(),
            until: None,
            claims: None,
        }
    }

    /// The same with the names that were asked for when their session began, unless others are asked for now.
    pub fn named_as(self: &Arc<Self>, before: &Caller) -> Arc<Self> {
        match (self.names, before.names) {
            (None, Some(_)) => Arc::new(Caller {
                names: before.names,
                ..Caller::clone(self)
            }),
            _ => Arc::clone(self),
        }
    }

    /// Whether what is kept for one is the other's: the same user with the same key, through the same toolset.
    pub fn is_same(&self, other: &Caller) -> bool {
        // What came with a token has no id, but the name of the program that it was given to.
        let who = |it: &Caller| (it.user, it.key_id);
        who(self) == who(other) && self.key == other.key && self.toolset == other.toolset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_key_makes_another_caller() {
        let own = Caller::of_user(Uuid::nil(), "kim", Role::Viewer, Transport::Mcp);
        let with = |key: &str| Caller {
            key: Some(key.into()),
            ..own.clone()
        };
        let later = Caller {
            until: Some(1),
            scopes: Scopes::default(),
            ..with("oauth:a")
        };
        assert!(
            with("oauth:a").is_same(&later),
            "the next token of the same program"
        );
        assert!(!with("oauth:a").is_same(&with("oauth:b")));
        assert!(!with("oauth:a").is_same(&own));
        let through = Caller {
            toolset: Some("t".into()),
            ..own.clone()
        };
        assert!(!own.is_same(&through));
    }

    #[test]
    fn a_key_has_no_more_rights_than_its_user() {
        let names = |scopes: &[Scope], role: Role| {
            let key: Scopes = scopes.iter().copied().collect();
            key.within(role.scopes()).names().join(",")
        };
        assert_eq!(names(&[Scope::Admin], Role::Author), "read,call,author");
        assert_eq!(names(&[Scope::Admin], Role::Operator), "read,call,operate");
        assert_eq!(names(&[Scope::Read, Scope::Author], Role::Viewer), "read");
        assert_eq!(names(&[Scope::Call], Role::Admin), "call");
        assert_eq!(
            names(&[Scope::Admin], Role::Admin),
            "read,call,author,operate,admin"
        );
    }
}
