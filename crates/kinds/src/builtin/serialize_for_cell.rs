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
                "clean the no-break spaces out of this value before it goes into the SQL: 'Kim\u{a0}Minji'",
                "make \"Total\u{a0}amount\u{a0}(KRW)\" safe for a table cell",
                "my WHERE name = 'ACME\u{a0}Ltd' matches nothing because of U+00A0, fix the literal",
                "replace every nbsp in 'unit\u{a0}price' with a normal blank so that I can query by it",
                "'서울\u{a0}강남구' 이 값의 NBSP를 공백으로 바꿔줘",
                "쿼리 조건에 넣을 건데 '홍\u{a0}길동'에서 U+00A0 문자 없애주세요",
                "표 셀에 들어갈 \"합계\u{a0}금액\" 정리해줄래? 줄바꿈 없는 공백이 섞여 있어",
                "SQL에 넣기 전에 '부산\u{a0}지점' nbsp 처리 좀 부탁",
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
