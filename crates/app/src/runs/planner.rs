//! The turns of a run that has no model: `App::plan_without_model` says what to call and what to ask for. A turn follows from the journal alone, as a model's would.

use super::driver::Driver;
use super::journal::Lost;
use crate::error::Result;
use crate::planning::{Choosing, day_of};
use crate::select::{ASKING, QUERY_MAX};
use agent::answered::given;
use agent::entry::{Entry, RunError};
use agent::fill::{Missing, form};
use agent::planner::{
    self, Plan, Told, all_declined, all_rejected, answer, failed, not_called, not_done_of, refused,
    unanswered,
};
use agent::state::{DECLINED, Planned, REJECTED};
use catalog::tool::Tool;
use jiff::civil::Date;
use providers::{Arguments, Call, Said, Stop, ToolResult, Turn};
use serde_json::{Map, Value};
use std::sync::Arc;

/// In the arguments of a question: the tool whose arguments it asks for. Without it, it was not clear what is meant at all.
const ABOUT: &str = "about";

/// In the arguments of a question: whether that tool is meant at all is asked, and not for its arguments.
const DOUBT: &str = "doubt";

impl Driver {
    pub(crate) async fn think_without_model(&mut self) -> std::result::Result<(), Lost> {
        match self.planned_turn().await {
            Ok(turn) if turn.calls.is_empty() && self.nothing_worked() => {
                self.fail(RunError::new("tools_failed", turn.text));
            }
            Ok(turn) => self.journal.add(Entry::Turn {
                turn: Box::new(turn),
                cost: None,
            }),
            Err(error) => self.fail(RunError::new(error.code().as_str(), error.to_string())),
        }
        Ok(())
    }

    async fn planned_turn(&mut self) -> Result<Turn> {
        if self.journal.state.limited.is_some() {
            return Ok(self.next_turn());
        }
        let last = self.turns().last();
        let Some((before, results)) = last.map(|(turn, results)| (turn.clone(), results.clone()))
        else {
            return self.chosen().await;
        };
        match (&before.calls[..], &results[..]) {
            ([call], [result]) if is_unclear(call) && is_coded(result, DECLINED) => {
                Ok(spoken(refused(&self.request()).to_owned()))
            }
            // Nobody could be asked.
            ([call], [result]) if is_unclear(call) && result.is_error => {
                Ok(spoken(result.text.clone()))
            }
            // What was meant was not clear; now more is said.
            ([call], _) if is_unclear(call) => self.chosen().await,
            ([call], [result]) if is_doubt(call) && !is_yes(result) => {
                let is_unheard = result.is_error && !is_coded(result, DECLINED);
                Ok(spoken(match is_unheard {
                    true => result.text.clone(),
                    false => refused(&self.request()).to_owned(),
                }))
            }
            _ => Ok(self.next_turn()),
        }
    }

    /// Whether everything that was called has failed, or could not be called as it is not there any more: then nothing is done.
    /// What a person did not want is no failure.
    fn nothing_worked(&self) -> bool {
        let called = self.called().filter(|it| !is_coded(it, REJECTED));
        let mut called = called.peekable();
        if called.peek().is_some() {
            return called.all(|it| it.is_error);
        }
        let catalogue = self.journal.app.executor.catalogue.load();
        let mut planned = self.journal.state.planned.iter().flatten();
        planned.any(|it| catalogue.find(&it.tool).is_none())
    }

    /// That a person let none of the calls run, or would not say what they need: the run is done, and did nothing.
    pub(crate) fn all_rejected(&self) -> Option<RunError> {
        let mut called = self.called().peekable();
        if called.peek().is_none() {
            let all = self.turns().flat_map(|(_, results)| results);
            let is_declined = all.into_iter().any(|it| is_coded(it, DECLINED));
            return is_declined.then(|| RunError::new("declined", all_declined(&self.request())));
        }
        let why = all_rejected(&self.request());
        called
            .all(|it| is_coded(it, REJECTED))
            .then(|| RunError::new("rejected", why))
    }

    /// How the calls of tools have ended so far; questions are none.
    fn called(&self) -> impl Iterator<Item = &ToolResult> {
        let results = self.turns().flat_map(|(_, results)| results);
        results.filter(|it| it.name != ASKING)
    }

    /// What this run has called and been told so far.
    fn turns(&self) -> impl Iterator<Item = (&Turn, &Vec<ToolResult>)> {
        let state = &self.journal.state;
        let own = state.said.get(state.request_at..).unwrap_or_default();
        own.windows(2).filter_map(|pair| match pair {
            [Said::Model(turn), Said::Results(results)] => Some((turn, results)),
            _ => None,
        })
    }

