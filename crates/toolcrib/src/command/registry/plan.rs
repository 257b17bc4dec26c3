//! What has to be done so that a registry is as a folder says: one step for each thing, in an order in which each finds what
//! it needs, with what changes and the request that does it.

use super::Item;
use super::differences::Difference;
use super::rest;
use super::sealed;
use super::sort::Sort;
use super::state::State;
use super::wanted::Wanted;
use crate::client::{Client, encode, query};
use crate::out::{Cause, Result};
use catalog::auth::Reference;
use serde_json::{Map, Value, json};

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Create,
    Change,
    Remove,
}

/// One change, and the request that makes it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    /// Such as `tools/add_tax`.
    pub(super) what: String,
    pub(super) differences: Vec<Difference>,
    pub(super) method: &'static str,
    pub(super) path: String,
    /// The version that it was made from.
    pub(super) version: Option<i64>,
    pub(super) body: Option<Value>,
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// What is there and not in the folder.
    pub(super) left: Vec<String>,
    /// What to know of it.
    pub(super) notes: Vec<String>,
    /// Why it cannot be done.
    pub(super) problems: Vec<String>,
}

impl Plan {
    pub(super) async fn make(
        client: &Client,
        state: &State,
        wanted: &Wanted,
        prune: bool,
    ) -> Result<Self> {
        let mut plan = Plan::default();
        rest::users(&mut plan, state, wanted);
        rest::secrets(&mut plan, state, wanted);
        for (key, item) in &wanted.registry.items {
            plan.item(client, state, wanted, key, item).await?;
        }
        rest::limits(&mut plan, state, wanted, prune);
        rest::policy(&mut plan, client, state, wanted).await?;
        // What names others goes before what is named.
        let gone = state.registry.items.iter().rev();
        for ((sort, name), item) in
            gone.filter(|(key, _)| !wanted.registry.items.contains_key(*key))
        {
            let what = format!("{}/{name}", sort.folder());
            match prune {
                false => plan.left.push(what),
                true => plan.steps.push(Step {
                    action: Action::Remove,
                    what,
                    differences: Vec::new(),
                    method: "DELETE",
                    path: format!("{}/{}", sort.api(), encode(name)),
                    version: item.version,
                    body: None,
                }),
            }
        }
        Ok(plan)
    }

