//! What PostgreSQL and its driver say, in our words.

use super::parameter::Parameter;
use crate::error::Error;

/// Codes that mean: not this query's fault, try later.
const PASSING: &[&str] = &[
    "57P01", "57P02", "57P03", "53300", "53400", "25P03", "57P05",
];

pub(super) fn database(error: &tokio_postgres::Error) -> Error {
    let Some(said) = error.as_db_error() else {
        return if error.is_closed() {
            Error::unavailable("the connection to the database was lost")
        } else {
            Error::unavailable(format!("the connection to the database failed: {error}"))
        };
    };
    let code = said.code().code();
    if PASSING.contains(&code) || code.starts_with("08") {
        return Error::unavailable(said.message());
    }
    let message = match said.message() {
        // Nobody who wrote the query knows of a cursor.
        text if text.starts_with("DECLARE CURSOR must not contain data-modifying") => {
            "only queries that read are run here; this one changes data in a WITH".to_owned()
        }
        text => shortened(text),
    };
    Error::Database {
        message,
        hint: said.hint().map(shortened),
        code: code.to_owned(),
        parameter: said.where_().and_then(parameter),
    }
}

/// The server says last what it was doing on our behalf: `unnamed portal parameter $1 = '…'`.
fn parameter(context: &str) -> Option<usize> {
    let (portal, parameter) = context.lines().last()?.split_once(" parameter $")?;
    let number = parameter.split(' ').next()?;
    let is_ours = portal == "unnamed portal" || portal.starts_with("portal ");
    number.parse().ok().filter(|_| is_ours)
}

/// A value that does not fit is the fault of whoever gave it, and is told by its name.
pub(super) fn named(error: Error, parameters: &[Parameter<'_>]) -> Error {
    let Error::Database {
        code,
        parameter: Some(number),
        ..
    } = &error
    else {
        return error;
    };
    let is_value = code.starts_with("22") || code == "23514" || code == "23502";
    let parameter = number.checked_sub(1).and_then(|at| parameters.get(at));
    match parameter.filter(|parameter| parameter.is_given && is_value) {
        Some(parameter) => Error::Argument {
            name: parameter.name.to_owned(),
            message: error.in_full(),
        },
        None => error,
    }
}

/// Some messages repeat the value that was wrong, however long it is.
fn shortened(message: &str) -> String {
    const LETTERS_MAX: usize = 1000;
    match message.char_indices().nth(LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

/// The server stopped the query, at its own clock or because it was asked to.
pub(super) fn was_stopped(error: &Error) -> bool {
    matches!(error, Error::Database { code, .. } if code == "57014")
}

/// The role has not the right to it.
pub(super) fn is_forbidden(error: &Error) -> bool {
    matches!(error, Error::Database { code, .. } if code == "42501")
}

/// A prepared statement is not where it was left, or is there already: behind a pooler another server answered.
pub(super) fn lost_statement(error: &Error) -> bool {
    matches!(error, Error::Database { code, .. } if code == "26000" || code == "42P05")
}

/// A prepared statement no longer does: its tables have other columns now, or it is gone from the session.
pub(super) fn outlived_statement(error: &Error) -> bool {
    matches!(error, Error::Database { code, .. } if code == "0A000" || code == "26000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_parameters_are_told() {
        for (context, number) in [
            ("unnamed portal parameter $2 = 'x'", Some(2)),
            ("unnamed portal parameter $12", Some(12)),
            (
                "JSON data, line 1: x\nunnamed portal parameter $1 = 'x'",
                Some(1),
            ),
            ("portal \"c\" parameter $1", Some(1)),
            // Of a server behind the server.
            (
                "unnamed portal parameter $1 = 'x'\nremote SQL command: SELECT 1",
                None,
            ),
            ("SQL function \"f\" statement 1", None),
            ("", None),
        ] {
            assert_eq!(parameter(context), number, "{context}");
        }
    }
}
