//! One upstream server as it is configured, and how it is reached.

use super::auth::{Auth, Holder};
use crate::pinning::Pinning;
use crate::problem::Problem;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// One upstream server. Its values may hold secrets from the environment, so `Debug` shows none of them.
#[derive(Clone, PartialEq)]
pub struct ServerConfig {
    pub name: String,
    pub transport: Transport,
    pub disabled: bool,
    pub timeout_seconds: Option<f64>,
    /// What happens when it describes a tool anew; none is what the configuration says.
    pub pinning: Option<Pinning>,
    /// Its address was chosen by somebody who may not call everything that this machine can reach.
    pub guarded: bool,
    /// Which tokens it is shown.
    pub auth: Option<Auth>,
    /// Variables of the environment that it names and that are not set: with any of them it is not connected.
    pub unset: Vec<Problem>,
    /// What of it cannot be used, in a file whose other servers can: with that it is not connected either.
    pub refused: Option<Problem>,
    /// Keys this program does not know, kept as they were.
    pub extra: Map<String, Value>,
}

/// How the server is reached.
#[derive(Clone, PartialEq)]
pub enum Transport {
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        cwd: Option<String>,
    },
    /// The older transport: one event stream and a POST address.
    Sse {
        url: String,
        headers: BTreeMap<String, String>,
    },
    /// Streamable HTTP.
    Http {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

impl ServerConfig {
    /// Where it is reached, if not by starting it.
    pub fn url(&self) -> Option<&str> {
        match &self.transport {
            Transport::Stdio { .. } => None,
            Transport::Sse { url, .. } | Transport::Http { url, .. } => Some(url),
        }
    }

    /// Whether nothing is missing of it and nothing wrong.
    pub fn is_usable(&self) -> bool {
        self.unset.is_empty() && self.refused.is_none()
    }

    /// Why it cannot be connected, where a variable is missing or its address is refused.
    pub fn fault(&self) -> Option<String> {
        let told = self.unset.iter().map(|it| {
            let Problem {
                file,
                line,
                path,
                expected,
                remedy,
                ..
            } = it;
            format!("{expected} is not set, which {path} names ({file}:{line}). {remedy}")
        });
        let refused = self.refused.iter().map(|it| {
            let Problem {
                file,
                line,
                path,
                expected,
                found,
                remedy,
                ..
            } = it;
            format!("{path} must be {expected}, and is {found} ({file}:{line}). {remedy}")
        });
        let told: Vec<String> = refused.chain(told).collect();
        (!told.is_empty()).then(|| told.join(" "))
    }

    /// Whether it knows every user by themselves: what it says to one is not for another.
    pub fn knows_people(&self) -> bool {
        let auth = self.auth.as_ref();
        auth.is_some_and(|auth| auth.holder == Holder::User)
    }
}

impl Transport {
    pub fn as_str(&self) -> &'static str {
        match self {
            Transport::Stdio { .. } => "stdio",
            Transport::Sse { .. } => "sse",
            Transport::Http { .. } => "http",
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("name", &self.name)
            .field("transport", &self.transport)
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}
