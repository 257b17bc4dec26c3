//! Running tools: a saved one by name, or a definition that is being tried out.

use crate::auth::{CanAuthor, CanCall};
use crate::body::{IdempotencyKey, JsonBody, PathOf};
use crate::error::{ApiError, ErrorBody, call_response};
use crate::router::Server;
use crate::traced::Trace;
use app::plans::PlanView;
use app::tool_tests::TestReport;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use executor::{CallRequest, ToolResponse};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"arguments": {"expression": "12.5% of 340"}}))]
pub(crate) struct CallBody {
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    arguments: Value,
    /// May only shorten the tool's own deadline.
    timeout_seconds: Option<f64>,
    /// The same key with the same arguments within a day gives the stored answer and never runs twice.
    idempotency_key: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestBody {
    /// A tool's definition, not saved.
    #[schema(value_type = Object)]
    tool: Value,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    arguments: Value,
}

/// Runs the tests that are saved with a tool, as calls of yours. How they ended is shown with the tool from then on.
#[utoipa::path(post, path = "/api/v1/tools/{name}/tests", tag = "calls",
    params(("name" = String, Path, description = "Name or id")),
    responses((status = 200, body = TestReport, description = "Also where tests failed"), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn run_tests(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    PathOf(name): PathOf<String>,
) -> Result<Json<TestReport>, ApiError> {
    Ok(Json(server.app.run_tests(&caller, &name).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainBody {
    /// A definition with this name that is not saved: its query is planned instead.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    tool: Value,
    /// What a call would be given, and checked as its arguments are. Where nothing is said of them, they are null.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    arguments: Value,
}

/// How the database would run the query of an sql tool. Nothing is run.
#[utoipa::path(post, path = "/api/v1/tools/{name}/explain", tag = "calls",
    params(("name" = String, Path, description = "Name or id")), request_body = ExplainBody,
    responses((status = 200, body = PlanView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn explain_tool(
    State(server): State<Arc<Server>>,
    CanCall(_may_call): CanCall,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    JsonBody(body): JsonBody<ExplainBody>,
) -> Result<Json<PlanView>, ApiError> {
    let arguments = Some(body.arguments).filter(|given| !given.is_null());
    let app = &server.app;
    let plan = match body.tool.is_null() {
        true => app.explain_tool(caller, &name, arguments).await?,
        false => {
            let unsaved = (name.as_str(), &body.tool);
            app.explain_unsaved(caller, unsaved, arguments).await?
        }
    };
    Ok(Json(plan))
}

/// A call that did not succeed.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its shape is of use, in the API's document")]
pub(crate) enum CallRefused {
    Answer(ToolResponse),
    Error(ErrorBody),
}

/// Runs a tool.
#[utoipa::path(post, path = "/api/v1/tools/{name}/call", tag = "calls",
    params(("name" = String, Path, description = "Name or id"),
        ("Idempotency-Key" = Option<String>, Header, description = "As `idempotency_key` in the body")),
    request_body = CallBody,
    responses((status = 200, body = ToolResponse, description = "The tool ran"),
        (status = "4XX", body = CallRefused, description = "Refused by the executor. What is refused before it (no key, a broken body) has the common error shape"),
        (status = "5XX", body = CallRefused, description = "The tool failed")))]
pub(crate) async fn call_tool(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    PathOf(name): PathOf<String>,
    IdempotencyKey(key): IdempotencyKey,
    Trace(trace): Trace,
    JsonBody(body): JsonBody<CallBody>,
) -> Result<Response, ApiError> {
    let key = body.idempotency_key.or(key);
    let request = CallRequest {
        tool: name,
        arguments: or_empty(body.arguments),
        timeout_seconds: body.timeout_seconds,
        trace,
        ..CallRequest::default()
    };
    Ok(call_response(&server.app.call(caller, request, key).await?))
}

/// Runs a definition without saving it.
#[utoipa::path(post, path = "/api/v1/tools/test", tag = "calls", request_body = TestBody,
    responses((status = 200, body = ToolResponse), (status = "4XX", body = CallRefused), (status = "5XX", body = CallRefused)))]
pub(crate) async fn test_tool(
    State(server): State<Arc<Server>>,
    CanCall(_may_call): CanCall,
    CanAuthor(caller): CanAuthor,
    JsonBody(body): JsonBody<TestBody>,
) -> Result<Response, ApiError> {
    let answer = server
        .app
        .test_tool(caller, &body.tool, or_empty(body.arguments))
        .await?;
    Ok(call_response(&answer))
}

/// No arguments are an empty object.
fn or_empty(arguments: Value) -> Value {
    if arguments.is_null() {
        Value::Object(serde_json::Map::new())
    } else {
        arguments
    }
}
