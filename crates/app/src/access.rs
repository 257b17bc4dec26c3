//! Who is who: users, their keys and their sessions, as one snapshot in memory. Every request is answered from it. A
//! change of people or keys is stored first, then read back into a new snapshot; a session is put into it as it is.

use crate::App;
use crate::decided::Known;
use crate::error::{Error, Result};
use crate::keys;
use crate::sessions::{Hash, Session, Sessions, hash_of};
use catalog::caller::{Caller, Role, Scope, Scopes, Transport};
use catalog::tool::{Millis, SYSTEM_USER};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use store::feed::{Subject, Which};
use store::keys::KeyRow;
use store::sessions::SessionRow;
use store::users::{ADMIN_USER, UserRow};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use uuid::Uuid;

/// How exactly the last use of a key is known.
const USE_STEP_MS: Millis = 60_000;

/// Everybody who may come in, by what they show.
#[derive(Debug, Default)]
pub struct Access {
    /// Shared by every snapshot until one of them changes.
    people: Arc<People>,
    sessions: Sessions,
}

#[derive(Debug, Default)]
struct People {
    users: HashMap<Uuid, UserRow>,
    ids: HashMap<String, Uuid>,
    /// Who runs the place: what their tools say of other tools is listened to.
    admins: Arc<HashSet<Uuid>>,
    keys: HashMap<Uuid, KeyEntry>,
    /// The operator's own key, from the environment.
    operator: Option<([u8; 32], Arc<Caller>)>,
}

#[derive(Debug)]
struct KeyEntry {
    row: KeyRow,
    caller: Arc<Caller>,
    last_used_at: AtomicI64,
}

impl Access {
    pub fn new(
        users: Vec<UserRow>,
        keys: Vec<KeyRow>,
        sessions: &[SessionRow],
        operator_key: Option<&str>,
    ) -> Self {
        let users: HashMap<Uuid, UserRow> = users.into_iter().map(|u| (u.id, u)).collect();
        let ids = users.values().map(|u| (u.name.clone(), u.id)).collect();
        let is_admin = |user: &&UserRow| user.deleted_at.is_none() && role_of(user) == Role::Admin;
        let admins = users.values().filter(is_admin).map(|user| user.id);
        let admins = Arc::new(admins.collect());
        let live = |id: &Uuid| users.get(id).filter(|user| user.deleted_at.is_none());
        let keys = keys.into_iter().filter(|row| row.revoked_at.is_none());
        let keys = keys.filter_map(|row| {
            let caller = key_caller(live(&row.user_id)?, &row);
            Some((row.id, KeyEntry::new(row, caller)))
        });
        let keys = keys.collect();
        let sessions = sessions.iter();
        let sessions = sessions.filter_map(|row| session_of(live(&row.user_id)?, row));
        Access {
            sessions: sessions.collect(),
            people: Arc::new(People {
                keys,
                ids,
                admins,
                operator: operator_key.map(|key| {
                    let hash = Sha256::digest(key.as_bytes()).into();
                    (hash, Arc::new(operator_caller("TOOLCRIB_ADMIN_KEY")))
                }),
                users,
            }),
        }
    }

    /// The same people and keys with other sessions.
    fn with_sessions(&self, sessions: Sessions) -> Self {
        Access {
            people: Arc::clone(&self.people),
            sessions,
        }
    }

    /// Who shows this key. The text of the refusal tells nothing about which part was wrong.
    pub fn by_key(&self, key: &str, now: Millis) -> Result<Arc<Caller>> {
        let refused = || Error::Unauthenticated("The API key is not valid".to_owned());
        if let Some((hash, caller)) = &self.people.operator
            && bool::from(Sha256::digest(key.as_bytes()).as_slice().ct_eq(hash))
        {
            return Ok(Arc::clone(caller));
        }
        let (id, secret) = keys::split(key).ok_or_else(refused)?;
        let entry = self.people.keys.get(&id).ok_or_else(refused)?;
        let hash = Sha256::digest(secret.as_bytes());
        if !bool::from(hash.as_slice().ct_eq(&entry.row.secret_hash)) {
            return Err(refused());
        }
        if entry.row.expires_at.is_some_and(|end| end <= now) {
            return Err(Error::Unauthenticated("The API key has expired".to_owned()));
        }
        if now - entry.last_used_at.load(Ordering::Relaxed) >= USE_STEP_MS {
            entry.last_used_at.store(now, Ordering::Relaxed);
        }
        Ok(Arc::clone(&entry.caller))
    }

    /// Who holds this session.
    pub fn by_session(&self, secret: &str, now: Millis) -> Result<Arc<Caller>> {
        let found = self.sessions.get(&hash_of(secret));
        found
            .filter(|session| session.expires_at > now)
            .map(|session| Arc::clone(&session.caller))
            .ok_or_else(|| Error::Unauthenticated("The session has ended; log in again".to_owned()))
    }

