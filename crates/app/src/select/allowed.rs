//! Which tools somebody may be told to call: the verdict on all tools, asked once for each caller and again when the tools
//! or the policy have changed, so that a request costs no more than its ranking.

use super::{ASKING, Choice};
use crate::error::{Error, Result};
use catalog::caller::{Caller, Role, Scope};
use catalog::catalogue::Entry;
use catalog::policy::{Denial, Policy, Verdict};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use uuid::Uuid;

/// For how many callers it is kept.
const CALLERS_MAX: usize = 256;

/// All of a caller that a verdict looks at, but for their scopes: whoever may ask is told what they could call.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Who {
    user: Uuid,
    role: Role,
    key: Option<Uuid>,
    agent: Option<Uuid>,
    toolset: Option<Arc<str>>,
    may_wait: bool,
}

impl Who {
    fn of(caller: &Caller, may_wait: bool) -> Self {
        Who {
            user: caller.user,
            role: caller.role,
            key: caller.key_id,
            agent: caller.agent,
            toolset: caller.toolset.clone(),
            may_wait,
        }
    }
}

/// What came of it, and of what.
#[derive(Debug)]
struct Known {
    choice: Weak<Choice>,
    policy: Weak<Policy>,
    allowed: Arc<[bool]>,
}

#[derive(Debug, Default)]
pub(crate) struct Allowed(Mutex<HashMap<Who, Known>>);

impl Allowed {
    /// Of each tool of a choice, whether this caller may be told to call it: also one that somebody has to approve first,
    /// where they may wait for that.
    pub(crate) fn of(
        &self,
        choice: &Arc<Choice>,
        policy: &Arc<Policy>,
        caller: &Caller,
        may_wait: bool,
    ) -> Arc<[bool]> {
        let who = Who::of(caller, may_wait);
        let (chosen, judge) = (Arc::downgrade(choice), Arc::downgrade(policy));
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&who)
            && known.choice.ptr_eq(&chosen)
            && known.policy.ptr_eq(&judge)
        {
            return Arc::clone(&known.allowed);
        }
        let allowed: Arc<[bool]> = allowed(policy, &choice.entries, caller, may_wait).into();
        let mut kept = lock();
        if kept.len() >= CALLERS_MAX {
            // Rare enough to begin anew.
            kept.clear();
        }
        let known = Known {
            choice: chosen,
            policy: judge,
            allowed: Arc::clone(&allowed),
        };
        kept.insert(who, known);
        allowed
    }
}

/// The same of any tools, asked anew.
pub(crate) fn allowed(
    policy: &Policy,
    entries: &[Arc<Entry>],
    caller: &Caller,
    may_wait: bool,
) -> Vec<bool> {
    // Who may only look is told what they would need.
    let caller = Caller {
        scopes: caller.scopes.with(Scope::Call),
        ..caller.clone()
    };
    let may = |entry: &Arc<Entry>| match policy.verdict(&caller, &entry.tool) {
        _ if *entry.name == *ASKING => false,
        Verdict::Allowed => true,
        verdict => may_wait && verdict == Verdict::Denied(Denial::Approval),
    };
    entries.iter().map(may).collect()
}

/// The tools to choose from; all, where none are named. What is not there is told like what may not be called: not at all.
pub(crate) struct Named<'a>(Option<HashSet<&'a str>>);

impl<'a> Named<'a> {
    pub(crate) fn new(names: Option<&'a [String]>) -> Result<Self> {
        if names.is_some_and(<[String]>::is_empty) {
            let why = "tools: expected at least one name; leave it out to choose among all tools";
            return Err(Error::invalid(why.to_owned()));
        }
        let set = |names: &'a [String]| names.iter().map(String::as_str).collect();
        Ok(Named(names.map(set)))
    }

    pub(crate) fn has(&self, entry: &Entry) -> bool {
        self.0.as_ref().is_none_or(|it| it.contains(&*entry.name))
    }
}
