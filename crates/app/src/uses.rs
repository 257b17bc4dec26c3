//! Which tools and agents refer to something by its name, so that nothing is removed that somebody still needs.

use crate::App;
use catalog::caller::Caller;
use catalog::policy::Verdict;
use catalog::tool::Tool;
use std::collections::HashMap;
use std::fmt;

/// Those that refer to one thing.
#[derive(Default)]
pub(crate) struct Users {
    /// Tools, by name.
    pub(crate) seen: Vec<String>,
    agents: Vec<String>,
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

impl Users {
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty() && self.agents.is_empty() && self.hidden == 0
    }

    /// An agent; without its name where the asker may not see it.
    pub(crate) fn add_agent(&mut self, name: Option<String>) {
        match name {
            Some(name) => self.agents.push(name),
            None => self.hidden += 1,
        }
    }
}

impl fmt::Display for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.seen.iter().map(|name| format!("'{name}'"));
        let hidden = (self.hidden > 0).then(|| format!("{} that you cannot see", self.hidden));
        let agents = self.agents.iter().map(|name| format!("the agent '{name}'"));
        let all: Vec<String> = seen.chain(agents).chain(hidden).collect();
        f.write_str(&all.join(", "))
    }
}
