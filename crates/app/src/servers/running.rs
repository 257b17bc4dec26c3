//! Which servers run: those of `mcp.json`, and of those kept over the API the ones that may. What each of them offers
//! becomes tools of the catalogue here, as far as it is held to be what it was.

use super::memory::{Judged, Memory, address_of};
use super::not_found;
use super::stored::Stored;
use crate::App;
use catalog::auth::Reference;
use catalog::mcp_file::{McpFile, ServerConfig, Transport, server_from_text};
use catalog::pinning::Pinning;
use mcp::upstream::{Known, State, Upstream};
use serde_json::{Map, Value};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use store::Write;
use store::servers::{ServerPinRow, ServerWrite};

/// What becomes of a server that is kept over the API.
pub(crate) enum Standing {
    Runs(Box<ServerConfig>),
    /// `mcp.json` has one of that name.
    Hidden,
    /// Why it may not run, or cannot.
    Refused(String),
}

impl App {
    /// From now on servers are connected, and whatever changes about them is followed.
    pub(crate) async fn start_servers(&self) {
        self.kept_servers.is_live.store(true, Ordering::Relaxed);
        self.apply_servers().await;
    }

    /// Takes over what `mcp.json`, the database and people's roles say now.
    pub(crate) async fn apply_servers(&self) {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        self.apply_servers_now().await;
    }

    /// The same for who holds `changes`.
    pub(crate) async fn apply_servers_now(&self) {
        if !self.kept_servers.is_live.load(Ordering::Relaxed) {
            return;
        }
        let file = Arc::clone(&self.servers.borrow());
        let configs = self.configs(&file);
        self.keep_memory_of(&configs).await;
        self.run_servers(configs).await;
    }

    /// Connects the one server that a short command needs.
    pub(crate) async fn start_server(&self, config: ServerConfig) {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        if config.is_usable() {
            let (name, address) = (config.name.clone(), self.address(&config));
            self.memory().entry(name).or_default().is_at(address);
        }
        self.run_servers(vec![config]).await;
    }

    /// Where nobody keeps servers connected, their tools are those that each offered last.
    pub(crate) async fn show_last_tools(&self) {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let known = |name: &String| {
            let memory = self.memory();
            let known = memory.get(name).map(Memory::known);
            known.is_some_and(|known| !known.lists.tools.is_empty())
        };
        let names = self.server_names().into_iter().filter(known);
        for name in names.collect::<Vec<_>>() {
            let Ok(config) = self.server_config(&name) else {
                continue;
            };
            let address = self.address(&config);
            let judged = {
                let mut memory = self.memory();
                let entry = memory.entry(name.clone()).or_default();
                // Where it is cannot be told while a variable is missing.
                let is_there = !config.is_usable() || entry.is_of(&address);
                let shows = is_there && !config.disabled;
                shows.then(|| entry.judge(self.pinning_of(&config)))
            };
            if let Some(judged) = judged {
                self.keep_flags(&name, &judged.flags());
                self.show_judged(config, judged).await;
            }
        }
    }

    /// Makes tools of what a server says.
    async fn show_judged(&self, config: ServerConfig, judged: Arc<Judged>) {
        let (name, now) = (Arc::from(config.name.as_str()), self.clock.now());
        // Schemas are looked at here, which can take a while.
        let tools = move || match config.disabled {
            true => Vec::new(),
            false => crate::upstreams::tools(&config, &judged.listed, now),
        };
        let tools = tokio::task::spawn_blocking(tools).await;
        self.take_tools(name, tools.unwrap_or_default()).await;
    }

