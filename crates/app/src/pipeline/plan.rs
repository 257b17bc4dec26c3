//! The third step: which tools are called with what. A plan that was given is followed; else one is made.

use super::PipelineState;
use crate::App;
use crate::error::{Error, Result};
use crate::planning::Choosing;
use agent::fill::questions;
use agent::planner::{Plan, not_done_of};
use catalog::caller::Caller;
use catalog::json::did_you_mean;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// More tools are no plan for one query.
const TOOLS_MAX: usize = 50;

/// One tool of the plan, and its arguments where the plan says them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) tool: String,
    pub(super) arguments: Option<Map<String, Value>>,
}

/// The tools of a plan that was given.
pub(super) fn read(plan: &Map<String, Value>) -> Result<Vec<Step>> {
    let wrong = |what: &str, got: &Value| {
        let kind = match got {
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
            other => return Error::invalid(format!("plan.{what}, got {other}")),
        };
        Error::invalid(format!("plan.{what}, got {kind}"))
    };
    // Any other member is kept; one that is mistaken for it would have nothing called.
    let slip = |key: &&String| *key != "tools" && did_you_mean(key, &["tools"]).is_some();
    if let Some(key) = plan.keys().find(slip) {
        let why = format!("plan.{key}: unknown; expected plan.tools, a list of names of tools");
        return Err(Error::invalid(why));
    }
    let names = match plan.get("tools") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(names)) => names,
        Some(other) => return Err(wrong("tools: expected a list of names of tools", other)),
    };
    if names.len() > TOOLS_MAX {
        let why = format!(
            "plan.tools: expected at most {TOOLS_MAX} names, got {}",
            names.len()
        );
        return Err(Error::invalid(why));
    }
    let mut steps = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let Some(name) = name.as_str() else {
            return Err(wrong(
                &format!("tools[{at}]: expected the name of a tool"),
                name,
            ));
        };
        let key = input_of(name);
        let arguments = match plan.get(&key) {
            None | Some(Value::Null) => None,
            Some(Value::Object(arguments)) => Some(arguments.clone()),
            Some(other) => {
                let what = format!("{key}: expected an object, the arguments of {name}");
                return Err(wrong(&what, other));
            }
        };
        steps.push(Step {
            tool: name.to_owned(),
            arguments,
        });
    }
    let inputs: Vec<String> = steps.iter().map(|it| input_of(&it.tool)).collect();
    let known: Vec<&str> = inputs.iter().map(String::as_str).collect();
    for key in plan.keys().filter(|it| it.ends_with(&input_of(""))) {
        let near = did_you_mean(key, &known).filter(|_| !inputs.contains(key));
        if let Some(near) = near {
            let why =
                format!("plan.{key}: no tool of plan.tools takes it; did you mean plan.{near}?");
            return Err(Error::invalid(why));
        }
    }
    Ok(steps)
}

/// Where a plan has the arguments of a tool.
fn input_of(tool: &str) -> String {
    format!("{tool}_input")
}

impl App {
    /// The plan as it is shown, and its tools.
    pub(super) async fn plan_step(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        state: &mut PipelineState,
        given: Option<Map<String, Value>>,
        steps: Option<Vec<Step>>,
    ) -> Result<Vec<Step>> {
        if let (Some(plan), Some(mut steps)) = (given, steps) {
            state.plan = plan;
            for step in steps.iter_mut().filter(|it| it.arguments.is_none()) {
                // Only what is certain, and all of it or nothing: the rest is for the tool to refuse.
                let filled = self.filled(caller, &state.query, &step.tool);
                step.arguments = filled
                    .filter(|it| it.missing.is_empty())
                    .map(|it| it.arguments);
            }
            return Ok(steps);
        }
        // What somebody has to approve is not waited for here.
        let all = Choosing::default();
        let planned = self.plan_without_model(caller, &state.query, all).await?;
        state.notes.extend(planned.notes);
        let left = planned.left.iter();
        state
            .notes
            .extend(left.map(|it| not_done_of(&state.query, it)));
        let mut plan = Map::new();
        let mut steps = Vec::new();
        let because = planned.because;
        let strategy = match planned.plan {
            Plan::Calls(calls) => {
                for call in calls {
                    if !call.missing.is_empty() {
                        let missing = questions(&call.missing);
                        state
                            .notes
                            .push(format!("'{}' is not called: {missing}", call.tool));
                        continue;
                    }
                    // Nobody can be asked here, and the planner goes by words.
                    if self.may_destroy(&call.tool) {
                        state.notes.push(format!(
                            "'{0}' is not called: it may destroy something, and was chosen by the words of the query; name it in plan.tools, or take a run, which asks first",
                            call.tool
                        ));
                        continue;
                    }
                    if let Some(why) = self.contrary_to(&call.part, &call.tool) {
                        let note = format!("'{}' is not called: {why}", call.tool);
                        state.notes.push(note);
                        continue;
                    }
                    // A plan has one input for each tool.
                    if steps.iter().any(|it: &Step| it.tool == call.tool) {
                        state.notes.push(format!(
                            "'{}' is called once: '{}' is left; ask for it by itself, or take a run",
                            call.tool, call.part
                        ));
                        continue;
                    }
                    steps.push(Step {
                        tool: call.tool,
                        arguments: Some(call.arguments),
                    });
                }
                if steps.is_empty() { "ask" } else { "selection" }
            }
            Plan::Ask { question, .. } | Plan::Doubt { question, .. } => {
                state.notes.push(question);
                "ask"
            }
            Plan::Nothing { text } => {
                state.notes.push(text);
                "none"
            }
        };
        let names: Vec<&str> = steps.iter().map(|it| it.tool.as_str()).collect();
        plan.insert("tools".to_owned(), json!(names));
        for step in &steps {
            let arguments = step.arguments.clone().unwrap_or_default();
            plan.insert(input_of(&step.tool), Value::Object(arguments));
        }
        plan.insert("strategy".to_owned(), strategy.into());
        plan.insert("reasoning".to_owned(), because.into());
        state.plan = plan;
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_plan_says_which_tools_with_what() {
        let plan = json!({
            "tools": ["calculator", "web_search"], "calculator_input": {"expression": "1+1"},
            "steps": ["any"], "strategy": "mine", "other_input": {}
        });
        let steps = read(&object(&plan)).unwrap();
        assert_eq!(steps.len(), 2);
        assert_eq!(
            steps[0].arguments,
            Some(object(&json!({"expression": "1+1"})))
        );
        assert_eq!(steps[1].arguments, None);
        assert_eq!(read(&object(&json!({}))).unwrap(), []);
        assert_eq!(read(&object(&json!({"tools": []}))).unwrap(), []);
    }

    #[test]
    fn a_wrong_plan_is_told_where_it_is_wrong() {
        for (plan, says) in [
            (
                json!({"tools": "calculator"}),
                "plan.tools: expected a list of names",
            ),
            (
                json!({"tools": [1]}),
                "plan.tools[0]: expected the name of a tool, got 1",
            ),
            (
                json!({"tools": ["a"], "a_input": [1]}),
                "plan.a_input: expected an object, the arguments of a, got a list",
            ),
            (json!({"tools": vec!["a"; 51]}), "at most 50 names, got 51"),
            (
                json!({"tolls": ["a"]}),
                "plan.tolls: unknown; expected plan.tools",
            ),
            (
                json!({"tools": ["calculator"], "calculater_input": {}}),
                "plan.calculater_input: no tool of plan.tools takes it; did you mean plan.calculator_input?",
            ),
        ] {
            let error = read(&object(&plan)).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
