//! The `shell` kind: a program with its arguments, as a list that no shell reads. One process tree for each call; it is
//! gone when the call ends, however it ends.

use crate::Options;
use crate::confined::Scratch;
use crate::parts::Parts;
use crate::template::{Template, check_names, fill_value, given, knows, plain};
use catalog::auth::Reference;
use catalog::tool::Definition;
use executor::kind::{CheckFuture, RunFuture};
use executor::{Code, Failure, Kind, Output, Run};
use process::spawn::signal_name;
use process::{Captured, Order, Spawner};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWriteExt};

/// What a program may print on each of its two outputs before the rest is dropped.
const PRINTED_BYTES_MAX: usize = 1 << 20;

/// What of it an error carries.
const SHOWN_BYTES_MAX: usize = 8 << 10;

pub(crate) struct Shell {
    parts: Arc<Parts>,
    workspace: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

/// What a program left behind.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
}

impl Kind for Shell {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(async move {
            run.check_trust()?;
            let mut order = self.order(run)?;
            let mut scratch = None;
            let confinement = &self.parts.confinement;
            if confinement.is_walled(&run.entry.tool.definition.config)? {
                let scratch = scratch.insert(Scratch::new()?);
                scratch.confine(&mut order, confinement.readable());
            }
            let input = input(run);
            let program = order.program.to_string_lossy().into_owned();
            let ended = execute(&self.parts.spawner, &order, input).await;
            // A tool that says what its output looks like says it of JSON.
            let is_json = run.entry.tool.definition.output_schema.is_some();
            outcome(&program, ended?, is_json)
        })
    }

    fn check<'a>(&'a self, definition: &'a Definition) -> CheckFuture<'a> {
        let checked = check_names(&definition.config, &definition.input_schema);
        Box::pin(std::future::ready(checked))
    }

    /// The program, unless the caller names it.
    fn missing(&self, definition: &Definition) -> Option<String> {
        let config = &definition.config;
        let words = config.get("command").and_then(Value::as_array);
        let program = words.and_then(|words| words.first()?.as_str())?;
        if program.contains('{') {
            return None;
        }
        let own = config.get("env").and_then(|env| env.get("PATH")?.as_str());
        let shared = self.environment.iter().find(|(name, _)| name == "PATH");
        let path = own.map(OsString::from).or(shared.map(|(_, it)| it.clone()));
        let folder = config.get("cwd").and_then(Value::as_str).unwrap_or("");
        let folder = self.workspace.join(folder);
        let is_there = match program.contains('/') {
            true => folder.join(program).is_file(),
            false => std::env::split_paths(&path.unwrap_or_default())
                .any(|place| folder.join(place).join(program).is_file()),
        };
        (!is_there).then(|| format!("there is no program '{program}'"))
    }
}

impl Shell {
    pub(crate) fn new(options: &Options, parts: &Arc<Parts>) -> Self {
        Shell {
            parts: Arc::clone(parts),
            workspace: options.workspace.clone(),
            environment: options.environment.clone(),
        }
    }

    fn order(&self, run: &Run) -> Result<Order, Failure> {
        let definition = &run.entry.tool.definition;
        let config = &definition.config;
        let knows = knows(&definition.input_schema);
        let empty = Map::new();
        let arguments = run.arguments.as_object().unwrap_or(&empty);
        let command = config.get("command").and_then(Value::as_array);
        let mut words = Vec::new();
        for word in command.into_iter().flatten().filter_map(Value::as_str) {
            let template = Template::new(word, &knows);
            match template.whole().map(|name| given(arguments, name)) {
                // A list is as many arguments as it has items, and what was not given is none.
                Some(None) => {}
                Some(Some(Value::Array(items))) => words.extend(items.iter().map(plain)),
                Some(Some(value)) => words.push(plain(value)),
                None => words.push(template.text(arguments)),
            }
        }
        if words.iter().any(|word| word.contains('\0')) {
            return Err(Failure::new(
                Code::InvalidInput,
                "Input validation failed: an argument of a program cannot contain the character NUL",
            ));
        }
        let mut words = words.into_iter().map(OsString::from);
        let program = words.next().ok_or_else(|| {
            Failure::new(
                Code::InvalidInput,
                "Input validation failed: the arguments name no program",
            )
        })?;
        let folder = config.get("cwd").and_then(Value::as_str).unwrap_or("");
        let folder = self.workspace.join(folder);
        Ok(Order {
            program,
            arguments: words.collect(),
            environment: passed_variables(run, &self.environment)?,
            folder,
            ..Order::default()
        })
    }
}

