//! `toolcrib tools test`: runs the saved test cases of tools, or of a definition that is not saved.

use super::input::Input;
use super::tools::{all, path, text};
use crate::client::Client;
use crate::context::Context;
use crate::out::{Failure, Out, Paint, Result};
use catalog::test_case::Expected;
use serde_json::{Value, json};

/// The cases of one tool as they ended.
struct Report {
    tool: String,
    cases: Vec<Value>,
}

impl Report {
    fn failed(&self) -> usize {
        let failed = self.cases.iter().filter(|case| case["passed"] == false);
        failed.count()
    }

    fn as_json(&self) -> Value {
        let failed = self.failed();
        let passed = self.cases.len() - failed;
        json!({"tool": self.tool, "passed": passed, "failed": failed, "cases": self.cases})
    }
}

pub(crate) async fn run(context: &Context, names: &[String], file: Option<&str>) -> Result {
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
    let reports = Client::with(context, async |client| match &unsaved {
        None => saved(client, names).await,
        Some(tool) => Ok(vec![Report {
            tool: text(tool, "name").to_owned(),
            cases: try_out(client, tool).await?,
        }]),
    })
    .await?;
    match (names, &unsaved, reports.as_slice()) {
        ([_], _, [one]) | ([], Some(_), [one]) => tell_one(&context.out, one),
        (_, _, all) => tell_all(&context.out, all),
    }
}

/// Runs the tests of these tools; of all that are switched on and have some, where none is named.
async fn saved(client: &Client, names: &[String]) -> Result<Vec<Report>> {
    let mut names = names.to_vec();
    if names.is_empty() {
        let active = [("active", Some("true".to_owned()))];
        let tools = all(client, &active, usize::MAX).await?;
        let has_tests = |tool: &&Value| tool["tests"].as_array().is_some_and(|it| !it.is_empty());
        let tested = tools.iter().filter(has_tests);
        names.extend(tested.map(|tool| text(tool, "name").to_owned()));
    }
    let mut reports = Vec::new();
    for name in names {
        let path = format!("{}/tests", path(&name));
        let ran = client.request("POST", &path, None).await?.ok()?;
        reports.push(Report {
            tool: name,
            cases: ran["cases"].as_array().cloned().unwrap_or_default(),
        });
    }
    Ok(reports)
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
    let expected = match (case.get("expect_error"), case.get("expect_contains")) {
        (Some(code), _) => Expected::Error(code.as_str().unwrap_or_default().to_owned()),
        (None, Some(part)) => Expected::Part(part.clone()),
        (None, None) => Expected::Data(case["expect"].clone()),
    };
    let mut judged = case.clone();
    judged["passed"] = json!(expected.fits(&response["data"], error["code"].as_str()));
    judged["data"] = response["data"].clone();
    judged["error"] = error.clone();
    judged
}

fn tell_one(out: &Out, report: &Report) -> Result {
    if out.json {
        out.value(&report.as_json());
    } else if report.cases.is_empty() {
        out.line(format!("'{}' has no tests", report.tool));
        out.note("add \"tests\": [{\"arguments\": {…}, \"expect\": …}] to its definition");
    }
    if !out.json {
        tell_cases(out, report, "");
    }
    let of = format!("{} tests of '{}'", report.cases.len(), report.tool);
    ended(report.failed(), &of)
}

fn tell_all(out: &Out, reports: &[Report]) -> Result {
    let failed: usize = reports.iter().map(Report::failed).sum();
    let count: usize = reports.iter().map(|report| report.cases.len()).sum();
    if out.json {
        let tools: Vec<Value> = reports.iter().map(Report::as_json).collect();
        out.value(&json!({"passed": count - failed, "failed": failed, "tools": tools}));
    } else {
        if count == 0 {
            out.line("there are no tests");
        }
        for report in reports {
            tell_cases(out, report, &format!("{} ", report.tool));
        }
    }
    ended(failed, &format!("{count} tests"))
}

fn ended(failed: usize, of: &str) -> Result {
    match failed {
        0 => Ok(()),
        _ => Err(Failure::failed(format!("{failed} of {of} failed")).printed()),
    }
}

/// A line for each, and what was expected of those that failed.
fn tell_cases(out: &Out, report: &Report, whose: &str) {
    for case in &report.cases {
        let arguments = match case["name"].as_str() {
            Some(name) => format!("{name} {}", case["arguments"]),
            None => case["arguments"].to_string(),
        };
        if case["passed"] == true {
            let passed = out.paint(Paint::Green, "pass");
            out.line(format!("{passed} {whose}{arguments}"));
            continue;
        }
        let failed = out.paint(Paint::Red, "fail");
        out.line(format!("{failed} {whose}{arguments}"));
        match (case["expect_error"].as_str(), case.get("expect_contains")) {
            (Some(code), _) => out.line(format!("  expected the error {code}")),
            (None, Some(part)) => out.line(format!("  expected {part} in it")),
            (None, None) => out.line(format!("  expected {}", case["expect"])),
        }
        let error = &case["error"];
        match error.as_object() {
            None => out.line(format!("  got      {}", case["data"])),
            Some(_) => out.line(format!(
                "  got      {}: {}",
                text(error, "code"),
                text(error, "message")
            )),
        }
    }
}
