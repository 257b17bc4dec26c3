//! Agents: records of a model, its instructions and the tools it may use. Tools are checked when an agent is written
//! and again when it is shown or run: one may be gone since.

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::kept::{Head, Thing, Wanted};
use crate::time;
use catalog::agent::{AgentDefinition, agent_from_text};
use catalog::auth::Reference;
use catalog::caller::{Caller, Scope};
use catalog::json::did_you_mean;
use catalog::policy::Verdict;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use store::Write;
use store::agents::{AgentRow, Json};
use utoipa::ToSchema;
use uuid::Uuid;

/// For so many names that are not there it is looked which one was meant.
const NEAR_MAX: usize = 5;

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

impl Thing for AgentRow {
    const WHAT: &'static str = "Agent";

    fn head(&self) -> Head<'_> {
        Head {
            id: self.id,
            owner: self.owner_id,
            name: &self.name,
            description: self.description.as_deref(),
            is_public: self.is_public,
            version: self.version,
            updated_at: self.updated_at,
            deleted_at: self.deleted_at,
        }
    }

    fn shape(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description,
            "model_provider": self.model_provider,
            "model_name": self.model_name,
            "base_url": self.base_url,
            "system_prompt": self.system_prompt,
            "config": self.config.0,
            "tools": self.tools.0,
            "memory_config": self.memory_config.as_ref().map(|json| &json.0),
            "is_active": self.is_active,
            "is_public": self.is_public,
        })
    }
}

