//! What followers of a run are told: its journal as events, and the text of a turn while it is written. The id of an event
//! says how much its reader has, so that they can go on from there, also at another server.

use agent::entry::{CallResult, Ending, Entry, Status};
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

/// How much of a run somebody has been told: entries, bytes of the text after them, events of the entry after them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    pub seq: u64,
    text: usize,
    events: usize,
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
        let mut next = || parts.next().map(str::parse);
        let seq = next()?.ok()?;
        let text = next().map_or(Some(0), Result::ok)?;
        let events = next().map_or(Some(0), Result::ok)?;
        let is_whole = parts.next().is_none();
        is_whole.then_some(Position {
            seq,
            text: usize::try_from(text).ok()?,
            events: usize::try_from(events).ok()?,
        })
    }

    fn id(self) -> Option<String> {
        Some(match (self.text, self.events) {
            (0, 0) => self.seq.to_string(),
            (text, 0) => format!("{}.{text}", self.seq),
            (text, events) => format!("{}.{text}.{events}", self.seq),
        })
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
}

/// The tools of calls, and the calls of questions: what is told later is told with these.
#[derive(Debug, Default)]
struct Names {
    tools: HashMap<String, String>,
    asked: HashMap<String, String>,
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

    /// What the next entry has to tell.
    pub(crate) fn entry(&mut self, entry: &Entry) -> Vec<RunEvent> {
        self.names.learn(entry);
        let mut told = Vec::new();
        if self.seq >= self.position.seq {
            if let Entry::Turn { turn, .. } = entry {
                told.extend(self.text(&turn.text));
            }
            let events = self.names.events(entry);
            let last = events.len().saturating_sub(1);
            for (i, (event, data)) in events.into_iter().enumerate() {
                if i < self.position.events {
                    continue;
                }
                let after = match i == last {
                    true => Position::at(self.seq + 1),
                    false => Position {
                        events: i + 1,
                        ..self.position
                    },
                };
                told.push(RunEvent {
                    id: after.id(),
                    event,
                    data,
                });
            }
            self.position = Position::at(self.seq + 1);
        }
        self.seq += 1;
        self.is_over |= matches!(entry, Entry::Ended(_));
        told
    }

    /// What was told of the turn that is being written counts no more.
    pub(crate) fn reset(&mut self) -> Option<RunEvent> {
        if self.seq < self.position.seq || self.position.text == 0 {
            return None;
        }
        self.position.text = 0;
        Some(RunEvent {
            id: self.position.id(),
            event: "text_reset",
            data: json!({}),
        })
    }

    /// What is written so far of the turn that follows the entries it knows.
    pub(crate) fn text(&mut self, text: &str) -> Option<RunEvent> {
        if self.seq < self.position.seq {
            return None;
        }
        let new = text.get(self.position.text..)?;
        if new.is_empty() {
            return None;
        }
        self.position.text = text.len();
        Some(RunEvent {
            id: self.position.id(),
            event: "text_delta",
            data: json!({"text": new}),
        })
    }
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
                let (asked, call) = (pending.request_id.clone(), pending.call.clone());
                self.asked.insert(asked, call);
            }
            _ => {}
        }
    }

    /// What an entry has to tell besides a turn's text.
    fn events(&self, entry: &Entry) -> Vec<(&'static str, Value)> {
        let event = match entry {
            Entry::Began(_) | Entry::Shown { .. } => return Vec::new(),
            Entry::Plan { tools, because } => ("plan", json!({"tools": tools, "because": because})),
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
                return calls.map(|data| ("tool_call", data)).collect();
            }
            Entry::Started { call, arguments } => {
                let tool = self.tools.get(call);
                let data = json!({"call_id": call, "tool": tool, "arguments": arguments});
                ("tool_started", data)
            }
            Entry::Result(result) => ("tool_result", self.result(result)),
            Entry::Asked(pending) => ("needs_input", json!(pending)),
            Entry::Answered {
                request_id,
                answer,
                by,
            } => {
                let call = self.asked.get(request_id);
                let tool = call.and_then(|call| self.tools.get(call));
                let data = json!({"request_id": request_id, "answer": answer, "by": by, "call_id": call, "tool": tool});
                ("answered", data)
            }
            Entry::Corrected { text } => ("note", json!({"code": "corrected", "message": text})),
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
mod tests {
    use super::*;
    use agent::entry::RunError;
    use providers::{Turn, Usage};

    fn journal() -> Vec<Entry> {
        let call = |id: &str| Call {
            id: id.to_owned(),
            name: "t".to_owned(),
            arguments: Arguments::Json(json!({})),
        };
        vec![
            Entry::Plan {
                tools: vec!["t".to_owned()],
                because: String::new(),
            },
            Entry::Turn {
                turn: Box::new(Turn {
                    text: "가나다".to_owned(),
                    calls: vec![call("a"), call("b")],
                    ..Turn::default()
                }),
                cost: None,
            },
            Entry::refused(&call("a"), "timeout", "late"),
            Entry::refused(&call("b"), "timeout", "late"),
            Entry::Ended(Box::new(Ending {
                status: Status::Failed,
                output: None,
                value: None,
                error: Some(RunError::new("max_steps", "enough")),
                usage: Usage::default(),
                cost: None,
            })),
        ]
    }

    /// What somebody is told who goes on from `position`; `written` is what they see of the turn before it is stored.
    fn told(position: Position, written: &[&str]) -> Vec<RunEvent> {
        let mut teller = Teller::new(position);
        let mut all = Vec::new();
        for entry in journal() {
            if matches!(entry, Entry::Turn { .. }) {
                all.extend(written.iter().filter_map(|text| teller.text(text)));
            }
            all.extend(teller.entry(&entry));
        }
        assert!(teller.is_over());
        all
    }

    #[test]
    fn whoever_goes_on_from_any_event_is_told_the_rest_and_nothing_twice() {
        let all = told(Position::default(), &["가", "가나"]);
        let names: Vec<&str> = all.iter().map(|it| it.event).collect();
        let expected = [
            "plan",
            "text_delta",
            "text_delta",
            "text_delta",
            "tool_call",
            "tool_call",
            "tool_result",
            "tool_result",
            "error",
        ];
        assert_eq!(names, expected);
        for (i, event) in all.iter().enumerate() {
            let position = Position::read(event.id.as_deref().unwrap()).unwrap();
            let rest = told(position, &["가", "가나"]);
            assert_eq!(rest, all[i + 1..], "after {event:?}");
        }
    }

    #[test]
    fn whoever_missed_the_writing_gets_the_text_whole() {
        let all = told(Position::default(), &[]);
        assert_eq!(all[1].data, json!({"text": "가나다"}));
        let position = Position::read("1.3").unwrap();
        assert_eq!(told(position, &[])[0].data, json!({"text": "나다"}));
    }

    #[test]
    fn an_id_that_is_none_is_not_read() {
        for id in ["", "x", "1.x", "1.2.3.4", "-1"] {
            assert_eq!(Position::read(id), None, "{id}");
        }
    }
}
