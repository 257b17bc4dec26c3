//! The file's part of a plan: what an edit of `tools.json` on disk changes.

use super::Plan;
use crate::audit::act;
use crate::error::Result;
use crate::writer::Writer;
use catalog::catalogue::Change;
use catalog::tool::{Definition, SYSTEM_USER, Shelf, id_from_name};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use store::tools::Head;
use uuid::Uuid;

impl Plan {
    /// Makes the catalogue follow a new text of the file. Versions go on from the history, so a change made
    /// while no server ran is recorded as well.
    pub(crate) async fn sync_file(
        &mut self,
        writer: &Writer,
        definitions: Vec<Definition>,
        text: String,
    ) -> Result<()> {
        let heads: HashMap<Uuid, Head> = writer
            .store
            .heads()
            .await?
            .into_iter()
            .map(|head| (head.tool_id, head))
            .collect();
        let mut on_file = HashSet::with_capacity(definitions.len());
        for definition in definitions {
            let id = id_from_name(&definition.name);
            on_file.insert(id);
            self.sync_tool(id, definition, heads.get(&id));
        }
        let gone = heads.values().filter(|head| {
            head.shelf == "file" && head.action != "delete" && !on_file.contains(&head.tool_id)
        });
        for head in gone {
            let last = writer.store.version(head.tool_id, head.version).await?;
            if let Some(mut row) = last {
                row.version += 1;
                row.action = "delete".to_owned();
                row.changed_by = "file".to_owned();
                row.changed_at = self.now;
                self.last_versions.insert(row.tool_id, row.version);
                self.writes.push(store::Write::Version(row));
            }
            let shown = self.find(head.tool_id);
            if let Some(tool) = shown.filter(|tool| tool.shelf == Shelf::File) {
                self.take_away(writer, &tool);
            }
        }
        let changed = self.writes.len();
        if changed > 0 {
            let after = json!({"tools": on_file.len(), "changes": changed});
            let file = crate::watcher::file_caller();
            let done = act(
                self.now,
                &file,
                "tools.reload",
                "file:tools.json",
                None,
                Some(after),
            );
            self.acts.push(done);
        }
        self.file_text = Some(text);
        Ok(())
    }

    fn sync_tool(&mut self, id: Uuid, definition: Definition, head: Option<&Head>) {
        let mut tool = self.tool(id, SYSTEM_USER, Shelf::File, 1, definition);
        let unchanged = head.is_some_and(|head| {
            *head.hash == *tool.hash && head.action != "delete" && head.shelf == "file"
        });
        let covered = self.find_name(&tool.definition.name);
        if unchanged
            && covered
                .as_ref()
                .is_some_and(|tool| tool.shelf == Shelf::File)
        {
            return;
        }
        if let Some(head) = head {
            tool.version = head.version + i64::from(!unchanged);
            tool.created_at = head.created_at;
            if unchanged {
                tool.updated_at = head.changed_at;
            }
        }
        if !unchanged {
            let existed = head.is_some_and(|head| head.action != "delete");
            let action = if existed { "update" } else { "create" };
            self.writes.push(self.version_row(&tool, action, "file"));
        }
        if let Some(other) = covered.filter(|other| other.shelf == Shelf::Database) {
            self.by_id.insert(other.id, None);
            self.changes.push(Change::Remove(other.id));
            self.newly_shadowed.push(other);
        }
        self.show(tool);
    }
}