    async fn run_servers(&self, configs: Vec<ServerConfig>) {
        let before = self.upstreams.all();
        let written: Vec<_> = before.iter().map(|it| it.config()).collect();
        self.upstreams.set_known(configs, |config| {
            let pinning = self.pinning_of(config);
            let mut memory = self.memory();
            let memory = memory.entry(config.name.clone()).or_default();
            let approved = memory.judge(pinning).approved.clone();
            match config.disabled {
                // It offers nothing, whatever it did before.
                true => (Known::default(), approved),
                false => {
                    let known = memory.known().clone();
                    if known == Known::default() {
                        self.kept_servers.awaited.add(&config.name);
                    }
                    (known, approved)
                }
            }
        });
        for server in &before {
            if self.upstreams.get(server.name()).is_none() {
                self.kept_servers.awaited.forget(server.name());
                self.forget_flags(server.name());
                self.take_tools(server.name().into(), Vec::new()).await;
            }
        }
        for server in self.upstreams.all() {
            // Its tools follow from both, also where the connection is still the same.
            let config = server.config();
            let is_same = |(old, written): (&Arc<Upstream>, &Arc<ServerConfig>)| {
                Arc::ptr_eq(old, &server) && Arc::ptr_eq(written, &config)
            };
            if !before.iter().zip(&written).any(is_same) {
                self.show_lists(&server).await;
            }
        }
    }

    pub(crate) fn configs(&self, file: &McpFile) -> Vec<ServerConfig> {
        let mut configs = file.servers.clone();
        for stored in self.kept_servers.stored.load().iter() {
            match self.standing(stored, file) {
                Standing::Runs(config) => configs.push(*config),
                Standing::Hidden => {}
                Standing::Refused(why) => {
                    tracing::warn!(server = stored.row.name, why, "this server does not run");
                }
            }
        }
        configs
    }

    pub(crate) fn standing(&self, stored: &Stored, file: &McpFile) -> Standing {
        let name = &stored.row.name;
        if file.servers.iter().any(|it| it.name == *name) {
            return Standing::Hidden;
        }
        match self.config_of(stored) {
            Ok(config) => Standing::Runs(Box::new(config)),
            Err(why) => Standing::Refused(why),
        }
    }

    /// What a server is connected with, whether it is or nobody serves this workspace.
    pub(crate) fn server_config(&self, name: &str) -> crate::Result<ServerConfig> {
        if let Some(server) = self.upstreams.get(name) {
            return Ok(ServerConfig::clone(&server.config()));
        }
        let file = Arc::clone(&self.servers.borrow());
        if let Some(config) = file.servers.iter().find(|it| it.name == name) {
            return Ok(config.clone());
        }
        let stored = self.kept_servers.stored.load_full();
        let stored = stored.iter().find(|it| it.row.name == name);
        let stored = stored.ok_or_else(|| not_found("MCP server", name))?;
        self.config_of(stored).map_err(|why| {
            crate::Error::conflict(format!("MCP server '{name}' does not run: {why}"))
        })
    }

    /// What a stored server is connected with: its secrets opened, its variables filled in.
    fn config_of(&self, stored: &Stored) -> Result<ServerConfig, String> {
        let row = &stored.row;
        let access = self.access.load();
        let owner = access.user(row.owner_id);
        if owner.is_none_or(|owner| owner.deleted_at.is_some()) {
            let owner = self.user_name(row.owner_id);
            return Err(format!(
                "its owner '{owner}' is gone; give it to somebody else"
            ));
        }
        let is_trusted = row.is_trusted && self.is_trusted(row.owner_id);
        let mut definition = stored.definition.clone();
        self.open_values(stored, &mut definition)?;
        let text = Value::Object(definition).to_string();
        let variable = |name: &str| (self.env)(name).filter(|_| is_trusted);
        let read = server_from_text(&text, Some(&row.name), &variable);
        let mut config = read
            .map_err(|problems| crate::error::summary(&problems))?
            .config;
        config.guarded = !is_trusted;
        match self.command_fault(is_trusted, &config.transport) {
            Some(fault) => Err(fault),
            None => Ok(config),
        }
    }

