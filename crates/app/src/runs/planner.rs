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
    Plan, Planned, Told, all_rejected, answer, failed, not_called, refused, unanswered,
};
use agent::state::{DECLINED, REJECTED};
use jiff::civil::Date;
use providers::{Arguments, Call, Said, Stop, ToolResult, Turn};
use selection::Outcome;
use serde_json::{Map, Value};
use std::sync::Arc;

/// In the arguments of a question: the tool whose arguments it asks for. Without it, it was not clear what is meant at all.
const ABOUT: &str = "about";

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
            ([call], [result]) if is_unclear(call) && result.text == DECLINED => {
                Ok(spoken(refused(&self.request()).to_owned()))
            }
            // Nobody could be asked.
            ([call], [result]) if is_unclear(call) && result.is_error => {
                Ok(spoken(result.text.clone()))
            }
            // What was meant was not clear; now more is said.
            ([call], _) if is_unclear(call) => self.chosen().await,
            _ => Ok(self.next_turn()),
        }
    }

    /// Whether everything that was called has failed: then nothing is done. What a person did not want is no failure.
    fn nothing_worked(&self) -> bool {
        let mut called = self.called().filter(|it| !is_rejected(it)).peekable();
        called.peek().is_some() && called.all(|it| it.is_error)
    }

    /// That a person let none of the calls run: the run is done, and did nothing.
    pub(crate) fn all_rejected(&self) -> Option<RunError> {
        let mut called = self.called().peekable();
        let is_so = called.peek().is_some() && called.all(is_rejected);
        let why = all_rejected(&self.request());
        is_so.then(|| RunError::new("rejected", why))
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
    pub(crate) fn whole_request(&self) -> String {
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
        self.journal.add(Entry::Plan {
            tools: planned.tools,
            because: planned.because,
        });
        Ok(match planned.plan {
            Plan::Nothing { text } => spoken(text),
            Plan::Ask { question, .. } => self.calls([ask(None, &[], &question)]),
            Plan::Calls(planned) => {
                let missing = planned.iter().filter(|it| !it.missing.is_empty());
                let questions: Vec<Call> = missing
                    .map(|it| ask(Some(&it.tool), &it.missing, ""))
                    .collect();
                let first = planned.first().filter(|_| questions.is_empty());
                let first = first.map(|it| call_of(&it.tool, it.arguments.clone()));
                self.calls(questions.into_iter().chain(first))
            }
        })
    }

    /// The next call of the plan, one after the other as the request asks for them: each may have to wait for somebody. Where
    /// all are made, what came of them.
    fn next_turn(&self) -> Turn {
        let tools = self.journal.state.planned.clone().unwrap_or_default();
        let (app, request) = (&self.journal.app, self.whole_request());
        let planned = match app.plan_for(&request, Outcome::Call, &tools, self.day()) {
            Plan::Calls(planned) => planned,
            _ => Vec::new(),
        };
        let mut left = Vec::new();
        for (at, tool) in tools.iter().enumerate() {
            // A tool may be in the plan for several parts of the request.
            let before = tools[..at].iter().filter(|it| *it == tool).count();
            if self.called().filter(|it| it.name == *tool).count() > before {
                continue;
            }
            let of_tool = planned.iter().filter(|it| it.tool == *tool);
            let Some(planned) = of_tool.clone().nth(before) else {
                left.push(format!("'{tool}' is not there any more"));
                continue;
            };
            if let Some((code, why)) = &self.journal.state.limited {
                left.push(not_called(&request, tool, code, why));
                continue;
            }
            let asked = of_tool.take(before).filter(|it| !it.missing.is_empty());
            match self.told(planned, asked.count()) {
                Ok(arguments) => return self.calls([call_of(tool, arguments)]),
                Err(why) => left.push(unanswered(&request, tool, &planned.missing, &why)),
            }
        }
        let told = Some(self.composed()).filter(|it| !it.is_empty());
        spoken(told.into_iter().chain(left).collect::<Vec<_>>().join("\n"))
    }

    /// The arguments of a call, with what somebody has told of them since; or why nobody did. Before it was asked so often for
    /// other calls of the tool.
    fn told(
        &self,
        planned: &Planned,
        asked_before: usize,
    ) -> std::result::Result<Map<String, Value>, String> {
        let mut arguments = planned.arguments.clone();
        if planned.missing.is_empty() {
            return Ok(arguments);
        }
        let asked = self
            .turns()
            .flat_map(|(turn, all)| turn.calls.iter().zip(all));
        let mut asked = asked.filter(|(call, _)| about(call) == Some(&planned.tool));
        match asked.nth(asked_before) {
            Some((_, result)) if result.is_error => Err(result.text.clone()),
            Some((_, result)) => {
                arguments.extend(given(&planned.missing, &result.text)?);
                Ok(arguments)
            }
            None => Err("nobody was asked".to_owned()),
        }
    }

    /// A turn with these calls. No two calls of a conversation have one name, whoever goes on with it.
    fn calls(&self, calls: impl IntoIterator<Item = Call>) -> Turn {
        let turn = self.journal.state.said.len();
        let named = calls.into_iter().enumerate().map(|(at, call)| Call {
            id: format!("call-{turn}-{at}"),
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
                true => failed(&request, &it.name, &it.text),
                false => it.text.clone(),
            },
            is_error: it.is_error,
        });
        answer(&told.collect::<Vec<_>>())
    }
}

/// Whether it did not run since a person did not want it.
fn is_rejected(result: &ToolResult) -> bool {
    result.is_error && result.text.starts_with(REJECTED)
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
