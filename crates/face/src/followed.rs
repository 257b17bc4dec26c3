//! The resources of upstream servers that clients follow. A server is told once of each, however many follow it, and once
//! more when nobody does.

use crate::Face;
use mcp::upstream::Upstream;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How many follow each resource, by its server.
#[derive(Debug, Default)]
pub(crate) struct Followed(Mutex<BTreeMap<String, BTreeMap<String, usize>>>);

impl Followed {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<String, usize>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one client follows, by what it calls it. Ours never change, so nobody needs to be told of those.
pub(crate) type Follows = HashMap<String, Option<Follow>>;

/// That a client follows a resource, for as long as this is there.
#[derive(Debug)]
pub(crate) struct Follow {
    face: Weak<Face>,
    server: String,
    /// What the server calls it.
    own: String,
    /// What the client calls it, which ends with the former.
    shown: String,
}

impl Follow {
    /// What the client is told when this resource of this server has changed: nothing, or what that is called here. A
    /// server may tell of one that lies below.
    fn told(&self, server: &str, uri: &str) -> Option<String> {
        let below = uri
            .strip_prefix(&self.own)
            .filter(|_| self.server == server)?;
        let is_below = below.is_empty() || below.starts_with('/') || self.own.ends_with('/');
        is_below.then(|| format!("{}{below}", self.shown))
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        if let Some(face) = self.face.upgrade() {
            face.unfollow(&self.server, &self.own);
        }
    }
}

/// What a client is told when a resource has changed, if it follows that.
pub(crate) fn told(follows: &Follows, server: &str, uri: &str) -> Option<String> {
    let mut all = follows.values().flatten();
    all.find_map(|follow| follow.told(server, uri))
}

impl Face {
    /// Lets a client follow what a server calls `own` and the client `shown`.
    pub(crate) fn follow(self: &Arc<Self>, server: &Upstream, own: String, shown: &str) -> Follow {
        let mut all = self.followed.lock();
        let of_server = all.entry(server.name().to_owned()).or_default();
        *of_server.entry(own.clone()).or_default() += 1;
        server.watch(of_server.keys().cloned().collect());
        Follow {
            face: Arc::downgrade(self),
            server: server.name().to_owned(),
            own,
            shown: shown.to_owned(),
        }
    }

    fn unfollow(&self, server: &str, own: &str) {
        let mut all = self.followed.lock();
        let Some(of_server) = all.get_mut(server) else {
            return;
        };
        if let Some(count) = of_server.get_mut(own) {
            *count -= 1;
            if *count > 0 {
                return;
            }
            of_server.remove(own);
        }
        let left: BTreeSet<String> = of_server.keys().cloned().collect();
        if left.is_empty() {
            all.remove(server);
        }
        if let Some(server) = self.app.upstreams.get(server) {
            server.watch(left);
        }
    }

    /// Tells a server again what is followed: it may be a new one under an old name.
    pub(crate) fn tell_followed(&self, server: &str) {
        let all = self.followed.lock();
        if let (Some(followed), Some(server)) = (all.get(server), self.app.upstreams.get(server)) {
            server.watch(followed.keys().cloned().collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_by_the_name_that_the_client_knows() {
        let follow = |own: &str, shown: &str| Follow {
            face: Weak::new(),
            server: "b".to_owned(),
            own: own.to_owned(),
            shown: shown.to_owned(),
        };
        let (shown, folder) = ("toolcrib+b:x://a", follow("x://d/", "x://d/"));
        let follows = Follows::from([
            (shown.to_owned(), Some(follow("x://a", shown))),
            ("x://d/".to_owned(), Some(folder)),
            ("test://fixture".to_owned(), None),
        ]);
        let told = |server, uri| told(&follows, server, uri);
        assert_eq!(told("b", "x://a").as_deref(), Some(shown));
        let below = told("b", "x://a/1");
        assert_eq!(below.as_deref(), Some("toolcrib+b:x://a/1"));
        assert_eq!(told("b", "x://d/1").as_deref(), Some("x://d/1"));
        assert_eq!(told("a", "x://a"), None, "another server's");
        assert_eq!(told("b", "x://ab"), None);
    }
}
