//! Agents: a model, its instructions and the tools it may use.

use super::tools::{OwnerQuery, owned};
use crate::auth::{CanAuthor, CanRead};
use crate::body::{IfMatch, JsonText, PathOf, QueryOf, tagged};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::agents::{AgentFilter, AgentPage, AgentView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AgentQuery {
    /// A text that must stand in the name or the description.
    q: Option<String>,
    /// anthropic, openai or zhipuai.
    provider: Option<String>,
    /// The owner's name.
    owner: Option<String>,
    active: Option<bool>,
    /// 1 to 500; 50 unless given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// What an author writes.
#[derive(ToSchema)]
#[schema(example = json!({
    "name": "analyst",
    "model_provider": "anthropic",
    "model_name": "claude-sonnet-4-5",
    "system_prompt": "You answer with figures.",
    "config": {"temperature": 0.7, "max_tokens": 4096},
    "tools": ["calculator"],
    "memory_config": {"type": "sliding_window", "max_messages": 20, "max_tokens": 8000}
}))]
#[expect(
    dead_code,
    reason = "the shape is only for the OpenAPI document; the body is read with places kept"
)]
pub(crate) struct AgentBody {
    name: String,
    description: Option<String>,
    /// anthropic, openai or zhipuai (`glm` is accepted for it).
    model_provider: String,
    model_name: String,
    /// Any service that speaks the provider's format.
    base_url: Option<String>,
    system_prompt: Option<String>,
    /// For the model: temperature, max_tokens, top_p, stop_sequences, api, api_key, stream, cache, parallel_tool_calls,
    /// extra. For its runs: retrieval, output_schema, max_steps, max_tool_calls, max_calls_per_tool, token_budget,
    /// cost_budget, max_seconds, at_limit.
    #[schema(value_type = Option<Object>)]
    config: Value,
    /// Names or ids; they must be there.
    tools: Option<Vec<String>>,
    /// type (sliding_window), max_messages, max_tokens.
    #[schema(value_type = Option<Object>)]
    memory_config: Value,
    is_active: Option<bool>,
    is_public: Option<bool>,
}

/// Lists the agents you may see, in the order of their names.
#[utoipa::path(get, path = "/api/v1/agents", tag = "agents", params(AgentQuery),
    responses((status = 200, body = AgentPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_agents(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    QueryOf(query): QueryOf<AgentQuery>,
) -> Result<Json<AgentPage>, ApiError> {
    let filter = AgentFilter {
        q: query.q,
        provider: query.provider,
        owner: query.owner,
        active: query.active,
        limit: query.limit,
        cursor: query.cursor,
    };
    Ok(Json(server.app.list_agents(&caller, &filter)?))
}

/// Makes an agent.
#[utoipa::path(post, path = "/api/v1/agents", tag = "agents", params(OwnerQuery), request_body = AgentBody,
    responses((status = 201, body = AgentView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_agent(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    QueryOf(query): QueryOf<OwnerQuery>,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let owner = query.owner.as_deref();
        server.app.create_agent(&caller, owner, &body).await
    };
    let agent = owned(work).await?;
    Ok((StatusCode::CREATED, tagged(agent.version, agent)).into_response())
}

/// One agent, by name or id.
#[utoipa::path(get, path = "/api/v1/agents/{name}", tag = "agents", params(("name" = String, Path)),
    responses((status = 200, body = AgentView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_agent(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Response, ApiError> {
    let agent = server.app.get_agent(&caller, &name)?;
    Ok(tagged(agent.version, agent))
}

/// Replaces an agent. `If-Match` holds the version it was made from.
#[utoipa::path(put, path = "/api/v1/agents/{name}", tag = "agents", params(("name" = String, Path)),
    request_body = AgentBody,
    responses((status = 200, body = AgentView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn update_agent(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.update_agent(&caller, &name, &body, expected).await
    };
    let agent = owned(work).await?;
    Ok(tagged(agent.version, agent))
}

/// Changes some members of an agent (JSON merge patch).
#[utoipa::path(patch, path = "/api/v1/agents/{name}", tag = "agents", params(("name" = String, Path)),
    request_body = Object,
    responses((status = 200, body = AgentView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn patch_agent(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.patch_agent(&caller, &name, &body, expected).await
    };
    let agent = owned(work).await?;
    Ok(tagged(agent.version, agent))
}

/// Removes an agent; `restore` brings it back.
#[utoipa::path(delete, path = "/api/v1/agents/{name}", tag = "agents", params(("name" = String, Path)),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn delete_agent(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let work = async move { server.app.delete_agent(&caller, &name, expected).await };
    owned(work).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Brings a removed agent back.
#[utoipa::path(post, path = "/api/v1/agents/{name}/restore", tag = "agents", params(("name" = String, Path)),
    responses((status = 200, body = AgentView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn restore_agent(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
) -> Result<Response, ApiError> {
    let work = async move { server.app.restore_agent(&caller, &name).await };
    let agent = owned(work).await?;
    Ok(tagged(agent.version, agent))
}
