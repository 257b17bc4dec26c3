//! What can go wrong with the log, by what the caller can do about it.

/// Cheap to clone: one failed batch answers many waiters.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// No space left: nothing was written; the same write succeeds once there is space again.
    #[error("The execution log is full: {message}. Free space on its disk; no restart is needed")]
    Full { message: String },
    /// The disk or the database server does not answer: nothing was acknowledged; it may be tried again.
    #[error(
        "The execution log is unavailable: {message}. It recovers by itself once its storage answers again"
    )]
    Unavailable { message: String },
    /// This one row or request is wrong; trying again does not help.
    #[error("Not a valid request to the execution log: {message}")]
    Invalid { message: String },
    /// A cursor that did not come from this log's `next_cursor`.
    #[error(
        "Cursor '{cursor}' is not valid; pass the `next_cursor` of the page before, unchanged, or none to start at the newest"
    )]
    BadCursor { cursor: String },
    /// A stored row or file that this program did not write, or that was damaged.
    #[error("The execution log holds something unreadable: {message}")]
    Damaged { message: String },
    #[error("The execution log is closed: the server is shutting down")]
    Closed,
}

impl LogError {
    pub(crate) fn unavailable(error: impl std::fmt::Display) -> Self {
        LogError::Unavailable {
            message: error.to_string(),
        }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        LogError::Invalid {
            message: message.into(),
        }
    }

    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        LogError::Damaged {
            message: message.into(),
        }
    }

    /// The same error, saying which file it is about.
    pub(crate) fn of_file(mut self, path: &std::path::Path) -> Self {
        if let LogError::Full { message }
        | LogError::Unavailable { message }
        | LogError::Damaged { message } = &mut self
        {
            *message = format!("{}: {message}", path.display());
        }
        self
    }

    /// A file operation that failed, with the file it failed on.
    pub(crate) fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        let message = format!("{}: {error}", path.display());
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                LogError::Full { message }
            }
            _ => LogError::Unavailable { message },
        }
    }
}

impl From<rusqlite::Error> for LogError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{
            ConstraintViolation, DatabaseCorrupt, DiskFull, NotADatabase, TooBig, TypeMismatch,
        };
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(DiskFull) => LogError::Full { message },
            Some(TooBig | ConstraintViolation | TypeMismatch) => LogError::Invalid { message },
            Some(DatabaseCorrupt | NotADatabase) => LogError::Damaged { message },
            _ => LogError::Unavailable { message },
        }
    }
}

impl From<sqlx::Error> for LogError {
    fn from(error: sqlx::Error) -> Self {
        let message = error.to_string();
        let sqlx::Error::Database(database) = &error else {
            return match error {
                sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                    LogError::Damaged { message }
                }
                sqlx::Error::Encode(_) => LogError::Invalid { message },
                _ => LogError::Unavailable { message },
            };
        };
        let code = database.code().unwrap_or_default();
        match code.as_ref() {
            "53100" => LogError::Full { message },
            // Class 21 is one row twice in a batch, 22 a value the server refuses, 23 a constraint, 54 a value too large.
            code if ["21", "22", "23", "54"].contains(&code.get(..2).unwrap_or_default()) => {
                LogError::Invalid { message }
            }
            _ => LogError::Unavailable { message },
        }
    }
}
