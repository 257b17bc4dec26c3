//! What a provider says instead of an answer, as an error of ours. The same sentence may come with a status of HTTP, as an
//! event in the middle of a stream, or in the body of what looks like a success.

use crate::error::{Class, Error};
use fetch::{HeaderMap, quoted, retry_after};
use serde_json::Value;
use std::time::Duration;

/// What is repeated of somebody else's words.
const MESSAGE_CHARS_MAX: usize = 500;

/// Words for "no money": the same status as being too fast, but waiting does not help.
const QUOTA: &[&str] = &[
    "insufficient_quota",
    "credit_balance_exhausted",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "enforced_spend_limit_reached",
];
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "request_too_large",
];
const FILTERED: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "data_inspection_failed",
    "sensitive",
];
const AUTH: &[&str] = &[
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "account_deactivated",
];
const RATE: &[&str] = &["rate_limit_error", "rate_limit_exceeded", "slow_down"];
const OVERLOADED: &[&str] = &[
    "overloaded_error",
    "api_error",
    "server_error",
    "internal_error",
    "engine_overloaded",
    "network_error",
];
const TIMEOUT: &[&str] = &["timeout_error"];
const BAD: &[&str] = &[
    "invalid_request_error",
    "not_found_error",
    "model_not_found",
];

/// Sentences that say more than the code they come with.
const SENTENCES: &[(&str, Class)] = &[
    ("credit balance is too low", Class::Quota),
    ("exceeded your current quota", Class::Quota),
    ("prompt is too long", Class::TooLong),
    ("maximum context length", Class::TooLong),
    ("exceed context limit", Class::TooLong),
    ("exceeds the context window", Class::TooLong),
    ("exceeds the available context size", Class::TooLong),
    ("input is too long", Class::TooLong),
];

/// The error that an answer with a status other than success stands for.
pub(crate) fn answered(status: u16, headers: &HeaderMap, body: &[u8]) -> Error {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let said = Said::of(&value);
    let by_status = match status {
        401 | 403 => Class::Auth,
        402 => Class::Quota,
        408 | 504 | 524 => Class::Timeout,
        413 => Class::TooLong,
        429 => Class::RateLimited,
        400..=499 => Class::BadRequest,
        500.. => Class::Overloaded,
        _ => Class::Protocol,
    };
    // Anything may be called a bad request, or come with a status that says less; but "rate limit" outranks "server error".
    let class = match (said.class(), by_status) {
        (Some(Class::BadRequest), by_status) => by_status,
        (Some(Class::Overloaded), Class::Timeout) => Class::Timeout,
        (Some(said), _) => said,
        (None, by_status) => by_status,
    };
    let message = match said.message.is_empty() {
        false => said.message,
        true => text_of(body),
    };
    let fallback = || format!("The provider answered with status {status} and nothing else");
    let message = Some(tidy(&message)).filter(|message| !message.is_empty());
    Error {
        class,
        retry_after: wait(class, headers),
        status: Some(status),
        message: message.unwrap_or_else(fallback),
        request_id: request_id(headers).or(said.request_id),
    }
}

/// The same where it came inside of what began as an answer: `{"error": …}`, `{"type": "error", …}`.
pub(crate) fn inside(value: &Value) -> Error {
    let said = Said::of(value);
    let class = said.class().unwrap_or(Class::Overloaded);
    let message = Some(tidy(&said.message)).filter(|message| !message.is_empty());
    Error {
        class,
        status: None,
        message: message.unwrap_or_else(|| {
            "The provider broke off with an error and did not say which".to_owned()
        }),
        request_id: said.request_id,
        retry_after: None,
    }
}

/// What the provider knows an exchange by.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let known = ["request-id", "x-request-id", "x-log-id"];
    let mut found = known.iter().filter_map(|name| headers.get(*name));
    let id = found.find_map(|value| value.to_str().ok())?;
    Some(id.chars().take(200).collect())
}

/// Somebody else's words: short, and on one line.
fn tidy(text: &str) -> String {
    quoted(text, None, MESSAGE_CHARS_MAX)
}

/// A provider's error, in any of the shapes that are in use.
struct Said {
    /// All that may be a word for it: its type, its code, the code in its details.
    words: Vec<String>,
    message: String,
    request_id: Option<String>,
}

impl Said {
    fn of(value: &Value) -> Self {
        let error = match value.get("error") {
            Some(Value::Null) | None => value,
            Some(error) => error,
        };
        let word = |place: &str| match error.pointer(place) {
            Some(Value::String(word)) => Some(word.clone()),
            Some(Value::Number(code)) => Some(code.to_string()),
            _ => None,
        };
        let places = ["/code", "/details/error_code", "/type"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let message = [
            error.get("message"),
            Some(error),
            value.get("message"),
            value.get("detail"),
        ];
        Said {
            words: places.iter().filter_map(|place| word(place)).collect(),
            message: message
                .into_iter()
                .flatten()
                .find_map(text)
                .unwrap_or_default(),
            request_id: value.get("request_id").and_then(text),
        }
    }

    fn class(&self) -> Option<Class> {
        let is_word = |words: &[&str]| self.words.iter().any(|word| words.contains(&word.as_str()));
        let lower = self.message.to_lowercase();
        let sentence = SENTENCES.iter().find(|(part, _)| lower.contains(part));
        let tables = [
            (QUOTA, Class::Quota),
            (TOO_LONG, Class::TooLong),
            (FILTERED, Class::Filtered),
            (AUTH, Class::Auth),
            (RATE, Class::RateLimited),
            (OVERLOADED, Class::Overloaded),
            (TIMEOUT, Class::Timeout),
            (BAD, Class::BadRequest),
        ];
        let by_code = self.words.iter().find_map(|word| zhipu(word.parse().ok()?));
        let by_word = tables.iter().find(|(words, _)| is_word(words));
        sentence
            .map(|(_, class)| *class)
            .or(by_code)
            .or(by_word.map(|(_, class)| *class))
    }
}

/// ZhipuAI's own numbers, which come under all kinds of status.
fn zhipu(code: u32) -> Option<Class> {
    Some(match code {
        1000..=1004 | 1110..=1112 | 1120 | 1121 | 1220 => Class::Auth,
        1113 | 1304 | 1308..=1311 | 1314..=1321 => Class::Quota,
        1302 | 1303 | 1305 | 1313 => Class::RateLimited,
        1200 | 1230 | 1234 | 1312 => Class::Overloaded,
        1261 => Class::TooLong,
        1300 | 1301 => Class::Filtered,
        1210..=1215 | 1221 | 1222 | 1231 => Class::BadRequest,
        _ => return None,
    })
}

/// How long a provider that is busy wants to be left alone.
fn wait(class: Class, headers: &HeaderMap) -> Option<Duration> {
    let milliseconds = || {
        let value = headers.get("retry-after-ms")?.to_str().ok()?;
        value.parse().ok().map(Duration::from_millis)
    };
    let is_busy = matches!(
        class,
        Class::RateLimited | Class::Overloaded | Class::Timeout
    );
    is_busy.then(|| milliseconds().or_else(|| retry_after(headers)))?
}

/// A body that is no JSON, unless it is a page for people.
fn text_of(body: &[u8]) -> String {
    match body.trim_ascii_start().starts_with(b"<") {
        true => String::new(),
        false => String::from_utf8_lossy(&body[..body.len().min(4 * MESSAGE_CHARS_MAX)]).into(),
    }
}
