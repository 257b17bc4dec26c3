//! Why a key may or may not use a tool: every check of the verdict, in words.

use crate::App;
use crate::access::{Access, role_of};
use crate::error::{Error, Result};
use catalog::caller::{Caller, Scope, Transport};
use catalog::catalogue::Entry;
use catalog::policy::{Check, Effect, Judged, Subject, Verdict};
use catalog::tool::{SYSTEM_USER, Tool};
use catalog::toolset::Membership;
use executor::Code;
use executor::denial::told;
use serde::Serialize;
use std::sync::Arc;
use store::keys::KeyRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// Who wants to use what.
#[derive(Debug, Default)]
pub struct ExplainQuery {
    /// Id or name of a key; none asks for a user who is logged in.
    pub key: Option<String>,
    pub user: Option<String>,
    pub tool: String,
    pub agent: Option<String>,
    pub toolset: Option<String>,
}

/// The verdict and how it came about.
#[derive(Debug, Serialize, ToSchema)]
pub struct Explanation {
    /// hidden, denied or allowed.
    pub verdict: &'static str,
    /// What a call would be refused with; null where it would run.
    #[schema(value_type = Option<String>)]
    pub code: Option<Code>,
    pub who: String,
    pub tool: String,
    pub reasons: Vec<Reason>,
}

/// One check of the decision.
#[derive(Debug, Serialize, ToSchema)]
pub struct Reason {
    /// key, owner, toolset, scope, active, owner_left, whitelist, rule or approval.
    pub check: &'static str,
    /// pass, deny or hide.
    pub effect: &'static str,
    pub message: String,
}

impl App {
    pub async fn explain(&self, caller: &Caller, query: &ExplainQuery) -> Result<Explanation> {
        let access = self.access.load_full();
        let (who, mut asked, shut) = self.who(&access, caller, query).await?;
        if let Some(agent) = &query.agent {
            let seen = self.get_agent(caller, agent);
            let unknown = |_| Error::invalid(format!("agent: there is no agent '{agent}'"));
            asked.agent = Some(seen.map_err(unknown)?.id);
        }
        if let Some(toolset) = &query.toolset {
            asked.toolset = Some(toolset.as_str().into());
        }
        let (mut explanation, entry) = self.reasons(&asked, &query.tool);
        explanation.who = who;
        let admin = caller.scopes.allow(Scope::Admin);
        // That a tool they may know of is not in a set is no secret.
        let is_hidden = |reason: &Reason| reason.effect == "hide" && reason.check != "toolset";
        let hidden = explanation.reasons.iter().any(is_hidden);
        let may_know = entry.is_some_and(|entry| self.may_know(caller, &entry));
        if !admin && (hidden || !may_know) {
            // Whoever may not know of a tool is not told why, nor that there is one, nor its name.
            return Ok(Explanation {
                verdict: "hidden",
                code: Some(Code::ToolNotFound),
                tool: query.tool.clone(),
                reasons: vec![unknown(&query.tool)],
                ..explanation
            });
        }
        if let Some(why) = shut {
            explanation.verdict = "denied";
            explanation.code = Some(Code::Unauthenticated);
            let reason = Reason {
                check: "key",
                effect: "deny",
                message: why,
            };
            explanation.reasons.insert(0, reason);
        }
        Ok(explanation)
    }

