//! A source made ready to run, and one run of it.

use crate::fault::{Fault, Kind, from_exception};
use crate::layout::{Edited, Layout};
use crate::mend::{Care, mend};
use crate::prelude::prelude;
use crate::value::to_object;
use crate::{Limits, depth};
use monty::MontyRun;
use monty_types::{
    CompileOptions, ExcType, MontyException, MontyObject, PrintWriter, ResourceLimits,
    ResourceTracker,
};
use ruff_python_parser::parse_module;
use ruff_text_size::Ranged;
use serde_json::{Map, Value};
use std::time::Duration;

/// What the evaluator calls the source.
const FILE: &str = "<expression>";

pub(crate) struct Program {
    run: MontyRun,
    inputs: Vec<Input>,
    places: Places,
    /// Whether the careful program must be run instead.
    pub(crate) needs_care: bool,
}

/// How a value gets into the program.
enum Input {
    Argument(String),
    Arguments,
    Builtin(MontyObject),
}

/// The way back from places in what is run to those in what was written.
struct Places {
    layout: Layout,
    edited: Edited,
    prelude_lines: usize,
    lines: usize,
    value_of: Option<String>,
    clock: Option<usize>,
}

impl Program {
    pub(crate) fn new(source: &str, arguments: &[&str], care: Care) -> Result<Self, Fault> {
        let layout = Layout::new(source);
        if layout.text.trim().is_empty() {
            return Err(Fault::new(
                Kind::Syntax,
                "SyntaxError: there is no expression",
            ));
        }
        if depth::too_deep(&layout.text) {
            let message = "SyntaxError: Source is too deeply nested";
            return Err(Fault::new(Kind::Syntax, message));
        }
        let parsed = parse_module(&layout.text).map_err(|error| {
            let fault = Fault::new(Kind::Syntax, format!("SyntaxError: {}", error.error));
            fault.at(layout.place(error.range().start().to_usize()))
        })?;
        let mended = mend(&layout.text, &parsed, arguments, care)
            .map_err(|(fault, offset)| fault.at(layout.place(offset)))?;
        let prelude = prelude(&mended, care);
        let mut text = prelude.text;
        let prelude_lines = text.matches('\n').count();
        text.push_str(&mended.edited.text);
        if let Some(name) = &mended.value_of {
            text.push('\n');
            text.push_str(name);
        }
        let mut names = mended.arguments.clone();
        let mut inputs: Vec<Input> = mended.arguments.into_iter().map(Input::Argument).collect();
        if mended.wants_all {
            names.push("args".to_owned());
            inputs.push(Input::Arguments);
        }
        for (name, object) in prelude.handed {
            names.push(name);
            inputs.push(Input::Builtin(object));
        }
        let places = Places {
            lines: mended.edited.text.lines().count(),
            layout,
            edited: mended.edited,
            prelude_lines,
            value_of: mended.value_of,
            clock: mended.clock,
        };
        let run = MontyRun::new(text, FILE, names, CompileOptions::default())
            .map_err(|exception| places.fault(&exception, 0))?;
        Ok(Program {
            run,
            inputs,
            places,
            needs_care: mended.needs_care,
        })
    }

    /// Runs it once. What it prints goes into `printed`.
    pub(crate) fn run(
        &self,
        arguments: &Map<String, Value>,
        limits: &Limits,
        duration: Duration,
        printed: &mut String,
    ) -> Result<MontyObject, MontyException> {
        let inputs = self.inputs.iter().map(|input| match input {
            Input::Argument(name) => arguments.get(name).map_or(MontyObject::None, to_object),
            Input::Arguments => {
                let pairs = arguments
                    .iter()
                    .map(|(name, value)| (MontyObject::String(name.clone()), to_object(value)));
                MontyObject::dict(pairs.collect::<Vec<_>>())
            }
            Input::Builtin(object) => object.clone(),
        });
        let tracker = ResourceTracker::new(ResourceLimits {
            max_duration: Some(duration),
            max_memory: Some(limits.memory_bytes_max),
            max_recursion_depth: limits.recursion_max,
            ..ResourceLimits::default()
        });
        let writer = PrintWriter::CollectString(printed, Some(limits.printed_bytes_max));
        self.run.run(inputs.collect(), tracker, writer)
    }

    pub(crate) fn fault(&self, exception: &MontyException, limits: &Limits) -> Fault {
        self.places.fault(exception, limits.duration_ms)
    }
}

impl Places {
    /// An exception, placed at the innermost line that the author wrote.
    fn fault(&self, exception: &MontyException, duration_ms: u64) -> Fault {
        let fault = from_exception(exception, duration_ms);
        let frames = exception.traceback().iter().rev().map(|frame| {
            let line = usize::try_from(frame.start.line).unwrap_or(usize::MAX);
            let column = usize::try_from(frame.start.column).unwrap_or(1);
            (line.saturating_sub(self.prelude_lines), column)
        });
        let mut own = frames
            .clone()
            .filter(|(line, _)| (1..=self.lines).contains(line));
        if let Some((line, column)) = own.next() {
            return fault.at(self.layout.place(self.edited.origin(line, column)));
        }
        let past_end = frames.clone().any(|(line, _)| line > self.lines);
        match (&self.value_of, self.clock) {
            (Some(name), _) if past_end && fault.kind == Kind::Name => Fault::new(
                Kind::Name,
                format!("NameError: the source ended without having assigned '{name}'"),
            ),
            (_, Some(offset)) if fault.kind == Kind::Unsupported => {
                fault.at(self.layout.place(offset))
            }
            _ => fault,
        }
    }
}

/// Whether the careful program may know better.
pub(crate) fn wants_care(exception: &MontyException) -> bool {
    match exception.exc_type() {
        ExcType::TypeError => true,
        ExcType::RuntimeError => exception.message() == Some("_tc_grown"),
        _ => false,
    }
}
