//! When a request is worth another try, and how long to wait before it.

use fetch::{Answer, Error, Method, Phase, retry_after};
use serde_json::{Map, Value};
use std::time::Duration;

const FIRST_WAIT: Duration = Duration::from_millis(200);
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Most tries after the first, whatever a config says.
const MAX: u64 = 5;

/// How often to try again. What may have had its effect is not sent twice.
pub(super) fn allowed(config: &Map<String, Value>, method: &Method) -> u32 {
    let max = config
        .get("retry")
        .and_then(|retry| retry.get("max"))
        .and_then(Value::as_u64);
    match method.is_idempotent() {
        true => u32::try_from(max.unwrap_or(0).min(MAX)).unwrap_or(0),
        false => 0,
    }
}

/// Whether it may go better next time.
pub(super) fn is_worthwhile(result: &Result<Answer, Error>) -> bool {
    match result {
        Ok(answer) => matches!(answer.status.as_u16(), 429 | 502 | 503 | 504),
        Err(error) => matches!(
            error,
            Error::Resolve { .. }
                | Error::Connect { .. }
                | Error::Protocol { .. }
                | Error::Timeout {
                    phase: Phase::Connection,
                    ..
                }
        ),
    }
}

/// How long the server wants us to wait, or twice as long as the last time, and a little by chance so that not all
/// come back at once.
pub(super) fn wait(tried: u32, result: &Result<Answer, Error>) -> Duration {
    let asked = result
        .as_ref()
        .ok()
        .and_then(|answer| retry_after(&answer.headers));
    let own = (FIRST_WAIT * 2_u32.pow(tried.min(10))).min(WAIT_MAX);
    let chance = f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX);
    asked.unwrap_or_else(|| own.mul_f64(1.0 + chance / 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_does_no_harm_is_repeated() {
        let config = json!({"retry": {"max": 3}}).as_object().unwrap().clone();
        for (method, expected) in [
            (Method::GET, 3),
            (Method::PUT, 3),
            (Method::DELETE, 3),
            (Method::POST, 0),
            (Method::PATCH, 0),
        ] {
            assert_eq!(allowed(&config, &method), expected, "{method}");
        }
        assert_eq!(allowed(&Map::new(), &Method::GET), 0);
        let many = json!({"retry": {"max": 99}}).as_object().unwrap().clone();
        assert_eq!(allowed(&many, &Method::GET), 5);
    }
}
