//! What went wrong on one connection, in more detail than a caller needs.

use super::error::UpstreamError;
use super::status::State;
use crate::wire::RpcError;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// It never left, so it did not run.
    NotSent(String),
    /// The server does not know us any more, so it did not run.
    NoSession(String),
    /// It does not know who we are; what it said about that.
    Auth(Option<String>),
    /// It knows, and that is not enough for this request.
    Forbidden(Option<String>),
    /// An error as the answer.
    Rpc(RpcError),
    /// A status that is no success, with the error in its body if there was one.
    Status {
        status: u16,
        error: Option<RpcError>,
        retry_after: Option<Duration>,
    },
    /// It left, and nothing came back.
    Lost(String),
    Protocol(String),
    Late,
    Cancelled,
}

impl Fault {
    /// Whether nothing can have happened.
    pub(super) fn is_unsent(&self) -> bool {
        matches!(self, Fault::NotSent(_) | Fault::NoSession(_))
    }

    /// The error that a server gave as its answer, in whichever way.
    pub(super) fn rpc(&self) -> Option<&RpcError> {
        match self {
            Fault::Rpc(error) => Some(error),
            Fault::Status { error, .. } => error.as_ref(),
            _ => None,
        }
    }

    /// `remedy` is what can be done where it does not know who we are.
    pub(super) fn told(self, state: &State, remedy: &str) -> UpstreamError {
        let unavailable = |cause, retry_after| UpstreamError::Unavailable {
            state: state.clone(),
            cause,
            retry_after,
        };
        match self {
            Fault::NotSent(cause) | Fault::NoSession(cause) => unavailable(cause, None),
            Fault::Auth(challenge) | Fault::Forbidden(challenge) => UpstreamError::AuthRequired {
                challenge,
                remedy: remedy.to_owned(),
            },
            Fault::Rpc(error)
            | Fault::Status {
                error: Some(error), ..
            } => UpstreamError::Rpc(error),
            Fault::Status {
                status: 429,
                retry_after,
                ..
            } => unavailable("it is asked too often (HTTP 429)".to_owned(), retry_after),
            // A web server that takes no POST. It has answered, and nothing has run.
            Fault::Status { status: 501, .. } => UpstreamError::Protocol(
                "there is no MCP server at its address (HTTP 501); check the path, which often ends in /mcp or /sse".to_owned(),
            ),
            Fault::Status { status, .. } if status >= 500 => UpstreamError::Lost {
                cause: format!("it answered HTTP {status}"),
            },
            Fault::Status { status, .. } => {
                UpstreamError::Protocol(format!("it answered HTTP {status}"))
            }
            Fault::Lost(cause) => UpstreamError::Lost { cause },
            Fault::Protocol(why) => UpstreamError::Protocol(why),
            Fault::Late => UpstreamError::Late,
            Fault::Cancelled => UpstreamError::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_no_post_is_no_mcp_server() {
        let told = |status| {
            let fault = Fault::Status {
                status,
                error: None,
                retry_after: None,
            };
            fault.told(&State::Starting, "").to_string()
        };
        let plain = told(501);
        assert!(
            plain.contains("there is no MCP server at its address (HTTP 501)"),
            "{plain}"
        );
        assert!(!plain.contains("lost"), "{plain}");
        assert!(told(503).contains("lost"), "whether it ran is not known");
    }
}
