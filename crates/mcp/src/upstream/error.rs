//! Why a request to an upstream has no result, by what the caller can do about it.

use super::status::State;
use crate::wire::RpcError;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UpstreamError {
    /// It was certainly not run.
    #[error("the server is {}: {cause}", .state.as_str())]
    Unavailable {
        state: State,
        cause: String,
        retry_after: Option<Duration>,
    },
    /// It was not run; `challenge` is what the server said about who may, `remedy` what can be done here.
    #[error("the server wants other credentials; {remedy}")]
    AuthRequired {
        challenge: Option<String>,
        remedy: String,
    },
    /// The server's own answer.
    #[error("{0}")]
    Rpc(RpcError),
    /// It was sent and may have run, but no answer came.
    #[error("the connection was lost before the answer, so the call may have run: {cause}")]
    Lost { cause: String },
    /// The server did not keep to the protocol.
    #[error("the server did not keep to the protocol: {0}")]
    Protocol(String),
    #[error("the server did not answer in time")]
    Late,
    #[error("the request was cancelled")]
    Cancelled,
}
