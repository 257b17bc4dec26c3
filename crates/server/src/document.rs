//! HTML documents, for people. Each carries a word for its answer alone: what it brings along itself stands by that, and nothing
//! else does.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use page::NONCE;
use uuid::Uuid;

/// `text` has [`NONCE`] in it wherever a style or a script stands in the document.
pub(crate) fn document(status: StatusCode, text: &str) -> Response {
    let nonce = Uuid::new_v4().simple().to_string();
    // Editors draw their marks with pictures that stand in their styles (`data:`).
    let policy = format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_str(&policy)
                .unwrap_or(HeaderValue::from_static("default-src 'none'")),
        ),
    ];
    (status, headers, text.replace(NONCE, &nonce)).into_response()
}
