//! JSON that a command is given: as it is, from a file, or from stdin.

use crate::out::{Failure, Result};
use std::io::Read;

/// A text and what to call it in a message.
pub(crate) struct Input {
    pub(crate) shown: String,
    pub(crate) text: String,
}

impl Input {
    /// JSON itself, `@FILE`, or `-` for stdin.
    pub(crate) fn arguments(given: &str) -> Result<Self> {
        match given.strip_prefix('@') {
            Some(file) => Self::of_file(file),
            None if given == "-" => Self::of_stdin(),
            None => Ok(Input {
                shown: "the arguments".to_owned(),
                text: given.to_owned(),
            }),
        }
    }

    /// The same as the value of an option, which is what a message calls it.
    pub(crate) fn option(given: &str, option: &str) -> Result<Self> {
        let mut input = Self::arguments(given)?;
        if input.text == given {
            option.clone_into(&mut input.shown);
        }
        Ok(input)
    }

    /// The same, and a file's path without the `@`: no path begins with a brace unless it is written `./{`.
    pub(crate) fn definition(given: &str) -> Result<Self> {
        if given.trim_start().starts_with('{') {
            return Ok(Input {
                shown: "the definition".to_owned(),
                text: given.to_owned(),
            });
        }
        match given {
            "-" => Self::of_stdin(),
            file => Self::of_file(file.strip_prefix('@').unwrap_or(file)),
        }
    }

    fn of_file(file: &str) -> Result<Self> {
        let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
        Ok(Input {
            shown: file.to_owned(),
            text,
        })
    }

    fn of_stdin() -> Result<Self> {
        let mut text = String::new();
        let read = std::io::stdin().lock().read_to_string(&mut text);
        read.map_err(|error| unreadable("stdin", &error))?;
        Ok(Input {
            shown: "stdin".to_owned(),
            text,
        })
    }
}

fn unreadable(shown: &str, error: &std::io::Error) -> Failure {
    Failure::usage(format!("{shown}: cannot be read: {error}"))
        .hint("JSON is given as it is ('{…}'), as @FILE, or as - for stdin")
}
