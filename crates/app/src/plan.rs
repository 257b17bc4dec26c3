//! A group of changes being decided: what the catalogue would look like, and what has to be stored for it.

mod follow;
mod reassign;
mod rehearsal;
mod sync;
mod values;

pub(crate) use values::VERSIONS_WITH_VALUES;

use crate::audit::act;
use crate::auth::AuthChange;
use crate::error::{Error, Result, expect_version};
use crate::tools::{no_servers, only_owner};
use crate::writer::{Write, Writer, edited};
use catalog::caller::{Caller, Scope};
use catalog::catalogue::{Catalogue, Change};
use catalog::problem::Problem;
use catalog::tool::{Definition, Millis, SYSTEM_USER, Shelf, Tool, id_from_name};
use catalog::tools_file::Edit;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::tools::{ToolRow, VersionRow, definition_text};
use uuid::Uuid;

#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) base: Arc<Catalogue>,
    pub(crate) changes: Vec<Change>,
    writes: Vec<store::Write>,
    /// For the audit log, written last: from there on others wait for it.
    acts: Vec<store::Write>,
    pub(crate) newly_shadowed: Vec<Tool>,
    pub(crate) unshadowed: Vec<String>,
    edits: Vec<Edit>,
    /// The text on disk that the edits start from, where the plan looked at it.
    file_text: Option<String>,
    /// What earlier changes of the group made of a tool; none = removed.
    by_name: HashMap<String, Option<Tool>>,
    by_id: HashMap<Uuid, Option<Tool>>,
    /// The newest version of tools that are gone from the catalogue but not from the history.
    last_versions: HashMap<Uuid, i64>,
    now: Millis,
}

impl Plan {
    pub(crate) fn new(base: Arc<Catalogue>, now: Millis) -> Self {
        Plan {
            base,
            now,
            changes: Vec::new(),
            writes: Vec::new(),
            acts: Vec::new(),
            newly_shadowed: Vec::new(),
            unshadowed: Vec::new(),
            edits: Vec::new(),
            file_text: None,
            by_name: HashMap::new(),
            by_id: HashMap::new(),
            last_versions: HashMap::new(),
        }
    }

    /// Everything that has to be stored, the audit log's part last.
    pub(crate) fn all_writes(&mut self) -> Vec<store::Write> {
        let mut all = std::mem::take(&mut self.writes);
        all.append(&mut self.acts);
        all
    }

