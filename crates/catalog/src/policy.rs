//! Who may use what: the one decision that list, search and call all ask.

use crate::caller::{Caller, Scope};
use crate::tool::{SYSTEM_USER, Tool};

/// What a caller may do with a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As if it did not exist.
    Hidden,
    /// Listed, but a call is refused with this reason.
    Denied(&'static str),
    Allowed,
}

/// The refusal of the whitelist, in the words of the people who asked for it.
pub const BLOCKED_BY_WHITELIST: &str = "Blocked by whitelist policy";

/// What the operator has decided for everybody.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// `FEATURE_TOOLS_POLICY`: without it the whitelist is not looked at.
    pub enforced: bool,
    /// `TOOL_WHITELIST`; none allows every tool.
    pub whitelist: Option<Vec<String>>,
}

impl Policy {
    /// Reads the whitelist as it stands in the environment: comma separated, trimmed, empty = all.
    pub fn new(enforced: bool, whitelist: &str) -> Self {
        let names: Vec<String> = whitelist
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        Policy {
            enforced,
            whitelist: (!names.is_empty()).then_some(names),
        }
    }

    pub fn verdict(&self, caller: &Caller, tool: &Tool) -> Verdict {
        if !may_see(caller, tool) {
            return Verdict::Hidden;
        }
        match &self.whitelist {
            Some(names) if self.enforced && !names.contains(&tool.definition.name) => {
                Verdict::Denied(BLOCKED_BY_WHITELIST)
            }
            _ => Verdict::Allowed,
        }
    }
}

fn may_see(caller: &Caller, tool: &Tool) -> bool {
    tool.owner == SYSTEM_USER
        || tool.owner == caller.user
        || tool.definition.is_public
        || caller.scopes.allow(Scope::Admin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::{Scopes, Transport};
    use crate::tool::tests::tool;
    use uuid::Uuid;

    fn caller(user: Uuid, scopes: Scopes) -> Caller {
        Caller {
            user,
            user_name: "someone".into(),
            key: None,
            agent: None,
            run: None,
            toolset: None,
            transport: Transport::Rest,
            scopes,
        }
    }

    #[test]
    fn the_whitelist_counts_only_when_enforced_and_not_empty() {
        let caller = caller(Uuid::from_u128(9), Scopes::from_iter([Scope::Call]));
        let verdict = |enforced, list, name: &str| {
            Policy::new(enforced, list).verdict(&caller, &tool(name, SYSTEM_USER))
        };
        let blocked = Verdict::Denied("Blocked by whitelist policy");
        assert_eq!(
            verdict(true, " web_search , calculator ", "calculator"),
            Verdict::Allowed
        );
        assert_eq!(verdict(true, "web_search,calculator", "shell"), blocked);
        assert_eq!(verdict(false, "web_search", "shell"), Verdict::Allowed);
        assert_eq!(verdict(true, "", "shell"), Verdict::Allowed);
        assert_eq!(verdict(true, " , ", "shell"), Verdict::Allowed);
    }

    #[test]
    fn another_users_private_tool_does_not_exist() {
        let (owner, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut theirs = tool("theirs", owner);
        let policy = Policy::new(true, "nothing");
        let call = Scopes::from_iter([Scope::Call]);
        assert_eq!(
            policy.verdict(&caller(other, call), &theirs),
            Verdict::Hidden
        );
        assert!(matches!(
            policy.verdict(&caller(owner, call), &theirs),
            Verdict::Denied(_)
        ));
        assert!(matches!(
            policy.verdict(&caller(other, Scopes::all()), &theirs),
            Verdict::Denied(_)
        ));
        theirs.definition.is_public = true;
        assert!(matches!(
            policy.verdict(&caller(other, call), &theirs),
            Verdict::Denied(_)
        ));
    }
}
