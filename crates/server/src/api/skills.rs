//! Skills: instructions that agents load for kinds of work.

use crate::auth::CanRead;
use crate::body::PathOf;
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::skills::{SkillPage, SkillView};
use axum::Json;
use axum::extract::State;
use std::sync::Arc;

/// Lists the skills in the workspace's folder, without their instructions, and what is wrong with files that cannot be used.
#[utoipa::path(get, path = "/api/v1/skills", tag = "agents",
    responses((status = 200, body = SkillPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_skills(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
) -> Result<Json<SkillPage>, ApiError> {
    Ok(Json(server.app.list_skills(&caller).await?))
}

/// A skill with its instructions.
#[utoipa::path(get, path = "/api/v1/skills/{name}", tag = "agents",
    params(("name" = String, Path, description = "Name")),
    responses((status = 200, body = SkillView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_skill(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Json<SkillView>, ApiError> {
    Ok(Json(server.app.get_skill(&caller, &name).await?))
}
