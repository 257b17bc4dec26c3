//! How the model of a run is reached: its provider, its address, its key, and the settings of its agent.

use crate::App;
use agent::entry::RunError;
use agent::limits::{AtLimit, Limits};
use agent::window::Window;
use catalog::auth::Reference;
use catalog::secret::Secret;
use fetch::Trust;
use providers::{Api, Request, Target};
use serde_json::{Map, Value};
use store::agents::AgentRow;
use store::runs::RunRow;

pub(crate) struct Model {
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) system: Option<String>,
    pub(crate) window: Window,
    /// What does not change from turn to turn.
    pub(crate) settings: Request,
}

impl App {
    /// The model that a run asks.
    pub(crate) fn model_of_run(
        &self,
        row: &RunRow,
        agent: Option<&AgentRow>,
    ) -> Result<Model, RunError> {
        match agent {
            Some(agent) => self.model_of_agent(agent),
            None if row.agent_id.is_some() => {
                Err(RunError::new("agent_inactive", "The run's agent is gone"))
            }
            None => {
                let named = self.runs.settings.model.as_ref();
                let (provider, name) = named.ok_or_else(|| {
                    RunError::new("not_configured", "The run's model is not set up any more")
                })?;
                self.model(provider, name, None)
            }
        }
    }

    /// Whether an agent could be asked, and if not, why.
    pub(crate) fn model_of_agent(&self, agent: &AgentRow) -> Result<Model, RunError> {
        if agent.deleted_at.is_some() || !self.is_in_use(agent) {
            let why = format!("Agent '{}' is switched off", agent.name);
            return Err(RunError::new("agent_inactive", why));
        }
        self.model(&agent.model_provider, &agent.model_name, Some(agent))
    }

    pub(crate) fn model(
        &self,
        provider: &str,
        name: &str,
        agent: Option<&AgentRow>,
    ) -> Result<Model, RunError> {
        let empty = Map::new();
        let config = agent.and_then(|it| it.config.0.as_object());
        let config = config.unwrap_or(&empty);
        let wanted = config.get("api").and_then(Value::as_str);
        let api = Api::of(provider, wanted).map_err(|why| RunError::new("not_configured", why))?;
        let target = self.target(api, provider, agent, config)?;
        let number = |key: &str| config.get(key).and_then(Value::as_f64);
        let count = |key: &str| config.get(key).and_then(Value::as_u64);
        let yes = |key: &str| config.get(key).and_then(Value::as_bool);
        let memory = agent.and_then(|it| it.memory_config.as_ref());
        let memory = |key: &str| {
            let count = memory.and_then(|it| it.0.get(key)).and_then(Value::as_u64);
            count.and_then(|count| usize::try_from(count).ok())
        };
        let stops = config.get("stop_sequences").and_then(Value::as_array);
        let stops = stops.into_iter().flatten().filter_map(Value::as_str);
        Ok(Model {
            provider: provider.to_owned(),
            name: name.to_owned(),
            target,
            system: agent.and_then(|it| it.system_prompt.clone()),
            window: Window {
                messages_max: memory("max_messages"),
                tokens_max: memory("max_tokens"),
            },
            settings: Request {
                temperature: number("temperature"),
                top_p: number("top_p"),
                max_tokens: count("max_tokens"),
                stop_sequences: stops.map(str::to_owned).collect(),
                parallel: yes("parallel_tool_calls"),
                cache: yes("cache").unwrap_or(true),
                stream: yes("stream").unwrap_or(true),
                extra: config
                    .get("extra")
                    .and_then(Value::as_object)
                    .cloned()
                    .unwrap_or_default(),
                ..Request::default()
            },
        })
    }

