//! What a tool is only another name for: the builtin or the tool of an upstream server behind it.

use crate::tool::{KindName, Shelf, Tool, id_from_name};
use serde_json::Value;
use std::borrow::Cow;
use uuid::Uuid;

/// What a tool is judged and counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandsFor<'a> {
    pub name: &'a str,
    pub behind: Option<Behind<'a>>,
}

/// What a tool is only another name for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind<'a> {
    Builtin(&'a str),
    /// A tool of an upstream server.
    Upstream {
        server: &'a str,
        tool: &'a str,
    },
}

impl<'a> Behind<'a> {
    pub fn name(self) -> Cow<'a, str> {
        match self {
            Behind::Builtin(name) => name.into(),
            Behind::Upstream { server, tool } => upstream_name(server, tool).into(),
        }
    }

    fn is_called(self, name: &str) -> bool {
        match self {
            Behind::Builtin(own) => own == name,
            Behind::Upstream { server, tool } => {
                let rest = name.strip_prefix(server);
                rest.and_then(|rest| rest.strip_prefix('.')) == Some(tool)
            }
        }
    }

    pub fn id(self) -> Uuid {
        match self {
            Behind::Builtin(name) => id_from_name(name),
            Behind::Upstream { .. } => upstream_id(&self.name()),
        }
    }
}

impl<'a> StandsFor<'a> {
    pub fn names(self) -> impl Iterator<Item = Cow<'a, str>> {
        let behind = self.behind.into_iter().map(Behind::name);
        std::iter::once(self.name.into()).chain(behind)
    }
}

impl Tool {
    /// Itself and, where its author is not the operator, the tool it runs: what is kept from a caller, or used up,
    /// cannot be reached under another name either. The policy and the limits both ask here.
    pub fn stands_for(&self) -> StandsFor<'_> {
        let definition = &self.definition;
        let text = |name: &str| definition.config.get(name).and_then(Value::as_str);
        let behind = match (self.shelf, definition.kind) {
            (Shelf::Database, KindName::Builtin) => text("name").map(Behind::Builtin),
            (Shelf::Database, KindName::Mcp) => text("server_name")
                .zip(text("tool_name"))
                .map(|(server, tool)| Behind::Upstream { server, tool }),
            _ => None,
        };
        StandsFor {
            name: &definition.name,
            behind: behind.filter(|behind| !behind.is_called(&definition.name)),
        }
    }
}

/// What a tool of an upstream server is called here.
pub fn upstream_name(server: &str, tool: &str) -> String {
    format!("{server}.{tool}")
}

/// The id of a tool of an upstream server. Another tool of that name has another id.
pub fn upstream_id(name: &str) -> Uuid {
    id_from_name(&format!("{name} of an MCP server"))
}
