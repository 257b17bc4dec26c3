//! Why an operation failed, in the words of the one who asked. Status codes are the faces' business.

use crate::versions::FieldChange;
use catalog::problem::Problem;
use executor::Code;
use serde_json::{Value, json};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{what} '{name}' not found")]
    NotFound { what: &'static str, name: String },
    /// A name that several tools could be meant by, with the full names of some.
    #[error("{message}")]
    Ambiguous {
        message: String,
        candidates: Vec<String>,
    },
    /// The request is sound but does not fit what is there now.
    #[error("{message}")]
    Conflict {
        message: String,
        problems: Vec<Problem>,
    },
    /// The change was made from an older version than the one that is there.
    #[error("{message}")]
    Stale {
        message: String,
        /// The one that is there.
        version: i64,
        /// What has changed since, where that is known.
        changes: Vec<FieldChange>,
    },
    /// It was decided on what other servers have changed since.
    #[error("Other servers change the same all the time; try again in a moment")]
    Behind,
    #[error("{message}")]
    Invalid {
        message: String,
        problems: Vec<Problem>,
    },
    #[error("{0}")]
    Unauthenticated(String),
    #[error("{0}")]
    Forbidden(String),
    #[error("{message}")]
    TooMany {
        message: String,
        retry_after_seconds: i64,
    },
    /// Something this server needs does not answer; trying again can help.
    #[error("{0}")]
    Unavailable(String),
    /// A fault of ours. The text is for the server's log, never for the one who asked.
    #[error("internal error")]
    Internal(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn conflict(message: impl Into<String>) -> Self {
        Error::Conflict {
            message: message.into(),
            problems: Vec::new(),
        }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Error::Invalid {
            message: message.into(),
            problems: Vec::new(),
        }
    }

    /// A source that cannot be asked as it is, in the words of a call that uses it. Only calls have a code of their own for
    /// what has to be set up first: it is a fault of the server there, and beside them the state of what was asked for.
    pub(crate) fn unusable_source(name: &str, why: impl std::fmt::Display) -> Self {
        Error::conflict(format!("Source '{name}' cannot be used: {why}"))
    }

    /// A document that cannot be accepted, with everything that is wrong with it.
    pub fn problems(problems: Vec<Problem>) -> Self {
        Error::Invalid {
            message: summary(&problems),
            problems,
        }
    }

    pub fn tool_not_found(name: &str) -> Self {
        Error::NotFound {
            what: "Tool",
            name: name.to_owned(),
        }
    }

    pub fn code(&self) -> Code {
        match self {
            Error::NotFound { what: "Tool", .. } | Error::Ambiguous { .. } => Code::ToolNotFound,
            Error::NotFound { .. } => Code::NotFound,
            Error::Conflict { .. } | Error::Stale { .. } | Error::Behind => Code::Conflict,
            Error::Invalid { .. } => Code::Invalid,
            Error::Unauthenticated(_) => Code::Unauthenticated,
            Error::Forbidden(_) => Code::Forbidden,
            Error::TooMany { .. } => Code::RateLimited,
            Error::Unavailable(_) => Code::ServiceUnavailable,
            Error::Internal(_) => Code::Internal,
        }
    }

    pub fn details(&self) -> Value {
        match self {
            Error::Conflict { problems, .. } | Error::Invalid { problems, .. }
                if !problems.is_empty() =>
            {
                json!({"problems": problems})
            }
            Error::Stale {
                version, changes, ..
            } if changes.is_empty() => json!({"version": version}),
            Error::Stale {
                version, changes, ..
            } => json!({"version": version, "changes": changes}),
            Error::Ambiguous { candidates, .. } => json!({"candidates": candidates}),
            Error::TooMany {
                retry_after_seconds,
                ..
            } => json!({"retry_after_seconds": retry_after_seconds}),
            _ => Value::Null,
        }
    }
}

/// Refuses a change that was made from another version than the one that is there.
pub(crate) fn expect_version(
    what: &str,
    name: &str,
    version: i64,
    expected: Option<i64>,
) -> Result<()> {
    match expected {
        Some(expected) if expected != version => Err(Error::Stale {
            message: format!(
                "{what} '{name}' is at version {version} now, not {expected}; fetch it again and repeat the change"
            ),
            version,
            changes: Vec::new(),
        }),
        _ => Ok(()),
    }
}

/// The first problem in full, and how many more there are.
pub fn summary(problems: &[Problem]) -> String {
    match problems {
        [] => "not valid".to_owned(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Taken(message) => Error::conflict(message),
            store::Error::Behind => Error::Behind,
            store::Error::Unavailable(_) => {
                tracing::error!(%error, "the registry database is not available");
                let why = if error.is_full() {
                    ": its disk is full. Free space; no restart is needed"
                } else {
                    ""
                };
                Error::Unavailable(format!("The registry database is not available{why}"))
            }
            other => Error::Internal(other.to_string()),
        }
    }
}

impl From<executions::LogError> for Error {
    fn from(error: executions::LogError) -> Self {
        match error {
            executions::LogError::BadCursor { .. } | executions::LogError::Invalid { .. } => {
                Error::invalid(error.to_string())
            }
            executions::LogError::Full { .. }
            | executions::LogError::Unavailable { .. }
            | executions::LogError::Closed => Error::Unavailable(error.to_string()),
            executions::LogError::Damaged { .. } => Error::Internal(error.to_string()),
        }
    }
}
