//! The policy: rules that take tools away from people, keys, agents and toolsets. Read, set, and tried out before.

use crate::App;
use crate::access::Access;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::explain::asked_key;
use catalog::caller::{Caller, Role, Transport};
use catalog::glob;
use catalog::policy::{Policy, Rule, Subject, SubjectKind, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use store::Write;
use store::feed::Subject as Feed;
use store::policies::PolicyRow;
use utoipa::ToSchema;
use uuid::Uuid;

const RULES_MAX: usize = 10_000;
const PATTERNS_MAX: usize = 1_000;

/// How many changes a dry run lists; it counts all.
const CHANGES_MAX: usize = 500;

/// One rule, as people write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    /// everyone, role, user, key, agent or toolset.
    pub subject: String,
    /// Which one: a role, the name of a user, agent or toolset, the id or name of a key. None for everyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Patterns such as `calc*`. Where it is given, only what fits may be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// What fits is listed, but may not be called.
    #[serde(default)]
    pub deny: Vec<String>,
    /// What fits does not exist for them.
    #[serde(default)]
    pub hide: Vec<String>,
}

/// The policy as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct PolicyView {
    /// 0 until somebody sets one.
    pub version: i64,
    /// Whether the whitelist is enforced; set where the server is started.
    pub enforced: bool,
    /// TOOL_WHITELIST; null allows every tool.
    pub whitelist: Option<Vec<String>>,
    pub rules: Vec<RuleText>,
    /// Patterns that fit no tool, such as mistyped names.
    pub warnings: Vec<String>,
}

/// What a new policy would change for one caller and tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct PolicyChange {
    /// Such as `user kim`, `key ci` or `agent helper`.
    pub who: String,
    pub tool: String,
    pub before: &'static str,
    pub after: &'static str,
}

/// What a new policy would change, before it is set.
#[derive(Debug, Serialize, ToSchema)]
pub struct DryRun {
    /// How many pairs of caller and tool would be decided otherwise.
    pub total: usize,
    /// The first of them.
    pub changes: Vec<PolicyChange>,
    /// Patterns that fit no tool, such as mistyped names.
    pub warnings: Vec<String>,
}

impl App {
    pub async fn get_policy(&self) -> Result<PolicyView> {
        let in_force = self.stored_policy().await?;
        Ok(self.policy_view(&self.names(&in_force), &in_force))
    }

    /// Replaces all rules. `expected_version` is the one they were made from.
    pub async fn set_policy(
        &self,
        caller: &Caller,
        rules: &[RuleText],
        expected_version: Option<i64>,
    ) -> Result<PolicyView> {
        let _one_at_a_time = self.access_changes.lock().await;
        let in_force = self.stored_policy().await?;
        let version = in_force.version;
        if let Some(expected) = expected_version.filter(|expected| *expected != version) {
            return Err(Error::conflict(format!(
                "The policy is at version {version} now, not {expected}; fetch it again and repeat the change"
            )));
        }
        // Whoever names the version has seen what is there.
        if expected_version.is_none() {
            self.replicas.unread.check(Feed::Policy)?;
        }
        let names = self.names(&in_force);
        let next = StoredPolicy {
            version: version + 1,
            rules: names.stored(rules)?,
        };
        let policy = self.with_rules(&next.rules)?;
        let now = self.clock.now();
        let row = PolicyRow {
            version: next.version,
            document: json!({"rules": next.rules}).to_string(),
            created_at: now,
        };
        let before = self.policy_view(&names, &in_force);
        let was = json!({"version": before.version, "rules": before.rules});
        let is = json!({"version": next.version, "rules": rules});
        let done = act(now, caller, "policy.update", "policy", Some(was), Some(is));
        self.store_access(&[Write::Policy(row), done]).await?;
        self.executor.set_policy(policy);
        Ok(self.policy_view(&names, &next))
    }