    async fn item(
        &mut self,
        client: &Client,
        state: &State,
        wanted: &Wanted,
        key: &(Sort, String),
        item: &Item,
    ) -> Result {
        let (sort, name) = key;
        let file = &wanted.files[key];
        let there = state.registry.items.get(key);
        if there.is_none() && state.elsewhere.contains(key) {
            let problem = format!(
                "{file}: '{name}' stands in a file of the workspace, is built in, or is a tool of a server; change it there, or take it out of the folder"
            );
            self.problems.push(problem);
            return Ok(());
        }
        let document = match there {
            Some(there) if Difference::of(&there.document, &item.document).is_empty() => {
                return Ok(());
            }
            _ => self.filled(state, wanted, key, item),
        };
        let Some(document) = document else {
            return Ok(());
        };
        let unknown = unknown_tools(state, wanted, *sort, &document);
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            self.problems.push(format!("{file}: at $.tools: expected tools of this installation or of the folder, found {unknown}. Correct them, or take them out."));
            return Ok(());
        }
        let owner = document["owner"].as_str().unwrap_or(&state.me).to_owned();
        let is_user = |name: &String| {
            let of = |users: &Option<std::collections::BTreeMap<String, String>>| {
                users.as_ref().is_some_and(|all| all.contains_key(name))
            };
            (of(&state.registry.users), of(&wanted.registry.users))
        };
        let (is_there, is_coming) = is_user(&owner);
        if *sort != Sort::Source && !is_there && !is_coming {
            self.problems.push(format!("{file}: at $.owner: expected a user of this installation, found '{owner}'. Add them to users.json, or name somebody else."));
            return Ok(());
        }
        let shown = (&document, &item.document);
        let mut step = step(*sort, name, shown, there, &state.me);
        // A tool can be tried; what it needs that is still to come cannot be missed yet.
        if *sort == Sort::Tool && is_there && !self.comes(&document) {
            match tried(client, &step).await? {
                Err(why) => {
                    self.problems
                        .extend(why.into_iter().map(|why| format!("{file}: {why}")));
                    return Ok(());
                }
                Ok(view) => {
                    let shown = sort.document(&view, &state.names);
                    if let Some(there) = there {
                        step.differences = Difference::of(&there.document, &shown);
                    }
                }
            }
        }
        self.add(step, there, &owner);
        Ok(())
    }

    /// Whether a tool needs what this plan sets, makes or changes: a secret, a source, a server.
    fn comes(&self, document: &Value) -> bool {
        let text = document.to_string();
        let of = |member: &str| document["config"][member].as_str().unwrap_or_default();
        self.steps
            .iter()
            .any(|step| match step.what.split_once('/') {
                Some(("secrets", name)) => text.contains(&json!({"$secret": name}).to_string()),
                Some(("sources", name)) => of("source") == name,
                Some(("servers", name)) => of("server") == name,
                _ => false,
            })
    }

    /// A change of the owner is a step of its own.
    fn add(&mut self, mut step: Step, there: Option<&Item>, owner: &str) {
        let mut handed = None;
        if let Some(there) = there {
            let was = there.document["owner"].as_str().unwrap_or(owner);
            step.differences.retain(|it| it.path != "owner");
            if was != owner {
                handed = Some(was.to_owned());
            }
        }
        let (what, name) = (step.what.clone(), text_name(&step.what));
        let is_new = step.action == Action::Create;
        if is_new || !step.differences.is_empty() {
            self.steps.push(step);
        }
        match handed {
            Some(was) if what.starts_with("tools/") => self.steps.push(Step {
                action: Action::Change,
                what,
                differences: vec![Difference {
                    path: "owner".to_owned(),
                    was: Some(was.clone().into()),
                    is: Some(owner.into()),
                }],
                method: "POST",
                path: format!("/api/v1/users/{}/reassign", encode(&was)),
                version: None,
                body: Some(json!({"to": owner, "tools": [name]})),
            }),
            Some(was) => self.notes.push(format!(
                "{what} belongs to {was} here and to {owner} in the folder; that is left as it is (`toolcrib users` hands over what somebody has)"
            )),
            None => {}
        }
    }

    /// The document with the values of what is sealed; None, and a problem, where one is missing.
    fn filled(
        &mut self,
        state: &State,
        wanted: &Wanted,
        key: &(Sort, String),
        item: &Item,
    ) -> Option<Value> {
        let (sort, file) = (key.0, &wanted.files[key]);
        let there = state.registry.items.get(key);
        let kept = there.map_or_else(Vec::new, |there| sealed::places(sort, &there.document));
        let places = sealed::places(sort, &item.document);
        let missing: Vec<String> = places.into_iter().filter(|it| !kept.contains(it)).collect();
        let values = wanted.values_of(file);
        let mut document = item.document.clone();
        sealed::fill(sort, &mut document, &missing, &values);
        let before = self.problems.len();
        for path in missing.iter().filter(|path| !values.contains_key(*path)) {
            self.problems.push(missing_value(sort, file, path));
        }
        for (path, name) in named_secrets(&document) {
            let given = wanted.values_of(super::folder::SECRETS);
            if !state.registry.secrets.contains_key(&name) && !given.contains_key(&name) {
                self.problems.push(format!("{file}: at $.{path}: the secret '{name}' is not set here. Set it with `toolcrib secrets set {name}`, and apply again."));
            }
        }
        (self.problems.len() == before).then_some(document)
    }
}

/// The tools that an agent names and that are neither there nor come. What a server of the folder will offer is not known yet.
fn unknown_tools(state: &State, wanted: &Wanted, sort: Sort, document: &Value) -> Vec<String> {
    if sort != Sort::Agent {
        return Vec::new();
    }
    let comes = |sort: Sort, name: &str| {
        let key = (sort, name.to_owned());
        wanted.registry.items.contains_key(&key)
    };
    let is_known = |name: &str| {
        let of_server = name
            .split_once('.')
            .is_some_and(|(server, _)| comes(Sort::Server, server));
        state.names.values().any(|it| it == name) || comes(Sort::Tool, name) || of_server
    };
    let tools = document["tools"].as_array().into_iter().flatten();
    let tools = tools
        .filter_map(Value::as_str)
        .filter(|name| !is_known(name));
    tools.map(|name| format!("'{name}'")).collect()
}

