//! API keys: made, shown once, kept as a hash, looked up in memory on every request.

use crate::error::{Error, Result};
use crate::{App, time};
use catalog::caller::{Caller, Scope, Scopes, Transport};
use catalog::tool::Millis;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use store::keys::KeyRow;
use store::users::ADMIN_USER;
use subtle::ConstantTimeEq;
use utoipa::ToSchema;
use uuid::Uuid;

/// Lets secret scanners recognise our keys.
const PREFIX: &str = "tck_";
const SECRET_CHARS: usize = 43;
const CHECKSUM_CHARS: usize = 6;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Every key that may still be used, by id, and the operator's own from the environment.
#[derive(Debug, Default)]
pub struct KeyRing {
    keys: HashMap<Uuid, KeyEntry>,
    admin: Option<([u8; 32], Arc<Caller>)>,
}

#[derive(Debug)]
struct KeyEntry {
    row: KeyRow,
    caller: Arc<Caller>,
}

/// A key as it is listed: never the secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyView {
    pub id: Uuid,
    pub name: String,
    pub user: String,
    pub scopes: Vec<&'static str>,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub revoked_at: Option<String>,
}

/// A new key, with its text for the only time.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewKey {
    pub id: Uuid,
    pub name: String,
    pub scopes: Vec<&'static str>,
    pub expires_at: Option<String>,
    /// Shown now and never again.
    pub key: String,
}

impl KeyRing {
    pub fn new(rows: Vec<KeyRow>, admin_key: Option<&str>) -> Self {
        let live = rows.into_iter().filter(|row| row.revoked_at.is_none());
        KeyRing {
            keys: live.map(|row| (row.id, KeyEntry::new(row))).collect(),
            admin: admin_key.map(|key| {
                let caller = Arc::new(admin_caller("TOOLCRIB_ADMIN_KEY"));
                (Sha256::digest(key.as_bytes()).into(), caller)
            }),
        }
    }

    /// Who shows this key. The text of the refusal tells nothing about which part was wrong.
    pub fn authenticate(&self, key: &str, now: Millis) -> Result<Arc<Caller>> {
        let refused = || Error::Unauthenticated("The API key is not valid".to_owned());
        if let Some((hash, caller)) = &self.admin
            && bool::from(Sha256::digest(key.as_bytes()).as_slice().ct_eq(hash))
        {
            return Ok(Arc::clone(caller));
        }
        let (id, secret) = split(key).ok_or_else(refused)?;
        let entry = self.keys.get(&id).ok_or_else(refused)?;
        let hash = Sha256::digest(secret.as_bytes());
        if !bool::from(hash.as_slice().ct_eq(&entry.row.secret_hash)) {
            return Err(refused());
        }
        if entry.row.expires_at.is_some_and(|end| end <= now) {
            return Err(Error::Unauthenticated("The API key has expired".to_owned()));
        }
        Ok(Arc::clone(&entry.caller))
    }
}

impl KeyEntry {
    fn new(row: KeyRow) -> Self {
        let caller = Caller {
            key: Some(row.name.as_str().into()),
            scopes: scopes_from(&row.scopes),
            ..admin_caller(&row.name)
        };
        KeyEntry {
            row,
            caller: Arc::new(caller),
        }
    }
}

/// The admin user on REST, with every right.
pub fn admin_caller(key: &str) -> Caller {
    Caller {
        user: ADMIN_USER,
        user_name: "admin".into(),
        key: Some(key.into()),
        agent: None,
        run: None,
        toolset: None,
        transport: Transport::Rest,
        scopes: Scopes::all(),
    }
}

fn scopes_from(text: &str) -> Scopes {
    text.split(',').filter_map(Scope::from_name).collect()
}

/// `tck_<id>_<secret><checksum>`; a mistyped key is refused without a look-up.
fn split(key: &str) -> Option<(Uuid, &str)> {
    let (id, rest) = key.strip_prefix(PREFIX)?.split_once('_')?;
    if !rest.is_ascii() || rest.len() != SECRET_CHARS + CHECKSUM_CHARS {
        return None;
    }
    let (secret, sum) = rest.split_at(SECRET_CHARS);
    let id = (id.len() == 32).then(|| Uuid::try_parse(id).ok())??;
    (checksum(&id, secret) == sum).then_some((id, secret))
}

fn checksum(id: &Uuid, secret: &str) -> String {
    let mut sum = crc32fast::hash(format!("{}{secret}", id.simple()).as_bytes());
    let mut text = String::new();
    for _ in 0..CHECKSUM_CHARS {
        text.push(char::from(BASE62[(sum % 62) as usize]));
        sum /= 62;
    }
    text
}

fn random_secret() -> Result<String> {
    let mut secret = String::with_capacity(SECRET_CHARS);
    let mut bytes = [0_u8; 64];
    while secret.len() < SECRET_CHARS {
        getrandom::fill(&mut bytes)
            .map_err(|e| Error::Internal(format!("no random bytes: {e}")))?;
        // 248 is the largest multiple of 62 in a byte: above it the letters would not be equally likely.
        let fair = bytes.iter().filter(|b| **b < 248);
        secret.extend(fair.map(|b| char::from(BASE62[(b % 62) as usize])));
    }
    secret.truncate(SECRET_CHARS);
    Ok(secret)
}

