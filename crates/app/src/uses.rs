//! Which tools refer to something by its name, so that nothing is removed that somebody still needs.

use crate::App;
use catalog::caller::Caller;
use catalog::policy::Verdict;
use catalog::tool::Tool;
use std::collections::HashMap;
use std::fmt;

/// The tools that refer to one thing.
#[derive(Default)]
pub(crate) struct Users {
    pub(crate) seen: Vec<String>,
    /// Those that the asker may not see.
    hidden: usize,
}

impl App {
    /// By the names that `named` finds in a tool.
    pub(crate) fn users_of(
        &self,
        caller: &Caller,
        named: impl Fn(&Tool) -> Vec<String>,
    ) -> HashMap<String, Users> {
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        let mut users: HashMap<String, Users> = HashMap::new();
        for entry in catalogue.after(None) {
            let mut names = named(&entry.tool);
            names.sort_unstable();
            names.dedup();
            for name in names {
                let users = users.entry(name).or_default();
                match policy.verdict(caller, &entry.tool) {
                    Verdict::Hidden => users.hidden += 1,
                    _ => users.seen.push(entry.name.to_string()),
                }
            }
        }
        users
    }
}

impl fmt::Display for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.seen.iter().map(|name| format!("'{name}'"));
        let hidden = (self.hidden > 0).then(|| format!("{} that you cannot see", self.hidden));
        let all: Vec<String> = seen.chain(hidden).collect();
        f.write_str(&all.join(", "))
    }
}
