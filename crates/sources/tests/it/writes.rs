//! Statements that may write, and plans of those that do not.

use crate::file::File;
use crate::server::Server;
use crate::{call, json, nothing, within, write};
use serde_json::{Value, json as value};
use sources::{Bindings, Error, Shape, Source, Sqlite, SqliteConfig, Statement};
use std::time::Duration;

/// What a statement does is counted, and not what triggers and keys do beside it.
#[tokio::test]
async fn rows_of_triggers_are_not_counted() {
    let file = File::new();
    let connection = rusqlite::Connection::open(file.path()).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE noted (what TEXT);
             CREATE TRIGGER notes AFTER INSERT ON badges BEGIN
               INSERT INTO noted VALUES ('a'), ('b'), ('c'); END;
             CREATE VIEW labels AS SELECT what FROM noted;
             CREATE TRIGGER labelled INSTEAD OF INSERT ON labels BEGIN
               INSERT INTO noted VALUES (new.what); END",
        )
        .unwrap();
    let source = file.source();
    let records = call(Shape::Records);
    let touched = async |sql: &str| {
        let answer = write(&source, sql, Value::Null, &records).await;
        answer
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
            .affected
    };
    let insert = "INSERT INTO badges (id, person, label) VALUES (1, 1, 'x'), (2, 1, 'y')";
    assert_eq!(touched(insert).await, Some(2));
    // A view has nothing but its trigger.
    assert_eq!(touched("INSERT INTO labels VALUES ('l')").await, Some(1));
    // Nothing, and not what was before.
    assert_eq!(
        touched("UPDATE badges SET label = 'z' WHERE id = 99").await,
        Some(0)
    );
    assert_eq!(touched("DELETE FROM badges WHERE id = 1").await, Some(1));
}

/// The database looks at rights only when it is about to run something, which nobody wants of a tool that is stored.
#[tokio::test]
async fn a_right_that_is_missing_is_told_before_anything_runs() {
    let Some(server) = Server::start().await else {
        return;
    };
    for (role, may) in [(&server.reader, false), (&server.owner, true)] {
        let source = server.source(role);
        let insert = "INSERT INTO badges (id, person, label) VALUES (:id, :person, :label)";
        let statement = Statement::read(insert, source.engine()).unwrap();
        let looked = source
            .look_at_write(&statement, &call(Shape::Records))
            .await;
        match looked {
            Err(Error::Database { code, .. }) => assert_eq!((code.as_str(), may), ("42501", false)),
            looked => assert!(looked.is_ok() && may, "{looked:?}"),
        }
        // The session is as it was: the same can be looked at again, and nothing was written.
        let again = source
            .look_at_write(&statement, &call(Shape::Records))
            .await;
        assert_eq!(again.is_ok(), may, "{again:?}");
        let rows = json(&source, "SELECT count(*) FROM badges", Shape::Scalar).await;
        assert_eq!(rows, 0);
    }
    server.end().await;
}

