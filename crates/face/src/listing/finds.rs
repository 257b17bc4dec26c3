//! Whether two tools stand for all others, found out without making the list: a call waits for it.

use super::{Known, Listings, Who, plainly};
use catalog::caller::Caller;
use catalog::catalogue::Catalogue;
use catalog::names::Names;
use catalog::policy::{Policy, Verdict};
use catalog::toolset::Shown;
use std::sync::Arc;

impl Known {
    /// Whether the list is still made from what counts now.
    pub(super) fn holds(
        &self,
        catalogue: &Arc<Catalogue>,
        policy: &Arc<Policy>,
        caller: &Caller,
    ) -> bool {
        Arc::ptr_eq(&self.catalogue, catalogue)
            && Arc::ptr_eq(&self.policy, policy)
            && self.scopes == caller.scopes
    }
}

impl Listings {
    pub(super) fn who(&self, policy: &Policy, caller: &Caller) -> Who {
        Who {
            user: caller.user,
            key: caller.key_id,
            toolset: caller.toolset.clone(),
            names: policy.names(caller).unwrap_or(self.names),
        }
    }

    /// Whether a caller gets two tools in the place of theirs.
    pub(crate) fn by_finding(
        &self,
        catalogue: &Arc<Catalogue>,
        policy: &Arc<Policy>,
        caller: &Caller,
    ) -> bool {
        if is_asked_for(policy, caller) {
            return true;
        }
        let most = self.find_tools_above;
        if most == 0 {
            return false;
        }
        let who = self.who(policy, caller);
        // Whoever holds this may be making a list, which takes longer than counting.
        if let Ok(kept) = self.kept.try_lock()
            && let Some(known) = kept.by_caller.get(&who)
            && known.holds(catalogue, policy, caller)
        {
            return known.listing.found_among.is_some();
        }
        let is_listed = |it: &Shown<'_>| {
            let is_allowed = policy.verdict(caller, &it.entry.tool) == Verdict::Allowed;
            is_allowed
                && (who.names == Names::Dotted
                    || !plainly(vec![*it], catalogue, policy, caller).is_empty())
        };
        let count = match (&caller.toolset, policy.toolset(caller)) {
            (None, _) => {
                let all = catalogue.after(None).map(Shown::plain);
                all.filter(is_listed).take(most + 1).count()
            }
            (Some(_), Some(set)) => {
                let all = set.members(catalogue).into_iter();
                all.filter(is_listed).take(most + 1).count()
            }
            (Some(_), None) => 0,
        };
        count > most
    }
}

/// Whether a toolset wants it, however few tools it has.
pub(super) fn is_asked_for(policy: &Policy, caller: &Caller) -> bool {
    let set = policy.toolset(caller);
    set.is_some_and(|set| set.definition.find_tools)
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::caller::{Role, Transport};
    use catalog::catalogue::Change;
    use catalog::definition::{Origin, definition_from_text};
    use catalog::tool::{SYSTEM_USER, Shelf, Tool, id_from_name};
    use serde_json::json;

    fn tool(name: &str) -> Change {
        let text = json!({
            "name": name, "description": "d", "kind": "expression", "config": {"expression": "1"},
            "input_schema": {"type": "object"},
        });
        let origin = Origin::Body(Shelf::Database);
        let definition = definition_from_text("test", &text.to_string(), origin).unwrap();
        Change::Put(Tool {
            id: id_from_name(name),
            owner: SYSTEM_USER,
            shelf: Shelf::Database,
            version: 1,
            created_at: 0,
            updated_at: 0,
            hash: definition.hash(),
            definition,
        })
    }

    #[test]
    fn it_is_found_out_without_a_list() {
        let tools = Vec::from(["t0", "t1", "t2"].map(tool));
        let catalogue = Arc::new(Catalogue::default().with(tools));
        let all = Arc::new(Policy::default());
        let two = Arc::new(Policy::new(true, "t0,t2"));
        let caller = Caller::of_user(SYSTEM_USER, "admin", Role::Admin, Transport::Mcp);
        for names in [Names::Dotted, Names::Plain] {
            for (above, policy, by_finding) in [
                (0, &all, false),
                (2, &all, true),
                (3, &all, false),
                (1, &two, true),
                (2, &two, false),
            ] {
                let listings = Listings::new(above, names);
                let found = listings.by_finding(&catalogue, policy, &caller);
                assert_eq!(found, by_finding, "{above} {names:?}");
                assert!(listings.kept.lock().unwrap().by_caller.is_empty());
                // And while somebody makes one, nobody waits for it.
                let _made = listings.kept.lock().unwrap();
                let found = listings.by_finding(&catalogue, policy, &caller);
                assert_eq!(found, by_finding, "{above} {names:?}");
            }
        }
    }
}
