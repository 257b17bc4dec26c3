//! The tests that are saved with a tool: run on request, each as a call like any other. How they ended is shown wherever
//! the tool is; it blocks nothing.

use crate::App;
use crate::error::Result;
use crate::time;
use crate::tools::is_mine;
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use executor::{CallRequest, Code};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use store::tool_tests::ToolTestRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// How the saved tests of a tool ended when they were last run.
#[derive(Debug, Serialize, ToSchema)]
pub struct Tested {
    pub passed: i64,
    pub failed: i64,
    pub ran_at: String,
    /// Whether the tool is still the one that was tested.
    pub is_current: bool,
}

/// How each test of a tool ended.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestReport {
    pub tool: String,
    pub passed: usize,
    pub failed: usize,
    pub cases: Vec<CaseReport>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CaseReport {
    pub passed: bool,
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// What the test expects.
    pub expect: Value,
    /// What the tool answered.
    pub data: Value,
    #[schema(value_type = Option<Object>)]
    pub error: Value,
    pub execution_id: Uuid,
}

/// How a call may fail because of the tool itself, and not because of who called it or when.
const TELLING: [Code; 7] = [
    Code::ToolExecutionError,
    Code::InvalidInput,
    Code::InvalidOutput,
    Code::OutputTooLarge,
    Code::Timeout,
    Code::UpstreamError,
    Code::NotConfigured,
];

impl App {
    /// Runs the saved tests of a tool, one after the other, as calls of this caller.
    pub async fn run_tests(&self, caller: &Arc<Caller>, target: &str) -> Result<TestReport> {
        let entry = self.visible_now(caller, target).await?;
        let mut cases = Vec::new();
        let mut refused = false;
        for case in &entry.tool.definition.tests {
            let request = CallRequest {
                tool: entry.name.to_string(),
                arguments: case.arguments.clone(),
                ..CallRequest::default()
            };
            let answer = self.executor.call(Arc::clone(caller), request).await;
            let data: Value = serde_json::from_str(answer.data.get()).unwrap_or_default();
            let code = answer.error.as_ref().map(|error| error.code);
            refused |= code.is_some_and(|code| !TELLING.contains(&code));
            cases.push(CaseReport {
                passed: answer.error.is_none() && case.fits(&data),
                arguments: case.arguments.clone(),
                expect: case.expect.clone(),
                data,
                error: answer.error.map_or(Value::Null, |error| {
                    serde_json::to_value(error).unwrap_or_default()
                }),
                execution_id: answer.execution_id,
            });
        }
        let passed = cases.iter().filter(|case| case.passed).count();
        let report = TestReport {
            tool: entry.name.to_string(),
            passed,
            failed: cases.len() - passed,
            cases,
        };
        // What others are kept from says nothing of the tool.
        if !report.cases.is_empty() && is_mine(caller, &entry.tool) && !refused {
            self.remember_tests(&entry, &report).await?;
        }
        Ok(report)
    }

    async fn remember_tests(&self, entry: &Entry, report: &TestReport) -> Result<()> {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let row = ToolTestRow {
            tool_id: entry.tool.id,
            hash: entry.hash.to_string(),
            passed: count(report.passed),
            failed: count(report.failed),
            ran_at: self.clock.now(),
        };
        self.store.put_tool_test(&row).await?;
        self.tested.rcu(|known| {
            let mut next = (**known).clone();
            next.insert(row.tool_id, row.clone());
            next
        });
        Ok(())
    }

    /// None where they never ran.
    pub(crate) fn tested(&self, entry: &Entry) -> Option<Tested> {
        let known = self.tested.load();
        let row = known.get(&entry.tool.id)?;
        Some(Tested {
            passed: row.passed,
            failed: row.failed,
            ran_at: time::rfc3339(row.ran_at),
            is_current: *row.hash == *entry.hash,
        })
    }
}
