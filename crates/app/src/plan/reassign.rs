//! Tools that change hands: in use, out of use behind the file shelf, or removed. All of them, or none.

use super::Plan;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::reassign::Reassign;
use crate::writer::Writer;
use catalog::caller::Caller;
use catalog::tool::{Shelf, Tool};
use serde_json::json;
use store::secrets::SecretRow;
use store::tools::{ToolRow, VersionRow};
use uuid::Uuid;

impl Plan {
    pub(super) async fn reassign(
        &mut self,
        writer: &Writer,
        asked: &Reassign,
        caller: &Caller,
    ) -> Result<Uuid> {
        for id in &asked.tools {
            // Looked at before anything is changed: a group goes on after a refusal.
            self.still_theirs(writer, asked, *id).await?;
        }
        for id in &asked.tools {
            match self.find(*id) {
                Some(mut tool) => {
                    tool.owner = asked.to;
                    tool.version += 1;
                    tool.updated_at = self.now;
                    self.put(writer, tool, "reassign", caller);
                }
                None => self.reassign_unused(writer, asked, *id, caller).await?,
            }
            self.reassign_values(writer, asked, *id);
        }
        self.add(asked.rest.iter().cloned());
        Ok(Uuid::nil())
    }

    async fn still_theirs(&self, writer: &Writer, asked: &Reassign, id: Uuid) -> Result<()> {
        let owner = match self.find(id) {
            Some(tool) => Some(tool.owner).filter(|_| tool.shelf == Shelf::Database),
            None => writer.store.tool(id).await?.map(|row| row.owner_id),
        };
        if owner == Some(asked.from) {
            return Ok(());
        }
        Err(Error::conflict(
            "A tool was given to somebody else at the same time; nothing was changed, repeat it",
        ))
    }

    /// One that is in the database but not in the catalogue.
    async fn reassign_unused(
        &mut self,
        writer: &Writer,
        asked: &Reassign,
        id: Uuid,
        caller: &Caller,
    ) -> Result<()> {
        let (stored, head) = (writer.store.tool(id).await?, writer.store.head(id).await?);
        let (Some(row), Some(head)) = (stored, head) else {
            return Err(Error::tool_not_found(&id.to_string()));
        };
        let version = row.version.max(head.version) + 1;
        self.last_versions.insert(id, version);
        self.writes.push(store::Write::Version(VersionRow {
            tool_id: id,
            version,
            name: row.name.clone(),
            shelf: Shelf::Database.as_str().to_owned(),
            action: "reassign".to_owned(),
            definition: row.definition.clone(),
            hash: head.hash,
            changed_by: caller.user_name.to_string(),
            changed_at: self.now,
        }));
        let after = json!({"id": id, "version": version, "owner": asked.to});
        let target = format!("tool:{}", row.name);
        let done = act(self.now, caller, "tool.reassign", target, None, Some(after));
        self.acts.push(done);
        let shadowed = writer.shadowed.values().find(|tool| tool.id == id);
        if let Some(tool) = shadowed {
            self.newly_shadowed.push(Tool {
                owner: asked.to,
                version,
                updated_at: self.now,
                ..tool.clone()
            });
        }
        self.writes.push(store::Write::Tool(ToolRow {
            owner_id: asked.to,
            version,
            updated_at: self.now,
            ..row
        }));
        Ok(())
    }

    /// What is sealed for a tool goes with it.
    fn reassign_values(&mut self, writer: &Writer, asked: &Reassign, id: Uuid) {
        for write in &mut self.writes {
            if let store::Write::Secret(row) = write
                && row.tool_id == Some(id)
            {
                row.owner_id = asked.to;
            }
        }
        let owner = |row: &SecretRow| store::Write::SecretOwner {
            id: row.id,
            owner: asked.to,
            at: self.now,
        };
        let stored = writer.vault.of_tool(id);
        let stored: Vec<_> = stored.iter().map(|row| owner(row)).collect();
        self.writes.extend(stored);
    }
}
