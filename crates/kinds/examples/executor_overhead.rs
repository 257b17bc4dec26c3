//! What the executor adds to a call, in process: verdict, both schemas, deadline, log entry committed. Run with
//! `cargo run --release -p kinds --example executor_overhead`; prints one JSON object.

use catalog::caller::{Caller, Scopes, Transport};
use catalog::catalogue::{Catalogue, Change};
use catalog::clock::Clock;
use catalog::policy::Policy;
use catalog::tool::{Tool, id_from_name};
use executions::{ExecutionLog, Options};
use executor::{CallRequest, Executor, Settings};
use kinds::builtin;
use serde_json::json;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 9;
const CALLS: usize = 2_000;

async fn crib(tools: usize, folder: &std::path::Path) -> Arc<Executor> {
    let shipped = builtin::tools(builtin::Options::default());
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
    let changes = shipped
        .clone()
        .into_iter()
        .chain(more)
        .map(Change::Put)
        .collect();
    let log = ExecutionLog::open_sqlite(folder, Options::default(), Clock::System).await;
    Executor::new(
        Catalogue::default().with(changes),
        Policy::new(true, "serialize_for_cell"),
        kinds::all(builtin::Options::default()),
        log.expect("the log opens"),
        Clock::System,
        Settings::default(),
    )
}

/// The median microseconds of a call, one at a time.
async fn median(executor: &Arc<Executor>, caller: &Arc<Caller>) -> f64 {
    let mut taken = Vec::with_capacity(CALLS);
    for i in 0..CALLS {
        let request = CallRequest {
            tool: "serialize_for_cell".into(),
            arguments: json!({"data": format!("a\u{a0}b{i}")}),
            ..CallRequest::default()
        };
        let began = Instant::now();
        black_box(executor.call(Arc::clone(caller), request).await);
        taken.push(began.elapsed().as_secs_f64() * 1e6);
    }
    taken.sort_by(f64::total_cmp);
    taken[CALLS / 2]
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program for people who measure")]
async fn main() {
    let folders =
        [tempfile::tempdir(), tempfile::tempdir()].map(|f| f.expect("a temporary folder"));
    let few = crib(8, folders[0].path()).await;
    let many = crib(9_998, folders[1].path()).await;
    let caller = Arc::new(Caller {
        user: uuid::Uuid::nil(),
        user_name: "bench".into(),
        key: None,
        agent: None,
        run: None,
        toolset: None,
        transport: Transport::Cli,
        scopes: Scopes::all(),
    });
    let (mut with_few, mut with_many) = (Vec::new(), Vec::new());
    // The first round warms both up and is not counted.
    for round in 0..=ROUNDS {
        let pair = (median(&few, &caller).await, median(&many, &caller).await);
        if round > 0 {
            with_few.push(pair.0);
            with_many.push(pair.1);
        }
    }
    let middle = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        (values[ROUNDS / 2] * 10.0).round() / 10.0
    };
    let (few_us, many_us) = (middle(&mut with_few), middle(&mut with_many));
    let ratio = (many_us / few_us * 1000.0).round() / 1000.0;
    println!(
        "{}",
        json!({"tools_10_us": few_us, "tools_10000_us": many_us, "ratio": ratio})
    );
}
