//! Named secrets: set, listed without their values, removed; and the care of all sealed ones: rotation and checking.

use crate::App;
use crate::audit::act;
use crate::auth::{VALUE_BYTES_MAX, not_found};
use crate::decided::Known;
use crate::error::{Error, Result};
use crate::page::{self, Part};
use crate::shown::secrets_of;
use crate::time;
use crate::vault::Sealable;
use catalog::caller::{Caller, Scope};
use catalog::tool::is_valid_name;
use serde::Serialize;
use serde_json::json;
use store::Write;
use store::feed::Subject;
use store::seal::SealingKeys;
use store::secrets::SecretRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// Rows that a rotation reads at a time.
const ROTATE_PAGE: i64 = 100;

/// The named secrets of one user.
pub const NAMED_MAX: usize = 1_000;

/// A secret as it is listed: never its value.
#[derive(Debug, Serialize, ToSchema)]
pub struct SecretView {
    pub name: String,
    pub owner: String,
    pub value: SecretMask,
    /// The sealing key that it needs.
    pub key_id: String,
    pub created_at: String,
    pub updated_at: String,
    /// The tools you may see that refer to it.
    pub used_by: Vec<String>,
    /// What it is for by now, in words: the addresses that HTTP tools show it to, other tools and agents that have it, and somebody
    /// else whose it is. What you may not see is not named.
    pub used_for: Vec<String>,
}

/// What is shown in place of a value.
#[derive(Debug, Serialize, ToSchema)]
pub struct SecretMask {
    pub set: bool,
    /// The last four characters; none where the value is short.
    pub last4: Option<String>,
}

/// What a rotation did.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rotation {
    pub rotated: usize,
    /// Secrets that do not open and so stay as they are; `verify` names them.
    pub left: usize,
    /// The key that seals all others now.
    pub key_id: String,
}

/// What `verify` found.
#[derive(Debug, Serialize, ToSchema)]
pub struct SecretCheck {
    pub valid: bool,
    pub secrets: usize,
    pub problems: Vec<SecretProblem>,
}

/// A secret that does not open.
#[derive(Debug, Serialize, ToSchema)]
pub struct SecretProblem {
    pub id: Uuid,
    pub name: Option<String>,
    /// The tool, or the MCP server, whose definition it belongs to.
    pub tool: Option<String>,
    pub problem: String,
}

impl App {
    /// Every named secret by name, or for those who are no admin their own.
    pub async fn list_secrets(
        &self,
        caller: &Caller,
        part: &Part,
    ) -> Result<(Vec<SecretView>, Option<String>)> {
        let rows = self.named_secrets(caller).await?;
        let (rows, next) = page::cut(rows, part, |(name, _)| name.clone())?;
        Ok((self.secret_views(caller, rows).collect(), next))
    }

    /// Those that the caller may handle, by name.
    pub(crate) async fn named_secrets(&self, caller: &Caller) -> Result<Vec<(String, SecretRow)>> {
        let rows = self.store.secrets().await?.into_iter();
        let named = |row: SecretRow| Some((row.name.clone()?, row));
        let mine = rows.filter(|row| is_mine(caller, row));
        Ok(mine.filter_map(named).collect())
    }

    /// Sets a secret; true where it is new. A value that was there before is gone. Admins may say whose a new one is.
    pub async fn set_secret(
        &self,
        caller: &Caller,
        name: &str,
        value: &str,
        owner: Option<&str>,
    ) -> Result<(SecretView, bool)> {
        check(name, value)?;
        let new_owner = self.owner_of_new(caller, owner)?;
        self.decided(&self.vault.changes, Some(caller), |known| {
            let owner = owner.map(|_| new_owner);
            self.put_secret(caller, (name, value), owner, known)
        })
        .await
    }

