//! Runs: an agent, or the built-in planner, answers a request by calling tools. Begun, followed, answered, cancelled.

use super::tools::owned;
use crate::auth::{CanCall, CanRead};
use crate::body::{IdempotencyKey, JsonBody, PathOf, QueryOf, present};
use crate::error::{ApiError, ErrorBody};
use crate::mcp::bodies::told;
use crate::mcp::seat;
use crate::router::Server;
use app::runs::{Answer, Position, RunEvent, RunFilter, RunPage, RunRequest, RunView};
use axum::Json;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use executor::Code;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// How long an answer is waited for where nobody says.
const WAIT: Duration = Duration::from_secs(600);

/// What is wanted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"input": "What is 12.5% of 340?"}))]
pub(crate) struct RunBody {
    /// What to do, in words.
    input: String,
    /// An agent, by name or id. Without one, the configured model or the built-in planner.
    agent: Option<String>,
    /// The only tools that may be used, at least one; all that you may call where it is left out.
    #[schema(min_items = 1)]
    tools: Option<Vec<String>>,
    /// A JSON schema that the output must fit.
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Value>,
    /// A run that is over: its conversation goes on.
    after: Option<String>,
    /// Whether the answer comes when the run is over or waits for somebody; true unless given.
    wait: Option<bool>,
    /// At most so many seconds are waited; 600 unless given.
    wait_seconds: Option<f64>,
    /// Whether the answer is a stream of events.
    #[serde(default)]
    stream: bool,
    /// The same key again gives the same run.
    idempotency_key: Option<String>,
}

