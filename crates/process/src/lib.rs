//! Running other programs so that nothing of them is left behind. The server starts this very program once more as a
//! **supervisor** (`__worker run`); the supervisor bounds itself, starts the tool, is the reaper of everything the
//! tool starts, however it hides, and ends all of it when the tool ends, when it is told to, or when the server dies.
//! What this program computes itself but cannot bound runs in **sealed** workers, which have nothing but a socket.

pub mod bounds;
pub mod capture;
pub mod pool;
pub mod sandbox;
pub mod sealed;
pub mod spawn;
pub mod supervise;

pub use bounds::Bounds;
pub use capture::Captured;
pub use pool::{Pool, Stopped};
pub use sandbox::{Sandbox, Walls};
pub use sealed::Seal;
pub use spawn::{Order, Spawner, Tree};

/// The program's first argument where it is to be a worker and nothing else.
pub const WORKER_COMMAND: &str = "__worker";
/// The second, where it is to supervise a program.
pub const RUN: &str = "run";

/// The running program, also where its file has been replaced by a newer one since.
pub const PROGRAM: &str = "/proc/self/exe";

/// Runs this program as the worker that its arguments ask for, if they ask for one of this crate's. `arguments` begin
/// behind `__worker`.
pub fn run_worker(
    mut arguments: impl Iterator<Item = std::ffi::OsString>,
) -> Option<std::process::ExitCode> {
    match arguments.next()?.to_str()? {
        RUN => supervise::run(arguments),
        sandbox::WALL => sandbox::run(arguments),
        _ => None,
    }
}