    /// `owner` is whom an admin named.
    async fn put_secret(
        &self,
        caller: &Caller,
        (name, value): (&str, &str),
        owner: Option<Uuid>,
        known: Known,
    ) -> Result<(SecretView, bool)> {
        let new_owner = owner.unwrap_or(caller.user);
        let old = self.store.secret_named(name).await?;
        if old.as_ref().is_some_and(|old| !is_mine(caller, old)) {
            return Err(Error::conflict(format!(
                "The name '{name}' is taken; choose another"
            )));
        }
        if old
            .as_ref()
            .is_some_and(|old| owner.is_some() && old.owner_id != new_owner)
        {
            return Err(Error::conflict(format!(
                "The secret '{name}' is somebody else's; set it without an owner, or reassign what they have"
            )));
        }
        if old.is_none() && self.vault.named_of(new_owner).len() >= NAMED_MAX {
            return Err(Error::conflict(format!(
                "You have {NAMED_MAX} secrets, which is as many as one may have; remove one first"
            )));
        }
        let now = self.clock.now();
        let row = self.vault.seal(
            &Sealable {
                id: old.as_ref().map_or_else(Uuid::new_v4, |old| old.id),
                owner: old.as_ref().map_or(new_owner, |old| old.owner_id),
                name: Some(name),
                tool: None,
                created_at: old.as_ref().map_or(now, |old| old.created_at),
                now,
            },
            value,
        )?;
        let after = json!({"owner": self.user_name(row.owner_id), "key_id": row.key_id});
        let before = old.as_ref().map(|old| json!({"key_id": old.key_id}));
        let done = act(now, caller, "secret.set", target(name), before, Some(after));
        let writes = [
            known.unless_this(Subject::Secrets, row.id),
            Write::Secret(row.clone()),
            done,
        ];
        self.store.write(&writes).await?;
        self.vault.put(std::slice::from_ref(&row));
        let mut views = self.secret_views(caller, vec![(name.to_owned(), row)]);
        let view = views.next();
        let view = view.ok_or_else(|| Error::Internal("a secret was lost".to_owned()))?;
        Ok((view, old.is_none()))
    }

    /// Removes a secret. One that a tool or an agent needs is only removed with `force`.
    pub async fn remove_secret(&self, caller: &Caller, name: &str, force: bool) -> Result<()> {
        self.decided(&self.vault.changes, Some(caller), |known| {
            self.take_secret(caller, name, force, known)
        })
        .await
    }

    async fn take_secret(
        &self,
        caller: &Caller,
        name: &str,
        force: bool,
        known: Known,
    ) -> Result<()> {
        let row = match is_valid_name(name) {
            true => self.store.secret_named(name).await?,
            false => None,
        };
        let row = row.filter(|row| is_mine(caller, row));
        let row = row.ok_or_else(|| not_found(name))?;
        let mut users = self.users_of(caller, |tool| secrets_of(tool).collect());
        let mut users = users.remove(name).unwrap_or_default();
        for (_, agent) in self
            .agents_with_secrets(caller)
            .into_iter()
            .filter(|(it, _)| it == name)
        {
            users.add_agent(agent);
        }
        if !force && !users.is_empty() {
            return Err(Error::conflict(format!(
                "The secret '{name}' is used by {users}; change what uses it first, or force its removal (?force=true, or --force on the command line)"
            )));
        }
        let before = json!({"owner": self.user_name(row.owner_id), "key_id": row.key_id});
        let now = self.clock.now();
        let done = act(
            now,
            caller,
            "secret.remove",
            target(name),
            Some(before),
            None,
        );
        let writes = [
            known.unless_this(Subject::Secrets, row.id),
            Write::NoSecret(row.id),
            done,
        ];
        self.store.write(&writes).await?;
        self.vault.remove(&[row.id]);
        Ok(())
    }

    /// Puts every secret under the newest sealing key, also one that the key file has gained since the start. Row by
    /// row: what is done is done, and the next one goes on from there. Values are not sealed anew, only their data keys.
    pub async fn rotate_secrets(&self, caller: &Caller) -> Result<Rotation> {
        let _one_at_a_time = self.vault.changes.lock().await;
        self.vault.reload_keys(self.store.secrets().await?).await?;
        let keys = self.vault.keys();
        let newest = keys.newest();
        let (mut rotated, mut left, mut after) = (0, 0, Uuid::nil());
        loop {
            let page = self.store.secrets_not_under(newest, after, ROTATE_PAGE);
            let page = page.await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.id;
            let mut done = Vec::new();
            for row in page {
                let first = rotated + done.len() == 0;
                match self.rewrap(caller, &keys, row, first).await {
                    Ok(Some(row)) => done.push(row),
                    Ok(None) => left += 1,
                    Err(error) => {
                        // What is stored counts, also where the rest has to wait.
                        self.vault.put(&done);
                        return Err(error);
                    }
                }
            }
            rotated += done.len();
            self.vault.put(&done);
        }
        Ok(Rotation {
            rotated,
            left,
            key_id: newest.to_owned(),
        })
    }

