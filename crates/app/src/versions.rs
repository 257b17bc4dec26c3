//! A tool's history: every change with who and when, differences between versions, and going back.

use crate::auth::AuthChange;
use crate::error::{Error, Result};
use crate::plan::VERSIONS_WITH_VALUES;
use crate::tools::{Terms, ToolView, only_owner, read_body};
use crate::writer::Write;
use crate::{App, page, since, time};
use catalog::auth::{Reference, mask_all, sealed_in};
use catalog::caller::{Caller, Scope};
use catalog::policy::Verdict;
use catalog::tool::{Definition, SYSTEM_USER, Shelf, Tool, is_valid_name};
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
    /// `create`, `update`, `delete`, `restore`, `rollback` or `reassign`.
    pub action: String,
    pub shelf: String,
    pub hash: String,
    pub changed_by: String,
    pub changed_at: String,
    /// What differs from the version before, for those who may see that one.
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
    /// Newest first. A deleted tool's history is found by its name, too. Of somebody's public tool, others see the
    /// versions that were public.
    pub async fn tool_versions(
        &self,
        caller: &Caller,
        target: &str,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<VersionPage> {
        let id = self.history_id(caller, target).await?;
        let reader = self.reader(caller, id).await?;
        let mut before = match cursor {
            None => None,
            Some(text) => Some(
                text.parse::<i64>()
                    .map_err(|_| Error::invalid(format!("cursor: '{text}' is not one of ours")))?,
            ),
        };
        let limit = page::limit(limit)?;
        // One more than asked: it tells whether there is a next page, and what the last one changed.
        let wanted = limit + 1;
        let mut rows: Vec<VersionRow> = Vec::new();
        while rows.len() < wanted {
            let chunk = i64::try_from(wanted).unwrap_or(i64::MAX);
            let found = self.store.versions(id, before, chunk).await?;
            let Some(last) = found.last() else {
                break;
            };
            before = Some(last.version);
            rows.extend(found.into_iter().filter(|row| reader.may_see(row)));
        }
        rows.truncate(wanted);
        let items: Vec<VersionView> = rows
            .iter()
            .enumerate()
            .take(limit)
            .map(|(i, row)| self.version_view(row, rows.get(i + 1), reader))
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
        let reader = self.reader(caller, id).await?;
        let row = self.version_row(id, version).await?;
        if !reader.may_see(&row) {
            return Err(no_version(version));
        }
        let before = self.store.version(id, version - 1).await?;
        Ok(self.version_view(&row, before.as_ref(), reader))
    }

    /// Makes the definition of an earlier version the newest one.
    pub async fn rollback_tool(
        &self,
        caller: Arc<Caller>,
        target: &str,
        version: i64,
    ) -> Result<ToolView> {
        let current = self.visible_now(&caller, target).await?;
        only_owner(&caller, &current.tool)?;
        let row = self.version_row(current.tool.id, version).await?;
        let definition = read_body(&row.definition, current.tool.shelf)?;
        self.check_values(&current.tool, version, &definition)?;
        let changed = (definition, AuthChange::Written);
        self.change(caller, &current.tool, changed, Terms::default(), "rollback")
            .await
    }

    /// Whether the last version of a tool that is gone would be hidden if it were there.
    async fn is_hidden_past(&self, caller: &Caller, id: Uuid) -> Result<bool> {
        let Some(head) = self.store.head(id).await? else {
            return Ok(true);
        };
        let row = self.version_row(id, head.version).await?;
        let definition = read_body(&row.definition, Shelf::File)?;
        let tool = Tool {
            id,
            owner: SYSTEM_USER,
            shelf: Shelf::File,
            version: head.version,
            created_at: head.changed_at,
            updated_at: head.changed_at,
            hash: definition.hash(),
            definition,
        };
        let policy = self.executor.policy.load();
        Ok(policy.verdict(caller, &tool) == Verdict::Hidden)
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
        let (shelf, is_deleted) = match self.store.tool(id).await? {
            // Its last version may be that it went to somebody else.
            Some(stored) => (Shelf::Database, stored.deleted_at.is_some()),
            None => (Shelf::File, head.action == "delete"),
        };
        if !is_deleted {
            return Err(Error::conflict(format!(
                "Tool '{}' is not deleted",
                head.name
            )));
        }
        let row = self.version_row(id, head.version).await?;
        let definition = read_body(&row.definition, shelf)?;
        let asker = Arc::clone(&caller);
        let entry = self
            .write(
                caller,
                Write::Restore {
                    id,
                    shelf,
                    definition,
                },
            )
            .await?;
        self.written(entry, &asker)
    }

    /// Nobody sees a sealed value, not even its id. What a version changed is told to those who may see both.
    fn version_view(
        &self,
        row: &VersionRow,
        before: Option<&VersionRow>,
        reader: Reader,
    ) -> VersionView {
        let before = before.filter(|before| before.version + 1 == row.version);
        let changes = before.map(|before| self.changes_between(before, row, reader));
        let changes = changes.unwrap_or_default();
        let mut definition = reader.definition(row);
        self.hide_sealed(&mut definition);
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

    fn changes_between(
        &self,
        old: &VersionRow,
        new: &VersionRow,
        reader: Reader,
    ) -> Vec<FieldChange> {
        let mut changes = Vec::new();
        if reader.may_see(old) && reader.may_see(new) {
            let (old, new) = (reader.definition(old), reader.definition(new));
            differences("$", &old, &new, &mut changes);
        }
        for change in &mut changes {
            self.hide_sealed(&mut change.before);
            self.hide_sealed(&mut change.after);
        }
        changes
    }

    fn hide_sealed(&self, value: &mut Value) {
        mask_all(value, &|id| self.vault.last4(id));
    }

    /// Tells whoever made a change from an older version what has changed since.
    pub(crate) async fn with_changes<T>(
        &self,
        caller: &Caller,
        id: Uuid,
        expected: Option<i64>,
        done: Result<T>,
    ) -> Result<T> {
        since::told(done, expected, async |expected, version| {
            let reader = self.reader(caller, id).await?;
            let old = self.store.version(id, expected).await?;
            let new = self.store.version(id, version).await?;
            Ok(match (&old, &new) {
                (Some(old), Some(new)) => self.changes_between(old, new, reader),
                _ => Vec::new(),
            })
        })
        .await
    }

    async fn version_row(&self, id: Uuid, version: i64) -> Result<VersionRow> {
        let row = self.store.version(id, version).await?;
        row.ok_or_else(|| no_version(version))
    }

    async fn reader(&self, caller: &Caller, id: Uuid) -> Result<Reader> {
        if caller.scopes.allow(Scope::Admin) {
            return Ok(Reader::Owner);
        }
        let owner = self.store.tool(id).await?.map(|row| row.owner_id);
        Ok(match owner {
            None => Reader::Anybody,
            Some(owner) if owner == caller.user => Reader::Owner,
            Some(_) => Reader::Other,
        })
    }

    /// The values that a version authenticates with are kept for a while only.
    fn check_values(&self, tool: &Tool, version: i64, definition: &Definition) -> Result<()> {
        let auth = definition.auth_config.as_ref();
        let mut needed = auth.map(sealed_in).unwrap_or_default().into_iter();
        if needed.all(|id| self.vault.row(id).is_some()) {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "Version {version} of '{}' authenticates with values that are not kept any more, only those of the last {VERSIONS_WITH_VALUES} versions are. Change the tool to what you want of it, and set auth_config anew",
            tool.definition.name
        )))
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
            None if owner.is_some() => theirs && !caller.scopes.allow(Scope::Admin),
            // One of the file shelf: what a rule hides stays hidden.
            None => self.is_hidden_past(caller, id).await?,
        };
        if hidden {
            Err(Error::tool_not_found(target))
        } else {
            Ok(id)
        }
    }
}

