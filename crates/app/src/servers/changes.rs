//! Definitions of upstream tools that are others than before: shown side by side, and approved by their fingerprints, so
//! that nobody approves what they have not seen.

use super::memory::{Change, Judged};
use super::not_found;
use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::time;
use catalog::caller::Caller;
use catalog::letters::{hidden_in, shown, shown_in};
use catalog::pinning::{Pinning, differing};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use store::Write;
use store::servers::ServerWrite;
use utoipa::ToSchema;

/// A definition that is another than the one the server is held to.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerChange {
    /// What the server calls the tool.
    pub tool: String,
    /// new or changed.
    pub change: &'static str,
    /// The fingerprint of the new definition, by which it is approved.
    pub hash: String,
    pub pinned_hash: Option<String>,
    pub pinned_at: Option<String>,
    /// Whether the new definition counts already.
    pub is_in_force: bool,
    /// The members that differ.
    pub members: Vec<String>,
    /// None for a tool that is new, and where it was too large to be kept. Letters that hide are spelled out.
    #[schema(value_type = Option<Object>)]
    pub old: Option<Value>,
    /// In the same way.
    #[schema(value_type = Object)]
    pub new: Value,
    /// Letters in the new definition that cannot be seen, such as `U+E0041 ×3`.
    pub hidden_letters: Vec<String>,
}

/// Which definitions are approved.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    pub tools: Vec<ApprovedTool>,
}

/// A definition that somebody has seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovedTool {
    /// What the server calls it.
    pub name: String,
    /// As the list of changes has it.
    pub hash: String,
}

impl App {
    /// What a server describes in another way than before, as far as the caller may use it.
    pub fn server_changes(&self, caller: &Caller, name: &str) -> Result<Vec<ServerChange>> {
        let judged = self.judged(name)?;
        let in_force = judged.approved.is_none();
        let mine = |change: &&Change| self.may_use(caller, &format!("{name}.{}", change.tool));
        let changes = judged.changes.iter().filter(mine);
        Ok(changes.map(|change| view(change, in_force)).collect())
    }

    /// Holds tools to what the server says of them now, and returns what is left.
    pub async fn approve_server(
        &self,
        caller: &Caller,
        name: &str,
        approval: &Approval,
    ) -> Result<Vec<ServerChange>> {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let judged = self.judged(name)?;
        if approval.tools.is_empty() {
            return Err(Error::invalid(
                "tools: expected the name and hash of at least one change",
            ));
        }
        let mut approved: Vec<&Change> = Vec::new();
        for asked in &approval.tools {
            if let Some(change) = self.approvable(caller, name, &judged, asked)? {
                approved.push(change);
            }
        }
        let now = self.clock.now();
        let hashes = |of: fn(&Change) -> Value| {
            let hashes = approved.iter().map(|it| (shown(&it.tool), of(it)));
            Some(Value::Object(hashes.collect::<Map<_, _>>()))
        };
        let before = hashes(|it| it.pin.as_ref().map(|pin| pin.hash.clone()).into());
        let after = hashes(|it| it.hash.clone().into());
        let target = format!("server:{name}");
        let done = act(now, caller, "server.approve", target, before, after);
        if !approved.is_empty() {
            self.store_pins(name, &approved, done).await?;
        }
        if let Some(server) = self.upstreams.get(name) {
            self.show_lists(&server).await;
        }
        self.server_changes(caller, name)
    }

    /// The change that somebody means; none where it is approved already.
    fn approvable<'j>(
        &self,
        caller: &Caller,
        name: &str,
        judged: &'j Judged,
        asked: &ApprovedTool,
    ) -> Result<Option<&'j Change>> {
        let tool = &asked.name;
        let may_use = self.may_use(caller, &format!("{name}.{tool}"));
        let change = judged.changes.iter().find(|it| it.tool == *tool && may_use);
        if let Some(change) = change {
            return match change.hash == asked.hash {
                true => Ok(Some(change)),
                false => Err(Error::conflict(format!(
                    "The definition of '{tool}' is not the one with the hash '{}'; look at the changes again, nothing was approved",
                    asked.hash
                ))),
            };
        }
        let memory = self.memory();
        let pin = memory.get(name).and_then(|it| it.pins().get(tool));
        match pin.filter(|_| may_use) {
            Some(pin) if pin.hash == asked.hash => Ok(None),
            Some(_) => Err(Error::conflict(format!(
                "There is nothing to approve about '{tool}'; look at the changes again, nothing was approved"
            ))),
            None => Err(not_found("Changed tool", tool)),
        }
    }

    async fn store_pins(&self, name: &str, approved: &[&Change], done: Write) -> Result<()> {
        let now = self.clock.now();
        let (rows, before) = {
            let mut memory = self.memory();
            let entry = memory.entry(name.to_owned()).or_default();
            let before = entry.pins().clone();
            let rows = approved.iter();
            let rows = rows.map(|it| entry.pin(name, &it.tool, &it.new, now));
            (rows.collect::<Vec<_>>(), before)
        };
        let pins = rows
            .into_iter()
            .map(|row| Write::Server(ServerWrite::Pin(row)));
        let writes: Vec<Write> = pins.chain([done]).collect();
        if let Err(error) = self.store.write(&writes).await {
            // What is not stored is not approved.
            if let Some(entry) = self.memory().get_mut(name) {
                entry.set_pins(before);
            }
            return Err(error.into());
        }
        Ok(())
    }

    /// What to make of a server's tools, whether it is connected or not.
    pub(crate) fn judged(&self, name: &str) -> Result<Arc<Judged>> {
        let pinning = self.pinning_named(name);
        let pinning = pinning.ok_or_else(|| not_found("MCP server", name))?;
        let mut memory = self.memory();
        let judged = memory.get_mut(name).map(|it| it.judge(pinning));
        Ok(judged.unwrap_or_default())
    }

    /// How a server's tools are held; none where there is no such server.
    pub(crate) fn pinning_named(&self, name: &str) -> Option<Pinning> {
        if let Some(server) = self.upstreams.get(name) {
            return Some(self.pinning_of(&server.config()));
        }
        let file = self.servers.borrow();
        if let Some(config) = file.servers.iter().find(|it| it.name == name) {
            return Some(self.pinning_of(config));
        }
        let stored = self.stored_server(name).filter(|it| it.row.name == name)?;
        let written = stored.definition.get("pinning").and_then(Value::as_str);
        let written = written.and_then(Pinning::from_name);
        Some(written.unwrap_or(self.kept_servers.settings.pinning))
    }
}

fn view(change: &Change, is_in_force: bool) -> ServerChange {
    let pin = change.pin.as_ref();
    let old = pin.and_then(|pin| pin.definition.as_ref());
    ServerChange {
        tool: change.tool.clone(),
        change: match pin {
            Some(_) => "changed",
            None => "new",
        },
        hash: change.hash.clone(),
        pinned_hash: pin.map(|pin| pin.hash.clone()),
        pinned_at: pin.map(|pin| time::rfc3339(pin.pinned_at)),
        is_in_force,
        members: old.map_or_else(Vec::new, |old| differing(old, &change.new)),
        old: old.map(shown_in),
        new: shown_in(&change.new),
        hidden_letters: hidden_in(&change.new),
    }
}
