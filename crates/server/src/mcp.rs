//! MCP over HTTP: one address for requests, with or without a session, and the older pair of a stream and an address to
//! post to. What is said is the face's business; here are headers, statuses and streams.

mod bodies;

use crate::auth::{CanRead, Door, is_token, lacks};
use crate::body::JsonText;
use crate::error::ApiError;
use crate::router::Server;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bodies::{json, pump, stream};
use catalog::caller::{Caller, Scope, Transport};
use executor::Code;
use face::headers::Headers;
use face::modern::is_modern;
use face::{Answer, Exchange, NoSession, Session, Step};
use mcp::wire::{self, Message, RpcError, code};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// How many messages one request may hold, in the version that allows several.
const BATCH_MAX: usize = 100;

/// Whoever may look at tools, over MCP.
pub(crate) struct Client {
    caller: Arc<Caller>,
    headers: HeaderMap,
    is_local: bool,
}

impl FromRequestParts<Arc<Server>> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
        // Whether a tool may be called is asked when it is.
        let CanRead(caller) = CanRead::from_request_parts(parts, server).await?;
        let path = Path::<HashMap<String, String>>::from_request_parts(parts, server).await;
        let toolset = match path {
            Ok(Path(mut all)) => all.remove("toolset"),
            Err(PathRejection::MissingPathParams(_)) => None,
            Err(_) => return Err(ApiError::new(Code::NotFound, "There is no such toolset")),
        };
        let mut caller = match toolset {
            None => Caller::clone(&caller),
            Some(name) => server.app.through_toolset(&caller, &name)?,
        };
        caller.transport = Transport::Mcp;
        Ok(Client {
            caller: Arc::new(caller),
            headers: parts.headers.clone(),
            is_local: parts.extensions.get::<Door>() == Some(&Door::Socket),
        })
    }
}

impl Client {
    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name).map(|it| it.to_str().unwrap_or(""))
    }

    fn accepts(&self, kind: &str) -> bool {
        let mut all = self.headers.get_all(header::ACCEPT).iter().peekable();
        let fits = |line: &HeaderValue| {
            let line = line.to_str().unwrap_or("").to_ascii_lowercase();
            let main = kind.split('/').next().unwrap_or(kind);
            line.contains(kind) || line.contains("*/*") || line.contains(&format!("{main}/*"))
        };
        all.peek().is_none() || all.any(fits)
    }

    /// The refusal of a token that may not call: its model could do nothing about it, but its program can ask for one
    /// that may.
    fn lack(&self, messages: &[Message<'_>]) -> Option<Response> {
        let is_call = |message: &Message<'_>| message.method.as_deref() == Some("tools/call");
        let may_call = self.caller.scopes.allow(Scope::Call) || !is_token(&self.headers);
        let lacks_it = !may_call && messages.iter().any(is_call);
        lacks_it.then(|| lacks(&self.caller, Scope::Call).into_response())
    }

    fn session(&self, server: &Server) -> Result<Option<Arc<Session>>, Response> {
        let Some(id) = self.header(&SESSION) else {
            return Ok(None);
        };
        let found = server.face.sessions.get(id, &self.caller);
        found.map(Some).map_err(|_| no_session())
    }
}

fn refuse(status: StatusCode, error: &RpcError) -> Response {
    json(status, wire::error(None, error))
}

/// What tells a legacy client to begin anew.
fn no_session() -> Response {
    let error = RpcError::new(-32001, "There is no such session; initialize a new one");
    refuse(StatusCode::NOT_FOUND, &error)
}

/// A message from the client.
pub(crate) async fn post(
    State(server): State<Arc<Server>>,
    client: Client,
    JsonText(text): JsonText,
) -> Response {
    if !client.accepts("application/json") && !client.accepts("text/event-stream") {
        let why = "Accept must name application/json and text/event-stream";
        return refuse(
            StatusCode::NOT_ACCEPTABLE,
            &RpcError::new(code::INVALID_REQUEST, why),
        );
    }
    if text.trim_start().starts_with('[') {
        return several(&server, &client, &text).await;
    }
    let message = match Message::read(&text) {
        Ok(message) => message,
        Err(error) => return unreadable(&error),
    };
    if let Some(refusal) = client.lack(std::slice::from_ref(&message)) {
        return refusal;
    }
    if is_modern(client.header(&VERSION), &message) {
        let exchange = modern(&server, &client, &message);
        return answered(&client, exchange).await;
    }
    match client.session(&server) {
        Err(refusal) => refusal,
        Ok(Some(session)) => {
            let exchange = server.face.in_session(&session, &client.caller, &message);
            answered(&client, exchange).await
        }
        Ok(None) if message.method.as_deref() == Some("initialize") => {
            initialized(&server, &client, &message)
        }
        Ok(None) => {
            let why = "A session is needed: send initialize first, and its Mcp-Session-Id with every request";
            let error = RpcError::new(-32000, why);
            json(StatusCode::BAD_REQUEST, wire::error(message.id, &error))
        }
    }
}

