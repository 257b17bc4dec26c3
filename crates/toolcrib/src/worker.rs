//! `toolcrib __worker calculator PARENT`: this program as a worker process of itself. It bounds itself, answers line
//! by line and ends with its input or its parent. No command for people, so the command line does not know it.

use kinds::builtin;
use rustix::process::{Resource, Rlimit, Signal};
use std::ffi::OsString;
use std::io::{self, BufReader};
use std::process::ExitCode;

/// The running program, also where its file has been replaced by a newer one since.
pub(crate) const PROGRAM: &str = "/proc/self/exe";

/// Above everything that a sensible calculation needs, and little enough to have four of them.
const MEMORY_BYTES_MAX: u64 = 512 << 20;

/// Its three pipes, and a few to spare for the runtime.
const FILES_MAX: u64 = 16;

/// fend calls itself; the deepest expression that is let through needs a fraction of this.
const STACK_BYTES: usize = 64 << 20;

/// None where the program was not started as a worker.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let command = arguments.nth(1)?;
    if command != builtin::WORKER_COMMAND {
        return None;
    }
    let known = arguments.next()? == builtin::CALCULATOR;
    let parent = arguments.next()?.to_str()?.parse().ok()?;
    if !known || bound(parent).is_err() {
        return Some(ExitCode::FAILURE);
    }
    let answering = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(|| builtin::answer_lines(BufReader::new(io::stdin()), io::stdout()));
    let ended = answering.map(std::thread::JoinHandle::join);
    Some(match ended {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// What this process may use from here on.
fn bound(parent: i32) -> io::Result<()> {
    // A server that is killed cannot end its workers, and one at an endless calculation never sees its input end.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let is_there = rustix::process::getppid().is_some_and(|pid| pid.as_raw_pid() == parent);
    if !is_there {
        return Err(io::Error::other("the parent is gone"));
    }
    for (resource, most) in [
        (Resource::As, MEMORY_BYTES_MAX),
        (Resource::Core, 0),
        (Resource::Nofile, FILES_MAX),
    ] {
        // Who started the server may have allowed it less.
        let allowed = rustix::process::getrlimit(resource).maximum;
        let most = allowed.map_or(most, |allowed| allowed.min(most));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        rustix::process::setrlimit(resource, limit)?;
    }
    Ok(())
}
