//! The load generator and its companions, one subcommand each; every subcommand prints JSON lines, `run.py` puts them together.
//! Failures are plain text: a person reads them, nothing branches on them.

mod bare_echo;
mod bare_sql;
mod expect;
mod first_answer;
mod http;
mod latency;
mod load;
mod make_tools;
mod proc;
mod request;
mod runner;
mod runs;
mod slow;
mod template;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What went wrong, ready to be read by a person.
type Failure = String;

/// Load generator of Toolcrib: keep-alive, every answer checked, figures as one JSON line.
#[derive(Parser)]
#[command(name = "bench")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Closed loop over N keep-alive connections; prints req/s, latencies, errors, CPU per call and memory
    Load(load::LoadArgs),
    /// The reference server: bare axum that parses the call and answers it
    BareEcho(bare_echo::BareEchoArgs),
    /// The reference of SQL tools: the same guarded query behind one route
    BareSql(bare_sql::BareSqlArgs),
    /// Start a server and time its first right answer, then its memory when idle
    FirstAnswer(first_answer::FirstAnswerArgs),
    /// Hold half-open and slow connections; prints how many the server closed and when
    Slow(slow::SlowArgs),
    /// What a kind of tool costs without a server around it
    Runner(runner::RunnerArgs),
    /// Runs at a time, followed while their model writes, and one that calls a tool over and over
    Runs(runs::RunsArgs),
    /// Write a workspace with N tools
    MakeTools(make_tools::MakeToolsArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Load(args) => load::run(&args),
        Command::BareEcho(args) => bare_echo::run(&args),
        Command::BareSql(args) => bare_sql::run(&args),
        Command::FirstAnswer(args) => first_answer::run(&args),
        Command::Slow(args) => slow::run(&args),
        Command::Runner(args) => runner::run(&args),
        Command::Runs(args) => runs::run(&args),
        Command::MakeTools(args) => make_tools::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nowhere left to report a standard error that cannot be written.
            let _ = writeln!(std::io::stderr(), "bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Prints one line and flushes it: a waiting parent process must see it at once.
fn print_line(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|e| format!("cannot write to standard output: {e}"))
}

/// One thread is enough for some 100,000 requests a second and leaves the other cores to the server.
fn on_one_thread<F: Future>(work: F) -> Result<F::Output, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start the runtime: {e}"))?;
    Ok(tokio::task::LocalSet::new().block_on(&runtime, work))
}
