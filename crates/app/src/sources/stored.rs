//! Sources that are kept over the API: made, changed and removed by admins. A change counts when it is answered. They belong
//! to the installation, not to whoever added them: what is sealed for one is the system's.

use super::{SourceView, not_found};
use crate::App;
use crate::audit::act;
use crate::error::{Error, Result, expect_version};
use crate::patch;
use crate::vault::Sealable;
use catalog::caller::Caller;
use catalog::source::{Password, SourceDefinition, UrlParts, source_from_text};
use catalog::tool::{KindName, Millis, SYSTEM_USER, Tool};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::Write;
use store::secrets::SecretRow;
use store::sources::SourceRow;
use uuid::Uuid;

const SOURCES_MAX: usize = 1_000;

/// A stored source and what its author wrote.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) row: SourceRow,
    pub(crate) definition: SourceDefinition,
}

impl Stored {
    /// None, and a line in the server's log, where what is stored cannot be read.
    pub(super) fn read(row: SourceRow) -> Option<Self> {
        match source_from_text(&row.definition, Some(&row.name)) {
            Ok(definition) => Some(Stored { row, definition }),
            Err(problems) => {
                let why = crate::error::summary(&problems);
                let name = &row.name;
                tracing::error!(name, why, "a stored source cannot be read and is left out");
                None
            }
        }
    }

    /// For the audit log: the password is referred to.
    fn shape(&self) -> Value {
        Value::Object(self.definition.written())
    }
}

impl App {
    pub async fn create_source(&self, caller: &Caller, body: &str) -> Result<SourceView> {
        let _one_at_a_time = self.kept_sources.changes.lock().await;
        let asked = source_from_text(body, None).map_err(Error::problems)?;
        let name = &asked.name;
        if self.kept_sources.is_in_file(name) {
            return Err(Error::conflict(format!(
                "toolcrib.toml has a source named '{name}', and what stands there wins. Choose another name, or change that one in toolcrib.toml"
            )));
        }
        let stored = self.kept_sources.stored.load_full();
        if stored.iter().any(|it| it.row.name == *name) {
            return Err(Error::conflict(format!(
                "A source named '{name}' is there already. Choose another name, or change or remove that one"
            )));
        }
        if stored.len() >= SOURCES_MAX {
            return Err(Error::conflict(format!(
                "There are {SOURCES_MAX} sources, which is as many as there may be; remove one first"
            )));
        }
        self.put_source(caller, None, asked, "source.create").await
    }

    /// Replaces a source by the definition in `body`.
    pub async fn update_source(
        &self,
        caller: &Caller,
        name_or_id: &str,
        body: &str,
        expected_version: Option<i64>,
    ) -> Result<SourceView> {
        let _one_at_a_time = self.kept_sources.changes.lock().await;
        let old = self.own_source(name_or_id)?;
        self.expect_source(&old.row, expected_version).await?;
        let asked = source_from_text(body, Some(&old.row.name)).map_err(Error::problems)?;
        self.put_source(caller, Some(&old), asked, "source.update")
            .await
    }

    /// Refuses a change of another version than the one that is there, and says what has changed since.
    async fn expect_source(&self, row: &SourceRow, version: Option<i64>) -> Result<()> {
        let seen = expect_version("Source", &row.name, row.version, version);
        let target = format!("source:{}", row.name);
        self.since(&target, version, seen).await
    }

    /// Changes only the members of a JSON merge patch.
    pub async fn patch_source(
        &self,
        caller: &Caller,
        name_or_id: &str,
        patch: &str,
        expected_version: Option<i64>,
    ) -> Result<SourceView> {
        let _one_at_a_time = self.kept_sources.changes.lock().await;
        let old = self.own_source(name_or_id)?;
        self.expect_source(&old.row, expected_version).await?;
        let mut merged = old.shape();
        patch::merge(&mut merged, patch::read(patch)?);
        let body = merged.to_string();
        let asked = source_from_text(&body, Some(&old.row.name)).map_err(Error::problems)?;
        self.put_source(caller, Some(&old), asked, "source.update")
            .await
    }