    /// Puts what is sealed in the place of what refers to it.
    fn open_values(
        &self,
        stored: &Stored,
        definition: &mut Map<String, Value>,
    ) -> Result<(), String> {
        for place in ["headers", "env", "auth"] {
            let values = definition.get_mut(place).and_then(Value::as_object_mut);
            for (name, value) in values.into_iter().flatten() {
                let Some(Reference::Sealed(id)) = Reference::of(value) else {
                    continue;
                };
                let row = self.vault.row(id);
                let row = row.filter(|row| row.tool_id == Some(stored.row.id));
                let opened = row.map(|row| self.vault.open(&row));
                *value = match opened {
                    Some(Ok(secret)) => secret.expose().into(),
                    Some(Err(error)) => {
                        return Err(format!(
                            "{place}.{name}: its value cannot be opened: {error}"
                        ));
                    }
                    None => return Err(format!("{place}.{name}: its value is gone; set it again")),
                };
            }
        }
        Ok(())
    }

    /// Why a server may not be started this way.
    pub(crate) fn command_fault(&self, is_trusted: bool, transport: &Transport) -> Option<String> {
        let Transport::Stdio { command, .. } = transport else {
            return None;
        };
        if !is_trusted {
            return Some("only an admin may let a server start a program, and its owner must be one: it runs as the server's own user".to_owned());
        }
        let allowed = &self.kept_servers.settings.commands_allowed;
        if allowed.contains(command) {
            return None;
        }
        let allowed = match allowed.is_empty() {
            true => "no program".to_owned(),
            false => allowed.join(", "),
        };
        Some(format!(
            "'{command}' may not be started: mcp.commands_allowed in toolcrib.toml allows {allowed}; add it there and start toolcrib again, or put the server into mcp.json"
        ))
    }

    pub(crate) fn pinning_of(&self, config: &ServerConfig) -> Pinning {
        config.pinning.unwrap_or(self.kept_servers.settings.pinning)
    }

    pub(crate) fn memory(&self) -> std::sync::MutexGuard<'_, super::Memories> {
        let memory = &self.kept_servers.memory;
        memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn address(&self, config: &ServerConfig) -> String {
        match self.is_in_file(&config.name) {
            true => address_of("file", config),
            false => address_of("database", config),
        }
    }

    /// What is known of a server belongs to one address, and ends with the server.
    async fn keep_memory_of(&self, configs: &[ServerConfig]) {
        let stored = self.kept_servers.stored.load_full();
        let mut gone: Vec<String> = Vec::new();
        let mut common: Vec<Write> = Vec::new();
        let is_there = |name: &str| {
            configs.iter().any(|it| it.name == name) || stored.iter().any(|it| it.row.name == name)
        };
        {
            let mut memory = self.memory();
            for config in configs {
                let entry = memory.entry(config.name.clone()).or_default();
                // Where it is cannot be told while a variable is missing.
                if config.is_usable() && entry.is_at(self.address(config)) {
                    gone.push(config.name.clone());
                }
                if config.knows_people() {
                    let row = entry.keep_common(&config.name, self.clock.now());
                    common.extend(row.map(|row| Write::Server(ServerWrite::Lists(row))));
                }
            }
            let removed = memory.keys().filter(|name| !is_there(name));
            let removed: Vec<String> = removed.cloned().collect();
            memory.retain(|name, _| !removed.contains(name));
            gone.extend(removed);
        }
        if self.replicas.others() > 0 {
            // Another server may have another mcp.json, as while they are replaced one by one: what is not known here may be
            // in use there. Who removes a server over the API removes what is stored of it.
            return self.note(common).await;
        }
        let orphans = self.tokens.servers().into_iter();
        let orphans = orphans.filter(|name| !is_there(name) || gone.contains(name));
        self.drop_tokens_of(&orphans.collect::<Vec<_>>()).await;
        let forgotten = gone.into_iter();
        let forgotten = forgotten.map(|name| Write::Server(ServerWrite::Forget(name)));
        self.note(forgotten.chain(common).collect()).await;
    }

