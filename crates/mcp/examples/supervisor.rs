//! A program that is nothing but the supervisor of other programs, for this crate's tests: they have no other to start.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(2);
    process::run_worker(arguments).unwrap_or(ExitCode::FAILURE)
}
