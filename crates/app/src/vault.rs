//! Every sealed secret in memory, still sealed, so that a call opens one without a look at the database.

use crate::error::{Error, Result};
use crate::sealing_keys::{self, KeySource};
use arc_swap::ArcSwap;
use catalog::secret::Secret;
use catalog::tool::Millis;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::seal::{SealError, SealingKeys};
use store::secrets::SecretRow;
use uuid::Uuid;

/// With fewer characters, the last four would tell too much of a secret.
const CHARS_WITH_LAST4_MIN: usize = 12;

pub(crate) struct Vault {
    source: KeySource,
    keys: ArcSwap<SealingKeys>,
    rows: ArcSwap<Rows>,
    /// Changes of rows that are there already, one after the other.
    pub(crate) changes: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct Rows {
    by_id: HashMap<Uuid, Arc<SecretRow>>,
    by_name: HashMap<String, Uuid>,
    /// The values of a tool's `auth_config`, also those of earlier versions.
    by_tool: HashMap<Uuid, HashSet<Uuid>>,
}

/// What a new envelope is for.
pub(crate) struct Sealable<'a> {
    pub(crate) id: Uuid,
    pub(crate) owner: Uuid,
    pub(crate) name: Option<&'a str>,
    pub(crate) tool: Option<Uuid>,
    pub(crate) created_at: Millis,
    pub(crate) now: Millis,
}

impl Vault {
    pub(crate) fn new(source: KeySource, keys: SealingKeys, rows: &[SecretRow]) -> Self {
        let vault = Vault {
            source,
            keys: ArcSwap::from_pointee(keys),
            rows: ArcSwap::default(),
            changes: tokio::sync::Mutex::default(),
        };
        vault.put(rows);
        vault
    }

    pub(crate) fn keys(&self) -> Arc<SealingKeys> {
        self.keys.load_full()
    }

    /// Reads the key file again: it may have gained a key since the start. The environment cannot have changed.
    pub(crate) async fn reload_keys(&self, stored: Vec<SecretRow>) -> Result<()> {
        if self.source.text.is_some() {
            return Ok(());
        }
        let source = self.source.clone();
        let read = tokio::task::spawn_blocking(move || sealing_keys::load(&source, &stored));
        let read = read
            .await
            .map_err(|e| Error::Internal(format!("a reading of the key file was lost: {e}")))?;
        let new = read.map_err(|fault| {
            Error::conflict(format!(
                "The key file cannot be read again, so the keys stay as they are: {fault}; {}",
                fault.remedy
            ))
        })?;
        // One that was taken out may have sealed a value that is on its way into the database.
        self.keys.store(Arc::new(new.and_older(&self.keys())));
        Ok(())
    }

    /// Everything sealed for a tool, for whichever of its versions.
    pub(crate) fn of_tool(&self, tool: Uuid) -> Vec<Arc<SecretRow>> {
        let rows = self.rows.load();
        let ids = rows.by_tool.get(&tool).into_iter().flatten();
        ids.filter_map(|id| rows.by_id.get(id).cloned()).collect()
    }

    /// The named secrets that somebody owns.
    pub(crate) fn named_of(&self, owner: Uuid) -> Vec<Arc<SecretRow>> {
        let rows = self.rows.load();
        let named = rows.by_name.values().filter_map(|id| rows.by_id.get(id));
        named.filter(|row| row.owner_id == owner).cloned().collect()
    }

    pub(crate) fn row(&self, id: Uuid) -> Option<Arc<SecretRow>> {
        self.rows.load().by_id.get(&id).cloned()
    }

    pub(crate) fn named(&self, name: &str) -> Option<Arc<SecretRow>> {
        let rows = self.rows.load();
        let id = rows.by_name.get(name)?;
        rows.by_id.get(id).cloned()
    }

    pub(crate) fn last4(&self, id: Uuid) -> Option<String> {
        self.row(id)?.last4.clone()
    }

    /// The ids of everything that is sealed.
    pub(crate) fn ids(&self) -> Vec<Uuid> {
        self.rows.load().by_id.keys().copied().collect()
    }

