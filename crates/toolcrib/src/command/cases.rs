//! `toolcrib tools test`: runs the saved test cases of a tool, or of a definition that is not saved.

use super::input::Input;
use super::tools::{path, text};
use crate::client::Client;
use crate::context::Context;
use crate::out::{Failure, Paint, Result};
use serde_json::{Value, json};

pub(crate) async fn run(context: &Context, name: Option<&str>, file: Option<&str>) -> Result {
    let unsaved = match file {
        None => None,
        Some(given) => {
            let input = Input::definition(given)?;
            let parsed = serde_json::from_str::<Value>(&input.text);
            Some(parsed.map_err(|error| {
                Failure::usage(format!("{}: not valid JSON: {error}", input.shown))
            })?)
        }
    };
    let name = name.unwrap_or_else(|| unsaved.as_ref().map_or("", |tool| text(tool, "name")));
    let results = Client::with(context, async |client| {
        let tool = match &unsaved {
            Some(tool) => tool.clone(),
            None => client.get(&path(name)).await?,
        };
        let cases = tool["tests"].as_array().cloned().unwrap_or_default();
        let mut results = Vec::new();
        for case in cases {
            let (path, body) = match &unsaved {
                Some(tool) => (
                    "/api/v1/tools/test".to_owned(),
                    json!({"tool": tool, "arguments": case["arguments"]}),
                ),
                None => (
                    format!("{}/call", path(name)),
                    json!({"arguments": case["arguments"]}),
                ),
            };
            let answer = client.request("POST", &path, Some(body)).await?;
            // A definition that is not valid is no failed case but no test at all.
            if answer.value().get("execution_id").is_none() {
                answer.ok()?;
                continue;
            }
            results.push(judge(&case, &answer.value()));
        }
        Ok(results)
    })
    .await?;
    report(context, name, &results)
}

fn judge(case: &Value, response: &Value) -> Value {
    let error = &response["error"];
    let passed = error.is_null() && same(&response["data"], &case["expect"]);
    json!({
        "passed": passed,
        "arguments": case["arguments"],
        "expect": case["expect"],
        "data": response["data"],
        "error": error,
    })
}

fn report(context: &Context, name: &str, results: &[Value]) -> Result {
    let out = &context.out;
    let failed = results
        .iter()
        .filter(|result| result["passed"] == false)
        .count();
    if results.is_empty() && !out.json {
        out.line(format!("'{name}' has no tests"));
        out.note("add \"tests\": [{\"arguments\": {…}, \"expect\": …}] to its definition");
    }
    if out.json {
        out.value(&json!({"tool": name, "passed": results.len() - failed, "failed": failed, "cases": results}));
    } else {
        for result in results {
            if result["passed"] == true {
                out.line(format!(
                    "{} {}",
                    out.paint(Paint::Green, "pass"),
                    result["arguments"]
                ));
                continue;
            }
            out.line(format!(
                "{} {}",
                out.paint(Paint::Red, "fail"),
                result["arguments"]
            ));
            out.line(format!("  expected {}", result["expect"]));
            match result["error"].as_object() {
                None => out.line(format!("  got      {}", result["data"])),
                Some(_) => out.line(format!(
                    "  got      {}: {}",
                    text(&result["error"], "code"),
                    text(&result["error"], "message")
                )),
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::failed(format!(
            "{failed} of {} tests of '{name}' failed",
            results.len()
        ))
        .printed()),
    }
}

/// Equal as JSON means it: 4 and 4.0 are the same number.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let found = |(name, value): (&String, &Value)| {
                b.get(name).is_some_and(|other| same(value, other))
            };
            a.len() == b.len() && a.iter().all(found)
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_json() {
        assert!(same(
            &json!({"a": [4, "x"], "b": null}),
            &json!({"b": null, "a": [4.0, "x"]})
        ));
        assert!(!same(&json!([1, 2]), &json!([2, 1])));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(!same(&json!("1"), &json!(1)));
    }
}
