//! Requests in traces: what a request says it belongs to (W3C Trace Context), and the step that answering it is.

use crate::router::Server;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use telemetry::{Context, Kind, Span};

const TRACE_PARENT: HeaderName = HeaderName::from_static(telemetry::context::TRACE_PARENT);
const TRACE_STATE: HeaderName = HeaderName::from_static(telemetry::context::TRACE_STATE);

/// The trace that a request belongs to.
pub(crate) struct Trace(pub(crate) Option<Box<Context>>);

impl FromRequestParts<Arc<Server>> for Trace {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Server>) -> Result<Self, Infallible> {
        Ok(Trace(context(&parts.headers).map(Box::new)))
    }
}

/// What a request says, or what was put in its place.
pub(crate) fn context(headers: &HeaderMap) -> Option<Context> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    Context::read(text(TRACE_PARENT)?, text(TRACE_STATE))
}

/// The step that answering a request is, where there is a collector. From here on the request says that it belongs to it, so
/// that whoever looks at its headers need not know of this.
pub(crate) fn begin<B>(server: &Server, request: &mut Request<B>) -> Option<Box<Span>> {
    let telemetry = server.app.telemetry()?;
    let parent = context(request.headers());
    let method = request.method().as_str();
    let mut span = telemetry.span(parent.as_ref(), method.to_owned(), Kind::Server);
    span.set("http.request.method", method);
    span.set("url.path", request.uri().path());
    if parent.is_none() {
        // Of a trace that nobody can read there is no state either.
        request.headers_mut().remove(TRACE_STATE);
    }
    if let Ok(own) = HeaderValue::try_from(span.context.traceparent()) {
        request.headers_mut().insert(TRACE_PARENT, own);
    }
    Some(Box::new(span))
}

pub(crate) fn end(span: Option<Box<Span>>, status: StatusCode) {
    if let Some(mut span) = span {
        span.set("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            span.fail(status.as_u16().to_string());
        }
    }
}
