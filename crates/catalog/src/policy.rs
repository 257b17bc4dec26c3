//! Who may use what: the one decision that list, search and call all ask, and that can explain itself.

use crate::caller::{Caller, Role, Scope};
use crate::catalogue::Catalogue;
use crate::glob;
use crate::names::Names;
use crate::stands_for::StandsFor;
use crate::tool::{SYSTEM_USER, Tool};
use crate::toolset::{Membership, Shown, Toolset, Toolsets};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

/// What a caller may do with a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As if it did not exist.
    Hidden,
    /// Listed, but a call is refused.
    Denied(Denial),
    Allowed,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Hidden => "hidden",
            Verdict::Denied(_) => "denied",
            Verdict::Allowed => "allowed",
        }
    }
}

/// Why a call is refused: the first reason in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// The caller may not call anything.
    Scope,
    /// Switched off by whoever may change it.
    Inactive,
    /// Its owner is gone, and nobody has taken it over.
    OwnerLeft,
    Whitelist,
    Rule(SubjectKind),
    /// A person must agree first.
    Approval,
}

/// The refusal of the whitelist, in the words of the people who asked for it.
pub const BLOCKED_BY_WHITELIST: &str = "Blocked by whitelist policy";

/// Whom a rule is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    Everyone,
    Role(Role),
    User(Uuid),
    Key(Uuid),
    Agent(Uuid),
    Toolset(Arc<str>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    Everyone,
    Role,
    User,
    Key,
    Agent,
    Toolset,
}

impl SubjectKind {
    pub const ALL: [SubjectKind; 6] = [
        SubjectKind::Everyone,
        SubjectKind::Role,
        SubjectKind::User,
        SubjectKind::Key,
        SubjectKind::Agent,
        SubjectKind::Toolset,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            SubjectKind::Everyone => "everyone",
            SubjectKind::Role => "role",
            SubjectKind::User => "user",
            SubjectKind::Key => "key",
            SubjectKind::Agent => "agent",
            SubjectKind::Toolset => "toolset",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl Subject {
    pub fn kind(&self) -> SubjectKind {
        match self {
            Subject::Everyone => SubjectKind::Everyone,
            Subject::Role(_) => SubjectKind::Role,
            Subject::User(_) => SubjectKind::User,
            Subject::Key(_) => SubjectKind::Key,
            Subject::Agent(_) => SubjectKind::Agent,
            Subject::Toolset(_) => SubjectKind::Toolset,
        }
    }
}

/// Patterns for the names of tools. A rule only ever takes away: what is not hidden, not denied and, where there is a
/// list of what is allowed, on it, stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rule {
    /// None allows every name.
    pub allow: Option<Vec<String>>,
    pub deny: Vec<String>,
    pub hide: Vec<String>,
}

/// What one check of the decision came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Pass,
    Deny,
    Hide,
}

/// One check of the decision, as it is told to whoever wants to know.
#[derive(Debug, Clone, Copy)]
pub enum Check<'a> {
    /// Whether the caller may know of it: their own, the system's, a public one, or they are an admin.
    Owner,
    /// Whether it is in the toolset that the caller came through; none: there is no such set for this caller.
    Toolset(Option<Membership<'a>>),
    Scope,
    Active,
    OwnerLeft,
    Whitelist,
    /// With the pattern that decided; none: it is not on the list of what is allowed, or nothing speaks against it.
    Rule(&'a Subject, Option<&'a str>),
    Approval,
}

/// What the decision looks at: a tool, or something else of an upstream server that is judged like one.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    pub(crate) id: Uuid,
    pub(crate) stands_for: StandsFor<'a>,
    owner: Uuid,
    is_public: bool,
    is_active: bool,
    needs_approval: bool,
}

impl<'a> Judged<'a> {
    pub fn tool(tool: &'a Tool) -> Self {
        let approval = tool.definition.approval.as_ref();
        Judged {
            id: tool.id,
            stands_for: tool.stands_for(),
            owner: tool.owner,
            is_public: tool.definition.is_public,
            is_active: tool.definition.is_active,
            needs_approval: approval.is_some_and(|word| *word == true || *word == "always"),
        }
    }

