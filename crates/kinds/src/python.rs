//! The `python` kind: functions of scripts in the workspace, run in warm processes. Each process serves one script
//! with one environment and one call at a time; whatever goes wrong in it ends it and nothing else.

mod dependencies;
pub(crate) mod interpreter;
mod pool;
mod worker;

use crate::confined::Scratch;
use crate::parts::Parts;
use crate::shell::passed_variables;
use crate::template::check_names;
use crate::{Options, PythonOptions};
use catalog::tool::{Definition, Tool};
use dependencies::Dependencies;
use executor::kind::{CheckFuture, RunFuture};
use executor::{Code, Failure, Kind, Output, Run};
use pool::{Key, Pool};
use process::Order;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use worker::{Ended, Said, Worker};

/// What a call may print before the rest is dropped.
const PRINTED_BYTES_MAX: usize = 1 << 20;

pub(crate) struct Python {
    parts: Arc<Parts>,
    workspace: PathBuf,
    environment: Vec<(OsString, OsString)>,
    options: PythonOptions,
    dependencies: Dependencies,
    pool: Pool,
}

impl Python {
    pub(crate) fn new(options: &Options, parts: &Arc<Parts>) -> Self {
        Python {
            parts: Arc::clone(parts),
            workspace: options.workspace.clone(),
            environment: options.environment.clone(),
            dependencies: Dependencies::new(options, &parts.spawner),
            options: options.python.clone(),
            pool: Pool::default(),
        }
    }

    async fn call(&self, run: &Run) -> Result<Output, Failure> {
        run.check_trust()?;
        let tool = &run.entry.tool;
        let config = &tool.definition.config;
        let mark = mark()?;
        let request = request(config, &run.arguments, &mark);
        let key = Key {
            what: what(tool),
            interpreter: self.interpreter_of(&tool.definition).await?,
            environment: passed_variables(run, &self.environment)?,
            is_walled: self.parts.confinement.is_walled(config)?,
        };
        let memory_bytes_max = self.options.memory_bytes_max;
        for is_waiting in [true, false] {
            let waiting = is_waiting.then(|| self.pool.take(&key)).flatten();
            let mut worker = match waiting {
                Some(worker) => worker,
                None => self.start(&key).await?,
            };
            let said = match worker.ask(&request, &mark, memory_bytes_max).await {
                Ok(said) => said,
                // The worker is dropped, and so ended with whatever it has started.
                Err(ended) => return Err(gone(&script_name(config), &ended, memory_bytes_max)),
            };
            // A worker whose script has changed since it was loaded says so before it runs anything. The others that
            // wait have loaded the same; one that is new has loaded nothing.
            if said.stale {
                self.pool.drop_all(&key);
                continue;
            }
            // One that grew would keep what it has; what a call has started ends with the call.
            if !said.left && said.peak_kib << 10 < memory_bytes_max / 2 {
                self.pool.put(key, worker);
            }
            return outcome(tool, said);
        }
        Err(Failure::execution("the script keeps changing"))
    }

    /// That of the script's own environment where it has one.
    async fn interpreter_of(&self, definition: &Definition) -> Result<Option<PathBuf>, Failure> {
        match definition.config.get("script").and_then(Value::as_str) {
            Some(script) => {
                self.dependencies
                    .interpreter(&self.workspace.join(script))
                    .await
            }
            None => Ok(None),
        }
    }

    async fn start(&self, key: &Key) -> Result<Worker, Failure> {
        let found = self.parts.python.found().await?;
        let program = key.interpreter.as_ref().unwrap_or(&found.program);
        let arguments = ["-u", "-c", include_str!("python/runner.py")];
        let mut arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
        arguments.push(self.workspace.clone().into_os_string());
        let mut order = Order {
            program: program.into(),
            arguments,
            environment: key.environment.clone(),
            folder: self.workspace.clone(),
            reaper: true,
            ..Order::default()
        };
        let mut scratch = None;
        if key.is_walled {
            let confinement = &self.parts.confinement;
            let mut seen = confinement.readable();
            seen.extend(found.folders.iter().cloned());
            // The environment's own folder, two steps above its interpreter.
            let own = key
                .interpreter
                .as_ref()
                .and_then(|own| own.ancestors().nth(2));
            seen.extend(own.map(PathBuf::from));
            seen.retain(|path| !confinement.is_exposing(path));
            scratch.insert(Scratch::new()?).confine(&mut order, seen);
        }
        let mut worker = Worker::start(&self.parts.spawner, &order).await?;
        worker.scratch = scratch;
        Ok(worker)
    }
}

