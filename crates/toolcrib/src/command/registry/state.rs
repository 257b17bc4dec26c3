//! The registry as it is now, asked of the server.

use super::sort::Sort;
use super::{Item, Registry};
use crate::client::Client;
use crate::command::tools::{pages, text, whole};
use crate::out::{Failure, Result};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What the server has.
pub(super) struct State {
    pub(super) registry: Registry,
    /// Who asks.
    pub(super) me: String,
    pub(super) policy_version: i64,
    /// Names of tools by their ids, of every shelf.
    pub(super) names: HashMap<String, String>,
    /// What stands in files of the workspace, by sort and name: it is not for the folder to change.
    pub(super) elsewhere: HashSet<(Sort, String)>,
}

impl State {
    pub(super) async fn read(client: &Client) -> Result<Self> {
        let me = client.get("/api/v1/me").await?;
        let is_admin = me["scopes"].as_array();
        let is_admin = is_admin.is_some_and(|all| all.iter().any(|it| it == "admin"));
        if !is_admin {
            return Err(Failure::failed(
                "only an admin sees the whole registry and may change all of it",
            )
            .hint("use a key with the scope admin, or run this on the workspace itself"));
        }
        let mut state = State {
            registry: Registry::default(),
            me: text(&me, "user").to_owned(),
            policy_version: 0,
            names: HashMap::new(),
            elsewhere: HashSet::new(),
        };
        let mut views = Vec::new();
        for sort in Sort::ALL {
            views.push((sort, pages(client, &sort.api(), &[], usize::MAX).await?));
        }
        let tools = views.iter().filter(|(sort, _)| *sort == Sort::Tool);
        let tools = tools.flat_map(|(_, views)| views);
        state.names = tools
            .map(|tool| (text(tool, "id").to_owned(), text(tool, "name").to_owned()))
            .collect();
        for (sort, views) in views {
            state.take(sort, &views);
        }
        state.people(client).await?;
        let policy = client.get("/api/v1/policy").await?;
        state.policy_version = policy["version"].as_i64().unwrap_or_default();
        state.registry.rules = policy["rules"].as_array().cloned();
        Ok(state)
    }

    fn take(&mut self, sort: Sort, views: &[Value]) {
        for view in views {
            let key = (sort, text(view, "name").to_owned());
            if !sort.is_kept(view) {
                self.elsewhere.insert(key);
                continue;
            }
            let item = Item {
                document: sort.document(view, &self.names),
                version: view["version"].as_i64(),
            };
            self.registry.items.insert(key, item);
        }
    }

    /// Users, their limits, and the names of secrets.
    async fn people(&mut self, client: &Client) -> Result {
        let users = whole(client, "/api/v1/users").await?;
        let living = |user: &&Value| user["is_active"] != false;
        let users = items(&users).filter(living);
        let users = users.map(|it| (text(it, "name").to_owned(), text(it, "role").to_owned()));
        self.registry.users = Some(users.collect());
        let limits = whole(client, "/api/v1/limits").await?;
        let limits = items(&limits).map(|limit| {
            // One whose user or tool is gone without a name is told by its id.
            let name = limit["target_name"].as_str();
            let name = name.unwrap_or(text(limit, "target_id")).to_owned();
            let target = (text(limit, "target_type").to_owned(), name);
            (target, limit["max_count"].as_i64().unwrap_or_default())
        });
        self.registry.limits = Some(limits.collect::<BTreeMap<_, _>>());
        let secrets = whole(client, "/api/v1/secrets").await?;
        let secrets = items(&secrets);
        let secrets = secrets.map(|it| (text(it, "name").to_owned(), text(it, "owner").to_owned()));
        self.registry.secrets = secrets.collect();
        Ok(())
    }
}

fn items(page: &Value) -> impl Iterator<Item = &Value> {
    page["items"].as_array().into_iter().flatten()
}
