//! Other servers' part of a plan: the rows that they have changed, as they are now.

use super::Plan;
use crate::error::Result;
use crate::open::stored_tool;
use crate::writer::Writer;
use catalog::catalogue::Change;
use catalog::tool::{Shelf, Tool};
use std::collections::HashSet;
use store::feed::Which;
use store::tools::ToolRow;
use uuid::Uuid;

impl Plan {
    /// Makes the catalogue follow the database shelf. Rows are read in the writer's turn: what it stored itself is in them.
    pub(crate) async fn follow(&mut self, writer: &Writer, which: &Which) -> Result<()> {
        let rows = match which {
            Which::These(ids) => {
                let ids: Vec<Uuid> = ids.iter().copied().collect();
                writer.store.tools_by_id(&ids).await?
            }
            Which::All => {
                let rows = writer.store.live_tools().await?;
                let live: HashSet<Uuid> = rows.iter().map(|row| row.id).collect();
                let is_gone =
                    |tool: &&Tool| tool.shelf == Shelf::Database && !live.contains(&tool.id);
                let base = self.base.clone();
                let shown = base.after(None).map(|entry| &entry.tool).filter(is_gone);
                let covered = writer.shadowed.values().filter(is_gone);
                shown
                    .chain(covered)
                    .for_each(|tool| self.lose(writer, tool.id));
                rows
            }
        };
        for row in &rows {
            match row.deleted_at {
                Some(_) => self.lose(writer, row.id),
                None => self.gain(writer, row),
            }
        }
        Ok(())
    }

    fn lose(&mut self, writer: &Writer, id: Uuid) {
        if let Some(tool) = self.find(id) {
            self.take_away(writer, &tool);
        }
        let covered = writer.shadowed.iter().filter(|(_, tool)| tool.id == id);
        self.unshadowed
            .extend(covered.map(|(name, _)| name.clone()));
    }

    fn gain(&mut self, writer: &Writer, row: &ToolRow) {
        let tool = match stored_tool(row) {
            Ok(tool) => tool,
            Err(problems) => {
                let why = crate::error::summary(&problems);
                tracing::error!(
                    tool = row.name,
                    why,
                    "a tool that another server stored cannot be read and stays as it is here"
                );
                return;
            }
        };
        let shown = self.find(tool.id);
        if shown.as_ref().is_some_and(|it| it.version >= tool.version) {
            return;
        }
        let name = &tool.definition.name;
        let known = writer.shadowed.get(name);
        if known.is_some_and(|it| it.id == tool.id && it.version >= tool.version) {
            return;
        }
        if let Some(old) = shown.as_ref().filter(|old| old.definition.name != *name) {
            self.take_away(writer, old);
        }
        match self.find_name(name) {
            Some(other) if other.shelf == Shelf::File => {
                if shown.is_some() {
                    self.by_id.insert(tool.id, None);
                    self.changes.push(Change::Remove(tool.id));
                }
                self.newly_shadowed.push(tool);
            }
            other => {
                // What had the name is a builtin, or is about to have another one itself.
                if let Some(other) = other.filter(|other| other.id != tool.id) {
                    self.by_id.insert(other.id, None);
                    self.changes.push(Change::Remove(other.id));
                }
                self.show(tool);
            }
        }
    }
}
