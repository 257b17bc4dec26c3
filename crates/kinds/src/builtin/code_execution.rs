//! `code_execution`: runs a short program in a folder of its own, walled in where the kernel can do it. Files go in and
//! come out by value; the folder is gone afterwards.

use super::{About, Builtin};
use crate::Options;
use crate::confined::Scratch;
use crate::parts::Parts;
use crate::shell::{Ended, execute};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use catalog::tool::Annotations;
use executor::kind::RunFuture;
use executor::{Code, Failure, Output, Run};
use process::Order;
use process::spawn::signal_name;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Component, Path};
use std::sync::Arc;

/// What may go in, and come out.
const FILES_MAX: usize = 50;
const FILE_BYTES_MAX: u64 = 4 << 20;
/// What comes out together: an answer must not be larger.
const FILES_BYTES_MAX: u64 = 512 << 10;
/// How far what a program leaves behind is looked at.
const ENTRIES_MAX: usize = 5_000;
const DEPTH_MAX: usize = 20;
/// What of each output is handed back.
const SHOWN_BYTES_MAX: usize = 256 << 10;

pub(super) struct CodeExecution {
    parts: Arc<Parts>,
    environment: Vec<(OsString, OsString)>,
}

impl CodeExecution {
    pub(super) fn new(options: &Options, parts: &Arc<Parts>) -> Self {
        CodeExecution {
            parts: Arc::clone(parts),
            environment: options.environment.clone(),
        }
    }

    async fn execute(&self, run: &Run) -> Result<Output, Failure> {
        let text = |name: &str| {
            let given = run.arguments.get(name).and_then(Value::as_str);
            given.unwrap_or_default()
        };
        let is_walled = self.is_walled(run)?;
        let python = self.parts.python.found().await?;
        let scratch = Scratch::new()?;
        let given = run.arguments.get("files").and_then(Value::as_object);
        let given = write_files(scratch.path(), given)?;
        let (program, file) = match text("language") {
            "shell" => (OsString::from("sh"), "main.sh"),
            _ => (python.program.clone().into_os_string(), "main.py"),
        };
        put(&scratch.path().join(file), text("code").as_bytes())?;
        let mut order = Order {
            program,
            arguments: vec![file.into()],
            environment: self.environment.clone(),
            folder: scratch.path().to_owned(),
            ..Order::default()
        };
        let variable = ("PYTHONDONTWRITEBYTECODE".into(), "1".into());
        order.environment.push(variable);
        if is_walled {
            let confinement = &self.parts.confinement;
            let seen = python
                .folders
                .iter()
                .filter(|path| !confinement.is_exposing(path));
            scratch.confine(&mut order, seen.cloned().collect());
        }
        let input = text("stdin").as_bytes().to_vec();
        let ended = execute(&self.parts.spawner, &order, input).await?;
        // A program can leave more behind than is read in a moment.
        let collected =
            tokio::task::spawn_blocking(move || made(scratch.path(), file, &given)).await;
        let files = collected.map_err(|_| Failure::execution("its files cannot be read"))?;
        Ok(outcome(&ended, &files, is_walled))
    }

    /// Anybody may call this, so it runs without walls only where an admin has made a tool of it that says so.
    fn is_walled(&self, run: &Run) -> Result<bool, Failure> {
        let config = &run.entry.tool.definition.config;
        if config.get("sandbox").and_then(Value::as_str) == Some("off") {
            run.check_trust()?;
            return Ok(false);
        }
        match self.parts.confinement.missing() {
            None => Ok(true),
            Some(missing) => Err(Failure::new(
                Code::NotConfigured,
                format!(
                    "This machine has no {missing}, so code cannot be walled in. An admin can make a tool that runs it all the same, as the server's own user: {{\"kind\": \"builtin\", \"config\": {{\"name\": \"code_execution\", \"sandbox\": \"off\"}}}}"
                ),
            )),
        }
    }
}

impl Builtin for CodeExecution {
    fn about(&self) -> About {
        About {
            name: "code_execution",
            description: "Runs a Python or shell program and returns what it prints, its exit code and the files it made. Use it for computations, data transformation and text processing that no other tool does. The program runs in an empty folder without network; pass files in `files` (name to base64) and read new ones from the answer.",
            description_user: "Runs a short Python or shell program in a sandbox and returns its output and the files it wrote.",
            input_schema: json!({
                "type": "object",
                "properties": {
                    "language": {"type": "string", "enum": ["python", "shell"]},
                    "code": {"type": "string", "minLength": 1, "maxLength": 200_000, "description": "The whole program"},
                    "stdin": {"type": "string", "description": "What the program reads"},
                    "files": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": FILES_MAX, "description": "Files for the program: name to content in base64"}
                },
                "required": ["language", "code"],
                "additionalProperties": false
            }),
            output_schema: Some(json!({
                "type": "object",
                "properties": {
                    "stdout": {"type": "string"},
                    "stderr": {"type": "string"},
                    "exit_code": {"type": ["integer", "null"]},
                    "signal": {"type": "string"},
                    "files": {"type": "object", "additionalProperties": {"type": "string"}},
                    "warnings": {"type": "array", "items": {"type": "string"}}
                },
                "required": ["stdout", "stderr", "exit_code", "files"]
            })),
            annotations: Annotations {
                read_only: Some(false),
                destructive: Some(false),
                idempotent: Some(false),
                open_world: Some(false),
                title: None,
            },
            parallel_capable: true,
            examples: &[
                "run this in python: print(sum(i*i for i in range(1, 101)))",
                "What does this script print? for w in ['kiwi','fig']: print(w[::-1])",
                "simulate 10,000 dice rolls with a small program and tell me how often two sixes come up",
                "write and run a script that sorts these lines by the second column: b,3 a,9 c,1",
                "execute `seq 1 20 | awk '{s+=$1} END {print s}'` in a shell",
                "이 파이썬 코드 돌려줘: import statistics; print(statistics.median([3, 9, 4, 7]))",
                "아래 CSV를 스크립트로 JSON으로 바꿔 주세요\nname,age\nmina,31\njun,28",
                "bash로 echo hello | md5sum 실행한 결과 알려줘",
                "1부터 1000 사이 소수 다 뽑는 코드 짜서 실행까지 해줄래",
                "파이썬 돌려서 [12, 45, 7, 33, 90] 표준편차랑 히스토그램 좀 뽑아줘",
            ],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.execute(run))
    }
}

