//! The way of one request: a connection of its own or the router of this process, and what is sent on it. Whoever takes it apart
//! from the request knows whether anything can have arrived.

use super::streamed::{Streamed, broken};
use super::{Answer, Local};
use crate::out::{Failure, Result};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, IF_MATCH};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

pub(crate) enum Way<'a> {
    Http {
        stream: TcpStream,
        authority: &'a str,
        base: &'a str,
        key: Option<&'a str>,
    },
    Socket(UnixStream),
    Local(&'a Local),
}

impl Way<'_> {
    pub(crate) async fn request(
        self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<Answer> {
        let body = body.map(|body| body.to_string().into_bytes());
        self.ask(method, path, None, body).await?.collected().await
    }

    /// The beginning of the answer.
    pub(super) async fn ask(
        self,
        method: &str,
        path: &str,
        if_match: Option<i64>,
        body: Option<Vec<u8>>,
    ) -> Result<Streamed> {
        match self {
            Way::Http {
                stream,
                authority,
                base,
                key,
            } => {
                let path = format!("{base}{path}");
                let message = Message {
                    method,
                    host: authority,
                    path: &path,
                    key,
                    if_match,
                    body,
                };
                exchange(stream, message).await
            }
            Way::Socket(stream) => {
                let message = Message {
                    method,
                    host: "localhost",
                    path,
                    key: None,
                    if_match,
                    body,
                };
                exchange(stream, message).await
            }
            Way::Local(local) => {
                let request = server::local::request(&local.server, method, path, if_match, body);
                let answer = tokio::select! {
                    answer = request => answer,
                    // The call is cancelled by dropping it; its log entry is written before `close` returns.
                    _ = tokio::signal::ctrl_c(), if local.ends_on_interrupt => {
                        return Err(Failure::failed("interrupted"));
                    }
                };
                let (status, body) = answer.map_err(|error| Failure::failed(error.to_string()))?;
                Ok(Streamed::new(status, body))
            }
        }
    }
}

struct Message<'a> {
    method: &'a str,
    host: &'a str,
    path: &'a str,
    key: Option<&'a str>,
    if_match: Option<i64>,
    body: Option<Vec<u8>>,
}

/// One request over a connection of its own, and the beginning of its answer.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    message: Message<'_>,
) -> Result<Streamed> {
    let mut request = hyper::Request::builder()
        .method(message.method)
        .uri(message.path)
        .header(HOST, message.host);
    if message.body.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if let Some(version) = message.if_match {
        request = request.header(IF_MATCH, format!("\"{version}\""));
    }
    if let Some(key) = message.key {
        request = request.header("x-api-key", key);
    }
    let request = request
        .body(Full::new(Bytes::from(message.body.unwrap_or_default())))
        .map_err(|error| Failure::usage(format!("this cannot be sent: {error}")))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(broken)?;
    let status = response.status().as_u16();
    Ok(Streamed::new(status, response.into_body()))
}