impl App {
    pub fn list_agents(&self, caller: &Caller, filter: &AgentFilter) -> Result<AgentPage> {
        let agents = self.agents.load_full();
        let wanted = Wanted {
            q: filter.q.as_deref(),
            limit: filter.limit,
            cursor: filter.cursor.as_deref(),
        };
        let is = |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|w| w == has);
        let (found, next_cursor) = agents.page(caller, &wanted, |row| {
            is(&filter.provider, &row.model_provider)
                && is(&filter.owner, &self.user_name(row.owner_id))
                && filter
                    .active
                    .is_none_or(|active| active == self.is_in_use(row))
        })?;
        Ok(AgentPage {
            items: found.into_iter().map(|row| self.agent_view(row)).collect(),
            next_cursor,
        })
    }

    /// The agents that somebody may run, by name; the first of many.
    pub fn runnable_agents(&self, caller: &Caller) -> Vec<String> {
        if !caller.scopes.allow(Scope::Call) {
            return Vec::new();
        }
        let agents = self.agents.load();
        let found = agents.page(caller, &Wanted::default(), |row| self.is_in_use(row));
        let found = found.map(|(found, _)| found).unwrap_or_default();
        found.into_iter().map(|row| row.name.clone()).collect()
    }

    pub fn get_agent(&self, caller: &Caller, name_or_id: &str) -> Result<AgentView> {
        let row = self.agents.load().visible(caller, name_or_id, false)?;
        Ok(self.agent_view(&row))
    }

    pub async fn create_agent(
        &self,
        caller: &Caller,
        owner: Option<&str>,
        body: &str,
    ) -> Result<AgentView> {
        let owner_id = self.owner_of_new(caller, owner)?;
        let asked = agent_from_text(body).map_err(Error::problems)?;
        let tools = self.tool_ids(caller, &asked.tools, &[])?;
        self.check_key(caller, owner_id, &asked)?;
        self.check_skills(asked.config.get("skills"), None).await?;
        let now = self.clock.now();
        let row = AgentRow {
            id: Uuid::now_v7(),
            owner_id,
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
        let old = self.agents.load().own(caller, name_or_id, false)?;
        self.replace_agent(caller, &old, body, expected_version)
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
        let old = self.agents.load().own(caller, name_or_id, false)?;
        let body = old.patched(patch)?;
        let expected = expected_version.or(Some(old.version));
        self.replace_agent(caller, &old, &body, expected).await
    }

    async fn replace_agent(
        &self,
        caller: &Caller,
        old: &AgentRow,
        body: &str,
        expected_version: Option<i64>,
    ) -> Result<AgentView> {
        let asked = agent_from_text(body).map_err(Error::problems)?;
        let tools = self.tool_ids(caller, &asked.tools, &old.tools.0)?;
        let seen = old.head().expect(AgentRow::WHAT, expected_version);
        let target = format!("agent:{}", old.name);
        self.since(&target, expected_version, seen).await?;
        self.check_key(caller, old.owner_id, &asked)?;
        let had = old.config.0.get("skills");
        self.check_skills(asked.config.get("skills"), had).await?;
        let row = AgentRow {
            id: old.id,
            owner_id: old.owner_id,
            version: old.version + 1,
            created_at: old.created_at,
            updated_at: self.clock.now(),
            deleted_at: None,
            ..row_of(asked, tools)
        };
        self.put_agent(caller, row, Some(old), "agent.update").await
    }

    pub async fn delete_agent(
        &self,
        caller: &Caller,
        name_or_id: &str,
        expected_version: Option<i64>,
    ) -> Result<()> {
        let old = self.agents.load().own(caller, name_or_id, false)?;
        let seen = old.head().expect(AgentRow::WHAT, expected_version);
        let target = format!("agent:{}", old.name);
        self.since(&target, expected_version, seen).await?;
        let now = self.clock.now();
        let row = AgentRow {
            version: old.version + 1,
            updated_at: now,
            deleted_at: Some(now),
            ..AgentRow::clone(&old)
        };
        self.put_agent(caller, row, Some(&old), "agent.delete")
            .await?;
        Ok(())
    }

    /// Brings a removed agent back.
    pub async fn restore_agent(&self, caller: &Caller, name_or_id: &str) -> Result<AgentView> {
        let old = self.agents.load().own(caller, name_or_id, true)?;
        let row = AgentRow {
            version: old.version + 1,
            updated_at: self.clock.now(),
            deleted_at: None,
            ..AgentRow::clone(&old)
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
        agents.check_name(&row)?;
        let target = format!("agent:{}", row.name);
        let (before, after) = (old.map(Thing::shape), Some(row.shape()));
        let done = act(row.updated_at, caller, action, target, before, after);
        self.store.write(&[Write::Agent(row.clone()), done]).await?;
        let view = self.agent_view(&row);
        self.agents.store(Arc::new(agents.with([row])));
        self.executor.tell_changed();
        Ok(view)
    }

    /// Whether the agent may use the key that it refers to, and whether its provider speaks what it wants.
    fn check_key(&self, caller: &Caller, owner: Uuid, asked: &AgentDefinition) -> Result<()> {
        let wanted = asked.config.get("api").and_then(Value::as_str);
        providers::Api::of(&asked.model_provider, wanted)
            .map_err(|why| Error::invalid(format!("config.api: {why}")))?;
        let key = asked.config.get("api_key");
        match key.and_then(Reference::of) {
            Some(Reference::Env(_)) if !caller.scopes.allow(Scope::Admin) => {
                Err(Error::Forbidden("config.api_key: only an admin may let an agent read the server's environment; store the key with PUT /api/v1/secrets/NAME and write {\"$secret\": \"NAME\"}".to_owned()))
            }
            Some(Reference::Secret(name)) if !self.may_refer(caller, owner, &name) => {
                let whose = self.user_name(owner);
                Err(Error::invalid(format!("config.api_key: '{whose}' has no secret of that name; set it first")))
            }
            _ => Ok(()),
        }
    }

    /// The ids of tools the caller may see; what is not there is named, all of it. Ids that the agent has already are kept,
    /// whatever became of their tools: who had to leave out its last one would give it every tool.
    fn tool_ids(&self, caller: &Caller, names: &[String], had: &[Uuid]) -> Result<Vec<Uuid>> {
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        let mut ids = Vec::with_capacity(names.len());
        let mut unknown = Vec::new();
        for name in names {
            let entry = catalogue.find(name);
            let seen = |tool| policy.verdict(caller, tool) != Verdict::Hidden;
            let found = entry.filter(|entry| seen(&entry.tool));
            let kept = || name.parse().ok().filter(|id| had.contains(id));
            match found.map(|entry| entry.tool.id).or_else(kept) {
                Some(id) if !ids.contains(&id) => ids.push(id),
                Some(_) => {}
                None => unknown.push(name),
            }
        }
        if unknown.is_empty() {
            return Ok(ids);
        }
        let seen = catalogue.after(None);
        let seen = seen.filter(|it| policy.verdict(caller, &it.tool) != Verdict::Hidden);
        let known: Vec<&str> = seen.map(|it| &*it.name).collect();
        let unknown = not_there(&unknown, &known);
        Err(Error::invalid(format!("tools: there is no tool {unknown}")))
    }

    /// Not switched off, and its owner is there.
    pub(crate) fn is_in_use(&self, row: &AgentRow) -> bool {
        let access = self.access.load();
        let owner = access.user(row.owner_id);
        row.is_active && owner.is_some_and(|owner| owner.deleted_at.is_none())
    }

    fn agent_view(&self, row: &AgentRow) -> AgentView {
        let access = self.access.load();
        let owner = access.user(row.owner_id);
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
            is_active: self.is_in_use(row),
            is_public: row.is_public,
            version: row.version,
            created_at: time::rfc3339(row.created_at),
            updated_at: time::rfc3339(row.updated_at),
            deleted_at: row.deleted_at.map(time::rfc3339),
        }
    }
}

/// Names that are not there, the first of them with the one that was perhaps meant: to look for all would take long.
pub(crate) fn not_there(names: &[&String], known: &[&str]) -> String {
    let told = names.iter().enumerate().map(|(at, name)| {
        let near = (at < NEAR_MAX).then(|| did_you_mean(name, known)).flatten();
        let near = near.map(|near| format!(" (did you mean '{near}'?)"));
        format!("'{name}'{}", near.unwrap_or_default())
    });
    told.collect::<Vec<_>>().join(", ")
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
