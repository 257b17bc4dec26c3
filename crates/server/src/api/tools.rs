//! Tools: list, read, create, change, remove.

use crate::auth::{CanAuthor, CanRead};
use crate::body::{IfMatch, JsonText, PathOf, QueryOf, tagged};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use crate::unlisted::Unlisted;
use app::tools::{Before, EffectAsked, Terms, ToolFilter, ToolPage, ToolView};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use executor::Code;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Words that must stand in the name or a description.
    q: Option<String>,
    /// One of http, mcp, python, shell, builtin, sql, expression.
    kind: Option<String>,
    active: Option<bool>,
    /// The owner's name.
    owner: Option<String>,
    /// One of builtin, file, database, server.
    shelf: Option<String>,
    /// The source that SQL tools ask.
    source: Option<String>,
    /// The MCP server that runs them.
    server: Option<String>,
    /// The worst that a call may do: one of read_only, writes, destructive. As far as is known; a tool that nothing is said of may destroy.
    risk: Option<String>,
    /// Whether to count the tools of all pages, in all and by each of the filters, in `counts`.
    count: Option<bool>,
    /// 1 to 500; 50 unless given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Whether to look what would keep each tool that you may change from working, and say it in `trouble`.
    check: Option<bool>,
}

/// What an author writes. `tool_type` and `description_agent` are accepted for `kind` and `description`.
#[derive(ToSchema)]
#[schema(example = json!({
    "name": "add_tax",
    "description": "Adds the sales tax to a price. Use it whenever a price with tax is asked for.",
    "kind": "builtin",
    "config": {"name": "calculator"},
    "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}
}))]
#[expect(
    dead_code,
    reason = "the shape is only for the OpenAPI document; the body is read with places kept"
)]
pub(crate) struct ToolBody {
    /// Letters, digits, `_`, `.` and `-`, at most 64; unique in the catalogue.
    name: String,
    /// For agents: what it does and when to prefer it.
    description: String,
    /// For people.
    description_user: Option<String>,
    /// One of http, mcp, python, shell, builtin, sql, expression.
    kind: String,
    #[schema(value_type = Option<Object>)]
    config: Value,
    /// JSON Schema of the arguments, 2020-12 unless `$schema` says draft-07.
    #[schema(value_type = Option<Object>)]
    input_schema: Value,
    #[schema(value_type = Option<Object>)]
    output_schema: Value,
    /// `json` or `text`.
    output_format: Option<String>,
    timeout_seconds: Option<f64>,
    parallel_capable: Option<bool>,
    #[schema(value_type = Option<Object>)]
    rate_limit: Value,
    is_active: Option<bool>,
    is_public: Option<bool>,
    /// How the tool authenticates. On the database shelf plain values are sealed, and shown as
    /// `{"set": true, "last4": …}`, which keeps the value when it is sent back; on the file shelf there are references
    /// only: `{"$secret": "name"}`, or `{"$env": "NAME"}` for admins. A replacement that leaves it out keeps it, null
    /// removes it.
    #[schema(value_type = Option<Object>)]
    auth_config: Value,
    #[schema(value_type = Option<Object>)]
    annotations: Value,
    examples: Option<Vec<String>>,
    #[schema(value_type = Option<Vec<Object>>)]
    tests: Value,
    #[schema(value_type = Option<Object>)]
    approval: Value,
    /// `database` (default) or `file`; only when a tool is created.
    shelf: Option<String>,
}

