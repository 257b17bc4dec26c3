//! Logging in: a password or a link that opens once becomes a session, whose secret only the browser has.

use crate::App;
use crate::access::role_of;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::keys::random_secret;
use crate::time;
use catalog::caller::{Caller, Transport};
use catalog::tool::Millis;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use store::sessions::SessionRow;
use store::users::{ADMIN_USER, UserRow};
use utoipa::ToSchema;

/// How long a link can be used.
const LINK_MS: Millis = 15 * 60 * 1000;

/// How long a session lasts.
pub const SESSION_SECONDS: i64 = 12 * 3600;

/// An open session.
pub struct NewSession {
    /// For the cookie, and nowhere else.
    pub secret: String,
    pub user: String,
    pub role: &'static str,
}

/// A link that opens a session, once.
#[derive(Debug, Serialize, ToSchema)]
pub struct LoginLink {
    /// The path on this server, such as `/login/…`.
    pub path: String,
    pub expires_at: String,
}

impl App {
    /// Opens a session for a name and a password. `address` is where the request came from.
    pub async fn login(&self, name: &str, password: &str, address: &str) -> Result<NewSession> {
        let now = self.clock.now();
        self.may_guess(address, name)?;
        let user = self.access.load().user_named(name).cloned();
        let user = user.filter(|user| user.deleted_at.is_none());
        let hash = user.as_ref().and_then(|user| user.password_hash.as_deref());
        let fits = self.passwords.fits(password, hash).await?;
        let Some(user) = user.filter(|_| fits) else {
            self.throttle.wrong(address, name, now);
            tracing::warn!(address, "a wrong name or password");
            return Err(Error::Unauthenticated(
                "The name or the password is wrong".to_owned(),
            ));
        };
        self.throttle.right(name);
        self.open_session(&user, "login.password").await
    }

    /// Refuses to look at another password so soon after too many wrong ones.
    pub(crate) fn may_guess(&self, address: &str, name: &str) -> Result<()> {
        let wait_ms = self.throttle.wait(address, name, self.clock.now());
        if wait_ms == 0 {
            return Ok(());
        }
        Err(Error::TooMany {
            message: "Too many wrong passwords; try again later".to_owned(),
            retry_after_seconds: wait_ms.div_euclid(1000) + 1,
        })
    }

    /// Opens a session for the bearer of a link.
    pub async fn login_by_link(&self, token: &str) -> Result<NewSession> {
        let hash = Sha256::digest(token.as_bytes());
        let found = self.store.use_login_link(&hash, self.clock.now()).await?;
        let user = found.and_then(|id| self.access.load().user(id).cloned());
        let user = user.filter(|user| user.deleted_at.is_none());
        let used = "This link was used already, or is too old; ask for a new one";
        let user = user.ok_or_else(|| Error::Unauthenticated(used.to_owned()))?;
        self.open_session(&user, "login.link").await
    }

    pub(crate) async fn open_session(&self, user: &UserRow, how: &str) -> Result<NewSession> {
        let (secret, now) = (random_secret()?, self.clock.now());
        let row = SessionRow {
            hash: Sha256::digest(secret.as_bytes()).to_vec(),
            user_id: user.id,
            created_at: now,
            expires_at: now + SESSION_SECONDS * 1000,
        };
        let _one_at_a_time = self.access_changes.lock().await;
        // What was checked may have changed while it was checked.
        let same =
            |now: &UserRow| now.deleted_at.is_none() && now.password_hash == user.password_hash;
        if !self.access.load().user(user.id).is_some_and(same) {
            let why = "The name or the password is wrong";
            return Err(Error::Unauthenticated(why.to_owned()));
        }
        self.store.open_session(&row).await?;
        let role = role_of(user);
        let who = Caller::of_user(user.id, &user.name, role, Transport::Page);
        let target = format!("user:{}", user.name);
        let done = act(now, &who, how, target, None, None);
        self.commit_access(&[done]).await?;
        Ok(NewSession {
            secret,
            user: user.name.clone(),
            role: role.as_str(),
        })
    }

    /// Ends a session; one that is not there is ended already.
    pub async fn logout(&self, secret: &str) -> Result<()> {
        let _one_at_a_time = self.access_changes.lock().await;
        let hash = Sha256::digest(secret.as_bytes());
        self.store.end_session(&hash).await?;
        self.load_access().await
    }

    /// A link for a user who has no password yet, or forgot it.
    pub async fn new_login_link(&self, caller: &Caller, name: &str) -> Result<LoginLink> {
        let user = self.access.load().user_named(name).cloned();
        let user = user.filter(|user| user.deleted_at.is_none());
        let user = user.ok_or_else(|| Error::NotFound {
            what: "User",
            name: name.to_owned(),
        })?;
        let (token, now) = (random_secret()?, self.clock.now());
        let expires_at = now + LINK_MS;
        let hash = Sha256::digest(token.as_bytes());
        self.store
            .add_login_link(&hash, user.id, expires_at)
            .await?;
        let until = time::rfc3339(expires_at);
        let target = format!("user:{name}");
        let after = Some(json!({"expires_at": until}));
        let done = act(now, caller, "user.login_link", target, None, after);
        self.store.write(&[done]).await?;
        Ok(LoginLink {
            path: format!("/login/{token}"),
            expires_at: until,
        })
    }

    /// The link that the first start shows beside the first key.
    pub async fn first_login_link(&self) -> Result<LoginLink> {
        let admin = self.user_name(ADMIN_USER);
        let who = crate::access::operator_caller("first start");
        self.new_login_link(&who, &admin).await
    }
}
