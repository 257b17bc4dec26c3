//! Whether a server that refuses a request means that it does not know our session any more. Only then did the request
//! certainly not run, so what is taken for it must be its words, not merely something about a session.

use crate::wire::RpcError;
use serde_json::Value;

/// How servers say it, after whatever they call the status.
const WORDS: [&str; 16] = [
    "session not found",
    "session id not found",
    "session does not exist",
    "session expired",
    "session has expired",
    "session terminated",
    "session has been terminated",
    "session is not initialized",
    "invalid session",
    "invalid or missing session",
    "invalid or expired session",
    "unknown session",
    "no such session",
    "no valid session",
    "could not find session",
    "invalid mcp-session-id",
];

/// What stands before it.
const STATUSES: [&str; 4] = ["bad request", "not found", "error", "unauthorized"];

/// Why there is no connection any more.
pub(super) fn unknown(status: u16) -> String {
    format!("it does not know the session any more (HTTP {status})")
}

/// A refusal, taken apart.
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
    /// The body where it is JSON.
    pub(super) said: &'a Value,
    pub(super) error: Option<&'a RpcError>,
}

impl Refusal<'_> {
    /// Whether the session is unknown, and the request was not looked at.
    pub(super) fn is_of_session(&self) -> bool {
        if self.is_answer() {
            return false;
        }
        match self.status {
            404 => true,
            // Some say it with the wrong status.
            400 => match self.error {
                Some(error) => error.message.to_ascii_lowercase().contains("session"),
                None => self.words().is_some_and(|words| speaks(&words)),
            },
            _ => false,
        }
    }

    /// Our ids are numbers from 1: whoever gives one back has read what was asked, and may have done it.
    fn is_answer(&self) -> bool {
        self.error.is_some() && self.said["id"].as_u64().is_some_and(|id| id > 0)
    }

    /// What it says to people.
    fn words(&self) -> Option<String> {
        let members = ["error", "message", "detail"];
        match self.said {
            Value::Object(said) => {
                let words = members.iter().find_map(|name| said.get(*name)?.as_str());
                words.map(str::to_owned)
            }
            Value::String(words) => Some(words.clone()),
            _ => Some(String::from_utf8_lossy(self.body).into_owned()),
        }
    }
}

/// Whether these words are that a session is not known.
pub(super) fn speaks(words: &str) -> bool {
    let words = words.trim().to_ascii_lowercase();
    let said = words
        .split_once(':')
        .filter(|(status, _)| STATUSES.contains(status))
        .map_or(words.as_str(), |(_, rest)| rest.trim_start());
    WORDS.iter().any(|known| said.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is_of_session(status: u16, body: &str) -> bool {
        let said = serde_json::from_str::<Value>(body).unwrap_or_default();
        let error = said.get("error").cloned();
        let error = error.and_then(|error| serde_json::from_value::<RpcError>(error).ok());
        let refusal = Refusal {
            status,
            body: body.as_bytes(),
            said: &said,
            error: error.as_ref(),
        };
        refusal.is_of_session()
    }

    #[test]
    fn only_known_words_and_refusals_of_nobody_are_of_the_session() {
        let rpc = |id: Value, message: &str| {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": message}})
                .to_string()
        };
        for (status, body) in [
            (404, String::new()),
            (404, rpc(Value::Null, "Session not found")),
            (404, rpc(json!("server-error"), "Session not found")),
            (
                400,
                rpc(Value::Null, "Bad Request: No valid session ID provided"),
            ),
            (400, "Bad Request: Session not found".to_owned()),
            (400, "Invalid session ID\n".to_owned()),
            (400, json!({"error": "Unknown session abc"}).to_string()),
        ] {
            assert!(is_of_session(status, &body), "{status} {body}");
        }
        for (status, body) in [
            (404, rpc(json!(7), "order 17 not found")),
            (404, rpc(json!(7), "Session not found")),
            (400, rpc(json!(7), "Session not found")),
            (400, rpc(Value::Null, "no version")),
            (400, "could not close the database session".to_owned()),
            (400, json!({"message": "the session is locked"}).to_string()),
            (400, String::new()),
            (500, "Session not found".to_owned()),
        ] {
            assert!(!is_of_session(status, &body), "{status} {body}");
        }
    }
}