    /// What is to be done: the request, and whatever was said when it was not clear.
    fn whole_request(&self) -> String {
        let mut whole = self.request();
        for (turn, results) in self.turns() {
            let both = turn.calls.iter().zip(results);
            let is_more = |call: &Call, result: &ToolResult| {
                call.name == ASKING && about(call).is_none() && !result.is_error
            };
            for (_, result) in both.filter(|(call, result)| is_more(call, result)) {
                // A sentence of its own: what stands below a line would be a text that is handed over.
                whole.push_str(". ");
                whole.push_str(&result.text);
            }
        }
        whole.chars().take(QUERY_MAX).collect()
    }

    /// The day that a run began on: what was asked for tomorrow is meant for the same day whenever it goes on.
    fn day(&self) -> Date {
        day_of(self.journal.state.began_at())
    }

    /// The tools that the request needs, called or asked about.
    async fn chosen(&mut self) -> Result<Turn> {
        let request = self.whole_request();
        let app = Arc::clone(&self.journal.app);
        let usable = app.usable_in_run(&self.caller, &self.bounds());
        let names = (0..usable.len()).map(|at| usable.shown(at).entry.name.to_string());
        let choosing = Choosing {
            among: Some(names.collect()),
            may_wait: true,
            day: Some(self.day()),
        };
        let planned = app.plan_without_model(&self.caller, &request, choosing);
        let planned = planned.await?;
        let calls = match &planned.plan {
            Plan::Calls(calls) => &calls[..],
            Plan::Doubt { call, .. } => std::slice::from_ref(call),
            Plan::Ask { .. } | Plan::Nothing { .. } => &[],
        };
        let tools = calls.iter().map(|it| it.tool.clone()).collect();
        self.journal.add(Entry::Plan {
            tools: match calls.is_empty() {
                true => planned.tools,
                false => tools,
            },
            because: planned.because,
            parts: calls.iter().map(|it| it.part.clone()).collect(),
            left: planned.left,
        });
        Ok(match planned.plan {
            Plan::Nothing { text } => spoken(text),
            Plan::Ask { question, .. } => self.calls([(0, ask(None, &[], &question))]),
            Plan::Doubt { call, question } => self.calls([(0, ask_whether(&call.tool, &question))]),
            Plan::Calls(planned) => {
                let all = planned.iter().enumerate();
                let missing = all.filter(|(_, it)| !it.missing.is_empty());
                let questions: Vec<(usize, Call)> = missing
                    .map(|(place, it)| (place, ask(Some(&it.tool), &it.missing, "")))
                    .collect();
                let first = planned.first().filter(|_| questions.is_empty());
                let first = first.map(|it| (0, call_of(&it.tool, it.arguments.clone())));
                self.calls(questions.into_iter().chain(first))
            }
        })
    }

    /// The next call of the plan, one after the other as the request asks for them: each may have to wait for somebody. Where
    /// all are made, what came of them.
    fn next_turn(&self) -> Turn {
        let (app, request) = (&self.journal.app, self.request());
        let planned = &self.journal.state.planned;
        let mut left = Vec::new();
        for (place, Planned { tool, part }) in planned.iter().flatten().enumerate() {
            if self.told_at(place, tool).next().is_some() {
                continue;
            }
            let part = part.clone().unwrap_or_else(|| self.whole_request());
            let Some(planned) = app.call_for(&part, tool, self.day()) else {
                left.push(format!("'{tool}' is not there any more"));
                continue;
            };
            if let Some((code, why)) = &self.journal.state.limited {
                left.push(not_called(&request, tool, code, why));
                continue;
            }
            if planned.missing.is_empty() {
                return self.calls([(place, call_of(tool, planned.arguments))]);
            }
            let mut asked = self.told_at(place, ASKING);
            let Some((_, told)) = asked.find(|(call, _)| !is_doubt(call)) else {
                return self.calls([(place, ask(Some(tool), &planned.missing, ""))]);
            };
            match with_told(&planned, told) {
                Ok(arguments) => return self.calls([(place, call_of(tool, arguments))]),
                Err(why) => left.push(unanswered(&request, tool, &planned.missing, why.as_deref())),
            }
        }
        let not_done = self.journal.state.left.iter();
        left.extend(not_done.map(|it| not_done_of(&request, it)));
        let told = Some(self.composed()).filter(|it| !it.is_empty());
        spoken(told.into_iter().chain(left).collect::<Vec<_>>().join("\n"))
    }

    /// What of the request the call at this place of the plan is for.
    fn part(&self, place: usize) -> String {
        let planned = self.journal.state.planned.as_ref();
        let part = planned.and_then(|it| it.get(place)?.part.clone());
        part.unwrap_or_else(|| self.whole_request())
    }