    /// The ids of the keys that something is sealed with.
    pub(crate) fn key_ids(&self) -> Vec<String> {
        let rows = self.rows.load();
        let mut ids: Vec<String> = rows.by_id.values().map(|r| r.key_id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Takes in rows that have been stored.
    pub(crate) fn put(&self, new: &[SecretRow]) {
        if new.is_empty() {
            return;
        }
        self.rows.rcu(|rows| {
            let mut rows = Rows::clone(rows);
            for row in new {
                if let Some(name) = &row.name {
                    rows.by_name.insert(name.clone(), row.id);
                }
                if let Some(tool) = row.tool_id {
                    rows.by_tool.entry(tool).or_default().insert(row.id);
                }
                rows.by_id.insert(row.id, Arc::new(row.clone()));
            }
            rows
        });
    }

    /// Takes in who owns what from now on.
    pub(crate) fn give(&self, given: &[(Uuid, Uuid, Millis)]) {
        let rows = given.iter().filter_map(|(id, owner, at)| {
            let row = self.row(*id)?;
            Some(SecretRow {
                owner_id: *owner,
                updated_at: *at,
                ..(*row).clone()
            })
        });
        self.put(&rows.collect::<Vec<_>>());
    }

    /// Forgets rows that have been removed.
    pub(crate) fn remove(&self, gone: &[Uuid]) {
        if gone.is_empty() {
            return;
        }
        self.rows.rcu(|rows| {
            let mut rows = Rows::clone(rows);
            for id in gone {
                let Some(row) = rows.by_id.remove(id) else {
                    continue;
                };
                if let Some(name) = &row.name {
                    rows.by_name.remove(name);
                }
                if let Some(ids) = row.tool_id.and_then(|tool| rows.by_tool.get_mut(&tool)) {
                    ids.remove(id);
                }
            }
            rows
        });
    }

    /// A row that holds this value, not stored yet.
    pub(crate) fn seal(&self, what: &Sealable<'_>, value: &str) -> Result<SecretRow> {
        let keys = self.keys.load();
        Ok(SecretRow {
            id: what.id,
            owner_id: what.owner,
            name: what.name.map(str::to_owned),
            tool_id: what.tool,
            sealed: keys.seal(what.id, value)?,
            key_id: keys.newest().to_owned(),
            last4: last4(value),
            created_at: what.created_at,
            updated_at: what.now,
        })
    }

    /// A text that tells other servers whether they can open what is sealed here.
    pub(crate) fn proof(&self, text: &str) -> String {
        let sealed = self.keys.load().seal(Uuid::nil(), text);
        sealed.unwrap_or_default()
    }

    pub(crate) fn proves(&self, proof: &str, text: &str) -> bool {
        let opened = self.open_envelope(Uuid::nil(), proof);
        opened.is_ok_and(|opened| opened.expose() == text)
    }

    pub(crate) fn open(&self, row: &SecretRow) -> Result<Secret, SealError> {
        self.open_envelope(row.id, &row.sealed)
    }

    pub(crate) fn open_envelope(&self, id: Uuid, sealed: &str) -> Result<Secret, SealError> {
        self.keys.load().open(id, sealed).map(Secret::new)
    }
}

/// The end of a value, for people to recognise it.
pub(crate) fn last4(value: &str) -> Option<String> {
    let count = value.chars().count();
    let end: String = value.chars().skip(count.saturating_sub(4)).collect();
    // What steers a terminal is no help to anybody, and PostgreSQL does not take all of it.
    let fits = count >= CHARS_WITH_LAST4_MIN && !end.chars().any(char::is_control);
    fits.then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_short_value_is_not_told() {
        assert_eq!(last4("12345678901"), None);
        assert_eq!(last4("123456789012").as_deref(), Some("9012"));
        assert_eq!(
            last4("열쇠열쇠열쇠열쇠열쇠열쇠").as_deref(),
            Some("열쇠열쇠")
        );
        assert_eq!(last4("-----END KEY-----\n"), None);
    }
}
