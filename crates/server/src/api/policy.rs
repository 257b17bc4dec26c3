//! The policy: read, set, tried out, explained.

use super::tools::owned;
use crate::auth::{Anyone, IsAdmin};
use crate::body::{IfMatch, JsonBody, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::explain::{ExplainQuery, Explanation};
use app::policy::{DryRun, PolicyView, RuleText};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyBody {
    rules: Vec<RuleText>,
    /// The version these rules were made from; a policy that was changed since is not overwritten.
    version: Option<i64>,
    /// Set where the server is started; a body that was fetched may still hold it.
    #[serde(rename = "enforced")]
    _enforced: Option<bool>,
    #[serde(rename = "whitelist")]
    _whitelist: Option<Vec<String>>,
    #[serde(rename = "warnings")]
    _warnings: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PutQuery {
    /// Only show what would change for whom.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExplainParameters {
    /// Id or name of a key.
    key: Option<String>,
    /// Instead of a key: a user who is logged in; you, where both are left out.
    user: Option<String>,
    /// Name or id of a tool; with `toolset` also what it is called there.
    tool: String,
    /// As this agent.
    agent: Option<String>,
    /// Through this toolset.
    toolset: Option<String>,
}

/// The policy in force.
#[utoipa::path(get, path = "/api/v1/policy", tag = "policy",
    responses((status = 200, body = PolicyView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_policy(
    State(server): State<Arc<Server>>,
    IsAdmin(_caller): IsAdmin,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(server.app.get_policy().await?))
}

/// Replaces all rules; with `dry_run=true` only shows what would change for whom.
#[utoipa::path(put, path = "/api/v1/policy", tag = "policy", params(PutQuery), request_body = PolicyBody,
    responses((status = 200, description = "The policy, or with dry_run what would change",
        body = PolicyAnswer), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn set_policy(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    QueryOf(query): QueryOf<PutQuery>,
    IfMatch(expected): IfMatch,
    JsonBody(body): JsonBody<PolicyBody>,
) -> Result<Response, ApiError> {
    if query.dry_run {
        let run = server.app.try_policy(&body.rules).await?;
        return Ok(Json(run).into_response());
    }
    let expected = expected.or(body.version);
    let work = async move {
        let app = &server.app;
        app.set_policy(&caller, &body.rules, expected).await
    };
    Ok(Json(owned(work).await?).into_response())
}

/// Why a key may or may not use a tool, every reason.
#[utoipa::path(get, path = "/api/v1/policy/explain", tag = "policy", params(ExplainParameters),
    responses((status = 200, body = Explanation), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn explain(
    State(server): State<Arc<Server>>,
    Anyone(caller): Anyone,
    QueryOf(query): QueryOf<ExplainParameters>,
) -> Result<Json<Explanation>, ApiError> {
    let query = ExplainQuery {
        key: query.key,
        user: query.user,
        tool: query.tool,
        agent: query.agent,
        toolset: query.toolset,
    };
    Ok(Json(server.app.explain(&caller, &query).await?))
}

/// One of the two answers of `PUT /policy`.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its shape is of use, in the API's document")]
pub(crate) enum PolicyAnswer {
    Policy(PolicyView),
    DryRun(DryRun),
}
