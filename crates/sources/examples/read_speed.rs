//! What the guard around a query costs: `SELECT … WHERE id = :id` through a source, beside a bare prepared statement in the
//! same transaction. `cargo run --example read_speed -- [URL OF A POSTGRESQL]`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement fails loudly and prints its figures"
)]

use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, json};
use sources::{
    Bindings, Call, Postgres, PostgresConfig, Shape, Source, Sqlite, SqliteConfig, Statement,
};
use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, NoTls};
use tokio_util::sync::CancellationToken;

const CALLERS: usize = 8;
const CALLS: u32 = 1000;
const ROUNDS: usize = 5;
const SQL: &str = "SELECT id, name, dept FROM read_speed WHERE id = :id";
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 30000";
const ROWS: &str = "CREATE TABLE read_speed (id INTEGER PRIMARY KEY, name TEXT NOT NULL, dept INTEGER);
INSERT INTO read_speed WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 10000)
SELECT i, 'name ' || i, i % 7 FROM r";

/// Calls a second of several callers, the median of some rounds.
async fn measure<F: Future<Output = ()> + Send + 'static>(
    what: &str,
    call: impl Fn(usize, u32) -> F + Clone + Send + 'static,
) -> f64 {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for caller in 0..CALLERS {
            let call = call.clone();
            tasks.spawn(async move {
                for number in 0..CALLS {
                    call(caller, number % 10_000 + 1).await;
                }
            });
        }
        tasks.join_all().await;
        let calls = f64::from(CALLS) * 8.0;
        rounds.push(calls / began.elapsed().as_secs_f64());
    }
    rounds.sort_by(f64::total_cmp);
    let median = rounds[ROUNDS / 2];
    println!("{what:44} {median:8.0} calls/s");
    median
}

async fn through(source: &Source, name: &str) -> f64 {
    let statement = Arc::new(Statement::read(SQL, source.engine()).unwrap());
    let source = source.clone();
    measure(name, move |caller, id| {
        let (source, statement) = (source.clone(), Arc::clone(&statement));
        async move {
            let arguments = Map::from_iter([("id".to_owned(), json!(id))]);
            let bindings = Bindings {
                arguments: &arguments,
                caller: &BTreeMap::new(),
            };
            let call = Call {
                tool: format!("tool{caller}").into(),
                deadline: tokio::time::Instant::now() + Duration::from_secs(30),
                cancel: CancellationToken::new(),
                shape: Shape::Row,
                rows_max: 500,
                bytes_max: 4 * 1024 * 1024,
            };
            let answer = source.read(&statement, &bindings, &call).await.unwrap();
            assert!(answer.json.starts_with("{\"id\":"), "{}", answer.json);
        }
    })
    .await
}

async fn sqlite(path: &Path) {
    Connection::open(path).unwrap().execute_batch(ROWS).unwrap();
    let source = Source::Sqlite(Sqlite::open(SqliteConfig::new(path)).unwrap());
    let ours = through(&source, "SQLite, through a source").await;
    let connections: Vec<_> = (0..CALLERS)
        .map(|_| {
            let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
            Arc::new(std::sync::Mutex::new(opened.unwrap()))
        })
        .collect();
    let connections = Arc::new(connections);
    let bare = measure("SQLite, bare, on a blocking thread", move |caller, id| {
        let connection = Arc::clone(&connections[caller]);
        async move {
            let read = move || {
                let connection = connection.lock().unwrap();
                let mut statement = connection
                    .prepare_cached(&SQL.replace(":id", "?1"))
                    .unwrap();
                let row = statement.query_row([id], |row| {
                    let (id, name, dept): (i64, String, i64) =
                        (row.get(0)?, row.get(1)?, row.get(2)?);
                    Ok(json!({"id": id, "name": name, "dept": dept}).to_string())
                });
                assert!(row.unwrap().contains("name"));
            };
            tokio::task::spawn_blocking(read).await.unwrap();
        }
    })
    .await;
    println!("{:44} {:8.2}", "ratio", ours / bare);
}

async fn connect(url: &str) -> Client {
    let (client, driver) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}

async fn postgres(url: &str) {
    let admin = connect(url).await;
    let fresh = format!("DROP TABLE IF EXISTS read_speed; {ROWS}");
    admin.batch_execute(&fresh).await.unwrap();
    let config = PostgresConfig {
        allow_superuser: true,
        ..PostgresConfig::new(url)
    };
    let source = Source::Postgres(Postgres::open(config).unwrap());
    let ours = through(&source, "PostgreSQL, through a source").await;
    let mut clients = Vec::new();
    for _ in 0..CALLERS {
        let client = connect(url).await;
        let statement = client.prepare(&SQL.replace(":id", "$1")).await.unwrap();
        clients.push((client, statement));
    }
    let clients = Arc::new(clients);
    let shared = Arc::clone(&clients);
    let serial = measure(
        "PostgreSQL, bare, one after the other",
        move |caller, id| {
            let clients = Arc::clone(&shared);
            async move {
                let (client, statement) = &clients[caller];
                client.batch_execute(BEGIN).await.unwrap();
                let row = client
                    .query_one(statement, &[&i32::try_from(id).unwrap()])
                    .await;
                shown(&row.unwrap());
                client.batch_execute("ROLLBACK").await.unwrap();
            }
        },
    )
    .await;
    let piped = measure("PostgreSQL, bare, all in one go", move |caller, id| {
        let clients = Arc::clone(&clients);
        async move {
            let (client, statement) = &clients[caller];
            let id = i32::try_from(id).unwrap();
            let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 1] = [&id];
            let (began, row, ended) = tokio::join!(
                biased;
                client.batch_execute(BEGIN),
                client.query_one(statement, &parameters),
                client.batch_execute("ROLLBACK"),
            );
            began.and(ended).unwrap();
            shown(&row.unwrap());
        }
    })
    .await;
    println!(
        "{:44} {:8.2}",
        "ratio to one after the other",
        ours / serial
    );
    println!("{:44} {:8.2}", "ratio to all in one go", ours / piped);
    admin.batch_execute("DROP TABLE read_speed").await.unwrap();
}

fn shown(row: &tokio_postgres::Row) {
    let (id, name, dept): (i32, &str, i32) = (row.get(0), row.get(1), row.get(2));
    let text = json!({"id": id, "name": name, "dept": dept}).to_string();
    assert!(text.contains("name"));
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    sqlite(&folder.path().join("speed.db")).await;
    match std::env::args().nth(1) {
        Some(url) => postgres(&url).await,
        None => println!("PostgreSQL is left out: no URL was given"),
    }
}
