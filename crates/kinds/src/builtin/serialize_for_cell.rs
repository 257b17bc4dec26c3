//! `serialize_for_cell`: replaces no-break spaces by plain ones, so that text fits a table cell or a query.

use super::{About, Builtin, pure};
use executor::Run;
use executor::kind::RunFuture;
use serde_json::{Value, json};

pub(super) struct SerializeForCell;

impl Builtin for SerializeForCell {
    fn about(&self) -> About {
        About {
            name: "serialize_for_cell",
            description: "Cleans text for a table cell or an SQL query: every no-break space (U+00A0) becomes a plain space. Use it before text copied from documents or web pages is put into a query.",
            description_user: "Replaces no-break spaces (U+00A0) in a text by plain spaces.",
            input_schema: json!({
                "type": "object",
                "properties": {"data": {"type": "string", "description": "The text to clean"}},
                "required": ["data"],
                "additionalProperties": false
            }),
            output_schema: Some(json!({"type": "string"})),
            annotations: pure(),
            parallel_capable: true,
            examples: &[
                "clean the no-break spaces out of this text",
                "이 텍스트의 NBSP를 공백으로 바꿔줘",
            ],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        let data = run
            .arguments
            .get("data")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let cleaned = without_no_break_spaces(data);
        Box::pin(std::future::ready(Ok(Value::String(cleaned).into())))
    }
}

/// Every U+00A0 becomes a plain space, wherever it stands.
pub(super) fn without_no_break_spaces(text: &str) -> String {
    text.replace('\u{a0}', " ")
}