impl Kind for Python {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.call(run))
    }

    /// Installs what the script says it needs.
    fn check<'a>(&'a self, definition: &'a Definition) -> CheckFuture<'a> {
        Box::pin(async move {
            check_names(&definition.config, &definition.input_schema)?;
            self.interpreter_of(definition).await.map(drop)
        })
    }

    /// The script.
    fn missing(&self, definition: &Definition) -> Option<String> {
        let script = definition.config.get("script")?.as_str()?;
        let is_there = self.workspace.join(script).is_file();
        (!is_there).then(|| format!("there is no script '{script}' in the workspace"))
    }
}

/// Stands in the answer to one call: nothing that a caller or an earlier call has written can be taken for it.
fn mark() -> Result<String, Failure> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::execution(format_args!("no chance is to be had: {error}")))?;
    Ok(catalog::hex::hex(&bytes))
}

/// What a worker is asked for one call, as one line.
fn request(config: &Map<String, Value>, arguments: &Value, mark: &str) -> String {
    let mut request = json!({"arguments": arguments, "mark": mark});
    for name in ["script", "module"] {
        if let Some(value) = config.get(name) {
            request[name] = value.clone();
        }
    }
    let function = config.get("function").and_then(Value::as_str);
    request["function"] = json!(function.unwrap_or("execute"));
    format!("{request}\n")
}

fn what(tool: &Tool) -> String {
    format!("{} {}", tool.id, script_name(&tool.definition.config))
}

/// The script or module, for people.
fn script_name(config: &Map<String, Value>) -> String {
    let named = |name: &str| config.get(name).and_then(Value::as_str);
    named("script")
        .or_else(|| named("module"))
        .unwrap_or_default()
        .to_owned()
}

fn outcome(tool: &Tool, said: Said) -> Result<Output, Failure> {
    let log_text = Some(said.printed.text()).filter(|text| !text.is_empty());
    let Some(fault) = said.error else {
        return Ok(Output {
            data: said.result.into(),
            log_text,
            ..Output::default()
        });
    };
    let script = &script_name(&tool.definition.config);
    let (kind, message, at) = (&fault.kind, &fault.message, fault.at(script));
    let mut failure = match fault.step.as_str() {
        "arguments" => misfit(tool, message),
        // A file that the script itself misses has a place in it.
        "load" if kind == "FileNotFoundError" && fault.place.is_none() => {
            Failure::execution(format_args!("the script {script} is not there"))
        }
        "load" => Failure::execution(format_args!("{at} cannot be loaded: {kind}: {message}")),
        "result" => {
            Failure::execution(format_args!("what {script} returned is no JSON: {message}"))
        }
        _ if kind == "SystemExit" => Failure::execution(format_args!("{at}: {message}")),
        _ => Failure::execution(format_args!("{at}: {kind}: {message}")),
    };
    failure.details = json!({"type": kind, "message": message, "place": fault.place});
    failure.log_text = log_text;
    Err(failure)
}

/// The arguments fit the tool's own schema, or they would not have come this far: so that is what does not fit. Nothing
/// has run, and the caller cannot help it.
fn misfit(tool: &Tool, message: &str) -> Failure {
    let config = &tool.definition.config;
    let (name, script) = (&tool.definition.name, script_name(config));
    let mut mend = format!("`toolcrib tools update {name} DEFINITION`");
    if config.contains_key("script") {
        let function = config.get("function").and_then(Value::as_str);
        let function =
            function.map_or_else(String::new, |function| format!(" --function {function}"));
        mend = format!(
            "`toolcrib tools add --from-python {script}{function} --name {name} --print | toolcrib tools update {name} -`, \
             or with {mend}"
        );
    }
    let message = format!(
        "The input_schema of '{name}' does not fit its function in {script} (any more): {message}. Mend it with {mend}"
    );
    Failure::new(Code::NotConfigured, message)
}

fn gone(script: &str, ended: &Ended, memory_bytes_max: u64) -> Failure {
    let how = ended.end.how(memory_bytes_max);
    let mut failure = Failure::execution(format_args!("{script}: {how}"));
    failure.log_text = Some(ended.printed.text()).filter(|text| !text.is_empty());
    failure
}