impl App {
    pub async fn create_key(
        &self,
        name: &str,
        scopes: &[String],
        expires_at: Option<&str>,
    ) -> Result<NewKey> {
        let named = name.trim();
        if named.is_empty() || named.chars().count() > 100 || named.chars().any(char::is_control) {
            return Err(Error::invalid(
                "name: expected 1 to 100 printable characters, such as 'ci' or 'claude-desktop'",
            ));
        }
        let mut set = Scopes::default();
        for scope in scopes {
            set = set.with(Scope::from_name(scope).ok_or_else(|| {
                Error::invalid(format!(
                    "scopes: expected any of read, call, author, admin, got '{scope}'"
                ))
            })?);
        }
        if set == Scopes::default() {
            return Err(Error::invalid(
                "scopes: expected at least one of read, call, author, admin",
            ));
        }
        let now = self.clock.now();
        let expires_at = match expires_at {
            None => None,
            Some(text) => {
                let end = time::parse_ahead("expires_at", text, now)?;
                if end <= now {
                    return Err(Error::invalid(format!(
                        "expires_at: expected a time to come, got '{text}'"
                    )));
                }
                Some(end)
            }
        };
        let (id, secret) = (Uuid::new_v4(), random_secret()?);
        let row = KeyRow {
            id,
            name: named.to_owned(),
            user_id: ADMIN_USER,
            secret_hash: Sha256::digest(secret.as_bytes()).to_vec(),
            scopes: set.names().join(","),
            created_at: now,
            expires_at,
            revoked_at: None,
        };
        let _one_at_a_time = self.key_changes.lock().await;
        self.store.insert_key(&row).await?;
        self.load_keys().await?;
        let sum = checksum(&id, &secret);
        Ok(NewKey {
            id,
            name: row.name,
            scopes: set.names(),
            expires_at: expires_at.map(time::rfc3339),
            key: format!("{PREFIX}{}_{secret}{sum}", id.simple()),
        })
    }

    pub async fn list_keys(&self) -> Result<Vec<KeyView>> {
        let rows = self.store.keys().await?;
        Ok(rows
            .into_iter()
            .map(|row| KeyView {
                id: row.id,
                user: self.user_name(row.user_id),
                scopes: scopes_from(&row.scopes).names(),
                created_at: time::rfc3339(row.created_at),
                expires_at: row.expires_at.map(time::rfc3339),
                revoked_at: row.revoked_at.map(time::rfc3339),
                name: row.name,
            })
            .collect())
    }

    /// From the next request on the key is not valid.
    pub async fn revoke_key(&self, id: Uuid) -> Result<()> {
        let _one_at_a_time = self.key_changes.lock().await;
        if !self.store.revoke_key(id, self.clock.now()).await? {
            return Err(Error::NotFound {
                what: "Key",
                name: id.to_string(),
            });
        }
        self.load_keys().await
    }

    /// The first key, when there is none at all: (made, text).
    pub async fn bootstrap_key(&self) -> Result<Option<NewKey>> {
        if self.admin_key.is_some() || !self.store.keys().await?.is_empty() {
            return Ok(None);
        }
        self.create_key("bootstrap", &["admin".to_owned()], None)
            .await
            .map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(expires_at: Option<Millis>) -> (KeyRing, String) {
        let (id, secret) = (Uuid::new_v4(), random_secret().unwrap());
        let row = KeyRow {
            id,
            name: "k".into(),
            user_id: ADMIN_USER,
            secret_hash: Sha256::digest(secret.as_bytes()).to_vec(),
            scopes: "read,call".into(),
            created_at: 0,
            expires_at,
            revoked_at: None,
        };
        let text = format!("{PREFIX}{}_{secret}{}", id.simple(), checksum(&id, &secret));
        (KeyRing::new(vec![row], Some("operator")), text)
    }

    #[test]
    fn a_key_opens_and_anything_else_does_not() {
        let (ring, key) = ring(Some(100));
        let caller = ring.authenticate(&key, 99).unwrap();
        assert!(caller.scopes.allow(Scope::Call) && !caller.scopes.allow(Scope::Author));
        assert!(
            ring.authenticate("operator", 0)
                .unwrap()
                .scopes
                .allow(Scope::Admin)
        );
        assert!(ring.authenticate(&key, 100).is_err(), "expired");
        let mut changed = key.clone();
        let last = if changed.pop() == Some('0') { '1' } else { '0' };
        changed.push(last);
        for wrong in [
            "",
            "tck_",
            "operato",
            &changed,
            &key[..40],
            "tck_é_é",
            &key.to_uppercase(),
        ] {
            assert!(ring.authenticate(wrong, 0).is_err(), "{wrong}");
        }
    }
}
