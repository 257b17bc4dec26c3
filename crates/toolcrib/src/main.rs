//! The `toolcrib` program: reads the command line, runs the command, turns its end into an exit code.

mod bridge;
mod cli;
mod client;
mod command;
mod config;
mod context;
mod layout;
mod out;
mod table;
mod worker;
mod workspace;

use clap::Parser;
use clap::error::ErrorKind;
use cli::Cli;
use context::Context;
use std::process::ExitCode;
use std::time::Duration;

/// A call makes many small allocations on several threads, which the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The allocator asks for huge pages, which doubles the memory of a server that needs little.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    // Before the command line is read and before there are threads: a worker has no use for either.
    if let Some(done) = worker::run(std::env::args_os()) {
        return done;
    }
    let arguments = cli::with_requests(std::env::args_os().collect());
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(usage) => return misused(&usage),
    };
    let context = Context::new(cli.global);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            return context
                .out
                .failure(&out::Failure::failed(error.to_string()))
                .into();
        }
    };
    let done = runtime.block_on(command::run(&context, cli.command));
    // What still runs now was given up on purpose.
    runtime.shutdown_timeout(Duration::from_millis(100));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => context.out.failure(&failure).into(),
    }
}

/// Help and version come this way, too.
fn misused(usage: &clap::Error) -> ExitCode {
    // The flags could not be read, so whether there is a `--json` among them is seen here.
    if usage.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let out = out::Out::new(true, &config::Environment::of_process());
        return out.failure(&usage_failure(usage)).into();
    }
    let _ = usage.print();
    ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
}

/// What was wrong, and what clap says besides it.
fn usage_failure(usage: &clap::Error) -> out::Failure {
    let text = usage.to_string();
    if usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return out::Failure::usage("a command is missing").hint("`toolcrib --help` lists them");
    }
    let mut parts = text.split("\n\n").map(str::trim);
    let wrong = parts.next().unwrap_or_default();
    let failure = out::Failure::usage(wrong.trim_start_matches("error: "));
    parts.fold(failure, out::Failure::hint)
}
