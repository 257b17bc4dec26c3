//! The databases that SQL tools use, by name. Whoever keeps them puts them here; a call finds them without a lock.

use arc_swap::ArcSwap;
use executor::{Code, Failure};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A source under its name. Nobody is connected to before somebody asks it something.
#[derive(Debug)]
pub struct Named {
    pub name: String,
    /// Why it cannot be used is said to whoever tries.
    pub source: Result<sources::Source, String>,
    /// Whether tools with `write` may use it at all.
    pub allow_write: bool,
    /// Whether everybody who may store tools may store one on it; else only admins.
    pub authors_everyone: bool,
}

/// Opens a source of this name once more: what it lacked, such as its file, may be there by now.
type Reopen = Box<dyn Fn(&str) -> Option<Named> + Send + Sync>;

/// All there are.
#[derive(Default)]
pub struct Sources {
    by_name: ArcSwap<BTreeMap<String, Arc<Named>>>,
    reopen: OnceLock<Reopen>,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sources")
            .field(&self.by_name.load())
            .finish()
    }
}

impl Sources {
    /// The source of that name, ready to be asked.
    pub fn get(&self, name: &str) -> Result<Arc<Named>, Failure> {
        let Some(named) = self.find(name) else {
            let all = self.by_name.load();
            let known: Vec<&str> = all.keys().map(String::as_str).collect();
            let known = match known.is_empty() {
                true => "there are none".to_owned(),
                false => format!("there are {}", known.join(", ")),
            };
            return Err(Failure::new(
                Code::NotConfigured,
                format!(
                    "There is no source '{name}' ({known}); add it with `toolcrib sources add`"
                ),
            ));
        };
        match &named.source {
            Ok(_) => Ok(named),
            Err(why) => Err(Failure::new(
                Code::NotConfigured,
                format!("Source '{name}' cannot be used: {why}"),
            )),
        }
    }

    /// The source of that name, whether it can be used or not. One that could not is tried again.
    pub fn find(&self, name: &str) -> Option<Arc<Named>> {
        let found = self.by_name.load().get(name).cloned()?;
        let reopen = self.reopen.get().filter(|_| found.source.is_err());
        let again = reopen.and_then(|reopen| reopen(name));
        // Why it cannot be used may be another by now.
        let is_new = |again: &Named| again.source.as_ref().err() != found.source.as_ref().err();
        match again.filter(is_new) {
            Some(again) => Some(self.replace(&found, again)),
            None => Some(found),
        }
    }

    /// How those that could not be used are tried again. Only the first to say so is heard.
    pub fn reopen_with(&self, reopen: Reopen) {
        let _ = self.reopen.set(reopen);
    }

    /// Puts one in the place of whatever had its name. Calls under way end with the one that they began with.
    pub fn put(&self, named: Named) {
        let named = Arc::new(named);
        self.by_name.rcu(|all| {
            let mut all = BTreeMap::clone(all);
            all.insert(named.name.clone(), Arc::clone(&named));
            all
        });
    }

    pub fn remove(&self, name: &str) {
        self.by_name.rcu(|all| {
            let mut all = BTreeMap::clone(all);
            all.remove(name);
            all
        });
    }

    /// Unless somebody was faster: what they put there counts.
    fn replace(&self, old: &Arc<Named>, new: Named) -> Arc<Named> {
        let new = Arc::new(new);
        self.by_name.rcu(|all| {
            let mut all = BTreeMap::clone(all);
            let is_same = |now: &Arc<Named>| Arc::ptr_eq(now, old);
            if all.get(&new.name).is_some_and(is_same) {
                all.insert(new.name.clone(), Arc::clone(&new));
            }
            all
        });
        new
    }
}
