//! Why a request has no answer. Every message says what, where and what can be done about it, and nothing of our
//! insides or of what an address was found to be: the causes behind it are for the log.

use crate::address::Block;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A place is written as scheme, host and port. The rest of an address may hold secrets.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error("The address cannot be used: {why}")]
    BadUrl { why: String },
    #[error("The header '{name}' cannot be sent: {why}")]
    BadHeader { name: String, why: &'static str },
    /// An entry of the allow list.
    #[error("'{entry}' is no place that can be allowed: {why}")]
    BadAllowed { entry: String, why: &'static str },
    #[error("{place} is not called: {refusal}")]
    Refused { place: String, refusal: Refusal },
    #[error(
        "The name '{host}' cannot be resolved; check its spelling, or ask whoever runs its DNS"
    )]
    Resolve {
        host: String,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("{place} cannot be reached: nothing there takes the connection")]
    Connect {
        place: String,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("{place} has no TLS that can be trusted: {why}")]
    Tls {
        place: String,
        why: &'static str,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("{place} took too long: {phase} was not done within {} s", .after.as_secs_f64())]
    Timeout {
        place: String,
        phase: Phase,
        after: Duration,
    },
    #[error("{place} answered with more than can be taken: {part} over {max}")]
    TooLarge {
        place: String,
        part: Part,
        max: usize,
    },
    #[error("{place} led elsewhere more than {max} times; give the address where it ends")]
    TooManyRedirects { place: String, max: u32 },
    #[error("{place} did not keep to HTTP: {why}")]
    Protocol {
        place: String,
        why: &'static str,
        #[source]
        source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    },
}

impl Error {
    /// Whether the request may have arrived although there is no answer.
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Error::BadUrl { .. }
            | Error::BadHeader { .. }
            | Error::BadAllowed { .. }
            | Error::Refused { .. }
            | Error::Resolve { .. }
            | Error::Connect { .. }
            | Error::Tls { .. }
            | Error::Timeout {
                phase: Phase::Connection,
                ..
            } => false,
            Error::Timeout { .. }
            | Error::TooLarge { .. }
            | Error::TooManyRedirects { .. }
            | Error::Protocol { .. } => true,
        }
    }
}

/// Why the guard lets a request go nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It leads, or one of its addresses does, to where strangers have no business.
    Address(Block),
    /// A port where something else than HTTP answers.
    Port,
    /// From TLS back to plain text.
    Downgrade,
}

/// What was being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Connection,
    Answer,
}

/// The part of an answer that was too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Body,
    Headers,
}

const ALLOW: &str = "Whoever runs this server can permit it: http.allow in toolcrib.toml (or TOOLCRIB_HTTP_ALLOW) lists places as host:port, from the next start on";

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Address(Block { range, what }) => {
                write!(f, "it leads to an address that is not public ({range}, for {what}). {ALLOW}")
            }
            Refusal::Port => write!(f, "another service than HTTP has that port. {ALLOW}"),
            Refusal::Downgrade => f.write_str(
                "it was reached by a redirect from https to http, which would send in the open what came in secret. Give the address where it ends",
            ),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Connection => "the connection",
            Phase::Answer => "the answer",
        })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Body => "a body (decompressed) of bytes",
            Part::Headers => "headers of bytes",
        })
    }
}
