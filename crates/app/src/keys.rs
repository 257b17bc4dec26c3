//! API keys: made, shown once, kept as a hash, looked up in memory on every request.

use crate::access::{role_of, scopes_from};
use crate::audit::act;
use crate::decided::Known;
use crate::error::{Error, Result};
use crate::page::{self, Part};
use crate::{App, time};
use catalog::caller::{Caller, Role, Scope, Scopes, Transport};
use catalog::tool::Millis;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use store::Write;
use store::keys::KeyRow;
use store::users::ADMIN_USER;
use utoipa::ToSchema;
use uuid::Uuid;

/// Lets secret scanners recognise our keys.
const PREFIX: &str = "tck_";
const SECRET_CHARS: usize = 43;
const CHECKSUM_CHARS: usize = 6;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

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
    /// To the minute.
    pub last_used_at: Option<String>,
}

/// A new key, with its text for the only time.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewKey {
    pub id: Uuid,
    pub name: String,
    pub user: String,
    pub scopes: Vec<&'static str>,
    pub expires_at: Option<String>,
    /// Shown now and never again.
    pub key: String,
}

/// `tck_<id>_<secret><checksum>`; a mistyped key is refused without a look-up.
pub(crate) fn split(key: &str) -> Option<(Uuid, &str)> {
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

pub(crate) fn random_secret() -> Result<String> {
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

/// What a key shall be.
#[derive(Debug, Default)]
pub struct KeyRequest<'a> {
    pub name: &'a str,
    /// Whose key it is; none for the caller's own.
    pub user: Option<&'a str>,
    pub scopes: &'a [String],
    pub expires_at: Option<&'a str>,
}

/// A request that is sound in itself.
struct Sound<'a> {
    name: &'a str,
    set: Scopes,
    expires_at: Option<Millis>,
}

impl App {
    /// Makes a key. People make their own when they are logged in, admins everybody's; a key cannot make keys, so that
    /// whoever finds one does not get more of them.
    pub async fn create_key(&self, caller: &Caller, asked: &KeyRequest<'_>) -> Result<NewKey> {
        may_manage(caller)?;
        let name = asked.name.trim();
        if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
            return Err(Error::invalid(
                "name: expected 1 to 100 printable characters, such as 'ci' or 'claude-desktop'",
            ));
        }
        let set = requested_scopes(asked.scopes)?;
        let now = self.clock.now();
        let expires_at = match asked.expires_at {
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
        let new = Sound {
            name,
            set,
            expires_at,
        };
        self.decided(&self.access_changes, Some(caller), |known| {
            self.add_key(caller, asked, &new, known)
        })
        .await
    }

    async fn add_key(
        &self,
        caller: &Caller,
        asked: &KeyRequest<'_>,
        new: &Sound<'_>,
        known: Known,
    ) -> Result<NewKey> {
        let (set, expires_at, now) = (new.set, new.expires_at, self.clock.now());
        let access = self.access.load_full();
        let user = match asked.user {
            Some(user) if user != &*caller.user_name => {
                only_admins(caller, "make a key for somebody else")?;
                let found = access.user_named(user);
                let found = found.filter(|user| user.deleted_at.is_none());
                found.ok_or_else(|| Error::invalid(format!("user: there is no user '{user}'")))?
            }
            _ => access
                .user(caller.user)
                .ok_or_else(|| Error::Internal("the caller is not a user".to_owned()))?,
        };
        let role = role_of(user);
        if !is_within(set, role) {
            return Err(Error::invalid(format!(
                "scopes: the role '{}' of '{}' allows {}, got {}",
                role.as_str(),
                user.name,
                role.scopes().names().join(", "),
                set.names().join(", ")
            )));
        }
        let (id, secret) = (Uuid::new_v4(), random_secret()?);
        let row = KeyRow {
            id,
            name: new.name.to_owned(),
            user_id: user.id,
            secret_hash: Sha256::digest(secret.as_bytes()).to_vec(),
            scopes: set.names().join(","),
            created_at: now,
            expires_at,
            revoked_at: None,
            last_used_at: None,
        };
        let new = NewKey {
            id,
            name: row.name.clone(),
            user: user.name.clone(),
            scopes: set.names(),
            expires_at: expires_at.map(time::rfc3339),
            key: format!("{PREFIX}{}_{secret}{}", id.simple(), checksum(&id, &secret)),
        };
        let after = json!({"name": new.name, "user": new.user, "scopes": new.scopes, "expires_at": new.expires_at});
        let done = act(now, caller, "key.create", target(id), None, Some(after));
        let writes = vec![Write::Key(row), done];
        self.commit_access(known, writes).await?;
        Ok(new)
    }

    /// Every key, or for those who are no admin their own.
    pub async fn list_keys(
        &self,
        caller: &Caller,
        part: &Part,
    ) -> Result<(Vec<KeyView>, Option<String>)> {
        let all = caller.scopes.allow(Scope::Admin);
        let mut rows = self.store.keys().await?;
        rows.retain(|row| all || row.user_id == caller.user);
        // As many digits each time, so that older ones come first.
        let (rows, next) = page::cut(rows, part, |row| {
            format!("{:015} {}", row.created_at, row.id)
        })?;
        let access = self.access.load();
        let views = rows
            .into_iter()
            .map(|row| KeyView {
                id: row.id,
                user: self.user_name(row.user_id),
                scopes: scopes_from(&row.scopes).names(),
                created_at: time::rfc3339(row.created_at),
                expires_at: row.expires_at.map(time::rfc3339),
                revoked_at: row.revoked_at.map(time::rfc3339),
                last_used_at: access.last_use(&row).map(time::rfc3339),
                name: row.name,
            })
            .collect();
        Ok((views, next))
    }