    /// Something that is no tool, but has a name as if it were one of an upstream server's.
    pub fn named(name: &'a str) -> Self {
        Judged {
            id: Uuid::nil(),
            stands_for: StandsFor { name, behind: None },
            owner: SYSTEM_USER,
            is_public: true,
            is_active: true,
            needs_approval: false,
        }
    }
}

/// What the operator and the admins have decided.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// `FEATURE_TOOLS_POLICY`: without it the whitelist is not looked at.
    pub enforced: bool,
    /// `TOOL_WHITELIST`; none allows every tool.
    pub whitelist: Option<HashSet<String>>,
    /// Enforced in any case: whoever sets one means it.
    pub rules: HashMap<Subject, Rule>,
    /// Users who are gone; their things are kept but out of use.
    pub left: HashSet<Uuid>,
    pub toolsets: Arc<Toolsets>,
}

impl Policy {
    /// Reads the whitelist as it stands in the environment: comma separated, trimmed, empty = all.
    pub fn new(enforced: bool, whitelist: &str) -> Self {
        let names: HashSet<String> = whitelist
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        Policy {
            enforced,
            whitelist: (!names.is_empty()).then_some(names),
            ..Policy::default()
        }
    }

    pub fn verdict(&self, caller: &Caller, tool: &Tool) -> Verdict {
        self.decide(caller, Judged::tool(tool), |_, _| {})
    }

    /// Whether the whitelist lets a name through, whatever it is the name of.
    pub fn lists(&self, name: &str) -> bool {
        let list = self.whitelist.as_ref().filter(|_| self.enforced);
        list.is_none_or(|list| list.contains(name))
    }

    /// Whether the whitelist lets a tool through, and all that it stands for.
    pub fn is_listed(&self, tool: &Tool) -> bool {
        let stands_for = Judged::tool(tool).stands_for;
        stands_for.names().all(|name| self.lists(&name))
    }

    /// Whether something of an upstream server that is no tool may be used. No rule may speak against its name; whether
    /// tools may be called, and which, says nothing of it.
    pub fn may_use(&self, caller: &Caller, name: &str) -> bool {
        let mut may = true;
        self.decide(caller, Judged::named(name), |check, effect| {
            let is_rule = matches!(check, Check::Rule(..));
            may &= effect == Effect::Pass || (effect == Effect::Deny && !is_rule);
        });
        may
    }

    /// The decision, telling `note` every check it makes. Hidden beats denied; of several denials the first counts.
    pub fn decide<'a>(
        &'a self,
        caller: &Caller,
        judged: Judged<'_>,
        mut note: impl FnMut(Check<'a>, Effect),
    ) -> Verdict {
        let mut verdict = Verdict::Allowed;
        let mut check = |check: Check<'a>, effect: Effect, denial: Denial| {
            note(check, effect);
            verdict = match (effect, verdict) {
                (Effect::Hide, _) | (_, Verdict::Hidden) => Verdict::Hidden,
                (Effect::Deny, Verdict::Allowed) => Verdict::Denied(denial),
                (_, so_far) => so_far,
            };
        };
        let deny_unless = |fine: bool| if fine { Effect::Pass } else { Effect::Deny };

        let hide_unless = |fine: bool| if fine { Effect::Pass } else { Effect::Hide };

        check(
            Check::Owner,
            hide_unless(may_see(caller, judged)),
            Denial::Scope,
        );
        if caller.toolset.is_some() {
            let membership = self.toolset(caller).map(|set| set.membership(judged));
            let is_in = membership.is_some_and(Membership::is_in);
            check(
                Check::Toolset(membership),
                hide_unless(is_in),
                Denial::Scope,
            );
        }
        let may_call = deny_unless(caller.scopes.allow(Scope::Call));
        check(Check::Scope, may_call, Denial::Scope);
        let active = deny_unless(judged.is_active);
        check(Check::Active, active, Denial::Inactive);
        let owned = deny_unless(self.left.is_empty() || !self.left.contains(&judged.owner));
        check(Check::OwnerLeft, owned, Denial::OwnerLeft);

