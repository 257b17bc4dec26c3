//! The turns of a run that has no model: `App::plan_without_model` says what to call and what to ask for. A turn follows from the journal alone, as a model's would.

use super::driver::Driver;
use super::journal::Lost;
use crate::error::Result;
use crate::planning::Choosing;
use crate::select::ASKING;
use agent::answered::answered;
use agent::entry::{Entry, RunError};
use agent::fill::Missing;
use agent::planner::{Plan, Planned, Told, answer};
use providers::{Arguments, Call, Said, Stop, ToolResult, Turn};
use selection::Outcome;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What a question's call is named that asks for the arguments of a tool: this, the tool, and how often it was asked.
const ASKS_FOR: &str = "for:";

/// How often somebody is asked again whose answer does not fit.
const ASKED_MAX: usize = 3;

impl Driver {
    pub(crate) async fn think_without_model(&mut self) -> std::result::Result<(), Lost> {
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
        let said = self.journal.state.said.clone();
        let [.., Said::Model(before), Said::Results(results)] = said.as_slice() else {
            let request = self.request();
            return self.chosen(&request).await;
        };
        let asked: Vec<(&Call, &ToolResult)> = before
            .calls
            .iter()
            .zip(results)
            .filter(|(call, _)| call.name == ASKING)
            .collect();
        match asked.as_slice() {
            [] => Ok(spoken(self.composed())),
            // What was meant was not clear; now more is said.
            [(call, result)] if call.id == ASKS_FOR => {
                let request = format!("{}\n{}", self.request(), result.text);
                self.chosen(&request).await
            }
            several => Ok(self.after_answers(several)),
        }
    }

    /// The tools that a request needs, called or asked about.
    async fn chosen(&mut self, request: &str) -> Result<Turn> {
        let app = Arc::clone(&self.journal.app);
        let usable = app.usable_in_run(&self.caller, &self.bounds());
        let names = (0..usable.len()).map(|at| usable.shown(at).entry.name.to_string());
        let among: Vec<String> = names.collect();
        let choosing = Choosing {
            among: Some(among),
            may_wait: true,
        };
        let planned = app.plan_without_model(&self.caller, request, choosing);
        let planned = planned.await?;
        self.journal.add(Entry::Plan {
            tools: planned.tools,
            because: planned.because,
        });
        Ok(match planned.plan {
            Plan::Nothing { text } => spoken(text),
            Plan::Ask { question, .. } => calls(vec![ask(ASKS_FOR.to_owned(), &[], &question)]),
            Plan::Calls(planned) => calls(planned.iter().enumerate().map(next).collect()),
        })
    }

    /// Somebody has told what was missing.
    fn after_answers(&self, asked: &[(&Call, &ToolResult)]) -> Turn {
        let tools = self.journal.state.planned.clone().unwrap_or_default();
        let app = &self.journal.app;
        let plan = app.plan_for(&self.request(), Outcome::Call, &tools);
        let Plan::Calls(planned) = plan else {
            return spoken(self.composed());
        };
        let mut next = Vec::new();
        let mut wrong = Vec::new();
        for (at, (call, result)) in asked.iter().enumerate() {
            let name = call.id.strip_prefix(ASKS_FOR).unwrap_or_default();
            let (name, times) = name.split_once('#').unwrap_or((name, "1"));
            let Some(planned) = planned.iter().find(|it| it.tool == name) else {
                continue;
            };
            let answer = serde_json::from_str(&result.text);
            let answer = answer.unwrap_or_else(|_| Value::from(result.text.as_str()));
            let times: usize = times.parse().unwrap_or(ASKED_MAX);
            match answered(&planned.missing, &answer, app.today()) {
                Ok(more) => {
                    let mut arguments = planned.arguments.clone();
                    arguments.extend(more);
                    next.push(call_of(at, name, arguments));
                }
                Err(why) if times < ASKED_MAX => {
                    let id = format!("{ASKS_FOR}{name}#{}", times + 1);
                    next.push(ask(id, &planned.missing, &why));
                }
                Err(why) => wrong.push(why),
            }
        }
        match next.is_empty() {
            true => spoken(wrong.join("\n")),
            false => calls(next),
        }
    }

    /// What all tools answered, as an answer.
    fn composed(&self) -> String {
        let results = self
            .journal
            .state
            .said
            .iter()
            .filter_map(|said| match said {
                Said::Results(results) => Some(results),
                _ => None,
            });
        let told = results.flatten().filter(|it| it.name != ASKING);
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

fn calls(calls: Vec<Call>) -> Turn {
    Turn {
        calls,
        stop: Stop::Calls,
        ..Turn::default()
    }
}

fn spoken(text: String) -> Turn {
    Turn {
        text,
        ..Turn::default()
    }
}

/// A call that can be made, or the question that has to be answered before.
fn next((at, planned): (usize, &Planned)) -> Call {
    match planned.missing.is_empty() {
        true => call_of(at, &planned.tool, planned.arguments.clone()),
        false => ask(
            format!("{ASKS_FOR}{}#1", planned.tool),
            &planned.missing,
            "",
        ),
    }
}

fn call_of(at: usize, name: &str, arguments: Map<String, Value>) -> Call {
    Call {
        id: format!("call-{at}"),
        name: name.to_owned(),
        arguments: Arguments::Json(Value::Object(arguments)),
    }
}

/// A question for what is missing: a form where it is more than one thing.
fn ask(id: String, missing: &[Missing], before: &str) -> Call {
    let lines = Some(before).filter(|it| !it.is_empty()).into_iter();
    let lines = lines.chain(missing.iter().map(|it| it.question.as_str()));
    let mut arguments = json!({"question": lines.collect::<Vec<_>>().join("\n")});
    match missing {
        [] => {}
        [only] => arguments["schema"] = only.schema.clone(),
        several => {
            let fields = several
                .iter()
                .map(|it| (it.name.clone(), it.schema.clone()));
            let names: Vec<&str> = several.iter().map(|it| it.name.as_str()).collect();
            arguments["schema"] = json!({
                "type": "object",
                "properties": fields.collect::<Map<String, Value>>(),
                "required": names,
            });
        }
    }
    Call {
        id,
        name: ASKING.to_owned(),
        arguments: Arguments::Json(arguments),
    }
}