    fn policy_view(&self, names: &Names<'_>, stored: &StoredPolicy) -> PolicyView {
        let policy = self.executor.policy.load();
        let whitelist = policy.whitelist.as_ref().map(|names| {
            let mut names: Vec<String> = names.iter().cloned().collect();
            names.sort();
            names
        });
        PolicyView {
            version: stored.version,
            enforced: policy.enforced,
            whitelist,
            rules: stored.rules.iter().map(|rule| names.shown(rule)).collect(),
            warnings: self.unmatched(&stored.rules),
        }
    }

    /// What these rules would change for whom; nothing is stored.
    pub async fn try_policy(&self, rules: &[RuleText]) -> Result<DryRun> {
        let in_force = self.stored_policy().await?;
        let stored = self.names(&in_force).stored(rules)?;
        let (old, new) = (self.executor.policy.load_full(), self.with_rules(&stored)?);
        let callers = self.everyone(&old, &new);
        let warnings = self.unmatched(rules);
        let catalogue = self.executor.catalogue.load_full();
        // People times tools: too long for a thread that answers requests.
        let work = move || {
            let mut run = DryRun {
                total: 0,
                changes: Vec::new(),
                warnings,
            };
            for (who, caller) in &callers {
                for entry in catalogue.after(None) {
                    let before: Verdict = old.verdict(caller, &entry.tool);
                    let after = new.verdict(caller, &entry.tool);
                    if before.as_str() == after.as_str() {
                        continue;
                    }
                    run.total += 1;
                    if run.changes.len() < CHANGES_MAX {
                        run.changes.push(PolicyChange {
                            who: who.clone(),
                            tool: entry.name.to_string(),
                            before: before.as_str(),
                            after: after.as_str(),
                        });
                    }
                }
            }
            run
        };
        let ran = tokio::task::spawn_blocking(work).await;
        ran.map_err(|e| Error::Internal(format!("a dry run was lost: {e}")))
    }

    /// At start, and where it is in doubt: the rules that were set.
    pub(crate) async fn load_policy(&self) -> Result<()> {
        let stored = self.stored_policy().await?;
        if stored.version > 0 {
            let policy = self.with_rules(&stored.rules)?;
            self.executor.set_policy(policy);
        }
        Ok(())
    }

    /// The policy in force, with other rules.
    fn with_rules(&self, stored: &[RuleText]) -> Result<Policy> {
        let mut policy = (**self.executor.policy.load()).clone();
        policy.rules = HashMap::with_capacity(stored.len());
        for rule in stored {
            let rules = Rule {
                allow: rule.allow.clone(),
                deny: rule.deny.clone(),
                hide: rule.hide.clone(),
            };
            policy.rules.insert(stored_subject(rule)?, rules);
        }
        Ok(policy)
    }

    /// One caller for each who could be told apart by a rule: people, keys, agents, toolsets.
    fn everyone(&self, old: &Policy, new: &Policy) -> Vec<(String, Caller)> {
        let access = self.access.load_full();
        let mut all = Vec::new();
        for user in access.people().filter(|user| user.deleted_at.is_none()) {
            let role = crate::access::role_of(user);
            let caller = Caller::of_user(user.id, &user.name, role, Transport::Page);
            all.push((format!("user {}", user.name), caller));
        }
        for (row, caller) in access.live_keys() {
            all.push((format!("key {} ({})", row.name, row.id), (**caller).clone()));
        }
        for agent in self.agents.load().live() {
            let owner = access.user(agent.owner_id);
            let Some(owner) = owner.filter(|user| user.deleted_at.is_none()) else {
                continue;
            };
            let role = crate::access::role_of(owner);
            let caller = Caller {
                agent: Some(agent.id),
                ..Caller::of_user(owner.id, &owner.name, role, Transport::Agent)
            };
            all.push((format!("agent {}", agent.name), caller));
        }
        let subjects = old.rules.keys().chain(new.rules.keys());
        let mut toolsets: Vec<&Arc<str>> = subjects
            .filter_map(|subject| match subject {
                Subject::Toolset(name) => Some(name),
                _ => None,
            })
            .collect();
        toolsets.sort();
        toolsets.dedup();
        for name in toolsets {
            let caller = Caller {
                toolset: Some(Arc::clone(name)),
                ..Caller::of_user(Uuid::nil(), "anyone", Role::Admin, Transport::Mcp)
            };
            all.push((format!("toolset {name}"), caller));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    fn names<'p>(&self, in_force: &'p StoredPolicy) -> Names<'p> {
        let agents = self.agents.load();
        let named = agents.live().map(|agent| (agent.name.clone(), agent.id));
        Names {
            access: self.access.load_full(),
            agents: named.collect(),
            in_force: &in_force.rules,
        }
    }

