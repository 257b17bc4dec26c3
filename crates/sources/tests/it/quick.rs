//! SQLite queries that are known to be quick run in place, and keep nobody waiting when they are not any more.

use crate::file::File;
use crate::{call, read, within};
use serde_json::{Value, json};
use sources::{Error, Shape, Source};
use std::time::Duration;

const COUNT: &str = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < :n) SELECT max(i) FROM r";

async fn known(source: &Source, sql: &str, arguments: &Value) {
    // Once to learn of it, and then in place.
    for _ in 0..5 {
        let answer = read(source, sql, arguments.clone(), &call(Shape::Scalar)).await;
        assert!(answer.is_ok(), "{answer:?}");
    }
}

/// What is served by the same thread meanwhile.
async fn others() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}

#[tokio::test]
async fn each_time_the_same() {
    let file = File::new();
    let source = file.source();
    for _ in 0..4 {
        for (id, name) in [(1, "\"ann\""), (2, "\"bob\""), (9, "null")] {
            let sql = "SELECT name FROM people WHERE id = :id";
            let answer = read(&source, sql, json!({"id": id}), &call(Shape::Scalar)).await;
            assert_eq!(answer.unwrap().json, name);
        }
    }
}

#[tokio::test]
async fn one_that_becomes_slow_moves_to_a_thread() {
    let file = File::new();
    let source = file.source();
    known(&source, COUNT, &json!({"n": 5})).await;
    let late = within(Shape::Scalar, Duration::from_millis(600));
    let endless = read(&source, COUNT, json!({"n": 1_000_000_000_000_i64}), &late);
    tokio::pin!(endless);
    tokio::select! {
        biased;
        answer = &mut endless => panic!("{answer:?}"),
        () = others() => {}
    }
    let answer = endless.await;
    assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
    known(&source, COUNT, &json!({"n": 5})).await;
    // More than a try allows is no mistake.
    let large = "SELECT length(hex(zeroblob(:n)))";
    known(&source, large, &json!({"n": 5})).await;
    let answer = read(&source, large, json!({"n": 500_000}), &call(Shape::Scalar)).await;
    assert_eq!(answer.unwrap().json, "1000000");
}

#[tokio::test]
async fn a_lock_is_waited_for_elsewhere() {
    let file = File::new();
    let source = file.source();
    let sql = "SELECT name FROM people WHERE id = :id";
    known(&source, sql, &json!({"id": 1})).await;
    let other = rusqlite::Connection::open(file.path()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let call = call(Shape::Scalar);
    let waits = read(&source, sql, json!({"id": 1}), &call);
    tokio::pin!(waits);
    let began = std::time::Instant::now();
    tokio::select! {
        biased;
        answer = &mut waits => panic!("{answer:?}"),
        () = others() => {}
    }
    // A lock is waited for two seconds.
    assert!(began.elapsed() < Duration::from_millis(1900), "{began:?}");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(waits.await.unwrap().json, "\"ann\"");
}