    /// Nobody can sign out of a server that is not there any more: what it was shown goes with it.
    async fn drop_tokens_of(&self, servers: &[String]) {
        if servers.is_empty() {
            return;
        }
        let _one_at_a_time = self.vault.changes.lock().await;
        let writes = servers.iter().flat_map(|it| self.tokens.gone_with(it));
        let writes: Vec<Write> = writes.collect();
        match self.store.write(&writes).await {
            Ok(_) => servers.iter().for_each(|it| self.tokens.forget_server(it)),
            Err(error) => {
                tracing::warn!(%error, "the tokens of servers that are gone could not be removed");
            }
        }
    }

    /// Stores what was found out. Where that fails it is found out again by the next process.
    async fn note(&self, writes: Vec<Write>) {
        if writes.is_empty() {
            return;
        }
        if let Err(error) = self.store.write(&writes).await {
            tracing::warn!(%error, "what was found out about an MCP server could not be stored");
        }
    }

    /// A server tells of a change: what is known of it now is remembered.
    pub(crate) async fn remember_server(&self, name: &str, lists_changed: bool) {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let Some(server) = self.upstreams.get(name) else {
            return;
        };
        if matches!(server.status().state, State::Connected | State::Degraded) || lists_changed {
            self.remember(&server).await;
        }
        if lists_changed {
            self.show_lists(&server).await;
        } else if server.status().state == State::Connected && server.lists().tools.is_empty() {
            // It offers nothing, and what it offers from now on is new.
            let row = {
                let (mut memory, now) = (self.memory(), self.clock.now());
                let entry = memory.entry(name.to_owned()).or_default();
                entry.see(name, self.pinning_of(&server.config()), now)
            };
            let row = row.map(|row| Write::Server(ServerWrite::Pin(row)));
            self.note(row.into_iter().collect()).await;
        }
        self.kept_servers.awaited.heard(&server, lists_changed);
    }

    async fn remember(&self, server: &Upstream) {
        let (known, now) = (server.known(), self.clock.now());
        let name = server.name();
        let row = {
            let mut memory = self.memory();
            let entry = memory.entry(name.to_owned()).or_default();
            let Some(address) = entry.address_if(&server.config()) else {
                return;
            };
            let row = entry.take_known(name, address, known, now);
            // Before anything is stored: nobody calls meanwhile what waits for approval.
            let pinning = self.pinning_of(&server.config());
            server.approve(entry.judge(pinning).approved.clone());
            row
        };
        let row = row.map(|row| Write::Server(ServerWrite::Lists(row)));
        self.note(row.into_iter().collect()).await;
    }

    /// Holds a server's tools to what they were, and shows those that may be shown. The caller holds `changes`.
    pub(crate) async fn show_lists(&self, server: &Upstream) {
        let (name, now) = (server.name().to_owned(), self.clock.now());
        let pinning = self.pinning_of(&server.config());
        let (judged, pins) = {
            let mut memory = self.memory();
            let entry = memory.entry(name.clone()).or_default();
            let judged = entry.judge(pinning);
            let pins = judged.fresh.iter();
            let pins = pins.map(|(tool, held)| entry.pin(&name, tool, held, now));
            let mut pins: Vec<ServerPinRow> = pins.collect();
            if !entry.known().lists.tools.is_empty() {
                pins.extend(entry.see(&name, pinning, now));
            }
            let pins = pins.into_iter();
            let pins = pins.map(|row| Write::Server(ServerWrite::Pin(row)));
            (judged, pins.collect())
        };
        self.note(pins).await;
        if judged.left_out > 0 {
            let count = judged.left_out;
            tracing::warn!(
                server = name,
                count,
                "this server has named more tools than are held; the others are not listed"
            );
        }
        server.approve(judged.approved.clone());
        self.set_flags(&name, &judged.flags());
        let config = ServerConfig::clone(&server.config());
        self.show_judged(config, judged).await;
    }
}
