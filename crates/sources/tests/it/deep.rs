//! Paths through JSON that are so deep that following them takes more stack than a thread usually has.

use crate::file::File;
use crate::{call, read};
use rusqlite::Connection;
use serde_json::{Value, json};
use sources::{Error, Shape};

fn deep(steps: usize) -> String {
    format!("${}", ".a".repeat(steps))
}

/// Each ended the process once.
#[tokio::test]
async fn a_callers_deep_path_is_followed_or_refused() {
    let file = File::new();
    let source = file.source();
    let query = "SELECT length(json_set('{}', :path, 1)) AS n";
    for steps in [10, 8_000, 32_000] {
        let given = json!({"path": deep(steps)});
        let answer = read(&source, query, given, &call(Shape::Scalar)).await;
        let expected = 6 * steps + 1;
        assert_eq!(answer.unwrap().json, expected.to_string());
    }
    let given = json!({"path": deep(40_000)});
    let answer = read(&source, query, given, &call(Shape::Scalar)).await;
    assert!(matches!(answer, Err(Error::Argument { .. })), "{answer:?}");
}

#[tokio::test]
async fn an_authors_deep_path_is_bounded_too() {
    let file = File::new();
    let source = file.source();
    let query = "SELECT length(json_insert('{}', '$' || replace(hex(zeroblob(250000)), '00', '.a'), 1)) AS n";
    let answer = read(&source, query, Value::Null, &call(Shape::Scalar)).await;
    assert!(
        !matches!(answer, Err(Error::Unavailable { .. })),
        "{answer:?}"
    );
    let longer = query.replace("250000", "4000000");
    let answer = read(&source, &longer, Value::Null, &call(Shape::Scalar)).await;
    assert!(matches!(answer, Err(Error::TooLarge { .. })), "{answer:?}");
}

/// The text does not show what a view does, so it gets no more stack than any other.
#[tokio::test]
async fn a_view_goes_nowhere_deep() {
    let file = File::new();
    let connection = Connection::open(file.path()).unwrap();
    let made = format!(
        "CREATE TABLE paths (path TEXT); INSERT INTO paths VALUES ('{}');
         CREATE VIEW deeper AS SELECT json_set('{{}}', path, 1) AS made FROM paths",
        deep(16_000)
    );
    connection.execute_batch(&made).unwrap();
    drop(connection);
    let source = file.source();
    let answer = read(
        &source,
        "SELECT * FROM deeper",
        Value::Null,
        &call(Shape::Records),
    )
    .await;
    let told = answer.unwrap_err().to_string();
    assert!(told.contains("not authorized"), "{told}");
    let query = "SELECT path FROM paths";
    let answer = read(&source, query, Value::Null, &call(Shape::Records)).await;
    assert_eq!(answer.unwrap().rows, 1);
}
