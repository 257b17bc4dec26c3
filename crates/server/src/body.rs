//! Request bodies: JSON only, bounded in size and time, with errors that say where.

use crate::error::ApiError;
use crate::router::Server;
use axum::Json;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use executor::Code;
use http_body_util::BodyExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The body as text, for documents whose problems are reported with line and path.
pub(crate) struct JsonText(pub(crate) String);

/// Tells null from nothing.
pub(crate) fn present<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    T::deserialize(from).map(Some)
}

/// The body as a value of a known shape.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl FromRequest<Arc<Server>> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        let body = read(request, server).await?;
        text(&body).map(|text| JsonText(text.to_owned()))
    }
}

/// A body as text.
pub(crate) fn text(body: &[u8]) -> Result<&str, ApiError> {
    str::from_utf8(body).map_err(|error| {
        let at = error.valid_up_to();
        ApiError::new(
            Code::InvalidRequest,
            format!("The body is not UTF-8 (at byte {at})"),
        )
    })
}

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        let body = read(request, server).await?;
        serde_json::from_slice(&body)
            .map(JsonBody)
            .map_err(|error| misread(&body, &error))
    }
}

/// The same where there may be none at all.
pub(crate) struct PerhapsBody<T>(pub(crate) Option<T>);

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for PerhapsBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        if hyper::body::Body::is_end_stream(request.body()) {
            return Ok(PerhapsBody(None));
        }
        let JsonBody(body) = JsonBody::from_request(request, server).await?;
        Ok(PerhapsBody(Some(body)))
    }
}

/// Every body here is an object: one that is none, or no JSON at all, is told as a definition's is.
fn misread(body: &[u8], error: &serde_json::Error) -> ApiError {
    let text = String::from_utf8_lossy(body);
    let problems = catalog::json::object_problems("body", &text);
    if problems.is_empty() {
        let why = format!("The body is not what is expected here: {error}");
        return ApiError::new(Code::InvalidRequest, why);
    }
    ApiError {
        code: Code::InvalidRequest,
        ..app::Error::problems(problems).into()
    }
}

/// The whole body, bounded in size and time.
async fn read(request: Request, server: &Server) -> Result<Bytes, ApiError> {
    let (parts, body) = request.into_parts();
    read_body(&parts.headers, body, server).await
}

/// The same for whoever has taken the request apart.
pub(crate) async fn read_body<B>(
    headers: &HeaderMap,
    body: B,
    server: &Server,
) -> Result<Bytes, ApiError>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
{
    check_content_type(headers)?;
    let late = || ApiError::new(Code::RequestTimeout, "The body did not arrive in time");
    let whole = whole(body, server.limits.body_bytes_max);
    match tokio::time::timeout(server.limits.body_timeout, whole).await {
        Err(_) => Err(late()),
        Ok(body) => body,
    }
}

async fn whole<B>(mut body: B, bytes_max: usize) -> Result<Bytes, ApiError>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
{
    // Most bodies are one piece, which is not copied.
    let (mut first, mut all) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let broken = |_| ApiError::new(Code::InvalidRequest, "The body broke off");
        let Ok(piece) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        if first.len() + all.len() + piece.len() > bytes_max {
            let why = format!("The body is larger than {bytes_max} bytes");
            return Err(ApiError::new(Code::PayloadTooLarge, why));
        }
        if first.is_empty() && all.is_empty() {
            first = piece;
        } else {
            all.extend(std::mem::take(&mut first));
            all.extend(piece);
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let given = headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    let suffix = essence.len().saturating_sub("+json".len());
    let suffix = essence.get(suffix..).unwrap_or_default();
    if essence.eq_ignore_ascii_case("application/json") || suffix.eq_ignore_ascii_case("+json") {
        return Ok(());
    }
    let message = format!("Content-Type must be application/json, not '{given}'");
    Err(ApiError::new(Code::UnsupportedMedia, message))
}

/// Parameters of the address behind `?`.
pub(crate) struct QueryOf<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Server>> for QueryOf<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
        let read = Query::<T>::from_request_parts(parts, server).await;
        read.map(|Query(value)| QueryOf(value)).map_err(|error| {
            // What lies beneath names the parameter; axum's own words would only say who read it.
            let why = std::error::Error::source(&error).map(ToString::to_string);
            let why = why.unwrap_or_else(|| "they cannot be read".to_owned());
            let message = format!("The parameters after '?' are not valid: {why}");
            ApiError::new(Code::InvalidRequest, message)
        })
    }
}

/// Parameters inside the address.
pub(crate) struct PathOf<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Server>> for PathOf<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, server).await {
            Ok(Path(value)) => Ok(PathOf(value)),
            Err(error) => {
                let matched = parts.extensions.get::<MatchedPath>();
                let why = path_fault(&error, matched.map_or("", MatchedPath::as_str));
                let message = format!("The address is not valid: {why}");
                Err(ApiError::new(Code::InvalidRequest, message))
            }
        }
    }
}

/// What is wrong with an address of that pattern, such as `/tools/{name}/versions/{version}`.
fn path_fault(error: &PathRejection, pattern: &str) -> String {
    let mut names = pattern
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let PathRejection::FailedToDeserializePathParams(error) = error else {
        return "a part of it is missing".to_owned();
    };
    let (name, value) = match error.kind() {
        ErrorKind::InvalidUtf8InPathParam { key } => {
            return format!("'{key}' is not UTF-8 after decoding");
        }
        ErrorKind::ParseErrorAtKey { key, value, .. } => (key.as_str(), value),
        ErrorKind::ParseErrorAtIndex { index, value, .. } => {
            (names.nth(*index).unwrap_or_default(), value)
        }
        ErrorKind::ParseError { value, .. } => (names.next().unwrap_or_default(), value),
        other => return other.to_string(),
    };
    // Whatever is more than text in an address is a number.
    format!("'{name}' must be a whole number of up to 18 digits, not '{value}'")
}

/// The version a change was made from, where the client says so.
pub(crate) struct IfMatch(pub(crate) Option<i64>);

impl FromRequestParts<Arc<Server>> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Server>) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else {
            return Ok(IfMatch(None));
        };
        let text = value
            .to_str()
            .unwrap_or_default()
            .trim()
            .trim_start_matches("W/")
            .trim_matches('"');
        if text == "*" {
            return Ok(IfMatch(None));
        }
        text.parse()
            .map(|version| IfMatch(Some(version)))
            .map_err(|_| {
                ApiError::new(
                    Code::InvalidRequest,
                    "If-Match must be a tool's version, such as \"3\"",
                )
            })
    }
}

/// An answer with the version that `IfMatch` takes.
pub(crate) fn tagged(version: i64, body: impl Serialize) -> Response {
    let tag = HeaderValue::from_str(&format!("\"{version}\""));
    let mut response = Json(body).into_response();
    if let Ok(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// The header that carries what a body may say as `idempotency_key`.
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl FromRequestParts<Arc<Server>> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Server>) -> Result<Self, ApiError> {
        let given = parts.headers.get("idempotency-key");
        Ok(IdempotencyKey(
            given.map(|key| key.to_str().unwrap_or_default().to_owned()),
        ))
    }
}
