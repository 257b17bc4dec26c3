//! What comes of a call that waited for somebody: what they said is its result, or it may run, or it never does.

use super::{Cleared, Phase};
use crate::entry::{CallResult, Decision, Pending, PendingKind};
use serde_json::Value;

/// The code of a call that somebody did not want.
pub const REJECTED: &str = "rejected";

/// The code of a question that somebody does not want to answer.
pub const DECLINED: &str = "declined";

/// What is told of such a call, with the reason behind it.
const NOT_ALLOWED: &str = "The person who was asked did not let this call run";

/// What is told of such a question.
const NOT_ANSWERED: &str = "The person who was asked does not want to answer this";

/// The reason in what is told of a call that somebody did not want, with the colon before it; empty where none was given.
#[must_use]
pub fn why_rejected(text: &str) -> &str {
    text.strip_prefix(NOT_ALLOWED).unwrap_or(text)
}

/// An answer as the model reads it.
fn spoken(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The result of a call that a model asked for when it had to answer: there is no entry that tells of it.
pub fn not_made(call: &str, limit: &str) -> CallResult {
    CallResult::told(call, "No more calls are made", Some(limit))
}

/// The result that an answer is for the call that waited for it: what somebody said, or that they did not let it run. None
/// where it runs.
pub fn result_of_answer(pending: &Pending, answer: &Value) -> Option<CallResult> {
    match after_answer(pending, answer) {
        Phase::Done(result) => Some(*result),
        _ => None,
    }
}

/// The result of a question that somebody does not want to answer.
pub fn declined(pending: &Pending) -> CallResult {
    CallResult::told(&pending.call, NOT_ANSWERED, Some(DECLINED))
}

/// What cannot be read was never let in; it lets nothing run.
pub(super) fn decision(answer: &Value) -> Decision {
    let read = serde_json::from_value(answer.clone());
    read.unwrap_or(Decision::Reject { text: None })
}

pub(super) fn after_answer(pending: &Pending, answer: &Value) -> Phase {
    let done =
        |text: String, code| Phase::Done(Box::new(CallResult::told(&pending.call, text, code)));
    let cleared = |arguments| {
        Phase::Cleared(Cleared {
            arguments,
            definition: pending.definition.clone(),
        })
    };
    if pending.kind == PendingKind::Question {
        return done(spoken(answer), None);
    }
    match decision(answer) {
        Decision::Approve | Decision::Always => cleared(pending.arguments.clone()),
        Decision::Edit { arguments } => cleared(Value::Object(arguments)),
        Decision::Respond { text } => done(text, None),
        Decision::Reject { text } => {
            let why = match text {
                Some(text) => format!("{NOT_ALLOWED}: {text}"),
                None => NOT_ALLOWED.to_owned(),
            };
            done(why, Some(REJECTED))
        }
    }
}
