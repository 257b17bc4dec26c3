//! Users: made, changed, removed, brought back.

use crate::access::role_of;
use crate::audit::act;
use crate::decided::Known;
use crate::erasure::PREFIX;
use crate::error::{Error, Result};
use crate::keys::only_admins;
use crate::login::FailedLogin;
use crate::page::{self, Part};
use crate::throttle::Guesser;
use crate::{App, time};
use catalog::caller::{Caller, Role, Scope};
use catalog::tool::Millis;
use serde::Serialize;
use serde_json::{Value, json};
use store::Write;
use store::users::{ADMIN_USER, UserRow};
use utoipa::ToSchema;
use uuid::Uuid;

const NAME_CHARS_MAX: usize = 64;

/// Names that stand for something else in the log and the history.
const RESERVED: [&str; 5] = ["system", "file", "everyone", "me", "nobody"];

/// A user as they are shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserView {
    pub id: Uuid,
    pub name: String,
    /// viewer, operator, author or admin.
    pub role: String,
    pub scopes: Vec<&'static str>,
    pub has_password: bool,
    /// Whom the identity provider knows them as: its address, | and its name for them.
    pub oidc_subject: Option<String>,
    /// False once the user is removed.
    pub is_active: bool,
    pub created_at: String,
    pub updated_at: String,
    pub deleted_at: Option<String>,
}

/// A new user.
#[derive(Debug, Default)]
pub struct NewUser<'a> {
    pub name: &'a str,
    pub password: Option<&'a str>,
    pub role: &'a str,
    pub oidc_subject: Option<&'a str>,
}

/// What changes about a user.
#[derive(Debug, Default)]
pub struct UserChange<'a> {
    pub role: Option<&'a str>,
    pub password: Option<&'a str>,
    /// Who changes their own password shows the old one.
    pub current_password: Option<&'a str>,
    /// Nothing in it parts them from the identity provider.
    pub oidc_subject: Option<Option<&'a str>>,
}

/// A change that is sound in itself.
struct Checked {
    role: Option<Role>,
    oidc_subject: Option<Option<String>>,
    password_hash: Option<String>,
    /// The hash of the password that it was made from.
    was: Option<String>,
}

impl App {
    /// Everybody, by name; who is no admin sees only themselves.
    pub fn list_users(
        &self,
        caller: &Caller,
        part: &Part,
    ) -> Result<(Vec<UserView>, Option<String>)> {
        let access = self.access.load();
        let all = caller.scopes.allow(Scope::Admin);
        let shown = access.people().filter(|u| all || u.id == caller.user);
        let (shown, next) = page::cut(shown.collect(), part, |user| user.name.clone())?;
        Ok((shown.into_iter().map(view).collect(), next))
    }

    pub fn get_user(&self, caller: &Caller, name: &str) -> Result<UserView> {
        let access = self.access.load();
        let user = access.user_named(name);
        let shown = user.filter(|u| u.id == caller.user || caller.scopes.allow(Scope::Admin));
        shown.map(view).ok_or_else(|| not_found(name))
    }

    pub async fn create_user(&self, caller: &Caller, new: &NewUser<'_>) -> Result<UserView> {
        let role = read_role(new.role)?;
        check_name(new.name)?;
        let oidc_subject = new.oidc_subject.map(|s| self.oidc_subject(s)).transpose()?;
        let password_hash = match new.password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let row = UserRow {
            password_hash,
            oidc_subject,
            ..new_user(new.name, role, self.clock.now())
        };
        self.decided(&self.access_changes, Some(caller), |known| {
            self.add_user(caller, &row, known)
        })
        .await
    }

    async fn add_user(&self, caller: &Caller, row: &UserRow, known: Known) -> Result<UserView> {
        if let Some(taken) = self.taken(&row.name) {
            return Err(Error::conflict(format!(
                "There is a user named '{}' already. {}",
                taken.name,
                match taken.deleted_at {
                    None => "Choose another name",
                    Some(_) => "They were removed; restore them, or choose another name",
                }
            )));
        }
        self.linked_to_nobody(row.oidc_subject.as_deref())?;
        let (now, after) = (row.created_at, Some(shape(row)));
        let done = act(now, caller, "user.create", target(row), None, after);
        let writes = vec![Write::User(row.clone()), done];
        self.commit_access(known, writes).await?;
        Ok(view(row))
    }

    /// Changes a role (an admin's business) or a password (also one's own).
    pub async fn change_user(
        &self,
        caller: &Caller,
        name: &str,
        change: &UserChange<'_>,
    ) -> Result<UserView> {
        let current = self.access.load().user_named(name).cloned();
        let admin = caller.scopes.allow(Scope::Admin);
        let current = current.filter(|user| admin || user.id == caller.user);
        let current = current.ok_or_else(|| not_found(name))?;
        let role = change.role.map(read_role).transpose()?;
        if role.is_some() {
            only_admins(caller, "change a role")?;
        }
        if change.oidc_subject.is_some() {
            only_admins(caller, "link a user to the identity provider")?;
        }
        let oidc_subject = match change.oidc_subject {
            Some(Some(named)) => Some(Some(self.oidc_subject(named)?)),
            Some(None) => Some(None),
            None => None,
        };
        if change.password.is_some() && !admin {
            self.check_current(caller, &current, change).await?;
        }
        let password_hash = match change.password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let checked = Checked {
            role,
            oidc_subject,
            password_hash,
            was: current.password_hash,
        };
        self.decided(&self.access_changes, Some(caller), |known| {
            self.store_change(caller, name, &checked, known)
        })
        .await
    }

