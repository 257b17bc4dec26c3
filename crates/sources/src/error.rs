//! What can go wrong, told apart by what can be done about it.

use std::fmt;

/// Line and column in the text of a query, both counted from one; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The place of a byte of a text.
    pub fn of(text: &str, byte: usize) -> Place {
        let before = text.get(..byte).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Place {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "line {}, column {}", self.line, self.column)
    }
}

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The author's text cannot be used as it is: mend the definition.
    #[error("the query is not usable at {place}: {message}")]
    Query { message: String, place: Place },
    /// A value does not fit where the query wants it: call again with another.
    #[error("argument `{name}`: {message}")]
    Argument { name: String, message: String },
    /// The text of a caller asks for something that is not let through.
    #[error("{message}")]
    Refused { message: String },
    /// The database said no; the words are its own.
    #[error("{message}")]
    Database {
        message: String,
        /// What it says might help: "Perhaps you meant to reference the column …".
        hint: Option<String>,
        /// SQLSTATE of PostgreSQL, or the name of SQLite's result code.
        code: String,
        /// The number of the parameter whose value it could not read.
        parameter: Option<usize>,
    },
    /// The settings of the source are wrong, or its role may do too much: mend the source.
    #[error("{message}")]
    Source { message: String },
    /// Nobody answers, or the line broke: later it may work.
    #[error("{message}")]
    Unavailable { message: String },
    /// The answer would be larger than the call allows, and nothing of it can be left away.
    #[error("{message}")]
    TooLarge { message: String },
    #[error("the query did not end before its deadline")]
    Deadline,
    #[error("the query was cancelled")]
    Cancelled,
}

impl Error {
    /// All that is known of it: the hint of the database as well.
    pub fn in_full(&self) -> String {
        match self {
            Error::Database {
                message,
                hint: Some(hint),
                ..
            } => format!("{message}. {hint}"),
            error => error.to_string(),
        }
    }

    pub(crate) fn refused(message: impl Into<String>) -> Error {
        Error::Refused {
            message: message.into(),
        }
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Error {
        Error::Unavailable {
            message: message.into(),
        }
    }

    pub(crate) fn source(message: impl Into<String>) -> Error {
        Error::Source {
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "SELECT '한글',\n  :a";
        assert_eq!(
            Place::of(text, text.find(":a").unwrap()).to_string(),
            "line 2, column 3"
        );
        assert_eq!(Place::of(text, text.find("글").unwrap()).column, 10);
    }
}
