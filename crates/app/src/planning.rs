//! What a request needs where no model thinks: the tools that selection finds, with the arguments that it surely gives.

mod by_part;

use crate::App;
use crate::error::Result;
use crate::select::{Request, item};
use agent::fill::calculation;
use agent::parts::parts_of;
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
    /// What of the request nothing was found for, as far as it is to be done: whoever asked has to be told.
    pub left: Vec<String>,
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
                left: Vec::new(),
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
        self.planned_by_part(caller, &asked, whole, day).await
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
                left: Vec::new(),
                notes: selection.notes,
            },
        };
        let is_settled = match &found.planned.plan {
            Plan::Calls(calls) => calls.len() > 1 || calls.iter().all(|it| it.missing.is_empty()),
            Plan::Doubt { .. } | Plan::Ask { .. } | Plan::Nothing { .. } => false,
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
                    left: Vec::new(),
                    notes: found.planned.notes,
                };
                break;
            }
        }
        Ok(found)
    }

    /// The plan, unless it would ask for the arguments of a call that is not what the request wants by its words: who asked who
    /// had booked a room gives no day to book one for.
    fn unless_contrary(&self, request: &str, plan: Plan) -> Plan {
        let Plan::Calls(calls) = &plan else {
            return plan;
        };
        let [call] = &calls[..] else {
            return plan;
        };
        let why = self
            .contrary_to(&call.part, &call.tool)
            .filter(|_| !call.missing.is_empty());
        let catalogue = self.executor.catalogue.load();
        match (why, catalogue.find(&call.tool)) {
            (Some(why), Some(entry)) => Plan::Doubt {
                question: planner::doubt(request, &self.item(entry), why),
                call: call.clone(),
            },
            _ => plan,
        }
    }

    /// What to do with a request for which these tools were chosen.
    fn plan_for(&self, request: &str, outcome: Outcome, tools: &[String], today: Date) -> Plan {
        let parts = parts_of(request, tools.len());
        let tools = tools.iter().map(String::as_str);
        let chosen: Vec<(&str, &str)> = tools.zip(parts).collect();
        self.plan_with(request, outcome, &chosen, today)
    }

    /// The same for tools that were each chosen for a part of it.
    fn plan_with(
        &self,
        request: &str,
        outcome: Outcome,
        chosen: &[(&str, &str)],
        today: Date,
    ) -> Plan {
        let catalogue = self.executor.catalogue.load();
        let known = chosen
            .iter()
            .filter_map(|(tool, part)| Some((catalogue.find(tool)?, *part)));
        let known: Vec<_> = known
            .map(|(it, part)| (self.item(it), it.offered_schema(), part))
            .collect();
        let chosen = known.iter().map(|(tool, input_schema, part)| Chosen {
            tool,
            input_schema,
            part,
        });
        plan(request, outcome, &chosen.collect::<Vec<_>>(), today)
    }

    /// The call of a tool that was chosen for a part of a request; none where it is not there any more.
    pub(crate) fn call_for(&self, part: &str, tool: &str, today: Date) -> Option<planner::Planned> {
        let catalogue = self.executor.catalogue.load();
        let entry = catalogue.find(tool)?;
        let chosen = Chosen {
            tool: &self.item(entry),
            input_schema: &entry.offered_schema(),
            part,
        };
        Some(planner::planned(&chosen, today))
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
