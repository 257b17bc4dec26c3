//! One warm process: a line goes in, a line comes out, and what the tool prints is kept beside them.

use super::PRINTED_BYTES_MAX;
use crate::confined::Scratch;
use executor::Failure;
use process::spawn::signal_name;
use process::{Captured, Order, Spawner, Tree};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::pin::Pin;
use std::process::ExitStatus;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How often the memory of a call that goes on is looked at.
const LOOK_AT_MEMORY: Duration = Duration::from_millis(20);

/// What it may answer, and what it may print before it is ended for it.
const ANSWER_BYTES_MAX: usize = 64 << 20;
const STREAM_BYTES_MAX: u64 = 32 << 20;

pub(super) struct Worker {
    tree: Tree,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
    pid: u32,
    /// Its own folder, where it has one.
    pub(super) scratch: Option<Scratch>,
}

/// What a worker says of one call.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Said {
    mark: String,
    #[serde(default)]
    pub(super) stale: bool,
    #[serde(default)]
    pub(super) result: Value,
    pub(super) error: Option<Fault>,
    /// The most it has ever had in memory.
    #[serde(default)]
    pub(super) peak_kib: u64,
    /// Whether something that the call has started still runs.
    #[serde(default)]
    pub(super) left: bool,
    #[serde(skip)]
    pub(super) printed: Captured,
}

#[derive(Debug, Deserialize)]
pub(super) struct Fault {
    /// load, arguments, call or result.
    pub(super) step: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) place: Option<Map<String, Value>>,
}

impl Fault {
    /// The script, with the line where it lies in it. An error of syntax says that itself.
    pub(super) fn at(&self, script: &str) -> String {
        let place = |name| self.place.as_ref()?.get(name);
        let text = |name| place(name).and_then(Value::as_str);
        match (text("file"), place("line"), text("function")) {
            (Some(file), Some(line), Some("<module>")) if file == script => {
                format!("{script}:{line}")
            }
            (Some(file), Some(line), Some(function)) if file == script => {
                format!("{script}:{line} ({function})")
            }
            _ => script.to_owned(),
        }
    }
}

/// Why a worker is of no use any more.
#[derive(Debug)]
pub(super) enum End {
    Exited(Option<ExitStatus>),
    /// Of its own accord, or because it would have used more than it may.
    Memory,
    /// More was printed than anybody would read.
    Flood,
    /// Something else stood between the answers.
    Garbled,
}

/// A worker that did not answer, and what it had printed.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) printed: Captured,
}

#[derive(Deserialize)]
struct Hello {
    pid: u32,
}

impl Worker {
    pub(super) async fn start(spawner: &Spawner, order: &Order) -> Result<Self, Failure> {
        let program = order.program.to_string_lossy().into_owned();
        let cannot = |why: &dyn std::fmt::Display| {
            Failure::execution(format_args!("'{program}' cannot be started: {why}"))
        };
        let mut tree = spawner.spawn(order).await.map_err(|error| cannot(&error))?;
        let pipes = (tree.stdin.take(), tree.stdout.take(), tree.stderr.take());
        let (Some(stdin), Some(stdout), Some(mut stderr)) = pipes else {
            return Err(cannot(&"it has no pipes"));
        };
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        let _ = stdout.read_line(&mut line).await;
        let Ok(hello) = serde_json::from_str::<Hello>(&line) else {
            let said = Captured::read(&mut stderr, PRINTED_BYTES_MAX).await.text();
            let status = tree.wait().await.map_err(|error| cannot(&error))?;
            let why = tree.not_started(status, &said).unwrap_or(said);
            let last = why.trim_end().lines().last();
            return Err(cannot(&last.unwrap_or("it ended at once")));
        };
        Ok(Worker {
            tree,
            stdin,
            stdout,
            stderr,
            pid: hello.pid,
            scratch: None,
        })
    }

    /// Whether it waits for a call: it has neither ended nor written anything that nobody asked for. Without a look at
    /// the process itself; the runtime is told of either.
    pub(super) fn is_waiting(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        Pin::new(&mut self.stdout)
            .poll_fill_buf(&mut context)
            .is_pending()
    }