/// Who reads a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Whose tool it is, or an admin.
    Owner,
    /// Of a tool of the file shelf, which is everybody's.
    Anybody,
    /// Of somebody's public tool: what was private stays it.
    Other,
}

impl Reader {
    /// A version as it may be read: whose it is not is not told what it authenticates with.
    fn definition(self, row: &VersionRow) -> Value {
        let mut definition = serde_json::from_str(&row.definition).unwrap_or(Value::Null);
        let theirs = self != Reader::Owner;
        if let Some(members) = definition.as_object_mut().filter(|_| theirs) {
            members.shift_remove("auth_config");
        }
        definition
    }

    fn may_see(self, row: &VersionRow) -> bool {
        #[derive(serde::Deserialize)]
        struct Shown {
            #[serde(default)]
            is_public: bool,
        }
        let shown = |text| serde_json::from_str::<Shown>(text).is_ok_and(|shown| shown.is_public);
        self != Reader::Other || shown(&row.definition)
    }
}

fn no_version(version: i64) -> Error {
    Error::NotFound {
        what: "Version",
        name: version.to_string(),
    }
}

/// A sealed value that was exchanged for another is one change, at its own path.
fn is_sealed(value: &Value) -> bool {
    matches!(Reference::of(value), Some(Reference::Sealed(_)))
}

pub(crate) fn differences(path: &str, before: &Value, after: &Value, out: &mut Vec<FieldChange>) {
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
