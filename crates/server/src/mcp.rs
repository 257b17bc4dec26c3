//! MCP over HTTP: one address for requests, with or without a session, and the older pair of a stream and an address to
//! post to. What is said is the face's business; here are headers, statuses and streams.

pub(crate) mod bodies;
mod client;

use crate::auth::Door;
use crate::body::{read_body, text};
use crate::error::ApiError;
use crate::forward::Lost;
use crate::request::Counted;
use crate::router::Server;
use crate::traced;
use axum::extract::{FromRequestParts, Query, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bodies::{json, pump, stream};
use bytes::Bytes;
use client::Client;
use executor::Code;
use face::headers::Headers;
use face::modern::{Elsewhere, is_modern};
use face::{Answer, Exchange, Hears, NoSession, Session, Step};
use mcp::wire::{self, Message, RpcError, Sort, code};
use serde::Deserialize;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// How many messages one request may hold, in the version that allows several.
const BATCH_MAX: usize = 100;

const NO_MESSAGE: &str = "This is no JSON-RPC message: expected an object with \"jsonrpc\": \"2.0\" and a \"method\", or the answer to a request";

fn refuse(status: StatusCode, error: &RpcError) -> Response {
    json(status, wire::error(None, error))
}

/// What tells a legacy client to begin anew.
fn no_session() -> Response {
    let error = RpcError::new(-32001, "There is no such session; initialize a new one");
    refuse(StatusCode::NOT_FOUND, &error)
}

const UNANSWERED: &str =
    "The server that keeps this did not answer; whether it did what it was asked is not known";

/// Why another server's session cannot be used.
fn no_session_there(lost: Lost) -> Response {
    match lost {
        Lost::Gone => no_session(),
        Lost::Unanswered => {
            let error = RpcError::new(code::INTERNAL, UNANSWERED);
            refuse(StatusCode::BAD_GATEWAY, &error)
        }
    }
}

fn no_stream() -> Response {
    let error = RpcError::new(code::INVALID_REQUEST, "Accept must name text/event-stream");
    refuse(StatusCode::NOT_ACCEPTABLE, &error)
}

/// A message from the client.
pub(crate) async fn post(State(server): State<Arc<Server>>, request: Request) -> Response {
    let door = request.extensions().get().copied();
    answer(&server, door, request).await
}

/// Whether this is a message to one of our addresses. What is written in an unusual way is left to the router.
pub(crate) fn is_message<B>(request: &axum::http::Request<B>) -> bool {
    request.method() == Method::POST && client::toolset_in(request.uri().path()).is_some()
}

pub(crate) async fn answer<B>(
    server: &Arc<Server>,
    door: Option<Door>,
    request: axum::http::Request<B>,
) -> Response
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
{
    let (parts, body) = request.into_parts();
    let client = match Client::of(parts, door, server).await {
        Ok(client) => client,
        Err(refusal) => return refusal.into_response(),
    };
    let body = match read_body(&client.headers, body, server).await {
        Ok(body) => body,
        Err(refusal) => return refusal.into_response(),
    };
    match text(&body) {
        Ok(text) => answer_to(server, client, &body, text).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn answer_to(server: &Arc<Server>, client: Client, body: &Bytes, text: &str) -> Response {
    if !client.accepts("application/json") && !client.accepts("text/event-stream") {
        let why = "Accept must name application/json and text/event-stream";
        return refuse(
            StatusCode::NOT_ACCEPTABLE,
            &RpcError::new(code::INVALID_REQUEST, why),
        );
    }
    if text.trim_start().starts_with('[') {
        // Boxed, as is whatever else is not a single message that is answered.
        return Box::pin(several(server, &client, body, text)).await;
    }
    let mut message = match Message::read(text) {
        Ok(message) => message,
        Err(error) => return unreadable(&error),
    };
    message.trace = traced::context(&client.headers).map(Box::new);
    if let Some(refusal) = client.lack(std::slice::from_ref(&message)) {
        return refusal;
    }
    if is_modern(client.header(&VERSION), &message) {
        if message.method.as_deref() == Some("subscriptions/listen") {
            return Box::pin(subscribed(Arc::clone(server), client, &message)).await;
        }
        return match modern(server, &client, &message) {
            Ok(exchange) => answered(server, &client, exchange).await,
            Err(Elsewhere(keeper)) => {
                let passed = client.pass_on(server, &keeper, body.clone());
                let passed = Box::pin(passed).await;
                passed.unwrap_or_else(|lost| unkept(lost, &message))
            }
        };
    }
    match client.session(server, body).await {
        Err(answered) => answered,
        Ok(Some(session)) => {
            let face = &server.face;
            let exchange = face.in_session(&session, &client.caller, &message, client.hears());
            answered(server, &client, exchange).await
        }
        Ok(None) if message.sort() == Sort::Odd => {
            let error = RpcError::new(code::INVALID_REQUEST, NO_MESSAGE);
            json(StatusCode::BAD_REQUEST, wire::error(message.id, &error))
        }
        Ok(None) if message.method.as_deref() == Some("initialize") => {
            initialized(server, &client, &message)
        }
        Ok(None) => {
            let why = "A session is needed: send initialize first, and over HTTP its Mcp-Session-Id with every request; or name the version 2026-07-28 in params._meta of each request, which needs none";
            let error = RpcError::new(-32000, why);
            json(StatusCode::BAD_REQUEST, wire::error(message.id, &error))
        }
    }
}

/// What is told to whoever comes back to a request that another server kept.
fn unkept(lost: Lost, message: &Message<'_>) -> Response {
    let (status, code, why) = match lost {
        Lost::Gone => (
            StatusCode::BAD_REQUEST,
            code::INVALID_PARAMS,
            "params.requestState: the server that kept this request is gone, and the request with it; send it anew, without requestState and inputResponses",
        ),
        Lost::Unanswered => (StatusCode::BAD_GATEWAY, code::INTERNAL, UNANSWERED),
    };
    json(status, wire::error(message.id, &RpcError::new(code, why)))
}

fn modern(
    server: &Server,
    client: &Client,
    message: &Message<'_>,
) -> Result<Option<Exchange>, Elsewhere> {
    let param = |name: &str| {
        let value = client.headers.get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let headers = Headers {
        version: client.header(&VERSION),
        method: client.header(&METHOD),
        name: client.header(&NAME),
        // Through the owner's socket nobody stands between.
        param: (client.door != Some(Door::Socket)).then_some(&param as _),
    };
    server.face.modern(&client.caller, &headers, message)
}

fn unreadable(error: &serde_json::Error) -> Response {
    let error = match error.classify() {
        serde_json::error::Category::Data => RpcError::new(code::INVALID_REQUEST, NO_MESSAGE),
        _ => RpcError::new(code::PARSE, format!("The body is not JSON: {error}")),
    };
    refuse(StatusCode::BAD_REQUEST, &error)
}

fn initialized(server: &Server, client: &Client, message: &Message<'_>) -> Response {
    match server.face.initialize(&client.caller, message) {
        Err((answer, NoSession::TooMany)) => json(StatusCode::SERVICE_UNAVAILABLE, answer.text),
        Err((answer, NoSession::Unknown)) => json(StatusCode::BAD_REQUEST, answer.text),
        Ok((session, answer)) => {
            let mut response = json(StatusCode::OK, answer.text);
            if let Ok(id) = HeaderValue::from_str(&session.id) {
                response.headers_mut().insert(SESSION, id);
            }
            response
        }
    }
}

/// JSON where the answer comes first, a stream where something else does.
async fn answered(server: &Arc<Server>, client: &Client, exchange: Option<Exchange>) -> Response {
    let Some(mut exchange) = exchange else {
        return StatusCode::ACCEPTED.into_response();
    };
    loop {
        match exchange.next().await {
            Step::Said(first) if client.hears() == Hears::Everything => {
                // It is a request as before, until its answer is out.
                let counted = Counted::new(Arc::clone(server));
                let over = async move {
                    let _counted = counted;
                    std::future::pending().await
                };
                return stream(server, first, exchange, over);
            }
            // It said that it takes no stream, so it does not get to know.
            Step::Said(_) => {}
            Step::Done(Answer { text, status }) => {
                return json(StatusCode::from_u16(status).unwrap_or_default(), text);
            }
        }
    }
}

/// A stream that lasts as long as its client does, and may use it.
async fn subscribed(server: Arc<Server>, client: Client, message: &Message<'_>) -> Response {
    if !client.accepts("text/event-stream") {
        return no_stream();
    }
    let seat = match seat(&server) {
        Ok(seat) => seat,
        Err(refusal) => return refusal,
    };
    let mut exchange = match modern(&server, &client, message) {
        Ok(Some(exchange)) => exchange,
        Ok(None) => return StatusCode::ACCEPTED.into_response(),
        // Nothing that waits is gone on with in this way.
        Err(Elsewhere(_)) => return unkept(Lost::Gone, message),
    };
    match exchange.next().await {
        Step::Said(first) => stream(&Arc::clone(&server), first, exchange, async move {
            let _seat = seat;
            client.shut_out(server).await;
        }),
        Step::Done(Answer { text, status }) => {
            json(StatusCode::from_u16(status).unwrap_or_default(), text)
        }
    }
}

/// The right to have a stream that ends only with its client.
pub(crate) fn seat(server: &Server) -> Result<OwnedSemaphorePermit, Response> {
    Arc::clone(&server.streams)
        .try_acquire_owned()
        .map_err(|_| {
            let why = "The server has too many open streams at the moment; try again in a second";
            ApiError::new(Code::Overloaded, why).into_response()
        })
}

/// Several messages at once, as one version of the protocol had it. Their answers come together.
async fn several(server: &Arc<Server>, client: &Client, body: &Bytes, text: &str) -> Response {
    let session = match client.session(server, body).await {
        Ok(Some(session)) => session,
        Ok(None) => {
            let why = "Several messages at once need a session";
            return refuse(
                StatusCode::BAD_REQUEST,
                &RpcError::new(code::INVALID_REQUEST, why),
            );
        }
        Err(answered) => return answered,
    };
    let messages = match all_of(client, text) {
        Ok(messages) => messages,
        Err(refusal) => return refusal,
    };
    match together(server, client, &session, &messages).await {
        None => StatusCode::ACCEPTED.into_response(),
        Some(answers) => json(StatusCode::OK, answers),
    }
}

/// The messages that came at once, or why none of them is taken.
fn all_of<'a>(client: &Client, text: &'a str) -> Result<Vec<Message<'a>>, Response> {
    let messages: Vec<Message<'_>> =
        serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    if messages.is_empty() || messages.len() > BATCH_MAX {
        let why = format!("1 to {BATCH_MAX} messages may come at once");
        let error = RpcError::new(code::INVALID_REQUEST, why);
        return Err(refuse(StatusCode::BAD_REQUEST, &error));
    }
    match client.lack(&messages) {
        Some(refusal) => Err(refusal),
        None => Ok(messages),
    }
}

/// Their answers in one text, if any of them has one.
async fn together(
    server: &Server,
    client: &Client,
    session: &Arc<Session>,
    messages: &[Message<'_>],
) -> Option<String> {
    let mut answers = Vec::new();
    for message in messages {
        let face = &server.face;
        let exchange = face.in_session(session, &client.caller, message, Hears::AnswersOnly);
        if let Some(mut exchange) = exchange {
            loop {
                if let Step::Done(answer) = exchange.next().await {
                    answers.push(answer.text.into_string());
                    break;
                }
            }
        }
    }
    (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
}

/// The stream of what we say unasked, for a session.
pub(crate) async fn listen(State(server): State<Arc<Server>>, client: Client) -> Response {
    if !client.accepts("text/event-stream") {
        return no_stream();
    }
    match client.session(&server, &Bytes::new()).await {
        Err(answered) => answered,
        Ok(Some(session)) => match seat(&server) {
            Err(refusal) => refusal,
            Ok(seat) => {
                let said = session.stream();
                let over = client.shut_out(Arc::clone(&server));
                pump(&server, said, None, over, move || drop(seat))
            }
        },
        Ok(None) => {
            let error = RpcError::new(-32000, "Only a session has a stream");
            let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, &error);
            let allowed = HeaderValue::from_static("POST");
            response.headers_mut().insert(header::ALLOW, allowed);
            response
        }
    }
}

/// The end of a session.
pub(crate) async fn end(State(server): State<Arc<Server>>, client: Client) -> Response {
    match client.session(&server, &Bytes::new()).await {
        Err(answered) => answered,
        Ok(Some(session)) => {
            server.face.sessions.end(&session);
            StatusCode::NO_CONTENT.into_response()
        }
        Ok(None) => {
            let error = RpcError::new(-32000, "There is no session to end");
            refuse(StatusCode::METHOD_NOT_ALLOWED, &error)
        }
    }
}

/// The older transport: a stream that tells where to post.
pub(crate) async fn sse(State(server): State<Arc<Server>>, client: Client) -> Response {
    let seat = match seat(&server) {
        Ok(seat) => seat,
        Err(refusal) => return refusal,
    };
    match server.face.open(&client.caller) {
        Err(_) => {
            let error = RpcError::new(-32000, "Too many sessions are open; try again later");
            refuse(StatusCode::SERVICE_UNAVAILABLE, &error)
        }
        Ok(session) => {
            let toolset = client.caller.toolset.iter();
            let toolset: String = toolset.map(|name| format!("/{name}")).collect();
            let names = client.caller.names.iter();
            let names: String = names.map(|it| format!("&names={}", it.as_str())).collect();
            let address = format!("/messages{toolset}?session_id={}{names}", session.id);
            let first = format!("event: endpoint\ndata: {address}\n\n");
            let (said, ended) = (session.stream(), Arc::clone(&server));
            let over = client.shut_out(Arc::clone(&server));
            pump(&server, said, Some(first), over, move || {
                ended.face.sessions.end(&session);
                drop(seat);
            })
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Posted {
    session_id: String,
}

/// A message of the older transport; its answer comes on the stream.
pub(crate) async fn message(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let client = match Client::from_request_parts(&mut parts, &server).await {
        Ok(client) => client,
        Err(refusal) => return refusal.into_response(),
    };
    let query = Query::<Posted>::try_from_uri(&parts.uri);
    let body = match read_body(&parts.headers, body, &server).await {
        Ok(body) => body,
        Err(refusal) => return refusal.into_response(),
    };
    let text = match text(&body) {
        Ok(text) => text,
        Err(refusal) => return refusal.into_response(),
    };
    let Ok(Query(Posted { session_id })) = query else {
        return no_session();
    };
    let session = match client.session_of(&server, &session_id, &body).await {
        Ok(session) => session,
        Err(answered) => return answered,
    };
    if text.trim_start().starts_with('[') {
        return several_messages(server, client, session, text.to_owned());
    }
    let message = match Message::read(text) {
        Ok(message) => message,
        Err(error) => return unreadable(&error),
    };
    if let Some(refusal) = client.lack(std::slice::from_ref(&message)) {
        return refusal;
    }
    let face = &server.face;
    let exchange = face.in_session(&session, &client.caller, &message, Hears::Everything);
    if let Some(mut exchange) = exchange {
        let counted = Counted::new(Arc::clone(&server));
        tokio::spawn(async move {
            let _counted = counted;
            loop {
                match exchange.next().await {
                    Step::Said(text) => exchange.beside(session.deliver(text)).await,
                    Step::Done(answer) => return session.deliver(answer.text.into_string()).await,
                }
            }
        });
    }
    StatusCode::ACCEPTED.into_response()
}

/// The same for several at once, whose answers come together.
fn several_messages(
    server: Arc<Server>,
    client: Client,
    session: Arc<Session>,
    text: String,
) -> Response {
    if let Err(refusal) = all_of(&client, &text) {
        return refusal;
    }
    let counted = Counted::new(Arc::clone(&server));
    tokio::spawn(async move {
        let _counted = counted;
        // They were readable a moment ago.
        let Ok(messages) = all_of(&client, &text) else {
            return;
        };
        if let Some(answers) = together(&server, &client, &session, &messages).await {
            session.deliver(answers).await;
        }
    });
    StatusCode::ACCEPTED.into_response()
}
