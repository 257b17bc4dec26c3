//! A request in parts: a call for each that surely needs one, where that is more than was found for all of it together; and
//! what of it nothing was found for.

use super::{AsOne, Planned};
use crate::App;
use crate::error::Result;
use crate::select::Request;
use agent::contrary::is_question;
use agent::fill::calculation;
use agent::parts::{is_wish, parts, stands_alone};
use agent::planner::{self, Plan};
use catalog::caller::Caller;
use jiff::civil::Date;
use selection::Outcome;
use std::sync::Arc;

/// What was found for a part alone.
struct OfPart<'r> {
    part: &'r str,
    is_sum: bool,
    /// The tool that was chosen, or that is asked about.
    tool: Option<String>,
    is_chosen: bool,
    /// The call, where nothing is missing and nothing speaks against it.
    call: Option<planner::Planned>,
}

impl App {
    /// The plan for a request that falls into parts, where `whole` is the plan for all of it.
    pub(super) async fn planned_by_part(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        asked: &Request,
        whole: AsOne,
        day: Date,
    ) -> Result<Planned> {
        let parts = parts(&asked.query);
        let is_settled = match &whole.planned.plan {
            Plan::Calls(calls) => calls.iter().all(|it| it.missing.is_empty()),
            Plan::Doubt { .. } | Plan::Ask { .. } | Plan::Nothing { .. } => false,
        };
        let sums = parts.iter().filter(|it| calculation(it).is_some()).count();
        let is_called = whole.outcome == Outcome::Call;
        let has_enough = is_called && whole.planned.tools.len() >= parts.len();
        // Where nothing was found for the whole, a calculation in it still is one; where something has to be asked, that comes
        // first, unless all of it is calculations.
        let is_none = whole.outcome == Outcome::None;
        let is_clear = is_called || sums == parts.len() || (is_none && sums > 0);
        if parts.len() < 2 || !is_clear || (has_enough && (is_settled || sums == 0)) {
            return Ok(whole.planned);
        }
        let mut found = Vec::new();
        for part in parts {
            found.push(self.of_part(caller, asked, part, day).await?);
        }
        let stand_alone = found.iter().all(|it| stands_alone(it.part));
        if let Some(calls) = self.call_for_each(&found).filter(|_| stand_alone) {
            return Ok(Planned {
                tools: calls.iter().map(|it| it.tool.clone()).collect(),
                plan: Plan::Calls(calls),
                because: "each part of the request has a tool of its own".to_owned(),
                left: Vec::new(),
                notes: whole.planned.notes,
            });
        }
        Ok(match (is_called, sums) {
            (true, 0) => Planned {
                left: left(&found, &whole.planned.tools, &whole.planned.plan),
                ..whole.planned
            },
            (true, _) if !has_enough => self.with_sums(asked, whole.planned, &found, day),
            (false, _) if stand_alone => only_sums(whole.planned, found),
            _ => whole.planned,
        })
    }

