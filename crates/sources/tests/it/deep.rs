//! Paths through JSON that are so deep that following them takes more stack than a thread usually has.

use crate::file::File;
use crate::{call, read, write};
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

/// Nobody is asked about what tables and triggers do, and no text tells of it: each of these ended the process.
#[tokio::test]
async fn what_a_file_does_by_itself_has_room() {
    let file = File::new();
    let source = file.source();
    let query = "SELECT count(*) FROM people";
    for _ in 0..3 {
        let answer = read(&source, query, Value::Null, &call(Shape::Scalar)).await;
        assert_eq!(answer.unwrap().json, "3");
    }
    // Made while the source is open.
    let connection = Connection::open(file.path()).unwrap();
    let made = format!(
        "CREATE TABLE paths (path TEXT); INSERT INTO paths VALUES ('{}');
         ALTER TABLE paths ADD COLUMN made AS (json_set('{{}}', path, 1));
         CREATE TABLE docs (doc TEXT);
         CREATE TRIGGER filled AFTER INSERT ON badges
         BEGIN INSERT INTO docs VALUES (json_insert('{{}}', new.label, 1)); END",
        deep(16_000)
    );
    connection.execute_batch(&made).unwrap();
    let query = "SELECT length(made) FROM paths";
    for _ in 0..3 {
        let answer = read(&source, query, Value::Null, &call(Shape::Scalar)).await;
        assert_eq!(answer.unwrap().json, "96001");
        let answer = source.ask(query, &call(Shape::Scalar)).await;
        assert_eq!(answer.unwrap().json, "96001");
    }
    let insert = "INSERT INTO badges (person, label) VALUES (1, :path)";
    let given = json!({"path": deep(16_000)});
    let answer = write(&source, insert, given, &call(Shape::Records)).await;
    assert!(answer.is_ok(), "{answer:?}");
    let insert = "INSERT INTO paths (path) VALUES (:path)";
    let given = json!({"path": deep(400_000)});
    let answer = write(&source, insert, given, &call(Shape::Records)).await;
    assert!(matches!(answer, Err(Error::TooLarge { .. })), "{answer:?}");
}

/// A text that is known to be quick is tried where its caller is, where there is less stack than on a thread of its own.
#[tokio::test]
async fn what_was_quick_before_the_file_went_deep_has_room() {
    let file = File::new();
    let connection = Connection::open(file.path()).unwrap();
    let table = format!(
        "CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT); INSERT INTO paths VALUES (1, '{}')",
        deep(16_000)
    );
    connection.execute_batch(&table).unwrap();
    let source = file.source();
    let query = "SELECT * FROM paths WHERE id = :id";
    let members = async || {
        let answer = read(&source, query, json!({"id": 1}), &call(Shape::Row)).await;
        let row: Value = serde_json::from_str(&answer.unwrap().json).unwrap();
        row.as_object().unwrap().len()
    };
    for _ in 0..5 {
        assert_eq!(members().await, 2);
    }
    let deeper = "ALTER TABLE paths ADD COLUMN made AS (json_set('{}', path, 1))";
    connection.execute_batch(deeper).unwrap();
    for _ in 0..20 {
        assert_eq!(members().await, 3);
    }
}
