//! How a tool authenticates: what its `auth_config` may refer to, and the sealing of the values that were written
//! into it. What is stored of a definition holds `{"$sealed": id}` in place of each.

use crate::App;
use crate::access::role_of;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::trial::inline;
use crate::vault::{Sealable, Vault};
use catalog::auth::{Reference, is_mask, is_secret_under, sealed, sealed_in};
use catalog::caller::{Caller, Role, Scope};
use catalog::secret::Secret;
use catalog::tool::{Definition, KindName, Millis, SYSTEM_USER, Shelf, Tool};
use serde_json::{Value, json};
use store::secrets::SecretRow;
use uuid::Uuid;

/// Values of one tool.
const SEALED_MAX: usize = 64;

/// The longest value that is sealed.
pub(crate) const VALUE_BYTES_MAX: usize = 64 * 1024;

/// What a change says about `auth_config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthChange {
    /// Nothing: it stays.
    Keep,
    /// It is as the definition says.
    Written,
}

/// Whose secrets are sealed: a tool's, or a server's.
pub(crate) struct SealedFor {
    pub(crate) tool: Uuid,
    pub(crate) owner: Uuid,
    pub(crate) now: Millis,
}

/// An `auth_config` without values, and the rows that hold them.
pub(crate) struct SealedAuth {
    pub(crate) auth: Option<Value>,
    pub(crate) rows: Vec<SecretRow>,
    pub(crate) paths: Vec<String>,
}

impl SealedAuth {
    /// What is stored along with the tool, the audit log's line among it.
    pub(crate) fn writes(self, tool: &Tool, caller: &Caller, now: Millis) -> Vec<store::Write> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let after = json!({"paths": self.paths});
        let target = format!("tool:{}", tool.definition.name);
        let done = act(now, caller, "secret.set", target, None, Some(after));
        let rows = self.rows.into_iter().map(store::Write::Secret);
        rows.chain([done]).collect()
    }
}

impl Vault {
    /// The tool without the secrets that were written into it, and the rows that hold them. The file shelf has none.
    pub(crate) fn seal_tool(
        &self,
        mut tool: Tool,
        old: Option<&Tool>,
        now: Millis,
    ) -> Result<(Tool, SealedAuth)> {
        let whose = SealedFor {
            tool: tool.id,
            owner: tool.owner,
            now,
        };
        let auth = tool.definition.auth_config.as_ref();
        let auth = auth.filter(|_| tool.shelf == Shelf::Database);
        let old = old.and_then(|old| old.definition.auth_config.as_ref());
        let done = self.seal_auth(auth, old, &whose)?;
        if done.auth.is_some() {
            tool.definition.auth_config.clone_from(&done.auth);
            tool.hash = tool.definition.hash();
        }
        Ok((tool, done))
    }

    /// Seals every secret string of `auth`. A mask keeps what `old` holds at its place, and so does the same value.
    pub(crate) fn seal_auth(
        &self,
        auth: Option<&Value>,
        old: Option<&Value>,
        whose: &SealedFor,
    ) -> Result<SealedAuth> {
        let is_secret: IsSecret = |key, _| is_secret_under(key);
        self.seal_values(auth, old, whose, ("auth_config", is_secret))
    }

    /// The same for whatever holds secrets: `place` is what it is called, and which of its strings are secret.
    pub(crate) fn seal_values(
        &self,
        auth: Option<&Value>,
        old: Option<&Value>,
        whose: &SealedFor,
        (place, is_secret): (&str, IsSecret),
    ) -> Result<SealedAuth> {
        let mut sealing = Sealing {
            vault: self,
            whose,
            old,
            is_secret,
            rows: Vec::new(),
            paths: Vec::new(),
            problems: Vec::new(),
        };
        let mut auth = auth.cloned();
        if let Some(auth) = &mut auth {
            sealing.walk(auth, old, place, place)?;
        }
        if !sealing.problems.is_empty() {
            return Err(Error::invalid(sealing.problems.join(". ")));
        }
        Ok(SealedAuth {
            auth,
            rows: sealing.rows,
            paths: sealing.paths,
        })
    }
}

/// Whether a string is secret, by the member it stands in and by itself.
pub(crate) type IsSecret = fn(&str, &str) -> bool;