/// Writes what was given, and remembers it to tell it from what is made.
fn write_files(
    folder: &Path,
    files: Option<&Map<String, Value>>,
) -> Result<HashMap<String, Vec<u8>>, Failure> {
    let wrong = |why: String| {
        Failure::new(
            Code::InvalidInput,
            format!("Input validation failed: files: {why}"),
        )
    };
    let mut written = HashMap::new();
    for (name, content) in files.into_iter().flatten() {
        let path = Path::new(name);
        let is_plain = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !is_plain || name.contains('\0') || name.len() > 200 {
            return Err(wrong(format!(
                "'{name}' must be a path inside the program's folder"
            )));
        }
        let bytes = STANDARD.decode(content.as_str().unwrap_or_default());
        let bytes = bytes.map_err(|error| wrong(format!("'{name}' is not base64: {error}")))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(wrong(format!(
                "'{name}' is larger than {FILE_BYTES_MAX} bytes"
            )));
        }
        let place = folder.join(path);
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).map_err(|error| wrong(format!("'{name}': {error}")))?;
        }
        put(&place, &bytes)?;
        written.insert(name.clone(), bytes);
    }
    Ok(written)
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes)
        .map_err(|error| Failure::execution(format_args!("its folder cannot be written: {error}")))
}

/// What the program left in its folder that it was not given: names and contents, and what was left out. Its own
/// doing, so it is looked at only so far.
fn made(folder: &Path, program: &str, given: &HashMap<String, Vec<u8>>) -> Made {
    let mut made = Made::default();
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut seen = 0;
    while let Some((next, depth)) = folders.pop() {
        let entries = std::fs::read_dir(&next).into_iter().flatten().flatten();
        for entry in entries {
            seen += 1;
            if seen > ENTRIES_MAX {
                made.is_cut = true;
                return made;
            }
            let path = entry.path();
            // A link may lead anywhere.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => folders.push((path, depth + 1)),
                Ok(kind) if kind.is_file() => {
                    let name = path.strip_prefix(folder).unwrap_or(&path);
                    let name = name.to_string_lossy().into_owned();
                    if name != program {
                        made.add(name, &path, given);
                    }
                }
                _ => {}
            }
        }
    }
    made
}

#[derive(Default)]
struct Made {
    files: Map<String, Value>,
    bytes: u64,
    is_cut: bool,
}

impl Made {
    fn add(&mut self, name: String, path: &Path, given: &HashMap<String, Vec<u8>>) {
        let length = std::fs::metadata(path).map_or(u64::MAX, |about| about.len());
        let has_room =
            self.files.len() < FILES_MAX && self.bytes.saturating_add(length) <= FILES_BYTES_MAX;
        let is_given = given.get(&name).map(|bytes| bytes.len() as u64) == Some(length);
        if !has_room && !is_given {
            self.is_cut = true;
            return;
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path);
        let read = file.and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
        if read.is_err() || given.get(&name) == Some(&bytes) {
            return;
        }
        if !has_room {
            self.is_cut = true;
            return;
        }
        self.bytes += bytes.len() as u64;
        self.files
            .insert(name, Value::String(STANDARD.encode(bytes)));
    }
}

fn outcome(ended: &Ended, made: &Made, is_walled: bool) -> Output {
    let mut warnings = Vec::new();
    if !is_walled {
        warnings.push("it ran without a sandbox".to_owned());
    }
    if made.is_cut {
        let most = FILES_BYTES_MAX >> 10;
        warnings.push(format!(
            "not all of its files are handed back: at most {FILES_MAX} and {most} KiB together"
        ));
    }
    let shown = |captured: &process::Captured| {
        let mut short = captured.clone();
        short.bytes.truncate(SHOWN_BYTES_MAX);
        short.text()
    };
    for (name, captured) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        if captured.total > SHOWN_BYTES_MAX as u64 {
            warnings.push(format!(
                "{name} is cut: {} bytes were printed",
                captured.total
            ));
        }
    }
    let mut data = json!({
        "stdout": shown(&ended.stdout),
        "stderr": shown(&ended.stderr),
        "exit_code": ended.status.code(),
        "files": made.files,
    });
    if let Some(signal) = signal_name(ended.status) {
        data["signal"] = json!(signal);
    }
    if !warnings.is_empty() {
        data["warnings"] = json!(warnings);
    }
    Output::from(data)
}
