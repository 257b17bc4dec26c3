//! Where a run stands, made from its journal, and what is to be done next. The same journal always gives the same state,
//! whoever reads it and whenever.

mod decided;

pub use decided::{DECLINED, REJECTED, declined, not_made, result_of_answer, why_rejected};

use crate::entry::{Began, CallResult, Decision, Ending, Entry, Pending, Status};
use crate::limits::{AtLimit, Limits, Reached};
use crate::skill::Offered;
use decided::{after_answer, decision};
use providers::{Call, Said, Stop, ToolResult, Turn, Usage};
use serde_json::Value;
use std::collections::BTreeMap;

/// A call that the model asked for in its last turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    pub call: Call,
    pub phase: Phase,
}

/// A tool that was found for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    pub tool: String,
    /// What of the request it is for, where the built-in planner chose it.
    pub part: Option<String>,
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    New,
    Waiting(Box<Pending>),
    Cleared(Cleared),
    Started,
    Done(Box<CallResult>),
}

/// What somebody let run: a call with these arguments, of the tool as it was then.
#[derive(Debug, Clone, PartialEq)]
pub struct Cleared {
    pub arguments: Value,
    /// The hash of the tool; none in journals that are older than it.
    definition: Option<String>,
}

impl Cleared {
    pub fn is_of(&self, definition: &str) -> bool {
        self.definition.as_deref().is_none_or(|it| it == definition)
    }
}

impl Phase {
    fn may_start(&self) -> bool {
        matches!(self, Phase::New | Phase::Cleared(_))
    }
}

#[derive(Debug, Clone, Default)]
pub struct State {
    /// How many entries it is made of.
    pub seq: u64,
    pub began: Option<Box<Began>>,
    pub said: Vec<Said>,
    pub open: Vec<Open>,
    /// Tools that were found for the request.
    pub planned: Option<Vec<Planned>>,
    /// What of the request nothing was found for.
    pub left: Vec<String>,
    /// Skills that the model is told of.
    pub skills: Vec<Offered>,
    /// Tools that somebody let run for the rest of the run, and what they were then.
    always: BTreeMap<String, Cleared>,
    pub steps: u64,
    pub calls: u64,
    pub calls_by_tool: BTreeMap<String, u64>,
    pub usage: Usage,
    pub cost: Option<f64>,
    /// Where in `said` what this run was asked stands: others may have come before it.
    pub request_at: usize,
    /// Whether documents were looked for that fit the request, whatever came of it.
    pub is_retrieved: bool,
    /// Whether the model has read what somebody else may have written.
    pub is_tainted: bool,
    pub corrections: u64,
    pub limited: Option<(String, String)>,
    pub cancelled_by: Option<String>,
    pub ending: Option<Box<Ending>>,
    /// What the model said when it had to answer.
    last_word: Option<String>,
    repeats: u64,
    began_at: i64,
    waited_ms: i64,
    waiting_since: Option<i64>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The model is asked.
    Think,
    /// Some of the open calls can go on.
    Act,
    /// Somebody has to answer.
    Wait,
    /// The model has answered.
    Conclude(String),
    /// It may not go on as before.
    Limit(Reached),
    Cancel(String),
    Over,
}

