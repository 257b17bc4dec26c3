//! What went wrong at a source, with the code that says whose fault it is.

use ::sources::Error;
use executor::{Code, Failure};
use serde_json::{Value, json};

pub(super) fn failure(error: &Error, source: &str, writes: bool) -> Failure {
    match error {
        Error::Argument { .. } => Failure::new(
            Code::InvalidInput,
            format!("Input validation failed: {error}"),
        ),
        Error::Database { code, .. } => Failure::execution(error.in_full())
            .with_details(json!({"source": source, "code": code})),
        Error::Source { message } => Failure::new(
            Code::NotConfigured,
            format!("Source '{source}' cannot be used: {message}"),
        ),
        Error::Unavailable { message } => unavailable(source, message, writes),
        Error::TooLarge { message } => Failure::new(
            Code::OutputTooLarge,
            format!("The output is too large: {message}"),
        ),
        Error::Deadline => Failure::new(
            Code::Timeout,
            format!(
                "Source '{source}' did not answer in time; ask for less, or let the tool have more (`timeout_seconds`)"
            ),
        ),
        Error::Cancelled => Failure::new(Code::Cancelled, "The caller cancelled the call"),
        // The author's query, which is read before it is stored; a source may have become another since.
        error => Failure::execution(error),
    }
}

fn unavailable(source: &str, message: &str, writes: bool) -> Failure {
    let mut details = json!({"source": source});
    if writes {
        // The line may have broken after the change was made: nothing that invites to try again.
        details["tool_ran"] = Value::Null;
    } else {
        details["retry_after_seconds"] = 1.into();
    }
    Failure::new(
        Code::ServiceUnavailable,
        format!("Source '{source}' does not answer: {message}"),
    )
    .with_details(details)
}

/// SQLSTATEs of what is not there, or not for us, and may be later: a table, a schema, a right.
const ELSEWHERE: [&str; 3] = ["42P01", "3F000", "42501"];

/// Whether the database misses something that is not the query's.
pub(super) fn is_elsewhere(message: &str, code: &str) -> bool {
    // SQLite has one code for all that is wrong with a text.
    ELSEWHERE.contains(&code) || message.starts_with("no such table")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_the_code_of_whose_fault_it_is() {
        let text = |message: &str| message.to_owned();
        let argument = Error::Argument {
            name: text("ids"),
            message: text("too many"),
        };
        let database = Error::Database {
            message: text("division by zero"),
            hint: None,
            code: text("22012"),
            parameter: None,
        };
        let down = Error::Unavailable {
            message: text("nobody is there"),
        };
        let large = Error::TooLarge {
            message: text("more than 10 bytes"),
        };
        let wrong = Error::Source {
            message: text("a superuser"),
        };
        for (error, code, message) in [
            (
                &argument,
                Code::InvalidInput,
                "Input validation failed: argument `ids`: too many",
            ),
            (
                &database,
                Code::ToolExecutionError,
                "Execution error: division by zero",
            ),
            (
                &down,
                Code::ServiceUnavailable,
                "Source 'demo' does not answer: nobody is there",
            ),
            (
                &large,
                Code::OutputTooLarge,
                "The output is too large: more than 10 bytes",
            ),
            (
                &wrong,
                Code::NotConfigured,
                "Source 'demo' cannot be used: a superuser",
            ),
        ] {
            let failure = failure(error, "demo", false);
            assert_eq!((failure.code, &*failure.message), (code, message));
        }
        let unknown = Error::Database {
            message: text("column \"nmae\" does not exist"),
            hint: Some(text("Perhaps you meant \"name\".")),
            code: text("42703"),
            parameter: None,
        };
        assert_eq!(
            failure(&unknown, "demo", false).message,
            "Execution error: column \"nmae\" does not exist. Perhaps you meant \"name\"."
        );
        let told = failure(&down, "demo", true).details;
        assert_eq!(told, json!({"source": "demo", "tool_ran": null}));
    }
}
