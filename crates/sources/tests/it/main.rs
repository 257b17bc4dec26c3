//! Sources against real databases: SQLite always, PostgreSQL where TOOLCRIB_TEST_POSTGRES names one.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail loudly and say what it skips"
)]

mod again;
mod attack;
mod cluster;
mod deep;
mod every_type;
mod file;
mod limits;
mod optional;
mod outage;
mod own;
mod pooled;
mod quick;
mod schema;
mod server;
#[path = "../../../store/tests/it/skipping.rs"]
mod skipping;
mod tls;
mod traps;
mod types;
mod writes;

use serde_json::{Map, Value};
use sources::{Answer, Bindings, Call, Error, Shape, Source, Statement};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

fn call(shape: Shape) -> Call {
    within(shape, Duration::from_secs(20))
}

fn within(shape: Shape, time: Duration) -> Call {
    Call {
        tool: "test".into(),
        deadline: Instant::now() + time,
        cancel: CancellationToken::new(),
        shape,
        rows_max: 500,
        bytes_max: 4 * 1024 * 1024,
    }
}

/// The statement of a text, the same one whenever it comes again: what a source learns of it is kept with it.
fn statement(source: &Source, sql: &str) -> Result<Arc<Statement>, Error> {
    static STATEMENTS: LazyLock<Mutex<HashMap<String, Arc<Statement>>>> =
        LazyLock::new(Mutex::default);
    let mut statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = format!("{:?} {sql}", source.engine());
    if let Some(known) = statements.get(&key) {
        return Ok(Arc::clone(known));
    }
    let read = Arc::new(Statement::read(sql, source.engine())?);
    statements.insert(key, Arc::clone(&read));
    Ok(read)
}

/// Runs an author's query with arguments.
async fn read(source: &Source, sql: &str, arguments: Value, call: &Call) -> Result<Answer, Error> {
    let statement = statement(source, sql)?;
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let caller = BTreeMap::new();
    let bindings = Bindings {
        arguments: &arguments,
        caller: &caller,
    };
    source.read(&statement, &bindings, call).await
}

async fn write(source: &Source, sql: &str, arguments: Value, call: &Call) -> Result<Answer, Error> {
    let statement = Statement::read(sql, source.engine())?;
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let caller = BTreeMap::new();
    let bindings = Bindings {
        arguments: &arguments,
        caller: &caller,
    };
    source.write(&statement, &bindings, call).await
}

async fn json(source: &Source, sql: &str, shape: Shape) -> Value {
    let answer = read(source, sql, Value::Null, &call(shape)).await;
    let answer = answer.unwrap_or_else(|error| panic!("{sql}: {error}"));
    serde_json::from_str(&answer.json).unwrap()
}

fn nothing() -> (Map<String, Value>, BTreeMap<String, Value>) {
    (Map::new(), BTreeMap::new())
}

/// The lines of a list; signs stand for letters that a line cannot hold.
fn lines(text: &str) -> Vec<String> {
    let written = |line: &str| {
        line.replace('␤', "\n")
            .replace('␍', "\r")
            .replace('␀', "\0")
    };
    text.lines().map(written).collect()
}