    async fn stored_policy(&self) -> Result<StoredPolicy> {
        #[derive(Deserialize)]
        struct Document {
            rules: Vec<RuleText>,
        }
        let Some(row) = self.store.policy().await? else {
            return Ok(StoredPolicy::default());
        };
        let read: Document = serde_json::from_str(&row.document)
            .map_err(|e| Error::Internal(format!("the stored policy cannot be read: {e}")))?;
        Ok(StoredPolicy {
            version: row.version,
            rules: read.rules,
        })
    }
}

/// The rules as they are stored, with ids; version 0 until there are any.
#[derive(Default)]
struct StoredPolicy {
    version: i64,
    rules: Vec<RuleText>,
}

/// The subject of a rule whose target is stored as an id.
fn stored_subject(rule: &RuleText) -> Result<Subject> {
    let damaged = || Error::Internal(format!("a stored rule cannot be read: {rule:?}"));
    let kind = SubjectKind::from_name(&rule.subject).ok_or_else(damaged)?;
    let target = rule.target.as_deref();
    let id = || {
        target
            .and_then(|t| Uuid::parse_str(t).ok())
            .ok_or_else(damaged)
    };
    Ok(match kind {
        SubjectKind::Everyone => Subject::Everyone,
        SubjectKind::Role => Subject::Role(target.and_then(Role::from_name).ok_or_else(damaged)?),
        SubjectKind::User => Subject::User(id()?),
        SubjectKind::Key => Subject::Key(id()?),
        SubjectKind::Agent => Subject::Agent(id()?),
        SubjectKind::Toolset => Subject::Toolset(target.ok_or_else(damaged)?.into()),
    })
}

/// Names and ids of those whom a rule can be for. Rules are stored by id, so that a name that is given away later does
/// not bring its rules along.
struct Names<'p> {
    access: Arc<Access>,
    agents: HashMap<String, Uuid>,
    /// Whoever a rule is for already may stay, also after they are gone: what was fetched can be sent back.
    in_force: &'p [RuleText],
}

