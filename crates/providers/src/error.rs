//! Why there is no turn, by what can be done about it. No text holds our key.

use std::time::Duration;

/// What a caller can do: wait, pay, say less, mend the key or the request, or try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Too much was asked in a short time.
    RateLimited,
    /// The provider has trouble of its own.
    Overloaded,
    /// Money or a plan is used up: waiting does not help.
    Quota,
    /// More was said than the model can take.
    TooLong,
    /// The key is wrong or may not do this.
    Auth,
    /// The request is wrong, the model's name included.
    BadRequest,
    /// The provider's policy forbids it.
    Filtered,
    /// The provider cannot be reached, or the connection broke.
    Network,
    /// The provider took too long.
    Timeout,
    /// What came is no answer of this wire format.
    Protocol,
}

/// The last try's failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub class: Class,
    pub status: Option<u16>,
    /// The provider's own sentence, cut to a bearable length, or ours where it has none.
    pub message: String,
    pub request_id: Option<String>,
    /// How long the provider wants to be left alone, where it says so.
    pub retry_after: Option<Duration>,
}

impl Class {
    pub fn as_str(self) -> &'static str {
        match self {
            Class::RateLimited => "rate_limited",
            Class::Overloaded => "overloaded",
            Class::Quota => "quota",
            Class::TooLong => "too_long",
            Class::Auth => "auth",
            Class::BadRequest => "bad_request",
            Class::Filtered => "filtered",
            Class::Network => "network",
            Class::Timeout => "timeout",
            Class::Protocol => "protocol",
        }
    }

    /// Whether the same request may succeed a little later.
    pub fn is_passing(self) -> bool {
        match self {
            Class::RateLimited
            | Class::Overloaded
            | Class::Network
            | Class::Timeout
            | Class::Protocol => true,
            Class::Quota | Class::TooLong | Class::Auth | Class::BadRequest | Class::Filtered => {
                false
            }
        }
    }
}

impl Error {
    pub(crate) fn new(class: Class, message: impl Into<String>) -> Self {
        Error {
            class,
            status: None,
            message: message.into(),
            request_id: None,
            retry_after: None,
        }
    }
}
