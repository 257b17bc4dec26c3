//! `toolcrib tools test`: runs the saved test cases of a tool, or of a definition that is not saved.

use super::input::Input;
use super::tools::{path, text};
use crate::client::Client;
use crate::context::Context;
use crate::out::{Failure, Paint, Result};
use catalog::tool::is_same;
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
    let results = Client::with(context, async |client| match &unsaved {
        None => {
            let ran = client
                .request("POST", &format!("{}/tests", path(name)), None)
                .await?
                .ok()?;
            Ok(ran["cases"].as_array().cloned().unwrap_or_default())
        }
        Some(tool) => try_out(client, tool).await,
    })
    .await?;
    report(context, name, &results)
}

/// The cases of a definition that is not saved, each tried out.
async fn try_out(client: &Client, tool: &Value) -> Result<Vec<Value>> {
    let mut results = Vec::new();
    for case in tool["tests"].as_array().into_iter().flatten() {
        let body = json!({"tool": tool, "arguments": case["arguments"]});
        let answer = client
            .request("POST", "/api/v1/tools/test", Some(body))
            .await?;
        // A definition that is not valid is no failed case but no test at all.
        if answer.value().get("execution_id").is_none() {
            answer.ok()?;
            continue;
        }
        results.push(judge(case, &answer.value()));
    }
    Ok(results)
}

fn judge(case: &Value, response: &Value) -> Value {
    let error = &response["error"];
    let passed = error.is_null() && is_same(&response["data"], &case["expect"]);
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
