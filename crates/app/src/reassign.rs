//! What somebody leaves behind goes to somebody else: tools, agents, toolsets, servers and secrets, all in one commit.

use crate::App;
use crate::access::Access;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::toolsets::with_rows;
use crate::users::{not_found, target};
use catalog::caller::Caller;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use store::agents::AgentRow;
use store::servers::ServerWrite;
use store::toolsets::ToolsetRow;
use store::users::UserRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// What went from one user to another.
#[derive(Debug, Serialize, ToSchema)]
pub struct Reassigned {
    pub from: String,
    pub to: String,
    /// Removed ones among them, as with the agents.
    pub tools: usize,
    pub agents: usize,
    pub toolsets: usize,
    pub servers: usize,
    /// Named ones, and the sealed values of the tools.
    pub secrets: usize,
}

/// What the writer of the catalogue has to do for it.
#[derive(Debug)]
pub struct Reassign {
    pub(crate) from: Uuid,
    pub(crate) to: Uuid,
    pub(crate) tools: Vec<Uuid>,
    /// Agents, toolsets, named secrets and the audit log's line.
    pub(crate) rest: Vec<store::Write>,
}

/// Who gets it: somebody who is there.
pub(crate) fn recipient<'a>(access: &'a Access, name: &str) -> Result<&'a UserRow> {
    let found = access.user_named(name);
    let found = found.filter(|user| user.deleted_at.is_none());
    found.ok_or_else(|| Error::invalid("to: expected the name of a user who is there"))
}

impl App {
    /// Gives what one user owns to another: all of it, removed things among it, or the tools that are named.
    pub async fn reassign(
        &self,
        caller: Arc<Caller>,
        from: &str,
        to: &str,
        tools: Option<&[String]>,
    ) -> Result<Reassigned> {
        let access = self.access.load_full();
        let from = access.user_named(from).ok_or_else(|| not_found(from))?;
        let to = recipient(&access, to)?;
        let Some(names) = tools else {
            return self.reassign_all(caller, from, to).await;
        };
        let _secrets = self.vault.changes.lock().await;
        let tools = self.tools_named(from, names)?;
        let secrets = self.values_of(&tools);
        self.hand_over(caller, from, to, &tools, Vec::new()).await?;
        Ok(Reassigned {
            from: from.name.clone(),
            to: to.name.clone(),
            tools: tools.len(),
            agents: 0,
            toolsets: 0,
            servers: 0,
            secrets,
        })
    }

    async fn reassign_all(
        &self,
        caller: Arc<Caller>,
        from: &UserRow,
        to: &UserRow,
    ) -> Result<Reassigned> {
        // Nobody changes any of it until all of it has changed hands.
        let _servers = self.kept_servers.changes.lock().await;
        let sealing = self.vault.changes.lock().await;
        let _agents = self.agent_changes.lock().await;
        let _toolsets = self.access_changes.lock().await;
        let now = self.clock.now();
        let all_agents = self.agents.load_full();
        let agents = all_agents.owned_by(from.id).map(|row| AgentRow {
            owner_id: to.id,
            version: row.version + 1,
            updated_at: now,
            ..(**row).clone()
        });
        let agents: Vec<AgentRow> = agents.collect();
        let all_toolsets = self.toolsets.load_full();
        let toolsets = all_toolsets.owned_by(from.id);
        let toolsets: Vec<ToolsetRow> = toolsets.map(|it| it.handed(to.id, now)).collect();
        let servers = self.handed_servers(from.id, to.id, now);
        let server_ids: Vec<Uuid> = servers.iter().map(|row| row.id).collect();
        let named = self.vault.named_of(from.id);
        let tools = self.store.tools_of(from.id).await?;
        let done = Reassigned {
            from: from.name.clone(),
            to: to.name.clone(),
            tools: tools.len(),
            agents: agents.len(),
            toolsets: toolsets.len(),
            servers: servers.len(),
            secrets: named.len() + self.values_of(&tools) + self.values_of(&server_ids),
        };
        let after = json!({"to": to.name, "tools": done.tools, "agents": done.agents, "toolsets": done.toolsets, "servers": done.servers, "secrets": done.secrets});
        let told = act(
            now,
            &caller,
            "user.reassign",
            target(from),
            None,
            Some(after),
        );
        let of_servers = server_ids.iter().flat_map(|id| self.vault.of_tool(*id));
        let named: Vec<_> = named.into_iter().chain(of_servers).collect();
        let named = named.iter().map(|row| store::Write::SecretOwner {
            id: row.id,
            owner: to.id,
            at: now,
        });
        let moved = agents.iter().cloned().map(store::Write::Agent);
        let sets = toolsets.iter().cloned().map(store::Write::Toolset);
        let put = |row| store::Write::Server(ServerWrite::Put(row));
        let kept = servers.iter().cloned().map(put);
        let rest = named.chain(moved).chain(sets).chain(kept);
        let rest = rest.chain([told]).collect();
        self.hand_over(caller, from, to, &tools, rest).await?;
        self.agents.store(Arc::new(all_agents.with(agents)));
        self.show_toolsets(with_rows(&all_toolsets, toolsets));
        // Tokens of servers that are gone may have to be removed.
        drop(sealing);
        self.take_servers(servers).await;
        Ok(done)
    }

    async fn hand_over(
        &self,
        caller: Arc<Caller>,
        from: &UserRow,
        to: &UserRow,
        tools: &[Uuid],
        rest: Vec<store::Write>,
    ) -> Result<()> {
        let asked = Reassign {
            from: from.id,
            to: to.id,
            tools: tools.to_vec(),
            rest,
        };
        let write = crate::writer::Write::Reassign(Arc::new(asked));
        self.write(caller, write).await?;
        Ok(())
    }

    fn tools_named(&self, from: &UserRow, names: &[String]) -> Result<Vec<Uuid>> {
        let catalogue = self.executor.catalogue.load();
        let mut tools = Vec::with_capacity(names.len());
        for name in names {
            let entry = catalogue.find(name).filter(|e| e.tool.owner == from.id);
            let entry = entry.ok_or_else(|| {
                Error::invalid(format!("tools: '{}' has no tool '{name}'", from.name))
            })?;
            if !tools.contains(&entry.tool.id) {
                tools.push(entry.tool.id);
            }
        }
        Ok(tools)
    }

    fn values_of(&self, tools: &[Uuid]) -> usize {
        tools.iter().map(|id| self.vault.of_tool(*id).len()).sum()
    }
}
