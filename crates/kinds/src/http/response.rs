//! What comes back: the part of the answer that the config asks for, or why there is none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use executor::{Code, Failure, Output};
use fetch::{Answer, Method, header};
use serde_json::{Map, Value, json};

/// How much of a refusal is shown.
const SHOWN_BYTES_MAX: usize = 4 << 10;

/// The result of an answer with a good status.
pub(super) fn result(
    config: &Map<String, Value>,
    method: &Method,
    answer: &Answer,
) -> Result<Output, Failure> {
    let response = config.get("response").unwrap_or(&Value::Null);
    if *method == Method::HEAD {
        return Ok(json!({"status": answer.status.as_u16(), "headers": headers(answer)}).into());
    }
    let data = match response {
        Value::String(word) if word == "text" => Value::String(text(answer)),
        Value::String(word) if word == "bytes" => bytes(answer),
        Value::String(word) if word == "json" => json(answer)?,
        Value::String(pointer) if pointer.starts_with('/') => {
            let whole = json(answer)?;
            let found = whole.pointer(pointer).cloned();
            found.ok_or_else(|| upstream(answer, format!("it has nothing at '{pointer}'")))?
        }
        Value::Object(pointers) => {
            let whole = json(answer)?;
            let part = |pointer: &Value| {
                pointer
                    .as_str()
                    .and_then(|pointer| whole.pointer(pointer))
                    .cloned()
            };
            let parts = pointers
                .iter()
                .map(|(name, pointer)| (name.clone(), part(pointer).unwrap_or_default()));
            Value::Object(parts.collect())
        }
        _ => by_content_type(answer)?,
    };
    Ok(Output::from_outside(data))
}

/// The failure of an answer with any other status. What it says is a stranger's word, and marked as such.
pub(super) fn refusal(answer: &Answer) -> Failure {
    let status = answer.status.as_u16();
    let reason = answer
        .status
        .canonical_reason()
        .unwrap_or("no reason given");
    let host = answer.url.host_str().unwrap_or_default();
    let message = format!("Upstream error: {host} answered {status} ({reason})");
    let mut details = json!({"status": status, "body": beginning(answer), "untrusted": true});
    if let Some(after) = answer
        .headers
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
    {
        details["retry_after"] = after.into();
    }
    Failure::new(Code::UpstreamError, message).with_details(details)
}

fn by_content_type(answer: &Answer) -> Result<Value, Failure> {
    let essence = essence(answer);
    let is_json = essence == "application/json" || essence.ends_with("+json");
    match essence.as_str() {
        _ if answer.body.is_empty() => Ok(Value::Null),
        _ if is_json => json(answer),
        "" => Ok(match serde_json::from_slice::<Value>(&answer.body) {
            Ok(value) if value.is_object() || value.is_array() => value,
            _ => text_or_bytes(answer),
        }),
        essence if is_text(essence) => Ok(Value::String(text(answer))),
        _ => Ok(text_or_bytes(answer)),
    }
}

fn is_text(essence: &str) -> bool {
    essence.starts_with("text/")
        || essence.ends_with("+xml")
        || matches!(
            essence,
            "application/xml"
                | "application/javascript"
                | "application/x-ndjson"
                | "application/yaml"
                | "application/x-www-form-urlencoded"
        )
}

fn text_or_bytes(answer: &Answer) -> Value {
    match str::from_utf8(&answer.body) {
        Ok(text) if !text.contains('\0') => Value::String(text.to_owned()),
        _ => bytes(answer),
    }
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

fn bytes(answer: &Answer) -> Value {
    json!({"content_base64": STANDARD.encode(&answer.body), "content_type": essence(answer)})
}

fn json(answer: &Answer) -> Result<Value, Failure> {
    if answer.body.is_empty() {
        return Ok(Value::Null);
    }
    // Some servers begin with a mark for the byte order.
    let body = answer
        .body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&answer.body);
    serde_json::from_slice(body).map_err(|_| upstream(answer, "it is not JSON"))
}