async fn both_ways(source: &Source) {
    let records = call(Shape::Records);
    let insert = "INSERT INTO badges (id, person, label) VALUES (:id, :person, :label)";
    let one = value!({"id": 1, "person": 1, "label": "it's"});
    let answer = write(source, insert, one, &records).await.unwrap();
    assert_eq!(
        (answer.json.as_str(), answer.affected),
        (r#"{"affected_rows":1}"#, Some(1))
    );
    let returning = "UPDATE badges SET label = :label WHERE id = :id RETURNING id, label";
    let answer = write(
        source,
        returning,
        value!({"id": 1, "label": "new"}),
        &records,
    )
    .await
    .unwrap();
    assert_eq!(answer.json, r#"[{"id":1,"label":"new"}]"#);
    // A key that points nowhere: nothing of the statement stays, and the connection is as before.
    let broken = value!({"id": 2, "person": 99, "label": "x"});
    assert!(write(source, insert, broken, &records).await.is_err());
    assert_eq!(
        json(source, "SELECT count(*) FROM badges", Shape::Scalar).await,
        1
    );
    for sql in [
        "COMMIT",
        "BEGIN",
        "DROP TABLE badges",
        "PRAGMA user_version = 1",
        "SET ROLE x",
        "VACUUM",
    ] {
        assert!(
            write(source, sql, Value::Null, &records).await.is_err(),
            "{sql}"
        );
    }
    // What reads cannot write, even if it is asked to.
    let (arguments, caller) = nothing();
    let bindings = Bindings {
        arguments: &arguments,
        caller: &caller,
    };
    let statement = Statement::read("DELETE FROM badges", source.engine()).unwrap();
    assert!(source.read(&statement, &bindings, &records).await.is_err());
    assert_eq!(
        json(source, "SELECT count(*) FROM badges", Shape::Scalar).await,
        1
    );
    let statement = Statement::read("SELECT * FROM people WHERE id = 1", source.engine()).unwrap();
    let plan = source
        .explain(&statement, &bindings, &records)
        .await
        .unwrap();
    assert!(
        serde_json::from_str::<Value>(&plan.json)
            .unwrap()
            .is_array(),
        "{}",
        plan.json
    );
    let statement = Statement::read("DELETE FROM badges", source.engine()).unwrap();
    drop(source.explain(&statement, &bindings, &records).await);
    assert_eq!(
        json(source, "SELECT count(*) FROM badges", Shape::Scalar).await,
        1
    );
}

#[tokio::test]
async fn sqlite_is_written_in_one_transaction() {
    let file = File::new();
    both_ways(&file.source()).await;
}

#[tokio::test]
async fn a_write_that_was_answered_as_late_is_not_made_afterwards() {
    let file = File::new();
    // One place only: who comes next waits until the thread of the one before has ended.
    let config = SqliteConfig {
        connections_max: 1,
        ..SqliteConfig::new(file.path())
    };
    let source = Source::Sqlite(Sqlite::open(config).unwrap());
    let other = rusqlite::Connection::open(file.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let insert = "INSERT INTO badges (id, person) VALUES (1, 1)";
    let late = within(Shape::Records, Duration::from_millis(200));
    let answer = write(&source, insert, Value::Null, &late).await;
    assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
    let cancelled = call(Shape::Records);
    let asked = tokio::spawn({
        let (source, cancelled) = (source.clone(), cancelled.clone());
        async move { write(&source, insert, Value::Null, &cancelled).await }
    });
    tokio::task::yield_now().await;
    cancelled.cancel.cancel();
    let answer = asked.await.unwrap();
    assert!(matches!(answer, Err(Error::Cancelled)), "{answer:?}");
    other.execute_batch("ROLLBACK").unwrap();
    let rows = json(&source, "SELECT count(*) FROM badges", Shape::Scalar).await;
    assert_eq!(rows, 0);
    // Nothing is left of it: the next one is made.
    let answer = write(&source, insert, Value::Null, &call(Shape::Records)).await;
    assert_eq!(answer.unwrap().affected, Some(1));
}

#[tokio::test]
async fn postgres_is_written_in_one_transaction() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.owner);
    both_ways(&source).await;
    let types = "INSERT INTO badges (id, label) VALUES (5, 'a') RETURNING id::int8 AS i, 1.50::numeric AS n, true AS b, \
                 timestamptz '2024-01-02 03:04:05.5+00' AS t, date '2024-02-29' AS d, '{\"a\": 1}'::jsonb AS j, \
                 '\\x00ff'::bytea AS y, 'a1b2c3d4-0000-0000-0000-000000000001'::uuid AS u, 'ok'::mood AS m, NULL::int AS z, \
                 1.25::float8 AS f";
    let answer = write(&source, types, Value::Null, &call(Shape::Row))
        .await
        .unwrap();
    let row: Value = serde_json::from_str(&answer.json).unwrap();
    assert_eq!(
        row,
        value!({"i": 5, "n": 1.50, "b": true, "t": "2024-01-02T03:04:05.5+00:00", "d": "2024-02-29", "j": {"a": 1},
            "y": "\\x00ff", "u": "a1b2c3d4-0000-0000-0000-000000000001", "m": "ok", "z": null, "f": 1.25})
    );
    let strange = "INSERT INTO badges (id) VALUES (6) RETURNING interval '1 day' AS i";
    let error = write(&source, strange, Value::Null, &call(Shape::Row))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("i::text"), "{error}");
    assert_eq!(
        json(
            &source,
            "SELECT count(*) FROM badges WHERE id = 6",
            Shape::Scalar
        )
        .await,
        0
    );
    // The least role cannot write whatever it is told.
    let reader = server.source(&server.reader);
    assert!(
        write(
            &reader,
            "DELETE FROM people",
            Value::Null,
            &call(Shape::Row)
        )
        .await
        .is_err()
    );
    server.end().await;
}
