//! What the executor adds to a call, in process: verdict, both schemas, deadline, log entry committed. Run with
//! `cargo run --release -p kinds --example executor_overhead`; prints one JSON object
//! and fails where a goal is missed.

use catalog::caller::{Caller, Role, Transport};
use catalog::catalogue::{Catalogue, Change};
use catalog::clock::Clock;
use catalog::policy::Policy;
use catalog::tool::{Tool, id_from_name};
use executions::{ExecutionLog, Options};
use executor::{CallRequest, Executor, Settings};
use serde_json::json;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

const WARM_UP: usize = 2_000;
const CALLS: usize = 20_000;
const GOAL_US: f64 = 50.0;

/// All cribs share one log: on which core its thread runs would make a larger difference than any catalogue.
fn crib(tools: usize, log: &ExecutionLog) -> Arc<Executor> {
    let kinds::All {
        kinds,
        builtins: shipped,
        ..
    } = kinds::all(&kinds::Options::default(), None);
    let echo = shipped
        .iter()
        .find(|t| t.definition.name == "serialize_for_cell")
        .cloned();
    let echo = echo.expect("it is shipped");
    let more = (0..tools).map(|i| {
        let name = format!("copy_{i}");
        let mut copy: Tool = echo.clone();
        copy.id = id_from_name(&name);
        copy.definition.name = name;
        copy
    });
    let changes = shipped.into_iter().chain(more).map(Change::Put).collect();
    Executor::new(
        Catalogue::default().with(changes),
        Policy::new(true, "serialize_for_cell"),
        kinds,
        log.clone(),
        Clock::System,
        Settings::default(),
    )
}

/// The microseconds of one call.
async fn timed(executor: &Arc<Executor>, caller: &Arc<Caller>, i: usize) -> f64 {
    let request = CallRequest {
        tool: "serialize_for_cell".into(),
        arguments: json!({"data": format!("a\u{a0}b{i}")}),
        ..CallRequest::default()
    };
    let began = Instant::now();
    black_box(executor.call(Arc::clone(caller), request).await);
    began.elapsed().as_secs_f64() * 1e6
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program for people who measure")]
async fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = ExecutionLog::open_sqlite(folder.path(), Options::default(), Clock::System).await;
    let log = log.expect("the log opens");
    let (few, many) = (crib(8, &log), crib(9_998, &log));
    let nobody = uuid::Uuid::nil();
    let caller = Caller::of_user(nobody, "bench", Role::Admin, Transport::Cli);
    let caller = Arc::new(caller);
    // Call by call in turn, and each goes first as often as the other: what the machine does meanwhile falls
    // on both alike.
    let (mut with_few, mut with_many) = (Vec::new(), Vec::new());
    for i in 0..WARM_UP + CALLS {
        let (few_us, many_us) = if i % 2 == 0 {
            let few_us = timed(&few, &caller, i).await;
            (few_us, timed(&many, &caller, i).await)
        } else {
            let many_us = timed(&many, &caller, i).await;
            (timed(&few, &caller, i).await, many_us)
        };
        if i >= WARM_UP {
            with_few.push(few_us);
            with_many.push(many_us);
        }
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        (values[CALLS / 2] * 10.0).round() / 10.0
    };
    let (few_us, many_us) = (median(with_few), median(with_many));
    let ratio = (many_us / few_us * 1000.0).round() / 1000.0;
    let met = few_us < GOAL_US && many_us < GOAL_US && (0.95..=1.05).contains(&ratio);
    println!(
        "{}",
        json!({"tools_10_us": few_us, "tools_10000_us": many_us, "ratio": ratio,
            "goals": "each under 50 µs, ratio within 5 %", "met": met})
    );
    ExitCode::from(u8::from(!met))
}
