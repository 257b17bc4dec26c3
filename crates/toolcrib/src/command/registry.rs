//! The registry as a folder of JSON for git: `toolcrib export registry` writes it, `toolcrib apply` makes a registry like
//! it. Both are clients of the REST API. What lies in files already (tools.json, mcp.json, toolcrib.toml) is not in it, nor
//! what is built in or comes from upstream servers.

mod apply;
mod check;
mod differences;
mod export;
mod folder;
mod plan;
mod rest;
mod sealed;
mod sort;
mod state;
mod told;
mod wanted;

pub(super) use apply::apply;
pub(super) use export::export;

use serde_json::Value;
use sort::Sort;
use std::collections::BTreeMap;

/// What is kept under a name of its own, as the folder holds it.
#[derive(Debug, Clone)]
struct Item {
    document: Value,
    /// What it was read from: the version that a change is made from. None in a folder.
    version: Option<i64>,
}

/// Whom a limit is for: `USER` or `TOOL`, and the name.
type Target = (String, String);

/// All that the folder can hold, from the server or from files. What a folder says nothing about is None.
#[derive(Debug, Default)]
struct Registry {
    items: BTreeMap<(Sort, String), Item>,
    /// Roles by name.
    users: Option<BTreeMap<String, String>>,
    limits: Option<BTreeMap<Target, i64>>,
    rules: Option<Vec<Value>>,
    /// Who owns each named secret.
    secrets: BTreeMap<String, String>,
}