impl State {
    /// The state that a journal leads to: entries with their times.
    pub fn of<'a>(entries: impl IntoIterator<Item = (i64, &'a Entry)>) -> Self {
        let mut state = State::default();
        for (at, entry) in entries {
            state.apply(at, entry);
        }
        state
    }

    pub fn apply(&mut self, at: i64, entry: &Entry) {
        self.seq += 1;
        match entry {
            Entry::Began(began) => {
                self.said.clone_from(&began.before);
                self.is_tainted = began.is_tainted;
                self.request_at = self.said.len();
                self.said.push(Said::User(began.input.clone()));
                self.began_at = at;
                self.began = Some(began.clone());
            }
            Entry::Plan {
                tools, parts, left, ..
            } => {
                self.left.clone_from(left);
                let planned = tools.iter().enumerate().map(|(place, tool)| Planned {
                    tool: tool.clone(),
                    part: parts.get(place).cloned(),
                });
                self.planned = Some(planned.collect());
            }
            Entry::Skills { skills } => self.skills.clone_from(skills),
            Entry::Shown { text, is_trusted } => {
                self.is_retrieved = true;
                self.is_tainted |= !is_trusted;
                self.said.push(Said::User(text.clone()));
            }
            Entry::Turn { turn, cost } => self.turned(turn, *cost),
            Entry::Started { call, .. } => self.started(call),
            Entry::Result(result) => {
                self.is_tainted |= result.is_untrusted;
                // A result that comes late for a call that has one is not counted: what the model was told stays as it was.
                let open = self.open_call(&result.call, |phase| !matches!(phase, Phase::Done(_)));
                if let Some(open) = open {
                    open.phase = Phase::Done(result.clone());
                }
            }
            Entry::Asked(pending) => {
                if let Some(open) = self.open_call(&pending.call, Phase::may_start) {
                    open.phase = Phase::Waiting(pending.clone());
                }
            }
            Entry::Answered {
                request_id, answer, ..
            } => self.answered(request_id, answer),
            Entry::Declined { request_id, .. } => {
                if let Some((pending, open)) = self.waiting(request_id) {
                    open.phase = Phase::Done(Box::new(declined(&pending)));
                }
            }
            Entry::Corrected { text } => {
                self.corrections += 1;
                self.last_word = None;
                self.said.push(Said::User(text.clone()));
            }
            // Why there are no documents.
            Entry::Note { code, .. } => self.is_retrieved |= code.starts_with("retrieval_"),
            Entry::Limited { code, message } => {
                self.limited = Some((code.clone(), message.clone()));
                self.said.push(Said::User(format!(
                    "{message}. Answer now with what you have, and say what is missing."
                )));
            }
            Entry::CancelAsked { by } => self.cancelled_by = Some(by.clone()),
            Entry::Ended(ending) => self.ending = Some(ending.clone()),
        }
        self.close_turn();
        self.keep_time(at);
    }

    fn turned(&mut self, turn: &Turn, cost: Option<f64>) {
        self.steps += 1;
        add(&mut self.usage, &turn.usage);
        if let Some(cost) = cost {
            *self.cost.get_or_insert(0.0) += cost;
        }
        let before = self.said.iter().rev().find_map(|said| match said {
            Said::Model(turn) => Some(&turn.calls),
            _ => None,
        });
        let same = |before: &Vec<Call>| {
            let pairs = before.iter().zip(&turn.calls);
            before.len() == turn.calls.len()
                && pairs
                    .into_iter()
                    .all(|(a, b)| (&a.name, &a.arguments) == (&b.name, &b.arguments))
        };
        let is_again = !turn.calls.is_empty() && before.is_some_and(same);
        self.repeats = if is_again { self.repeats + 1 } else { 0 };
        // Who was told to answer and calls all the same is not obeyed; and no call stays without a result.
        let limited = self.limited.as_ref().map(|(code, _)| code.as_str());
        self.last_word = limited.map(|_| turn.text.clone());
        let open = |call: &Call| Open {
            call: call.clone(),
            phase: match limited {
                Some(code) => Phase::Done(Box::new(not_made(&call.id, code))),
                None => Phase::New,
            },
        };
        self.open = turn.calls.iter().map(open).collect();
        self.said.push(Said::Model(turn.clone()));
    }

    /// An open call by its id, as far as it has come so far and no further. Journals may hold turns with one id twice.
    fn open_call(&mut self, id: &str, fits: impl Fn(&Phase) -> bool) -> Option<&mut Open> {
        let mut open = self.open.iter_mut();
        open.find(|open| open.call.id == id && fits(&open.phase))
    }

    fn started(&mut self, call: &str) {
        // What has started or is done does not start again.
        let Some(open) = self.open_call(call, Phase::may_start) else {
            return;
        };
        open.phase = Phase::Started;
        let name = open.call.name.clone();
        self.calls += 1;
        *self.calls_by_tool.entry(name).or_default() += 1;
    }

    /// The call that waits for an answer to this, and what is asked.
    fn waiting(&mut self, request_id: &str) -> Option<(Box<Pending>, &mut Open)> {
        self.open.iter_mut().find_map(|open| match &open.phase {
            Phase::Waiting(pending) if pending.request_id == request_id => {
                Some((pending.clone(), open))
            }
            _ => None,
        })
    }

    fn answered(&mut self, request_id: &str, answer: &Value) {
        let Some((pending, open)) = self.waiting(request_id) else {
            return;
        };
        open.phase = after_answer(&pending, answer);
        let name = open.call.name.clone();
        if let Phase::Cleared(cleared) = open.phase.clone()
            && decision(answer) == Decision::Always
        {
            self.always.insert(name, cleared);
        }
    }

    /// Once every call has its result, the model is told of all of them, in the order that it asked in.
    fn close_turn(&mut self) {
        let is_done = |open: &Open| matches!(open.phase, Phase::Done(_));
        if self.open.is_empty() || !self.open.iter().all(is_done) {
            return;
        }
        let results = self.open.drain(..).filter_map(|open| match open.phase {
            Phase::Done(result) => Some(ToolResult {
                call_id: open.call.id,
                name: open.call.name,
                text: result.text,
                is_error: result.is_error,
                code: result.code,
            }),
            _ => None,
        });
        let results = Said::Results(results.collect());
        self.said.push(results);
    }

    /// What the model is told of calls whose results nobody knows, where the run ended with some.
    pub fn unknown(&self) -> Option<Said> {
        let result = |open: &Open| {
            let unknown = "The run ended before anything was known of this call";
            let (text, is_error, code) = match &open.phase {
                Phase::Done(result) => (&*result.text, result.is_error, result.code.clone()),
                _ => (unknown, true, None),
            };
            ToolResult {
                call_id: open.call.id.clone(),
                name: open.call.name.clone(),
                text: text.to_owned(),
                is_error,
                code,
            }
        };
        let results: Vec<ToolResult> = self.open.iter().map(result).collect();
        (!results.is_empty()).then_some(Said::Results(results))
    }

    fn keep_time(&mut self, at: i64) {
        match (self.status(), self.waiting_since) {
            (Status::NeedsInput, None) => self.waiting_since = Some(at),
            (Status::NeedsInput, Some(_)) => {}
            (_, Some(since)) => {
                self.waited_ms += at - since;
                self.waiting_since = None;
            }
            (_, None) => {}
        }
    }

    pub fn status(&self) -> Status {
        if let Some(ending) = &self.ending {
            return ending.status;
        }
        match self.waits() {
            true => Status::NeedsInput,
            false => Status::Running,
        }
    }

    /// Whether nothing can be done before somebody answers.
    fn waits(&self) -> bool {
        let waiting = |open: &Open| matches!(open.phase, Phase::Waiting(_));
        let rests = |open: &Open| matches!(open.phase, Phase::Waiting(_) | Phase::Done(_));
        self.cancelled_by.is_none() && self.open.iter().any(waiting) && self.open.iter().all(rests)
    }

    pub fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.open.iter().filter_map(|open| match &open.phase {
            Phase::Waiting(pending) => Some(&**pending),
            _ => None,
        })
    }

    /// Calls of which it is not known how they ended; only whoever runs them may have more of them than none.
    pub fn in_flight(&self) -> impl Iterator<Item = &Call> {
        let started = |open: &&Open| open.phase == Phase::Started;
        self.open.iter().filter(started).map(|open| &open.call)
    }

    /// What somebody let run of a tool for the rest of the run.
    pub fn always(&self, tool: &str) -> Option<&Cleared> {
        self.always.get(tool)
    }

    /// Seconds since it began, without those that somebody was waited for.
    pub fn seconds_spent(&self, now: i64) -> f64 {
        let waiting = self.waiting_since.map_or(0, |since| now - since);
        let spent = now - self.began_at - self.waited_ms - waiting;
        spent.max(0) as f64 / 1_000.0
    }

    /// When it began, in milliseconds.
    pub fn began_at(&self) -> i64 {
        self.began_at
    }

    /// Why the model's last turn ended.
    pub fn last_stop(&self) -> Option<&Stop> {
        self.said.iter().rev().find_map(|said| match said {
            Said::Model(turn) => Some(&turn.stop),
            _ => None,
        })
    }

    pub fn limits(&self) -> Limits {
        let began = self.began.as_ref();
        began.map(|began| began.limits.clone()).unwrap_or_default()
    }

    pub fn next(&self, now: i64) -> Next {
        if self.ending.is_some() {
            return Next::Over;
        }
        if let Some(by) = &self.cancelled_by {
            return Next::Cancel(by.clone());
        }
        if self.waits() {
            return Next::Wait;
        }
        if let Some(reached) = self.out_of_time(now) {
            return Next::Limit(reached);
        }
        if !self.open.is_empty() {
            return Next::Act;
        }
        if let Some(text) = &self.last_word {
            return Next::Conclude(text.clone());
        }
        // A long turn of the provider's own goes on where it is asked again.
        if let Some(Said::Model(turn)) = self.said.last().filter(|said| !is_paused(said)) {
            return Next::Conclude(turn.text.clone());
        }
        match self.reached() {
            Some(reached) => Next::Limit(reached),
            None => Next::Think,
        }
    }

    fn out_of_time(&self, now: i64) -> Option<Reached> {
        let most = self.limits().seconds_max?;
        (self.seconds_spent(now) >= most)
            .then(|| Reached::hard("max_seconds", format!("The run took {most} seconds")))
    }

    /// Before the model is asked again.
    fn reached(&self) -> Option<Reached> {
        let limits = self.limits();
        let tokens = self.usage.input_tokens + self.usage.output_tokens;
        if let Some(most) = limits.tokens_max.filter(|most| tokens >= *most) {
            let why = format!("The run used {tokens} tokens of {most}");
            return Some(Reached::hard("token_budget", why));
        }
        if let Some((most, cost)) = limits.cost_max.zip(self.cost).filter(|(m, c)| c >= m) {
            let why = format!("The run cost {cost:.4} of {most:.4}");
            return Some(Reached::hard("cost_budget", why));
        }
        if self.limited.is_some() {
            return None;
        }
        let (steps, calls) = (limits.steps_max, limits.calls_max);
        let reached = match () {
            () if self.steps >= steps => {
                let why = format!("The run took {}", counted(steps, "step"));
                ("max_steps", why)
            }
            () if self.calls >= calls => {
                let why = format!("The run made {}", counted(calls, "call"));
                ("max_tool_calls", why)
            }
            () if self.repeats >= limits.repeats_max => {
                let times = self.repeats + 1;
                let why = format!("The same calls were made {times} times in a row");
                ("repetition", why)
            }
            () => return None,
        };
        Some(match limits.at_limit {
            AtLimit::Answer => Reached::soft(reached.0, reached.1),
            AtLimit::Fail => Reached::hard(reached.0, reached.1),
        })
    }
}

/// `1 call`, `2 calls`.
pub fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

fn is_paused(said: &Said) -> bool {
    matches!(said, Said::Model(turn) if turn.stop == Stop::Paused)
}

fn add(all: &mut Usage, one: &Usage) {
    all.input_tokens += one.input_tokens;
    all.output_tokens += one.output_tokens;
    all.cache_read_tokens += one.cache_read_tokens;
    all.cache_write_tokens += one.cache_write_tokens;
    all.reasoning_tokens += one.reasoning_tokens;
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
