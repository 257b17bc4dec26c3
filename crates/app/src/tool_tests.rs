//! The tests that are saved with a tool: run on request, each as a call like any other. How they ended is shown wherever
//! the tool is; it blocks nothing.

use crate::App;
use crate::error::Result;
use crate::time;
use crate::tools::is_mine;
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::hex::hex;
use catalog::test_case::Expected;
use catalog::tool::KindName;
use executor::{CallRequest, Code};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use store::tool_tests::ToolTestRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// How the saved tests of a tool ended when they were last run.
#[derive(Debug, Serialize, ToSchema)]
pub struct Tested {
    pub passed: i64,
    pub failed: i64,
    pub ran_at: String,
    /// Whether the tool, its script included, is still the one that was tested.
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
    /// What the test is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// What the test expects to be answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Value>,
    /// What it expects to be somewhere in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_contains: Option<Value>,
    /// The code that it expects the call to fail with instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_error: Option<String>,
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
            let passed = case.expect.fits(&data, code.map(Code::as_str));
            refused |= code.is_some_and(|code| !passed && !TELLING.contains(&code));
            let (expect, expect_contains, expect_error) = match case.expect.clone() {
                Expected::Data(data) => (Some(data), None, None),
                Expected::Part(part) => (None, Some(part), None),
                Expected::Error(code) => (None, None, Some(code)),
            };
            cases.push(CaseReport {
                passed,
                name: case.name.clone(),
                arguments: case.arguments.clone(),
                expect,
                expect_contains,
                expect_error,
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
            hash: self.tested_hash(entry),
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
        // Those that it had are gone, and how they ended with them.
        if entry.tool.definition.tests.is_empty() {
            return None;
        }
        Some(Tested {
            passed: row.passed,
            failed: row.failed,
            ran_at: time::rfc3339(row.ran_at),
            is_current: row.hash == self.tested_hash(entry),
        })
    }

    /// Changes with everything that a test's outcome depends on and that we know of: the definition, and the script.
    fn tested_hash(&self, entry: &Entry) -> String {
        let definition = &entry.tool.definition;
        let script = definition.config.get("script").and_then(Value::as_str);
        let script = script.filter(|_| definition.kind == KindName::Python);
        match script.and_then(|script| self.scripts.hash(&self.workspace.join(script))) {
            None => entry.hash.to_string(),
            Some(script) => format!("{} {script}", entry.hash),
        }
    }
}

/// So many scripts are remembered.
const SCRIPTS_MAX: usize = 10_000;

/// A file that was changed so lately may change again without looking like it.
const FRESH: Duration = Duration::from_secs(2);

/// Hashes of scripts: a list of tools need not read them all again.
#[derive(Debug, Default)]
pub(crate) struct Scripts(Mutex<HashMap<PathBuf, Seen>>);

#[derive(Debug, Clone)]
struct Seen {
    changed: SystemTime,
    bytes: u64,
    hash: String,
}

impl Scripts {
    /// None where there is no such file.
    fn hash(&self, path: &Path) -> Option<String> {
        let about = std::fs::metadata(path).ok()?;
        let (changed, bytes) = (about.modified().ok()?, about.len());
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(path).cloned();
        let same = known.filter(|seen| (seen.changed, seen.bytes) == (changed, bytes));
        if let Some(seen) = same {
            return Some(seen.hash);
        }
        let hash = hex(&Sha256::digest(std::fs::read(path).ok()?)[..16]);
        let is_settled = changed.elapsed().is_ok_and(|age| age >= FRESH);
        let mut all = lock();
        if all.len() >= SCRIPTS_MAX {
            all.clear();
        }
        if is_settled {
            let seen = Seen {
                changed,
                bytes,
                hash: hash.clone(),
            };
            all.insert(path.to_owned(), seen);
        }
        Some(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_again_once_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.py");
        let write = |text: &str, at: Option<u64>| {
            std::fs::write(&path, text).unwrap();
            if let Some(at) = at {
                let file = std::fs::File::options().write(true).open(&path).unwrap();
                let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at);
                file.set_modified(at).unwrap();
            }
        };
        let scripts = Scripts::default();
        assert_eq!(scripts.hash(&path), None);
        write("a = 1", Some(100));
        let first = scripts.hash(&path).unwrap();
        assert_eq!(scripts.0.lock().unwrap().len(), 1);
        assert_eq!(scripts.hash(&path).unwrap(), first);
        write("a = 2", Some(200));
        let second = scripts.hash(&path).unwrap();
        assert_ne!(second, first);
        // What is new is not believed by its looks.
        write("a = 3", None);
        assert_ne!(scripts.hash(&path).unwrap(), second);
        assert_eq!(scripts.0.lock().unwrap()[&path].hash, second);
    }
}