impl Names<'_> {
    fn stored(&self, rules: &[RuleText]) -> Result<Vec<RuleText>> {
        if rules.len() > RULES_MAX {
            return Err(Error::invalid(format!(
                "rules: expected at most {RULES_MAX}, got {}",
                rules.len()
            )));
        }
        let mut stored: Vec<RuleText> = Vec::with_capacity(rules.len());
        let mut seen = HashMap::new();
        for (i, rule) in rules.iter().enumerate() {
            let wrong = |what: String| Error::invalid(format!("rules[{i}].{what}"));
            let rule = self.stored_rule(rule, &wrong)?;
            let first = seen.insert((rule.subject.clone(), rule.target.clone()), i);
            if let Some(first) = first {
                return Err(wrong(format!(
                    "target: rules[{first}] is for the same; put both into one rule"
                )));
            }
            stored.push(rule);
        }
        Ok(stored)
    }

    fn stored_rule(&self, rule: &RuleText, wrong: &dyn Fn(String) -> Error) -> Result<RuleText> {
        let kind = SubjectKind::from_name(&rule.subject).ok_or_else(|| {
            let known = SubjectKind::ALL.map(SubjectKind::as_str).join(", ");
            wrong(format!(
                "subject: expected one of {known}, got '{}'",
                rule.subject
            ))
        })?;
        let lists = [
            ("allow", rule.allow.as_deref().unwrap_or_default()),
            ("deny", &rule.deny),
            ("hide", &rule.hide),
        ];
        for (name, patterns) in lists {
            if patterns.len() > PATTERNS_MAX {
                return Err(wrong(format!("{name}: expected at most {PATTERNS_MAX}")));
            }
            if let Some(bad) = patterns.iter().find(|p| !glob::is_valid(p)) {
                return Err(wrong(format!(
                    "{name}: expected patterns of letters, digits, _ . - * and ?, such as 'calc*', got '{bad}'"
                )));
            }
        }
        let target = rule.target.as_deref();
        let target = match (kind, target) {
            (SubjectKind::Everyone, None) => None,
            (SubjectKind::Everyone, Some(_)) => {
                return Err(wrong("target: 'everyone' takes none".to_owned()));
            }
            (_, None) => {
                let kind = kind.as_str();
                return Err(wrong(format!("target: expected which {kind} it is for")));
            }
            (_, Some(target)) => Some(self.id_of(kind, target, wrong)?),
        };
        Ok(RuleText {
            target,
            ..rule.clone()
        })
    }

    fn id_of(
        &self,
        kind: SubjectKind,
        target: &str,
        wrong: &dyn Fn(String) -> Error,
    ) -> Result<String> {
        let unknown = || {
            let kind = kind.as_str();
            wrong(format!("target: there is no {kind} '{target}'"))
        };
        let id = Uuid::parse_str(target).ok();
        let is_meant = |rule: &RuleText| {
            rule.subject == kind.as_str() && rule.target.as_deref() == Some(target)
        };
        if self.in_force.iter().any(is_meant) {
            return Ok(target.to_owned());
        }
        match kind {
            SubjectKind::Everyone => Ok(String::new()),
            SubjectKind::Role => match Role::from_name(target) {
                Some(role) => Ok(role.as_str().to_owned()),
                None => Err(unknown()),
            },
            SubjectKind::User => {
                let by_id = || id.and_then(|id| self.access.user(id));
                let user = self.access.user_named(target).or_else(by_id);
                user.map(|user| user.id.to_string()).ok_or_else(unknown)
            }
            SubjectKind::Key => {
                let (row, _) =
                    asked_key(&self.access, target).map_err(|e| wrong(format!("target: {e}")))?;
                Ok(row.id.to_string())
            }
            SubjectKind::Agent => {
                let known = |id: &Uuid| self.agents.values().any(|known| known == id);
                let found = self.agents.get(target).copied();
                let found = found.or(id.filter(known));
                found.map(|id| id.to_string()).ok_or_else(unknown)
            }
            // A toolset may be made after its rule.
            SubjectKind::Toolset if catalog::tool::is_valid_name(target) => Ok(target.to_owned()),
            SubjectKind::Toolset => Err(wrong(
                "target: expected the name of a toolset: letters, digits, _ . and -".to_owned(),
            )),
        }
    }

    /// A stored rule with names again; keys keep their id, since their names may be given twice.
    fn shown(&self, rule: &RuleText) -> RuleText {
        let id = rule.target.as_deref().and_then(|t| Uuid::parse_str(t).ok());
        let name = match (SubjectKind::from_name(&rule.subject), id) {
            (Some(SubjectKind::User), Some(id)) => self.access.user(id).map(|u| u.name.clone()),
            (Some(SubjectKind::Agent), Some(id)) => {
                let mut agents = self.agents.iter();
                agents
                    .find(|(_, known)| **known == id)
                    .map(|(name, _)| name.clone())
            }
            _ => None,
        };
        RuleText {
            target: name.or_else(|| rule.target.clone()),
            ..rule.clone()
        }
    }
}