struct Sealing<'a> {
    vault: &'a Vault,
    whose: &'a SealedFor,
    old: Option<&'a Value>,
    is_secret: IsSecret,
    rows: Vec<SecretRow>,
    paths: Vec<String>,
    problems: Vec<String>,
}

impl Sealing<'_> {
    fn walk(
        &mut self,
        value: &mut Value,
        old: Option<&Value>,
        key: &str,
        path: &str,
    ) -> Result<()> {
        if is_mask(value) {
            match old.and_then(Reference::of) {
                Some(Reference::Sealed(id)) => *value = sealed(id),
                _ => self.problems.push(format!(
                    "{path}: there is no sealed value here that the mask could keep; give the value itself"
                )),
            }
            return Ok(());
        }
        if let Some(reference) = Reference::of(value) {
            self.check_sealed(&reference, path);
            return Ok(());
        }
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let old = old.and_then(|old| old.get(key));
                    self.walk(value, old, key, &format!("{path}.{key}"))?;
                }
            }
            Value::Array(items) => {
                for (number, item) in items.iter_mut().enumerate() {
                    let old = old.and_then(|old| old.get(number));
                    self.walk(item, old, key, &format!("{path}[{number}]"))?;
                }
            }
            Value::String(text) if (self.is_secret)(key, text) => {
                let id = self.seal(text, old, path)?;
                *value = sealed(id);
            }
            _ => {}
        }
        Ok(())
    }

    fn check_sealed(&mut self, reference: &Reference, path: &str) {
        let Reference::Sealed(id) = reference else {
            return;
        };
        let is_own = |row: std::sync::Arc<SecretRow>| row.tool_id == Some(self.whose.tool);
        // A change of the same group that is not stored yet is known only by the definition.
        let was_there = || self.old.is_some_and(|old| sealed_in(old).contains(id));
        if !self.vault.row(*id).is_some_and(is_own) && !was_there() {
            self.problems.push(format!(
                "{path}: nothing of it is sealed as {id}; give the value itself"
            ));
        }
    }

    fn seal(&mut self, text: &str, old: Option<&Value>, path: &str) -> Result<Uuid> {
        if let Some(Reference::Sealed(id)) = old.and_then(Reference::of)
            && let Some(row) = self.vault.row(id)
            && self.vault.open(&row).is_ok_and(|old| old.expose() == text)
        {
            return Ok(id);
        }
        if text.len() > VALUE_BYTES_MAX || self.rows.len() == SEALED_MAX {
            return Err(Error::invalid(format!(
                "{path}: there may be {SEALED_MAX} secrets of at most {VALUE_BYTES_MAX} bytes"
            )));
        }
        let what = Sealable {
            id: Uuid::new_v4(),
            owner: self.whose.owner,
            name: None,
            tool: Some(self.whose.tool),
            created_at: self.whose.now,
            now: self.whose.now,
        };
        self.rows.push(self.vault.seal(&what, text)?);
        self.paths.push(path.to_owned());
        Ok(what.id)
    }
}

