//! What a trace tells of a request to somebody else's server, and what that server is told of the trace.

use executor::Step;
use fetch::{Answer, Error, HeaderName, HeaderValue, Request, Url};
use telemetry::context;

const TRACE_PARENT: HeaderName = HeaderName::from_static(context::TRACE_PARENT);
const TRACE_STATE: HeaderName = HeaderName::from_static(context::TRACE_STATE);

/// What the tool's author wrote into these headers stays.
pub(super) fn told(step: &mut Step, request: &mut Request) {
    step.set("http.request.method", || request.method.as_str().into());
    // The path and the query may hold what is nobody's business.
    step.set("server.address", || {
        let url = Url::parse(&request.url).ok();
        let host = url.as_ref().and_then(Url::host_str);
        host.unwrap_or_default().into()
    });
    let Some(context) = step.context() else {
        return;
    };
    if request.headers.contains_key(TRACE_PARENT) {
        return;
    }
    if let Ok(parent) = HeaderValue::try_from(context.traceparent()) {
        request.headers.insert(TRACE_PARENT, parent);
    }
    let state = context.state.as_deref().map(HeaderValue::try_from);
    if let Some(Ok(state)) = state {
        request.headers.insert(TRACE_STATE, state);
    }
}

pub(super) fn answered(mut step: Step, result: &Result<Answer, Error>) {
    match result {
        Ok(answer) => {
            let status = answer.status.as_u16();
            step.set("http.response.status_code", || status.into());
            if status >= 400 {
                step.fail(|| status.to_string());
            }
        }
        Err(Error::Timeout { .. }) => step.fail(|| "timeout".to_owned()),
        Err(_) => step.fail(|| "unreachable".to_owned()),
    }
}