    /// One row of a rotation; none where it does not open or somebody else has just changed it. The first one of a
    /// rotation tells the audit log of it.
    async fn rewrap(
        &self,
        caller: &Caller,
        keys: &SealingKeys,
        mut row: SecretRow,
        first: bool,
    ) -> Result<Option<SecretRow>> {
        let newest = keys.newest();
        let sealed = match keys.rewrap(row.id, &row.sealed) {
            Ok(sealed) => sealed,
            Err(error) => {
                tracing::error!(id = %row.id, name = row.name, %error, "a secret does not open and is not rotated");
                return Ok(None);
            }
        };
        let before = std::mem::replace(&mut row.sealed, sealed);
        let from = std::mem::replace(&mut row.key_id, newest.to_owned());
        let mut writes = vec![Write::Rewrapped {
            row: row.clone(),
            before,
        }];
        if first {
            let [from, to] = [from.as_str(), newest].map(|id| Some(json!({"key_id": id})));
            let now = self.clock.now();
            writes.push(act(now, caller, "secret.rotate", "secrets", from, to));
        }
        match self.store.write(&writes).await {
            Ok(()) => Ok(Some(row)),
            Err(store::Error::Taken(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens every stored secret and names those that do not open.
    pub async fn verify_secrets(&self) -> Result<SecretCheck> {
        let rows = self.store.secrets().await?;
        let catalogue = self.executor.catalogue.load();
        let tool = |id: Uuid| match (catalogue.by_id(id), self.stored_server(&id.to_string())) {
            (Some(entry), _) => entry.name.to_string(),
            (None, Some(server)) => format!("the MCP server {}", server.row.name),
            (None, None) => match self.kept_sources.stored(&id.to_string()) {
                Some(source) => format!("the source {}", source.row.name),
                None => id.to_string(),
            },
        };
        let secrets = rows.len();
        let problems = rows.into_iter().filter_map(|row| {
            let problem = self.vault.open(&row).err()?.to_string();
            Some(SecretProblem {
                id: row.id,
                tool: row.tool_id.map(tool),
                name: row.name,
                problem,
            })
        });
        let problems: Vec<SecretProblem> = problems.collect();
        Ok(SecretCheck {
            valid: problems.is_empty(),
            secrets,
            problems,
        })
    }

    fn secret_views(
        &self,
        caller: &Caller,
        rows: Vec<(String, SecretRow)>,
    ) -> impl Iterator<Item = SecretView> {
        let mut users = self.users_of(caller, |tool| secrets_of(tool).collect());
        let mut uses = self.uses_of_secrets(caller, &rows);
        rows.into_iter().map(move |(name, row)| SecretView {
            used_by: users.remove(&name).unwrap_or_default().seen,
            used_for: uses.remove(&name).into_iter().flatten().collect(),
            name,
            owner: self.user_name(row.owner_id),
            value: SecretMask {
                set: true,
                last4: row.last4,
            },
            key_id: row.key_id,
            created_at: time::rfc3339(row.created_at),
            updated_at: time::rfc3339(row.updated_at),
        })
    }
}

fn is_mine(caller: &Caller, row: &SecretRow) -> bool {
    row.owner_id == caller.user || caller.scopes.allow(Scope::Admin)
}

fn target(name: &str) -> String {
    format!("secret:{name}")
}

/// No message repeats the value.
fn check(name: &str, value: &str) -> Result<()> {
    if !is_valid_name(name) {
        return Err(Error::invalid(
            "name: expected 1 to 64 letters, digits, _ . or -, such as 'weather-api'",
        ));
    }
    if value.is_empty() || value.len() > VALUE_BYTES_MAX || value.contains('\0') {
        return Err(Error::invalid(format!(
            "value: expected 1 to {VALUE_BYTES_MAX} bytes of text without U+0000"
        )));
    }
    Ok(())
}
