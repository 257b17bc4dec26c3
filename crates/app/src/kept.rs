//! What users keep under a name of their own: agents, toolsets and their like are found, listed, changed and brought back
//! alike. What differs is what they hold and who has to know of a change.

use crate::App;
use crate::error::{Error, Result, expect_version};
use crate::{page, patch};
use catalog::caller::{Caller, Scope};
use catalog::tool::Millis;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// What is the same of everything that is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) id: Uuid,
    pub(crate) owner: Uuid,
    pub(crate) name: &'a str,
    pub(crate) description: Option<&'a str>,
    pub(crate) is_public: bool,
    pub(crate) version: i64,
    pub(crate) updated_at: Millis,
    pub(crate) deleted_at: Option<Millis>,
}

impl Head<'_> {
    pub(crate) fn may_see(&self, caller: &Caller) -> bool {
        self.owner == caller.user || self.is_public || caller.scopes.allow(Scope::Admin)
    }

    /// Whether it is still what somebody saw before they changed it.
    pub(crate) fn expect(&self, what: &str, version: Option<i64>) -> Result<()> {
        expect_version(what, self.name, self.version, version)
    }
}

/// One of them. A trait, because each is stored in rows of its own.
pub(crate) trait Thing {
    /// What it is called in a sentence.
    const WHAT: &'static str;

    fn head(&self) -> Head<'_>;

    /// The author's part of it.
    fn shape(&self) -> Value;

    /// What a merge patch makes of it, as an author would write it.
    fn patched(&self, patch: &str) -> Result<String> {
        let patch = patch::read(patch)?;
        let mut merged = self.shape();
        patch::merge(&mut merged, patch);
        Ok(merged.to_string())
    }
}

/// Which to list.
#[derive(Debug, Default)]
pub(crate) struct Wanted<'a> {
    /// What stands in the name or the description.
    pub(crate) q: Option<&'a str>,
    pub(crate) limit: Option<usize>,
    /// The name that the page before ended with.
    pub(crate) cursor: Option<&'a str>,
}

/// All of one sort, also those that were removed: an immutable snapshot, as the catalogue is one of tools.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    by_id: HashMap<Uuid, Arc<T>>,
    /// In the order of names.
    sorted: Vec<Arc<T>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept {
            by_id: HashMap::new(),
            sorted: Vec::new(),
        }
    }
}

impl<T: Thing> Kept<T> {
    /// The same with these instead of what they were before.
    pub(crate) fn with(&self, things: impl IntoIterator<Item = T>) -> Self {
        let mut by_id = self.by_id.clone();
        by_id.extend(things.into_iter().map(|it| (it.head().id, Arc::new(it))));
        let mut sorted: Vec<Arc<T>> = by_id.values().cloned().collect();
        sorted.sort_unstable_by(|a, b| {
            let (a, b) = (a.head(), b.head());
            (a.name, a.updated_at).cmp(&(b.name, b.updated_at))
        });
        Kept { by_id, sorted }
    }

    /// Everything of one user, also what was removed.
    pub(crate) fn owned_by(&self, owner: Uuid) -> impl Iterator<Item = &Arc<T>> {
        self.sorted
            .iter()
            .filter(move |it| it.head().owner == owner)
    }

    /// Those that are not removed.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Arc<T>> {
        let all = self.sorted.iter();
        all.filter(|it| it.head().deleted_at.is_none())
    }

    /// Also one that was removed.
    pub(crate) fn by_id(&self, id: Uuid) -> Option<Arc<T>> {
        self.by_id.get(&id).cloned()
    }

    /// By id or name; of several that were removed under one name the last.
    fn find(&self, asked: &str, gone: bool) -> Option<&Arc<T>> {
        let meant = |it: &&Arc<T>| it.head().deleted_at.is_some() == gone;
        let id = Uuid::parse_str(asked).ok();
        if let Some(found) = id.and_then(|id| self.by_id.get(&id)).filter(meant) {
            return Some(found);
        }
        let from = self.sorted.partition_point(|it| it.head().name < asked);
        let named = self.sorted[from..].iter();
        let named = named.take_while(|it| it.head().name == asked);
        named.filter(meant).last()
    }

    /// One that the caller may see; a removed one where `gone`.
    pub(crate) fn visible(&self, caller: &Caller, asked: &str, gone: bool) -> Result<Arc<T>> {
        let found = self.find(asked, gone);
        let found = found.filter(|it| it.head().may_see(caller));
        found.cloned().ok_or_else(|| Error::NotFound {
            what: T::WHAT,
            name: asked.to_owned(),
        })
    }

    /// One that the caller may change.
    pub(crate) fn own(&self, caller: &Caller, asked: &str, gone: bool) -> Result<Arc<T>> {
        let found = self.visible(caller, asked, gone)?;
        let head = found.head();
        if head.owner != caller.user && !caller.scopes.allow(Scope::Admin) {
            return Err(Error::Forbidden(format!(
                "Only its owner or an admin may change '{}'",
                head.name
            )));
        }
        Ok(found)
    }

    /// Whether this may be kept under its name.
    pub(crate) fn check_name(&self, new: &T) -> Result<()> {
        let head = new.head();
        let other = self.find(head.name, false);
        let other = other.filter(|other| other.head().id != head.id);
        if other.is_none() || head.deleted_at.is_some() {
            return Ok(());
        }
        let what = T::WHAT.to_lowercase();
        let article = match what.starts_with(['a', 'e', 'i', 'o', 'u']) {
            true => "An",
            false => "A",
        };
        Err(Error::conflict(format!(
            "{article} {what} named '{}' is there already. Choose another name, or change or remove that one",
            head.name
        )))
    }

    /// Those that the caller may see, of which `fits` is true, and where the next page begins.
    pub(crate) fn page(
        &self,
        caller: &Caller,
        wanted: &Wanted<'_>,
        fits: impl Fn(&T) -> bool,
    ) -> Result<(Vec<&Arc<T>>, Option<String>)> {
        let limit = page::limit(wanted.limit)?;
        let word = wanted.q.unwrap_or_default().to_lowercase();
        let is_wanted = |it: &&Arc<T>| {
            let head = it.head();
            let about = head.description.unwrap_or_default();
            wanted.cursor.is_none_or(|cursor| head.name > cursor)
                && head.may_see(caller)
                && format!("{}\n{about}", head.name)
                    .to_lowercase()
                    .contains(&word)
                && fits(it)
        };
        let mut found: Vec<&Arc<T>> = self.live().filter(is_wanted).take(limit + 1).collect();
        let is_more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| is_more);
        let next = last.map(|it| it.head().name.to_owned());
        Ok((found, next))
    }
}

impl App {
    /// Whose something new is: the caller's, unless an admin names somebody.
    pub(crate) fn owner_of_new(&self, caller: &Caller, owner: Option<&str>) -> Result<Uuid> {
        let Some(owner) = owner else {
            return Ok(caller.user);
        };
        if !caller.scopes.allow(Scope::Admin) {
            let why = "Only an admin may say whose something new is";
            return Err(Error::Forbidden(why.to_owned()));
        }
        self.owner_named(owner)
    }

    pub(crate) fn owner_named(&self, name: &str) -> Result<Uuid> {
        let access = self.access.load();
        let user = access.user_named(name);
        let user = user.filter(|user| user.deleted_at.is_none());
        let unknown = || Error::invalid(format!("owner: there is no user '{name}'"));
        Ok(user.ok_or_else(unknown)?.id)
    }
}
