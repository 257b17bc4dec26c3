//! The turns of a run that has no model: `App::plan_without_model` says what to call and what to ask for. A turn follows from the journal alone, as a model's would.

use super::driver::Driver;
use super::journal::Lost;
use crate::error::Result;
use crate::planning::{Choosing, day_of};
use crate::select::{ASKING, QUERY_MAX};
use agent::answered::given;
use agent::entry::{Entry, RunError};
use agent::fill::{Missing, form};
use agent::planner::{Plan, Planned, Told, answer, unanswered};
use jiff::civil::Date;
use providers::{Arguments, Call, Said, Stop, ToolResult, Turn};
use selection::Outcome;
use serde_json::{Map, Value};
use std::sync::Arc;

/// In the arguments of a question: the tool whose arguments it asks for. Without it, it was not clear what is meant at all.
const ABOUT: &str = "about";

impl Driver {
    pub(crate) async fn think_without_model(&mut self) -> std::result::Result<(), Lost> {
        if let Some(why) = self.nothing_worked() {
            self.fail(RunError::new("tools_failed", why));
            return Ok(());
        }
        match self.planned_turn().await {
            Ok(turn) => self.journal.add(Entry::Turn {
                turn: Box::new(turn),
                cost: None,
            }),
            Err(error) => self.fail(RunError::new(error.code().as_str(), error.to_string())),
        }
        Ok(())
    }

    async fn planned_turn(&mut self) -> Result<Turn> {
        let last = self.turns().last();
        let Some((before, results)) = last.map(|(turn, results)| (turn.clone(), results.clone()))
        else {
            return self.chosen().await;
        };
        let both = before.calls.iter().zip(&results);
        let asked: Vec<(&Call, &ToolResult)> =
            both.filter(|(call, _)| call.name == ASKING).collect();
        match asked.as_slice() {
            [] => Ok(spoken(self.composed())),
            // Nobody could be asked.
            [(call, result)] if about(call).is_none() && result.is_error => {
                Ok(spoken(result.text.clone()))
            }
            // What was meant was not clear; now more is said.
            [(call, _)] if about(call).is_none() => self.chosen().await,
            several => Ok(self.after_answers(several)),
        }
    }

    /// What is to be said where everything that was called has failed: then nothing is done. What a person did not want is
    /// no failure.
    fn nothing_worked(&self) -> Option<String> {
        let (last, _) = self.turns().last()?;
        if self.journal.state.calls == 0 {
            return None;
        }
        let is_over = last.calls.iter().all(|call| call.name != ASKING);
        let results = self.turns().flat_map(|(_, results)| results);
        let failed = results.filter(|it| it.name != ASKING).all(|it| it.is_error);
        (is_over && failed).then(|| self.composed())
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
                whole.push('\n');
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
            Plan::Calls(planned) => self.calls(planned.iter().map(next)),
        })
    }

    /// Somebody has told what was missing, or nobody could.
    fn after_answers(&self, asked: &[(&Call, &ToolResult)]) -> Turn {
        let tools = self.journal.state.planned.clone().unwrap_or_default();
        let (app, request) = (&self.journal.app, self.whole_request());
        let planned = match app.plan_for(&request, Outcome::Call, &tools, self.day()) {
            Plan::Calls(planned) => planned,
            _ => Vec::new(),
        };
        let mut next = Vec::new();
        let mut left = Vec::new();
        for (call, result) in asked {
            let Some(tool) = about(call) else { continue };
            let planned = planned.iter().find(|it| it.tool == tool);
            let missing = planned.map_or(&[][..], |it| &it.missing);
            let more = match result.is_error {
                true => Err(result.text.clone()),
                false => given(missing, &result.text),
            };
            match (planned, more) {
                (Some(planned), Ok(more)) => {
                    let mut arguments = planned.arguments.clone();
                    arguments.extend(more);
                    next.push(call_of(tool, arguments));
                }
                (Some(_), Err(why)) => left.push(unanswered(&request, tool, missing, &why)),
                (None, _) => left.push(format!("'{tool}' is not there any more")),
            }
        }
        if !next.is_empty() {
            return self.calls(next);
        }
        let told = Some(self.composed()).filter(|it| !it.is_empty());
        spoken(told.into_iter().chain(left).collect::<Vec<_>>().join("\n"))
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
        let results = self.turns().flat_map(|(_, results)| results);
        let told = results.filter(|it| it.name != ASKING);
        let told = told.map(|it| Told {
            tool: it.name.clone(),
            text: match it.is_error {
                true => format!("'{}' failed: {}", it.name, it.text),
                false => it.text.clone(),
            },
            is_error: it.is_error,
        });
        answer(&told.collect::<Vec<_>>())
    }
}

fn spoken(text: String) -> Turn {
    Turn {
        text,
        ..Turn::default()
    }
}

/// The tool that a question asks for.
fn about(call: &Call) -> Option<&str> {
    match &call.arguments {
        Arguments::Json(arguments) => arguments.get(ABOUT)?.as_str(),
        Arguments::Bad(_) => None,
    }
}

/// A call that can be made, or the question that has to be answered before.
fn next(planned: &Planned) -> Call {
    match planned.missing.is_empty() {
        true => call_of(&planned.tool, planned.arguments.clone()),
        false => ask(Some(&planned.tool), &planned.missing, ""),
    }
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
