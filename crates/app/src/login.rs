//! Logging in: a password or a link that opens once becomes a session, whose secret only the browser has.

use crate::App;
use crate::access::role_of;
use crate::audit::act;
use crate::decided::Known;
use crate::error::{Error, Result};
use crate::keys::random_secret;
use crate::sessions::hash_of;
use crate::throttle::{Guesser, Telling};
use crate::time;
use catalog::caller::{Caller, Role, Transport};
use catalog::tool::Millis;
use serde::Serialize;
use serde_json::json;
use std::net::IpAddr;
use store::Write;
use store::audit::AuditFilter;
use store::feed::Subject;
use store::sessions::{LinkRow, SessionRow};
use store::users::{ADMIN_USER, UserRow};
use utoipa::ToSchema;
use uuid::Uuid;

/// How long a link can be used.
const LINK_MS: Millis = 15 * 60 * 1000;

/// The act of making one.
const LINK_MADE: &str = "user.login_link";

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
    /// Opens a session for a name and a password. `from` is where the request came from.
    pub async fn login(
        &self,
        name: &str,
        password: &str,
        from: Option<IpAddr>,
    ) -> Result<NewSession> {
        let guesser = Guesser::at(from);
        self.may_guess(guesser, name)?;
        let known = self.access.load().user_named(name).cloned();
        let user = known.clone().filter(|user| user.deleted_at.is_none());
        let hash = user.as_ref().and_then(|user| user.password_hash.as_deref());
        let fits = self.passwords.fits(password, hash).await?;
        let Some(user) = user.filter(|_| fits) else {
            let telling = self.throttle.wrong(guesser, name, self.clock.now());
            let failed = FailedLogin {
                how: "password",
                who: &nobody(),
                guesser,
                user: known.as_ref(),
            };
            self.tell_failed_login(&failed, telling).await;
            return Err(Error::Unauthenticated(
                "The name or the password is wrong".to_owned(),
            ));
        };
        self.throttle.right(guesser, name);
        self.open_session(&user, "login.password").await
    }

    /// Refuses to look at another password so soon after too many wrong ones.
    pub(crate) fn may_guess(&self, guesser: Guesser, name: &str) -> Result<()> {
        let wait_ms = self.throttle.wait(guesser, name, self.clock.now());
        if wait_ms == 0 {
            return Ok(());
        }
        Err(Error::TooMany {
            message: "Too many wrong passwords; try again later".to_owned(),
            retry_after_seconds: wait_ms.div_euclid(1000) + 1,
        })
    }

    /// The same for whoever comes with what should let them in without a password.
    pub(crate) fn may_follow_link(&self, guesser: Guesser) -> Result<()> {
        let wait_ms = self.throttle.wait_for_link(guesser, self.clock.now());
        if wait_ms == 0 {
            return Ok(());
        }
        Err(Error::TooMany {
            message: "Too many failed logins; try again later".to_owned(),
            retry_after_seconds: wait_ms.div_euclid(1000) + 1,
        })
    }

    /// Opens a session for the bearer of a link. `from` is where the request came from.
    pub async fn login_by_link(&self, token: &str, from: Option<IpAddr>) -> Result<NewSession> {
        let found = self.store.use_login_link(&hash_of(token)).await?;
        let now = self.clock.now();
        let known = found.and_then(|(id, _)| self.access.load().user(id).cloned());
        let fits = found.is_some_and(|(_, expires_at)| expires_at > now);
        let user = known
            .clone()
            .filter(|user| fits && user.deleted_at.is_none());
        let Some(user) = user else {
            let guesser = Guesser::at(from);
            let telling = self.throttle.wrong_link(guesser, now);
            let failed = FailedLogin {
                how: "link",
                who: &nobody(),
                guesser,
                user: known.as_ref(),
            };
            self.tell_failed_login(&failed, telling).await;
            let used = "This link was used already, or is too old; ask for a new one";
            return Err(Error::Unauthenticated(used.to_owned()));
        };
        self.open_session(&user, "login.link").await
    }

    /// Notes a failed login where the throttle says so. Who could not be let in is told the same in any case.
    pub(crate) async fn tell_failed_login(
        &self,
        failed: &FailedLogin<'_>,
        telling: Option<Telling>,
    ) {
        let (how, from) = (failed.how, failed.guesser.to_string());
        tracing::warn!(how, from, "a failed login");
        let Some(Telling { count, untold }) = telling else {
            return;
        };
        // A name that nobody has may be a password in the wrong field: it is told to nobody.
        let name = failed.user.map_or("?", |user| &user.name);
        let mut after = json!({"how": how, "from": from, "count": count});
        if untold > 0 {
            after["untold"] = json!(untold);
        }
        let (now, target) = (self.clock.now(), format!("user:{name}"));
        let done = act(now, failed.who, "login.failed", target, None, Some(after));
        if let Err(error) = self.store.write(&[done]).await {
            tracing::error!(%error, "a failed login could not be noted in the audit log");
        }
    }

    pub(crate) async fn open_session(&self, user: &UserRow, how: &str) -> Result<NewSession> {
        self.decided(&self.access_changes, None, |known| {
            self.add_session(user, how, known)
        })
        .await
    }

    async fn add_session(&self, user: &UserRow, how: &str, known: Known) -> Result<NewSession> {
        let (secret, now) = (random_secret()?, self.clock.now());
        let row = SessionRow {
            hash: hash_of(&secret).to_vec(),
            user_id: user.id,
            created_at: now,
            expires_at: now + SESSION_SECONDS * 1000,
        };
        let access = self.access.load_full();
        // What was checked may have changed while it was checked.
        let same = |now: &&UserRow| {
            now.deleted_at.is_none()
                && now.password_hash == user.password_hash
                && now.oidc_subject == user.oidc_subject
        };
        let user = access.user(user.id).filter(same).ok_or_else(|| {
            let why = "The name or the password is wrong";
            Error::Unauthenticated(why.to_owned())
        })?;
        let role = role_of(user);
        let who = Caller::of_user(user.id, &user.name, role, Transport::Page);
        let ended = access.making_room_for(user.id, now);
        let after = (!ended.is_empty()).then(|| json!({"sessions_ended": ended.len()}));
        let done = act(now, &who, how, format!("user:{}", user.name), None, after);
        let mut writes = vec![known.unless(Subject::Access), Write::Session(row.clone())];
        writes.extend(ended.iter().map(|hash| Write::EndSession {
            hash: hash.to_vec(),
            user: Some(user.id),
        }));
        writes.push(done);
        self.store_access(&writes).await?;
        self.show_session(user, &row, &ended);
        Ok(NewSession {
            secret,
            user: user.name.clone(),
            role: role.as_str(),
        })
    }

    /// Ends a session; one that is not there is ended already.
    pub async fn logout(&self, secret: &str) -> Result<()> {
        let _one_at_a_time = self.access_changes.lock().await;
        let (hash, now) = (hash_of(secret), self.clock.now());
        let who = self.access.load().by_session(secret, now).ok();
        let mut writes = vec![Write::EndSession {
            hash: hash.to_vec(),
            user: who.as_ref().map(|who| who.user),
        }];
        if let Some(who) = who {
            let target = format!("user:{}", who.user_name);
            writes.push(act(now, &who, "logout", target, None, None));
        }
        self.store_access(&writes).await?;
        self.hide_session(&hash);
        Ok(())
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
        let row = LinkRow {
            hash: hash_of(&token).to_vec(),
            user_id: user.id,
            created_at: now,
            expires_at: now + LINK_MS,
        };
        let until = time::rfc3339(row.expires_at);
        let after = Some(json!({"expires_at": until}));
        let done = act(now, caller, LINK_MADE, format!("user:{name}"), None, after);
        self.store.write(&[Write::Link(row), done]).await?;
        Ok(LoginLink {
            path: format!("/login/{token}"),
            expires_at: until,
        })
    }

    /// The link that the first start shows: for an admin who has no password and never had a link.
    pub async fn first_login_link(&self) -> Result<Option<LoginLink>> {
        let access = self.access.load_full();
        let admin = access.user(ADMIN_USER);
        let admin = admin.filter(|admin| admin.password_hash.is_none());
        let Some(admin) = admin else {
            return Ok(None);
        };
        let made = AuditFilter {
            action: Some(LINK_MADE.to_owned()),
            target: Some(format!("user:{}", admin.name)),
            ..AuditFilter::default()
        };
        if !self.store.audit(&made, 1).await?.rows.is_empty() {
            return Ok(None);
        }
        let who = crate::access::operator_caller("first start");
        self.new_login_link(&who, &admin.name).await.map(Some)
    }
}

/// A login that did not succeed.
pub(crate) struct FailedLogin<'a> {
    /// password, link, oidc or current_password.
    pub(crate) how: &'static str,
    pub(crate) who: &'a Caller,
    pub(crate) guesser: Guesser,
    /// Whom it was about, if there is such a user.
    pub(crate) user: Option<&'a UserRow>,
}

/// Who is not let in.
pub(crate) fn nobody() -> Caller {
    Caller::of_user(Uuid::nil(), "nobody", Role::Viewer, Transport::Page)
}