    async fn of_part<'r>(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        asked: &Request,
        part: &'r str,
        day: Date,
    ) -> Result<OfPart<'r>> {
        let own = Request {
            query: part.to_owned(),
            ..asked.clone()
        };
        let of_part = self.planned_as_one(caller, &own, day).await?;
        let is_chosen = of_part.outcome == Outcome::Call;
        let call = match of_part.planned.plan {
            Plan::Calls(mut calls) if is_chosen && calls.len() == 1 => calls.pop(),
            _ => None,
        };
        let is_sure = |it: &planner::Planned| {
            it.missing.is_empty() && self.contrary_to(&it.part, &it.tool).is_none()
        };
        Ok(OfPart {
            part,
            is_sum: calculation(part).is_some(),
            tool: of_part.planned.tools.into_iter().next(),
            is_chosen,
            call: call.filter(is_sure),
        })
    }

    /// A call for each part, where each surely needs its own.
    fn call_for_each(&self, found: &[OfPart<'_>]) -> Option<Vec<planner::Planned>> {
        let calls: Option<Vec<planner::Planned>> = found.iter().map(|it| it.call.clone()).collect();
        calls.filter(|it| self.differ(it))
    }

    /// The plan for all of it, with the calculations in it, however much better other parts fit their tools. Nothing that was
    /// chosen for the whole is lost: it belongs to a part that says too little by itself.
    fn with_sums(
        &self,
        asked: &Request,
        whole: Planned,
        found: &[OfPart<'_>],
        day: Date,
    ) -> Planned {
        let own = |it: &OfPart<'_>| it.tool.clone().filter(|_| it.is_chosen);
        let is_free = |tool: &&String| found.iter().filter_map(own).all(|it| it != **tool);
        let mut free: Vec<String> = whole.tools.iter().filter(is_free).cloned().collect();
        free.reverse();
        let mut tools: Vec<(String, &str)> = Vec::new();
        for it in found {
            let tool = own(it).or_else(|| free.pop());
            let is_new = |tool: &String| it.is_sum || tools.iter().all(|(known, _)| known != tool);
            let tool = tool.filter(is_new).map(|tool| (tool, it.part));
            tools.extend(tool);
        }
        tools.extend(free.into_iter().rev().map(|it| (it, &*asked.query)));
        let chosen: Vec<(&str, &str)> = tools.iter().map(|(it, part)| (&**it, *part)).collect();
        let plan = self.plan_with(&asked.query, Outcome::Call, &chosen, day);
        let tools: Vec<String> = tools.into_iter().map(|it| it.0).collect();
        Planned {
            left: left(found, &tools, &plan),
            plan,
            tools,
            ..whole
        }
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
}

/// The calculations of a request of which nothing else is clear; the rest of it is left.
fn only_sums(whole: Planned, found: Vec<OfPart<'_>>) -> Planned {
    let is_done = |it: &OfPart<'_>| it.is_sum && it.call.is_some();
    let (sums, rest): (Vec<OfPart<'_>>, Vec<OfPart<'_>>) = found.into_iter().partition(is_done);
    if sums.is_empty() {
        return whole;
    }
    let calls: Vec<planner::Planned> = sums.into_iter().filter_map(|it| it.call).collect();
    Planned {
        tools: calls.iter().map(|it| it.tool.clone()).collect(),
        plan: Plan::Calls(calls),
        because: "a part of the request is a calculation".to_owned(),
        // A question is wanted as well, and what only tells something is not.
        left: rest
            .iter()
            .filter(|it| it.tool.is_some() || is_wish(it.part) || is_question(it.part))
            .map(|it| said(it.part))
            .collect(),
        notes: whole.notes,
    }
}

/// The parts that none of these tools is for: they want another, or something done that no tool was found for. What is handed
/// over to a tool is a text, and wants nothing.
fn left(found: &[OfPart<'_>], tools: &[String], plan: &Plan) -> Vec<String> {
    let calls = match plan {
        Plan::Calls(calls) => &calls[..],
        Plan::Doubt { .. } | Plan::Ask { .. } | Plan::Nothing { .. } => &[],
    };
    let given = calls.iter().flat_map(|it| it.arguments.values());
    let given: Vec<String> = given
        .filter_map(|it| Some(it.as_str()?.to_lowercase()))
        .collect();
    let is_handed_over = |part: &str| {
        let part = said(part).to_lowercase();
        given.iter().any(|it| it.contains(&part))
    };
    let is_left = |it: &&OfPart<'_>| {
        let is_unserved = match &it.tool {
            Some(tool) => !tools.contains(tool),
            None => is_wish(it.part),
        };
        is_unserved && !is_handed_over(it.part)
    };
    let left = found.iter().filter(is_left);
    left.map(|it| said(it.part)).collect()
}

/// A part without what joins it to the others.
fn said(part: &str) -> String {
    let bare = part.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '.'));
    let joins = ["and then ", "and also ", "then ", "and ", "그리고 "];
    let is_begun = |join: &&&str| {
        let begin = bare.get(..join.len());
        begin.is_some_and(|it| it.eq_ignore_ascii_case(join))
    };
    let join = joins.iter().find(is_begun);
    bare[join.map_or(0, |it| it.len())..].to_owned()
}
