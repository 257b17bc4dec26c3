//! Users: made, changed, removed, brought back.

use crate::access::role_of;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::keys::only_admins;
use crate::{App, time};
use catalog::caller::{Caller, Role, Scope};
use serde::Serialize;
use serde_json::{Value, json};
use store::Write;
use store::users::{ADMIN_USER, UserRow};
use utoipa::ToSchema;
use uuid::Uuid;

const NAME_CHARS_MAX: usize = 64;

/// Names that stand for something else in the log and the history.
const RESERVED: [&str; 4] = ["system", "file", "everyone", "me"];

/// A user as they are shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserView {
    pub id: Uuid,
    pub name: String,
    /// viewer, operator, author or admin.
    pub role: String,
    pub scopes: Vec<&'static str>,
    pub has_password: bool,
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
}

/// What changes about a user.
#[derive(Debug, Default)]
pub struct UserChange<'a> {
    pub role: Option<&'a str>,
    pub password: Option<&'a str>,
    /// Who changes their own password shows the old one.
    pub current_password: Option<&'a str>,
}

impl App {
    /// Everybody, by name; who is no admin sees only themselves.
    pub fn list_users(&self, caller: &Caller) -> Vec<UserView> {
        let access = self.access.load();
        let all = caller.scopes.allow(Scope::Admin);
        let shown = access.people().filter(|u| all || u.id == caller.user);
        let mut views: Vec<UserView> = shown.map(view).collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
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
        let password_hash = match new.password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let _one_at_a_time = self.access_changes.lock().await;
        let lower = new.name.to_lowercase();
        let access = self.access.load_full();
        let mut taken = access.people().filter(|u| u.name.to_lowercase() == lower);
        if let Some(taken) = taken.next() {
            let hint = match taken.deleted_at {
                None => "Choose another name",
                Some(_) => "They were removed; restore them, or choose another name",
            };
            return Err(Error::conflict(format!(
                "There is a user named '{}' already. {hint}",
                taken.name
            )));
        }
        let now = self.clock.now();
        let row = UserRow {
            id: Uuid::now_v7(),
            name: new.name.to_owned(),
            role: role.as_str().to_owned(),
            password_hash,
            oidc_subject: None,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        };
        let after = Some(shape(&row));
        let done = act(now, caller, "user.create", target(&row), None, after);
        let shown = view(&row);
        self.commit_access(&[Write::User(row), done]).await?;
        Ok(shown)
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
        if change.password.is_some() && !admin {
            self.check_current(caller, &current, change).await?;
        }
        let password_hash = match change.password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let _one_at_a_time = self.access_changes.lock().await;
        let mut row = self.living(name)?;
        if change.password.is_some() && row.password_hash != current.password_hash {
            return Err(Error::conflict(
                "The password was changed by somebody else at the same time",
            ));
        }
        if role.is_some_and(|role| role != Role::Admin) {
            self.keep_an_admin(&row)?;
        }
        let (before, now) = (shape(&row), self.clock.now());
        if let Some(role) = role {
            row.role = role.as_str().to_owned();
        }
        let new_password = password_hash.is_some();
        row.password_hash = password_hash.or(row.password_hash);
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
        if new_password {
            // Whoever knew the old password is out.
            writes.push(Write::EndSessions(id));
        }
        self.commit_access(&writes).await?;
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
        let shown = change.current_password.unwrap_or_default();
        let hash = user.password_hash.as_deref();
        self.may_guess("a session", &user.name)?;
        if hash.is_some() && !self.passwords.fits(shown, hash).await? {
            self.throttle
                .wrong("a session", &user.name, self.clock.now());
            return Err(Error::Forbidden(
                "current_password: that is not your password".to_owned(),
            ));
        }
        Ok(())
    }

    /// The user may not come in any more. What is theirs is kept, out of use, until an admin gives it to somebody.
    pub async fn delete_user(&self, caller: &Caller, name: &str) -> Result<()> {
        let _one_at_a_time = self.access_changes.lock().await;
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
        let (id, before) = (row.id, Some(shape(&row)));
        let done = act(now, caller, "user.delete", target(&row), before, None);
        let writes = [Write::User(row), done, Write::EndSessions(id)];
        self.commit_access(&writes).await
    }

    /// Brings a user back, with their keys and everything of theirs that is still theirs.
    pub async fn restore_user(&self, caller: &Caller, name: &str) -> Result<UserView> {
        let _one_at_a_time = self.access_changes.lock().await;
        let found = self.access.load().user_named(name).cloned();
        let mut row = found.ok_or_else(|| not_found(name))?;
        if row.deleted_at.take().is_none() {
            return Err(Error::conflict(format!("User '{name}' was not removed")));
        }
        let now = self.clock.now();
        row.updated_at = now;
        let after = Some(shape(&row));
        let done = act(now, caller, "user.restore", target(&row), None, after);
        let shown = view(&row);
        self.commit_access(&[Write::User(row), done]).await?;
        Ok(shown)
    }

    fn living(&self, name: &str) -> Result<UserRow> {
        let access = self.access.load();
        let user = access.user_named(name);
        user.filter(|user| user.deleted_at.is_none())
            .cloned()
            .ok_or_else(|| not_found(name))
    }

    /// Somebody must be left who can undo it.
    fn keep_an_admin(&self, leaving: &UserRow) -> Result<()> {
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

fn check_name(name: &str) -> Result<()> {
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '@' | '+');
    let count = name.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&count) || !name.chars().all(fine) {
        return Err(Error::invalid(format!(
            "name: expected 1 to {NAME_CHARS_MAX} letters, digits, _ . - @ or +, such as 'kim' or 'kim@example.com'"
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
fn shape(user: &UserRow) -> Value {
    json!({"name": user.name, "role": user.role, "has_password": user.password_hash.is_some()})
}

pub(crate) fn view(user: &UserRow) -> UserView {
    UserView {
        id: user.id,
        name: user.name.clone(),
        role: user.role.clone(),
        scopes: role_of(user).scopes().names(),
        has_password: user.password_hash.is_some(),
        is_active: user.deleted_at.is_none(),
        created_at: time::rfc3339(user.created_at),
        updated_at: time::rfc3339(user.updated_at),
        deleted_at: user.deleted_at.map(time::rfc3339),
    }
}
