//! What comes of a call that waited for somebody: what they said is its result, or it may run, or it never does.

use super::{Cleared, Phase};
use crate::entry::{CallResult, Decision, Pending, PendingKind};
use serde_json::Value;

/// How what is told of a call begins that somebody did not want.
pub const REJECTED: &str = "The person who was asked did not let this call run";

/// What is told of a question that somebody does not want to answer.
pub const DECLINED: &str = "The person who was asked does not want to answer this";

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
    CallResult::told(&pending.call, DECLINED, Some("declined"))
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
                Some(text) => format!("{REJECTED}: {text}"),
                None => REJECTED.to_owned(),
            };
            done(why, Some("rejected"))
        }
    }
}
