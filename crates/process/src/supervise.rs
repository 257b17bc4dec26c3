//! The supervisor: this program between the server and a tool. It becomes the reaper of all descendants, so that one
//! that hides in a session of its own, or whose parent has gone, is still its child in the end and is ended with the
//! rest. It has one thread and does nothing but wait.

use crate::bounds::{Bounds, end_with_parent};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// What the server tells the supervisor; it stands in the list of processes, so nothing in it is secret.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) parent: i32,
    pub(crate) bounds: Bounds,
    /// Stands before the reason where the tool could not be started, so that nobody takes it for the tool's own words.
    pub(crate) mark: String,
}

/// How the supervisor ends where it could not start the tool, with the reason on stderr.
pub(crate) const NOT_STARTED: u8 = 125;

/// Runs `arguments` = TASK PROGRAM [ARGUMENT...]. None where that makes no sense.
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let task: Task = serde_json::from_str(arguments.next()?.to_str()?).ok()?;
    let program = arguments.next()?;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    Some(match supervise(&task, command) {
        Ok(ended) => as_it_ended(ended),
        Err(error) => {
            let _ = write!(io::stderr(), "{}{error}", task.mark);
            ExitCode::from(NOT_STARTED)
        }
    })
}

fn supervise(task: &Task, mut command: Command) -> io::Result<WaitStatus> {
    // First of all: whoever asks us to end before we listen must not end us alone.
    let mut signals = Signals::new([SIGCHLD, SIGTERM, SIGINT])?;
    // A session of our own: nothing typed in a terminal reaches the tool.
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    end_with_parent(task.parent, Signal::TERM)?;
    let mut family = Family::open()?;
    task.bounds.apply()?;
    // Where memory runs out, this goes first, and not the server. It is only a wish.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let child = Pid::from_child(&command.spawn()?);
    loop {
        for signal in signals.wait() {
            if signal == SIGCHLD {
                while let Some((pid, status)) = reap(WaitOptions::NOHANG) {
                    if pid == child {
                        family.end();
                        return Ok(status);
                    }
                }
            } else {
                family.end();
                return Err(io::Error::other("ended from outside"));
            }
        }
    }
}

fn reap(how: WaitOptions) -> Option<(Pid, WaitStatus)> {
    loop {
        match wait(how) {
            Err(Errno::INTR) => {}
            other => return other.ok().flatten(),
        }
    }
}

/// Our children, which in the end are all descendants. The file is opened before anything is walled off.
struct Family(File);

impl Family {
    fn open() -> io::Result<Self> {
        let thread = rustix::thread::gettid();
        File::open(format!("/proc/self/task/{}/children", thread.as_raw_pid())).map(Family)
    }

    /// Kills children until there are none: the children of a dead one become ours.
    fn end(&mut self) {
        loop {
            let mut list = String::new();
            let read = self
                .0
                .rewind()
                .and_then(|()| self.0.read_to_string(&mut list));
            let pids = list.split_whitespace().filter_map(|pid| pid.parse().ok());
            for pid in pids.filter_map(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
            if read.is_err() || reap(WaitOptions::empty()).is_none() {
                return;
            }
            while reap(WaitOptions::NOHANG).is_some() {}
        }
    }
}

/// Ends as the tool did, so that whoever waits for us learns it.
fn as_it_ended(status: WaitStatus) -> ExitCode {
    if let Some(signal) = status.terminating_signal() {
        // Not by sending it to ourselves: this program handles some signals itself.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    let code = status
        .exit_status()
        .and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}
