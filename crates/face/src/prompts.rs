//! What the prompts of upstream servers are called: `server.prompt`, or `server__prompt` for clients that take no dots.

use catalog::names::PlainName;
use mcp::upstream::{Lists, Upstream};
use std::collections::HashMap;
use std::sync::Arc;

/// Their names without dots.
pub(crate) struct PlainPrompts {
    /// How many would have each.
    counts: HashMap<Arc<str>, usize>,
}

impl PlainPrompts {
    /// Of all of them, whoever may use which: a name stands for one prompt, or for none.
    pub(crate) fn new<'a>(servers: impl Iterator<Item = (&'a str, &'a Lists)>) -> Self {
        let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
        for (server, lists) in servers {
            for own in names(lists) {
                let plain = PlainName::of_server(server, own);
                *counts.entry(plain.short).or_default() += 1;
            }
        }
        PlainPrompts { counts }
    }

    pub(crate) fn of(&self, server: &str, own: &str) -> String {
        let plain = PlainName::of_server(server, own);
        match self.counts.get(&plain.short) {
            Some(1) => plain.short.to_string(),
            _ => plain.hashed.to_string(),
        }
    }
}

fn names(lists: &Lists) -> impl Iterator<Item = &str> {
    lists.prompts.iter().filter_map(|it| it["name"].as_str())
}

/// The prompt that a name without dots stands for: its server, and what it is called there.
pub(crate) fn meant(servers: Vec<Arc<Upstream>>, name: &str) -> Option<(Arc<Upstream>, String)> {
    let (mut short, mut hashed) = (Vec::new(), Vec::new());
    for server in servers {
        if !PlainName::may_be_of(server.name(), name) {
            continue;
        }
        for own in names(&server.lists()) {
            let plain = PlainName::of_server(server.name(), own);
            let found = || (Arc::clone(&server), own.to_owned());
            if *plain.short == *name {
                short.push(found());
            } else if *plain.hashed == *name {
                hashed.push(found());
            }
        }
    }
    let found = if short.is_empty() { hashed } else { short };
    match <[_; 1]>::try_from(found) {
        Ok([only]) => Some(only),
        Err(_) => None,
    }
}

/// Whether a server has a prompt of this name.
pub(crate) fn has(server: &Upstream, own: &str) -> bool {
    server.lists().prompts.iter().any(|it| it["name"] == *own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn lists(names: &[&str]) -> Lists {
        let prompts = names.iter().map(|name| json!({"name": name}));
        Lists {
            prompts: prompts.collect::<Vec<Value>>(),
            ..Lists::default()
        }
    }

    #[test]
    fn prompts_that_would_have_one_name_get_two() {
        let (one, two) = (lists(&["b__c", "review it"]), lists(&["c"]));
        let plain = PlainPrompts::new([("a", &one), ("a__b", &two)].into_iter());
        assert_eq!(plain.of("a", "review it"), "a__review_it");
        let both = [plain.of("a", "b__c"), plain.of("a__b", "c")];
        assert!(both.iter().all(|it| it.starts_with("a__b__c_")), "{both:?}");
        assert_ne!(both[0], both[1]);
    }
}
