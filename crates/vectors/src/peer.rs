//! What both clients share: how an answer that is no answer becomes an error, and what is told of it.

use crate::Result;
use crate::error::{Error, Peer};
use fetch::{Answer, HeaderValue, StatusCode, Url, quoted, retry_after};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Answers larger than this are not taken in.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 << 20;
/// What is repeated of a server's words.
const MESSAGE_CHARS_MAX: usize = 300;

/// How long there is until a deadline.
pub(crate) fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Scheme, host and port: what can be told of an address without telling a secret.
pub(crate) fn place(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// A secret as the value of a header, which is not logged and goes to no other host.
pub(crate) fn bearer(secret: &str, what: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {secret}")).map_err(|_| {
        Error::Invalid(format!(
            "The {what} cannot be sent: it holds a line break or another letter that no header may"
        ))
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// What the answer says, if it is one.
pub(crate) fn read<T: DeserializeOwned>(
    peer: Peer,
    place: &str,
    answer: &Answer,
    secret: Option<&str>,
) -> Result<T> {
    serde_json::from_slice(&answer.body).map_err(|error| Error::Unusable {
        peer,
        place: place.to_owned(),
        why: format!(
            "{}; is that address the right one?",
            tidy(&error.to_string(), secret)
        ),
    })
}

/// The error that a status other than success stands for.
pub(crate) fn refusal(peer: Peer, place: &str, answer: &Answer, secret: Option<&str>) -> Error {
    let message = message(&answer.body, secret);
    let (place, status) = (place.to_owned(), answer.status.as_u16());
    match answer.status == StatusCode::TOO_MANY_REQUESTS || answer.status.is_server_error() {
        true => Error::Busy {
            peer,
            place,
            status,
            retry_after: retry_after(&answer.headers),
            message,
        },
        false => Error::Refused {
            peer,
            place,
            status,
            message,
        },
    }
}

/// What a server says of an error, in one of the shapes that are in use.
pub(crate) fn message(body: &[u8], secret: Option<&str>) -> String {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(value) => {
            let places = ["/error/message", "/message", "/detail", "/error"];
            let mut found = places.iter().filter_map(|place| value.pointer(place));
            found.find_map(Value::as_str).unwrap_or_default().to_owned()
        }
        // A page for people says nothing here.
        Err(_) if body.trim_ascii_start().starts_with(b"<") => String::new(),
        Err(_) => String::from_utf8_lossy(&body[..body.len().min(4 * MESSAGE_CHARS_MAX)]).into(),
    };
    tidy(&text, secret)
}

fn tidy(text: &str, secret: Option<&str>) -> String {
    quoted(text, secret, MESSAGE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_server_without_its_secrets() {
        let told = |body: &str| message(body.as_bytes(), Some("sk-1"));
        assert_eq!(
            told(r#"{"error":{"message":"Incorrect API key provided: sk-1.","type":"x"}}"#),
            "Incorrect API key provided: [hidden]."
        );
        assert_eq!(
            told(r#"{"error":"NotFoundError","message":"Collection [x] does not exist"}"#),
            "Collection [x] does not exist"
        );
        assert_eq!(told(r#"{"detail":"no\nsuch model"}"#), "no such model");
        assert_eq!(told(r#"{"detail":[{"loc":1}]}"#), "");
        assert_eq!(told("<html>502</html>"), "");
        assert_eq!(told("upstream sk-1 away"), "upstream [hidden] away");
        assert_eq!(told(&"x".repeat(5_000)).len(), MESSAGE_CHARS_MAX);
    }
}
