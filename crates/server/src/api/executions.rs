//! The execution log.

use crate::auth::CanRead;
use crate::body::{PathOf, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::lines;
use crate::router::Server;
use app::executions_view::{ExecutionFilter, ExecutionPage, ExecutionView};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use executions::Stats;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;
use uuid::Uuid;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    tool: Option<String>,
    /// started, success, error, cancelled or interrupted.
    status: Option<String>,
    caller: Option<String>,
    /// How they came in: rest, mcp, cli, page or agent; several with commas between them.
    transport: Option<String>,
    /// A time such as 2026-01-31T12:00:00Z, or a span back from now such as 2h.
    since: Option<String>,
    until: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
    /// Oldest first, only what came after this execution.
    after: Option<Uuid>,
}

/// Which entries to export; they come all at once.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    tool: Option<String>,
    /// started, success, error, cancelled or interrupted.
    status: Option<String>,
    caller: Option<String>,
    /// How they came in: rest, mcp, cli, page or agent; several with commas between them.
    transport: Option<String>,
    /// A time such as 2026-01-31T12:00:00Z, or a span back from now such as 2h.
    since: Option<String>,
    until: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
    tool: Option<String>,
    /// started, success, error, cancelled or interrupted.
    status: Option<String>,
    caller: Option<String>,
    /// How they came in: rest, mcp, cli, page or agent; several with commas between them.
    transport: Option<String>,
    /// A time such as 2026-01-31T12:00:00Z, or a span back from now such as 2h.
    since: Option<String>,
    until: Option<String>,
    /// Count them over time, too, in so many slots of equal length from `since` to `until`, or to now; at most 500.
    slots: Option<u16>,
}

/// Calls, newest first.
#[utoipa::path(get, path = "/api/v1/executions", tag = "executions", params(ListQuery),
    responses((status = 200, body = ExecutionPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_executions(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    QueryOf(query): QueryOf<ListQuery>,
) -> Result<Json<ExecutionPage>, ApiError> {
    let filter = ExecutionFilter {
        tool: query.tool,
        status: query.status,
        caller: query.caller,
        transport: query.transport,
        since: query.since,
        until: query.until,
        limit: query.limit,
        cursor: query.cursor,
        after: query.after,
    };
    Ok(Json(server.app.list_executions(&caller, filter).await?))
}

/// All calls that fit, oldest first, as lines of JSON that are made while they are read. They are what the list shows. An answer
/// that ends without the sign of its end has broken off.
#[utoipa::path(get, path = "/api/v1/executions/export", tag = "executions", params(ExportQuery),
    responses((status = 200, content_type = "application/x-ndjson", body = String), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn export_executions(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    QueryOf(query): QueryOf<ExportQuery>,
) -> Result<Response, ApiError> {
    let filter = ExecutionFilter {
        tool: query.tool,
        status: query.status,
        caller: query.caller,
        transport: query.transport,
        since: query.since,
        until: query.until,
        ..ExecutionFilter::default()
    };
    let export = server.app.export_executions(caller, filter)?;
    lines::answer(&server, export, "executions").await
}

/// One call.
#[utoipa::path(get, path = "/api/v1/executions/{id}", tag = "executions", params(("id" = Uuid, Path)),
    responses((status = 200, body = ExecutionView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_execution(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(id): PathOf<String>,
) -> Result<Json<ExecutionView>, ApiError> {
    Ok(Json(server.app.get_execution(&caller, &id).await?))
}

/// Counts and durations, per tool, status and error: an admin's of all calls, anybody else's of their own.
#[utoipa::path(get, path = "/api/v1/executions/stats", tag = "executions", params(StatsQuery),
    responses((status = 200, body = Stats), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn execution_stats(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    QueryOf(query): QueryOf<StatsQuery>,
) -> Result<Json<Stats>, ApiError> {
    let filter = ExecutionFilter {
        tool: query.tool,
        status: query.status,
        caller: query.caller,
        transport: query.transport,
        since: query.since,
        until: query.until,
        ..ExecutionFilter::default()
    };
    let stats = server.app.execution_stats(&caller, filter, query.slots);
    Ok(Json(stats.await?))
}