    /// One call. Dropping this leaves the worker in the middle of it, so whoever does drops the worker, too.
    pub(super) async fn ask(
        &mut self,
        request: &str,
        mark: &str,
        memory_bytes_max: u64,
    ) -> Result<Said, Ended> {
        // A thread that an earlier call has left behind may have printed since.
        Captured::default().add_waiting(&self.stderr, 0);
        let mut printed = Captured::default();
        let mut line = Vec::new();
        let end = self.exchange(request, memory_bytes_max, &mut line, &mut printed);
        let end = match end.await {
            None => match serde_json::from_slice::<Said>(&line) {
                // An answer to another question was written by somebody else.
                Ok(said) if said.mark != mark => End::Garbled,
                Ok(mut said) => {
                    said.printed = printed;
                    return Ok(said);
                }
                Err(_) => End::Garbled,
            },
            Some(End::Exited(_)) => {
                let rest = Captured::read(&mut self.stderr, PRINTED_BYTES_MAX);
                let (rest, status) = tokio::join!(rest, self.tree.wait());
                printed.add(&rest.bytes, PRINTED_BYTES_MAX);
                End::Exited(status.ok())
            }
            Some(end) => end,
        };
        Err(Ended { end, printed })
    }

    /// Until the answer is in `line` and everything that was printed before it in `printed`.
    async fn exchange(
        &mut self,
        request: &str,
        memory_bytes_max: u64,
        line: &mut Vec<u8>,
        printed: &mut Captured,
    ) -> Option<End> {
        if self.stdin.write_all(request.as_bytes()).await.is_err() {
            return Some(End::Exited(None));
        }
        let mut looks: Option<Interval> = None;
        let mut answer = (&mut self.stdout).take(ANSWER_BYTES_MAX as u64);
        let mut chunk = [0; 16 * 1024];
        let mut is_open = true;
        while !line.ends_with(b"\n") {
            // The clock is started only for a call that takes a while.
            let looks = async {
                let looks = looks.get_or_insert_with(looking);
                looks.tick().await
            };
            tokio::select! {
                biased;
                read = answer.read_until(b'\n', line) => match read {
                    Ok(n) if n > 0 => {}
                    _ if line.len() == ANSWER_BYTES_MAX => return Some(End::Flood),
                    _ => return Some(End::Exited(None)),
                },
                read = self.stderr.read(&mut chunk), if is_open => {
                    let n = read.unwrap_or_default();
                    is_open = n > 0;
                    printed.add(&chunk[..n], PRINTED_BYTES_MAX);
                    if printed.total > STREAM_BYTES_MAX {
                        return Some(End::Flood);
                    }
                }
                _ = looks => if resident_bytes(self.pid) > memory_bytes_max {
                    return Some(End::Memory);
                },
            }
        }
        // What was printed before the answer was written is there by now.
        printed.add_waiting(&self.stderr, PRINTED_BYTES_MAX);
        None
    }
}

fn looking() -> Interval {
    let mut looks = interval(LOOK_AT_MEMORY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    looks
}

impl End {
    pub(super) fn how(&self, memory_bytes_max: u64) -> String {
        match self {
            End::Memory => {
                let mib = memory_bytes_max >> 20;
                format!(
                    "it needed more memory than the {mib} MiB that are allowed (python.memory_bytes_max)"
                )
            }
            End::Flood => {
                let mib = STREAM_BYTES_MAX >> 20;
                format!("it printed more than the {mib} MiB that are allowed")
            }
            End::Garbled => "it wrote something of its own where its answer should be".to_owned(),
            End::Exited(status) => {
                match status.map(|status| (status.code(), signal_name(status))) {
                    Some((Some(code), _)) => format!("it ended its process with exit code {code}"),
                    Some((None, Some(name))) => format!("its process was ended by {name}"),
                    _ => "its process ended".to_owned(),
                }
            }
        }
    }
}

/// The memory that a process really has; 0 where it is gone.
fn resident_bytes(pid: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}
