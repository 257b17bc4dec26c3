//! Trying a definition out before it is saved: it runs like any other call, and nothing of it is kept but its entry in
//! the log.

use crate::App;
use crate::auth::SealedFor;
use crate::error::{Error, Result};
use crate::tools::{is_mine, read_body};
use catalog::auth::Reference;
use catalog::caller::Caller;
use catalog::catalogue::{Entry, Gate};
use catalog::tool::{Definition, Shelf, Tool};
use executor::{CallRequest, ToolResponse};
use serde_json::{Value, json};
use std::sync::Arc;
use store::secrets::SecretRow;
use uuid::Uuid;

impl App {
    /// Runs a definition that is not saved, on the same path as any other call. It counts as a call of the name it
    /// has, so nobody tries something out under the name of a tool that they may not change.
    pub async fn test_tool(
        &self,
        caller: Arc<Caller>,
        tool: &Value,
        arguments: Value,
    ) -> Result<ToolResponse> {
        let entry = self.unsaved(&caller, tool).await?;
        let request = CallRequest {
            tool: entry.name.to_string(),
            arguments,
            ..CallRequest::default()
        };
        Ok(self.executor.call_unsaved(caller, request, entry).await)
    }

    /// A definition that is not saved as a tool of its author, checked as if it were to be.
    pub(crate) async fn unsaved(&self, caller: &Caller, tool: &Value) -> Result<Arc<Entry>> {
        let mut definition = read_body(&tool.to_string(), Shelf::Database)?;
        self.check_references(caller, Shelf::Database, caller.user, &definition)?;
        self.check_runs(caller, Shelf::Database, caller.user, &definition)
            .await?;
        let saved = self
            .executor
            .catalogue
            .load()
            .get(&definition.name)
            .cloned();
        if let Some(entry) = saved.as_ref().filter(|entry| !is_mine(caller, &entry.tool)) {
            return Err(Error::conflict(format!(
                "A tool named '{}' is there already and is not yours. Choose another name to try this one out",
                entry.name
            )));
        }
        // Masks stand for the values of the tool that is being changed.
        let saved = saved.as_ref().map(|entry| &entry.tool);
        let sealed = saved.filter(|tool| tool.shelf == Shelf::Database);
        self.seal_unsaved(caller, sealed, &mut definition)?;
        let now = self.clock.now();
        let tool = Tool {
            // What is used up of the saved tool is used up for this one.
            id: saved.map_or(Uuid::nil(), |tool| tool.id),
            owner: caller.user,
            shelf: Shelf::Database,
            version: 0,
            created_at: now,
            updated_at: now,
            hash: definition.hash(),
            definition,
        };
        Ok(Arc::new(Entry::new(tool, Arc::new(Gate::default()))))
    }

    /// For a definition that is only tried out: its values are sealed like any other's but stored nowhere, so each
    /// carries its envelope along.
    fn seal_unsaved(
        &self,
        caller: &Caller,
        saved: Option<&Tool>,
        definition: &mut Definition,
    ) -> Result<()> {
        let old = saved.and_then(|tool| tool.definition.auth_config.as_ref());
        let whose = SealedFor {
            tool: saved.map_or(Uuid::nil(), |tool| tool.id),
            owner: caller.user,
            now: self.clock.now(),
        };
        let done = self
            .vault
            .seal_auth(definition.auth_config.as_ref(), old, &whose)?;
        definition.auth_config = done.auth;
        if let Some(auth) = &mut definition.auth_config {
            self.carry(auth, &done.rows);
        }
        Ok(())
    }

    fn carry(&self, value: &mut Value, new: &[SecretRow]) {
        if let Some(Reference::Sealed(id)) = Reference::of(value) {
            let new = new
                .iter()
                .find(|row| row.id == id)
                .map(|row| row.sealed.clone());
            let envelope = new.or_else(|| self.vault.row(id).map(|row| row.sealed.clone()));
            *value = json!({"$sealed": id, "envelope": envelope});
            return;
        }
        match value {
            Value::Object(members) => members.values_mut().for_each(|v| self.carry(v, new)),
            Value::Array(items) => items.iter_mut().for_each(|v| self.carry(v, new)),
            _ => {}
        }
    }
}

/// What `carry` made of a reference.
pub(crate) fn inline(value: &Value) -> Option<(Uuid, &str)> {
    let id = Uuid::parse_str(value.get("$sealed")?.as_str()?).ok()?;
    Some((id, value.get("envelope")?.as_str()?))
}
