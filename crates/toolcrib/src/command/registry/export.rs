//! `toolcrib export registry DIR`: the registry as files that git can follow.

use super::Registry;
use super::folder::{Folder, LIMITS, POLICY, SECRETS, USERS, Written, file_of, text_of};
use super::sealed;
use super::state::State;
use crate::client::Client;
use crate::context::Context;
use crate::out::Result;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) async fn export(context: &Context, path: &Path) -> Result {
    let folder = Folder::open(path)?;
    let state = Client::with(context, State::read).await?;
    let files = files(&state.registry);
    let written = folder.write(&files)?;
    tell(context, path, &state.registry, &written);
    Ok(())
}

/// Every file with its text.
fn files(registry: &Registry) -> BTreeMap<String, String> {
    let items = registry.items.iter();
    let items = items.map(|((sort, name), item)| (file_of(*sort, name), text_of(&item.document)));
    let mut files: BTreeMap<String, String> = items.collect();
    let users = registry.users.iter().flatten();
    let users: Vec<Value> = users
        .map(|(name, role)| json!({"name": name, "role": role}))
        .collect();
    files.insert(USERS.to_owned(), text_of(&json!({"users": users})));
    let limits = registry.limits.iter().flatten();
    let limits: Vec<Value> = limits
        .map(|((kind, target), max)| json!({"target_type": kind, "target": target, "max_count": max}))
        .collect();
    files.insert(LIMITS.to_owned(), text_of(&json!({"limits": limits})));
    let rules = registry.rules.clone().unwrap_or_default();
    files.insert(POLICY.to_owned(), text_of(&json!({"rules": rules})));
    files.insert(SECRETS.to_owned(), text_of(&secrets(registry)));
    files
}

/// What has to be set by hand elsewhere: the names of secrets, and the places of what is sealed.
fn secrets(registry: &Registry) -> Value {
    let named = registry.secrets.iter();
    let named: Vec<Value> = named
        .map(|(name, owner)| json!({"name": name, "owner": owner}))
        .collect();
    let mut of_files = Map::new();
    for ((sort, name), item) in &registry.items {
        let places = sealed::places(*sort, &item.document);
        if !places.is_empty() {
            of_files.insert(file_of(*sort, name), json!(places));
        }
    }
    json!({"secrets": named, "sealed": of_files})
}

fn tell(context: &Context, path: &Path, registry: &Registry, written: &Written) {
    let out = &context.out;
    for file in &written.foreign {
        out.warn(format!("{file} is not of an export and is left as it is"));
    }
    let rules = registry.rules.iter().flatten();
    if rules.clone().any(|rule| rule["subject"] == "key") {
        out.warn("policy.json has rules for keys, which are told by their ids: they mean something in this installation only");
    }
    if out.json {
        out.value(&json!({
            "folder": path, "files": written.files, "changed": written.changed, "removed": written.removed,
            "left": written.foreign,
        }));
    }
    let removed = match written.removed.len() {
        0 => String::new(),
        count => format!(", {count} removed"),
    };
    out.done(format!(
        "{}: {} files, {} changed{removed}; what stands in tools.json, mcp.json and toolcrib.toml is not among them",
        path.display(),
        written.files,
        written.changed.len(),
    ));
}
