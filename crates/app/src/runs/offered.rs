//! Which tools a run may use, and which of them its model is shown: all where they are few, else those that fit the
//! request, and one to find others with.

use super::driver::Driver;
use super::journal::Lost;
use super::own::Own;
use crate::App;
use crate::error::Result;
use crate::select::Among;
use agent::entry::{Entry, RunError};
use agent::skill::Skill;
use catalog::caller::Caller;
use catalog::catalogue::Entry as Tool;
use catalog::policy::{Denial, Policy, Verdict};
use catalog::toolset::Shown;
use std::collections::HashSet;
use std::sync::Arc;
use uuid::Uuid;

/// What a name stands for in a run.
pub(crate) enum Offer {
    Own(Own),
    Tool(Arc<Tool>),
    /// With what the model is told.
    Unknown(String),
}

/// What a run is confined to; empty is no bound.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    /// The agent's.
    ids: HashSet<Uuid>,
    /// The request's.
    names: HashSet<String>,
}

impl Bounds {
    fn hold(&self, shown: &Shown<'_>) -> bool {
        let of_agent = self.ids.is_empty() || self.ids.contains(&shown.entry.tool.id);
        let asked = self.names.is_empty()
            || self.names.contains(shown.name)
            || self.names.contains(&*shown.entry.name);
        of_agent && asked
    }
}

/// Whether a run may call a tool, if only after somebody approved it.
fn may_call(policy: &Policy, caller: &Caller, tool: &Tool) -> bool {
    matches!(
        policy.verdict(caller, &tool.tool),
        Verdict::Allowed | Verdict::Denied(Denial::Approval)
    )
}

impl App {
    /// Every tool that a run may use.
    pub(crate) fn usable_in_run(&self, caller: &Caller, bounds: &Bounds) -> Among {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let all = match policy.toolset(caller) {
            Some(set) if caller.toolset.is_some() => set.members(&catalogue),
            _ => catalogue.after(None).map(Shown::plain).collect(),
        };
        let usable = all.into_iter().filter(|shown| {
            Own::named(shown.name).is_none()
                && bounds.hold(shown)
                && may_call(&policy, caller, shown.entry)
        });
        Among::new(&usable.collect::<Vec<_>>())
    }

    /// Of the tools that a skill names, those that may be used, by the names that the caller knows them by; and the others.
    pub(crate) fn tools_of_skill(
        &self,
        caller: &Caller,
        bounds: &Bounds,
        skill: &Skill,
    ) -> (Vec<String>, Vec<String>) {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let (mut usable, mut missing) = (Vec::new(), Vec::new());
        for name in &skill.tools {
            let shown = policy.find(&catalogue, caller, name);
            let shown = shown.filter(|it| bounds.hold(it) && may_call(&policy, caller, it.entry));
            match shown {
                Some(shown) => usable.push(shown.name.to_owned()),
                None => missing.push(name.clone()),
            }
        }
        (usable, missing)
    }
}

impl App {
    /// Which tools a run's model is shown, and why these.
    async fn planned_for_run(
        self: Arc<Self>,
        caller: Arc<Caller>,
        bounds: Bounds,
        query: String,
    ) -> Result<(Vec<String>, String)> {
        self.servers_awaited().await;
        let listed = {
            let app = Arc::clone(&self);
            let list = move || app.usable_in_run(&caller, &bounds);
            tokio::task::spawn_blocking(list).await
        };
        let among = listed.map_err(|error| crate::Error::Internal(error.to_string()))?;
        let (all, most) = (among.len(), self.runs.settings.tools_max);
        let name = |at: usize, among: &Among| among.shown(at).name.to_owned();
        if all <= most {
            let tools = (0..all).map(|at| name(at, &among)).collect();
            return Ok((tools, format!("all {all} that may be used")));
        }
        let among = Arc::new(among);
        let best = self.find(&among, &query, most).await?;
        let mut tools: Vec<String> = best.into_iter().map(|at| name(at, &among)).collect();
        // In one order whatever the request: what a provider has cached stays of use.
        tools.sort_unstable();
        let because = format!("the {} of {all} that fit the request best", tools.len());
        Ok((tools, because))
    }
}

impl Driver {
    pub(crate) fn bounds(&self) -> Bounds {
        let began = self.journal.state.began.as_ref();
        let names = began.map(|began| began.tools.iter().cloned().collect());
        let agent = self.agent();
        Bounds {
            ids: agent.map_or_else(HashSet::new, |row| row.tools.0.iter().copied().collect()),
            names: names.unwrap_or_default(),
        }
    }

