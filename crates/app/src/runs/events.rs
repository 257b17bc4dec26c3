//! What followers of a run are told: its journal as events, and the text of a turn while it is written. The id of an event
//! says how much its reader has, so that they can go on from there, also at another server.

use super::views::pending_view;
use agent::entry::{CallResult, Ending, Entry, Pending, Status};
use agent::state::{declined, not_made, result_of_answer};
use providers::{Arguments, Call};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use utoipa::ToSchema;

/// One thing that a follower is told.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunEvent {
    /// To go on from; none for what is not kept.
    pub id: Option<String>,
    #[schema(value_type = String, example = "tool_result")]
    pub event: &'static str,
    #[schema(value_type = Object)]
    pub data: Value,
}

/// How much of a run somebody has been told: entries, bytes of the text that is written after them, events of the entry after
/// them. A text may be begun anew, by another try or another server, so the bytes are named with their sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    pub seq: u64,
    text: usize,
    sum: u32,
    events: usize,
    /// The sum of what running calls say of themselves.
    progress: u32,
}

impl Position {
    /// After so many entries.
    pub fn at(seq: u64) -> Self {
        Position {
            seq,
            ..Position::default()
        }
    }

    /// Reads the id of an event.
    pub fn read(id: &str) -> Option<Self> {
        let mut parts = id.split('.');
        let mut next = |radix| match parts.next() {
            Some(part) if part.starts_with('+') => None,
            Some(part) => u64::from_str_radix(part, radix).ok(),
            None => Some(0),
        };
        let position = Position {
            seq: next(10)?,
            text: usize::try_from(next(10)?).ok()?,
            sum: u32::try_from(next(16)?).ok()?,
            events: usize::try_from(next(10)?).ok()?,
            progress: u32::try_from(next(16)?).ok()?,
        };
        parts.next().is_none().then_some(position)
    }

    pub(super) fn id(self) -> String {
        let whole = format!(
            "{}.{}.{:x}.{}.{:x}",
            self.seq, self.text, self.sum, self.events, self.progress
        );
        let mut short = whole.as_str();
        while let Some(rest) = short.strip_suffix(".0") {
            short = rest;
        }
        short.to_owned()
    }
}

/// Turns entries into events for one follower.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    position: Position,
    /// How many entries it has been told.
    seq: u64,
    is_over: bool,
    names: Names,
    /// What running calls have said of themselves, as far as it was told.
    progress: Vec<(String, String)>,
}

/// The tools of calls, and what somebody was asked about them: what is told later is told with these.
#[derive(Debug, Default)]
struct Names {
    tools: HashMap<String, String>,
    asked: HashMap<String, Box<Pending>>,
    /// The limit after which no more calls are made.
    limit: Option<String>,
}

