//! Both ends of what a server asks its worker and what the worker answers, as bytes. Numbers are little-endian.
//!
//! A question: milliseconds (u32), length of the source (u32), the source, the arguments as JSON.
//! An answer: 0, length of what was printed (u32), what was printed, the value as JSON; or
//! 1, the kind of fault, line (u32, 0 for none), column (u32), the message.

use crate::fault::{Fault, Kind};
use crate::value::too_large;
use crate::{Evaluated, Evaluator, Limits};
use serde_json::{Map, Value};

const VALUE: u8 = 0;
const FAULT: u8 = 1;

/// What to ask a worker.
#[must_use]
pub fn question(source: &str, arguments: &Map<String, Value>, duration_ms: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(source.len() + 64);
    put(
        &mut bytes,
        usize::try_from(duration_ms).unwrap_or(usize::MAX),
    );
    put(&mut bytes, source.len());
    bytes.extend_from_slice(source.as_bytes());
    // A map with text for keys is always JSON.
    let _written = serde_json::to_writer(&mut bytes, arguments);
    bytes
}

/// A worker's answer to a question.
pub fn answer(evaluator: &mut Evaluator, question: &[u8]) -> Vec<u8> {
    let evaluated = asked(question).and_then(|(source, arguments, limits)| {
        let evaluated = evaluator.evaluate(source, &arguments, &limits)?;
        written(&evaluated, &limits)
    });
    evaluated.unwrap_or_else(|fault| {
        let mut bytes = vec![FAULT, fault.kind.code()];
        for number in [fault.line, fault.column] {
            bytes.extend_from_slice(&number.unwrap_or(0).to_le_bytes());
        }
        bytes.extend_from_slice(fault.message.as_bytes());
        bytes
    })
}

/// What a worker's answer says.
///
/// # Errors
/// The fault that it tells of, or that it is no answer.
pub fn read(answer: &[u8]) -> Result<Evaluated, Fault> {
    read_known(answer).unwrap_or_else(|| {
        Err(Fault::new(
            Kind::Result,
            "the worker's answer cannot be read",
        ))
    })
}

fn read_known(answer: &[u8]) -> Option<Result<Evaluated, Fault>> {
    let (tag, rest) = answer.split_first()?;
    match *tag {
        VALUE => {
            let (length, rest) = take(rest)?;
            let (printed, value) = rest.split_at_checked(length)?;
            Some(Ok(Evaluated {
                value: serde_json::from_slice(value).ok()?,
                printed: std::str::from_utf8(printed).ok()?.to_owned(),
            }))
        }
        FAULT => {
            let (kind, rest) = rest.split_first()?;
            let (line, rest) = take(rest)?;
            let (column, message) = take(rest)?;
            let place = |n: usize| u32::try_from(n).ok().filter(|n| *n > 0);
            Some(Err(Fault {
                kind: Kind::from_code(*kind)?,
                message: std::str::from_utf8(message).ok()?.to_owned(),
                line: place(line),
                column: place(column),
            }))
        }
        _ => None,
    }
}

fn asked(question: &[u8]) -> Result<(&str, Map<String, Value>, Limits), Fault> {
    let unreadable = || Fault::new(Kind::Syntax, "the question cannot be read");
    let (duration, rest) = take(question).ok_or_else(unreadable)?;
    let (length, rest) = take(rest).ok_or_else(unreadable)?;
    let (source, arguments) = rest.split_at_checked(length).ok_or_else(unreadable)?;
    let source = std::str::from_utf8(source).map_err(|_| unreadable())?;
    let arguments = serde_json::from_slice(arguments).map_err(|_| unreadable())?;
    let limits = Limits {
        duration_ms: u64::try_from(duration).unwrap_or(u64::MAX),
        ..Limits::default()
    };
    Ok((source, arguments, limits))
}

fn written(evaluated: &Evaluated, limits: &Limits) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(evaluated.printed.len() + 64);
    bytes.push(VALUE);
    put(&mut bytes, evaluated.printed.len());
    bytes.extend_from_slice(evaluated.printed.as_bytes());
    let head = bytes.len();
    let unwritten = |error: serde_json::Error| Fault::new(Kind::Result, error.to_string());
    serde_json::to_writer(&mut bytes, &evaluated.value).map_err(unwritten)?;
    if bytes.len() - head > limits.result_bytes_max {
        return Err(too_large(limits.result_bytes_max));
    }
    Ok(bytes)
}

fn put(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn take(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    let number = usize::try_from(u32::from_le_bytes(*number)).ok()?;
    Some((number, rest))
}
