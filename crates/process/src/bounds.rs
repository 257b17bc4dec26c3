//! What a process may use: the kernel's own limits, which everything it starts inherits.

use rustix::process::{Resource, Rlimit, Signal};
use serde::{Deserialize, Serialize};
use std::io;

/// None leaves what is allowed already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Addresses, not memory in use: some programs take many more than they need.
    pub address_bytes: Option<u64>,
    /// The largest file it may write.
    pub file_bytes: Option<u64>,
    /// Open files at a time.
    pub files: Option<u64>,
    /// Processes of this user, all of them; nothing holds root to it.
    pub processes: Option<u64>,
    /// Seconds of computing.
    pub cpu_seconds: Option<u64>,
}

impl Bounds {
    /// Bounds this process and whatever it starts from here on. It leaves no core behind, in any case.
    pub fn apply(&self) -> io::Result<()> {
        let all = [
            (Resource::As, self.address_bytes),
            (Resource::Fsize, self.file_bytes),
            (Resource::Nofile, self.files),
            (Resource::Nproc, self.processes),
            (Resource::Cpu, self.cpu_seconds),
            (Resource::Core, Some(0)),
        ];
        for (resource, most) in all {
            let Some(most) = most else { continue };
            // Who started the server may have allowed it less.
            let allowed = rustix::process::getrlimit(resource).maximum;
            let most = Some(allowed.map_or(most, |allowed| allowed.min(most)));
            let limit = Rlimit {
                current: most,
                maximum: most,
            };
            rustix::process::setrlimit(resource, limit)?;
        }
        Ok(())
    }
}

/// Ends this process, by `signal`, together with its parent: a server that is killed cannot end its workers.
pub fn end_with_parent(parent: i32, signal: Signal) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(signal))?;
    let is_there = rustix::process::getppid().is_some_and(|pid| pid.as_raw_pid() == parent);
    if is_there {
        return Ok(());
    }
    Err(io::Error::other("the parent is gone"))
}
