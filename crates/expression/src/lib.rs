//! Python expressions and short snippets: compiled once, run within limits, their values as JSON.
//!
//! Nothing here reaches a file, a network, a clock or the environment, but not everything can be interrupted or bounded
//! from inside: call [`Evaluator`] in a process that bounds its memory and is killed at the deadline. [`check`] only
//! reads a source and may be called anywhere.

mod bindings;
mod depth;
mod fault;
mod layout;
mod mend;
mod names;
mod prelude;
mod program;
mod value;
mod wire;
mod words;

pub use fault::{Fault, Kind};
pub use wire::{answer, question, read};

use mend::Care;
use program::{Program, wants_care};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What one evaluation may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub duration_ms: u64,
    /// The largest single thing that it may make. The sum is bounded by the process.
    pub memory_bytes_max: usize,
    /// How deep its functions may call.
    pub recursion_max: usize,
    /// How long a source may be.
    pub source_bytes_max: usize,
    /// How much it may print.
    pub printed_bytes_max: usize,
    /// How long its value may be as JSON.
    pub result_bytes_max: usize,
    /// How deep its value may be nested.
    pub result_depth_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            duration_ms: 1000,
            memory_bytes_max: 64 << 20,
            recursion_max: 200,
            source_bytes_max: 64 << 10,
            printed_bytes_max: 64 << 10,
            result_bytes_max: 1 << 20,
            result_depth_max: 64,
        }
    }
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The value.
    pub value: Value,
    /// What was printed.
    pub printed: String,
}

/// How many programs are kept, and how many bytes of source they may have together: a program is some fifty times
/// its source.
const PROGRAMS_MAX: usize = 256;
const SOURCES_BYTES_MAX: usize = 512 << 10;

/// Evaluates, and keeps what it compiled.
#[derive(Default)]
pub struct Evaluator {
    programs: HashMap<String, Programs>,
    sources_bytes: usize,
    /// Counts evaluations, to tell which program was used longest ago.
    turn: u64,
}

/// The programs of one source with one set of arguments.
struct Programs {
    quick: Option<Program>,
    careful: Option<Program>,
    last_used: u64,
}

impl Evaluator {
    /// An evaluator that has compiled nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Evaluator::default()
    }

    /// The value of a source with these arguments as its variables.
    ///
    /// # Errors
    /// Whatever is wrong with the source, happens in it, or with its value.
    pub fn evaluate(
        &mut self,
        source: &str,
        arguments: &Map<String, Value>,
        limits: &Limits,
    ) -> Result<Evaluated, Fault> {
        let names = || arguments.keys().map(String::as_str);
        let mut key = String::with_capacity(source.len() + 16 * arguments.len());
        key.push_str(source);
        for name in names() {
            key.push('\0');
            key.push_str(name);
        }
        self.turn += 1;
        if !self.programs.contains_key(&key) {
            let names: Vec<&str> = names().collect();
            let programs = Programs::new(source, &names, limits)?;
            self.keep(&key, programs);
        }
        let Some(programs) = self.programs.get_mut(&key) else {
            return Err(Fault::new(Kind::Limit, "the source is too long"));
        };
        programs.last_used = self.turn;
        programs.evaluate(source, arguments, limits)
    }

    fn keep(&mut self, key: &str, programs: Programs) {
        self.sources_bytes += key.len();
        self.programs.insert(key.to_owned(), programs);
        while self.programs.len() > PROGRAMS_MAX || self.sources_bytes > SOURCES_BYTES_MAX {
            let others = self.programs.iter().filter(|(kept, _)| *kept != key);
            let oldest = others.min_by_key(|(_, programs)| programs.last_used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.programs.remove(&oldest);
            self.sources_bytes -= oldest.len();
        }
    }
}

impl Programs {
    fn new(source: &str, names: &[&str], limits: &Limits) -> Result<Self, Fault> {
        bounded(source, limits)?;
        let quick = Program::new(source, names, Care::Quick)?;
        let mut programs = Programs {
            quick: None,
            careful: None,
            last_used: 0,
        };
        if quick.needs_care {
            programs.careful = Some(Program::new(source, names, Care::Full)?);
        } else {
            programs.quick = Some(quick);
        }
        Ok(programs)
    }

    /// An expression has no effects: what the quick program cannot do, the careful one does from the beginning.
    fn evaluate(
        &mut self,
        source: &str,
        arguments: &Map<String, Value>,
        limits: &Limits,
    ) -> Result<Evaluated, Fault> {
        let started = Instant::now();
        let duration = Duration::from_millis(limits.duration_ms);
        let mut printed = String::new();
        if let Some(quick) = &self.quick {
            match quick.run(arguments, limits, duration, &mut printed) {
                Ok(object) => match value::from_object(object, limits) {
                    Ok(value) => return Ok(Evaluated { value, printed }),
                    // Infinity may be what is left of an integer.
                    Err(fault) if fault.kind != Kind::Result => return Err(fault),
                    Err(_) => {}
                },
                Err(exception) if wants_care(&exception) => {}
                Err(exception) => return Err(quick.fault(&exception, limits)),
            }
        }
        if self.careful.is_none() {
            let names: Vec<&str> = arguments.keys().map(String::as_str).collect();
            self.careful = Some(Program::new(source, &names, Care::Full)?);
        }
        let Some(careful) = &self.careful else {
            return Err(Fault::new(Kind::Limit, "the source is too long"));
        };
        printed.clear();
        let left = duration.saturating_sub(started.elapsed());
        let object = careful
            .run(arguments, limits, left, &mut printed)
            .map_err(|exception| careful.fault(&exception, limits))?;
        let value = value::from_object(object, limits)?;
        // What needed care once will need it again.
        self.quick = None;
        Ok(Evaluated { value, printed })
    }
}

/// Says what is wrong with a source whose arguments have these names, without running it.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(source: &str, names: &[&str]) -> Result<(), Fault> {
    Programs::new(source, names, &Limits::default()).map(drop)
}

/// The first name in a source that would mean nothing when it runs, where that can be told without running it.
pub fn unknown_name(source: &str, arguments: &[&str]) -> Option<String> {
    bounded(source, &Limits::default()).ok()?;
    names::unknown(source, arguments)
}

fn bounded(source: &str, limits: &Limits) -> Result<(), Fault> {
    if source.len() <= limits.source_bytes_max {
        return Ok(());
    }
    Err(Fault::new(
        Kind::Limit,
        format!(
            "the source is longer than {} bytes",
            limits.source_bytes_max
        ),
    ))
}