    /// The calls of a tool, or questions, that this place of the plan has led to, with what came of them. What was not clear
    /// was asked before there was a plan.
    fn told_at<'s>(
        &'s self,
        place: usize,
        tool: &'s str,
    ) -> impl Iterator<Item = (&'s Call, &'s ToolResult)> {
        let all = self
            .turns()
            .flat_map(|(turn, results)| turn.calls.iter().zip(results));
        all.filter(move |(call, _)| {
            call.name == tool && place_of(call) == Some(place) && !is_unclear(call)
        })
    }

    /// Why a call of the plan may not be what its part of the request wants, unless somebody has said that it is meant.
    pub(crate) fn contrary(&self, call: &Call, tool: &Tool) -> Option<&'static str> {
        let place = place_of(call)?;
        let mut asked = self.told_at(place, ASKING);
        if asked.any(|(call, result)| is_doubt(call) && is_yes(result)) {
            return None;
        }
        let contrary = self.journal.app.contrary(&self.part(place), tool)?;
        Some(contrary.told(&self.request()))
    }

    /// A turn with these calls for these places of the plan. No two calls of a conversation have one name, whoever goes on
    /// with it.
    fn calls(&self, calls: impl IntoIterator<Item = (usize, Call)>) -> Turn {
        let turn = self.journal.state.said.len();
        let named = calls.into_iter().map(|(place, call)| Call {
            id: format!("call-{turn}-{place}"),
            ..call
        });
        Turn {
            calls: named.collect(),
            stop: Stop::Calls,
            ..Turn::default()
        }
    }

    /// What all tools answered, as an answer.
    fn composed(&self) -> String {
        let request = self.request();
        let told = self.called().map(|it| Told {
            tool: it.name.clone(),
            text: match it.is_error {
                true => failed(&request, it),
                false => it.text.clone(),
            },
            is_error: it.is_error,
        });
        answer(&told.collect::<Vec<_>>())
    }
}

/// Whether this is why it did not work.
fn is_coded(result: &ToolResult, code: &str) -> bool {
    result.code.as_deref() == Some(code)
}

fn spoken(text: String) -> Turn {
    Turn {
        text,
        ..Turn::default()
    }
}

/// The tool that a question asks for.
pub(crate) fn about(call: &Call) -> Option<&str> {
    match &call.arguments {
        Arguments::Json(arguments) => arguments.get(ABOUT)?.as_str(),
        Arguments::Bad(_) => None,
    }
}

/// The place of the plan that a call is for.
fn place_of(call: &Call) -> Option<usize> {
    call.id.rsplit_once('-')?.1.parse().ok()
}

/// Whether it asks if a tool is meant.
fn is_doubt(call: &Call) -> bool {
    matches!(&call.arguments, Arguments::Json(it) if call.name == ASKING && it[DOUBT] == true)
}

fn is_yes(result: &ToolResult) -> bool {
    !result.is_error && result.text == "true"
}

/// The arguments of a call, with what somebody has told of them since; or why nobody did, unless they did not want to.
fn with_told(
    planned: &planner::Planned,
    told: &ToolResult,
) -> std::result::Result<Map<String, Value>, Option<String>> {
    if told.is_error {
        let is_declined = is_coded(told, DECLINED);
        return Err((!is_declined).then(|| told.text.clone()));
    }
    let mut arguments = planned.arguments.clone();
    arguments.extend(given(&planned.missing, &told.text).map_err(Some)?);
    Ok(arguments)
}

/// A question what is meant at all.
fn is_unclear(call: &Call) -> bool {
    call.name == ASKING && about(call).is_none()
}

fn call_of(name: &str, arguments: Map<String, Value>) -> Call {
    Call {
        id: String::new(),
        name: name.to_owned(),
        arguments: Arguments::Json(Value::Object(arguments)),
    }
}

/// A question whether a tool is to be called at all.
fn ask_whether(tool: &str, question: &str) -> Call {
    let arguments = serde_json::json!({
        "question": question, ABOUT: tool, DOUBT: true, "schema": {"type": "boolean"},
    });
    Call {
        id: String::new(),
        name: ASKING.to_owned(),
        arguments: Arguments::Json(arguments),
    }
}

/// A question for what is missing: a form where it is more than one thing.
fn ask(tool: Option<&str>, missing: &[Missing], before: &str) -> Call {
    let lines = Some(before).filter(|it| !it.is_empty()).into_iter();
    let lines = lines.chain(missing.iter().map(|it| it.question.as_str()));
    let question = lines.collect::<Vec<_>>().join("\n");
    let mut arguments = Map::from_iter([("question".to_owned(), Value::from(question))]);
    if let Some(tool) = tool {
        arguments.insert(ABOUT.to_owned(), Value::from(tool));
    }
    let schema = match missing {
        [] => None,
        [only] => Some(only.schema.clone()),
        several => Some(form(several)),
    };
    arguments.extend(schema.map(|it| ("schema".to_owned(), it)));
    call_of(ASKING, arguments)
}