    /// The part of a change that depends on what is there.
    async fn store_change(
        &self,
        caller: &Caller,
        name: &str,
        change: &Checked,
        known: Known,
    ) -> Result<UserView> {
        let mut row = self.living(name)?;
        let new_password = change.password_hash.is_some();
        if new_password && row.password_hash != change.was {
            return Err(Error::conflict(
                "The password was changed by somebody else at the same time",
            ));
        }
        if change.role.is_some_and(|role| role != Role::Admin) {
            self.keep_an_admin(&row)?;
        }
        let (before, now) = (shape(&row), self.clock.now());
        if let Some(role) = change.role {
            row.role = role.as_str().to_owned();
        }
        let subject = change.oidc_subject.as_ref();
        let subject = subject.filter(|subject| **subject != row.oidc_subject);
        let linked_anew = subject.is_some();
        if let Some(subject) = subject {
            self.linked_to_nobody(subject.as_deref())?;
            row.oidc_subject.clone_from(subject);
        }
        row.password_hash = change.password_hash.clone().or(row.password_hash);
        row.updated_at = now;
        let mut after = shape(&row);
        if new_password {
            after["password"] = json!("changed");
        }
        let done = act(
            now,
            caller,
            "user.update",
            target(&row),
            Some(before),
            Some(after),
        );
        let (id, shown) = (row.id, view(&row));
        let mut writes = vec![Write::User(row), done];
        if new_password || linked_anew {
            // Whoever knew the old password is out, and whoever came in by the old link.
            writes.push(Write::EndSessions(id));
        }
        self.commit_access(known, writes).await?;
        Ok(shown)
    }

    async fn check_current(
        &self,
        caller: &Caller,
        user: &UserRow,
        change: &UserChange<'_>,
    ) -> Result<()> {
        if caller.key.is_some() {
            return Err(Error::Forbidden(
                "A key cannot change a password; log in to change yours".to_owned(),
            ));
        }
        let hash = user.password_hash.as_deref();
        if hash.is_none() && user.oidc_subject.is_some() {
            // Else one session would be enough to come in after the provider has locked them out.
            return Err(Error::Forbidden(
                "You log in through the identity provider; an admin can give you a password"
                    .to_owned(),
            ));
        }
        let shown = change.current_password.unwrap_or_default();
        let guesser = Guesser::Session(user.id);
        self.may_guess(guesser, &user.name)?;
        if hash.is_some() && !self.passwords.fits(shown, hash).await? {
            let telling = self.throttle.wrong(guesser, &user.name, self.clock.now());
            let failed = FailedLogin {
                how: "current_password",
                who: caller,
                guesser,
                user: Some(user),
            };
            self.tell_failed_login(&failed, telling).await;
            return Err(Error::Forbidden(
                "current_password: that is not your password".to_owned(),
            ));
        }
        Ok(())
    }

    /// The user may not come in any more: their keys are revoked, their sessions end. What is theirs is kept, out of
    /// use, until an admin gives it to somebody.
    pub async fn delete_user(&self, caller: &Caller, name: &str) -> Result<()> {
        self.decided(&self.access_changes, Some(caller), |known| {
            self.remove_user(caller, name, known)
        })
        .await
    }

    async fn remove_user(&self, caller: &Caller, name: &str, known: Known) -> Result<()> {
        let mut row = self.living(name)?;
        self.keep_an_admin(&row)?;
        if row.id == ADMIN_USER {
            return Err(Error::conflict(
                "The first admin stands for whoever runs the server and cannot be removed",
            ));
        }
        let now = self.clock.now();
        row.deleted_at = Some(now);
        row.updated_at = now;
        let access = self.access.load_full();
        let keys = access.live_keys().filter(|(key, _)| key.user_id == row.id);
        let after = Some(json!({"keys_revoked": keys.count()}));
        let (user, before) = (row.id, Some(shape(&row)));
        let done = act(now, caller, "user.delete", target(&row), before, after);
        let mut writes = vec![
            Write::User(row),
            Write::RevokeKeys { user, at: now },
            Write::EndSessions(user),
        ];
        writes.extend(self.tokens.gone(&self.tokens.of_user(user)));
        writes.push(done);
        self.commit_access(known, writes).await?;
        self.forget_sign_ins(user);
        Ok(())
    }

    /// Brings a user back, with everything that is still theirs. Their keys stay revoked: who brings somebody back need
    /// not know who has found one of them since.
    pub async fn restore_user(&self, caller: &Caller, name: &str) -> Result<UserView> {
        self.decided(&self.access_changes, Some(caller), |known| {
            self.bring_back(caller, name, known)
        })
        .await
    }