    /// Where a request goes and with which key. The server's own key goes to the server's own address, or where an admin
    /// sends it: to nobody else's.
    fn target(
        &self,
        api: Api,
        provider: &str,
        agent: Option<&AgentRow>,
        config: &Map<String, Value>,
    ) -> Result<Target, RunError> {
        let set = self.runs.settings.providers.get(provider);
        let ours = set.and_then(|it| it.base_url.as_deref());
        let theirs = agent.and_then(|it| it.base_url.as_deref());
        let is_trusted = agent.is_none_or(|it| self.is_trusted(it.owner_id));
        let own_key = match (agent, config.get("api_key")) {
            (Some(agent), Some(reference)) => Some(self.agent_secret(agent, reference)?),
            _ => None,
        };
        let may_use_ours = is_trusted || theirs.is_none() || theirs == ours;
        let key = own_key.or_else(|| {
            let ours = set.and_then(|it| it.key.as_ref());
            ours.filter(|_| may_use_ours).cloned()
        });
        let is_default = theirs.or(ours).is_none();
        if key.is_none() && is_default {
            let variable = format!("{}_API_KEY", provider.to_ascii_uppercase());
            let why = format!(
                "There is no key for {provider}: set {variable} where the server runs, or \"api_key\": {{\"$secret\": \"NAME\"}} in the agent's config"
            );
            return Err(RunError::new("not_configured", why));
        }
        let key = key.map(|key| key.expose().to_owned());
        let mut target = Target::new(api, theirs.or(ours), key);
        target.trust = match theirs.is_none() || is_trusted || theirs == ours {
            true => Trust::Operator,
            false => Trust::Guarded,
        };
        Ok(target)
    }

    fn agent_secret(&self, agent: &AgentRow, reference: &Value) -> Result<Secret, RunError> {
        let faulty = |why: String| RunError::new("not_configured", why);
        let opened = match Reference::of(reference) {
            Some(Reference::Env(name)) if self.is_trusted(agent.owner_id) => (self.env)(&name)
                .map(Secret::new)
                .ok_or_else(|| format!("The variable '{name}' is not set")),
            Some(Reference::Env(_)) => Err(format!(
                "'{}' may not read the server's environment: its owner is no admin",
                agent.name
            )),
            Some(Reference::Secret(name)) => self
                .secret_of(agent.owner_id, &name)
                .map_err(|error| error.to_string()),
            _ => Err("config.api_key is no reference to a secret".to_owned()),
        };
        opened.map_err(faulty)
    }
}

/// The limits that an agent sets, over those of the configuration; only what is an admin's goes beyond these.
pub(crate) fn limits_of(agent: Option<&AgentRow>, usual: &Limits, may_exceed: bool) -> Limits {
    let mut limits = wanted(agent, usual);
    if !may_exceed {
        let least = |own: Option<u64>, usual: Option<u64>| own.into_iter().chain(usual).min();
        let lesser =
            |own: Option<f64>, usual: Option<f64>| own.into_iter().chain(usual).reduce(f64::min);
        limits.steps_max = limits.steps_max.min(usual.steps_max);
        limits.calls_max = limits.calls_max.min(usual.calls_max);
        limits.calls_per_tool_max = least(limits.calls_per_tool_max, usual.calls_per_tool_max);
        limits.tokens_max = least(limits.tokens_max, usual.tokens_max);
        limits.cost_max = lesser(limits.cost_max, usual.cost_max);
        limits.seconds_max = lesser(limits.seconds_max, usual.seconds_max);
    }
    limits
}

fn wanted(agent: Option<&AgentRow>, usual: &Limits) -> Limits {
    let mut limits = usual.clone();
    let Some(config) = agent.and_then(|it| it.config.0.as_object()) else {
        return limits;
    };
    let count = |key: &str| config.get(key).and_then(Value::as_u64);
    let number = |key: &str| config.get(key).and_then(Value::as_f64);
    limits.steps_max = count("max_steps").unwrap_or(limits.steps_max);
    limits.calls_max = count("max_tool_calls").unwrap_or(limits.calls_max);
    limits.calls_per_tool_max = count("max_calls_per_tool").or(limits.calls_per_tool_max);
    limits.tokens_max = count("token_budget").or(limits.tokens_max);
    limits.cost_max = number("cost_budget").or(limits.cost_max);
    limits.seconds_max = number("max_seconds").or(limits.seconds_max);
    if let Some(word) = config.get("at_limit") {
        limits.at_limit =
            serde_json::from_value::<AtLimit>(word.clone()).unwrap_or(limits.at_limit);
    }
    limits
}
