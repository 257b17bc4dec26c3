//! Agents: records of a model, its instructions and the tools it may use. Tools are checked when an agent is written
//! and again when it is shown or run: one may be gone since.

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result, expect_version};
use crate::{page, patch, time};
use catalog::agent::{AgentDefinition, agent_from_text};
use catalog::caller::{Caller, Scope};
use catalog::policy::Verdict;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use store::Write;
use store::agents::{AgentRow, Json};
use utoipa::ToSchema;
use uuid::Uuid;

/// An agent as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentView {
    pub id: Uuid,
    pub owner: String,
    pub name: String,
    pub description: Option<String>,
    /// anthropic, openai or zhipuai.
    pub model_provider: String,
    pub model_name: String,
    pub base_url: Option<String>,
    pub system_prompt: Option<String>,
    #[schema(value_type = Object)]
    pub config: Value,
    /// The ids of its tools.
    pub tools: Vec<Uuid>,
    /// Those of them that are not there any more, or that its owner may not see.
    pub tools_missing: Vec<Uuid>,
    #[schema(value_type = Option<Object>)]
    pub memory_config: Option<Value>,
    pub is_active: bool,
    pub is_public: bool,
    pub version: i64,
    pub created_at: String,
    pub updated_at: String,
    pub deleted_at: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AgentPage {
    pub items: Vec<AgentView>,
    pub next_cursor: Option<String>,
}

/// Which agents to list.
#[derive(Debug, Default)]
pub struct AgentFilter {
    pub q: Option<String>,
    pub provider: Option<String>,
    pub owner: Option<String>,
    pub active: Option<bool>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

/// Every agent, also those that were removed: an immutable snapshot, as the catalogue is one of tools.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    by_id: HashMap<Uuid, Arc<AgentRow>>,
    /// In the order of names.
    sorted: Vec<Arc<AgentRow>>,
}

impl Agents {
    pub(crate) fn new(rows: Vec<AgentRow>) -> Self {
        let by_id = rows.into_iter().map(|row| (row.id, Arc::new(row)));
        Self::of(by_id.collect())
    }

    fn of(by_id: HashMap<Uuid, Arc<AgentRow>>) -> Self {
        let mut sorted: Vec<Arc<AgentRow>> = by_id.values().cloned().collect();
        sorted.sort_unstable_by(|a, b| (&a.name, a.updated_at).cmp(&(&b.name, b.updated_at)));
        Agents { by_id, sorted }
    }

    /// Everything of one user, also what was removed.
    pub(crate) fn owned_by(&self, owner: Uuid) -> impl Iterator<Item = &Arc<AgentRow>> {
        self.sorted.iter().filter(move |row| row.owner_id == owner)
    }

    pub(crate) fn with(&self, rows: impl IntoIterator<Item = AgentRow>) -> Self {
        let mut by_id = self.by_id.clone();
        by_id.extend(rows.into_iter().map(|row| (row.id, Arc::new(row))));
        Self::of(by_id)
    }

    /// Those that are not removed.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Arc<AgentRow>> {
        self.sorted.iter().filter(|row| row.deleted_at.is_none())
    }

    /// By id or name; of several that were removed under one name the last.
    fn find(&self, asked: &str, gone: bool) -> Option<&Arc<AgentRow>> {
        let meant = |row: &&Arc<AgentRow>| row.deleted_at.is_some() == gone;
        let id = Uuid::parse_str(asked).ok();
        if let Some(row) = id.and_then(|id| self.by_id.get(&id)).filter(meant) {
            return Some(row);
        }
        let from = self.sorted.partition_point(|row| *row.name < *asked);
        let named = self.sorted[from..]
            .iter()
            .take_while(|row| row.name == asked);
        named.filter(meant).last()
    }
}

