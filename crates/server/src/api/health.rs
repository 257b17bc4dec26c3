//! Whether the server lives, and whether it can do its work.

use crate::auth::{Shown, authenticate};
use crate::error::ApiError;
use crate::router::Server;
use app::health::Readiness;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use catalog::caller::Scope;
use executor::Code;
use serde_json::json;
use std::sync::Arc;

/// The process answers, and says which it is among those on the same PostgreSQL.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()), responses((status = 200, body = Object)))]
pub(crate) async fn healthz(State(server): State<Arc<Server>>) -> Json<serde_json::Value> {
    let instance = &server.app.replicas.instance;
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "instance": instance}))
}

/// The server can do its work. With a key it tells what is wrong with the files on disk.
#[utoipa::path(get, path = "/readyz", tag = "health", security((), ("key" = []), ("bearer" = [])),
    responses((status = 200, body = Readiness), (status = 503)))]
pub(crate) async fn readyz(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, _) = request.into_parts();
    let unavailable = |why| ApiError::new(Code::ServiceUnavailable, why);
    let readiness = server.app.readiness().await.map_err(unavailable)?;
    let caller = authenticate(Shown::of(&parts), &server).await;
    let may_see = caller.is_ok_and(|caller| caller.scopes.allow(Scope::Read));
    if may_see {
        return Ok(Json(readiness).into_response());
    }
    Ok(Json(json!({"status": readiness.status})).into_response())
}
