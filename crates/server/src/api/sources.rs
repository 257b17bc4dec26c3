//! Sources: the databases that SQL tools use; kept over the API, looked into, tested.

use super::part::PartQuery;
use super::secrets::RemoveQuery;
use super::tools::owned;
use crate::auth::{CanAuthor, CanOperate, CanRead, IsAdmin};
use crate::body::{IfMatch, JsonText, PathOf, QueryOf, tagged};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::sources::{SchemaQuery, SourceSchema, SourceTest, SourceView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourcePage {
    items: Vec<SourceView>,
    next_cursor: Option<String>,
}

/// What an admin writes: `path` of a SQLite file, or `url` of a PostgreSQL.
#[derive(ToSchema)]
#[schema(example = json!({
    "name": "shop",
    "kind": "postgres",
    "url": "postgres://reader:…@db.example.com:5432/shop",
    "authors": "everyone"
}))]
#[expect(
    dead_code,
    reason = "the shape is only for the OpenAPI document; the body is read with places kept"
)]
pub(crate) struct SourceBody {
    /// Letters, digits, _ and -. A source keeps its name.
    name: String,
    /// sqlite or postgres.
    kind: String,
    /// A SQLite file; a relative path begins in the workspace.
    path: Option<String>,
    /// postgres://user:password@host:port/database; the password is sealed and shown as a mask. `${NAME}` stands for a
    /// variable of the server's environment.
    url: Option<String>,
    /// The password beside the address: a text, which is sealed, `${NAME}`, or the mask that was shown, which keeps it.
    #[schema(value_type = Option<Object>)]
    password: Option<Value>,
    description: Option<String>,
    /// Whether tools with `write` may use it.
    allow_write: Option<bool>,
    /// Who may store SQL tools on it: admins (unless given) or everyone who may store tools.
    authors: Option<String>,
    /// A pooler such as PgBouncer stands between: nothing is left in a session between two transactions.
    pgbouncer: Option<bool>,
    /// Use a role that can do more than read whatever the transaction says. Warned of wherever the source is shown.
    allow_superuser: Option<bool>,
    /// Functions and views that callers' queries may name although the database calls them volatile.
    functions: Option<Vec<String>>,
    /// Schemas that names without one are looked for in.
    search_path: Option<Vec<String>>,
    connections_min: Option<u32>,
    connections_max: Option<u32>,
}

fn shown(view: SourceView) -> Response {
    match view.version {
        Some(version) => tagged(version, view),
        None => Json(view).into_response(),
    }
}

