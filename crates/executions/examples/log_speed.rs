//! How fast the log acknowledges rows: `cargo run --release -p executions --example log_speed [full]`.
//! With TOOLCRIB_TEST_POSTGRES (a database URL) it also measures PostgreSQL, in a schema of its own that it drops.

use catalog::clock::Clock;
use executions::{Durability, Execution, ExecutionLog, Options, Status, new_id};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SPAN: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() {
    let full = std::env::args().any(|argument| argument == "full");
    let durability = if full {
        Durability::Full
    } else {
        Durability::Normal
    };
    let options = Options {
        durability,
        ..Options::default()
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = ExecutionLog::open_sqlite(folder.path(), options.clone(), Clock::System)
        .await
        .expect("the log opens");
    measure(&format!("sqlite {durability:?}"), &log).await;
    log.close().await.expect("the log closes");
    #[expect(
        clippy::disallowed_methods,
        reason = "a measuring program has no configuration"
    )]
    if let Ok(url) = std::env::var("TOOLCRIB_TEST_POSTGRES") {
        measure_postgres(&url, options).await;
    }
}

async fn measure_postgres(url: &str, options: Options) {
    let settings: PgConnectOptions = url.parse().expect("a PostgreSQL URL");
    let settings = settings.options([("search_path", "log_speed")]);
    let pool = PgPoolOptions::new()
        .max_connections(6)
        .connect_with(settings)
        .await
        .expect("PostgreSQL answers");
    let schema = "DROP SCHEMA IF EXISTS log_speed CASCADE; CREATE SCHEMA log_speed";
    sqlx::raw_sql(schema)
        .execute(&pool)
        .await
        .expect("a schema of our own");
    let log = ExecutionLog::open_postgres(pool.clone(), options, Clock::System)
        .await
        .expect("the log opens");
    measure("postgres", &log).await;
    log.close().await.expect("the log closes");
    sqlx::raw_sql("DROP SCHEMA log_speed CASCADE")
        .execute(&pool)
        .await
        .expect("the schema goes");
}

#[expect(clippy::print_stdout, reason = "its output is its purpose")]
async fn measure(engine: &str, log: &ExecutionLog) {
    for callers in [1, 8, 32] {
        let end = Instant::now() + SPAN;
        let tasks: Vec<_> = (0..callers)
            .map(|_| tokio::spawn(call(log.clone(), end)))
            .collect();
        let mut waits = Vec::new();
        for task in tasks {
            waits.extend(task.await.expect("a caller ends"));
        }
        waits.sort_unstable();
        let rate = waits.len() as f64 / SPAN.as_secs_f64();
        let (p50, p99) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
        println!(
            "{engine}: {callers:>2} callers {rate:>8.0} rows/s  p50 {p50:>5} µs  p99 {p99:>5} µs"
        );
    }
}

async fn call(log: ExecutionLog, end: Instant) -> Vec<u128> {
    let (tool, hash): (Arc<str>, Arc<str>) = ("weather.today".into(), "0f".repeat(32).into());
    let mut waits = Vec::new();
    while Instant::now() < end {
        let started_at = Clock::System.now();
        let row = Execution {
            id: new_id(started_at),
            started_at,
            status: Status::Success,
            tool_name: Arc::clone(&tool),
            tool_version: 3,
            tool_hash: Arc::clone(&hash),
            caller: Arc::clone(&tool),
            key: None,
            agent: None,
            run: None,
            toolset: None,
            transport: Cow::Borrowed("rest"),
            error_code: None,
            elapsed_us: 1234,
            node: Arc::clone(&tool),
            arguments: r#"{"city":"Seoul","units":"metric","days":3}"#.to_owned(),
            output: Some(format!("\"{}\"", "x".repeat(200))),
            error: None,
            log_text: None,
            behind: None,
        };
        let asked = Instant::now();
        log.finish(row).await.expect("the row is written");
        waits.push(asked.elapsed().as_micros());
    }
    waits
}