    /// The sessions that end when this user opens another.
    pub(crate) fn making_room_for(&self, user: Uuid, now: Millis) -> Vec<Hash> {
        self.sessions.making_room_for(user, now)
    }

    pub fn user(&self, id: Uuid) -> Option<&UserRow> {
        self.people.users.get(&id)
    }

    /// By name; the system user is nobody.
    pub fn user_named(&self, name: &str) -> Option<&UserRow> {
        let id = self.people.ids.get(name).filter(|id| **id != SYSTEM_USER)?;
        self.people.users.get(id)
    }

    pub(crate) fn admins(&self) -> &Arc<HashSet<Uuid>> {
        &self.people.admins
    }

    /// Everybody but the system user.
    pub fn people(&self) -> impl Iterator<Item = &UserRow> {
        self.people
            .users
            .values()
            .filter(|user| user.id != SYSTEM_USER)
    }

    /// Who is gone: what is theirs is out of use.
    pub(crate) fn left(&self) -> HashSet<Uuid> {
        let left = self.people().filter(|user| user.deleted_at.is_some());
        left.map(|user| user.id).collect()
    }

    /// A key that may still be used, and whom it lets in.
    pub fn key(&self, id: Uuid) -> Option<(&KeyRow, &Arc<Caller>)> {
        self.people
            .keys
            .get(&id)
            .map(|entry| (&entry.row, &entry.caller))
    }

    /// Every key that may still be used.
    pub fn live_keys(&self) -> impl Iterator<Item = (&KeyRow, &Arc<Caller>)> {
        self.people
            .keys
            .values()
            .map(|entry| (&entry.row, &entry.caller))
    }

    /// When a key was last shown, as far as this server knows.
    pub(crate) fn last_use(&self, row: &KeyRow) -> Option<Millis> {
        let known = self.people.keys.get(&row.id);
        let known = known.map(|entry| entry.last_used_at.load(Ordering::Relaxed));
        known.filter(|at| *at > 0).max(row.last_used_at)
    }

    /// The keys whose last use is not stored yet.
    fn uses_to_store(&self) -> Vec<(Uuid, Millis)> {
        let used = self.people.keys.values().filter_map(|entry| {
            let at = entry.last_used_at.load(Ordering::Relaxed);
            (at > entry.row.last_used_at.unwrap_or(0)).then_some((entry.row.id, at))
        });
        used.collect()
    }
}

impl KeyEntry {
    fn new(row: KeyRow, caller: Caller) -> Self {
        KeyEntry {
            last_used_at: AtomicI64::new(row.last_used_at.unwrap_or(0)),
            caller: Arc::new(caller),
            row,
        }
    }
}

pub(crate) fn role_of(user: &UserRow) -> Role {
    // An unknown word is no right: a later version may have written it.
    Role::from_name(&user.role).unwrap_or(Role::Viewer)
}

pub(crate) fn key_caller(user: &UserRow, row: &KeyRow) -> Caller {
    let caller = Caller::of_user(user.id, &user.name, role_of(user), Transport::Rest);
    Caller {
        key: Some(row.name.as_str().into()),
        key_id: Some(row.id),
        scopes: scopes_from(&row.scopes).within(caller.scopes),
        until: row.expires_at,
        ..caller
    }
}

pub(crate) fn scopes_from(text: &str) -> Scopes {
    text.split(',').filter_map(Scope::from_name).collect()
}

/// Whoever holds the machine itself: the operator's key, the owner's socket, `--dev`.
pub fn operator_caller(key: &str) -> Caller {
    Caller {
        key: Some(key.into()),
        ..Caller::of_user(ADMIN_USER, "admin", Role::Admin, Transport::Rest)
    }
}

impl App {
    /// Whether somebody who was let in would still be: their user and their key are there, and nothing has ended.
    pub fn is_still_let_in(&self, caller: &Caller) -> bool {
        let now = self.clock.now();
        let access = self.access.load();
        let user = access.user(caller.user);
        let key = caller.key_id.map(|id| access.key(id));
        let is_ended =
            |(row, _): (&KeyRow, &Arc<Caller>)| row.expires_at.is_some_and(|end| end <= now);
        user.is_some_and(|user| user.deleted_at.is_none())
            && caller.until.is_none_or(|until| now < until)
            && key.is_none_or(|key| key.is_some_and(|key| !is_ended(key)))
    }

    pub(crate) fn user_name(&self, id: Uuid) -> String {
        let access = self.access.load();
        access
            .user(id)
            .map_or_else(|| id.to_string(), |user| user.name.clone())
    }