fn modern(server: &Server, client: &Client, message: &Message<'_>) -> Option<Exchange> {
    let param = |name: &str| {
        let value = client.headers.get(format!("mcp-param-{name}"))?;
        value.to_str().ok().map(str::to_owned)
    };
    let headers = Headers {
        version: client.header(&VERSION),
        method: client.header(&METHOD),
        name: client.header(&NAME),
        // Through the owner's socket nobody stands between.
        param: (!client.is_local).then_some(&param as _),
    };
    server.face.modern(&client.caller, &headers, message)
}

fn unreadable(error: &serde_json::Error) -> Response {
    let error = match error.classify() {
        serde_json::error::Category::Data => {
            RpcError::new(code::INVALID_REQUEST, "This is no JSON-RPC message")
        }
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
async fn answered(client: &Client, exchange: Option<Exchange>) -> Response {
    let Some(mut exchange) = exchange else {
        return StatusCode::ACCEPTED.into_response();
    };
    let can_stream = client.accepts("text/event-stream");
    loop {
        match exchange.next().await {
            Step::Said(first) if can_stream => return stream(first, exchange),
            // It said that it takes no stream, so it does not get to know.
            Step::Said(_) => {}
            Step::Done(Answer { text, status }) => {
                return json(StatusCode::from_u16(status).unwrap_or_default(), text);
            }
        }
    }
}

/// Several messages at once, as one version of the protocol had it. Their answers come together.
async fn several(server: &Server, client: &Client, text: &str) -> Response {
    let session = match client.session(server) {
        Ok(Some(session)) => session,
        Ok(None) => {
            let why = "Several messages at once need a session";
            return refuse(
                StatusCode::BAD_REQUEST,
                &RpcError::new(code::INVALID_REQUEST, why),
            );
        }
        Err(refusal) => return refusal,
    };
    let messages: Vec<Message<'_>> = match serde_json::from_str(text) {
        Ok(messages) => messages,
        Err(error) => return unreadable(&error),
    };
    if messages.is_empty() || messages.len() > BATCH_MAX {
        let why = format!("1 to {BATCH_MAX} messages may come at once");
        return refuse(
            StatusCode::BAD_REQUEST,
            &RpcError::new(code::INVALID_REQUEST, why),
        );
    }
    if let Some(refusal) = client.lack(&messages) {
        return refusal;
    }
    let mut answers = Vec::new();
    for message in &messages {
        let exchange = server.face.in_session(&session, &client.caller, message);
        if let Some(mut exchange) = exchange {
            loop {
                if let Step::Done(answer) = exchange.next().await {
                    answers.push(answer.text.into_string());
                    break;
                }
            }
        }
    }
    match answers.is_empty() {
        true => StatusCode::ACCEPTED.into_response(),
        false => json(StatusCode::OK, format!("[{}]", answers.join(","))),
    }
}

/// The stream of what we say unasked, for a session.
pub(crate) async fn listen(State(server): State<Arc<Server>>, client: Client) -> Response {
    if !client.accepts("text/event-stream") {
        let error = RpcError::new(code::INVALID_REQUEST, "Accept must name text/event-stream");
        return refuse(StatusCode::NOT_ACCEPTABLE, &error);
    }
    match client.session(&server) {
        Err(refusal) => refusal,
        Ok(Some(session)) => pump(&server, session.stream(), None, || ()),
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
    match client.session(&server) {
        Err(refusal) => refusal,
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
    match server.face.open(&client.caller) {
        Err(_) => {
            let error = RpcError::new(-32000, "Too many sessions are open; try again later");
            refuse(StatusCode::SERVICE_UNAVAILABLE, &error)
        }
        Ok(session) => {
            let toolset = client.caller.toolset.iter();
            let toolset: String = toolset.map(|name| format!("/{name}")).collect();
            let address = format!("/messages{toolset}?session_id={}", session.id);
            let first = format!("event: endpoint\ndata: {address}\n\n");
            let (said, ended) = (session.stream(), Arc::clone(&server));
            pump(&server, said, Some(first), move || {
                ended.face.sessions.end(&session)
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
    let request = Request::from_parts(parts, body);
    let text = match JsonText::from_request(request, &server).await {
        Ok(JsonText(text)) => text,
        Err(refusal) => return refusal.into_response(),
    };
    let Ok(Query(Posted { session_id })) = query else {
        return no_session();
    };
    let Ok(session) = server.face.sessions.get(&session_id, &client.caller) else {
        return no_session();
    };
    let message = match Message::read(&text) {
        Ok(message) => message,
        Err(error) => return unreadable(&error),
    };
    if let Some(refusal) = client.lack(std::slice::from_ref(&message)) {
        return refusal;
    }
    if let Some(mut exchange) = server.face.in_session(&session, &client.caller, &message) {
        tokio::spawn(async move {
            loop {
                match exchange.next().await {
                    Step::Said(text) => session.deliver(text).await,
                    Step::Done(answer) => return session.deliver(answer.text.into_string()).await,
                }
            }
        });
    }
    StatusCode::ACCEPTED.into_response()
}
