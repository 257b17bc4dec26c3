//! The open sessions, in memory, by the hash of their secret. They lie in drawers by their first byte, so that a login
//! copies one drawer and not all of them.

use catalog::caller::Caller;
use catalog::tool::Millis;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use uuid::Uuid;

/// How many sessions one user can have open. With one more the oldest ends: who forgets to log out, or whose password
/// somebody else uses, does not fill the server.
pub const PER_USER_MAX: usize = 20;

const DRAWERS: usize = 256;

/// SHA-256 of what somebody shows: all that is kept of it.
pub(crate) type Hash = [u8; 32];

pub(crate) fn hash_of(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) created_at: Millis,
    pub(crate) expires_at: Millis,
    pub(crate) caller: Arc<Caller>,
}

/// An immutable set: `with` and `without` give another one that shares all drawers but one.
#[derive(Debug, Clone)]
pub(crate) struct Sessions(Vec<Arc<HashMap<Hash, Session>>>);

impl Default for Sessions {
    fn default() -> Self {
        Sessions(vec![Arc::default(); DRAWERS])
    }
}

impl FromIterator<(Hash, Session)> for Sessions {
    fn from_iter<I: IntoIterator<Item = (Hash, Session)>>(sessions: I) -> Self {
        let mut all = Sessions::default();
        for (hash, session) in sessions {
            all.drawer(&hash).insert(hash, session);
        }
        all
    }
}

impl Sessions {
    pub(crate) fn get(&self, hash: &Hash) -> Option<&Session> {
        self.0[usize::from(hash[0])].get(hash)
    }

    /// With one more; what is over by then is dropped from its drawer.
    pub(crate) fn with(&self, hash: Hash, session: Session) -> Self {
        let mut all = self.clone();
        let drawer = all.drawer(&hash);
        drawer.retain(|_, other| other.expires_at > session.created_at);
        drawer.insert(hash, session);
        all
    }

    pub(crate) fn without(&self, hash: &Hash) -> Self {
        let mut all = self.clone();
        all.drawer(hash).remove(hash);
        all
    }

    /// With these in place of all that some people have.
    pub(crate) fn instead(
        &self,
        users: &BTreeSet<Uuid>,
        theirs: impl IntoIterator<Item = (Hash, Session)>,
    ) -> Self {
        let mut all = self.clone();
        let is_theirs = |session: &Session| users.contains(&session.caller.user);
        for drawer in &mut all.0 {
            if drawer.values().any(is_theirs) {
                Arc::make_mut(drawer).retain(|_, session| !is_theirs(session));
            }
        }
        for (hash, session) in theirs {
            all.drawer(&hash).insert(hash, session);
        }
        all
    }

    /// Those that have to end before this user can open another, the oldest first.
    pub(crate) fn making_room_for(&self, user: Uuid, now: Millis) -> Vec<Hash> {
        let all = self.0.iter().flat_map(|drawer| drawer.iter());
        let mut theirs: Vec<(Millis, Hash)> = all
            .filter(|(_, session)| session.caller.user == user && session.expires_at > now)
            .map(|(hash, session)| (session.created_at, *hash))
            .collect();
        theirs.sort_unstable();
        let over = (theirs.len() + 1).saturating_sub(PER_USER_MAX);
        theirs[..over].iter().map(|(_, hash)| *hash).collect()
    }

    /// Copied now, unless it is nobody else's.
    fn drawer(&mut self, hash: &Hash) -> &mut HashMap<Hash, Session> {
        Arc::make_mut(&mut self.0[usize::from(hash[0])])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::caller::{Role, Transport};

    fn session(user: u128, created_at: Millis) -> Session {
        let caller = Caller::of_user(Uuid::from_u128(user), "x", Role::Viewer, Transport::Page);
        Session {
            created_at,
            expires_at: created_at + 100,
            caller: Arc::new(caller),
        }
    }

    fn hash(n: usize) -> Hash {
        hash_of(&n.to_string())
    }

    #[test]
    fn one_more_copies_one_drawer() {
        let before: Sessions = (0..1_000).map(|n| (hash(n), session(1, 0))).collect();
        let after = before.with(hash(1_000), session(2, 1));
        let shared = |a: &Sessions, b: &Sessions| {
            let pairs = a.0.iter().zip(&b.0);
            pairs.filter(|(a, b)| Arc::ptr_eq(a, b)).count()
        };
        assert_eq!(shared(&before, &after), DRAWERS - 1);
        assert!(
            before.get(&hash(1_000)).is_none(),
            "the old one is as it was"
        );
        assert!(after.get(&hash(1_000)).is_some() && after.get(&hash(7)).is_some());
        let ended = after.without(&hash(7));
        assert_eq!(shared(&after, &ended), DRAWERS - 1);
        assert!(ended.get(&hash(7)).is_none() && after.get(&hash(7)).is_some());
    }

    #[test]
    fn the_oldest_make_room() {
        let mut all: Sessions = (0..PER_USER_MAX - 1)
            .map(|n| (hash(n), session(1, 50 - n as Millis)))
            .collect();
        let (kim, lee) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert!(all.making_room_for(kim, 70).is_empty());
        all = all
            .with(hash(100), session(1, 60))
            .with(hash(101), session(2, 1));
        assert_eq!(all.making_room_for(kim, 70), [hash(PER_USER_MAX - 2)]);
        assert!(all.making_room_for(lee, 70).is_empty());
        all = all.with(hash(102), session(1, 61));
        let oldest = [hash(PER_USER_MAX - 2), hash(PER_USER_MAX - 3)];
        assert_eq!(all.making_room_for(kim, 70), oldest);
        assert!(all.making_room_for(kim, 140).is_empty(), "most are over");
    }
}