    /// From the next request on the key is not valid. A key may revoke itself.
    pub async fn revoke_key(&self, caller: &Caller, id: Uuid) -> Result<()> {
        self.decided(&self.access_changes, Some(caller), |known| {
            self.take_key(caller, id, known)
        })
        .await
    }

    async fn take_key(&self, caller: &Caller, id: Uuid, known: Known) -> Result<()> {
        let rows = self.store.keys().await?;
        let mine = |row: &KeyRow| caller.scopes.allow(Scope::Admin) || row.user_id == caller.user;
        let row = rows.into_iter().find(|row| row.id == id && mine(row));
        let mut row = row.ok_or_else(|| Error::NotFound {
            what: "Key",
            name: id.to_string(),
        })?;
        if caller.key_id != Some(id) {
            may_manage(caller)?;
        }
        if row.revoked_at.is_some() {
            // Whoever asks again may have been told of a failure before it counted here.
            return self.load_access().await;
        }
        let now = self.clock.now();
        row.revoked_at = Some(now);
        let before = json!({"name": row.name, "user": self.user_name(row.user_id)});
        let done = act(now, caller, "key.revoke", target(id), Some(before), None);
        let writes = vec![Write::Key(row), done];
        self.commit_access(known, writes).await
    }

    /// The first key, when there is none at all.
    pub async fn bootstrap_key(&self) -> Result<Option<NewKey>> {
        if self.admin_key.is_some() || !self.store.keys().await?.is_empty() {
            return Ok(None);
        }
        let system = Caller::of_user(ADMIN_USER, "admin", Role::Admin, Transport::Cli);
        let asked = KeyRequest {
            name: "bootstrap",
            scopes: &["admin".to_owned()],
            ..KeyRequest::default()
        };
        self.create_key(&system, &asked).await.map(Some)
    }
}

fn target(id: Uuid) -> String {
    format!("key:{id}")
}

/// Whether a role allows all of these.
pub(crate) fn is_within(scopes: Scopes, role: Role) -> bool {
    scopes.within(role.scopes()) == scopes.within(Scopes::all())
}

fn requested_scopes(scopes: &[String]) -> Result<Scopes> {
    let known = Scope::ALL.map(Scope::as_str).join(", ");
    let mut set = Scopes::default();
    for scope in scopes {
        let scope = Scope::from_name(scope).ok_or_else(|| {
            Error::invalid(format!("scopes: expected any of {known}, got '{scope}'"))
        })?;
        set = set.with(scope);
    }
    if set == Scopes::default() {
        return Err(Error::invalid(format!(
            "scopes: expected at least one of {known}"
        )));
    }
    Ok(set)
}

/// Keys are handled by people who are logged in, and by admins.
fn may_manage(caller: &Caller) -> Result<()> {
    if caller.key.is_some() && !caller.scopes.allow(Scope::Admin) {
        return Err(Error::Forbidden(
            "A key cannot handle keys unless it has the scope 'admin'; log in to handle your own"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Refuses what is an admin's business.
pub(crate) fn only_admins(caller: &Caller, what: &str) -> Result<()> {
    if caller.scopes.allow(Scope::Admin) {
        return Ok(());
    }
    Err(Error::Forbidden(format!("Only an admin may {what}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;
    use store::users::UserRow;

    fn access(role: &str, expires_at: Option<Millis>, left: Option<Millis>) -> (Access, String) {
        let (id, secret) = (Uuid::new_v4(), random_secret().unwrap());
        let user = UserRow {
            id: Uuid::from_u128(7),
            name: "kim".into(),
            role: role.into(),
            password_hash: None,
            oidc_subject: None,
            created_at: 0,
            updated_at: 0,
            deleted_at: left,
        };
        let row = KeyRow {
            id,
            name: "k".into(),
            user_id: user.id,
            secret_hash: Sha256::digest(secret.as_bytes()).to_vec(),
            scopes: "read,call,author".into(),
            created_at: 0,
            expires_at,
            revoked_at: None,
            last_used_at: None,
        };
        let text = format!("{PREFIX}{}_{secret}{}", id.simple(), checksum(&id, &secret));
        let access = Access::new(vec![user], vec![row], &[], Some("operator"));
        (access, text)
    }

    #[test]
    fn a_key_opens_and_anything_else_does_not() {
        let (access, key) = access("operator", Some(100), None);
        let caller = access.by_key(&key, 99).unwrap();
        assert!(caller.scopes.allow(Scope::Call) && !caller.scopes.allow(Scope::Author));
        assert_eq!((&*caller.user_name, caller.role), ("kim", Role::Operator));
        let operator = access.by_key("operator", 0).unwrap();
        assert!(operator.scopes.allow(Scope::Admin));
        assert!(access.by_key(&key, 100).is_err(), "expired");
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
            assert!(access.by_key(wrong, 0).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_key_of_a_user_who_left_opens_nothing() {
        let (access, key) = access("admin", None, Some(5));
        assert!(access.by_key(&key, 9).is_err());
    }
}
