//! The web page: its files as they were built, and its one document at every address that is nobody else's.

use crate::document;
use crate::error::ApiError;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use executor::Code;
use page::{File, INDEX};

/// A file's name holds a hash of what is in it: it never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Addresses of programs. Whoever is wrong there is told so; a page instead would be taken for an answer.
const OF_PROGRAMS: &[&str] = &[
    "/api/",
    "/assets/",
    "/mcp/",
    "/sse/",
    "/messages/",
    "/login/",
    "/.well-known/",
];

pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    let reads = method == Method::GET || method == Method::HEAD;
    if let Some(file) = page::file(path.trim_start_matches('/')).filter(|_| reads) {
        return match file.path {
            INDEX => document(file),
            _ => of_file(file, &headers),
        };
    }
    let is_of_programs = OF_PROGRAMS.iter().any(|start| path.starts_with(start));
    if !reads || is_of_programs || !wants_a_page(&headers) {
        return ApiError::new(Code::NotFound, "There is nothing at this address").into_response();
    }
    match page::file(INDEX) {
        Some(index) => document(index),
        None => ApiError::new(Code::Internal, "internal error").into_response(),
    }
}

fn document(index: &File) -> Response {
    let text = String::from_utf8_lossy(index.bytes);
    let mut response = document::document(StatusCode::OK, &text);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, ASK_AGAIN);
    response
}

fn of_file(file: &'static File, headers: &HeaderMap) -> Response {
    let packed = [("br", file.br), ("gzip", file.gz)];
    let mut packed = packed.into_iter();
    let chosen =
        packed.find_map(|(name, bytes)| Some((name, bytes.filter(|_| takes(headers, name))?)));
    let kept = if file.path.starts_with("assets/") {
        FOREVER
    } else {
        ASK_AGAIN
    };
    let bytes = chosen.map_or(file.bytes, |(_, bytes)| bytes);
    let mut response = (
        [
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static(kind(file.path)),
            ),
            (header::CACHE_CONTROL, kept),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
        ],
        bytes,
    )
        .into_response();
    if let Some((name, _)) = chosen {
        let name = HeaderValue::from_static(name);
        response
            .headers_mut()
            .insert(header::CONTENT_ENCODING, name);
    }
    response
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}

/// Whether somebody is looking: browsers say that they want HTML, programs do not.
fn wants_a_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok());
    accept.is_some_and(|kinds| kinds.contains("text/html"))
}

fn takes(headers: &HeaderMap, encoding: &str) -> bool {
    let all = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut each = all
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(','));
    each.any(|one| {
        let mut parts = one.split(';').map(str::trim);
        parts.next() == Some(encoding)
            && !parts.any(|q| matches!(q, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}
