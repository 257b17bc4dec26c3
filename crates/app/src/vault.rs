//! Every sealed secret in memory, still sealed, so that a call opens one without a look at the database.

use crate::error::Result;
use arc_swap::ArcSwap;
use catalog::secret::Secret;
use catalog::tool::Millis;
use std::collections::HashMap;
use std::sync::Arc;
use store::seal::{SealError, SealingKeys};
use store::secrets::SecretRow;
use uuid::Uuid;

/// With fewer characters, the last four would tell too much of a secret.
const CHARS_WITH_LAST4_MIN: usize = 12;

pub(crate) struct Vault {
    pub(crate) keys: SealingKeys,
    rows: ArcSwap<Rows>,
    /// Changes of rows that are there already, one after the other.
    pub(crate) changes: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct Rows {
    by_id: HashMap<Uuid, Arc<SecretRow>>,
    by_name: HashMap<String, Uuid>,
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
    pub(crate) fn new(keys: SealingKeys, rows: &[SecretRow]) -> Self {
        let vault = Vault {
            keys,
            rows: ArcSwap::default(),
            changes: tokio::sync::Mutex::default(),
        };
        vault.put(rows);
        vault
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
                rows.by_id.insert(row.id, Arc::new(row.clone()));
            }
            rows
        });
    }

    /// Forgets a row that has been removed.
    pub(crate) fn remove(&self, id: Uuid) {
        self.rows.rcu(|rows| {
            let mut rows = Rows::clone(rows);
            let name = rows.by_id.remove(&id).and_then(|row| row.name.clone());
            if let Some(name) = name {
                rows.by_name.remove(&name);
            }
            rows
        });
    }

    /// A row that holds this value, not stored yet.
    pub(crate) fn seal(&self, what: &Sealable<'_>, value: &str) -> Result<SecretRow> {
        Ok(SecretRow {
            id: what.id,
            owner_id: what.owner,
            name: what.name.map(str::to_owned),
            tool_id: what.tool,
            sealed: self.keys.seal(what.id, value)?,
            key_id: self.keys.newest().to_owned(),
            last4: last4(value),
            created_at: what.created_at,
            updated_at: what.now,
        })
    }

    pub(crate) fn open(&self, row: &SecretRow) -> Result<Secret, SealError> {
        self.keys.open(row.id, &row.sealed).map(Secret::new)
    }
}

/// The end of a value, for people to recognise it.
fn last4(value: &str) -> Option<String> {
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
