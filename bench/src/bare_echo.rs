//! The reference that `rest-call` is measured against: axum, one route, parse the call, answer it. No key, no schemas, no log.

use std::net::SocketAddr;

use axum::Json;
use axum::extract::Path;
use axum::routing::post;
use axum::serve::ListenerExt;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Failure;

#[derive(Args)]
pub(crate) struct BareEchoArgs {
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// The fields of a ToolResponse, so that both sides send an answer of the same size.
#[derive(Serialize)]
struct Answer {
    status: &'static str,
    message: &'static str,
    data: Value,
    error: Option<Value>,
    tool_name: String,
    execution_id: &'static str,
    elapsed: f64,
}

pub(crate) fn run(args: &BareEchoArgs) -> Result<(), Failure> {
    // The defaults of #[tokio::main]: what a server has that nobody tuned.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start the runtime: {e}"))?;
    runtime.block_on(serve(args.listen))
}

async fn serve(listen: SocketAddr) -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::bind(listen)
        .await
        .map_err(|e| format!("cannot listen on {listen}: {e}"))?;
    let address = listener
        .local_addr()
        .map_err(|e| format!("cannot read the address: {e}"))?;
    let listener = listener.tap_io(|stream| {
        // A connection that is already gone needs no option.
        let _ = stream.set_nodelay(true);
    });
    let router = axum::Router::new().route("/api/v1/tools/{name}/call", post(echo));
    crate::print_line(&format!("listening on http://{address}"))?;
    axum::serve(listener, router)
        .await
        .map_err(|e| format!("the server stopped: {e}"))
}

async fn echo(Path(tool_name): Path<String>, Json(mut call): Json<Call>) -> Json<Answer> {
    Json(Answer {
        status: "success",
        message: "",
        data: call.arguments.remove("data").unwrap_or(Value::Null),
        error: None,
        tool_name,
        execution_id: "019a8320-0000-7000-8000-000000000000",
        elapsed: 0.000_012,
    })
}
