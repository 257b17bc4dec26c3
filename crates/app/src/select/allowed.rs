//! Which tools somebody may be told to call: the verdict on all tools, asked once for each caller and again when the tools
//! or the policy have changed, so that a request costs no more than its ranking. What words are worth among these tools is
//! kept with it, once for all callers who may call the same.

use super::{ASKING, Choice};
use crate::error::{Error, Result};
use catalog::caller::{Caller, Role, Scope};
use catalog::catalogue::Entry;
use catalog::policy::{Denial, Policy, Verdict};
use selection::Shown;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use uuid::Uuid;

/// For how many callers it is kept.
const CALLERS_MAX: usize = 256;
/// And for how many different sets of tools: each takes half a megabyte, and some bytes for each tool.
const SETS_MAX: usize = 32;

/// All of a caller that a verdict looks at: an access token may hold fewer scopes than a session of the same user.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Who {
    user: Uuid,
    role: Role,
    key: Option<Uuid>,
    agent: Option<Uuid>,
    toolset: Option<Arc<str>>,
    scopes: Vec<&'static str>,
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
            // Who may only look is told what they would need, and is no other for it.
            scopes: caller.scopes.with(Scope::Call).names(),
            may_wait,
        }
    }
}

/// What came of it, and of what.
#[derive(Debug)]
struct Known {
    choice: Weak<Choice>,
    policy: Weak<Policy>,
    allowed: Vec<bool>,
    shown: Arc<Shown>,
}

#[derive(Debug, Default)]
pub(crate) struct Allowed(Mutex<HashMap<Who, Known>>);

impl Allowed {
    /// The tools of a choice that this caller may be told to call: also those that somebody has to approve first, where they
    /// may wait for that.
    pub(crate) fn of(
        &self,
        choice: &Arc<Choice>,
        policy: &Arc<Policy>,
        caller: &Caller,
        may_wait: bool,
    ) -> Arc<Shown> {
        let who = Who::of(caller, may_wait);
        let (chosen, judge) = (Arc::downgrade(choice), Arc::downgrade(policy));
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&who)
            && known.choice.ptr_eq(&chosen)
            && known.policy.ptr_eq(&judge)
        {
            return Arc::clone(&known.shown);
        }
        let allowed = allowed(policy, &choice.entries, caller, may_wait);
        let same = |it: &&Known| it.choice.ptr_eq(&chosen) && it.allowed == allowed;
        let same = lock().values().find(same).map(|it| Arc::clone(&it.shown));
        let shown = same.unwrap_or_else(|| Arc::new(choice.corpus.shown(|at| allowed[at])));
        let mut kept = lock();
        // Those of tools as they were are of no use to anybody.
        kept.retain(|_, it| it.choice.ptr_eq(&chosen));
        let sets: HashSet<*const Shown> = kept.values().map(|it| Arc::as_ptr(&it.shown)).collect();
        if kept.len() >= CALLERS_MAX || sets.len() >= SETS_MAX {
            // Rare enough to begin anew.
            kept.clear();
        }
        let known = Known {
            choice: chosen,
            policy: judge,
            allowed,
            shown: Arc::clone(&shown),
        };
        kept.insert(who, known);
        shown
    }
}

/// Of each of some tools, whether this caller may be told to call it.
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
