//! What the program says: data on stdout, errors and notes on stderr, and the one table of exit codes.

use crate::config::Environment;
use crate::layout::laid_out;
use crate::table;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many errors are shown to people: of a thousand, the first ones are mended first, and are often all there is to mend.
pub(crate) const SHOWN_MAX: usize = 20;

/// What stands in place of those that are not shown.
pub(crate) fn and_more(count: usize) -> Option<String> {
    let left = count.saturating_sub(SHOWN_MAX);
    (left > 0).then(|| format!("… and {left} more; --json shows all"))
}

/// Why a command did not succeed, and so its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The tool or the request failed.
    Failed,
    Usage,
    Configuration,
    Unreachable,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl Cause {
    pub(crate) fn exit(self) -> u8 {
        match self {
            Cause::Failed => 1,
            Cause::Usage => 2,
            Cause::Configuration => 3,
            Cause::Unreachable => 4,
            // As shells tell of whom SIGINT has ended.
            Cause::Interrupted => 130,
        }
    }

    /// The code in the error document of `--json`, where no server gave one.
    fn code(self) -> &'static str {
        match self {
            Cause::Failed => "failed",
            Cause::Usage => "invalid_request",
            Cause::Configuration => "configuration_invalid",
            Cause::Unreachable => "server_unreachable",
            Cause::Interrupted => "interrupted",
        }
    }
}

/// What `--json` prints for a failure.
#[derive(Debug)]
pub(crate) enum Document {
    /// One made here, in the shape of the server's errors.
    Ours,
    /// What the server answered.
    Answer(Box<Value>),
    /// The command has printed its document already, and it tells of the failure.
    Printed,
}

