//! How an upstream is.

use super::server::Upstream;
use crate::wire::Era;
use serde_json::Value;
use std::time::Instant;

/// What a server is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Disabled,
    Starting,
    Connected,
    /// Connected, but a list or the last calls failed.
    Degraded,
    /// Lost; the `n`th try of `of`.
    Reconnecting {
        n: u32,
        of: u32,
    },
    AuthRequired,
    /// Not tried again before somebody needs it.
    Failed,
}

impl State {
    /// Whether it is connected, be it badly.
    pub fn is_up(&self) -> bool {
        matches!(self, State::Connected | State::Degraded)
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            State::Disabled => "disabled",
            State::Starting => "starting",
            State::Connected => "connected",
            State::Degraded => "degraded",
            State::Reconnecting { .. } => "reconnecting",
            State::AuthRequired => "auth_required",
            State::Failed => "failed",
        }
    }
}

/// All that is known of a server.
#[derive(Debug, Clone)]
pub struct Status {
    pub state: State,
    /// Why it is not simply connected.
    pub cause: Option<String>,
    pub era: Option<Era>,
    pub protocol_version: Option<String>,
    pub server_info: Option<Value>,
    pub capabilities: Option<Value>,
    pub instructions: Option<String>,
    pub connected_at: Option<Instant>,
    /// Tries since the last connection that held.
    pub attempts: u32,
    /// Of the supervisor of its program.
    pub pid: Option<u32>,
    /// The end of what its program wrote to stderr.
    pub stderr: String,
}

impl Status {
    pub(super) fn new(state: State) -> Self {
        Status {
            state,
            cause: None,
            era: None,
            protocol_version: None,
            server_info: None,
            capabilities: None,
            instructions: None,
            connected_at: None,
            attempts: 0,
            pid: None,
            stderr: String::new(),
        }
    }
}

impl Upstream {
    /// Whoever reads the log of the server learns how its upstreams do, each once for each state. How the connection of
    /// a single user does is theirs to know.
    pub(super) fn log(&self, state: &State, cause: Option<&str>) {
        if self.user.is_some() {
            return;
        }
        let (server, state_word) = (&*self.name, state.as_str());
        match state {
            State::Starting | State::Disabled => {}
            State::Connected => tracing::info!(server, "this MCP server is connected"),
            _ => tracing::warn!(
                server,
                state = state_word,
                cause,
                "this MCP server is not connected as it should be"
            ),
        }
    }
}
