//! The one place where errors become HTTP: the envelope, the status from the code table, Retry-After.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use catalog::caller::{Scope, Scopes};
use executor::{Code, ToolResponse};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What every error outside a call looks like.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    pub(crate) error: ErrorDetail,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorDetail {
    /// Stable; see the table of codes.
    #[schema(value_type = String, example = "tool_not_found")]
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) details: Value,
    pub(crate) request_id: String,
}

/// An error on its way out. The request id is filled in by the outermost layer.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) details: Value,
    /// Where another key or token could do it.
    pub(crate) lack: Option<Lack>,
}

/// The scope that is missing, and those that are there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lack {
    pub(crate) needed: Scope,
    pub(crate) held: Scopes,
}

impl ApiError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        ApiError {
            code,
            message: message.into(),
            details: Value::Null,
            lack: None,
        }
    }

    pub(crate) fn into_body(self, request_id: &str) -> ErrorBody {
        ErrorBody {
            error: ErrorDetail {
                code: self.code,
                message: self.message,
                details: self.details,
                request_id: request_id.to_owned(),
            },
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        status(self.code)
    }
}

impl From<app::Error> for ApiError {
    fn from(error: app::Error) -> Self {
        if let app::Error::Internal(text) = &error {
            tracing::error!(error = %text, "internal error");
        }
        ApiError {
            code: error.code(),
            message: error.to_string(),
            details: error.details(),
            lack: None,
        }
    }
}

impl IntoResponse for ApiError {
    /// An empty body with the error beside it: `request::finish` writes the envelope.
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if self.code.row().retryable {
            let wait = self.details["retry_after_seconds"].as_u64().unwrap_or(1);
            let wait = HeaderValue::from(wait);
            response.headers_mut().insert(header::RETRY_AFTER, wait);
        }
        if self.code == Code::Unauthenticated {
            let challenge = HeaderValue::from_static("Bearer realm=\"toolcrib\"");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
        }
        response.extensions_mut().insert(self);
        response
    }
}

pub(crate) fn status(code: Code) -> StatusCode {
    StatusCode::from_u16(code.row().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A call's answer with the status its code has.
pub(crate) fn call_response(answer: &ToolResponse) -> Response {
    let status = answer
        .error
        .as_ref()
        .map_or(StatusCode::OK, |error| status(error.code));
    let mut response = (status, Json(answer)).into_response();
    let wait = answer
        .retry_after()
        .and_then(|seconds| HeaderValue::from_str(&seconds.to_string()).ok());
    if let Some(wait) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}
