//! Requests of this process to itself: the same router and handlers as on the socket, without a connection.

use crate::auth::Door;
use crate::request::Api;
use crate::router::Server;
use axum::body::Body;
use axum::http::{Request, header};
use std::sync::Arc;

/// Asks as the owner of the workspace does on the socket; gives status and body, which is made while it is read. `if_match` is
/// the version that a change was made from.
pub async fn request(
    server: &Arc<Server>,
    method: &str,
    path_and_query: &str,
    if_match: Option<i64>,
    body: Option<Vec<u8>>,
) -> Result<(u16, Body), axum::http::Error> {
    let mut request = Request::builder().method(method).uri(path_and_query);
    if let Some(version) = if_match {
        request = request.header(header::IF_MATCH, format!("\"{version}\""));
    }
    if body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    let mut request = request.body(Body::from(body.unwrap_or_default()))?;
    request.extensions_mut().insert(Door::Socket);
    let response = Api::new(Arc::clone(server)).answer(request).await;
    let status = response.status().as_u16();
    Ok((status, response.into_body()))
}
