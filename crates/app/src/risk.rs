//! What a call of a tool may do to the world, and whether its answer may be by somebody outside.

use crate::App;
use agent::contrary::{Contrary, Doer, contrary};
use catalog::tool::{Annotations, KindName, Shelf, Tool};
use serde_json::Value;

/// The worst that a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Risk {
    ReadOnly,
    Writes,
    Destructive,
}

impl Risk {
    pub(crate) const ALL: [Risk; 3] = [Risk::ReadOnly, Risk::Writes, Risk::Destructive];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Risk::ReadOnly => "read_only",
            Risk::Writes => "writes",
            Risk::Destructive => "destructive",
        }
    }
}

impl App {
    /// What MCP means by it: a tool may destroy, unless somebody says otherwise.
    pub(crate) fn risk(&self, tool: &Tool) -> Risk {
        let hints = self.hints_of(tool);
        let computes = tool.definition.kind == KindName::Expression;
        let says_so = tool.definition.annotations.destructive == Some(true);
        if computes || (hints.read_only == Some(true) && !says_so) {
            Risk::ReadOnly
        } else if hints.destructive == Some(false) {
            Risk::Writes
        } else {
            Risk::Destructive
        }
    }

    /// Whether a call of this tool may destroy something; one that is not there destroys nothing.
    pub(crate) fn may_destroy(&self, name: &str) -> bool {
        let catalogue = self.executor.catalogue.load();
        let found = catalogue.find(name);
        found.is_some_and(|it| self.risk(&it.tool) == Risk::Destructive)
    }

    /// Whether a request wants something else than a tool does, as far as its words tell.
    pub(crate) fn contrary(&self, request: &str, tool: &Tool) -> Option<Contrary> {
        let definition = &tool.definition;
        let own = definition.description_user.as_deref();
        let doer = Doer {
            name: &definition.name,
            descriptions: [&definition.description, own.unwrap_or_default()],
            only_reads: self.risk(tool) == Risk::ReadOnly,
        };
        contrary(request, &doer)
    }

    /// The same of a tool by its name, in words.
    pub(crate) fn contrary_to(&self, request: &str, name: &str) -> Option<&'static str> {
        let catalogue = self.executor.catalogue.load();
        let found = catalogue.find(name)?;
        self.contrary(request, &found.tool)
            .map(|it| it.told(request))
    }

    /// Whether what it answers may have been written by somebody outside: always, unless somebody says otherwise or it only
    /// computes. Rows, files and documents are full of what others wrote.
    pub(crate) fn is_open_world(&self, tool: &Tool) -> bool {
        // What a server says of its own tools is no reason to trust them.
        if tool.shelf == Shelf::Server {
            return true;
        }
        let computes = tool.definition.kind == KindName::Expression;
        self.hints_of(tool).open_world.unwrap_or(!computes)
    }

    /// What is known of a tool: what its author says, else what the builtin says that it is made of.
    fn hints_of(&self, tool: &Tool) -> Annotations {
        let definition = &tool.definition;
        let mut hints = definition.hints();
        let name = definition.config.get("name").and_then(Value::as_str);
        // Without its walls a builtin does whatever it is told.
        let is_walled = definition.config.get("sandbox") != Some(&Value::from("off"));
        let name = name.filter(|_| definition.kind == KindName::Builtin && is_walled);
        if let Some(builtin) = name.and_then(|name| self.runs.hints.get(name)) {
            hints.open_world = hints.open_world.or(builtin.open_world);
            hints.read_only = hints.read_only.or(builtin.read_only);
            hints.destructive = hints.destructive.or(builtin.destructive);
        }
        hints
    }
}
