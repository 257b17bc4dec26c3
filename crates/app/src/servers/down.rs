//! Calls of tools that are not known because their server never came up: whoever calls one is told that, and not that there
//! is no such tool.

use crate::App;
use catalog::caller::{Caller, Scope};
use executor::{Code, Failure};
use mcp::upstream::{state_words, where_to_look};
use serde_json::json;

impl App {
    /// Why a tool `server.tool` that is not in the catalogue cannot be called, where its server is known and down. Whoever
    /// may not use the tool learns nothing of the server.
    pub(crate) fn down_server(&self, caller: &Caller, tool: &str) -> Option<Failure> {
        if self.executor.catalogue.load().find(tool).is_some() {
            return None;
        }
        let (name, _) = tool.split_once('.')?;
        if !self.may_use(caller, tool) {
            return None;
        }
        let shown = self.get_server(caller, name).ok()?;
        let is_up = matches!(shown.state, "connected" | "degraded" | "hidden");
        // What is not in a list that is known is not there. An id finds a server too, but no tool is named after it.
        if is_up || shown.tools > 0 || shown.name != name {
            return None;
        }
        let state = shown.state;
        let why = match shown.cause {
            Some(cause) => format!("it is {state}: {cause}"),
            None if caller.scopes.allow(Scope::Operate) => format!("it is {state}"),
            // As the kind tells it to whoever calls a tool that is known.
            None => format!("{}. {}", state_words(state), where_to_look(name)),
        };
        let code = match state {
            "auth_required" => Code::AuthRequired,
            _ => Code::ServiceUnavailable,
        };
        let mut details = json!({"server": name, "state": state});
        if ["starting", "reconnecting"].contains(&state) {
            details["retry_after_seconds"] = 1.into();
        }
        let message = format!(
            "MCP server '{name}': {why}. Which tools it has is not known yet, so '{tool}' cannot be called"
        );
        Some(Failure::new(code, message).with_details(details))
    }
}
