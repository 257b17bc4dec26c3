//! Long answers that are made while they are read: lines of JSON, a piece at a time. One that breaks off in the middle ends
//! without the sign of its end, so that nobody takes it for whole.

use crate::error::ApiError;
use crate::request::Counted;
use crate::router::Server;
use app::exports::Export;
use axum::BoxError;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::Frame;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio::time::timeout;

const LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson");

/// The first piece is made before anything is answered: a question that cannot be answered gets its status.
pub(crate) async fn answer(
    server: &Arc<Server>,
    mut export: Export,
    name: &'static str,
) -> Result<Response, ApiError> {
    let mut piece = server.app.go_on(&mut export).await?;
    // One waits while the other is read.
    let (out, body) = mpsc::channel(1);
    let counted = Counted::new(Arc::clone(server));
    let task = Arc::clone(server);
    tokio::spawn(async move {
        let _counted = counted;
        while let Some(text) = piece {
            let sent = out.send(Ok(Bytes::from(text)));
            // One that takes nothing for too long is as good as gone.
            if !matches!(timeout(task.limits.send_timeout, sent).await, Ok(Ok(()))) {
                return;
            }
            piece = match task.app.go_on(&mut export).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(%error, name, "an export broke off");
                    let _ = out.send(Err(BoxError::from("the export broke off"))).await;
                    return;
                }
            };
        }
    });
    let mut response = Response::new(Body::new(Pieces(body)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, LINES);
    let file = format!("attachment; filename=\"{name}.jsonl\"");
    if let Ok(file) = HeaderValue::from_str(&file) {
        headers.insert(header::CONTENT_DISPOSITION, file);
    }
    Ok(response)
}

struct Pieces(mpsc::Receiver<Result<Bytes, BoxError>>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let next = self.0.poll_recv(context);
        next.map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