impl Teller {
    /// One whose reader knows the run up to `position`. It is told every entry from the first on, and passes on what is new.
    pub(crate) fn new(position: Position) -> Self {
        Teller {
            position,
            ..Teller::default()
        }
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether its reader knows more than it has been told itself.
    fn is_behind(&self) -> bool {
        self.seq < self.position.seq
    }

    /// What the next entry has to tell.
    pub(crate) fn entry(&mut self, entry: &Entry) -> Vec<RunEvent> {
        self.names.learn(entry);
        let mut told = Vec::new();
        if !self.is_behind() {
            let ends_text = matches!(entry, Entry::Turn { .. } | Entry::Note { .. });
            match entry {
                Entry::Turn { turn, .. } => told.extend(self.text(&turn.text, true)),
                // What was written before it came to nothing.
                Entry::Note { .. } => told.extend(self.reset()),
                _ => {}
            }
            let mut after = Position::at(self.seq + 1);
            if !ends_text {
                // Somebody added it while a turn was being written.
                (after.text, after.sum) = (self.position.text, self.position.sum);
            }
            let events = self.names.events(entry);
            let last = events.len().saturating_sub(1);
            for (i, (event, data)) in events.into_iter().enumerate() {
                if i < self.position.events {
                    continue;
                }
                let known = match i == last {
                    true => after,
                    false => Position {
                        events: i + 1,
                        progress: 0,
                        ..self.position
                    },
                };
                told.push(RunEvent {
                    id: Some(known.id()),
                    event,
                    data,
                });
            }
            self.position = after;
        }
        self.seq += 1;
        self.is_over |= matches!(entry, Entry::Ended(_));
        told
    }

    /// What was told of the turn that is being written counts no more.
    pub(crate) fn reset(&mut self) -> Option<RunEvent> {
        if self.is_behind() || self.position.text == 0 {
            return None;
        }
        (self.position.text, self.position.sum) = (0, 0);
        Some(RunEvent {
            id: Some(self.position.id()),
            event: "text_reset",
            data: json!({}),
        })
    }

    /// What is written so far of the turn that follows the entries it knows.
    pub(crate) fn writing(&mut self, text: &str) -> Vec<RunEvent> {
        self.text(text, false)
    }

    fn text(&mut self, text: &str, is_whole: bool) -> Vec<RunEvent> {
        // Where nothing is written, it may be written elsewhere: the turn tells.
        if self.is_behind() || (text.is_empty() && !is_whole) {
            return Vec::new();
        }
        let known = text.get(..self.position.text);
        let is_same = known.is_some_and(|it| crc32fast::hash(it.as_bytes()) == self.position.sum);
        let mut told = Vec::new();
        if !is_same {
            told.extend(self.reset());
        }
        let new = text.get(self.position.text..).unwrap_or_default();
        if !new.is_empty() {
            let data = json!({"text": new});
            self.position.text = text.len();
            self.position.sum = crc32fast::hash(text.as_bytes());
            told.push(RunEvent {
                id: Some(self.position.id()),
                event: "text_delta",
                data,
            });
        }
        told
    }

    /// What running calls say of themselves: the newest line of each.
    pub(crate) fn progress(&mut self, lines: &[(String, String)]) -> Vec<RunEvent> {
        if self.is_behind() || lines == self.progress {
            return Vec::new();
        }
        let before = std::mem::replace(&mut self.progress, lines.to_vec());
        let sum = sum_of(lines);
        // Who comes back was told the same.
        if sum == self.position.progress {
            return Vec::new();
        }
        self.position.progress = sum;
        let new = lines.iter().filter(|line| !before.contains(line));
        let event = |line: &(String, String)| RunEvent {
            id: None,
            event: "progress",
            data: json!({"call_id": line.0, "message": line.1}),
        };
        let mut told: Vec<RunEvent> = new.map(event).collect();
        if let Some(last) = told.last_mut() {
            last.id = Some(self.position.id());
        }
        told
    }
}

fn sum_of(lines: &[(String, String)]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for (call, line) in lines {
        hasher.update(call.as_bytes());
        hasher.update(&[0]);
        hasher.update(line.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize()
}

impl Names {
    fn learn(&mut self, entry: &Entry) {
        match entry {
            Entry::Turn { turn, .. } => {
                let calls = turn.calls.iter();
                self.tools = calls
                    .map(|call| (call.id.clone(), call.name.clone()))
                    .collect();
                self.asked.clear();
            }
            Entry::Asked(pending) => {
                self.asked
                    .insert(pending.request_id.clone(), pending.clone());
            }
            Entry::Limited { code, .. } => self.limit = Some(code.clone()),
            _ => {}
        }
    }

    /// What an entry has to tell besides a turn's text. Every call that is told of gets a result, whoever or whatever it
    /// comes from: nobody waits for one that never comes.
    fn events(&self, entry: &Entry) -> Vec<(&'static str, Value)> {
        let event = match entry {
            Entry::Began(_) | Entry::Shown { .. } => return Vec::new(),
            Entry::Plan { tools, because, .. } => {
                ("plan", json!({"tools": tools, "because": because}))
            }
            Entry::Skills { skills } => {
                let names: Vec<&str> = skills.iter().map(|it| it.name.as_str()).collect();
                ("skills", json!({"skills": names}))
            }
            Entry::Turn { turn, .. } => {
                let call = |call: &Call| {
                    let arguments = match &call.arguments {
                        Arguments::Json(value) => value.clone(),
                        Arguments::Bad(text) => json!(text),
                    };
                    json!({"call_id": call.id, "tool": call.name, "arguments": arguments})
                };
                let calls = turn.calls.iter().map(call);
                let refused = self.limit.iter().flat_map(|limit| {
                    let results = turn.calls.iter().map(move |call| not_made(&call.id, limit));
                    results.map(|it| ("tool_result", self.result(&it)))
                });
                let calls = calls.map(|data| ("tool_call", data));
                return calls.chain(refused).collect();
            }
            Entry::Started { call, arguments } => {
                let tool = self.tools.get(call);
                let data = json!({"call_id": call, "tool": tool, "arguments": arguments});
                ("tool_started", data)
            }
            Entry::Result(result) => ("tool_result", self.result(result)),
            Entry::Asked(pending) => ("needs_input", json!(pending_view(pending))),
            Entry::Answered {
                request_id,
                answer,
                by,
            } => {
                let result = |it: &Pending| result_of_answer(it, answer);
                return self.answered(request_id, Some(answer), by, result);
            }
            Entry::Declined { request_id, by } => {
                return self.answered(request_id, None, by, |it| Some(declined(it)));
            }
            Entry::Corrected { text } => {
                // It speaks to the model, and others read it.
                let message = format!("The model was asked again: {text}");
                ("note", json!({"code": "corrected", "message": message}))
            }
            Entry::Note { code, message } | Entry::Limited { code, message } => {
                ("note", json!({"code": code, "message": message}))
            }
            Entry::CancelAsked { by } => {
                let message = format!("'{by}' asked to stop");
                ("note", json!({"code": "cancel_asked", "message": message}))
            }
            Entry::Ended(ending) => ended(ending),
        };
        vec![event]
    }

    /// That somebody answered, or declined to, and the result where that is one.
    fn answered(
        &self,
        request_id: &str,
        answer: Option<&Value>,
        by: &str,
        result: impl FnOnce(&Pending) -> Option<CallResult>,
    ) -> Vec<(&'static str, Value)> {
        let asked = self.asked.get(request_id);
        let call = asked.map(|it| &it.call);
        let tool = call.and_then(|call| self.tools.get(call));
        let mut data = json!({"request_id": request_id, "answer": answer, "by": by, "call_id": call, "tool": tool});
        if answer.is_none() {
            data["declined"] = json!(true);
        }
        let result = asked.and_then(|it| result(it));
        let result = result.map(|it| ("tool_result", self.result(&it)));
        [("answered", data)].into_iter().chain(result).collect()
    }

    fn result(&self, result: &CallResult) -> Value {
        let mut data = json!({
            "call_id": result.call, "tool": self.tools.get(&result.call), "text": result.text,
            "is_error": result.is_error, "elapsed": result.elapsed,
        });
        if let Some(code) = &result.code {
            data["code"] = json!(code);
        }
        if let Some(id) = &result.execution_id {
            data["execution_id"] = json!(id);
        }
        if result.is_cut {
            data["is_cut"] = json!(true);
        }
        data
    }
}

fn ended(ending: &Ending) -> (&'static str, Value) {
    let event = match ending.status {
        Status::Done => "done",
        _ => "error",
    };
    let mut data = json!(ending);
    if let Some(error) = &ending.error {
        data["code"] = json!(error.code);
        data["message"] = json!(error.message);
    }
    (event, data)
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
