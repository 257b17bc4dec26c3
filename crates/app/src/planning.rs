//! What a request needs where no model thinks: the tools that selection finds, with the arguments that it surely gives.

use crate::App;
use crate::error::Result;
use crate::select::{Request, item};
use agent::fill::calculation;
use agent::planner::{self, Chosen, Plan, plan};
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::policy::Verdict;
use jiff::civil::Date;
use selection::speech::clauses;
use selection::{Item, Outcome};
use std::collections::HashMap;
use std::sync::Arc;

/// Among which tools is chosen.
#[derive(Debug, Default)]
pub struct Choosing {
    /// Only these, by name; all that the caller may call where it is not said.
    pub among: Option<Vec<String>>,
    /// Whether tools are chosen, too, that somebody has to approve first: by who can wait for that.
    pub may_wait: bool,
    /// The day that "today" is; today where it is not said.
    pub day: Option<Date>,
}

/// What is to be done, and how that was found.
#[derive(Debug)]
pub struct Planned {
    pub plan: Plan,
    /// The tools that were chosen; where somebody has to be asked, the one that the question is for.
    pub tools: Vec<String>,
    /// What spoke for them.
    pub because: String,
    /// What to know of how this came about.
    pub notes: Vec<String>,
}

impl App {
    /// The plan for a request among the tools that the caller may call.
    pub async fn plan_without_model(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        request: &str,
        choosing: Choosing,
    ) -> Result<Planned> {
        let day = choosing.day.unwrap_or_else(|| self.today());
        if choosing.among.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Planned {
                plan: self.plan_for(request, Outcome::None, &[], day),
                tools: Vec::new(),
                because: "there is no tool that may be called".to_owned(),
                notes: Vec::new(),
            });
        }
        let asked = Request {
            query: request.to_owned(),
            among: choosing.among,
            may_wait: choosing.may_wait,
            ..Request::default()
        };
        let selection = self.select(Arc::clone(caller), asked.clone()).await?;
        let (outcome, tools) = match selection.outcome.as_str() {
            "call" => {
                let tools = self.with_calculations(caller, &asked, selection.tools);
                (Outcome::Call, tools.await?)
            }
            "ask" => (Outcome::Ask, selection.about.into_iter().collect()),
            _ => (Outcome::None, Vec::new()),
        };
        let planned = self.plan_for(request, outcome, &tools, day);
        let planned = self.unless_contrary(request, planned);
        let is_settled = match &planned {
            Plan::Calls(calls) => calls.len() > 1 || calls.iter().all(|it| it.missing.is_empty()),
            Plan::Ask { .. } | Plan::Nothing { .. } => false,
        };
        let sum = calculation(request).filter(|_| !is_settled);
        // How short it is says nothing against a tool that takes all of it.
        let takes_it = |plan: &Plan, sum: &str| {
            let takes = |it: &planner::Planned| {
                it.missing.is_empty() && it.arguments.values().any(|it| *it == *sum)
            };
            matches!(plan, Plan::Calls(calls) if calls.iter().all(takes))
        };
        for best in selection.candidates {
            let Some(sum) = &sum else { break };
            let tools = vec![best.name];
            let plan = self.plan_for(request, Outcome::Call, &tools, day);
            if takes_it(&plan, sum) {
                return Ok(Planned {
                    plan,
                    tools,
                    because: format!("the request is a calculation; {}", best.why),
                    notes: selection.notes,
                });
            }
        }
        Ok(Planned {
            plan: planned,
            tools,
            because: selection.because,
            notes: selection.notes,
        })
    }

    /// The plan, unless it would ask for the arguments of a call that is not what the request wants by its words.
    fn unless_contrary(&self, request: &str, planned: Plan) -> Plan {
        let doubted = match &planned {
            Plan::Calls(calls) => match &calls[..] {
                [call] if !call.missing.is_empty() => self.doubted(request, &call.tool),
                _ => None,
            },
            _ => None,
        };
        doubted.unwrap_or(planned)
    }

    fn doubted(&self, request: &str, tool: &str) -> Option<Plan> {
        let why = self.contrary_to(request, tool)?;
        let catalogue = self.executor.catalogue.load();
        let item = self.item(catalogue.find(tool)?);
        Some(planner::doubted(request, &item, why))
    }

    /// A part of a request that is a calculation needs its tool, however much better other parts fit theirs.
    async fn with_calculations(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        asked: &Request,
        tools: Vec<String>,
    ) -> Result<Vec<String>> {
        let parts = clauses(&asked.query);
        let has_sum = parts.iter().any(|it| calculation(it).is_some());
        if tools.len() >= parts.len() || !has_sum {
            return Ok(tools);
        }
        let mut found: Vec<Option<String>> = Vec::new();
        for part in parts {
            let query = part.trim_start_matches([',', ' ']).to_owned();
            let own = Request {
                query,
                ..asked.clone()
            };
            let of_part = self.select(Arc::clone(caller), own).await?;
            let needed = of_part.tools.into_iter().next();
            found.push(needed.filter(|_| of_part.outcome == "call"));
        }
        // Nothing that was chosen for the whole is lost: it belongs to a part that says too little by itself.
        let is_left = |tool: &String| found.iter().flatten().all(|it| it != tool);
        let mut left: Vec<String> = tools.into_iter().filter(is_left).collect();
        left.reverse();
        let mut all: Vec<String> = Vec::new();
        for tool in found {
            let tool = tool.or_else(|| left.pop());
            all.extend(tool.filter(|it| !all.contains(it)));
        }
        left.reverse();
        all.extend(left);
        Ok(all)
    }

    /// What to do with a request for which these tools were chosen.
    pub(crate) fn plan_for(
        &self,
        request: &str,
        outcome: Outcome,
        tools: &[String],
        today: Date,
    ) -> Plan {
        let catalogue = self.executor.catalogue.load();
        let entries: Vec<&Arc<Entry>> = tools.iter().filter_map(|it| catalogue.find(it)).collect();
        let items: Vec<Item> = entries.iter().map(|it| self.item(it)).collect();
        let schemas: Vec<_> = entries.iter().map(|it| it.offered_schema()).collect();
        let chosen = items.iter().zip(&schemas);
        let chosen = chosen.map(|(tool, input_schema)| Chosen { tool, input_schema });
        plan(request, outcome, &chosen.collect::<Vec<_>>(), today)
    }

    /// What a request surely gives one tool; nothing where the caller may not know of it.
    pub fn filled(
        &self,
        caller: &Caller,
        request: &str,
        tool: &str,
    ) -> Option<agent::fill::Filled> {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let shown = policy.find(&catalogue, caller, tool)?;
        let entry = shown.entry;
        if policy.verdict(caller, &entry.tool) == Verdict::Hidden {
            return None;
        }
        let schema = entry.offered_schema();
        let item = self.item(entry);
        Some(agent::fill::fill_for(request, &item, &schema, self.today()))
    }

    /// A tool by itself, for those who have chosen it already.
    fn item(&self, entry: &Entry) -> Item {
        item(entry, self.access.load().admins(), &HashMap::new())
    }

    /// The day it is where this server stands.
    pub fn today(&self) -> Date {
        day_of(self.clock.now())
    }
}

/// The day of a moment, where this server stands.
pub(crate) fn day_of(moment: i64) -> Date {
    let moment = jiff::Timestamp::from_millisecond(moment).unwrap_or_default();
    moment.to_zoned(jiff::tz::TimeZone::system()).date()
}