impl App {
    pub fn list_agents(&self, caller: &Caller, filter: &AgentFilter) -> Result<AgentPage> {
        let limit = page::limit(filter.limit)?;
        let word = filter.q.as_deref().unwrap_or_default().to_lowercase();
        let text = |agent: &AgentRow| {
            let description = agent.description.as_deref().unwrap_or_default();
            format!("{}\n{description}", agent.name).to_lowercase()
        };
        let mut found: Vec<AgentView> = Vec::new();
        let agents = self.agents.load_full();
        for row in agents.live() {
            let after = filter
                .cursor
                .as_ref()
                .is_none_or(|cursor| row.name > *cursor);
            if !after || !may_see(caller, row) || !text(row).contains(&word) {
                continue;
            }
            let agent = self.agent_view(row);
            let fits =
                |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|w| w == has);
            if fits(&filter.provider, &agent.model_provider)
                && fits(&filter.owner, &agent.owner)
                && filter.active.is_none_or(|active| active == agent.is_active)
            {
                found.push(agent);
            }
            if found.len() > limit {
                break;
            }
        }
        let more = found.len() > limit;
        found.truncate(limit);
        let next_cursor = found.last().filter(|_| more).map(|a| a.name.clone());
        Ok(AgentPage {
            items: found,
            next_cursor,
        })
    }

    pub fn get_agent(&self, caller: &Caller, name_or_id: &str) -> Result<AgentView> {
        let row = self.visible_agent(caller, name_or_id, false)?;
        Ok(self.agent_view(&row))
    }

    pub async fn create_agent(&self, caller: &Caller, body: &str) -> Result<AgentView> {
        let asked = agent_from_text(body).map_err(Error::problems)?;
        let tools = self.tool_ids(caller, &asked.tools)?;
        let now = self.clock.now();
        let row = AgentRow {
            id: Uuid::now_v7(),
            owner_id: caller.user,
            version: 1,
            created_at: now,
            updated_at: now,
            deleted_at: None,
            ..row_of(asked, tools)
        };
        self.put_agent(caller, row, None, "agent.create").await
    }

    /// Replaces an agent by the definition in `body`.
    pub async fn update_agent(
        &self,
        caller: &Caller,
        name_or_id: &str,
        body: &str,
        expected_version: Option<i64>,
    ) -> Result<AgentView> {
        let old = self.own_agent(caller, name_or_id, false)?;
        self.replace_agent(caller, old, body, expected_version)
            .await
    }

    /// Changes only the members of a JSON merge patch.
    pub async fn patch_agent(
        &self,
        caller: &Caller,
        name_or_id: &str,
        patch: &str,
        expected_version: Option<i64>,
    ) -> Result<AgentView> {
        let old = self.own_agent(caller, name_or_id, false)?;
        let patch = patch::read(patch)?;
        let mut merged = shape(&old);
        patch::merge(&mut merged, patch);
        let expected = expected_version.or(Some(old.version));
        self.replace_agent(caller, old, &merged.to_string(), expected)
            .await
    }

    async fn replace_agent(
        &self,
        caller: &Caller,
        old: AgentRow,
        body: &str,
        expected_version: Option<i64>,
    ) -> Result<AgentView> {
        let asked = agent_from_text(body).map_err(Error::problems)?;
        let tools = self.tool_ids(caller, &asked.tools)?;
        expect_version("Agent", &old.name, old.version, expected_version)?;
        let row = AgentRow {
            id: old.id,
            owner_id: old.owner_id,
            version: old.version + 1,
            created_at: old.created_at,
            updated_at: self.clock.now(),
            deleted_at: None,
            ..row_of(asked, tools)
        };
        self.put_agent(caller, row, Some(&old), "agent.update")
            .await
    }

    pub async fn delete_agent(
        &self,
        caller: &Caller,
        name_or_id: &str,
        expected_version: Option<i64>,
    ) -> Result<()> {
        let old = self.own_agent(caller, name_or_id, false)?;
        expect_version("Agent", &old.name, old.version, expected_version)?;
        let now = self.clock.now();
        let row = AgentRow {
            version: old.version + 1,
            updated_at: now,
            deleted_at: Some(now),
            ..old.clone()
        };
        self.put_agent(caller, row, Some(&old), "agent.delete")
            .await?;
        Ok(())
    }

    /// Brings a removed agent back.
    pub async fn restore_agent(&self, caller: &Caller, name_or_id: &str) -> Result<AgentView> {
        let old = self.own_agent(caller, name_or_id, true)?;
        let row = AgentRow {
            version: old.version + 1,
            updated_at: self.clock.now(),
            deleted_at: None,
            ..old.clone()
        };
        self.put_agent(caller, row, Some(&old), "agent.restore")
            .await
    }

    async fn put_agent(
        &self,
        caller: &Caller,
        row: AgentRow,
        old: Option<&AgentRow>,
        action: &str,
    ) -> Result<AgentView> {
        let _one_at_a_time = self.agent_changes.lock().await;
        let agents = self.agents.load_full();
        let other = agents
            .find(&row.name, false)
            .filter(|other| other.id != row.id);
        if other.is_some() && row.deleted_at.is_none() {
            return Err(Error::conflict(format!(
                "An agent named '{}' is there already. Choose another name, or change or remove that one",
                row.name
            )));
        }
        let target = format!("agent:{}", row.name);
        let (before, after) = (old.map(shape), Some(shape(&row)));
        let done = act(row.updated_at, caller, action, target, before, after);
        self.store.write(&[Write::Agent(row.clone()), done]).await?;
        let view = self.agent_view(&row);
        self.agents.store(Arc::new(agents.with([row])));
        Ok(view)
    }

    /// The ids of tools the caller may see; what is not there is named, all of it.
    fn tool_ids(&self, caller: &Caller, names: &[String]) -> Result<Vec<Uuid>> {
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        let mut ids = Vec::with_capacity(names.len());
        let mut unknown = Vec::new();
        for name in names {
            let entry = catalogue.find(name);
            let seen = |tool| policy.verdict(caller, tool) != Verdict::Hidden;
            match entry.filter(|entry| seen(&entry.tool)) {
                Some(entry) if !ids.contains(&entry.tool.id) => ids.push(entry.tool.id),
                Some(_) => {}
                None => unknown.push(format!("'{name}'")),
            }
        }
        if unknown.is_empty() {
            return Ok(ids);
        }
        let unknown = unknown.join(", ");
        Err(Error::invalid(format!("tools: there is no tool {unknown}")))
    }

    fn visible_agent(&self, caller: &Caller, asked: &str, gone: bool) -> Result<AgentRow> {
        let agents = self.agents.load();
        let found = agents.find(asked, gone).filter(|row| may_see(caller, row));
        found
            .map(|row| (**row).clone())
            .ok_or_else(|| Error::NotFound {
                what: "Agent",
                name: asked.to_owned(),
            })
    }

    fn own_agent(&self, caller: &Caller, asked: &str, gone: bool) -> Result<AgentRow> {
        let row = self.visible_agent(caller, asked, gone)?;
        if row.owner_id != caller.user && !caller.scopes.allow(Scope::Admin) {
            return Err(Error::Forbidden(format!(
                "Only its owner or an admin may change '{}'",
                row.name
            )));
        }
        Ok(row)
    }

    fn agent_view(&self, row: &AgentRow) -> AgentView {
        let access = self.access.load();
        let owner = access.user(row.owner_id);
        let here = owner.is_some_and(|owner| owner.deleted_at.is_none());
        let asks = owner.map(|owner| {
            let role = crate::access::role_of(owner);
            let transport = catalog::caller::Transport::Agent;
            Caller::of_user(owner.id, &owner.name, role, transport)
        });
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        let is_there = |id: &&Uuid| {
            let entry = catalogue.by_id(**id);
            entry.is_some_and(|entry| {
                asks.as_ref()
                    .is_some_and(|asks| policy.verdict(asks, &entry.tool) != Verdict::Hidden)
            })
        };
        let missing = row.tools.0.iter().filter(|id| !is_there(id));
        AgentView {
            tools_missing: missing.copied().collect(),
            id: row.id,
            owner: self.user_name(row.owner_id),
            name: row.name.clone(),
            description: row.description.clone(),
            model_provider: row.model_provider.clone(),
            model_name: row.model_name.clone(),
            base_url: row.base_url.clone(),
            system_prompt: row.system_prompt.clone(),
            config: row.config.0.clone(),
            tools: row.tools.0.clone(),
            memory_config: row.memory_config.as_ref().map(|json| json.0.clone()),
            is_active: row.is_active && here,
            is_public: row.is_public,
            version: row.version,
            created_at: time::rfc3339(row.created_at),
            updated_at: time::rfc3339(row.updated_at),
            deleted_at: row.deleted_at.map(time::rfc3339),
        }
    }
}

