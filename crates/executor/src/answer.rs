//! How a call's end is put into words: the answer of a success, and every failure the executor itself knows.

use crate::code::Code;
use crate::kind::Failure;
use crate::response::{CallError, ResponseStatus, ToolResponse};
use catalog::catalogue::Entry;
use catalog::schema::Violation;
use executions::{LogError, Status};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// A tool may say why it failed, but not at any length.
const MESSAGE_BYTES_MAX: usize = 8 << 10;

/// What is kept of details that are too long.
const DETAIL_BYTES_MAX: usize = 1 << 10;
const DETAILS_MAX: usize = 16;

/// A finished run, its data serialised.
pub(crate) struct Done {
    pub(crate) data: Box<RawValue>,
    /// What the log gets instead of the data.
    pub(crate) logged: Option<Box<RawValue>>,
    pub(crate) message: Option<String>,
    pub(crate) log_text: Option<String>,
    pub(crate) raw: Option<Box<RawValue>>,
    pub(crate) truncated: bool,
    pub(crate) is_whole: bool,
}

pub(crate) fn succeeded(
    tool_name: Arc<str>,
    execution_id: Uuid,
    elapsed: f64,
    done: Done,
) -> (ToolResponse, Option<String>) {
    let response = ToolResponse {
        status: ResponseStatus::Success,
        message: done.message.unwrap_or_else(|| "Tool executed.".to_owned()),
        data: done.data,
        error: None,
        tool_name,
        execution_id,
        elapsed,
        raw: done.raw,
        truncated: done.truncated,
        is_whole: done.is_whole,
    };
    (response, done.log_text)
}

pub(crate) fn failed(
    tool_name: Arc<str>,
    execution_id: Uuid,
    elapsed: f64,
    failure: Failure,
) -> (ToolResponse, Option<String>) {
    let mut failure = failure;
    if failure.message.len() > MESSAGE_BYTES_MAX {
        let end = failure.message.floor_char_boundary(MESSAGE_BYTES_MAX);
        failure.message.truncate(end);
        failure.message.push('…');
    }
    let response = ToolResponse {
        status: ResponseStatus::Error,
        message: failure.message.clone(),
        data: RawValue::NULL.to_owned(),
        error: Some(CallError {
            code: failure.code,
            message: failure.message,
            details: failure.details,
        }),
        tool_name,
        execution_id,
        elapsed,
        raw: failure.raw,
        truncated: false,
        is_whole: failure.is_whole,
    };
    (response, failure.log_text)
}

/// A failure that is no longer than an output may be. What is too long of it is left out.
pub(crate) fn within(mut failure: Failure, bytes_max: usize) -> Failure {
    failure.raw = failure.raw.filter(|raw| raw.get().len() <= bytes_max);
    let bytes = written_bytes(&failure.details);
    if bytes > bytes_max.max(MESSAGE_BYTES_MAX) {
        let mut short = json!({"cut_bytes": bytes});
        if let (Value::Object(all), Value::Object(short)) = (&mut failure.details, &mut short) {
            all.retain(|_, value| written_bytes(value) <= DETAIL_BYTES_MAX);
            let kept = std::mem::take(all).into_iter();
            short.extend(kept.take(DETAILS_MAX));
        }
        failure.details = short;
    }
    failure
}

/// How long a value is as text, which is not made for that.
fn written_bytes(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

pub(crate) fn status_of(response: &ToolResponse) -> Status {
    match &response.error {
        None => Status::Success,
        Some(error) if error.code == Code::Cancelled => Status::Cancelled,
        Some(_) => Status::Error,
    }
}

/// Fail closed: what is not written down has not been answered.
pub(crate) fn unlogged(response: &ToolResponse, error: &LogError) -> ToolResponse {
    let mut failure = log_failed(error);
    if response.may_have_run() {
        // Whoever is cut off may still have been waiting for its turn.
        let cut_off = matches!(
            response.error.as_ref().map(|error| error.code),
            Some(Code::Timeout | Code::Cancelled | Code::Interrupted)
        );
        let (said, ran) = match cut_off {
            true => (" The tool may have run.", Value::Null),
            false => (" The tool did run.", Value::Bool(true)),
        };
        failure.message.push_str(said);
        // Nothing that invites to try again: that would run it twice.
        failure.details = json!({"tool_ran": ran});
    }
    let name = Arc::clone(&response.tool_name);
    failed(name, response.execution_id, response.elapsed, failure).0
}

pub(crate) fn log_failed(error: &LogError) -> Failure {
    tracing::error!(%error, "the execution log cannot be written");
    let why = match error {
        LogError::Full { .. } => "its disk is full. Free space; no restart is needed",
        LogError::Closed => "the server is stopping",
        _ => "its storage does not answer",
    };
    let message = format!("The execution log cannot be written: {why}.");
    Failure::new(Code::ServiceUnavailable, message).with_details(json!({"retry_after_seconds": 1}))
}

pub(crate) fn queue_full(entry: &Entry) -> Failure {
    let message = format!(
        "Tool '{}' runs one call at a time and its queue is full; try again later",
        entry.name
    );
    Failure::new(Code::RateLimited, message).with_details(json!({"retry_after_seconds": 1}))
}

pub(crate) fn violated(code: Code, what: &str, violations: &[Violation]) -> Failure {
    let shown: Vec<String> = violations.iter().map(ToString::to_string).collect();
    Failure::new(code, format!("{what}: {}", shown.join("; ")))
        .with_details(json!({"violations": violations}))
}

/// Plain text for people and for models that want no JSON.
pub(crate) fn as_text(data: Value) -> String {
    match data {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_no_longer_than_an_output() {
        let long = "x".repeat(20_000);
        let details = json!({"server": "s", "error": {"data": long}});
        let raw = json!({"content": [long], "isError": true});
        let raw = RawValue::from_string(raw.to_string()).unwrap();
        let told = |bytes_max: usize| {
            let mut failure = Failure::execution("as told").with_details(details.clone());
            failure.raw = Some(raw.clone());
            within(failure, bytes_max)
        };
        let whole = told(30_000);
        assert_eq!((whole.raw.is_some(), &whole.details), (true, &details));
        let cut = told(10_000);
        assert!(cut.raw.is_none());
        assert_eq!(cut.message, "Execution error: as told");
        let bytes = written_bytes(&details);
        assert_eq!(cut.details, json!({"cut_bytes": bytes, "server": "s"}));
    }

    #[test]
    fn of_a_call_that_only_may_have_run_it_is_not_said_that_it_did() {
        let full = LogError::Full {
            message: "m".to_owned(),
        };
        let told = |code: Code| {
            let failure = Failure::new(code, "as told");
            let (response, _) = failed("t".into(), Uuid::nil(), 0.0, failure);
            let answer = unlogged(&response, &full);
            assert!(answer.may_have_run(), "its key is not given back");
            let details = answer.error.map(|error| error.details);
            (answer.message, details.unwrap_or_default())
        };
        for code in [Code::Timeout, Code::Cancelled] {
            let (message, details) = told(code);
            assert!(message.ends_with(" The tool may have run."), "{message}");
            assert_eq!(details, json!({"tool_ran": null}));
        }
        let (message, details) = told(Code::ToolExecutionError);
        assert!(message.ends_with(" The tool did run."), "{message}");
        assert_eq!(details, json!({"tool_ran": true}));
    }
}
