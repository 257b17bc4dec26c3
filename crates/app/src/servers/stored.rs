//! Servers that are kept over the API: made, changed and removed by their owners and by admins. A change is in force when
//! it is answered, and disturbs no other server.

use super::parts::{
    check_moved, is_same_place, names_variable, part, put_back, put_hidden_back, shape,
};
use super::{Memories, ServerView, not_found};
use crate::App;
use crate::audit::act;
use crate::auth::{IsSecret, SealedFor};
use crate::error::{Error, Result, expect_version};
use crate::patch;
use catalog::auth::sealed_in;
use catalog::caller::{Caller, Scope};
use catalog::mcp_file::{ServerBody, Transport, is_public_value, server_from_text};
use catalog::tool::Millis;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::servers::{ServerRow, ServerWrite};
use store::{Db, Write};
use uuid::Uuid;

/// The servers of one user.
const SERVERS_MAX: usize = 1_000;

/// A stored server and what its author wrote.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) row: ServerRow,
    pub(crate) definition: Map<String, Value>,
}

impl Stored {
    /// None, and a line in the server's log, where what is stored cannot be read.
    fn read(row: ServerRow) -> Option<Arc<Self>> {
        match serde_json::from_str(&row.definition) {
            Ok(definition) => Some(Arc::new(Stored { row, definition })),
            Err(error) => {
                let name = &row.name;
                tracing::error!(name, %error, "a stored server cannot be read and is left out");
                None
            }
        }
    }

    /// In short, where it cannot be told by connecting to it.
    pub(crate) fn transport(&self) -> &'static str {
        let word = |key: &str| self.definition.get(key).and_then(Value::as_str);
        match (word("command"), word("transport").or_else(|| word("type"))) {
            (Some(_), _) => "stdio",
            (None, Some("sse")) => "sse",
            (None, _) => "http",
        }
    }
}

/// What is stored about servers, at the start.
pub(super) async fn load(store: &Db, now: Millis) -> store::Result<(Vec<Arc<Stored>>, Memories)> {
    let stored = store.servers().await?.into_iter().filter_map(Stored::read);
    let stored = stored.collect();
    let mut memory = Memories::new();
    for row in store.server_lists().await? {
        let entry = memory.entry(row.server.clone()).or_default();
        entry.take_row(row, now);
    }
    for row in store.server_pins().await? {
        memory.entry(row.server.clone()).or_default().take_pin(row);
    }
    Ok((stored, memory))
}

impl App {
    pub async fn create_server(
        &self,
        caller: &Caller,
        owner: Option<&str>,
        body: &str,
    ) -> Result<ServerView> {
        let owner = self.owner_of_new(caller, owner)?;
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let read = self.read_server(caller, body, None)?;
        let name = &read.name;
        if self.is_in_file(name) {
            return Err(Error::conflict(format!(
                "mcp.json has a server named '{name}', and what stands there wins. Choose another name, or change that one in mcp.json"
            )));
        }
        let stored = self.kept_servers.stored.load_full();
        if stored.iter().any(|it| it.row.name == *name) {
            return Err(Error::conflict(format!(
                "A server named '{name}' is there already. Choose another name, or change or remove that one"
            )));
        }
        let own = stored.iter().filter(|it| it.row.owner_id == owner);
        if own.count() >= SERVERS_MAX {
            return Err(Error::conflict(format!(
                "You have {SERVERS_MAX} servers, which is as many as one may have; remove one first"
            )));
        }
        self.put_server(caller, owner, None, read, "server.create")
            .await
    }

    /// Replaces a server by the definition in `body`.
    pub async fn update_server(
        &self,
        caller: &Caller,
        name_or_id: &str,
        body: &str,
        expected_version: Option<i64>,
    ) -> Result<ServerView> {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let old = self.own_server(caller, name_or_id)?;
        self.expect_server(&old.row, expected_version).await?;
        let read = self.read_server(caller, body, Some(&old.row.name))?;
        self.put_server(caller, old.row.owner_id, Some(&old), read, "server.update")
            .await
    }

    /// Refuses a change of another version than the one that is there, and says what has changed since.
    async fn expect_server(&self, row: &ServerRow, version: Option<i64>) -> Result<()> {
        let seen = expect_version("Server", &row.name, row.version, version);
        let target = format!("server:{}", row.name);
        self.since(&target, version, seen).await
    }

    /// Changes only the members of a JSON merge patch.
    pub async fn patch_server(
        &self,
        caller: &Caller,
        name_or_id: &str,
        patch: &str,
        expected_version: Option<i64>,
    ) -> Result<ServerView> {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let old = self.own_server(caller, name_or_id)?;
        self.expect_server(&old.row, expected_version).await?;
        let mut merged = Value::Object(old.definition.clone());
        patch::merge(&mut merged, patch::read(patch)?);
        let read = self.read_server(caller, &merged.to_string(), Some(&old.row.name))?;
        self.put_server(caller, old.row.owner_id, Some(&old), read, "server.update")
            .await
    }

