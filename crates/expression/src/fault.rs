//! What can be wrong with an expression, told as Python tells it and placed in the author's own source.

use crate::words::OURS;
use monty_types::{ExcType, MontyException};

/// What sort of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The source is not Python.
    Syntax,
    /// A name that nothing is bound to.
    Name,
    /// An operation on values that it is not defined for.
    Type,
    /// Every other exception: a division by zero, a missing key, a failed `assert`.
    Value,
    /// Memory, depth or size.
    Limit,
    /// Python that is not available here, on purpose or not yet.
    Unsupported,
    /// The value is nothing that JSON can carry.
    Result,
    /// It ran too long.
    Time,
}

/// Why there is no value. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What sort of thing went wrong.
    pub kind: Kind,
    /// As a Python user knows it: `ZeroDivisionError: division by zero`.
    pub message: String,
    /// Where in the source, if it has a place.
    pub line: Option<u32>,
    /// Where in that line.
    pub column: Option<u32>,
}

impl Kind {
    /// Its number in the worker's answers.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        use Kind::{Limit, Name, Result, Syntax, Time, Type, Unsupported, Value};
        let all = [Syntax, Name, Type, Value, Limit, Unsupported, Result, Time];
        all.get(usize::from(code)).copied()
    }
}

impl Fault {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Fault {
            kind,
            message: message.into(),
            line: None,
            column: None,
        }
    }

    pub(crate) fn at(self, (line, column): (u32, u32)) -> Self {
        Fault {
            line: Some(line),
            column: Some(column),
            ..self
        }
    }
}

/// An exception without its place.
pub(crate) fn from_exception(exception: &MontyException, duration_ms: u64) -> Fault {
    let mut fault = told(exception, duration_ms);
    // An author called `pow()`, not what we made of it.
    if fault.message.contains(OURS) {
        fault.message = fault.message.replace(OURS, "");
    }
    fault
}

fn told(exception: &MontyException, duration_ms: u64) -> Fault {
    let text = exception.message().unwrap_or_default();
    match exception.exc_type() {
        ExcType::SyntaxError => Fault::new(Kind::Syntax, exception.summary()),
        ExcType::NameError | ExcType::UnboundLocalError => {
            Fault::new(Kind::Name, exception.summary())
        }
        ExcType::TypeError | ExcType::AttributeError | ExcType::FrozenInstanceError => {
            Fault::new(Kind::Type, exception.summary())
        }
        ExcType::TimeoutError if text.starts_with("time limit exceeded") => Fault::new(
            Kind::Time,
            format!("TimeoutError: the expression ran longer than {duration_ms} ms"),
        ),
        ExcType::MemoryError => Fault::new(
            Kind::Limit,
            "MemoryError: the expression needs more memory than is allowed",
        ),
        ExcType::RecursionError => Fault::new(Kind::Limit, exception.summary()),
        ExcType::ImportError | ExcType::ModuleNotFoundError => {
            Fault::new(Kind::Unsupported, exception.summary())
        }
        ExcType::NotImplementedError => unsupported(text, exception),
        _ => Fault::new(Kind::Value, exception.summary()),
    }
}

fn unsupported(text: &str, exception: &MontyException) -> Fault {
    if let Some(what) = text.strip_prefix("The monty syntax parser does not yet support ") {
        return Fault::new(Kind::Unsupported, format!("not supported here: {what}"));
    }
    let called = text
        .strip_prefix("OS function '")
        .and_then(|rest| rest.split_once('\''));
    match called {
        Some((name @ ("datetime.now" | "date.today"), _)) => {
            Fault::new(Kind::Unsupported, impure(&format!("{name}()"), "the time"))
        }
        Some((name, _)) => Fault::new(
            Kind::Unsupported,
            format!("{name}() is not available: an expression reaches no file and no environment"),
        ),
        // Also what an author raises himself.
        None => Fault::new(Kind::Value, exception.summary()),
    }
}

/// Why something that answers differently each time is not there.
pub(crate) fn impure(name: &str, what: &str) -> String {
    format!(
        "{name} is not available: an expression gives the same answer for the same arguments; pass {what} as an argument"
    )
}
