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
        let of_parts = self.of_parts(caller, &asked, &whole, day).await?;
        Ok(of_parts.unwrap_or(whole.planned))
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

    /// The calls that the parts of a request need, each found for its part alone, where that finds more than all of them
    /// together did: a tool that two parts need, and a calculation, however much better other parts fit their tools. None
    /// where it does not.
    async fn of_parts(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        asked: &Request,
        whole: &AsOne,
        day: Date,
    ) -> Result<Option<Planned>> {
        let parts = planner::parts(&asked.query);
        let chosen = match whole.outcome {
            Outcome::Call => &whole.planned.tools[..],
            _ => &[],
        };
        let sums = parts.iter().filter(|it| calculation(it).is_some()).count();
        // Where it was not clear what the whole wants, only what is nothing but calculations is taken apart.
        let may_be = whole.outcome == Outcome::Call || sums == parts.len();
        if parts.len() < 2 || chosen.len() >= parts.len() || !may_be {
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
                let is_sure = |it: &planner::Planned| {
                    it.missing.is_empty() && self.contrary_to(&it.part, &it.tool).is_none()
                };
                calls.extend(own.into_iter().take(1).filter(is_sure));
            }
        }
        let stand_alone = parts[1..].iter().all(|it| planner::stands_alone(it));
        if calls.len() == parts.len() && stand_alone && self.differ(&calls) {
            return Ok(Some(Planned {
                tools: calls.iter().map(|it| it.tool.clone()).collect(),
                plan: Plan::Calls(calls),
                because: "each part of the request has a tool of its own".to_owned(),
                notes: whole.planned.notes.clone(),
            }));
        }
        if chosen.is_empty() || sums == 0 {
            return Ok(None);
        }
        // Nothing that was chosen for the whole is lost: it belongs to a part that says too little by itself.
        let is_left = |tool: &&String| found.iter().flatten().all(|it| it != *tool);
        let mut left: Vec<String> = chosen.iter().filter(is_left).cloned().collect();
        left.reverse();
        let mut tools: Vec<String> = Vec::new();
        for tool in found {
            let tool = tool.or_else(|| left.pop());
            tools.extend(tool.filter(|it| !tools.contains(it)));
        }
        left.reverse();
        tools.extend(left);
        Ok(Some(Planned {
            plan: self.plan_for(&asked.query, Outcome::Call, &tools, day),
            tools,
            because: whole.planned.because.clone(),
            notes: whole.planned.notes.clone(),
        }))
    }

    /// Whether no two calls are of one tool for one thing: a sentence that says more of what the one before it wants is no
    /// second call.
    fn differ(&self, calls: &[planner::Planned]) -> bool {
        let catalogue = self.executor.catalogue.load();
        let what = |call: &planner::Planned| {
            let schema = catalogue.find(&call.tool).map(|it| it.offered_schema());
            let required = schema.and_then(|it| it["required"].as_array().cloned());
            let required = required.unwrap_or_default();
            let counts =
                |name: &String| required.is_empty() || required.iter().any(|it| it == name);
            let mut what = call.arguments.clone();
            what.retain(|name, _| counts(name));
            what
        };
        calls.iter().enumerate().all(|(at, call)| {
            let mut before = calls[..at].iter().filter(|it| it.tool == call.tool);
            before.all(|it| {
                let (one, other) = (what(it), what(call));
                one != other && !one.is_empty() && !other.is_empty()
            })
        })
    }

    /// What to do with a request for which these tools were chosen.
    fn plan_for(&self, request: &str, outcome: Outcome, tools: &[String], today: Date) -> Plan {
        let catalogue = self.executor.catalogue.load();
        let parts = planner::parts_of(request, tools.len());
        let known = tools.iter().zip(parts);
        let known = known.filter_map(|(tool, part)| Some((catalogue.find(tool)?, part)));
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
