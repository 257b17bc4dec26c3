//! What whoever calls is told of a server that gives no answer: how it is, and whether to try again. Why is for those who
//! may operate servers, because a cause quotes programs and names addresses.

use super::error::UpstreamError;
use super::server::Upstream;

impl Upstream {
    /// Why there is no result, in all words.
    pub fn whole_words(&self, error: &UpstreamError) -> String {
        format!("MCP server '{}': {error}", self.name())
    }

    /// The same for whoever may not know the cause.
    pub fn plain_words(&self, error: &UpstreamError) -> String {
        let (name, whole) = (self.name(), || self.whole_words(error));
        let words = match error {
            UpstreamError::Rpc(_) | UpstreamError::Late | UpstreamError::Cancelled => {
                return whole();
            }
            // It is their own token, and theirs to renew.
            UpstreamError::AuthRequired { .. } if self.config().knows_people() => return whole(),
            UpstreamError::AuthRequired { .. } => state_words("auth_required"),
            UpstreamError::Unavailable { state, .. } => state_words(state.as_str()),
            UpstreamError::Lost { .. } => {
                "the connection was lost before the answer, so it may have run; try again only what may run twice"
            }
            UpstreamError::Protocol(_) => {
                "the server did not keep to the protocol, and trying again will hardly help"
            }
        };
        format!("MCP server '{name}': {words}. {}", where_to_look(name))
    }
}

/// A state as it is shown, and whether to try again.
pub fn state_words(state: &str) -> &'static str {
    match state {
        "starting" => "it is starting; try again in a moment",
        "reconnecting" => "it is reconnecting; try again in a moment",
        "connected" | "degraded" => "it did not take the call; try again in a moment",
        "disabled" => "it is disabled, so trying again does not help",
        "auth_required" => {
            "it is auth_required: it does not take the credentials that it is shown, and trying again does not help before it has others"
        }
        "refused" => "it is refused: it may not run here, and trying again does not help",
        "stopped" => "it is stopped: nobody has connected it",
        _ => {
            "it is failed: it could not be connected, and trying again hardly helps before that is mended"
        }
    }
}

/// For whoever may not read the cause.
pub fn where_to_look(server: &str) -> String {
    format!("An operator finds the cause with `toolcrib servers show {server}`")
}
