//! The server's side: starting a supervisor, its pipes, and ending it with everything below it.

use crate::bounds::Bounds;
use crate::sandbox::{Step, WALL, Walls};
use crate::supervise::{NOT_STARTED, Task};
use crate::{PROGRAM, RUN, WORKER_COMMAND};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Sender, channel};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct Order {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// All of it: nothing of the server's own environment is passed on.
    pub environment: Vec<(OsString, OsString)>,
    pub folder: PathBuf,
    pub bounds: Bounds,
    pub walls: Option<Walls>,
    /// Whether it finds everything that it starts, however that hides, among its own children.
    pub reaper: bool,
}

/// Starts supervisors, all from one thread that lives as long as this: the kernel ends a supervisor together with the
/// *thread* that started it.
pub struct Spawner {
    program: PathBuf,
    jobs: Mutex<Option<Sender<Job>>>,
}

struct Job {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

impl Default for Spawner {
    fn default() -> Self {
        Spawner::of(PROGRAM)
    }
}

impl Spawner {
    /// `program` is this program, or one that behaves the same where it is told to be a worker.
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Spawner {
            program: program.into(),
            jobs: Mutex::new(None),
        }
    }

    /// Starts a program. It is ended, with everything it has started, when the `Tree` is dropped.
    pub async fn spawn(&self, order: &Order) -> io::Result<Tree> {
        let mark = mark();
        let task = Task {
            parent: i32::try_from(std::process::id()).unwrap_or_default(),
            bounds: order.bounds,
            mark: mark.clone(),
        };
        let mut command = std::process::Command::new(&self.program);
        command
            .arg0("toolcrib")
            .args([WORKER_COMMAND, RUN])
            .arg(serde_json::to_string(&task)?);
        let step = Step {
            walls: order.walls.clone(),
            reaper: order.reaper,
        };
        if step.walls.is_some() || step.reaper {
            // One more step between the supervisor and the tool, so that only the tool is walled in.
            command
                .arg(&self.program)
                .args([WORKER_COMMAND, WALL, &mark]);
            command.arg(serde_json::to_string(&step)?);
        }
        command
            .arg(&order.program)
            .args(&order.arguments)
            .env_clear()
            .envs(order.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&order.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.start(command.into()).await?;
        Ok(Tree {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            mark,
        })
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a process from the thread that lives.
    pub(crate) async fn start(&self, command: Command) -> io::Result<Child> {
        let (reply, started) = oneshot::channel();
        let job = Job {
            command,
            runtime: Handle::current(),
            reply,
        };
        self.send(job)?;
        let gone = |_| io::Error::other("the thread that starts programs is gone");
        started.await.map_err(gone)?
    }

    fn send(&self, job: Job) -> io::Result<()> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match jobs.as_ref() {
            Some(sender) => sender,
            None => jobs.insert(start_thread()?),
        };
        let gone = |_| io::Error::other("the thread that starts programs is gone");
        sender.send(job).map_err(gone)
    }
}

fn start_thread() -> io::Result<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let thread = std::thread::Builder::new().name("spawner".to_owned());
    thread.spawn(move || {
        for mut job in jobs {
            let _inside = job.runtime.enter();
            // Who is not waited for is ended by being dropped, below.
            if let Err(Ok(child)) = job.reply.send(job.command.spawn()) {
                end(&child);
            }
        }
    })?;
    Ok(sender)
}

fn mark() -> String {
    let mut bytes = [0; 8];
    // It only keeps two texts apart; where there is no chance to be had, any mark will do.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    format!("{:016x} ", u64::from_ne_bytes(bytes))
}

/// A program under supervision.
pub struct Tree {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    child: Child,
    mark: String,
}

impl Tree {
    /// Waits for its end; everything it has started is gone by then.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// What the words of its supervisor begin with.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Why the program was never started, if it was not.
    pub fn not_started(&self, status: ExitStatus, stderr: &str) -> Option<String> {
        if status.code() != Some(i32::from(NOT_STARTED)) {
            return None;
        }
        stderr.strip_prefix(&self.mark).map(str::to_owned)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        end(&self.child);
    }
}

/// Asks the supervisor to end everything. One that has been waited for has no id any more; until then nobody else
/// can have it. The runtime reaps it later.
fn end(child: &Child) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(pid) = pid.and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// The signal that ended a program, by its name.
pub fn signal_name(status: ExitStatus) -> Option<String> {
    let number = status.signal()?;
    let signal = Signal::from_named_raw(number);
    let name = match signal {
        Some(Signal::KILL) => "SIGKILL",
        Some(Signal::SEGV) => "SIGSEGV",
        Some(Signal::ABORT) => "SIGABRT",
        Some(Signal::TERM) => "SIGTERM",
        Some(Signal::SYS) => "SIGSYS",
        Some(Signal::XCPU) => "SIGXCPU",
        Some(Signal::XFSZ) => "SIGXFSZ",
        Some(Signal::BUS) => "SIGBUS",
        Some(Signal::FPE) => "SIGFPE",
        Some(Signal::ILL) => "SIGILL",
        Some(Signal::PIPE) => "SIGPIPE",
        _ => return Some(format!("signal {number}")),
    };
    Some(name.to_owned())
}