fn upstream(answer: &Answer, why: impl std::fmt::Display) -> Failure {
    let host = answer.url.host_str().unwrap_or_default();
    let details =
        json!({"status": answer.status.as_u16(), "body": beginning(answer), "untrusted": true});
    Failure::new(
        Code::UpstreamError,
        format!("Upstream error: {host} gave an answer that cannot be used: {why}"),
    )
    .with_details(details)
}

fn essence(answer: &Answer) -> String {
    let value = answer
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn headers(answer: &Answer) -> Map<String, Value> {
    let text = |value: &fetch::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    answer
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), text(value).into()))
        .collect()
}

fn beginning(answer: &Answer) -> String {
    let shown = &answer.body[..answer.body.len().min(SHOWN_BYTES_MAX)];
    String::from_utf8_lossy(shown).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fetch::{Bytes, HeaderMap, HeaderValue, StatusCode, Url};

    fn answer(content_type: &'static str, body: &'static [u8]) -> Answer {
        let mut headers = HeaderMap::new();
        if !content_type.is_empty() {
            headers.insert("content-type", HeaderValue::from_static(content_type));
        }
        Answer {
            status: StatusCode::OK,
            headers,
            url: Url::parse("http://h/").unwrap(),
            body: Bytes::from_static(body),
            is_cut: false,
        }
    }

    fn data(response: &Value, answer: &Answer) -> Result<Value, String> {
        let config = json!({"response": response}).as_object().unwrap().clone();
        let result = result(&config, &Method::GET, answer);
        result
            .map(|output| output.data.value().into_owned())
            .map_err(|failure| failure.message)
    }

    #[test]
    fn the_content_type_decides_where_the_author_does_not() {
        for (content_type, body, expected) in [
            ("application/json", &b"{\"a\":1}"[..], json!({"a": 1})),
            (
                "application/problem+json; charset=utf-8",
                b"[1]",
                json!([1]),
            ),
            ("application/json", b"\xef\xbb\xbf1", json!(1)),
            ("application/json", b"", json!(null)),
            ("text/html", b"{\"a\":1}", json!("{\"a\":1}")),
            ("text/plain", b"a\xff", json!("a\u{fffd}")),
            ("", b"{\"a\":1}", json!({"a": 1})),
            ("", b"12", json!("12")),
            ("application/vnd.unknown", b"plain", json!("plain")),
            (
                "image/png",
                b"\x89\0",
                json!({"content_base64": "iQA=", "content_type": "image/png"}),
            ),
        ] {
            assert_eq!(
                data(&Value::Null, &answer(content_type, body)),
                Ok(expected),
                "{content_type}"
            );
        }
        let broken = data(&Value::Null, &answer("application/json", b"<html>"));
        assert!(broken.unwrap_err().contains("not JSON"));
    }

    #[test]
    fn the_author_decides_first() {
        let found = answer(
            "text/plain",
            b"{\"data\":{\"items\":[1,{\"x/y\":2}]},\"n\":null}",
        );
        for (response, expected) in [
            (
                json!("json"),
                json!({"data": {"items": [1, {"x/y": 2}]}, "n": null}),
            ),
            (
                json!("text"),
                json!("{\"data\":{\"items\":[1,{\"x/y\":2}]},\"n\":null}"),
            ),
            (json!("/data/items/0"), json!(1)),
            (json!("/data/items/1/x~1y"), json!(2)),
            (json!("/n"), json!(null)),
            (
                json!({"first": "/data/items/0", "none": "/nowhere"}),
                json!({"first": 1, "none": null}),
            ),
        ] {
            assert_eq!(data(&response, &found), Ok(expected), "{response}");
        }
        assert!(
            data(&json!("/nowhere"), &found)
                .unwrap_err()
                .contains("'/nowhere'")
        );
        assert_eq!(
            data(&json!("bytes"), &answer("a/b", b"x")),
            Ok(json!({"content_base64": "eA==", "content_type": "a/b"}))
        );
    }
}