    fn add(&mut self, writes: impl IntoIterator<Item = store::Write>) {
        for write in writes {
            match write {
                store::Write::Act(_) => self.acts.push(write),
                _ => self.writes.push(write),
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.writes.is_empty()
            && self.edits.is_empty()
            && self.file_text.is_none()
    }

    /// The file as it was found and as it shall be; none where the group does not concern it.
    pub(crate) fn file_text(&self) -> Result<Option<(String, String)>, Vec<Problem>> {
        match &self.file_text {
            None => Ok(None),
            Some(text) => edited(text, &self.edits).map(|new| Some((text.clone(), new))),
        }
    }

    /// As the group so far leaves it.
    pub(crate) fn find(&self, id: Uuid) -> Option<Tool> {
        match self.by_id.get(&id) {
            Some(seen) => seen.clone(),
            None => self.base.by_id(id).map(|e| e.tool.clone()),
        }
    }

    fn find_name(&self, name: &str) -> Option<Tool> {
        match self.by_name.get(name) {
            Some(seen) => seen.clone(),
            None => self.base.get(name).map(|e| e.tool.clone()),
        }
    }

    pub(crate) async fn apply(
        &mut self,
        writer: &Writer,
        write: &Write,
        caller: &Caller,
    ) -> Result<Uuid> {
        match write {
            Write::Create {
                shelf,
                definition,
                owner,
                created_at,
            } => {
                let whose = (*owner, *created_at);
                self.create(writer, *shelf, definition, whose, caller).await
            }
            Write::Update {
                id,
                definition,
                auth,
                expected_version,
                action,
            } => {
                let tool = self.editable(writer, *id, caller)?;
                expect_version(
                    "Tool",
                    &tool.definition.name,
                    tool.version,
                    *expected_version,
                )?;
                let definition = &match auth {
                    AuthChange::Written => definition.clone(),
                    AuthChange::Keep => Definition {
                        auth_config: tool.definition.auth_config.clone(),
                        ..definition.clone()
                    },
                };
                self.update(writer, tool, definition, action, caller).await
            }
            Write::Delete {
                id,
                expected_version,
            } => {
                let tool = self.editable(writer, *id, caller)?;
                expect_version(
                    "Tool",
                    &tool.definition.name,
                    tool.version,
                    *expected_version,
                )?;
                self.delete(writer, &tool, caller);
                Ok(Uuid::nil())
            }
            Write::Restore {
                id,
                shelf,
                definition,
            } => {
                self.refuse_clash(&definition.name, *shelf)?;
                check_shelf(writer, *shelf, caller)?;
                let version = self.next_version(writer, *id).await?;
                // Who owns it now, not when it was asked for: it may have changed hands while this waited.
                let stored = writer.store.tool(*id).await?;
                let owner = stored.map_or(SYSTEM_USER, |row| row.owner_id);
                let tool = self.tool(*id, owner, *shelf, version, definition.clone());
                self.put(writer, tool, "restore", caller);
                Ok(*id)
            }
            Write::Reassign(asked) => self.reassign(writer, asked, caller).await,
            Write::Reload | Write::Follow(_) | Write::Server { .. } => Ok(Uuid::nil()),
        }
    }

    async fn create(
        &mut self,
        writer: &Writer,
        shelf: Shelf,
        definition: &Definition,
        (owner, created_at): (Uuid, Option<Millis>),
        caller: &Caller,
    ) -> Result<Uuid> {
        check_shelf(writer, shelf, caller)?;
        self.refuse_clash(&definition.name, shelf)?;
        let (id, owner) = match shelf {
            Shelf::Database => (Uuid::now_v7(), owner),
            _ => (id_from_name(&definition.name), SYSTEM_USER),
        };
        let version = self.next_version(writer, id).await?;
        let mut tool = self.tool(id, owner, shelf, version, definition.clone());
        tool.created_at = created_at.unwrap_or(self.now);
        let (tool, secrets) = writer.vault.seal_tool(tool, None, self.now)?;
        self.add(secrets.writes(&tool, caller, self.now));
        self.put(writer, tool, "create", caller);
        Ok(id)
    }

    async fn update(
        &mut self,
        writer: &Writer,
        old: Tool,
        definition: &Definition,
        action: &'static str,
        caller: &Caller,
    ) -> Result<Uuid> {
        let version = old.version + 1;
        let new = self.tool(old.id, old.owner, old.shelf, version, definition.clone());
        let (mut new, secrets) = writer.vault.seal_tool(new, Some(&old), self.now)?;
        let definition = &new.definition;
        if old.definition == *definition {
            return Ok(old.id);
        }
        let renamed = old.definition.name != definition.name;
        if renamed {
            self.refuse_clash(&definition.name, old.shelf)?;
        }
        if renamed && old.shelf == Shelf::File {
            // The id of a file tool follows from its name: the old one ends here and a new one begins.
            let id = id_from_name(&definition.name);
            let version = self.next_version(writer, id).await?;
            let tool = self.tool(id, SYSTEM_USER, Shelf::File, version, definition.clone());
            let edit = Edit::Replace {
                name: old.definition.name.clone(),
                definition: definition.clone(),
            };
            self.delete(writer, &old, caller);
            self.edits.pop();
            self.put(writer, tool, action, caller);
            self.edits.pop();
            self.edits.push(edit);
            return Ok(id);
        }
        if renamed {
            self.forget_name(&old.definition.name);
        }
        new.created_at = old.created_at;
        self.add(secrets.writes(&new, caller, self.now));
        self.forget_values(writer, &old, &new).await?;
        self.put(writer, new, action, caller);
        Ok(old.id)
    }

    /// Stores a tool under its version and puts it into the catalogue.
    fn put(&mut self, writer: &Writer, tool: Tool, action: &'static str, caller: &Caller) {
        let by = &caller.user_name;
        self.writes.push(self.version_row(&tool, action, by));
        let (before, after) = (self.find(tool.id).as_ref().map(told), told(&tool));
        self.acts
            .push(self.act(&tool, action, caller, before, after));
        match tool.shelf {
            Shelf::File => {
                self.file_text
                    .get_or_insert_with(|| writer.shelf.text.clone());
                self.edits.push(Edit::Put(tool.definition.clone()));
            }
            _ => self.writes.push(store::Write::Tool(row(&tool, None))),
        }
        self.show(tool);
    }

    fn delete(&mut self, writer: &Writer, old: &Tool, caller: &Caller) {
        let mut gone = old.clone();
        gone.version += 1;
        gone.updated_at = self.now;
        self.last_versions.insert(gone.id, gone.version);
        let by = &caller.user_name;
        self.writes.push(self.version_row(&gone, "delete", by));
        let (before, after) = (Some(told(old)), json!({"version": gone.version}));
        self.acts
            .push(self.act(&gone, "delete", caller, before, after));
        match old.shelf {
            Shelf::File => {
                self.file_text
                    .get_or_insert_with(|| writer.shelf.text.clone());
                self.edits.push(Edit::Remove(old.definition.name.clone()));
            }
            _ => self
                .writes
                .push(store::Write::Tool(row(&gone, Some(self.now)))),
        }
        self.take_away(writer, old);
    }

    fn show(&mut self, tool: Tool) {
        self.by_id.insert(tool.id, Some(tool.clone()));
        self.by_name
            .insert(tool.definition.name.clone(), Some(tool.clone()));
        self.changes.push(Change::Put(tool));
    }

    fn forget_name(&mut self, name: &str) {
        self.by_name.insert(name.to_owned(), None);
    }

    /// Removes a tool; what its name had covered comes to light again.
    fn take_away(&mut self, writer: &Writer, tool: &Tool) {
        self.forget_name(&tool.definition.name);
        self.by_id.insert(tool.id, None);
        self.changes.push(Change::Remove(tool.id));
        let name = &tool.definition.name;
        let from_file = tool.shelf == Shelf::File;
        if let Some(covered) = writer.shadowed.get(name).filter(|_| from_file) {
            self.unshadowed.push(name.clone());
            self.show(covered.clone());
        } else if let Some(given) = writer.given.get(name) {
            self.show(given.clone());
        }
    }

    /// What an upstream server has now, for what it had before.
    pub(crate) fn take_server<'a>(&mut self, before: impl Iterator<Item = &'a Tool>, now: &[Tool]) {
        let kept: HashSet<Uuid> = now.iter().map(|tool| tool.id).collect();
        for tool in before.filter(|tool| !kept.contains(&tool.id)) {
            // Something else may have its name by now.
            let shown = self.find_name(&tool.definition.name);
            if shown.is_some_and(|shown| shown.id == tool.id) {
                self.forget_name(&tool.definition.name);
                self.by_id.insert(tool.id, None);
                self.changes.push(Change::Remove(tool.id));
            }
        }
        for tool in now {
            let shown = self.find_name(&tool.definition.name);
            let is_free = shown.as_ref().is_none_or(|it| it.shelf == Shelf::Server);
            if is_free && shown.is_none_or(|it| it != *tool) {
                self.show(tool.clone());
            }
        }
    }

    fn editable(&self, writer: &Writer, id: Uuid, caller: &Caller) -> Result<Tool> {
        let tool = self
            .find(id)
            .ok_or_else(|| Error::tool_not_found(&id.to_string()))?;
        let name = &tool.definition.name;
        match tool.shelf {
            Shelf::Builtin => Err(Error::conflict(format!(
                "'{name}' is a builtin and cannot be changed; switch it off with `builtins.disabled` in toolcrib.toml, or put a tool of that name into tools.json to replace it"
            ))),
            shelf => {
                no_servers(&tool)?;
                if shelf == Shelf::File {
                    check_shelf(writer, shelf, caller)?;
                }
                only_owner(caller, &tool)?;
                Ok(tool)
            }
        }
    }

    fn refuse_clash(&self, name: &str, shelf: Shelf) -> Result<()> {
        let Some(other) = self.find_name(name) else {
            return self.refuse_plain(name, shelf);
        };
        if matches!(other.shelf, Shelf::Builtin | Shelf::Server) && shelf == Shelf::File {
            return Ok(());
        }
        let place = |shelf| match shelf {
            Shelf::Builtin => "among the builtins",
            Shelf::Server => "among the tools of an MCP server",
            Shelf::File => "on the file shelf (tools.json)",
            Shelf::Database => "on the database shelf",
        };
        let there = place(other.shelf);
        let elsewhere = if other.shelf == shelf {
            String::new()
        } else {
            format!(" and cannot also be {}", place(shelf))
        };
        Err(Error::conflict(format!(
            "A tool named '{name}' is already {there}{elsewhere}. Choose another name, or change or remove the one that is there"
        )))
    }

    /// Nobody but the operator puts a tool in the place of what clients without dots in names call by this one.
    fn refuse_plain(&self, name: &str, shelf: Shelf) -> Result<()> {
        let meant = self.base.by_plain_name(name);
        match meant.filter(|it| it.tool.shelf == Shelf::Server && shelf == Shelf::Database) {
            None => Ok(()),
            Some(other) => Err(Error::conflict(format!(
                "'{name}' is what clients that take no dots in names call '{}' by. Choose another name",
                other.name
            ))),
        }
    }

    async fn next_version(&self, writer: &Writer, id: Uuid) -> Result<i64> {
        if let Some(last) = self.last_versions.get(&id) {
            return Ok(last + 1);
        }
        Ok(writer
            .store
            .head(id)
            .await?
            .map_or(1, |head| head.version + 1))
    }

    fn tool(
        &self,
        id: Uuid,
        owner: Uuid,
        shelf: Shelf,
        version: i64,
        definition: Definition,
    ) -> Tool {
        Tool {
            id,
            owner,
            shelf,
            version,
            created_at: self.now,
            updated_at: self.now,
            hash: definition.hash(),
            definition,
        }
    }

    fn act(
        &self,
        tool: &Tool,
        action: &str,
        caller: &Caller,
        before: Option<Value>,
        after: Value,
    ) -> store::Write {
        let target = format!("tool:{}", tool.definition.name);
        let action = format!("tool.{action}");
        act(self.now, caller, &action, target, before, Some(after))
    }

    fn version_row(&self, tool: &Tool, action: &str, by: &str) -> store::Write {
        store::Write::Version(VersionRow {
            tool_id: tool.id,
            version: tool.version,
            name: tool.definition.name.clone(),
            shelf: tool.shelf.as_str().to_owned(),
            action: action.to_owned(),
            definition: definition_text(&tool.definition),
            hash: tool.hash.to_string(),
            changed_by: by.to_owned(),
            changed_at: self.now,
        })
    }
}

/// What stands in tools.json may name commands and scripts: it is the operator's. Where several servers each have one, a change
/// of one of them would be a change for some callers only.
fn check_shelf(writer: &Writer, shelf: Shelf, caller: &Caller) -> Result<()> {
    if shelf != Shelf::File {
        return Ok(());
    }
    if !caller.scopes.allow(Scope::Admin) {
        return Err(Error::Forbidden(
            "The file shelf (tools.json) may only be changed with the scope 'admin'".to_owned(),
        ));
    }
    match writer.replicas.others() {
        0 => Ok(()),
        others => Err(Error::conflict(format!(
            "The file shelf (tools.json) cannot be changed over the API while {} servers share the registry, each with a file of its own. Change the file where they are deployed from, or use the database shelf",
            others + 1
        ))),
    }
}

/// What the audit log says of a tool before and after a change; the definitions stand in its history.
fn told(tool: &Tool) -> Value {
    json!({
        "id": tool.id,
        "name": tool.definition.name,
        "version": tool.version,
        "shelf": tool.shelf.as_str(),
        "hash": &*tool.hash,
        "owner": tool.owner,
        "is_public": tool.definition.is_public,
    })
}

fn row(tool: &Tool, deleted_at: Option<Millis>) -> ToolRow {
    ToolRow {
        id: tool.id,
        name: tool.definition.name.clone(),
        owner_id: tool.owner,
        definition: definition_text(&tool.definition),
        version: tool.version,
        created_at: tool.created_at,
        updated_at: tool.updated_at,
        deleted_at,
    }
}
