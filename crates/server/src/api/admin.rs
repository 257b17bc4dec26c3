//! What only the operator does.

use super::tools::owned;
use crate::auth::IsAdmin;
use crate::body::JsonBody;
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use axum::extract::State;
use axum::http::StatusCode;
use executor::Code;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackupBody {
    /// An absolute path on the server; new or empty.
    folder: String,
}

/// Copies registry, log and files into a folder of the server while it works on.
#[utoipa::path(post, path = "/api/v1/admin/backup", tag = "admin", request_body = BackupBody,
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn backup(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    JsonBody(body): JsonBody<BackupBody>,
) -> Result<StatusCode, ApiError> {
    let folder = PathBuf::from(body.folder);
    if !folder.is_absolute() {
        return Err(ApiError::new(
            Code::Invalid,
            "folder: expected an absolute path on the server",
        ));
    }
    owned(async move { server.app.backup(&caller, &folder).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