/// Lists the tools you may see, in the order of their names.
#[utoipa::path(get, path = "/api/v1/tools", tag = "tools", params(ListQuery),
    responses((status = 200, body = ToolPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_tools(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    QueryOf(query): QueryOf<ListQuery>,
) -> Result<Json<ToolPage>, ApiError> {
    let filter = ToolFilter {
        q: query.q,
        kind: query.kind,
        active: query.active,
        owner: query.owner,
        shelf: query.shelf,
        source: query.source,
        server: query.server,
        risk: query.risk,
        limit: query.limit,
        cursor: query.cursor,
        count: query.count == Some(true),
    };
    let mut page = server.app.list_tools(&caller, &filter)?;
    if query.check == Some(true) {
        server.app.add_troubles(&caller, &mut page).await;
    }
    Ok(Json(page))
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum EffectQuery {
    True,
    False,
    IfKnown,
}

fn asked(effect: Option<EffectQuery>) -> EffectAsked {
    match effect {
        None | Some(EffectQuery::False) => EffectAsked::No,
        Some(EffectQuery::True) => EffectAsked::Yes,
        Some(EffectQuery::IfKnown) => EffectAsked::IfKnown,
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CreateQuery {
    /// Whose tool it is, where it is not yours: the name of a user. For admins who take tools over from elsewhere.
    owner: Option<String>,
    /// When it was made there, such as 2026-01-31T12:00:00Z. For admins.
    created_at: Option<String>,
    /// Whether to check everything, answer 200 with the tool as it would be, and register nothing.
    dry_run: Option<bool>,
    /// What the change does to the requests of the gold set (`selection.gold`): `true` tells it, `if_known` where there is one.
    #[param(inline)]
    effect: Option<EffectQuery>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangeQuery {
    /// Whether to check everything, answer with the tool as it would be, and change nothing.
    dry_run: Option<bool>,
    /// What the change does to the requests of the gold set (`selection.gold`): `true` tells it, `if_known` where there is one.
    #[param(inline)]
    effect: Option<EffectQuery>,
}

impl ChangeQuery {
    fn terms(&self, expected_version: Option<i64>) -> Terms {
        Terms {
            expected_version,
            dry_run: self.dry_run == Some(true),
            effect: asked(self.effect),
        }
    }
}

/// Of what else is made for somebody.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OwnerQuery {
    /// Whose it is, where it is not yours: the name of a user. For admins who take things over from elsewhere.
    pub(crate) owner: Option<String>,
}

/// Registers a tool; the next call can use it.
#[utoipa::path(post, path = "/api/v1/tools", tag = "tools", params(CreateQuery), request_body = ToolBody,
    responses((status = 201, body = ToolView), (status = 200, description = "A dry run", body = ToolView),
        (status = "4XX", body = ErrorBody)))]
pub(crate) async fn create_tool(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    QueryOf(query): QueryOf<CreateQuery>,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let before = Before {
        owner: query.owner,
        created_at: query.created_at,
    };
    let terms = Terms {
        dry_run: query.dry_run == Some(true),
        effect: asked(query.effect),
        ..Terms::default()
    };
    let work = async move {
        let made = server.app.create_tool(caller, &body, &before, terms);
        made.await
    };
    let tool = owned(work).await?;
    if terms.dry_run {
        return Ok(Json(tool).into_response());
    }
    let location = HeaderValue::from_str(&format!("/api/v1/tools/{}", tool.name));
    let mut response = (StatusCode::CREATED, Json(tool)).into_response();
    if let Ok(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// One tool, by name or id.
#[utoipa::path(get, path = "/api/v1/tools/{name}", tag = "tools", params(("name" = String, Path, description = "Name or id")),
    responses((status = 200, body = ToolView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn get_tool(
    State(server): State<Arc<Server>>,
    CanRead(caller): CanRead,
    PathOf(name): PathOf<String>,
) -> Result<Response, ApiError> {
    let tool = server.app.get_tool(&caller, &name)?;
    Ok(tagged(tool.version, tool))
}

/// Replaces a tool's definition. `If-Match` with the version guards against overwriting somebody's change.
#[utoipa::path(put, path = "/api/v1/tools/{name}", tag = "tools",
    params(("name" = String, Path, description = "Name or id"),
        ("If-Match" = Option<String>, Header, description = "The version the change was made from"), ChangeQuery),
    request_body = ToolBody, responses((status = 200, body = ToolView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn update_tool(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<ChangeQuery>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let terms = query.terms(expected);
    let work = async move { server.app.update_tool(caller, &name, &body, terms).await };
    Ok(answer(owned(work).await?, terms))
}

/// Changes some members of a tool's definition (JSON merge patch).
#[utoipa::path(patch, path = "/api/v1/tools/{name}", tag = "tools",
    params(("name" = String, Path, description = "Name or id"),
        ("If-Match" = Option<String>, Header, description = "The version the change was made from"), ChangeQuery),
    request_body(content = Object, description = "The members to change; null removes one"), responses((status = 200, body = ToolView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn patch_tool(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<ChangeQuery>,
    IfMatch(expected): IfMatch,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let terms = query.terms(expected);
    let work = async move { server.app.patch_tool(caller, &name, &body, terms).await };
    Ok(answer(owned(work).await?, terms))
}

/// A version that is not there yet is no tag to come back with.
fn answer(tool: ToolView, terms: Terms) -> Response {
    match terms.dry_run {
        true => Json(tool).into_response(),
        false => tagged(tool.version, tool),
    }
}

/// Removes a tool. Its history stays, and it can be restored.
#[utoipa::path(delete, path = "/api/v1/tools/{name}", tag = "tools",
    params(("name" = String, Path, description = "Name or id"),
        ("If-Match" = Option<String>, Header, description = "The version that is meant")),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn delete_tool(
    State(server): State<Arc<Server>>,
    CanAuthor(caller): CanAuthor,
    PathOf(name): PathOf<String>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    owned(async move { server.app.delete_tool(caller, &name, expected).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The same four for a tool whose name is an address of its own.
pub(crate) fn named(path: &'static str, name: &'static str) -> [Unlisted; 4] {
    let of = move || PathOf(name.to_owned());
    [
        Unlisted::new(Method::GET, path, move |server, caller| {
            get_tool(server, caller, of())
        }),
        Unlisted::new(
            Method::PUT,
            path,
            move |server, caller, query, version, body| {
                update_tool(server, caller, of(), query, version, body)
            },
        ),
        Unlisted::new(
            Method::PATCH,
            path,
            move |server, caller, query, version, body| {
                patch_tool(server, caller, of(), query, version, body)
            },
        ),
        Unlisted::new(Method::DELETE, path, move |server, caller, version| {
            delete_tool(server, caller, of(), version)
        }),
    ]
}

/// Writes go on in a task of their own: a client that hangs up must not leave one half done.
pub(crate) async fn owned<T: Send + 'static>(
    work: impl Future<Output = app::Result<T>> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::spawn(telemetry::handed_on(work)).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(ApiError::new(Code::Internal, "internal error")),
    }
}
