//! The `expression` kind: a Python expression or a short snippet, evaluated in a sealed worker. The arguments are its
//! variables, and nothing else is within its reach.

use crate::parts::Parts;
use catalog::tool::Definition;
use executor::kind::{CheckFuture, RunFuture};
use executor::{Code, Failure, Kind, Output, Run};
use expression::Fault;
use process::{Pool, Seal, Stopped};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The program's second argument where it is to evaluate expressions.
pub const EXPRESSION: &str = "expression";

/// Well above what an expression may make, and the stack that its deepest recursion needs.
pub const EXPRESSION_SEAL: Seal = Seal {
    address_bytes: 512 << 20,
    stack_bytes: 64 << 20,
};

/// How long one may take whose tool names no deadline: what takes longer is no expression any more.
const LIMIT: Duration = Duration::from_secs(1);

/// How long a worker that has reached its limit is waited for: not everything in there can be interrupted.
const GRACE: Duration = Duration::from_millis(30);

pub(crate) struct Expressions {
    pool: Pool,
}

impl Expressions {
    pub(crate) fn new(parts: &Parts) -> Self {
        Expressions {
            pool: Pool::new(Arc::clone(&parts.spawner), EXPRESSION),
        }
    }

    async fn evaluate(&self, run: &Run) -> Result<Output, Failure> {
        let definition = &run.entry.tool.definition;
        let source = source(definition);
        let left = run.deadline.saturating_duration_since(Instant::now());
        let limit = match definition.timeout_seconds() {
            Some(_) => left,
            None => left.min(LIMIT),
        };
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let question =
            expression::question(source, &variables(definition, &run.arguments), limit_ms);
        let answer = self.pool.ask_within(&question, limit + GRACE).await;
        let answer = answer.map_err(|stopped| match stopped {
            Stopped::Late => too_long(limit),
            Stopped::Died => {
                Failure::execution("the expression needs more memory than it may have")
            }
            Stopped::NoWorker(error) => {
                tracing::error!(%error, "no worker for expressions");
                Failure::new(
                    Code::ServiceUnavailable,
                    "No process can be started to evaluate expressions",
                )
            }
        })?;
        let evaluated = expression::read(&answer).map_err(|fault| failure(&fault, limit))?;
        Ok(Output {
            data: evaluated.value.into(),
            log_text: Some(evaluated.printed).filter(|printed| !printed.is_empty()),
            ..Output::default()
        })
    }
}

impl Kind for Expressions {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.evaluate(run))
    }

    fn check<'a>(&'a self, definition: &'a Definition) -> CheckFuture<'a> {
        let names: Vec<&str> = properties(definition)
            .map(|(name, _)| name.as_str())
            .collect();
        let checked = expression::check(source(definition), &names).map_err(|fault| {
            let at = match (fault.line, fault.column) {
                (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
                _ => String::new(),
            };
            Failure::new(
                Code::InvalidInput,
                format!("config.expression: {fault}{at}"),
            )
        });
        Box::pin(std::future::ready(checked))
    }

    /// A name that nothing gives a meaning to: its first use ends the call.
    fn missing(&self, definition: &Definition) -> Option<String> {
        let names: Vec<&str> = properties(definition)
            .map(|(name, _)| name.as_str())
            .collect();
        let name = expression::unknown_name(source(definition), &names)?;
        let known = match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        };
        Some(format!(
            "config.expression uses '{name}', which is no argument; the input schema has {known}"
        ))
    }
}

fn source(definition: &Definition) -> &str {
    let text = definition.config.get("expression").and_then(Value::as_str);
    text.unwrap_or_default()
}

fn properties(definition: &Definition) -> impl Iterator<Item = (&String, &Value)> {
    let properties = definition.input_schema.get("properties");
    properties.and_then(Value::as_object).into_iter().flatten()
}

/// The arguments; one that was left out has its default, or is None.
fn variables(definition: &Definition, arguments: &Value) -> Map<String, Value> {
    let mut variables = arguments.as_object().cloned().unwrap_or_default();
    for (name, schema) in properties(definition) {
        if !variables.contains_key(name) {
            let default = schema.get("default").cloned();
            variables.insert(name.clone(), default.unwrap_or_default());
        }
    }
    variables
}

/// A fault with its place in the source. Whether the worker noticed that it ran too long or we did is nobody's concern.
fn failure(fault: &Fault, limit: Duration) -> Failure {
    let failure = match fault.kind {
        expression::Kind::Time => too_long(limit),
        _ => Failure::execution(fault),
    };
    failure.with_details(json!({"line": fault.line, "column": fault.column}))
}

fn too_long(limit: Duration) -> Failure {
    let seconds = limit.as_secs_f64();
    Failure::new(
        Code::Timeout,
        format!("Tool execution timeout ({seconds:.1}s)"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::definition::{Origin, definition_from_text};

    fn definition(expression: &str, properties: &Value) -> Definition {
        let text = json!({
            "name": "e", "description": "An expression.", "kind": "expression",
            "config": {"expression": expression}, "input_schema": {"type": "object", "properties": properties},
        });
        definition_from_text("test", &text.to_string(), Origin::ToolsFile).unwrap()
    }

    #[test]
    fn what_was_left_out_has_its_default_or_is_none() {
        let definition = definition(
            "a",
            &json!({"a": {"default": 3}, "b": {}, "c": {"default": 1}}),
        );
        let variables = variables(&definition, &json!({"c": 2, "d": 4}));
        let expected = json!({"a": 3, "b": null, "c": 2, "d": 4});
        assert_eq!(Value::Object(variables), expected);
    }

    #[test]
    fn a_fault_has_its_place_and_its_code() {
        let mut evaluator = expression::Evaluator::new();
        for (source, code, message, details) in [
            (
                "1\n1 / 0",
                Code::ToolExecutionError,
                "Execution error: ZeroDivisionError: division by zero",
                json!({"line": 2, "column": 1}),
            ),
            (
                "while True: pass",
                Code::Timeout,
                "Tool execution timeout (0.0s)",
                json!({"line": null, "column": null}),
            ),
        ] {
            let limit = Duration::from_millis(20);
            let question = expression::question(source, &Map::new(), 20);
            let answer = expression::answer(&mut evaluator, &question);
            let failure = failure(&expression::read(&answer).unwrap_err(), limit);
            assert_eq!((failure.code, &*failure.message), (code, message));
            assert_eq!(failure.details, details);
        }
    }

    #[tokio::test]
    async fn a_wrong_source_is_refused_before_it_is_stored() {
        let expressions = Expressions::new(&Parts::new(&crate::Options::default()));
        let fine = definition("num1 * num2", &json!({"num1": {}, "num2": {}}));
        assert!(expressions.check(&fine).await.is_ok());
        assert_eq!(expressions.missing(&fine), None);
        let slip = definition("num1 * nun2", &json!({"num1": {}, "num2": {}}));
        let missing = expressions.missing(&slip).unwrap();
        assert!(missing.contains("uses 'nun2'"), "{missing}");
        let wrong = definition("a = 1\nresult = a +", &json!({}));
        let failure = expressions.check(&wrong).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput);
        assert!(
            failure.message.ends_with("(line 2, column 13)"),
            "{}",
            failure.message
        );
    }
}
