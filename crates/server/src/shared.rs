//! Requests where other servers work on the same registry: a change is made to what is there now, and what one of them made a
//! moment ago is found, to whichever server a proxy sends the request.

use crate::router::Server;
use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use tower::Service;

/// A change is made to what is there now. What is not found may have been made elsewhere, so it is looked for again.
pub(crate) async fn routed(server: &Server, routes: &mut Router, request: Request) -> Response {
    if changes_something(&request) {
        server.app.may_have_missed().await;
    }
    let again = (request.method() == Method::GET).then(|| bare_copy(&request));
    let Ok(response) = routes.call(request).await;
    let again = again.filter(|_| response.status() == StatusCode::NOT_FOUND);
    let Some(again) = again else {
        return response;
    };
    server.app.may_have_missed().await;
    let Ok(response) = routes.call(again).await;
    response
}

/// Calls, questions and messages of MCP come often, and change nothing here.
fn changes_something(request: &Request) -> bool {
    const NOTHING: [&str; 5] = ["/call", "/explain", "/select", "/search", "/messages"];
    let path = request.uri().path();
    let is_question =
        *request.method() == Method::POST && NOTHING.iter().any(|it| path.ends_with(it));
    !request.method().is_safe() && !is_question
}

/// A request without a body once more.
fn bare_copy(request: &Request) -> Request {
    let mut copy = Request::new(axum::body::Body::empty());
    copy.uri_mut().clone_from(request.uri());
    copy.headers_mut().clone_from(request.headers());
    copy.extensions_mut().clone_from(request.extensions());
    copy
}
