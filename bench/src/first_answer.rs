//! Time from the start of a server process to its first right answer, and its memory once it idles.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::Failure;
use crate::http::Target;
use crate::proc;
use crate::request::{Client, Request, RequestArgs, seconds};

const POLL: Duration = Duration::from_millis(1);
const END_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(crate) struct FirstAnswerArgs {
    /// Path to ask for; the address is the one the server prints as `listening on http://ADDR`
    #[arg(long, default_value = "/readyz")]
    path: String,
    #[command(flatten)]
    request: RequestArgs,
    /// Give up after this long
    #[arg(long, default_value_t = 30.0)]
    patience_seconds: f64,
    /// Then leave the server alone for this long and read its memory
    #[arg(long, default_value_t = 0.0)]
    idle_seconds: f64,
    /// The server and its arguments, after `--`
    #[arg(required = true, last = true)]
    command: Vec<String>,
}

pub(crate) fn run(args: &FirstAnswerArgs) -> Result<(), Failure> {
    let line = crate::on_one_thread(async {
        // Told to end: fail in the ordinary way, so that the server is ended too.
        tokio::select! {
            line = measure(args) => line,
            failure = told_to_end() => Err(failure),
        }
    })??;
    crate::print_line(&line.to_string())
}

async fn told_to_end() -> Failure {
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        // Without handlers the signals end us at once, as they always did.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => "ended by SIGTERM".to_owned(),
        _ = interrupt.recv() => "ended by SIGINT".to_owned(),
    }
}

async fn measure(args: &FirstAnswerArgs) -> Result<serde_json::Value, Failure> {
    let patience = seconds("--patience-seconds", args.patience_seconds)?;
    let idle = Duration::try_from_secs_f64(args.idle_seconds)
        .map_err(|_| format!("--idle-seconds {}: expected 0 or more", args.idle_seconds))?;
    // Read once before the clock starts, so that a mistake in it does not cost a server start.
    Request::new(
        &args.request,
        &Target::parse(&format!("http://127.0.0.1:1{}", args.path))?,
    )?;

    let start = Instant::now();
    let (server, listening) = Server::start(&args.command)?;
    let deadline = tokio::time::Instant::from_std(start + patience);
    let late = || format!("{} did not listen within {patience:?}", args.command[0]);
    let address = tokio::time::timeout_at(deadline, listening)
        .await
        .map_err(|_| late())?;
    let address = address.map_err(|_| {
        format!(
            "{} ended or closed its output before it printed `listening on http://ADDR`",
            args.command[0]
        )
    })?;
    let listening_ms = start.elapsed();

    let request = Request::new(
        &args.request,
        &Target::parse(&format!("{address}{}", args.path))?,
    )?;
    let mut tries = 1;
    while let Err(error) = Client::default().ask(&request, 1).await {
        if start.elapsed() > patience {
            return Err(format!(
                "no right answer within {patience:?}; the last: {error}"
            ));
        }
        tries += 1;
        tokio::time::sleep(POLL).await;
    }
    let answered = start.elapsed();
    tokio::time::sleep(idle).await;
    let usage = proc::tree_usage(server.child.id())?;
    Ok(json!({
        "first_answer_ms": millis(answered),
        "listening_ms": millis(listening_ms),
        "tries": tries,
        "idle_seconds": idle.as_secs_f64(),
        "rss_kb": usage.rss_kb,
        "cpu_us": usage.cpu_us,
    }))
}

fn millis(took: Duration) -> f64 {
    (took.as_secs_f64() * 100_000.0).round() / 100.0
}

/// A server process that is ended with us, whichever way we leave.
struct Server {
    child: Child,
}

impl Server {
    /// Starts the command; the receiver gets the address from its `listening on` line.
    fn start(command: &[String]) -> Result<(Self, oneshot::Receiver<String>), Failure> {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", command[0]))?;
        let output = child.stdout.take().expect("stdout was asked to be a pipe");
        let (found, listening) = oneshot::channel();
        // Reads to the end, so that a server with more to say never waits for us.
        std::thread::spawn(move || {
            let mut found = Some(found);
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(address) = line.trim().strip_prefix("listening on ")
                    && let Some(found) = found.take()
                {
                    // Nobody waits any more: the patience is over.
                    let _ = found.send(address.to_owned());
                }
            }
        });
        Ok((Server { child }, listening))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::TERM);
        }
        let deadline = Instant::now() + END_PATIENCE;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(POLL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