/// Begins a run.
#[utoipa::path(post, path = "/api/v1/runs", tag = "runs", request_body = RunBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "As `idempotency_key` in the body")),
    responses((status = 200, body = RunView, description = "It is over, or waits for somebody"),
        (status = 202, body = RunView, description = "It is under way"), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn begin_run(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    IdempotencyKey(key): IdempotencyKey,
    JsonBody(body): JsonBody<RunBody>,
) -> Result<Response, ApiError> {
    let within = waited(body.wait_seconds)?;
    let request = RunRequest {
        input: body.input,
        agent: body.agent,
        tools: body.tools,
        output_schema: body.output_schema,
        after: body.after,
        idempotency_key: body.idempotency_key.or(key),
    };
    // Before it begins: nobody is refused a run that has begun.
    let seat = match body.stream.then(|| seat(&server)).transpose() {
        Ok(seat) => seat,
        Err(refusal) => return Ok(refusal),
    };
    let work = {
        let (app, caller) = (Arc::clone(&server.app), Arc::clone(&caller));
        async move { app.begin_run(&caller, request).await }
    };
    let id = owned(work).await?.to_string();
    if let Some(seat) = seat {
        let follower = server
            .app
            .follow_run(&caller, &id, Position::default())
            .await?;
        return Ok((place(&id), told(&server, caller, follower, seat)).into_response());
    }
    let view = match body.wait.unwrap_or(true) {
        true => server.app.wait_for_run(&caller, &id, within).await?,
        false => server.app.get_run(&caller, &id).await?,
    };
    let status = match view.status.as_str() {
        "running" => StatusCode::ACCEPTED,
        _ => StatusCode::OK,
    };
    Ok((status, place(&id), Json(view)).into_response())
}

/// Where a run is found: whoever only follows its events could neither answer nor cancel it else.
fn place(id: &str) -> [(HeaderName, String); 1] {
    [(LOCATION, format!("/api/v1/runs/{id}"))]
}

fn waited(seconds: Option<f64>) -> Result<Duration, ApiError> {
    let seconds = seconds.unwrap_or(WAIT.as_secs_f64());
    match (0.0..=3_600.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => {
            let why = format!("wait_seconds: expected a number from 0 to 3600, got {seconds}");
            Err(ApiError::new(Code::Invalid, why))
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunQuery {
    /// running, needs_input, done, failed, cancelled or expired.
    status: Option<String>,
    /// The agent's name or id.
    agent: Option<String>,
    /// The name of whoever began it; admins see everybody's.
    owner: Option<String>,
    /// 1 to 500; 50 unless given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists runs, the newest first: yours, or everybody's for admins.
#[utoipa::path(get, path = "/api/v1/runs", tag = "runs", params(RunQuery),
    responses((status = 200, body = RunPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_runs(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    QueryOf(query): QueryOf<RunQuery>,
) -> Result<Json<RunPage>, ApiError> {
    let filter = RunFilter {
        status: query.status,
        agent: query.agent,
        owner: query.owner,
        limit: query.limit,
        cursor: query.cursor,
    };
    Ok(Json(server.app.list_runs(&caller, &filter).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// Seconds to wait until it is over or waits for somebody; 0 unless given.
    #[param(minimum = 0, maximum = 3600)]
    wait_seconds: Option<f64>,
}

/// One run.
#[utoipa::path(get, path = "/api/v1/runs/{id}", tag = "runs", params(("id" = String, Path), WaitQuery),
    responses((status = 200, body = RunView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_run(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(id): PathOf<String>,
    QueryOf(query): QueryOf<WaitQuery>,
) -> Result<Json<RunView>, ApiError> {
    let within = waited(query.wait_seconds.or(Some(0.0)))?;
    Ok(Json(server.app.wait_for_run(&caller, &id, within).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventQuery {
    /// The id of the last event that is known; the header `Last-Event-ID` says the same.
    after: Option<String>,
}

/// What happens in a run, as events: plan, tool_call, tool_started, tool_result, text_delta, text_reset, needs_input,
/// answered, progress, note, done, error. Those with an id can be gone on from.
#[utoipa::path(get, path = "/api/v1/runs/{id}/events", tag = "runs",
    params(("id" = String, Path), EventQuery, ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn run_events(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(id): PathOf<String>,
    QueryOf(query): QueryOf<EventQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let last = headers.get("last-event-id").and_then(|it| it.to_str().ok());
    let last = last.map(str::to_owned).or(query.after);
    let from = position(last.as_deref())?;
    let follower = server.app.follow_run(&caller, &id, from).await?;
    match seat(&server) {
        Ok(seat) => Ok(told(&server, caller, follower, seat)),
        Err(refusal) => Ok(refusal),
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogQuery {
    /// The id of the last event that is known.
    after: Option<String>,
    /// Seconds to wait for the first; 0 unless given.
    #[param(minimum = 0, maximum = 3600)]
    wait_seconds: Option<f64>,
}

/// Events of a run, as they are told in its stream.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunLog {
    events: Vec<RunEvent>,
    /// Whether there are no more to come.
    is_over: bool,
}

/// The same events as JSON: those that there are, or the first that comes within `wait_seconds`.
#[utoipa::path(get, path = "/api/v1/runs/{id}/log", tag = "runs", params(("id" = String, Path), LogQuery),
    responses((status = 200, body = RunLog), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn run_log(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(id): PathOf<String>,
    QueryOf(query): QueryOf<LogQuery>,
) -> Result<Json<RunLog>, ApiError> {
    let within = waited(query.wait_seconds.or(Some(0.0)))?;
    let from = position(query.after.as_deref())?;
    let mut follower = server.app.follow_run(&caller, &id, from).await?;
    let mut events = Vec::new();
    // What is stored is there already: it is told to those who wait for nothing, too.
    let first = tokio::time::timeout(within, follower.next());
    if let Ok(first) = first.await {
        events.extend(first?);
    }
    events.extend(follower.ready());
    Ok(Json(RunLog {
        is_over: follower.is_over(),
        events,
    }))
}

fn position(last: Option<&str>) -> Result<Position, ApiError> {
    match last {
        None | Some("") => Ok(Position::default()),
        Some(id) => Position::read(id).ok_or_else(|| {
            let why = format!("after: expected the id of an event, got '{id}'");
            ApiError::new(Code::Invalid, why)
        }),
    }
}

/// What somebody answers.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"request_id": "…", "answer": "blue"}))]
pub(crate) struct InputBody {
    request_id: String,
    /// For a question what its schema asks for; for an approval `{"decision": "approve|edit|reject|respond|always",
    /// "arguments"?, "text"?}`.
    #[schema(value_type = Object)]
    #[serde(default, deserialize_with = "present")]
    answer: Option<Value>,
    /// In the place of an answer: somebody does not want to give one, and the run goes on without.
    #[serde(default)]
    decline: bool,
}

/// Answers what a run asks; it goes on at once.
#[utoipa::path(post, path = "/api/v1/runs/{id}/input", tag = "runs", params(("id" = String, Path)), request_body = InputBody,
    responses((status = 200, body = RunView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn answer_run(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    PathOf(id): PathOf<String>,
    JsonBody(body): JsonBody<InputBody>,
) -> Result<Json<RunView>, ApiError> {
    if body.answer.is_some() == body.decline {
        let why = "answer: expected an answer, or \"decline\": true, and not both";
        return Err(ApiError::new(Code::Invalid, why));
    }
    let answer = Answer {
        request_id: body.request_id,
        answer: body.answer,
    };
    let work = async move { server.app.answer_run(&caller, &id, answer).await };
    Ok(Json(owned(work).await?))
}

/// Stops a run.
#[utoipa::path(post, path = "/api/v1/runs/{id}/cancel", tag = "runs", params(("id" = String, Path)),
    responses((status = 200, body = RunView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn cancel_run(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    PathOf(id): PathOf<String>,
) -> Result<Json<RunView>, ApiError> {
    let work = async move { server.app.cancel_run(&caller, &id).await };
    Ok(Json(owned(work).await?))
}
