//! What happens around every request: its id, the limit of requests at a time, and that no panic and no
//! bare error leaves the server.

use crate::auth::Door;
use crate::edge::secure;
use crate::error::ApiError;
use crate::mcp;
use crate::resource::Asked;
use crate::router::{Server, routes};
use crate::traced;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Json, Router};
use bytes::Bytes;
use executor::Code;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use tower::Service;
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Counts a request out again however it ends.
struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request that goes on after its answer has begun.
pub(crate) struct Counted(Arc<Server>);

impl Counted {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        server.in_flight.fetch_add(1, Ordering::Relaxed);
        Counted(server)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The API as every connection sees it. What surrounds a request is a plain function, not a layer: a layer would
/// cost each request boxes of its own.
pub struct Api {
    routes: Router,
    server: Arc<Server>,
}

impl Api {
    pub fn new(server: Arc<Server>) -> Self {
        let routes = routes(Arc::clone(&server));
        Api { routes, server }
    }

    pub async fn answer(&self, request: Request) -> Response {
        let door = request.extensions().get().copied();
        self.answer_through(door, request).await
    }

    /// The same for a request that came through a door.
    pub(crate) async fn answer_through<B>(
        &self,
        door: Option<Door>,
        mut request: axum::http::Request<B>,
    ) -> Response
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<BoxError>,
    {
        let server = &self.server;
        let id = request
            .headers()
            .get(REQUEST_ID)
            .filter(|id| is_plain(id))
            .cloned();
        let id = id.unwrap_or_else(new_id);
        let asked = Asked::of(server, &request);
        let in_flight = server.in_flight.fetch_add(1, Ordering::Relaxed);
        let _leave = Leave(&server.in_flight);
        let is_message = mcp::is_message(&request);
        let span = traced::begin(server, &mut request);
        let context = span.as_ref().map(|span| span.context.clone());
        let mut response = if in_flight >= server.limits.requests_max {
            let why = "The server has too many requests at the moment; try again in a second";
            ApiError::new(Code::Overloaded, why).into_response()
        } else if let Err(refusal) = server.edge.check(door, &request) {
            refusal.into_response()
        } else if is_message {
            // What agents send most is not sent through the router, whose boxes cost more than reading it.
            let answer = Box::pin(mcp::answer(server, door, request));
            telemetry::within(context, without_panic(answer)).await
        } else {
            let mut routes = self.routes.clone();
            let mut request = request.map(Body::new);
            if let Some(door) = door {
                request.extensions_mut().insert(door);
            }
            // Boxed: what goes another way need not carry it.
            let routed = Box::pin(async move {
                let Ok(response) = routes.call(request).await;
                response
            });
            telemetry::within(context, without_panic(routed)).await
        };
        if let Some(asked) = asked {
            asked.challenge(server, &mut response);
        }
        let mut response = finish(response, id);
        if server.app.replicas.is_leaving() {
            // Whoever keeps a connection would find it closed; the next one leads to a server that stays.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        let counted = match is_message {
            true => &server.requests.mcp,
            false => &server.requests.api,
        };
        counted.count(response.status());
        traced::end(span, response.status());
        response
    }
}

/// Gives an error its envelope and every answer its id.
fn finish(mut response: Response, id: HeaderValue) -> Response {
    let error = response.extensions_mut().remove::<ApiError>();
    let bare = response.status().is_client_error() || response.status().is_server_error();
    let error = error.or_else(|| plain_rejection(&response).filter(|_| bare));
    if let Some(error) = error {
        let mut with_body = (
            error.status(),
            Json(error.into_body(id.to_str().unwrap_or_default())),
        )
            .into_response();
        for (name, value) in response.headers() {
            if name != header::CONTENT_TYPE && name != header::CONTENT_LENGTH {
                with_body.headers_mut().insert(name, value.clone());
            }
        }
        response = with_body;
    }
    // What another server has answered bears the id that it is known by there.
    response.headers_mut().entry(REQUEST_ID).or_insert(id);
    secure(&mut response);
    response
}

/// A refusal that axum itself wrote as plain text.
fn plain_rejection(response: &Response) -> Option<ApiError> {
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    // What we have written ourselves: for programs, and for people.
    if ["application/json", "text/html"]
        .iter()
        .any(|own| kind.starts_with(own))
    {
        return None;
    }
    Some(match response.status() {
        StatusCode::NOT_FOUND => ApiError::new(Code::NotFound, "There is nothing at this address"),
        StatusCode::METHOD_NOT_ALLOWED => ApiError::new(
            Code::MethodNotAllowed,
            "This address does not take that method; see the Allow header",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::new(Code::PayloadTooLarge, "The request is too large")
        }
        status if status.is_client_error() => ApiError::new(
            Code::InvalidRequest,
            "The address or its parameters are not valid",
        ),
        _ => ApiError::new(Code::Internal, "internal error"),
    })
}

fn is_plain(id: &HeaderValue) -> bool {
    let fine = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=64).contains(&id.len()) && id.as_bytes().iter().all(fine)
}

fn new_id() -> HeaderValue {
    let mut text = [0; uuid::fmt::Simple::LENGTH];
    let id = Uuid::new_v4().simple().encode_lower(&mut text);
    HeaderValue::from_str(id).unwrap_or(HeaderValue::from_static("unknown"))
}

/// A panic in a handler is logged by the runtime's hook and answered as an internal error.
async fn without_panic(work: impl Future<Output = Response>) -> Response {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        let poll = std::panic::catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        poll.unwrap_or_else(|_| {
            Poll::Ready(ApiError::new(Code::Internal, "internal error").into_response())
        })
    })
    .await
}