    /// With the tool, by its own name or by what it is called in the toolset.
    fn reasons(&self, asked: &Caller, name: &str) -> (Explanation, Option<Arc<Entry>>) {
        let catalogue = self.executor.catalogue.load();
        let mut explanation = Explanation {
            verdict: "hidden",
            code: Some(Code::ToolNotFound),
            who: String::new(),
            tool: name.to_owned(),
            reasons: Vec::new(),
        };
        let policy = self.executor.policy.load();
        let in_set = policy.find(&catalogue, asked, name);
        let entry = in_set.map(|found| found.entry);
        let Some(entry) = entry.or_else(|| catalogue.find(name)) else {
            explanation.reasons.push(unknown(name));
            return (explanation, None);
        };
        let note = |check: Check<'_>, effect: Effect| {
            let reason = self.reason(check, effect, asked, &entry.tool);
            explanation.reasons.push(reason);
        };
        let verdict = policy.decide(asked, Judged::tool(&entry.tool), note);
        explanation.verdict = verdict.as_str();
        explanation.tool = entry.name.to_string();
        explanation.code = match verdict {
            Verdict::Hidden => Some(Code::ToolNotFound),
            Verdict::Denied(denial) => Some(told(&entry.name, denial).0),
            Verdict::Allowed => None,
        };
        (explanation, Some(Arc::clone(entry)))
    }

    /// Whom the question is about, as whom they would call, and why they could not even come in.
    async fn who(
        &self,
        access: &Access,
        caller: &Caller,
        query: &ExplainQuery,
    ) -> Result<(String, Caller, Option<String>)> {
        // For who is no admin, what is somebody else's is not there.
        let own = |user: Uuid| user == caller.user || caller.scopes.allow(Scope::Admin);
        match (&query.key, &query.user) {
            (Some(_), Some(_)) => Err(Error::invalid("expected either key or user, not both")),
            (Some(key), None) => {
                let unknown = || {
                    Error::invalid(format!(
                        "there is no key '{key}'; where that is a user, ask for the user"
                    ))
                };
                let found = match asked_key(access, key) {
                    Ok((row, who)) => {
                        let over = row.expires_at.filter(|end| *end <= self.clock.now());
                        let over = over
                            .map(|end| format!("the key expired at {}", crate::time::rfc3339(end)));
                        (format!("key {}", row.name), (**who).clone(), over)
                    }
                    Err(error) => self.shut_key(access, key).await?.ok_or(error)?,
                };
                if own(found.1.user) {
                    Ok(found)
                } else {
                    Err(unknown())
                }
            }
            (None, None) => {
                let who = match &caller.key {
                    Some(key) => format!("key {key}"),
                    None => format!("user {}", caller.user_name),
                };
                Ok((who, caller.clone(), None))
            }
            (None, Some(name)) => {
                let found = access.user_named(name).filter(|user| own(user.id));
                let found = found
                    .ok_or_else(|| Error::invalid(format!("user: there is no user '{name}'")))?;
                let shut = found.deleted_at.map(|_| "the user was removed".to_owned());
                let who = Caller::of_user(found.id, name, role_of(found), Transport::Page);
                Ok((format!("user {name}"), who, shut))
            }
        }
    }

    /// A key that lets nobody in any more: revoked, or its user is gone.
    async fn shut_key(
        &self,
        access: &Access,
        key: &str,
    ) -> Result<Option<(String, Caller, Option<String>)>> {
        let fits = |row: &KeyRow| row.id.to_string() == key || row.name == key;
        let rows = self.store.keys().await?;
        let Some(row) = rows.into_iter().rfind(fits) else {
            return Ok(None);
        };
        let why = match row.revoked_at {
            Some(at) => format!("the key was revoked at {}", crate::time::rfc3339(at)),
            None => "the user of the key was removed".to_owned(),
        };
        let Some(user) = access.user(row.user_id) else {
            return Ok(None);
        };
        let who = crate::access::key_caller(user, &row);
        Ok(Some((format!("key {}", row.name), who, Some(why))))
    }

    fn reason(&self, check: Check<'_>, effect: Effect, asked: &Caller, tool: &Tool) -> Reason {
        let passed = effect == Effect::Pass;
        let (check, message) = match check {
            Check::Owner => ("owner", self.owner_reason(passed, asked, tool)),
            Check::Toolset(membership) => {
                let policy = self.executor.policy.load();
                let set = policy.toolset(asked);
                let names = set.map(|set| set.given_names(Judged::tool(tool)));
                let names = names.unwrap_or_default();
                ("toolset", toolset_reason(asked, membership, &names))
            }
            Check::Scope => {
                let have = asked.scopes.names().join(", ");
                let verb = if passed { "hold" } else { "do not hold" };
                ("scope", format!("the scopes {have} {verb} 'call'"))
            }
            Check::Active if passed => ("active", "the tool is switched on".to_owned()),
            Check::Active => ("active", "the tool is switched off".to_owned()),
            Check::OwnerLeft if passed => ("owner_left", "its owner is there".to_owned()),
            Check::OwnerLeft => (
                "owner_left",
                "its owner is gone, and nobody has taken it over".to_owned(),
            ),
            Check::Whitelist => {
                let policy = self.executor.policy.load();
                let text = match (&policy.whitelist, policy.enforced) {
                    (None, _) => "there is no whitelist",
                    (_, false) => "the whitelist is not enforced",
                    _ if passed => "the tool is on TOOL_WHITELIST",
                    _ => "the tool is not on TOOL_WHITELIST",
                };
                ("whitelist", text.to_owned())
            }
            Check::Rule(subject, pattern) => ("rule", self.rule_reason(subject, pattern, effect)),
            Check::Approval if passed => ("approval", "nobody has to agree first".to_owned()),
            Check::Approval => (
                "approval",
                "a person has to agree before it runs".to_owned(),
            ),
        };
        let effect = match effect {
            Effect::Pass => "pass",
            Effect::Deny => "deny",
            Effect::Hide => "hide",
        };
        Reason {
            check,
            effect,
            message,
        }
    }

    fn owner_reason(&self, passed: bool, asked: &Caller, tool: &Tool) -> String {
        let owner = self.user_name(tool.owner);
        if !passed {
            return format!("the tool is private to '{owner}'");
        }
        match () {
            () if tool.owner == SYSTEM_USER => "the tool belongs to the server".to_owned(),
            () if tool.owner == asked.user => "the tool is their own".to_owned(),
            () if tool.definition.is_public => format!("the tool of '{owner}' is public"),
            () => "an admin sees every tool".to_owned(),
        }
    }

    fn rule_reason(&self, subject: &Subject, pattern: Option<&str>, effect: Effect) -> String {
        let of = match subject {
            Subject::Everyone => "everyone".to_owned(),
            Subject::User(id) => format!("user '{}'", self.user_name(*id)),
            Subject::Role(role) => format!("role '{}'", role.as_str()),
            Subject::Key(id) => format!("key {id}"),
            Subject::Agent(id) => format!("agent {id}"),
            Subject::Toolset(name) => format!("toolset '{name}'"),
        };
        match (effect, pattern) {
            (Effect::Hide, pattern) => {
                format!("the rule for {of} hides '{}'", pattern.unwrap_or_default())
            }
            (Effect::Deny, Some(pattern)) => format!("the rule for {of} denies '{pattern}'"),
            (Effect::Deny, None) => format!("the rule for {of} allows other tools only"),
            (Effect::Pass, Some(pattern)) => format!("the rule for {of} allows '{pattern}'"),
            (Effect::Pass, None) => format!("the rule for {of} says nothing against it"),
        }
    }
}