/// A command's end that is not a success.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    pub(crate) errors: Vec<String>,
    pub(crate) hints: Vec<String>,
    pub(crate) document: Document,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(cause: Cause, error: impl Into<String>) -> Self {
        Failure {
            cause,
            errors: vec![error.into()],
            hints: Vec::new(),
            document: Document::Ours,
        }
    }

    pub(crate) fn failed(error: impl Into<String>) -> Self {
        Failure::new(Cause::Failed, error)
    }

    pub(crate) fn usage(error: impl Into<String>) -> Self {
        Failure::new(Cause::Usage, error)
    }

    pub(crate) fn configuration(errors: Vec<String>) -> Self {
        Failure {
            errors,
            ..Failure::new(Cause::Configuration, "")
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The command's own document stands on stdout already.
    pub(crate) fn printed(self) -> Self {
        Failure {
            document: Document::Printed,
            ..self
        }
    }

    fn as_json(&self) -> Value {
        json!({"error": {
            "code": self.cause.code(),
            "message": self.errors.join("\n"),
            "details": {"errors": self.errors, "hints": self.hints},
            "request_id": null,
        }})
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Paint {
    Bold,
    Red,
    Green,
    Yellow,
}

/// Where a command's words go.
#[derive(Debug, Clone)]
pub(crate) struct Out {
    pub(crate) json: bool,
    /// A person reads stdout.
    pub(crate) terminal: bool,
    colour: bool,
    colour_errors: bool,
    gone: Arc<AtomicBool>,
}

impl Out {
    pub(crate) fn new(json: bool, environment: &Environment) -> Self {
        let colour = environment.wants_colour();
        Out {
            json,
            terminal: stdout().is_terminal(),
            colour: colour && stdout().is_terminal(),
            colour_errors: colour && stderr().is_terminal(),
            gone: Arc::default(),
        }
    }

    pub(crate) fn colours_errors(&self) -> bool {
        self.colour_errors
    }

    /// Whoever reads may have gone (`| head`); that is no failure of ours.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        let mut out = stdout().lock();
        if writeln!(out, "{}", text.as_ref())
            .and_then(|()| out.flush())
            .is_err()
        {
            self.gone.store(true, Ordering::Relaxed);
        }
    }

    /// Whether nobody reads stdout any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Something a person wants to know and a script does not.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        if self.terminal && !self.json {
            self.line(text);
        }
    }

    /// That something was done: for a person on stdout, for whoever reads the output of a script on stderr. The document
    /// of `--json` says it by itself.
    pub(crate) fn done(&self, text: impl AsRef<str>) {
        match (self.json, self.terminal) {
            (true, _) => {}
            (false, true) => self.line(text),
            (false, false) => self.say(printable(text.as_ref())),
        }
    }

    /// To stderr, always.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        let _ = writeln!(stderr().lock(), "{}", text.as_ref());
    }

    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        let label = paint(self.colour_errors, Paint::Yellow, "warning:");
        self.say(format!("{label} {}", text.as_ref()));
    }

    /// JSON for people is indented, for programs it is one line.
    pub(crate) fn value(&self, value: &Value) {
        let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
        self.line(if self.terminal {
            pretty
        } else {
            value.to_string()
        });
    }

    /// The same of JSON that a server wrote: to read its numbers could cost digits.
    pub(crate) fn written(&self, json: &str) {
        self.line(laid_out(json, self.terminal));
    }

    pub(crate) fn paint(&self, paint_as: Paint, text: &str) -> String {
        paint(self.colour, paint_as, text)
    }

    /// Aligned under a header for people, separated by tabs for programs.
    pub(crate) fn table(&self, header: &[&str], rows: &[Vec<String>]) {
        if !self.terminal {
            for row in rows {
                let cells: Vec<String> = row.iter().map(|cell| one_line(cell)).collect();
                self.line(cells.join("\t"));
            }
            return;
        }
        let head = header.iter().map(|name| name.to_uppercase()).collect();
        let body = rows
            .iter()
            .map(|row| row.iter().map(|cell| one_line(cell)).collect());
        let lines: Vec<Vec<String>> = std::iter::once(head).chain(body).collect();
        let widths = table::widths(&lines, self.width());
        for (number, cells) in lines.iter().enumerate() {
            let text = table::row(cells, &widths);
            self.line(if number == 0 {
                self.paint(Paint::Bold, &text)
            } else {
                text
            });
        }
    }

    /// One row of a table whose other rows are not known yet; the last column takes what is left.
    pub(crate) fn row(&self, cells: &[String], widths: &[usize]) -> String {
        let cells: Vec<String> = cells.iter().map(|cell| one_line(cell)).collect();
        if !self.terminal {
            return cells.join("\t");
        }
        table::row(&cells, &table::with_rest(widths, self.width()))
    }

    /// A time of the API: as it is for programs, to the second for people.
    pub(crate) fn time(&self, text: &str) -> String {
        match text.split_once('T') {
            Some((day, time)) if self.terminal => {
                let time = time.split(['.', 'Z']).next().unwrap_or_default();
                format!("{day} {time}Z")
            }
            _ => text.to_owned(),
        }
    }

    /// How many characters a line of the terminal holds, if there is one that says so.
    fn width(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
    }

    /// Shows a failure and gives its exit code.
    pub(crate) fn failure(&self, failure: &Failure) -> u8 {
        if self.json {
            match &failure.document {
                Document::Ours => self.value(&failure.as_json()),
                Document::Answer(answer) => self.value(answer),
                Document::Printed => {}
            }
        }
        let label = paint(self.colour_errors, Paint::Red, "error:");
        for error in failure.errors.iter().take(SHOWN_MAX) {
            self.say(format!("{label} {}", printable(error)));
        }
        if let Some(more) = and_more(failure.errors.len()) {
            self.say(more);
        }
        for hint in &failure.hints {
            self.say(format!("hint: {hint}"));
        }
        failure.cause.exit()
    }
}

fn paint(colour: bool, paint: Paint, text: &str) -> String {
    let code = match paint {
        Paint::Bold => 1,
        Paint::Red => 31,
        Paint::Green => 32,
        Paint::Yellow => 33,
    };
    if colour {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

/// What came from a tool or a server must not steer the terminal.
pub(crate) fn printable(text: &str) -> String {
    let steers = |c: char| c.is_control() && c != '\n';
    text.chars()
        .map(|c| if steers(c) { ' ' } else { c })
        .collect()
}

/// Control characters could move the terminal's cursor.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
