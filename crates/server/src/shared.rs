//! Requests about what other servers on the same registry may have changed: a change is made to what is there now, and what one
//! of them made a moment ago is found, to whichever server a proxy sends the request. `router.rs` says which requests these are.

use crate::router::Server;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;

pub(crate) async fn fresh(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    if !request.method().is_safe() {
        server.app.may_have_missed().await;
    }
    let known = server.app.known_revision();
    let is_news = async {
        server.app.may_have_missed().await;
        server.app.known_revision() != known
    };
    let answer = |request| next.clone().run(request);
    answered(request, answer, is_news).await
}

/// What is not found is looked for again, where something has changed meanwhile.
async fn answered<F: Future<Output = Response>>(
    request: Request,
    answer: impl Fn(Request) -> F,
    is_news: impl Future<Output = bool>,
) -> Response {
    let again = (request.method() == Method::GET).then(|| bare_copy(&request));
    let response = answer(request).await;
    let is_missing = response.status() == StatusCode::NOT_FOUND;
    let Some(again) = again.filter(|_| is_missing) else {
        return response;
    };
    match is_news.await {
        true => answer(again).await,
        false => response,
    }
}

/// A request without a body once more.
fn bare_copy(request: &Request) -> Request {
    let mut copy = Request::new(axum::body::Body::empty());
    copy.uri_mut().clone_from(request.uri());
    copy.headers_mut().clone_from(request.headers());
    copy.extensions_mut().clone_from(request.extensions());
    copy
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use std::cell::Cell;

    /// How often a request is answered.
    async fn times(method: Method, status: StatusCode, is_news: bool) -> usize {
        let count = Cell::new(0);
        let mut request = Request::new(axum::body::Body::empty());
        *request.method_mut() = method;
        let answer = |_| {
            count.set(count.get() + 1);
            async move { status.into_response() }
        };
        answered(request, answer, async move { is_news }).await;
        count.get()
    }

    #[tokio::test]
    async fn only_what_may_be_there_by_now_is_looked_for_again() {
        let gone = StatusCode::NOT_FOUND;
        assert_eq!(times(Method::GET, gone, true).await, 2);
        assert_eq!(times(Method::GET, gone, false).await, 1);
        assert_eq!(times(Method::GET, StatusCode::OK, true).await, 1);
        assert_eq!(times(Method::DELETE, gone, true).await, 1);
    }
}