fn toolset_reason(asked: &Caller, membership: Option<Membership<'_>>, names: &[&str]) -> String {
    let set = format!("the toolset '{}'", asked.toolset.as_deref().unwrap_or(""));
    match membership {
        None => format!("{set} is not there for them"),
        Some(Membership::Listed) if !names.is_empty() => {
            format!("{set} lists it as '{}'", names.join("', '"))
        }
        Some(Membership::Listed) => format!("{set} lists it"),
        Some(Membership::Fits(pattern)) => format!("{set} takes in '{pattern}'"),
        Some(Membership::Everything) => format!("{set} holds every tool"),
        Some(Membership::Denied(pattern)) => format!("{set} leaves out '{pattern}'"),
        Some(Membership::NameTaken) => format!("in {set} another tool has its name"),
        Some(Membership::Outside) => format!("{set} does not hold it"),
    }
}

fn unknown(name: &str) -> Reason {
    Reason {
        check: "owner",
        effect: "hide",
        message: format!("there is no tool '{name}', or it is hidden"),
    }
}

/// The key that is meant, by id or by a name that only one has.
pub(crate) fn asked_key<'a>(
    access: &'a Access,
    key: &str,
) -> Result<(&'a KeyRow, &'a Arc<Caller>)> {
    if let Some(found) = Uuid::parse_str(key).ok().and_then(|id| access.key(id)) {
        return Ok(found);
    }
    let mut named: Vec<_> = access
        .live_keys()
        .filter(|(row, _)| row.name == key)
        .collect();
    match (named.pop(), named.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(Error::invalid(format!("there is no key '{key}'"))),
        (Some(_), more) => Err(Error::invalid(format!(
            "{} keys have the name '{key}'; name one by its id",
            more + 1
        ))),
    }
}
