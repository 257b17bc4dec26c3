//! The body of a request: JSON, a form, files, or text; where the config has none, what arguments are left over.

use super::encode::{percent, xml};
use super::filling::{Filling, invalid, misconfigured};
use super::headers::header_value;
use super::target::texts;
use crate::template::plain;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use executor::Failure;
use fetch::{Body, HeaderMap, Piece, header};
use serde_json::{Map, Value};

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyType {
    Json,
    Form,
    Multipart,
    Xml,
    Text,
}

/// The body, with its content type in the headers where only we know it.
pub(super) fn body(
    config: &Map<String, Value>,
    filling: &Filling<'_>,
    headers: &mut HeaderMap,
) -> Result<Body, Failure> {
    let said = said_type(config, headers);
    let Some(body) = config.get("body") else {
        return left_over(filling, said.unwrap_or(BodyType::Json));
    };
    match (body, said) {
        (Value::String(text), Some(BodyType::Json)) => {
            let value = json_text(text, filling).ok_or_else(|| {
                misconfigured("its body is to be JSON and is not; write it as an object")
            })?;
            Ok(filling.value(&value)?.map_or(Body::Empty, Body::Json))
        }
        (Value::String(text), said) => written(text, said, filling, headers),
        (value, said) => match filling.value(value)? {
            Some(value) => of_value(value, said.unwrap_or(BodyType::Json)),
            None => Ok(Body::Empty),
        },
    }
}

fn said_type(config: &Map<String, Value>, headers: &HeaderMap) -> Option<BodyType> {
    let named = config.get("body_type").and_then(Value::as_str);
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    match (named, essence) {
        (Some("json"), _) => Some(BodyType::Json),
        (Some("form"), _) => Some(BodyType::Form),
        (Some("multipart"), _) => Some(BodyType::Multipart),
        (Some(_), essence) if is_xml(essence) => Some(BodyType::Xml),
        (Some(_), _) => Some(BodyType::Text),
        (None, "") => None,
        (None, "application/x-www-form-urlencoded") => Some(BodyType::Form),
        (None, "multipart/form-data") => Some(BodyType::Multipart),
        (None, essence) if essence == "application/json" || essence.ends_with("+json") => {
            Some(BodyType::Json)
        }
        (None, essence) if is_xml(essence) => Some(BodyType::Xml),
        (None, _) => Some(BodyType::Text),
    }
}

fn is_xml(essence: &str) -> bool {
    essence.ends_with("/xml") || essence.ends_with("+xml") || essence == "text/html"
}

/// All arguments that stand nowhere else. A tool that names none of them anywhere sends them all, even none.
fn left_over(filling: &Filling<'_>, kind: BodyType) -> Result<Body, Failure> {
    let unused = filling.unused();
    if unused.is_empty() && filling.has_used_any() {
        return Ok(Body::Empty);
    }
    of_value(Value::Object(unused), kind)
}

/// A text of the config. What stands in it for an argument is written in the way of its content type.
fn written(
    text: &str,
    said: Option<BodyType>,
    filling: &Filling<'_>,
    headers: &mut HeaderMap,
) -> Result<Body, Failure> {
    if said.is_none()
        && let Some(value) = json_text(text, filling)
        && (value.is_object() || value.is_array())
    {
        return Ok(filling.value(&value)?.map_or(Body::Empty, Body::Json));
    }
    let write = match said {
        Some(BodyType::Form) => percent,
        Some(BodyType::Xml) => xml,
        _ => str::to_owned,
    };
    let fallback = match said {
        Some(BodyType::Multipart) => {
            return Err(misconfigured(
                "a multipart body is written as an object of its fields",
            ));
        }
        Some(BodyType::Form) => "application/x-www-form-urlencoded",
        _ => "text/plain; charset=utf-8",
    };
    // Nothing but one argument that is no text: as it is.
    if said.is_none()
        && let Some(value) = filling.value(&Value::String(text.to_owned()))?
        && !value.is_string()
    {
        return Ok(Body::Json(value));
    }
    let Some(text) = filling.text(text, write) else {
        return Ok(Body::Empty);
    };
    if let Some(value) = header_value(fallback) {
        headers.entry(header::CONTENT_TYPE).or_insert(value);
    }
    Ok(Body::Bytes(text.into()))
}

/// JSON that was written as text, with arguments in or instead of its values. A bare `{{name}}` is put in quotes
/// first: it then is a string that is one argument, and gets that argument's type.
fn json_text(text: &str, filling: &Filling<'_>) -> Option<Value> {
    let mut quoted = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut in_string = false;
    while let Some(c) = rest.chars().next() {
        let end = rest
            .find("}}")
            .filter(|_| !in_string && rest.starts_with("{{"));
        if let Some(end) = end.filter(|end| filling.is_template(&rest[..end + 2])) {
            quoted.push('"');
            quoted.push_str(&rest[..end + 2]);
            quoted.push('"');
            rest = &rest[end + 2..];
            continue;
        }
        let length = match c {
            '\\' if in_string => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            c => c.len_utf8(),
        };
        in_string ^= c == '"';
        quoted.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    serde_json::from_str(&quoted).ok()
}

fn of_value(value: Value, kind: BodyType) -> Result<Body, Failure> {
    match (kind, value) {
        (BodyType::Json, value) => Ok(Body::Json(value)),
        (BodyType::Form, Value::Object(members)) => {
            let pairs = members.iter().flat_map(|(name, value)| {
                texts(value).into_iter().map(|text| (name.clone(), text))
            });
            Ok(Body::Form(pairs.collect()))
        }
        (BodyType::Multipart, Value::Object(members)) => {
            let mut pieces = Vec::new();
            for (name, value) in &members {
                pieces.extend(self::pieces(name, value)?);
            }
            Ok(Body::Multipart(pieces))
        }
        (BodyType::Form | BodyType::Multipart, _) => Err(misconfigured(
            "a form is written as an object of its fields",
        )),
        (BodyType::Xml | BodyType::Text, value) => Ok(Body::Bytes(plain(&value).into())),
    }
}

/// A field of a multipart body: text, a file (`{"content_base64", "filename"?, "content_type"?}`), or a list of them.
fn pieces(name: &str, value: &Value) -> Result<Vec<Piece>, Failure> {
    let word = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(content) = word("content_base64") {
        let bytes = STANDARD.decode(content.trim()).map_err(|_| {
            invalid(format_args!(
                "'content_base64' of the file '{name}' is not base64"
            ))
        })?;
        return Ok(vec![Piece {
            name: name.to_owned(),
            file_name: Some(word("filename").unwrap_or_else(|| "file".to_owned())),
            content_type: Some(
                word("content_type").unwrap_or_else(|| "application/octet-stream".to_owned()),
            ),
            bytes: bytes.into(),
        }]);
    }
    if let Value::Array(items) = value {
        let all: Result<Vec<Vec<Piece>>, Failure> =
            items.iter().map(|item| pieces(name, item)).collect();
        return Ok(all?.into_iter().flatten().collect());
    }
    let field = |text: String| Piece {
        name: name.to_owned(),
        bytes: text.into(),
        ..Piece::default()
    };
    Ok(texts(value).into_iter().map(field).collect())
}
