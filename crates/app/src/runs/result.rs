//! How a call ended, in words that a model and a person read alike.

use agent::entry::CallResult;
use agent::result::shortened;
use executor::{CallError, ToolResponse};
use serde_json::Value;

/// Details that the message says already.
const SAID: [&str; 1] = ["violations"];

pub(crate) fn result_of(
    call: &str,
    response: &ToolResponse,
    untrusted: bool,
    chars_max: usize,
) -> CallResult {
    let text = match &response.error {
        Some(error) => failure(&response.tool_name, error),
        // A text as it is: quotes and escapes cost tokens and say nothing.
        None => serde_json::from_str::<String>(response.data.get())
            .unwrap_or_else(|_| response.data.get().to_owned()),
    };
    let (mut text, is_cut) = shortened(&text, chars_max);
    if response.truncated {
        text.push_str("\n[there was more than is shown]");
    }
    CallResult {
        call: call.to_owned(),
        text,
        is_error: response.error.is_some(),
        code: response
            .error
            .as_ref()
            .map(|it| it.code.as_str().to_owned()),
        execution_id: (!response.execution_id.is_nil()).then(|| response.execution_id.to_string()),
        elapsed: response.elapsed,
        is_untrusted: untrusted && response.may_have_run(),
        is_cut,
    }
}

/// The message, and a line for each thing that there is to know besides: without a model this is what a person gets.
fn failure(tool: &str, error: &CallError) -> String {
    let mut lines = vec![error.message.clone()];
    match &error.details {
        Value::Null => {}
        Value::Object(details) => {
            let is_new = |name: &str, value: &Value| !SAID.contains(&name) && *value != *tool;
            let new = details.iter().filter(|(name, it)| is_new(name, it));
            lines.extend(new.map(|(name, value)| match name.as_str() {
                "remedy" => shown(value),
                name => format!("{}: {}", name.replace('_', " "), shown(value)),
            }));
        }
        other => lines.push(shown(other)),
    }
    lines.join("\n")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "unknown".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executor::Code;
    use serde_json::json;

    #[test]
    fn a_failure_is_told_in_lines_and_nothing_twice() {
        for (details, expected) in [
            (Value::Null, "No"),
            (json!({"violations": [{"path": "$.n"}]}), "No"),
            (
                json!({"tool": "t", "remedy": "Ask an admin."}),
                "No\nAsk an admin.",
            ),
            (
                json!({"retry_after_seconds": 3, "tool_ran": null}),
                "No\nretry after seconds: 3\ntool ran: unknown",
            ),
            (
                json!({"exit_code": 2, "stderr": "no \"x\""}),
                "No\nexit code: 2\nstderr: no \"x\"",
            ),
        ] {
            let error = CallError {
                code: Code::BlockedByPolicy,
                message: "No".to_owned(),
                details,
            };
            assert_eq!(failure("t", &error), expected);
        }
    }
}