/// Only what every program needs and what the config names.
pub(crate) fn passed_variables(
    run: &Run,
    always: &[(OsString, OsString)],
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let definition = &run.entry.tool.definition;
    let knows = knows(&definition.input_schema);
    let empty = Map::new();
    let arguments = run.arguments.as_object().unwrap_or(&empty);
    let mut all = always.to_vec();
    let named = definition.config.get("env").and_then(Value::as_object);
    for (name, value) in named.into_iter().flatten() {
        let text = match Reference::of(value) {
            Some(_) => run.open(value)?.expose().to_owned(),
            None => match value {
                Value::String(text) => Template::new(text, &knows).text(arguments),
                other => plain(other),
            },
        };
        if name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
            return Err(Failure::new(
                Code::InvalidInput,
                format!(
                    "Input validation failed: '{name}' cannot be put into a program's environment"
                ),
            ));
        }
        all.push((name.into(), text.into()));
    }
    Ok(all)
}

/// What the program reads: the config's `stdin` with its arguments, or all arguments as JSON.
fn input(run: &Run) -> Vec<u8> {
    let definition = &run.entry.tool.definition;
    let empty = Map::new();
    let arguments = run.arguments.as_object().unwrap_or(&empty);
    match definition.config.get("stdin") {
        None => run.arguments.to_string().into_bytes(),
        Some(Value::String(text)) => {
            let knows = knows(&definition.input_schema);
            Template::new(text, &knows).text(arguments).into_bytes()
        }
        Some(value) => {
            let filled = fill_value(value, arguments, &knows(&definition.input_schema));
            filled.map_or_else(Vec::new, |value| value.to_string().into_bytes())
        }
    }
}

/// Runs a program to its end. Dropping this ends it, and everything it has started.
pub(crate) async fn execute(
    spawner: &Spawner,
    order: &Order,
    input: Vec<u8>,
) -> Result<Ended, Failure> {
    let cannot = |why: &dyn std::fmt::Display| {
        let program = order.program.to_string_lossy();
        Failure::execution(format_args!(
            "the program '{program}' cannot be started: {why}"
        ))
    };
    if !order.folder.is_dir() {
        let folder = order
            .folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        return Err(Failure::execution(format_args!(
            "the folder '{folder}' it is to run in is not there"
        )));
    }
    let mut tree = spawner.spawn(order).await.map_err(|error| cannot(&error))?;
    let (stdin, stdout, stderr) = (tree.stdin.take(), tree.stdout.take(), tree.stderr.take());
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input is free to.
            let _ = stdin.write_all(&input).await;
        }
    };
    let outputs = (read(stdout), read(stderr));
    let ((), stdout, stderr, status) = tokio::join!(feed, outputs.0, outputs.1, tree.wait());
    let status = status.map_err(|error| cannot(&error))?;
    if let Some(why) = tree.not_started(status, &stderr.text()) {
        return Err(cannot(&why));
    }
    Ok(Ended {
        status,
        stdout,
        stderr,
    })
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Captured {
    match pipe {
        Some(pipe) => Captured::read(pipe, PRINTED_BYTES_MAX).await,
        None => Captured::default(),
    }
}

fn outcome(program: &str, ended: Ended, is_json: bool) -> Result<Output, Failure> {
    let Ended {
        status,
        stdout,
        stderr,
    } = ended;
    let log_text = Some(stderr.text()).filter(|text| !text.is_empty());
    if !status.success() {
        let how = match (status.code(), signal_name(status)) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(name)) => format!("was ended by {name}"),
            (None, None) => "did not end properly".to_owned(),
        };
        let said = stderr.text();
        let last = said.trim_end().lines().last().unwrap_or_default();
        let last: String = last.chars().take(500).collect();
        let last = if last.is_empty() {
            String::new()
        } else {
            format!(": {last}")
        };
        let mut failure =
            Failure::execution(format_args!("{program} {how}{last}")).with_details(json!({
                "exit_code": status.code(),
                "signal": signal_name(status),
                "stdout": beginning(&stdout),
                "stderr": beginning(&stderr),
            }));
        failure.log_text = log_text;
        return Err(failure);
    }
    if stdout.is_cut() {
        return Err(Failure::new(
            Code::OutputTooLarge,
            format!(
                "{program} printed {} bytes; at most {PRINTED_BYTES_MAX} are allowed",
                stdout.total
            ),
        ));
    }
    Ok(Output {
        data: printed(&stdout, is_json).into(),
        log_text,
        ..Output::default()
    })
}

/// JSON where the program printed an object or a list, or was to print JSON; else its text without the last line's end.
fn printed(stdout: &Captured, is_json: bool) -> Value {
    if let Ok(value) = serde_json::from_slice::<Value>(&stdout.bytes)
        && (is_json || value.is_object() || value.is_array())
    {
        return value;
    }
    let text = stdout.text();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Value::String(text.to_owned())
}

fn beginning(captured: &Captured) -> String {
    let mut short = captured.clone();
    short.bytes.truncate(SHOWN_BYTES_MAX);
    short.text()
}