    /// Removes a server with everything that is sealed for it and known of it.
    pub async fn delete_server(
        &self,
        caller: &Caller,
        name_or_id: &str,
        expected_version: Option<i64>,
    ) -> Result<()> {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let old = self.own_server(caller, name_or_id)?;
        let row = &old.row;
        self.expect_server(row, expected_version).await?;
        let sealing = self.vault.changes.lock().await;
        let values: Vec<Uuid> = self.vault.of_tool(row.id).iter().map(|it| it.id).collect();
        let target = format!("server:{}", row.name);
        let now = self.clock.now();
        let done = act(
            now,
            caller,
            "server.delete",
            target,
            Some(shape(&old)),
            None,
        );
        let removed = ServerWrite::Remove {
            id: row.id,
            version: row.version,
        };
        let mut writes = vec![Write::Server(removed), Write::NoSecrets(values.clone())];
        // What is known under this name may be of the one in mcp.json.
        let is_last = !self.is_in_file(&row.name);
        if is_last {
            writes.push(Write::Server(ServerWrite::Forget(row.name.clone())));
            writes.extend(self.tokens.gone_with(&row.name));
        }
        writes.push(done);
        self.store.write(&writes).await?;
        if is_last {
            self.memory().remove(&row.name);
            self.tokens.forget_server(&row.name);
        }
        self.vault.remove(&values);
        drop(sealing);
        self.show_stored(|all| all.retain(|it| it.row.id != row.id));
        self.apply_servers_now().await;
        Ok(())
    }

    /// Reads what somebody wrote, and refuses what they may not.
    fn read_server(&self, caller: &Caller, body: &str, name: Option<&str>) -> Result<ServerBody> {
        let is_admin = caller.scopes.allow(Scope::Admin);
        // Whoever may not read the environment learns nothing of it here either.
        let variable = |name: &str| match is_admin {
            true => (self.env)(name),
            false => Some("x".to_owned()),
        };
        let read = server_from_text(body, name, &variable).map_err(Error::problems)?;
        if is_admin {
            return match self.command_fault(true, &read.config.transport) {
                Some(fault) => Err(Error::invalid(format!("command: {fault}"))),
                None => Ok(read),
            };
        }
        if matches!(read.config.transport, Transport::Stdio { .. }) {
            return Err(Error::Forbidden(
                "Only an admin may let a server start a program: it runs as the server's own user. Ask an admin, or give the \"url\" of a server that runs elsewhere".to_owned(),
            ));
        }
        if read.definition.values().any(names_variable) {
            return Err(Error::Forbidden(
                "Only an admin may let a server read the environment with ${…}; give the value itself: those of headers are sealed".to_owned(),
            ));
        }
        Ok(read)
    }

    /// The caller holds `changes`.
    async fn put_server(
        &self,
        caller: &Caller,
        owner: Uuid,
        old: Option<&Stored>,
        mut read: ServerBody,
        action: &str,
    ) -> Result<ServerView> {
        if let Some(old) = old {
            put_hidden_back(&old.definition, &mut read.definition)?;
            check_moved(&old.definition, &read.definition)?;
        }
        let sealing = self.vault.changes.lock().await;
        let now = self.clock.now();
        let id = old.map_or_else(Uuid::now_v7, |old| old.row.id);
        let whose = SealedFor {
            tool: id,
            owner,
            now,
        };
        let is_secret: IsSecret = |_, text| !is_public_value(text);
        let before = old.map(|old| part(&old.definition));
        let now_sealed = self.vault.seal_values(
            Some(&part(&read.definition)),
            before.as_ref(),
            &whose,
            ("$", is_secret),
        )?;
        let mut definition = read.definition;
        if let Some(Value::Object(sealed)) = now_sealed.auth {
            put_back(&mut definition, sealed);
        }
        let is_admin = caller.scopes.allow(Scope::Admin);
        let row = ServerRow {
            id,
            owner_id: owner,
            name: read.name,
            definition: Value::Object(definition.clone()).to_string(),
            is_trusted: is_admin
                || old.is_some_and(|old| {
                    old.row.is_trusted && is_same_place(&old.definition, &definition)
                }),
            version: old.map_or(1, |old| old.row.version + 1),
            created_at: old.map_or(now, |old| old.row.created_at),
            updated_at: now,
        };
        let new = Arc::new(Stored { row, definition });
        let needed = sealed_in(&Value::Object(new.definition.clone()));
        let values = self.vault.of_tool(id);
        let gone = values
            .iter()
            .map(|it| it.id)
            .filter(|id| !needed.contains(id));
        let gone: Vec<Uuid> = gone.collect();
        let target = format!("server:{}", new.row.name);
        let done = act(
            now,
            caller,
            action,
            target,
            old.map(shape),
            Some(shape(&new)),
        );
        let rows = now_sealed.rows.iter().cloned().map(Write::Secret);
        let first = [Write::Server(ServerWrite::Put(new.row.clone()))];
        let last = [Write::NoSecrets(gone.clone()), done];
        let writes: Vec<Write> = first.into_iter().chain(rows).chain(last).collect();
        self.store.write(&writes).await?;
        self.vault.put(&now_sealed.rows);
        self.vault.remove(&gone);
        drop(sealing);
        self.show_stored(|all| {
            all.retain(|it| it.row.id != id);
            all.push(Arc::clone(&new));
        });
        self.apply_servers_now().await;
        Ok(self.stored_view(&new, caller))
    }

