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

/// What is to be done about a request, and whether that is clear.
struct AsOne {
    outcome: Outcome,
    planned: Planned,
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
        let whole = self.planned_as_one(caller, &asked, day).await?;
        let tools = self.of_parts(caller, &asked, &whole, day).await?;
        let mut planned = whole.planned;
        if let Some(tools) = tools {
            planned.plan = self.plan_for(request, Outcome::Call, &tools, day);
            planned.tools = tools;
        }
        Ok(planned)
    }

    /// The plan for a request with the tools that are found for all of it.
    async fn planned_as_one(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        asked: &Request,
        day: Date,
    ) -> Result<AsOne> {
        let request = &asked.query;
        let selection = self.select(Arc::clone(caller), asked.clone()).await?;
        let (outcome, tools) = match selection.outcome.as_str() {
            "call" => (Outcome::Call, selection.tools),
            "ask" => (Outcome::Ask, selection.about.into_iter().collect()),
            _ => (Outcome::None, Vec::new()),
        };
        let plan = self.plan_for(request, outcome, &tools, day);
        let plan = self.unless_contrary(request, plan);
        let mut found = AsOne {
            outcome,
            planned: Planned {
                plan,
                tools,
                because: selection.because,
                notes: selection.notes,
            },
        };
        let is_settled = match &found.planned.plan {
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
                found.outcome = Outcome::Call;
                found.planned = Planned {
                    plan,
                    tools,
                    because: format!("the request is a calculation; {}", best.why),
                    notes: found.planned.notes,
                };
                break;
            }
        }
        Ok(found)
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

    /// The tools of a request's parts, each found for its part alone, where that finds more than all of them together did: a
    /// tool that two parts need, and a calculation, however much better other parts fit their tools. None where it does not.
    async fn of_parts(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        asked: &Request,
        whole: &AsOne,
        day: Date,
    ) -> Result<Option<Vec<String>>> {
        let parts = planner::parts(&asked.query);
        let chosen = match whole.outcome {
            Outcome::Call => &whole.planned.tools[..],
            _ => &[],
        };
        if parts.len() < 2 || chosen.len() >= parts.len() {
            return Ok(None);
        }
        let mut found: Vec<Option<String>> = Vec::new();
        let mut calls: Vec<planner::Planned> = Vec::new();
        for part in &parts {
            let own = Request {
                query: part.trim_start_matches([',', ' ']).to_owned(),
                ..asked.clone()
            };
            let of_part = self.planned_as_one(caller, &own, day).await?;
            let tool = of_part.planned.tools.into_iter().next();
            found.push(tool.filter(|_| of_part.outcome == Outcome::Call));
            if let Plan::Calls(own) = of_part.planned.plan
                && of_part.outcome == Outcome::Call
            {
                calls.extend(own.into_iter().take(1));
            }
        }
        let is_sure = calls.len() == parts.len() && calls.iter().all(|it| it.missing.is_empty());
        if is_sure && self.differ(&calls) {
            return Ok(Some(calls.into_iter().map(|it| it.tool).collect()));
        }
        let has_sum = parts.iter().any(|it| calculation(it).is_some());
        if chosen.is_empty() || !has_sum {
            return Ok(None);
        }
        // Nothing that was chosen for the whole is lost: it belongs to a part that says too little by itself.
        let is_left = |tool: &&String| found.iter().flatten().all(|it| it != *tool);
        let mut left: Vec<String> = chosen.iter().filter(is_left).cloned().collect();
        left.reverse();
        let mut all: Vec<String> = Vec::new();
        for tool in found {
            let tool = tool.or_else(|| left.pop());
            all.extend(tool.filter(|it| !all.contains(it)));
        }
        left.reverse();
        all.extend(left);
        Ok(Some(all))
    }

    /// Whether no two calls are of one tool for one thing: a sentence that says more of what the one before it wants is no
    /// second call.
    fn differ(&self, calls: &[planner::Planned]) -> bool {
        let catalogue = self.executor.catalogue.load();
        let what = |call: &planner::Planned| {
            let schema = catalogue.find(&call.tool).map(|it| it.offered_schema());
            let required = schema.and_then(|it| it["required"].as_array().cloned());
            let names = required.into_iter().flatten();
            let values = names.map(|it| call.arguments.get(it.as_str()?).cloned());
            values.collect::<Vec<_>>()
        };
        calls.iter().enumerate().all(|(at, call)| {
            let mut before = calls[..at].iter();
            !before.any(|it| it.tool == call.tool && what(it) == what(call))
        })
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