    /// Stores what changes about people and keys, and lets it count. The caller holds `access_changes`.
    pub(crate) async fn commit_access(
        &self,
        known: Known,
        mut writes: Vec<store::Write>,
    ) -> Result<()> {
        writes.push(known.unless(Subject::Access));
        self.store_access(&writes).await?;
        self.load_access().await
    }

    /// Stores a change without reading anything back. The caller holds `access_changes`.
    pub(crate) async fn store_access(&self, writes: &[store::Write]) -> Result<()> {
        Ok(self.store.write(writes).await?)
    }

    /// Lets a session count that is stored, and those end that made room for it. The caller holds `access_changes`.
    pub(crate) fn show_session(&self, user: &UserRow, row: &SessionRow, ended: &[Hash]) {
        let access = self.access.load();
        let mut sessions = access.sessions.clone();
        for hash in ended {
            sessions = sessions.without(hash);
        }
        if let Some((hash, session)) = session_of(user, row) {
            sessions = sessions.with(hash, session);
        }
        self.set_access(access.with_sessions(sessions));
    }

    /// Lets a session end whose end is stored. The caller holds `access_changes`.
    pub(crate) fn hide_session(&self, hash: &Hash) {
        let access = self.access.load();
        let sessions = access.sessions.without(hash);
        self.set_access(access.with_sessions(sessions));
    }

    /// Reads users, keys and sessions anew. Where that fails it is tried again until it works: what is stored counts,
    /// also when nobody changes anything afterwards. The caller holds `access_changes`.
    pub(crate) async fn load_access(&self) -> Result<()> {
        self.try_load_access().await.map_err(|error| {
            tracing::error!(
                ?error,
                "a stored change of users and keys does not count yet"
            );
            self.store.doubt();
            let why = "The change is stored but does not count yet; the server goes on trying";
            Error::Unavailable(why.to_owned())
        })
    }

    /// Reads sessions anew, and nothing else. The caller holds `access_changes`.
    pub(crate) async fn load_sessions(&self, which: Which) -> Result<()> {
        let (access, now) = (self.access.load_full(), self.clock.now());
        let in_memory = |row: &SessionRow| {
            let user = access.user(row.user_id);
            session_of(user.filter(|user| user.deleted_at.is_none())?, row)
        };
        let sessions = match which {
            Which::All => {
                let rows = self.store.sessions(now).await?;
                rows.iter().filter_map(in_memory).collect()
            }
            Which::These(users) => {
                let ids: Vec<Uuid> = users.iter().copied().collect();
                let rows = self.store.sessions_of(&ids, now).await?;
                let theirs = rows.iter().filter_map(in_memory);
                access.sessions.instead(&users, theirs)
            }
        };
        self.set_access(access.with_sessions(sessions));
        Ok(())
    }

    pub(crate) async fn try_load_access(&self) -> Result<()> {
        if let Err(error) = self.store_key_uses().await {
            tracing::warn!(%error, "when keys were last used could not be stored");
        }
        let access = read_access(&self.store, self.admin_key.as_deref(), self.clock.now()).await?;
        self.policy_without(access.left());
        self.set_access(access);
        self.kept_servers.doubted.notify_one();
        Ok(())
    }

    /// Lets these in and nobody else, and tells those who let somebody stay.
    fn set_access(&self, access: Access) {
        self.access.store(Arc::new(access));
        self.access_changed.send_replace(());
    }

    /// Told whenever somebody may come in who could not before, or no longer.
    pub fn follow_access(&self) -> watch::Receiver<()> {
        self.access_changed.subscribe()
    }

    /// Tells the policy who is gone.
    pub(crate) fn policy_without(&self, left: HashSet<Uuid>) {
        let policy = self.executor.policy.load();
        if policy.left != left {
            let mut policy = (**policy).clone();
            policy.left = left;
            self.executor.set_policy(policy);
        }
    }

    /// Notes in the database when keys were last used; now and then, and at the end.
    pub async fn store_key_uses(&self) -> Result<()> {
        let used = self.access.load().uses_to_store();
        self.store.keys_used(&used).await?;
        Ok(())
    }
}

/// A stored session in memory.
fn session_of(user: &UserRow, row: &SessionRow) -> Option<(Hash, Session)> {
    let mut caller = Caller::of_user(user.id, &user.name, role_of(user), Transport::Page);
    caller.until = Some(row.expires_at);
    let session = Session {
        created_at: row.created_at,
        expires_at: row.expires_at,
        caller: Arc::new(caller),
    };
    Some((row.hash.as_slice().try_into().ok()?, session))
}

pub(crate) async fn read_access(
    store: &store::Db,
    operator_key: Option<&str>,
    now: Millis,
) -> store::Result<Access> {
    let (users, keys) = (store.users().await?, store.keys().await?);
    let sessions = store.sessions(now).await?;
    Ok(Access::new(users, keys, &sessions, operator_key))
}
