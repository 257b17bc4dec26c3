//! One row of the log: what was called, by whom, and how it ended.

use crate::day::TIME_MAX;
use crate::error::LogError;
use catalog::tool::Millis;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use uuid::Uuid;

/// How far the id's time and `started_at` may lie apart before the row is refused as a mistake.
const CLOCK_SLACK_MS: Millis = 1_000;

/// A logged call. Names are shared with the catalogue and the caller, so that building one costs few allocations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// A UUIDv7 of the moment the call started; `new_id` makes one. Order and day of a row follow from it.
    pub id: Uuid,
    /// Stored as the id's own millisecond.
    pub started_at: Millis,
    pub status: Status,
    pub tool_name: Arc<str>,
    pub tool_version: i64,
    pub tool_hash: Arc<str>,
    /// The name of the user the call ran for.
    pub caller: Arc<str>,
    pub key: Option<Arc<str>>,
    pub agent: Option<Uuid>,
    pub run: Option<Uuid>,
    pub toolset: Option<Arc<str>>,
    pub transport: Cow<'static, str>,
    pub error_code: Option<Cow<'static, str>>,
    pub elapsed_us: i64,
    /// The replica that ran the call; the log fills it in.
    pub node: Arc<str>,
    /// JSON text, already redacted.
    pub arguments: String,
    /// JSON text.
    pub output: Option<String>,
    /// JSON text of `{"code","message","details"}`.
    pub error: Option<String>,
    /// What the tool printed.
    pub log_text: Option<String>,
    /// The tool that ran, where this one is only another name for it. Counted by limits, not read back.
    #[serde(skip)]
    pub behind: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Started,
    Success,
    Error,
    Cancelled,
    /// The server stopped while the call was running.
    Interrupted,
}

impl Status {
    pub const ALL: [Status; 5] = [
        Status::Started,
        Status::Success,
        Status::Error,
        Status::Cancelled,
        Status::Interrupted,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Started => "started",
            Status::Success => "success",
            Status::Error => "error",
            Status::Cancelled => "cancelled",
            Status::Interrupted => "interrupted",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// The status in a stored row.
    pub(crate) fn stored(name: &str) -> Result<Self, LogError> {
        Self::from_name(name).ok_or_else(|| {
            LogError::damaged(format!("an execution with the unknown status '{name}'"))
        })
    }
}

/// An id for a call that started at this time.
pub fn new_id(started_at: Millis) -> Uuid {
    let millis = u64::try_from(started_at.clamp(0, TIME_MAX)).unwrap_or_default();
    let seconds = millis / 1000;
    let nanos = u32::try_from(millis % 1000 * 1_000_000).unwrap_or_default();
    Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos))
}

/// The millisecond inside a UUIDv7; none for any other id.
pub fn id_time(id: Uuid) -> Option<Millis> {
    if id.get_version_num() != 7 {
        return None;
    }
    i64::try_from(id.as_u128() >> 80)
        .ok()
        .filter(|time| *time <= TIME_MAX)
}

impl Execution {
    /// Makes id and time agree, so that each can stand for the other in every query.
    pub(crate) fn settle_time(&mut self) -> Result<(), LogError> {
        let id = self.id;
        let Some(time) = id_time(id) else {
            return Err(LogError::invalid(format!(
                "execution id {id} is no UUIDv7; make it with executions::new_id"
            )));
        };
        if time.abs_diff(self.started_at) > CLOCK_SLACK_MS.unsigned_abs() {
            let at = self.started_at;
            return Err(LogError::invalid(format!(
                "execution id {id} says {time} ms but started_at is {at} ms; make the id with executions::new_id(started_at)"
            )));
        }
        self.started_at = time;
        Ok(())
    }

    /// Roughly what the row weighs in memory and on disk.
    pub(crate) fn weight(&self) -> usize {
        let long = [&self.output, &self.error, &self.log_text];
        400 + self.arguments.len() + long.into_iter().flatten().map(String::len).sum::<usize>()
    }

    /// The call was cut off by a stop of its server.
    pub(crate) fn mark_interrupted(&mut self) {
        self.status = Status::Interrupted;
        self.error_code = Some(Cow::Borrowed("interrupted"));
        self.error = Some(INTERRUPTED_ERROR.to_owned());
    }
}

pub(crate) const INTERRUPTED_ERROR: &str = r#"{"code":"interrupted","message":"The server stopped while this call was running; whether it took effect is unknown","details":null}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_holds_its_time() {
        for time in [0, 1, 1_794_700_800_123, TIME_MAX] {
            assert_eq!(id_time(new_id(time)), Some(time));
        }
        assert_eq!(id_time(Uuid::new_v4()), None);
        assert_eq!(id_time(Uuid::nil()), None);
    }

    #[test]
    fn status_names_round_trip() {
        for status in Status::ALL {
            assert_eq!(Status::from_name(status.as_str()), Some(status));
            assert_eq!(
                serde_json::to_string(&status).unwrap(),
                format!("\"{}\"", status.as_str())
            );
        }
        assert_eq!(Status::from_name("done"), None);
    }
}