    async fn bring_back(&self, caller: &Caller, name: &str, known: Known) -> Result<UserView> {
        let found = self.access.load().user_named(name).cloned();
        let mut row = found.ok_or_else(|| not_found(name))?;
        if row.name.starts_with(PREFIX) {
            return Err(Error::conflict(
                "This user was erased: nobody is left to bring back",
            ));
        }
        if row.deleted_at.take().is_none() {
            return Err(Error::conflict(format!("User '{name}' was not removed")));
        }
        let now = self.clock.now();
        row.updated_at = now;
        let after = Some(shape(&row));
        let done = act(now, caller, "user.restore", target(&row), None, after);
        let shown = view(&row);
        let writes = vec![Write::User(row), done];
        self.commit_access(known, writes).await?;
        Ok(shown)
    }

    /// Who has this name, however it is written.
    pub(crate) fn taken(&self, name: &str) -> Option<UserRow> {
        let lower = name.to_lowercase();
        let access = self.access.load();
        let mut people = access.people();
        people
            .find(|user| user.name.to_lowercase() == lower)
            .cloned()
    }

    /// Two users cannot be the same person to the identity provider.
    fn linked_to_nobody(&self, subject: Option<&str>) -> Result<()> {
        let access = self.access.load();
        let mut linked = access.people().filter(|user| user.oidc_subject.is_some());
        match linked.find(|user| user.oidc_subject.as_deref() == subject) {
            Some(user) => Err(Error::conflict(format!(
                "oidc_subject: '{}' is linked to it already{}",
                user.name,
                match user.deleted_at {
                    None => "",
                    Some(_) => "; restore them, part them from it, and remove them again",
                }
            ))),
            None => Ok(()),
        }
    }

    fn living(&self, name: &str) -> Result<UserRow> {
        let access = self.access.load();
        let user = access.user_named(name);
        user.filter(|user| user.deleted_at.is_none())
            .cloned()
            .ok_or_else(|| not_found(name))
    }

    /// Somebody must be left who can undo it.
    pub(crate) fn keep_an_admin(&self, leaving: &UserRow) -> Result<()> {
        let access = self.access.load();
        let admins = access
            .people()
            .filter(|u| u.deleted_at.is_none() && role_of(u) == Role::Admin);
        let mut others = admins.filter(|user| user.id != leaving.id);
        if role_of(leaving) == Role::Admin && others.next().is_none() {
            return Err(Error::conflict(format!(
                "'{}' is the last admin; make somebody else an admin first",
                leaving.name
            )));
        }
        Ok(())
    }
}

pub(crate) fn check_name(name: &str) -> Result<()> {
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '@' | '+');
    let count = name.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&count) || !name.chars().all(fine) {
        return Err(Error::invalid(format!(
            "name: expected 1 to {NAME_CHARS_MAX} letters, digits, _ . - @ or +, such as 'kim' or 'kim@example.com'"
        )));
    }
    if name.to_lowercase().starts_with(PREFIX) {
        return Err(Error::invalid(format!(
            "name: those that begin with '{PREFIX}' stand for people who were erased; choose another"
        )));
    }
    if RESERVED.contains(&name.to_lowercase().as_str()) {
        return Err(Error::invalid(format!(
            "name: '{name}' stands for something else; choose another"
        )));
    }
    Ok(())
}

fn read_role(name: &str) -> Result<Role> {
    Role::from_name(name).ok_or_else(|| {
        let known = Role::ALL.map(Role::as_str).join(", ");
        Error::invalid(format!("role: expected one of {known}, got '{name}'"))
    })
}

pub(crate) fn not_found(name: &str) -> Error {
    Error::NotFound {
        what: "User",
        name: name.to_owned(),
    }
}

pub(crate) fn target(user: &UserRow) -> String {
    format!("user:{}", user.name)
}

/// What the audit log keeps of a user.
pub(crate) fn shape(user: &UserRow) -> Value {
    json!({"name": user.name, "role": user.role, "has_password": user.password_hash.is_some(),
        "oidc_subject": user.oidc_subject})
}

pub(crate) fn new_user(name: &str, role: Role, now: Millis) -> UserRow {
    UserRow {
        id: Uuid::now_v7(),
        name: name.to_owned(),
        role: role.as_str().to_owned(),
        password_hash: None,
        oidc_subject: None,
        created_at: now,
        updated_at: now,
        deleted_at: None,
    }
}

pub(crate) fn view(user: &UserRow) -> UserView {
    UserView {
        id: user.id,
        name: user.name.clone(),
        role: user.role.clone(),
        scopes: role_of(user).scopes().names(),
        has_password: user.password_hash.is_some(),
        oidc_subject: user.oidc_subject.clone(),
        is_active: user.deleted_at.is_none(),
        created_at: time::rfc3339(user.created_at),
        updated_at: time::rfc3339(user.updated_at),
        deleted_at: user.deleted_at.map(time::rfc3339),
    }
}