/// Every source: those of toolcrib.toml, those kept here, and the one of the environment.
#[utoipa::path(get, path = "/api/v1/sources", tag = "sources", params(PartQuery),
    responses((status = 200, body = SourcePage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_sources(
    State(server): State<Arc<Server>>,
    CanRead(_caller): CanRead,
    QueryOf(query): QueryOf<PartQuery>,
) -> Result<Json<SourcePage>, ApiError> {
    let (items, next_cursor) = server.app.list_sources(&query.into())?;
    Ok(Json(SourcePage { items, next_cursor }))
}

/// Adds a source. Nobody is connected to before somebody asks it something.
#[utoipa::path(post, path = "/api/v1/sources", tag = "sources", request_body = SourceBody,
    responses((status = 201, body = SourceView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_source(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move { server.app.create_source(&caller, &body).await };
    let made = owned(work).await?;
    Ok((StatusCode::CREATED, shown(made)).into_response())
}

/// One source, by name; one that is kept here also by id.
#[utoipa::path(get, path = "/api/v1/sources/{name}", tag = "sources", params(("name" = String, Path)),
    responses((status = 200, body = SourceView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_source(
    State(server): State<Arc<Server>>,
    CanRead(_caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Response, ApiError> {
    Ok(shown(server.app.get_source(&name)?))
}

/// Replaces a source that is kept here. `If-Match` holds the version it was made from.
#[utoipa::path(put, path = "/api/v1/sources/{name}", tag = "sources", params(("name" = String, Path)),
    request_body = SourceBody,
    responses((status = 200, body = SourceView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn update_source(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.update_source(&caller, &name, &body, expected).await
    };
    Ok(shown(owned(work).await?))
}

/// Changes some members of a source (JSON merge patch).
#[utoipa::path(patch, path = "/api/v1/sources/{name}", tag = "sources", params(("name" = String, Path)),
    request_body = Object,
    responses((status = 200, body = SourceView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn patch_source(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let work = async move {
        let app = &server.app;
        app.patch_source(&caller, &name, &body, expected).await
    };
    Ok(shown(owned(work).await?))
}

/// Removes a source and its sealed password; one that tools use only with `force`.
#[utoipa::path(delete, path = "/api/v1/sources/{name}", tag = "sources",
    params(("name" = String, Path), RemoveQuery),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn delete_source(
    State(server): State<Arc<Server>>,
    IsAdmin(caller): IsAdmin,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
    QueryOf(query): QueryOf<RemoveQuery>,
) -> Result<StatusCode, ApiError> {
    let force = query.force.unwrap_or(false);
    let work = async move {
        let app = &server.app;
        app.delete_source(&caller, &name, expected, force).await
    };
    owned(work).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TablesQuery {
    /// A text that the name of a table, its schema, one of its columns or a comment on it holds.
    search: Option<String>,
    /// Only the table of this name, `schema.table` or `table`.
    table: Option<String>,
    /// 1 to 500; 50 unless given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u64>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// The tables and views of a source, with columns, keys and comments.
#[utoipa::path(get, path = "/api/v1/sources/{name}/schema", tag = "sources", params(("name" = String, Path), TablesQuery),
    responses((status = 200, body = SourceSchema), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub(crate) async fn source_schema(
    State(server): State<Arc<Server>>,
    CanAuthor(_caller): CanAuthor,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<TablesQuery>,
) -> Result<Json<SourceSchema>, ApiError> {
    let query = SchemaQuery {
        search: query.search,
        table: query.table,
        limit: query.limit,
        cursor: query.cursor,
    };
    Ok(Json(server.app.source_schema(&name, &query).await?))
}

/// Connects to a source, and shows that reading is all that a query can do there.
#[utoipa::path(post, path = "/api/v1/sources/{name}/test", tag = "sources", params(("name" = String, Path)),
    responses((status = 200, body = SourceTest), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn test_source(
    State(server): State<Arc<Server>>,
    CanOperate(_caller): CanOperate,
    PathOf(name): PathOf<String>,
) -> Result<Json<SourceTest>, ApiError> {
    Ok(Json(server.app.test_source(&name).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RoleQuery {
    /// What the role is called; toolcrib_reader unless given.
    role: Option<String>,
    /// The schemas that it may read, separated by commas; those of `search_path`, or public, unless given.
    schemas: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RoleScript {
    /// SQL for `psql`, to be run by the owner of the database.
    script: String,
}

/// SQL that makes a role which can only read a source.
#[utoipa::path(get, path = "/api/v1/sources/{name}/role-script", tag = "sources", params(("name" = String, Path), RoleQuery),
    responses((status = 200, body = RoleScript), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn role_script(
    State(server): State<Arc<Server>>,
    CanOperate(_caller): CanOperate,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<RoleQuery>,
) -> Result<Json<RoleScript>, ApiError> {
    let schemas = query.schemas.unwrap_or_default();
    let schemas = schemas
        .split(',')
        .map(str::trim)
        .filter(|it| !it.is_empty());
    let schemas: Vec<String> = schemas.map(str::to_owned).collect();
    let script = server
        .app
        .source_role_script(&name, query.role.as_deref(), &schemas)?;
    Ok(Json(RoleScript { script }))
}
