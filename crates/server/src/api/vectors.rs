//! Collections of vectors: filling, listing, searching and removing them.

use super::tools::owned;
use crate::auth::{CanAuthor, CanOperate};
use crate::body::{JsonBody, PathOf, QueryOf};
use crate::error::{ApiError, ErrorBody};
use crate::router::Server;
use app::vectors::{
    CollectionPage, Destination, ForgottenView, ImportedView, Line, NearPage, Space, VectorsTest,
};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"records": [{"id": "users.email", "document": "users.email VARCHAR(255) the address of a user"}]}))]
pub(crate) struct ImportBody {
    /// The usual one (`vectors.collection`) unless given; it is made where it is not there.
    collection: Option<String>,
    /// How a new collection measures: cosine (unless given), l2 or ip.
    #[schema(value_type = Option<String>)]
    space: Option<Space>,
    /// `id`, `document` and, if they are there already, `embedding` (numbers) and `metadata` (an object of strings, numbers
    /// and booleans). What has no embedding is turned into a vector.
    #[schema(value_type = Vec<Object>)]
    records: Vec<Line>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"source": "bga"}))]
pub(crate) struct SchemaBody {
    /// The name of a source.
    source: String,
    /// The usual one (`vectors.collection`) unless given; it is made where it is not there.
    collection: Option<String>,
    /// How a new collection measures: cosine (unless given), l2 or ip.
    #[schema(value_type = Option<String>)]
    space: Option<Space>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "the e-mail address of a user", "n": 3}))]
pub(crate) struct SearchBody {
    text: String,
    /// How many; 3 unless given.
    n: Option<usize>,
    /// The usual one (`vectors.collection`) unless given.
    collection: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForgetQuery {
    /// The name of the source that they were made from; it need not be there any more.
    source: String,
}

/// Every collection.
#[utoipa::path(get, path = "/api/v1/vectors", tag = "vectors",
    responses((status = 200, body = CollectionPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list_collections(
    State(server): State<Arc<Server>>,
    CanAuthor(_caller): CanAuthor,
) -> Result<Json<CollectionPage>, ApiError> {
    Ok(Json(server.app.list_collections().await?))
}

/// Stores documents with their vectors; those of the same id are changed.
#[utoipa::path(post, path = "/api/v1/vectors/import", tag = "vectors", request_body = ImportBody,
    responses((status = 200, body = ImportedView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn import_vectors(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    JsonBody(body): JsonBody<ImportBody>,
) -> Result<Json<ImportedView>, ApiError> {
    let into = Destination {
        collection: body.collection,
        space: body.space,
    };
    let work = async move { server.app.import_vectors(&caller, into, body.records).await };
    Ok(Json(owned(work).await?))
}

/// Stores a document for every column of a source, so that columns are found by what they mean. Documents of columns that
/// the source has no more are removed.
#[utoipa::path(post, path = "/api/v1/vectors/from-schema", tag = "vectors", request_body = SchemaBody,
    responses((status = 200, body = ImportedView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn vectors_from_schema(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    JsonBody(body): JsonBody<SchemaBody>,
) -> Result<Json<ImportedView>, ApiError> {
    let into = Destination {
        collection: body.collection,
        space: body.space,
    };
    let work = async move {
        let app = &server.app;
        app.vectors_from_schema(&caller, &body.source, into).await
    };
    Ok(Json(owned(work).await?))
}

/// The documents that are nearest in meaning to a text.
#[utoipa::path(post, path = "/api/v1/vectors/search", tag = "vectors", request_body = SearchBody,
    responses((status = 200, body = NearPage), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn search_vectors(
    State(server): State<Arc<Server>>,
    CanAuthor(_caller): CanAuthor,
    JsonBody(body): JsonBody<SearchBody>,
) -> Result<Json<NearPage>, ApiError> {
    let collection = body.collection.as_deref();
    let found = server.app.search_vectors(&body.text, body.n, collection);
    Ok(Json(found.await?))
}

/// Has the embeddings endpoint make a vector, and looks at the collection that is searched. What does not work is told in
/// the answer.
#[utoipa::path(post, path = "/api/v1/vectors/test", tag = "vectors",
    responses((status = 200, body = VectorsTest), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn test_vectors(
    State(server): State<Arc<Server>>,
    CanOperate(_caller): CanOperate,
) -> Json<VectorsTest> {
    Json(server.app.test_vectors().await)
}

/// Removes a collection with everything in it, for good.
#[utoipa::path(delete, path = "/api/v1/vectors/collections/{name}", tag = "vectors", params(("name" = String, Path)),
    responses((status = 204), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn delete_collection(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf(name): PathOf<String>,
) -> Result<StatusCode, ApiError> {
    owned(async move { server.app.delete_collection(&caller, &name).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes the documents that were made from the schema of a source.
#[utoipa::path(delete, path = "/api/v1/vectors/collections/{name}/documents", tag = "vectors",
    params(("name" = String, Path), ForgetQuery),
    responses((status = 200, body = ForgottenView), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn forget_source(
    State(server): State<Arc<Server>>,
    CanOperate(caller): CanOperate,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<ForgetQuery>,
) -> Result<Json<ForgottenView>, ApiError> {
    let work = async move {
        let app = &server.app;
        app.forget_source(&caller, &name, &query.source).await
    };
    Ok(Json(owned(work).await?))
}