impl App {
    /// Whether a tool of the database shelf may refer to what it refers to. Asked before it is stored, and again by
    /// `open_secret`: its owner may have changed since.
    pub(crate) fn check_references(
        &self,
        caller: &Caller,
        shelf: Shelf,
        owner: Uuid,
        definition: &Definition,
    ) -> Result<()> {
        if shelf != Shelf::Database {
            return Ok(());
        }
        self.check_builtin(definition)?;
        // No message repeats a name: people write the secret itself there.
        let mut problems = Vec::new();
        for (path, reference) in Reference::all_of(definition) {
            match reference {
                Reference::Env(_) if !caller.scopes.allow(Scope::Admin) => {
                    return Err(Error::Forbidden(format!(
                        "{path}: only an admin may let a tool read the server's environment; store it with PUT /api/v1/secrets/NAME and write {{\"$secret\": \"NAME\"}}, or give the value itself: it is sealed"
                    )));
                }
                Reference::Env(_) if !self.is_trusted(owner) => problems.push(format!(
                    "{path}: the tool belongs to '{}', who is no admin, so it may not read the server's environment",
                    self.user_name(owner)
                )),
                Reference::Secret(name) if !self.may_refer(caller, owner, &name) => problems.push(
                    format!("{path}: '{}' has no secret of that name; set it first", self.user_name(owner)),
                ),
                Reference::Sealed(_) if !path.starts_with("auth_config") => {
                    problems.push(format!("{path}: sealed values belong into auth_config"));
                }
                _ => {}
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::invalid(problems.join(". ")))
    }

    /// A tool of somebody's own counts as the builtin it names: it must name one.
    fn check_builtin(&self, definition: &Definition) -> Result<()> {
        let named = definition.config.get("name").and_then(Value::as_str);
        let named = named.filter(|_| definition.kind == KindName::Builtin);
        match named.filter(|name| !self.builtin_names.iter().any(|known| known == name)) {
            None => Ok(()),
            Some(name) => Err(Error::invalid(format!(
                "config.name: there is no builtin '{name}'; this version has {}",
                self.builtin_names.join(", ")
            ))),
        }
    }

    /// The secret that a reference of this tool stands for.
    pub fn open_secret(&self, tool: &Tool, reference: &Value) -> Result<Secret> {
        if let Some((id, envelope)) = inline(reference).filter(|_| tool.version == 0) {
            let opened = self.vault.open_envelope(id, envelope);
            return opened.map_err(|error| Error::Unavailable(format!("A sealed value: {error}")));
        }
        let free = tool.shelf != Shelf::Database;
        let row = match Reference::of(reference) {
            Some(Reference::Env(name)) => {
                if !free && !self.is_trusted(tool.owner) {
                    return Err(Error::Forbidden(format!(
                        "'{}' may not read the server's environment: its owner is no admin",
                        tool.definition.name
                    )));
                }
                let value = (self.env)(&name);
                let unset = || Error::Unavailable(format!("The variable '{name}' is not set"));
                return value.map(Secret::new).ok_or_else(unset);
            }
            Some(Reference::Secret(name)) => {
                let owner = if free { SYSTEM_USER } else { tool.owner };
                let row = self.usable(owner, &name);
                row.ok_or_else(|| not_found(&name))?
            }
            Some(Reference::Sealed(id)) => {
                let own = self
                    .vault
                    .row(id)
                    .filter(|row| row.tool_id == Some(tool.id));
                own.ok_or_else(|| not_found(&id.to_string()))?
            }
            None => return Err(Error::invalid("This is no reference to a secret")),
        };
        self.vault.open(&row).map_err(|error| {
            let name = row.name.clone().unwrap_or_else(|| row.id.to_string());
            Error::Unavailable(format!("The secret '{name}' cannot be opened: {error}"))
        })
    }

    /// Whether a tool may use a secret of this name.
    pub(crate) fn has_secret(&self, tool: &Tool, name: &str) -> bool {
        let free = tool.shelf != Shelf::Database;
        let owner = if free { SYSTEM_USER } else { tool.owner };
        self.usable(owner, name).is_some()
    }

    /// A named secret that tools of this owner may use: their own, and any for admins and the file shelf.
    fn usable(&self, owner: Uuid, name: &str) -> Option<std::sync::Arc<SecretRow>> {
        let row = self.vault.named(name)?;
        (row.owner_id == owner || self.is_trusted(owner)).then_some(row)
    }

    /// The value of a named secret that things of this owner may use.
    pub(crate) fn secret_of(&self, owner: Uuid, name: &str) -> Result<Secret> {
        let row = self.usable(owner, name).ok_or_else(|| not_found(name))?;
        self.vault.open(&row).map_err(|error| {
            Error::Unavailable(format!("The secret '{name}' cannot be opened: {error}"))
        })
    }

    /// Whether a caller may write that a tool of this owner uses the secret: one of somebody else takes an admin's key,
    /// not only an admin's tool.
    pub(crate) fn may_refer(&self, caller: &Caller, owner: Uuid, name: &str) -> bool {
        let row = self.usable(owner, name);
        row.is_some_and(|row| row.owner_id == owner || caller.scopes.allow(Scope::Admin))
    }

    /// Whoever runs this server may use everything of it.
    pub(crate) fn is_trusted(&self, owner: Uuid) -> bool {
        let access = self.access.load();
        let user = access.user(owner).filter(|user| user.deleted_at.is_none());
        owner == SYSTEM_USER || user.is_some_and(|user| role_of(user) == Role::Admin)
    }
}

pub(crate) fn not_found(name: &str) -> Error {
    Error::NotFound {
        what: "Secret",
        name: name.to_owned(),
    }
}
