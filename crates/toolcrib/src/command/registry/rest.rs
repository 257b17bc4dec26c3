//! The steps for what has one file together: users, secrets, limits and the policy.

use super::differences::Difference;
use super::folder::{LIMITS, SECRETS};
use super::plan::{Action, Plan, plain};
use super::sort::Sort;
use super::state::State;
use super::wanted::Wanted;
use crate::client::{Client, encode, query};
use crate::out::{Cause, Result};
use catalog::test_case::is_same;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Users come first: what the folder holds belongs to them. None is ever removed by a folder.
pub(super) fn users(plan: &mut Plan, state: &State, wanted: &Wanted) {
    let none = BTreeMap::new();
    let there = state.registry.users.as_ref().unwrap_or(&none);
    let Some(wanted) = &wanted.registry.users else {
        return;
    };
    for (name, role) in wanted {
        let what = format!("users/{name}");
        match there.get(name) {
            None => {
                let body = json!({"name": name, "role": role});
                let to = ("POST", "/api/v1/users".to_owned());
                plan.steps
                    .push(plain(Action::Create, what, Vec::new(), to, Some(body)));
                plan.notes.push(format!("{name} has no password and no key here: `toolcrib users` and `toolcrib keys create` give them one"));
            }
            Some(was) if was != role => {
                let change = difference("role", &json!(was), &json!(role));
                let to = ("PATCH", format!("/api/v1/users/{}", encode(name)));
                let body = json!({"role": role});
                plan.steps
                    .push(plain(Action::Change, what, vec![change], to, Some(body)));
            }
            Some(_) => {}
        }
    }
    let left = there.keys().filter(|name| !wanted.contains_key(*name));
    for name in left {
        plan.notes.push(format!("the user {name} is not in the folder and stays: `toolcrib users remove {name}` removes them"));
    }
}

/// Secrets whose values are given. The others are only told, where something needs them.
pub(super) fn secrets(plan: &mut Plan, state: &State, wanted: &Wanted) {
    let given = wanted.values_of(SECRETS);
    let is_user = |name: &str| {
        let users = [&state.registry.users, &wanted.registry.users];
        let mut users = users.into_iter().flatten();
        users.any(|users| users.contains_key(name))
    };
    for (name, owner) in &wanted.registry.secrets {
        if state.registry.secrets.contains_key(name) {
            continue;
        }
        match given.get(name) {
            Some(_) if !owner.is_empty() && !is_user(owner) => plan.problems.push(format!(
                "{SECRETS}: expected a user of this installation as the owner of '{name}', found '{owner}'. Add them to users.json, or name somebody else."
            )),
            Some(value) => {
                // A secret is of use to the tools of its owner only.
                let owner = Some(owner.clone()).filter(|it| !it.is_empty() && *it != state.me);
                let path = format!("/api/v1/secrets/{}{}", encode(name), query(&[("owner", owner)]));
                let to = ("PUT", path);
                let what = format!("secrets/{name}");
                let body = json!({"value": value});
                plan.steps
                    .push(plain(Action::Create, what, Vec::new(), to, Some(body)));
            }
            None => plan.notes.push(format!(
                "the secret '{name}' is not set here: `toolcrib secrets set {name}`"
            )),
        }
    }
}

pub(super) fn limits(plan: &mut Plan, state: &State, wanted: &Wanted, prune: bool) {
    let none = BTreeMap::new();
    let there = state.registry.limits.as_ref().unwrap_or(&none);
    let Some(limits) = &wanted.registry.limits else {
        return;
    };
    let is_known = |kind: &str, name: &String| match kind {
        "USER" => [&state.registry, &wanted.registry].iter().any(|it| {
            let users = it.users.as_ref();
            users.is_some_and(|users| users.contains_key(name))
        }),
        _ => {
            let is_coming = wanted
                .registry
                .items
                .contains_key(&(Sort::Tool, name.clone()));
            is_coming || state.names.values().any(|it| it == name)
        }
    };
    for ((kind, name), max) in limits {
        let was = there.get(&(kind.clone(), name.clone()));
        if was == Some(max) {
            continue;
        }
        if !is_known(kind, name) {
            let sort = kind.to_lowercase();
            plan.problems.push(format!("{LIMITS}: expected the name of a {sort} of this installation, found '{name}'. Correct it, or take the limit out."));
            continue;
        }
        let body = json!({"target_type": kind, "target_id": name, "max_count": max});
        let to = ("PUT", "/api/v1/limits".to_owned());
        let what = format!("limits/{kind} {name}");
        let (action, differences) = match was {
            None => (Action::Create, Vec::new()),
            Some(was) => (
                Action::Change,
                vec![difference("max_count", &json!(was), &json!(max))],
            ),
        };
        plan.steps
            .push(plain(action, what, differences, to, Some(body)));
    }
    for (kind, name) in there.keys().filter(|it| !limits.contains_key(*it)) {
        let what = format!("limits/{kind} {name}");
        let to = ("DELETE", format!("/api/v1/limits/{kind}/{}", encode(name)));
        match prune {
            true => plan
                .steps
                .push(plain(Action::Remove, what, Vec::new(), to, None)),
            false => plan.left.push(what),
        }
    }
}

/// The rules are one document: all of them are replaced, unless somebody changed them since they were read.
pub(super) async fn policy(
    plan: &mut Plan,
    client: &Client,
    state: &State,
    wanted: &Wanted,
) -> Result {
    let Some(rules) = &wanted.registry.rules else {
        return Ok(());
    };
    let was = json!({"rules": state.registry.rules.clone().unwrap_or_default().iter().map(full).collect::<Vec<_>>()});
    let is = json!({"rules": rules.iter().map(full).collect::<Vec<_>>()});
    if is_same(&was, &is) {
        return Ok(());
    }
    let makes_somebody = plan.steps.iter().any(|step| {
        step.action == Action::Create
            && (step.what.starts_with("users/") || step.what.starts_with("agents/"))
    });
    if !makes_somebody {
        let body = json!({"rules": rules});
        let answer = client
            .request("PUT", "/api/v1/policy?dry_run=true", Some(body))
            .await?;
        match answer.ok() {
            Ok(_) => {}
            Err(failure) if failure.cause == Cause::Unreachable => return Err(failure),
            Err(failure) => {
                let why = failure
                    .errors
                    .iter()
                    .map(|why| format!("policy.json: {why}"));
                plan.problems.extend(why);
                return Ok(());
            }
        }
    }
    let body = json!({"rules": rules, "version": state.policy_version});
    let to = ("PUT", "/api/v1/policy".to_owned());
    let differences = Difference::of(&was, &is);
    plan.steps.push(plain(
        Action::Change,
        "policy".to_owned(),
        differences,
        to,
        Some(body),
    ));
    Ok(())
}

/// A rule with what is so by default.
fn full(rule: &Value) -> Value {
    let mut rule = rule.clone();
    for key in ["deny", "hide"] {
        if rule[key].is_null() {
            rule[key] = json!([]);
        }
    }
    if let Some(members) = rule.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    rule
}

fn difference(path: &str, was: &Value, is: &Value) -> Difference {
    Difference {
        path: path.to_owned(),
        was: Some(was.clone()),
        is: Some(is.clone()),
    }
}
