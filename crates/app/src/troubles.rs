//! What would keep a tool from working although its definition is right: a script, a program, a server or a secret that
//! is not there. It may come later, so nothing is refused for it; who made the tool is told.

use crate::App;
use crate::servers::fits::set_fault;
use crate::tools::{ToolPage, is_mine};
use catalog::auth::Reference;
use catalog::caller::Caller;
use catalog::tool::{KindName, Shelf, Tool};
use serde_json::Value;

impl App {
    /// Says of each tool on a page what would keep it from working, where the caller may change it.
    pub async fn add_troubles(&self, caller: &Caller, page: &mut ToolPage) {
        for view in &mut page.items {
            let entry = self.executor.catalogue.load().by_id(view.id).cloned();
            if let Some(entry) = entry.filter(|entry| is_mine(caller, &entry.tool)) {
                view.trouble = self.trouble(caller, &entry.tool).await;
            }
        }
    }

    async fn trouble(&self, caller: &Caller, tool: &Tool) -> Option<String> {
        let definition = &tool.definition;
        if tool.shelf == Shelf::Server {
            return self.missing_server(caller, tool);
        }
        // A Python tool's kind would install what the script needs.
        if needs_nothing(tool) || definition.kind == KindName::Python {
            return self.missing_of(caller, tool);
        }
        match self.executor.check(definition).await {
            Err(failure) => Some(failure.message),
            Ok(()) => self.missing_of(caller, tool),
        }
    }

    /// The first thing that is missing for a tool that its kind has just found right.
    pub(crate) fn missing_of(&self, caller: &Caller, tool: &Tool) -> Option<String> {
        if needs_nothing(tool) {
            return None;
        }
        let missing = self.missing_secret(tool);
        let missing = missing.or_else(|| self.missing_server(caller, tool));
        missing.or_else(|| self.executor.missing(&tool.definition))
    }

    fn missing_secret(&self, tool: &Tool) -> Option<String> {
        let references = Reference::all_of(&tool.definition);
        references
            .into_iter()
            .find_map(|(path, reference)| match reference {
                Reference::Env(name) => (self.env)(&name).is_none().then(|| {
                    format!("{path}: the variable '{name}' is not set where the server runs")
                }),
                Reference::Secret(name) => (!self.has_secret(tool, &name)).then(|| {
                    format!(
                        "{path}: there is no secret '{name}'; `toolcrib secrets set {name}` sets it"
                    )
                }),
                Reference::Sealed(_) => None,
            })
    }

    /// Its kind knows only those servers that are connected, and a short command connects none.
    fn missing_server(&self, caller: &Caller, tool: &Tool) -> Option<String> {
        let definition = &tool.definition;
        if definition.kind != KindName::Mcp {
            return None;
        }
        let text = |name: &str| definition.config.get(name).and_then(Value::as_str);
        let (server, theirs) = (text("server_name")?, text("tool_name")?);
        if !self.server_names().iter().any(|known| known == server) {
            return Some(format!(
                "there is no server '{server}' in mcp.json or among those kept over the API"
            ));
        }
        // What a server has is told by its own tools.
        let listed = tool.shelf != Shelf::Server;
        // A tool of the file is there to stand for one that is kept from everybody.
        let asked = (tool.shelf != Shelf::File).then_some(caller);
        let listed = listed.then(|| self.listed_tool(asked, server, theirs));
        let listed = match listed.flatten() {
            Some(Err(why)) => return Some(why),
            Some(Ok(listed)) => Some(listed),
            None => None,
        };
        let waits = self.upstreams.get(server);
        let waits = waits.is_some_and(|it| !it.is_approved(theirs) && !it.lists().tools.is_empty());
        if waits {
            return Some(format!(
                "what '{server}' says of '{theirs}' waits for approval: `toolcrib servers changes {server}`"
            ));
        }
        let set = definition
            .config
            .get("arguments")
            .and_then(Value::as_object);
        set_fault(&listed?, set?)
    }
}

/// A tool that is switched off may be as broken as it is; what came with something else is not for its users to mend.
fn needs_nothing(tool: &Tool) -> bool {
    !tool.definition.is_active || matches!(tool.shelf, Shelf::Builtin | Shelf::Server)
}
