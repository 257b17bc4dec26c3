//! The closed loop: each connection sends its next request when the last answer is read and checked.
//! Bounded in time, in requests and in errors, so that a broken server ends a run instead of hanging it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;

use crate::Failure;
use crate::http::Target;
use crate::latency::Latencies;
use crate::proc::{self, Usage};
use crate::request::{Client, Request, RequestArgs, seconds};

#[derive(Args)]
pub(crate) struct LoadArgs {
    /// Where to send requests; the path is a template
    #[arg(long)]
    url: String,
    #[command(flatten)]
    request: RequestArgs,
    /// Connections, each with one request in flight
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    conns: u32,
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Stop after this many requests
    #[arg(long, default_value_t = 5_000_000)]
    requests_max: u64,
    /// Stop after this many errors
    #[arg(long, default_value_t = 1_000)]
    errors_max: u64,
    /// Requests sent, checked and not counted before the clock starts
    #[arg(long, default_value_t = 200)]
    warmup: u64,
    /// Process id of the server, for its CPU time and memory (with all processes below it)
    #[arg(long)]
    pid: Option<u32>,
}

/// What all connections of a phase share.
struct Phase {
    request: Rc<Request>,
    next: Rc<Cell<u64>>,
    requests_left: Cell<u64>,
    errors_left: Cell<u64>,
    until: Instant,
    tally: RefCell<Tally>,
}

#[derive(Default)]
struct Tally {
    latencies: Latencies,
    errors: u64,
    first_error: Option<String>,
}

pub(crate) fn run(args: &LoadArgs) -> Result<(), Failure> {
    let line = crate::on_one_thread(measure(args))??;
    crate::print_line(&line.to_string())
}

async fn measure(args: &LoadArgs) -> Result<serde_json::Value, Failure> {
    let request = Rc::new(Request::new(&args.request, &Target::parse(&args.url)?)?);
    let length = seconds("--seconds", args.seconds)?;
    let next = Rc::new(Cell::new(1));
    let phase = |requests: u64| Phase {
        request: Rc::clone(&request),
        next: Rc::clone(&next),
        requests_left: Cell::new(requests),
        errors_left: Cell::new(args.errors_max.max(1)),
        until: Instant::now() + length,
        tally: RefCell::default(),
    };
    let clients = (0..args.conns).map(|_| Client::default()).collect();
    let (clients, warm) = play(phase(args.warmup), clients).await?;
    if let Some(error) = warm.first_error {
        return Err(format!(
            "{} errors while warming up; the first: {error}",
            warm.errors
        ));
    }

    let usage = || args.pid.map(proc::tree_usage).transpose();
    let (before, own_before) = (usage()?, proc::own_cpu_us());
    let start = Instant::now();
    let (_, mut tally) = play(phase(args.requests_max), clients).await?;
    let elapsed = start.elapsed();
    let (after, own_after) = (usage()?, proc::own_cpu_us());
    Ok(report(
        args,
        &mut tally,
        elapsed,
        own_after - own_before,
        before.zip(after),
    ))
}

/// Runs one phase on all clients; they keep their connections for the next.
async fn play(phase: Phase, clients: Vec<Client>) -> Result<(Vec<Client>, Tally), Failure> {
    let phase = Rc::new(phase);
    let mut tasks = JoinSet::new();
    for client in clients {
        tasks.spawn_local(keep_asking(client, Rc::clone(&phase)));
    }
    let mut clients = Vec::new();
    while let Some(client) = tasks.join_next().await {
        clients.push(client.map_err(|e| format!("a client stopped: {e}"))?);
    }
    Ok((clients, phase.tally.take()))
}

async fn keep_asking(mut client: Client, phase: Rc<Phase>) -> Client {
    while phase.requests_left.get() > 0
        && phase.errors_left.get() > 0
        && Instant::now() < phase.until
    {
        phase.requests_left.update(|left| left - 1);
        let i = phase.next.get();
        phase.next.set(i + 1);
        let outcome = client.ask(&phase.request, i).await;
        let mut tally = phase.tally.borrow_mut();
        match outcome {
            Ok(took) => tally.latencies.add(took),
            Err(error) => {
                tally.errors += 1;
                tally.first_error.get_or_insert(error);
                phase.errors_left.update(|left| left.saturating_sub(1));
            }
        }
    }
    client
}

fn report(
    args: &LoadArgs,
    tally: &mut Tally,
    elapsed: Duration,
    own_cpu_us: u64,
    server: Option<(Usage, Usage)>,
) -> serde_json::Value {
    let right = tally.latencies.len() as u64;
    let asked = right + tally.errors;
    let per_call = |cpu_us: u64| (asked > 0).then(|| tenths(cpu_us as f64 / asked as f64));
    let at = tally.latencies.percentiles_us([0.5, 0.95, 0.99, 1.0]);
    json!({
        "conns": args.conns,
        "requests": asked,
        "errors": tally.errors,
        "first_error": tally.first_error,
        "stopped_early": tally.errors >= args.errors_max.max(1),
        "seconds": elapsed.as_secs_f64(),
        "rps": tenths(right as f64 / elapsed.as_secs_f64()),
        "p50_us": at.map(|at| at[0]),
        "p95_us": at.map(|at| at[1]),
        "p99_us": at.map(|at| at[2]),
        "max_us": at.map(|at| at[3]),
        "client_cpu_us": per_call(own_cpu_us),
        "server_cpu_us": server.and_then(|(before, after)| per_call(after.cpu_us.saturating_sub(before.cpu_us))),
        "server_rss_kb": server.map(|(_, after)| after.rss_kb),
    })
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
