//! A tool's history: every change with who and when, differences between versions, and going back.

use crate::auth::AuthChange;
use crate::error::{Error, Result};
use crate::tools::{ToolView, read_body};
use crate::writer::Write;
use crate::{App, time};
use catalog::auth::{Reference, mask_all};
use catalog::caller::{Caller, Scope};
use catalog::tool::{SYSTEM_USER, Shelf, is_valid_name};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use store::tools::VersionRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// One change of a tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct VersionView {
    pub tool_id: Uuid,
    pub name: String,
    pub version: i64,
    /// `create`, `update`, `delete`, `restore` or `rollback`.
    pub action: String,
    pub shelf: String,
    pub hash: String,
    pub changed_by: String,
    pub changed_at: String,
    /// What differs from the version before.
    pub changes: Vec<FieldChange>,
    #[schema(value_type = Object)]
    pub definition: Value,
}

/// One member that differs between two versions.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub struct FieldChange {
    /// JSON path of the member.
    pub path: String,
    pub before: Value,
    pub after: Value,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VersionPage {
    pub items: Vec<VersionView>,
    pub next_cursor: Option<String>,
}

impl App {
    /// Newest first. A deleted tool's history is found by its name, too.
    pub async fn tool_versions(
        &self,
        caller: &Caller,
        target: &str,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<VersionPage> {
        let id = self.history_id(caller, target).await?;
        let mine = self.is_mine(caller, id).await?;
        let before = match cursor {
            None => None,
            Some(text) => Some(
                text.parse::<i64>()
                    .map_err(|_| Error::invalid(format!("cursor: '{text}' is not one of ours")))?,
            ),
        };
        let limit = limit.unwrap_or(50);
        if !(1..=500).contains(&limit) {
            return Err(Error::invalid(format!(
                "limit: expected 1 to 500, got {limit}"
            )));
        }
        // One more than asked: it tells whether there is a next page, and what the last one changed.
        let rows = self
            .store
            .versions(id, before, i64::try_from(limit).unwrap_or(500) + 1)
            .await?;
        let items: Vec<VersionView> = rows
            .iter()
            .enumerate()
            .take(limit)
            .map(|(i, row)| self.version_view(row, rows.get(i + 1), mine))
            .collect();
        let next_cursor = (rows.len() > limit)
            .then(|| items.last().map(|v| v.version.to_string()))
            .flatten();
        Ok(VersionPage { items, next_cursor })
    }

    pub async fn tool_version(
        &self,
        caller: &Caller,
        target: &str,
        version: i64,
    ) -> Result<VersionView> {
        let id = self.history_id(caller, target).await?;
        let row = self.version_row(id, version).await?;
        let before = self.store.version(id, version - 1).await?;
        let mine = self.is_mine(caller, id).await?;
        Ok(self.version_view(&row, before.as_ref(), mine))
    }

    /// Makes the definition of an earlier version the newest one.
    pub async fn rollback_tool(
        &self,
        caller: Arc<Caller>,
        target: &str,
        version: i64,
    ) -> Result<ToolView> {
        let current = self.visible_now(&caller, target).await?;
        let row = self.version_row(current.tool.id, version).await?;
        let definition = read_body(&row.definition, current.tool.shelf)?;
        let changed = (definition, AuthChange::Written);
        self.change(caller, &current.tool, changed, None, "rollback")
            .await
    }

    /// Brings a deleted tool back as it was.
    pub async fn restore_tool(&self, caller: Arc<Caller>, target: &str) -> Result<ToolView> {
        if let Ok(entry) = self.visible(&caller, target)
            && entry.tool.shelf != Shelf::Builtin
        {
            return Err(Error::conflict(format!(
                "Tool '{}' is not deleted",
                entry.name
            )));
        }
        let id = self.history_id(&caller, target).await?;
        let head = self
            .store
            .head(id)
            .await?
            .ok_or_else(|| Error::tool_not_found(target))?;
        if head.action != "delete" {
            return Err(Error::conflict(format!(
                "Tool '{}' is not deleted",
                head.name
            )));
        }
        let row = self.version_row(id, head.version).await?;
        let (shelf, owner) = match self.store.tool(id).await? {
            Some(stored) => (Shelf::Database, stored.owner_id),
            None => (Shelf::File, SYSTEM_USER),
        };
        let definition = read_body(&row.definition, shelf)?;
        let asker = Arc::clone(&caller);
        let entry = self
            .write(
                caller,
                Write::Restore {
                    id,
                    shelf,
                    owner,
                    definition,
                },
            )
            .await?;
        self.written(entry, &asker)
    }

    /// `mine`: whether the reader may see how the tool authenticates. Nobody sees a sealed value, not even its id.
    fn version_view(
        &self,
        row: &VersionRow,
        before: Option<&VersionRow>,
        mine: bool,
    ) -> VersionView {
        let parse = |text: &str| {
            let mut definition = serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
            if let Some(members) = definition.as_object_mut().filter(|_| !mine) {
                members.shift_remove("auth_config");
            }
            definition
        };
        let hide = |value: &mut Value| mask_all(value, &|id| self.vault.last4(id));
        let mut definition = parse(&row.definition);
        let mut changes = Vec::new();
        if let Some(before) = before {
            differences("$", &parse(&before.definition), &definition, &mut changes);
        }
        for change in &mut changes {
            hide(&mut change.before);
            hide(&mut change.after);
        }
        hide(&mut definition);
        VersionView {
            tool_id: row.tool_id,
            name: row.name.clone(),
            version: row.version,
            action: row.action.clone(),
            shelf: row.shelf.clone(),
            hash: row.hash.clone(),
            changed_by: row.changed_by.clone(),
            changed_at: time::rfc3339(row.changed_at),
            changes,
            definition,
        }
    }

    async fn version_row(&self, id: Uuid, version: i64) -> Result<VersionRow> {
        let row = self.store.version(id, version).await?;
        row.ok_or_else(|| Error::NotFound {
            what: "Version",
            name: version.to_string(),
        })
    }

    async fn is_mine(&self, caller: &Caller, id: Uuid) -> Result<bool> {
        if caller.scopes.allow(Scope::Admin) {
            return Ok(true);
        }
        let owner = self.store.tool(id).await?.map(|row| row.owner_id);
        Ok(owner == Some(caller.user))
    }

    async fn history_id(&self, caller: &Caller, target: &str) -> Result<Uuid> {
        let visible = self.visible(caller, target);
        if let Ok(entry) = &visible {
            return Ok(entry.tool.id);
        }
        if self.executor.catalogue.load().find(target).is_some() {
            return Err(Error::tool_not_found(target));
        }
        let known = match Uuid::parse_str(target) {
            Ok(id) => self.store.head(id).await?.map(|head| head.tool_id),
            Err(_) if !is_valid_name(target) => None,
            Err(_) => self.store.last_id_of_name(target).await?,
        };
        let id = known.ok_or_else(|| Error::tool_not_found(target))?;
        // What was deleted is seen by those who could see it: the owner, an admin, and all for the file shelf.
        let owner = self.store.tool(id).await?.map(|row| row.owner_id);
        let theirs = owner.is_some_and(|owner| owner != caller.user);
        let live = self.executor.catalogue.load().by_id(id).cloned();
        let hidden = match live {
            // Renamed: the tool of today decides.
            Some(entry) => self.visible(caller, &entry.name).is_err(),
            None => theirs && !caller.scopes.allow(Scope::Admin),
        };
        if hidden {
            Err(Error::tool_not_found(target))
        } else {
            Ok(id)
        }
    }
}

/// A sealed value that was exchanged for another is one change, at its own path.
fn is_sealed(value: &Value) -> bool {
    matches!(Reference::of(value), Some(Reference::Sealed(_)))
}

fn differences(path: &str, before: &Value, after: &Value, out: &mut Vec<FieldChange>) {
    match (before, after) {
        (Value::Object(a), Value::Object(b)) if !is_sealed(before) && !is_sealed(after) => {
            let gone = a.keys().filter(|key| !b.contains_key(*key));
            for key in b.keys().chain(gone) {
                let null = Value::Null;
                let (x, y) = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                differences(&format!("{path}.{key}"), x, y, out);
            }
        }
        (before, after) if before != after => out.push(FieldChange {
            path: path.to_owned(),
            before: before.clone(),
            after: after.clone(),
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_name_the_innermost_member() {
        let mut found = Vec::new();
        let before = json!({"name":"a","config":{"x":1,"y":2},"old":true});
        let after = json!({"name":"a","config":{"x":1,"y":3},"new":[1]});
        differences("$", &before, &after, &mut found);
        let shown: Vec<_> = found
            .iter()
            .map(|c| (c.path.as_str(), &c.before, &c.after))
            .collect();
        assert_eq!(
            shown,
            [
                ("$.config.y", &json!(2), &json!(3)),
                ("$.new", &json!(null), &json!([1])),
                ("$.old", &json!(true), &json!(null)),
            ]
        );
    }
}