    /// Removes a source with its sealed password. One that tools use goes only with `force`; they stay, and say that it
    /// is gone.
    pub async fn delete_source(
        &self,
        caller: &Caller,
        name_or_id: &str,
        expected_version: Option<i64>,
        force: bool,
    ) -> Result<()> {
        let _one_at_a_time = self.kept_sources.changes.lock().await;
        let old = self.own_source(name_or_id)?;
        let row = &old.row;
        self.expect_source(row, expected_version).await?;
        let users = self.users_of(caller, source_of).remove(&row.name);
        let of_name = |it: &super::Found| it.definition.name == row.name;
        let is_needed = self
            .kept_sources
            .all()
            .iter()
            .filter(|it| of_name(it))
            .count()
            == 1;
        if let Some(users) = users.filter(|_| is_needed && !force) {
            return Err(Error::conflict(format!(
                "The source '{}' is used by {users}; change or remove what uses it first, or force its removal (?force=true, or --force on the command line)",
                row.name
            )));
        }
        let sealing = self.vault.changes.lock().await;
        let values: Vec<Uuid> = self.vault.of_tool(row.id).iter().map(|it| it.id).collect();
        let target = format!("source:{}", row.name);
        let now = self.clock.now();
        let done = act(
            now,
            caller,
            "source.delete",
            target,
            Some(old.shape()),
            None,
        );
        let gone = Write::NoSource {
            id: row.id,
            version: row.version,
        };
        let writes = [gone, Write::NoSecrets(values.clone()), done];
        self.store.write(&writes).await?;
        self.vault.remove(&values);
        drop(sealing);
        self.show_sources(|all| all.retain(|it| it.row.id != row.id));
        self.kept_sources.apply(&row.name);
        Ok(())
    }

    /// The caller holds `changes`.
    async fn put_source(
        &self,
        caller: &Caller,
        old: Option<&Stored>,
        mut asked: SourceDefinition,
        action: &str,
    ) -> Result<SourceView> {
        // What was taken once can be changed in all else, whatever has come of its address.
        let is_same = old.is_some_and(|old| {
            (&old.definition.url, &old.definition.path) == (&asked.url, &asked.path)
        });
        let never = || self.kept_sources.opening.never_works(&asked);
        if let Some(why) = (!is_same).then(never).flatten() {
            return Err(Error::invalid(why));
        }
        let sealing = self.vault.changes.lock().await;
        let now = self.clock.now();
        let id = old.map_or_else(Uuid::now_v7, |old| old.row.id);
        let sealed = self.seal_password(&mut asked, old, id, now)?;
        let row = SourceRow {
            id,
            name: asked.name.clone(),
            definition: Value::Object(asked.written()).to_string(),
            version: old.map_or(1, |old| old.row.version + 1),
            created_at: old.map_or(now, |old| old.row.created_at),
            updated_at: now,
        };
        let needed = match &asked.password {
            Some(Password::Sealed(id)) => Some(*id),
            _ => None,
        };
        let values = self.vault.of_tool(id);
        let gone = values.iter().map(|it| it.id);
        let gone: Vec<Uuid> = gone.filter(|id| Some(*id) != needed).collect();
        let new = Arc::new(Stored {
            row,
            definition: asked,
        });
        let target = format!("source:{}", new.row.name);
        let (before, after) = (old.map(Stored::shape), Some(new.shape()));
        let done = act(now, caller, action, target, before, after);
        let mut writes = vec![Write::Source(new.row.clone())];
        writes.extend(sealed.iter().cloned().map(Write::Secret));
        writes.extend([Write::NoSecrets(gone.clone()), done]);
        self.store.write(&writes).await?;
        self.vault.put(sealed.as_slice());
        self.vault.remove(&gone);
        drop(sealing);
        self.show_sources(|all| {
            all.retain(|it| it.row.id != id);
            all.push(Arc::clone(&new));
        });
        let name = &new.row.name;
        if !self.kept_sources.is_in_file(name) {
            self.kept_sources.apply(name);
        }
        self.get_source(&id.to_string())
    }