fn text_name(what: &str) -> String {
    what.split_once('/').map_or("", |(_, name)| name).to_owned()
}

fn missing_value(sort: Sort, file: &str, path: &str) -> String {
    let instead = match sort {
        Sort::Tool => {
            "write {\"$secret\": \"NAME\"} there and set it with `toolcrib secrets set NAME`"
        }
        _ => "write \"${NAME}\" there for a variable of the server",
    };
    format!(
        "{file}: at $.{path}: its value is sealed where the folder was exported, and there is none here. Put it into a file of its own, {{\"{file}\": {{\"{path}\": \"…\"}}}}, and name that with --values; or {instead}."
    )
}

/// The named secrets that a document refers to, with the places.
fn named_secrets(document: &Value) -> Vec<(String, String)> {
    fn collect(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
        if let Some(Reference::Secret(name)) = Reference::of(value) {
            found.push((path.to_owned(), name));
            return;
        }
        for (key, value) in value.as_object().into_iter().flatten() {
            collect(value, &format!("{path}.{key}"), found);
        }
    }
    let mut found = Vec::new();
    for member in ["config", "auth_config"] {
        collect(&document[member], member, &mut found);
    }
    found
}

/// `document` may hold values from a file of them; only what the folder says is shown.
fn step(
    sort: Sort,
    name: &str,
    (document, shown): (&Value, &Value),
    there: Option<&Item>,
    me: &str,
) -> Step {
    let mut body = document.clone();
    let members = body.as_object_mut();
    let owner = members.and_then(|it| it.shift_remove("owner"));
    let owner = owner.and_then(|it| it.as_str().map(str::to_owned));
    let what = format!("{}/{name}", sort.folder());
    match there {
        None => Step {
            action: Action::Create,
            what,
            differences: Vec::new(),
            method: "POST",
            path: format!(
                "{}{}",
                sort.api(),
                query(&[("owner", owner.filter(|it| it != me))])
            ),
            version: None,
            body: Some(body),
        },
        Some(there) => {
            // What a replacement leaves out is kept there.
            if sort == Sort::Tool && body.get("auth_config").is_none() {
                body["auth_config"] = Value::Null;
            }
            Step {
                action: Action::Change,
                what,
                differences: Difference::of(&there.document, shown),
                method: "PUT",
                path: format!("{}/{}", sort.api(), encode(name)),
                version: there.version,
                body: Some(body),
            }
        }
    }
}

/// The tool as it would be, or why it would be refused.
async fn tried(client: &Client, step: &Step) -> Result<std::result::Result<Value, Vec<String>>> {
    let sign = if step.path.contains('?') { '&' } else { '?' };
    let path = format!("{}{sign}dry_run=true", step.path);
    let body = step.body.as_ref().map(|body| body.to_string().into_bytes());
    let answer = client
        .send_matching(step.method, &path, step.version, body)
        .await?;
    Ok(match answer.ok() {
        Ok(view) => Ok(view),
        Err(failure) if failure.cause == Cause::Unreachable => return Err(failure),
        Err(failure) => Err(failure.errors),
    })
}

/// A step for something that has no file of its own.
pub(super) fn plain(
    action: Action,
    what: String,
    differences: Vec<Difference>,
    (method, path): (&'static str, String),
    body: Option<Value>,
) -> Step {
    Step {
        action,
        what,
        differences,
        method,
        path,
        version: None,
        body,
    }
}

/// The step as `--json` shows it.
pub(super) fn shown(step: &Step) -> Value {
    let mut shown = Map::from_iter([("what".to_owned(), step.what.clone().into())]);
    if step.action == Action::Change {
        let differences: Vec<Value> = step.differences.iter().map(Difference::json).collect();
        shown.insert("differences".to_owned(), differences.into());
    }
    Value::Object(shown)
}
