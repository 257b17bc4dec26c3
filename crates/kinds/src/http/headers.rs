//! The headers of a request, with their arguments and secrets.

use super::filling::{Filling, invalid, misconfigured};
use crate::template::plain;
use catalog::auth::Reference;
use executor::Failure;
use fetch::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::{Map, Value};

/// What may go along when an answer leads to another host. Everything else may be a key to this one.
const HARMLESS: [HeaderName; 6] = [
    header::ACCEPT,
    header::ACCEPT_LANGUAGE,
    header::CONTENT_TYPE,
    header::CONTENT_LANGUAGE,
    header::USER_AGENT,
    header::RANGE,
];

pub(super) fn headers(
    config: &Map<String, Value>,
    filling: &Filling<'_>,
) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    let written = config.get("headers").and_then(Value::as_object);
    for (key, value) in written.into_iter().flatten() {
        let name: HeaderName = key
            .parse()
            .map_err(|_| misconfigured(format_args!("'{key}' is no name of a header")))?;
        let is_secret = Reference::of(value).is_some() || !HARMLESS.contains(&name);
        let Some(value) = filling.value(value)?.filter(|value| !value.is_null()) else {
            continue;
        };
        let mut value = header_value(&plain(&value)).ok_or_else(|| unfit(key))?;
        value.set_sensitive(is_secret);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// `None` where the text would end the header and begin another.
pub(super) fn header_value(text: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(text)
        .or_else(|_| HeaderValue::from_bytes(text.as_bytes()))
        .ok()
}

fn unfit(key: &str) -> Failure {
    invalid(format_args!(
        "the header '{key}' cannot hold line breaks or other control characters"
    ))
}