    /// Puts a reference in place of a password in the clear, and gives the row that holds it.
    fn seal_password(
        &self,
        asked: &mut SourceDefinition,
        old: Option<&Stored>,
        id: Uuid,
        now: Millis,
    ) -> Result<Option<SecretRow>> {
        let before = old.and_then(|old| match &old.definition.password {
            Some(Password::Sealed(id)) => Some(*id),
            _ => None,
        });
        match &asked.password {
            None | Some(Password::Variable(_)) => Ok(None),
            Some(Password::Kept | Password::Sealed(_)) => {
                let kept = match &asked.password {
                    Some(Password::Sealed(id)) => before.filter(|before| before == id),
                    _ => before,
                };
                let kept = kept.ok_or_else(|| {
                    Error::invalid("password: there is no sealed value here that this could keep; give the password itself")
                })?;
                check_moved(old, asked)?;
                asked.password = Some(Password::Sealed(kept));
                Ok(None)
            }
            Some(Password::Given(secret)) => {
                let row = before.and_then(|id| self.vault.row(id));
                let is_same = |row: &Arc<SecretRow>| {
                    let opened = self.vault.open(row);
                    opened.is_ok_and(|old| old.expose() == secret.expose())
                };
                if let Some(row) = row.filter(is_same) {
                    asked.password = Some(Password::Sealed(row.id));
                    return Ok(None);
                }
                let what = Sealable {
                    id: Uuid::new_v4(),
                    owner: SYSTEM_USER,
                    name: None,
                    tool: Some(id),
                    created_at: now,
                    now,
                };
                let row = self.vault.seal(&what, secret.expose())?;
                asked.password = Some(Password::Sealed(row.id));
                Ok(Some(row))
            }
        }
    }

    /// Takes over what other servers have changed.
    pub(crate) async fn follow_sources(&self) -> Result<()> {
        let _one_at_a_time = self.kept_sources.changes.lock().await;
        let rows = self.store.sources().await?.into_iter();
        let now: Vec<Arc<Stored>> = rows.filter_map(Stored::read).map(Arc::new).collect();
        let before = self.kept_sources.stored.load_full();
        let same = |it: &Stored, all: &[Arc<Stored>]| {
            let other = all.iter().find(|other| other.row.id == it.row.id);
            other.is_some_and(|other| other.row == it.row)
        };
        let gone = before.iter().filter(|it| !same(it, &now));
        let new = now.iter().filter(|it| !same(it, &before));
        let changed: BTreeSet<String> = gone.chain(new).map(|it| it.row.name.clone()).collect();
        self.show_sources(|all| all.clone_from(&now));
        for name in changed {
            if !self.kept_sources.is_in_file(&name) {
                self.kept_sources.apply(&name);
            }
        }
        Ok(())
    }

    fn show_sources(&self, change: impl FnOnce(&mut Vec<Arc<Stored>>)) {
        let mut all = (*self.kept_sources.stored.load_full()).clone();
        change(&mut all);
        all.sort_unstable_by(|a, b| a.row.name.cmp(&b.row.name));
        self.kept_sources.stored.store(Arc::new(all));
    }

    /// A source that can be changed here.
    fn own_source(&self, name_or_id: &str) -> Result<Arc<Stored>> {
        if let Some(found) = self.kept_sources.stored(name_or_id) {
            return Ok(found);
        }
        let Some(found) = self.kept_sources.effective(name_or_id) else {
            return Err(not_found(name_or_id));
        };
        Err(Error::conflict(match found.origin {
            super::Origin::Environment => format!(
                "'{name_or_id}' is what the variables POSTGRESQL_DB_… say; change those and start again, or add a source of that name, which wins"
            ),
            _ => format!(
                "'{name_or_id}' stands in toolcrib.toml; change it there, which counts at the next start"
            ),
        }))
    }
}

/// A password is not shown to another server than it was sealed for: whoever changes the address need not know it.
fn check_moved(old: Option<&Stored>, new: &SourceDefinition) -> Result<()> {
    let hosts = |definition: &SourceDefinition| {
        let url = definition.url.as_deref().unwrap_or_default();
        UrlParts::of(url).map_or_else(|| url.to_owned(), |parts| parts.hosts)
    };
    match old.is_none_or(|old| hosts(&old.definition) == hosts(new)) {
        true => Ok(()),
        false => Err(Error::invalid(
            "The address has changed, and the password that is sealed for the old one is not shown to the new one. Give the password again, or null to leave it out",
        )),
    }
}

/// The source that a tool names.
fn source_of(tool: &Tool) -> Vec<String> {
    let source = tool.definition.config.get("source").and_then(Value::as_str);
    source
        .filter(|_| tool.definition.kind == KindName::Sql)
        .map(|source| vec![source.to_owned()])
        .unwrap_or_default()
}
