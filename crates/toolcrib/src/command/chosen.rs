//! Which of several things that a run asks is meant, and how each of them is answered.

use super::answering::{answers, asked_line};
use super::call::refused;
use super::tools::text;
use crate::out::{Failure, Result, printable};
use serde_json::Value;

/// All that a run asks.
pub(super) fn pending(view: &Value) -> &[Value] {
    view["pending"].as_array().map_or(&[], Vec::as_slice)
}

/// The question that is meant.
pub(super) fn chosen<'a>(view: &'a Value, request: Option<&str>) -> Result<&'a Value> {
    let id = text(view, "id");
    match (request, pending(view)) {
        (_, []) => Err(asks_nothing(view)),
        (None, [only]) => Ok(only),
        (None, all) => {
            let why = format!("the run asks {} things; name the one you answer", all.len());
            let failure = with_each(Failure::usage(why), id, all);
            Err(failure.hint(format!(
                "at a terminal `toolcrib runs follow {id}` asks for one after the other"
            )))
        }
        (Some(wanted), all) => {
            let found = all.iter().find(|it| text(it, "request_id") == wanted);
            found.ok_or_else(|| {
                let why = format!("the run does not ask '{wanted}' (any more)");
                with_each(Failure::usage(why), id, all)
            })
        }
    }
}

/// A line for each thing that a run asks, and one for how it is answered.
fn with_each(failure: Failure, id: &str, pending: &[Value]) -> Failure {
    pending.iter().fold(failure, |failure, it| {
        let asked = format!("{}: {}", text(it, "request_id"), asked_line(it));
        failure
            .hint(printable(&asked))
            .hint(format!("  {}", answering(id, it)))
    })
}

/// The command that answers one of several.
pub(super) fn answering(id: &str, pending: &Value) -> String {
    let (request, how) = (text(pending, "request_id"), answers(pending));
    printable(&format!(
        "`toolcrib runs answer {id} --request {request} {how}`, or `--decline`"
    ))
}

/// The refusal of an answer where none is wanted, and how the run stands.
fn asks_nothing(view: &Value) -> Failure {
    let (id, status) = (text(view, "id"), text(view, "status"));
    let hint = match status {
        "running" => format!("`toolcrib runs follow {id}` shows what happens"),
        _ => format!("`toolcrib runs show {id}` tells how it ended"),
    };
    let why = format!("the run asks nothing now: it is {status}");
    refused(&app::Error::conflict(why)).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_several_things_that_a_run_asks_each_is_named_with_how_to_answer_it() {
        let view = json!({"id": "r", "status": "needs_input", "pending": [
            {"request_id": "a", "kind": "approval", "tool": "pay", "arguments": {"amount": 5}, "because": "it is dear"},
            {"request_id": "b", "kind": "question", "tool": null, "question": "Which\u{1b}room?", "schema": {}},
            {"request_id": "c", "kind": "question", "tool": "book", "question": "When?", "schema":
                {"type": "object", "properties": {"day": {"type": "string"}}}},
        ]});
        for request in [None, Some("d")] {
            let refused = chosen(&view, request).expect_err("nobody says which");
            assert_eq!(refused.cause.exit(), 2);
            let told = refused.hints.join("\n");
            for says in [
                "a: it asks whether pay may be called with {\"amount\":5} (it is dear)",
                "`toolcrib runs answer r --request a approve|",
                "b: it asks: Which room?",
                "`toolcrib runs answer r --request b …`",
                "c: it asks for book: When?",
                "`toolcrib runs answer r --request c '{\"day\":",
            ] {
                assert!(told.contains(says), "{says}: {told}");
            }
        }
        let meant = chosen(&view, Some("b")).expect("it is asked");
        assert_eq!(meant["request_id"], "b");
    }
}
