//! What was found out about a server, for the next process to begin with.

use super::handshake::Way;
use super::lists::Lists;
use super::locked;
use super::server::Upstream;
use super::status::{State, Status};
use crate::wire::Era;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a server wants to be spoken to, what it says of itself, and what it offered last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    pub way: Option<Way>,
    pub protocol_version: Option<String>,
    pub server_info: Option<Value>,
    pub capabilities: Option<Value>,
    pub instructions: Option<String>,
    pub lists: Lists,
}

impl Known {
    /// In which era it speaks, where that was found out.
    pub fn era(&self) -> Option<Era> {
        self.way.map(|way| match way {
            Way::Modern => Era::Modern,
            Way::Legacy | Way::LegacySse => Era::Legacy,
        })
    }

    /// The status of a server that nobody has spoken to yet.
    pub(super) fn status(&self, state: State) -> Status {
        Status {
            era: self.era(),
            protocol_version: self.protocol_version.clone(),
            server_info: self.server_info.clone(),
            capabilities: self.capabilities.clone(),
            instructions: self.instructions.clone(),
            ..Status::new(state)
        }
    }
}

impl Upstream {
    /// What is known of it by now.
    pub fn known(&self) -> Known {
        let status = locked(&self.status).clone();
        Known {
            way: *locked(&self.known),
            protocol_version: status.protocol_version,
            server_info: status.server_info,
            capabilities: status.capabilities,
            instructions: status.instructions,
            lists: (*self.lists()).clone(),
        }
    }
}