    /// What a name stands for that the model called.
    pub(crate) fn find(&self, name: &str) -> Offer {
        if let Some(own) = Own::named(name).filter(|own| self.offers(*own)) {
            return Offer::Own(own);
        }
        let app = &self.journal.app;
        let (policy, catalogue) = (app.executor.policy.load(), app.executor.catalogue.load());
        let found = policy.find(&catalogue, &self.caller, name);
        let found = found.filter(|shown| {
            self.bounds().hold(shown)
                && policy.verdict(&self.caller, &shown.entry.tool) != Verdict::Hidden
        });
        match found {
            Some(shown) => Offer::Tool(Arc::clone(shown.entry)),
            None => {
                let known = self.journal.state.planned.iter().flatten();
                let known: Vec<&str> = known.map(|it| it.tool.as_str()).collect();
                let known = match known.len() {
                    0 => "none".to_owned(),
                    _ => known.join(", "),
                };
                Offer::Unknown(format!("There is no tool '{name}'. The tools are: {known}"))
            }
        }
    }

    /// Chooses what the model is shown, once. Nothing where the run ended meanwhile.
    pub(crate) async fn plan(&mut self) -> std::result::Result<(), Lost> {
        let app = Arc::clone(&self.journal.app);
        let (caller, bounds) = (Arc::clone(&self.caller), self.bounds());
        let query = self.request();
        let planning = app.planned_for_run(caller, bounds, query);
        let Some(planned) = self.meanwhile(planning).await? else {
            return Ok(());
        };
        match planned {
            Ok((tools, because)) => {
                self.journal.add(Entry::Plan {
                    tools,
                    because,
                    parts: Vec::new(),
                    left: Vec::new(),
                });
                self.note_missing();
            }
            Err(error) => self.fail(RunError::new(error.code().as_str(), error.to_string())),
        }
        Ok(())
    }

    /// Tools of the agent that the run cannot use: they are gone, or kept from whoever began it.
    fn note_missing(&mut self) {
        let Some(agent) = self.agent().filter(|it| !it.tools.0.is_empty()) else {
            return;
        };
        let app = &self.journal.app;
        let (policy, catalogue) = (app.executor.policy.load(), app.executor.catalogue.load());
        let missing = agent.tools.0.iter().filter_map(|id| {
            let found = catalogue.by_id(*id);
            match found {
                Some(tool) if may_call(&policy, &self.caller, tool) => None,
                Some(tool) => Some(format!("'{}'", tool.name)),
                None => Some(id.to_string()),
            }
        });
        let missing: Vec<String> = missing.collect();
        if !missing.is_empty() {
            let message = format!(
                "The agent's tools {} are not there, or may not be called; the run goes on without them",
                missing.join(", ")
            );
            self.journal.note("tools_missing", message);
        }
    }

    /// What the person asked for.
    pub(crate) fn request(&self) -> String {
        let began = self.journal.state.began.as_ref();
        let text = began.map(|began| began.input.as_str()).unwrap_or_default();
        let most = crate::select::QUERY_MAX;
        text.chars().take(most).collect()
    }

    /// The tools that the model is shown, as it is shown them.
    pub(crate) fn shown(&self) -> Vec<providers::Tool> {
        let app = &self.journal.app;
        let (policy, catalogue) = (app.executor.policy.load(), app.executor.catalogue.load());
        let planned = self.journal.state.planned.iter().flatten();
        let tools = planned.filter_map(|it| {
            let shown = policy.find(&catalogue, &self.caller, &it.tool)?;
            let usable = may_call(&policy, &self.caller, shown.entry);
            usable.then(|| described(&shown))
        });
        let own = Own::ALL.into_iter().filter(|own| self.offers(*own));
        let skills = &self.journal.state.skills;
        tools.chain(own.map(|own| own.tool(skills))).collect()
    }

    /// Whether the run has a tool of its own.
    fn offers(&self, own: Own) -> bool {
        let app = &self.journal.app;
        match own {
            Own::Ask => {
                let catalogue = app.executor.catalogue.load();
                let asking = catalogue.get(crate::select::ASKING);
                let policy = app.executor.policy.load();
                asking.is_some_and(|entry| may_call(&policy, &self.caller, entry))
            }
            Own::FindTools => {
                let planned = self.journal.state.planned.as_ref();
                planned.is_some_and(|it| it.len() >= app.runs.settings.tools_max)
            }
            Own::LoadSkill => !self.journal.state.skills.is_empty(),
            Own::ListResources | Own::ReadResource => app.has_resources(),
        }
    }
}

/// A tool as a model is shown it, with what its toolset says of it.
pub(crate) fn described(shown: &Shown<'_>) -> providers::Tool {
    let definition = &shown.entry.tool.definition;
    let own = shown.pick.and_then(|pick| pick.description.clone());
    let schema = shown.entry.offered_schema();
    providers::Tool {
        name: shown.name.to_owned(),
        description: own.unwrap_or_else(|| definition.description.clone()),
        input_schema: match shown.pick {
            Some(pick) => pick.input_schema(&schema),
            None => schema.into_owned(),
        },
    }
}