    /// Takes over what other servers have changed.
    pub(crate) async fn follow_servers(&self) -> Result<()> {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let rows = self.store.servers().await?.into_iter();
        let now: Vec<Arc<Stored>> = rows.filter_map(Stored::read).collect();
        self.show_stored(|all| *all = now);
        self.apply_servers_now().await;
        Ok(())
    }

    /// Takes over what was approved elsewhere, of the servers that are known here.
    pub(crate) async fn follow_pins(&self) -> Result<()> {
        let _one_at_a_time = self.kept_servers.changes.lock().await;
        let rows = self.store.server_pins().await?;
        let names = self.server_names();
        {
            let mut memory = self.memory();
            for name in &names {
                if let Some(entry) = memory.get_mut(name) {
                    entry.set_pins(BTreeMap::new());
                }
            }
            for row in rows.into_iter().filter(|row| names.contains(&row.server)) {
                let entry = memory.entry(row.server.clone()).or_default();
                entry.take_pin(row);
            }
        }
        for server in self.upstreams.all() {
            self.show_lists(&server).await;
        }
        Ok(())
    }

    /// Lets these be the stored servers.
    pub(crate) fn show_stored(&self, change: impl FnOnce(&mut Vec<Arc<Stored>>)) {
        let mut all = (*self.kept_servers.stored.load_full()).clone();
        change(&mut all);
        all.sort_unstable_by(|a, b| a.row.name.cmp(&b.row.name));
        self.kept_servers.stored.store(Arc::new(all));
    }

    /// What one user has, as rows of another's. The caller holds `changes`.
    pub(crate) fn handed_servers(&self, from: Uuid, to: Uuid, now: Millis) -> Vec<ServerRow> {
        let stored = self.kept_servers.stored.load();
        let theirs = stored.iter().filter(|it| it.row.owner_id == from);
        let handed = theirs.map(|it| ServerRow {
            owner_id: to,
            version: it.row.version + 1,
            updated_at: now,
            ..it.row.clone()
        });
        handed.collect()
    }

    /// Takes in rows that have been stored. The caller holds `changes`.
    pub(crate) async fn take_servers(&self, rows: Vec<ServerRow>) {
        self.show_stored(|all| {
            all.retain(|it| !rows.iter().any(|row| row.id == it.row.id));
            all.extend(rows.into_iter().filter_map(Stored::read));
        });
        self.apply_servers_now().await;
    }

    pub(crate) fn is_in_file(&self, name: &str) -> bool {
        self.servers
            .borrow()
            .servers
            .iter()
            .any(|it| it.name == name)
    }

    /// A stored server by id or name. The id first: a name of before may look like one.
    pub(crate) fn stored_server(&self, name_or_id: &str) -> Option<Arc<Stored>> {
        let id = Uuid::parse_str(name_or_id).ok();
        let stored = self.kept_servers.stored.load();
        let by_id = stored.iter().find(|it| Some(it.row.id) == id);
        let found = by_id.or_else(|| stored.iter().find(|it| it.row.name == name_or_id));
        found.cloned()
    }

    fn own_server(&self, caller: &Caller, name_or_id: &str) -> Result<Arc<Stored>> {
        let Some(found) = self.stored_server(name_or_id) else {
            return Err(match self.is_in_file(name_or_id) {
                true => Error::conflict(format!(
                    "'{name_or_id}' stands in mcp.json; change it there, which counts at once"
                )),
                false => not_found("MCP server", name_or_id),
            });
        };
        if found.row.owner_id != caller.user && !caller.scopes.allow(Scope::Admin) {
            return Err(Error::Forbidden(format!(
                "Only its owner or an admin may change '{}'",
                found.row.name
            )));
        }
        Ok(found)
    }

    /// Every server there is, those of `mcp.json` first.
    pub(crate) fn server_names(&self) -> Vec<String> {
        let file = self.servers.borrow();
        let mut names: Vec<String> = file.servers.iter().map(|it| it.name.clone()).collect();
        for stored in self.kept_servers.stored.load().iter() {
            if !names.contains(&stored.row.name) {
                names.push(stored.row.name.clone());
            }
        }
        names
    }
}