        let stands_for = judged.stands_for;
        let listed = stands_for.names().all(|name| self.lists(&name));
        check(Check::Whitelist, deny_unless(listed), Denial::Whitelist);
        if !self.rules.is_empty() {
            for (subject, rule) in self.rules_for(caller) {
                let (effect, pattern) = rule.judge(stands_for);
                let denial = Denial::Rule(subject.kind());
                check(Check::Rule(subject, pattern), effect, denial);
            }
        }
        let approval = deny_unless(!judged.needs_approval);
        check(Check::Approval, approval, Denial::Approval);
        verdict
    }

    /// The toolset that a caller came through, where it is there for them: their own, a public one, or they are an admin.
    /// What somebody left behind is out of use.
    pub fn toolset(&self, caller: &Caller) -> Option<&Toolset> {
        let toolset = self.toolsets.get(caller.toolset.as_deref()?)?;
        let is_theirs = toolset.owner == SYSTEM_USER
            || toolset.owner == caller.user
            || toolset.definition.is_public
            || caller.scopes.allow(Scope::Admin);
        (is_theirs && !self.left.contains(&toolset.owner)).then_some(toolset)
    }

    /// How a caller wants tools to be named, where they or their toolset say.
    pub fn names(&self, caller: &Caller) -> Option<Names> {
        let set = || self.toolset(caller)?.definition.names;
        caller.names.or_else(set)
    }

    /// The tool that a name stands for, for this caller; the verdict is still to be asked.
    pub fn find<'a>(
        &'a self,
        catalogue: &'a Catalogue,
        caller: &Caller,
        name: &str,
    ) -> Option<Shown<'a>> {
        if caller.toolset.is_some() {
            return self.toolset(caller)?.find(catalogue, name);
        }
        Some(Shown::plain(catalogue.find(name)?))
    }

    /// The rules that concern a caller, from the widest to the narrowest.
    fn rules_for(&self, caller: &Caller) -> impl Iterator<Item = (&Subject, &Rule)> {
        let subjects = [
            Some(Subject::Everyone),
            Some(Subject::Role(caller.role)),
            Some(Subject::User(caller.user)),
            caller.key_id.map(Subject::Key),
            caller.agent.map(Subject::Agent),
            caller.toolset.clone().map(Subject::Toolset),
        ];
        subjects
            .into_iter()
            .flatten()
            .filter_map(|subject| self.rules.get_key_value(&subject))
    }
}

impl Rule {
    fn judge(&self, tool: StandsFor<'_>) -> (Effect, Option<&str>) {
        let hit = |patterns: &'_ [String]| {
            let fits = |p: &&String| tool.names().any(|name| glob::fits(p, &name));
            patterns.iter().position(|p| fits(&p))
        };
        if let Some(at) = hit(&self.hide) {
            return (Effect::Hide, Some(&self.hide[at]));
        }
        if let Some(at) = hit(&self.deny) {
            return (Effect::Deny, Some(&self.deny[at]));
        }
        let Some(allow) = &self.allow else {
            return (Effect::Pass, None);
        };
        let allowed = |name: &str| allow.iter().find(|p| glob::fits(p, name));
        let mut by = None;
        for name in tool.names() {
            match allowed(&name) {
                Some(pattern) => by = by.or(Some(pattern.as_str())),
                None => return (Effect::Deny, None),
            }
        }
        (Effect::Pass, by)
    }
}

fn may_see(caller: &Caller, judged: Judged<'_>) -> bool {
    judged.owner == SYSTEM_USER
        || judged.owner == caller.user
        || judged.is_public
        || caller.scopes.allow(Scope::Admin)
}

#[cfg(test)]
mod tests;
