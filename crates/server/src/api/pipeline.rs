//! The seven-step pipeline.

use crate::auth::CanCall;
use crate::body::JsonBody;
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use crate::traced::Trace;
use app::pipeline::{PipelineState, Request};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"query": "What is 12.5% of 340?",
    "plan": {"tools": ["calculator"], "calculator_input": {"expression": "12.5% of 340"}}}))]
pub(crate) struct PipelineBody {
    query: String,
    /// The tools to call, `tools`, in this order; `<tool>_input` has the arguments of each. Other members are kept. Where no
    /// plan is given, one is made for the query.
    #[schema(value_type = Option<Object>)]
    plan: Option<Map<String, Value>>,
    /// How long all tools may take together; may only shorten the configured one.
    timeout_seconds: Option<f64>,
}

/// Runs a query through intent, retrieve, plan, tools, compose, cite and respond. The tools step runs only where
/// `FEATURE_MCP_TOOLS` is on, calls exactly the tools of the plan, and keeps going after a failure.
#[utoipa::path(post, path = "/api/v1/pipeline", tag = "calls", request_body = PipelineBody,
    responses((status = 200, body = PipelineState, description = "Also where tools failed"), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn run_pipeline(
    State(server): State<Arc<Server>>,
    CanCall(caller): CanCall,
    Trace(trace): Trace,
    JsonBody(body): JsonBody<PipelineBody>,
) -> Result<Json<PipelineState>, ApiError> {
    let request = Request {
        query: body.query,
        plan: body.plan,
        tools_timeout_seconds: body.timeout_seconds,
        composer: None,
        trace,
    };
    Ok(Json(server.app.pipeline(caller, request).await?))
}
