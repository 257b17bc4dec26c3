//! The audit log, for admins.

use crate::auth::IsAdmin;
use crate::body::QueryOf;
use crate::error::{ApiError, ErrorBody};
use crate::lines;
use crate::router::Server;
use app::audit::{AuditCheck, AuditPage, AuditQuery};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditParameters {
    /// Who did it.
    actor: Option<String>,
    /// Such as user.create.
    action: Option<String>,
    /// Such as user:kim.
    target: Option<String>,
    /// A time such as 2026-01-31T12:00:00Z, or a span back from now such as 2h.
    since: Option<String>,
    until: Option<String>,
    limit: Option<i64>,
    cursor: Option<String>,
}

/// Which acts to export; they come all at once.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditExport {
    /// Who did it.
    actor: Option<String>,
    /// Such as user.create.
    action: Option<String>,
    /// Such as user:kim.
    target: Option<String>,
    /// A time such as 2026-01-31T12:00:00Z, or a span back from now such as 2h.
    since: Option<String>,
    until: Option<String>,
}

/// Administrative acts, newest first. A page may hold fewer than asked for where they are big; next_cursor leads on.
#[utoipa::path(get, path = "/api/v1/audit", tag = "audit", params(AuditParameters),
    responses((status = 200, body = AuditPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_audit(
    State(server): State<Arc<Server>>,
    IsAdmin(_caller): IsAdmin,
    QueryOf(query): QueryOf<AuditParameters>,
) -> Result<Json<AuditPage>, ApiError> {
    let query = AuditQuery {
        actor: query.actor,
        action: query.action,
        target: query.target,
        since: query.since,
        until: query.until,
        limit: query.limit,
        cursor: query.cursor,
    };
    Ok(Json(server.app.list_audit(&query).await?))
}

/// All administrative acts that fit, oldest first, as lines of JSON that are made while they are read. An answer that ends
/// without the sign of its end has broken off.
#[utoipa::path(get, path = "/api/v1/audit/export", tag = "audit", params(AuditExport),
    responses((status = 200, content_type = "application/x-ndjson", body = String), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn export_audit(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    QueryOf(query): QueryOf<AuditExport>,
) -> Result<Response, ApiError> {
    let query = AuditQuery {
        actor: query.actor,
        action: query.action,
        target: query.target,
        since: query.since,
        until: query.until,
        ..AuditQuery::default()
    };
    let export = server.app.export_audit(caller, &query)?;
    lines::answer(&server, export, "audit").await
}

/// Looks at the whole chain: whether an entry was changed or taken out.
#[utoipa::path(get, path = "/api/v1/audit/verify", tag = "audit",
    responses((status = 200, body = AuditCheck), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn verify_audit(
    State(server): State<Arc<Server>>,
    IsAdmin(_caller): IsAdmin,
) -> Result<Json<AuditCheck>, ApiError> {
    Ok(Json(server.app.verify_audit().await?))
}