fn may_see(caller: &Caller, row: &AgentRow) -> bool {
    row.owner_id == caller.user || row.is_public || caller.scopes.allow(Scope::Admin)
}

/// What the author wrote, as a row that nobody owns yet.
fn row_of(asked: AgentDefinition, tools: Vec<Uuid>) -> AgentRow {
    let value = |map: Map<String, Value>| Json(Value::Object(map));
    AgentRow {
        id: Uuid::nil(),
        owner_id: Uuid::nil(),
        name: asked.name,
        description: asked.description,
        model_provider: asked.model_provider,
        model_name: asked.model_name,
        base_url: asked.base_url,
        system_prompt: asked.system_prompt,
        config: value(asked.config),
        tools: Json(tools),
        memory_config: asked.memory_config.map(value),
        is_active: asked.is_active,
        is_public: asked.is_public,
        version: 0,
        created_at: 0,
        updated_at: 0,
        deleted_at: None,
    }
}

/// The author's part of an agent.
fn shape(row: &AgentRow) -> Value {
    json!({
        "name": row.name,
        "description": row.description,
        "model_provider": row.model_provider,
        "model_name": row.model_name,
        "base_url": row.base_url,
        "system_prompt": row.system_prompt,
        "config": row.config.0,
        "tools": row.tools.0,
        "memory_config": row.memory_config.as_ref().map(|json| &json.0),
        "is_active": row.is_active,
        "is_public": row.is_public,
    })
}
