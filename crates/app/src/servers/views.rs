//! Servers as they are shown: how each is doing, what it offers and, to those who may operate servers, what its author
//! wrote.

use super::parts::without_secrets;
use super::running::Standing;
use super::stored::Stored;
use super::{ServerView, StoredPart};
use crate::App;
use crate::time;
use catalog::auth::mask_all;
use catalog::caller::{Caller, Scope};
use catalog::mcp_file::ServerConfig;
use mcp::upstream::{Known, Lists, State, Upstream};
use serde_json::{Map, Value};
use std::sync::Arc;

impl App {
    /// A server that is connected, or about to be.
    pub(super) fn live_view(&self, server: &Upstream, caller: &Caller) -> ServerView {
        let status = server.status();
        let may_operate = caller.scopes.allow(Scope::Operate);
        let (attempt, attempts_max) = match status.state {
            State::Reconnecting { n, of } => (Some(n), Some(of)),
            _ => (None, None),
        };
        let stored = match self.is_in_file(server.name()) {
            true => None,
            false => self.stored_server(server.name()),
        };
        let part = match &stored {
            Some(stored) => self.stored_part(stored, caller, Some(server.config().guarded)),
            None => self.file_part(server.name(), caller),
        };
        ServerView {
            transport: server.config().transport.as_str(),
            state: status.state.as_str(),
            attempt,
            attempts_max,
            cause: status.cause.filter(|_| may_operate),
            era: status.era,
            protocol_version: status.protocol_version,
            server_info: status.server_info,
            capabilities: status.capabilities,
            instructions: status.instructions,
            connected_seconds: status.connected_at.map(|it| it.elapsed().as_secs()),
            stderr: Some(status.stderr).filter(|it| may_operate && !it.is_empty()),
            stored: part,
            source: if stored.is_some() { "database" } else { "file" },
            sign_in: self.sign_in_view(&server.config(), caller),
            ..self.offer_view(server.name(), &server.lists(), caller)
        }
    }

    /// A server of `mcp.json` that nobody has connected.
    pub(super) fn file_view(&self, config: &ServerConfig, caller: &Caller) -> ServerView {
        let name = &config.name;
        let fault = config.fault().filter(|_| !config.disabled);
        ServerView {
            source: "file",
            transport: config.transport.as_str(),
            state: match (config.disabled, &fault) {
                (true, _) => "disabled",
                (false, Some(_)) => "failed",
                (false, None) => "stopped",
            },
            cause: fault.filter(|_| caller.scopes.allow(Scope::Operate)),
            stored: self.file_part(name, caller),
            sign_in: self.sign_in_view(config, caller),
            ..self.known_view(name, self.known_now(name), caller)
        }
    }

    /// A server that is kept over the API, whether it runs or not.
    pub(crate) fn stored_view(&self, stored: &Stored, caller: &Caller) -> ServerView {
        let name = &stored.row.name;
        let file = Arc::clone(&self.servers.borrow());
        let may_operate = caller.scopes.allow(Scope::Operate);
        let mut sign_in = None;
        let (state, cause, guarded) = match self.standing(stored, &file) {
            Standing::Runs(config) => match self.upstreams.get(name) {
                Some(server) => return self.live_view(&server, caller),
                None => {
                    sign_in = self.sign_in_view(&config, caller);
                    let state = match config.disabled {
                        true => "disabled",
                        false => "stopped",
                    };
                    (state, None, Some(config.guarded))
                }
            },
            Standing::Hidden => {
                let why = "mcp.json has a server of this name, which is used instead";
                ("hidden", Some(why.to_owned()), None)
            }
            Standing::Refused(why) => ("refused", Some(why), None),
        };
        let known = match state {
            "hidden" => Known::default(),
            _ => self.known_now(name),
        };
        ServerView {
            source: "database",
            transport: stored.transport(),
            state,
            cause: cause.filter(|_| may_operate),
            sign_in,
            stored: self.stored_part(stored, caller, guarded),
            ..self.known_view(name, known, caller)
        }
    }

    pub(super) fn known_now(&self, name: &str) -> Known {
        let memory = self.memory();
        memory
            .get(name)
            .map(|it| it.known().clone())
            .unwrap_or_default()
    }

    /// One that is not connected, as it was last.
    fn known_view(&self, name: &str, known: Known, caller: &Caller) -> ServerView {
        ServerView {
            era: known.era(),
            protocol_version: known.protocol_version,
            server_info: known.server_info,
            capabilities: known.capabilities,
            instructions: known.instructions,
            ..self.offer_view(name, &known.lists, caller)
        }
    }

    /// What it offers, and what people should know of that.
    fn offer_view(&self, name: &str, lists: &Lists, caller: &Caller) -> ServerView {
        let judged = self.judged(name).unwrap_or_default();
        let may_use = |tool: &str| self.may_use(caller, &format!("{name}.{tool}"));
        let changed = judged.changes.iter().map(|it| it.tool.clone());
        let letters = judged.hidden_letters.clone().into_iter();
        ServerView {
            name: name.to_owned(),
            tools: lists.tools.len(),
            tools_left_out: judged.left_out,
            resources: lists.resources.len(),
            resource_templates: lists.templates.len(),
            prompts: lists.prompts.len(),
            pinning_now: self.pinning_named(name).unwrap_or_default().as_str(),
            changed: changed.filter(|tool| may_use(tool)).collect(),
            hidden_letters: letters.filter(|(tool, _)| may_use(tool)).collect(),
            ..ServerView::default()
        }
    }

    /// What stands in `mcp.json`, for those who may operate servers.
    fn file_part(&self, name: &str, caller: &Caller) -> StoredPart {
        let file = self.servers.borrow();
        let written = file.written.get(name);
        let written = written.filter(|_| caller.scopes.allow(Scope::Operate));
        let mut definition = written.map(without_secrets).unwrap_or_default();
        drop_told(&mut definition);
        StoredPart {
            definition,
            ..StoredPart::default()
        }
    }

    fn stored_part(&self, stored: &Stored, caller: &Caller, guarded: Option<bool>) -> StoredPart {
        let row = &stored.row;
        let mut definition = Map::new();
        if caller.scopes.allow(Scope::Operate) {
            definition = without_secrets(&stored.definition);
            for value in definition.values_mut() {
                mask_all(value, &|id| self.vault.last4(id));
            }
        }
        drop_told(&mut definition);
        StoredPart {
            id: Some(row.id),
            owner: Some(self.user_name(row.owner_id)),
            version: Some(row.version),
            created_at: Some(time::rfc3339(row.created_at)),
            updated_at: Some(time::rfc3339(row.updated_at)),
            is_guarded: guarded,
            definition,
        }
    }
}

/// It is shown for every server, in our own words.
fn drop_told(definition: &mut Map<String, Value>) {
    definition.retain(|name, _| !["transport", "type"].contains(&name.as_str()));
}
