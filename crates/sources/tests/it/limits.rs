//! Caps, deadlines, cancellation, fair shares, lost connections.

use crate::file::File;
use crate::server::Server;
use crate::{call, json, read, within};
use serde_json::Value;
use sources::{Call, Error, Postgres, PostgresConfig, Shape, Source, Sqlite, SqliteConfig};
use std::time::{Duration, Instant};

#[tokio::test]
async fn rows_and_bytes_are_capped() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.reader);
    let many = "SELECT i, 'abcdefghij' AS t FROM generate_series(1, 1000000) g(i)";
    let answer = read(&source, many, Value::Null, &call(Shape::Records))
        .await
        .unwrap();
    assert_eq!((answer.rows, answer.truncated), (500, true));
    let exact = "SELECT i FROM generate_series(1, 500) g(i)";
    let answer = read(&source, exact, Value::Null, &call(Shape::Records))
        .await
        .unwrap();
    assert_eq!((answer.rows, answer.truncated), (500, false));
    let wide = "SELECT repeat('x', 100000) AS t FROM generate_series(1, 1000)";
    let small = Call {
        bytes_max: 1_000_000,
        ..call(Shape::Records)
    };
    let answer = read(&source, wide, Value::Null, &small).await.unwrap();
    assert_eq!((answer.rows, answer.truncated), (9, true));
    assert!(answer.json.len() <= 1_000_000);
    let huge = "SELECT repeat('x', 50000000)";
    for shape in [Shape::Records, Shape::Scalar] {
        let answer = read(&source, huge, Value::Null, &call(shape)).await;
        assert!(matches!(answer, Err(Error::TooLarge { .. })), "{answer:?}");
    }
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    server.end().await;
}

#[tokio::test]
async fn a_query_past_its_deadline_is_gone_from_the_server() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.reader);
    for sql in [
        "SELECT pg_sleep(60)",
        "SELECT count(*) FROM generate_series(1, 100000000000)",
    ] {
        let asked = Instant::now();
        let late = within(Shape::Scalar, Duration::from_millis(400));
        let answer = read(&source, sql, Value::Null, &late).await;
        assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
        assert!(asked.elapsed() < Duration::from_secs(20));
        server.until(&server.reader, "_toolcrib", 0).await;
    }
    server.end().await;
}

#[tokio::test]
async fn whoever_goes_away_leaves_nothing_running() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.reader);
    let sleeps = call(Shape::Scalar);
    let asked = tokio::spawn({
        let (source, sleeps) = (source.clone(), sleeps.clone());
        async move { read(&source, "SELECT pg_sleep(15)", Value::Null, &sleeps).await }
    });
    server.until(&server.reader, "FETCH", 1).await;
    sleeps.cancel.cancel();
    assert!(matches!(asked.await.unwrap(), Err(Error::Cancelled)));
    server.until(&server.reader, "FETCH", 0).await;
    let dropped = tokio::spawn({
        let source = source.clone();
        async move {
            read(
                &source,
                "SELECT pg_sleep(15)",
                Value::Null,
                &call(Shape::Scalar),
            )
            .await
        }
    });
    server.until(&server.reader, "FETCH", 1).await;
    dropped.abort();
    server.until(&server.reader, "FETCH", 0).await;
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    server.end().await;
}

/// Goes on until nobody holds the lock any more, whoever asks it to stop.
const STUBBORN: &str = "CREATE FUNCTION stubborn() RETURNS int LANGUAGE plpgsql AS $f$
BEGIN
  LOOP
    BEGIN
      PERFORM pg_sleep(0.02);
      EXIT WHEN NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 99);
    EXCEPTION WHEN query_canceled THEN NULL;
    END;
  END LOOP;
  RETURN 1;
END $f$";

#[tokio::test]
async fn what_cannot_be_stopped_keeps_its_place() {
    let Some(server) = Server::start().await else {
        return;
    };
    server.as_owner(STUBBORN).await;
    let lock = "SELECT pg_advisory_lock(99)";
    server.admin.batch_execute(lock).await.unwrap();
    let source = server.one_connection(&server.reader);
    let sql = "SELECT stubborn()";
    let first = call(Shape::Scalar);
    let asked = tokio::spawn({
        let (source, first) = (source.clone(), first.clone());
        async move { read(&source, sql, Value::Null, &first).await }
    });
    server.until(&server.reader, "FETCH", 1).await;
    first.cancel.cancel();
    assert!(matches!(asked.await.unwrap(), Err(Error::Cancelled)));
    for _ in 0..3 {
        let late = within(Shape::Scalar, Duration::from_millis(300));
        let answer = read(&source, sql, Value::Null, &late).await;
        assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
        assert_eq!(server.running(&server.reader, "FETCH").await, 1);
    }
    let unlock = "SELECT pg_advisory_unlock(99)";
    server.admin.batch_execute(unlock).await.unwrap();
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    assert_eq!(server.running(&server.reader, "FETCH").await, 0);
    server.end().await;
}

#[tokio::test]
async fn sleepers_of_one_tool_do_not_delay_another() {
    let Some(server) = Server::start().await else {
        return;
    };
    let config = PostgresConfig {
        connections_min: 1,
        connections_max: 8,
        ..server.config(&server.reader)
    };
    let source = Source::Postgres(Postgres::open(config).unwrap());
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    let sleepers: Vec<_> = (0..8)
        .map(|_| {
            let source = source.clone();
            tokio::spawn(async move {
                let sleeps = Call {
                    tool: "sleeper".into(),
                    ..call(Shape::Scalar)
                };
                read(&source, "SELECT pg_sleep(10)", Value::Null, &sleeps).await
            })
        })
        .collect();
    server.until(&server.reader, "FETCH", 4).await;
    let asked = Instant::now();
    for _ in 0..20 {
        assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    }
    assert!(
        asked.elapsed() < Duration::from_secs(8),
        "{:?}",
        asked.elapsed()
    );
    assert!(server.connections(&server.reader).await <= 8);
    for sleeper in sleepers {
        sleeper.abort();
    }
    server.until(&server.reader, "FETCH", 0).await;
    server.end().await;
}

#[tokio::test]
async fn a_connection_that_died_unseen_is_replaced() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.reader);
    for _ in 0..5 {
        assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1";
        server.admin.execute(kill, &[&server.reader]).await.unwrap();
    }
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    server.end().await;
}

#[tokio::test]
async fn nobody_home_is_told_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("postgres://u:p@127.0.0.1:{port}/db");
    let silent = Source::Postgres(Postgres::open(PostgresConfig::new(url)).unwrap());
    let asked = Instant::now();
    let answer = read(
        &silent,
        "SELECT 1",
        Value::Null,
        &within(Shape::Scalar, Duration::from_millis(300)),
    )
    .await;
    assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
    assert!(asked.elapsed() < Duration::from_secs(10));
    assert!(!silent.is_untried() && silent.failure().is_some());
    drop(listener);
    let answer = read(&silent, "SELECT 1", Value::Null, &call(Shape::Scalar)).await;
    assert!(
        matches!(answer, Err(Error::Unavailable { .. })),
        "{answer:?}"
    );
}

#[tokio::test]
async fn superusers_are_refused_unless_wanted() {
    let Some(server) = Server::start().await else {
        return;
    };
    let answer = read(
        &server.source("postgres"),
        "SELECT 1",
        Value::Null,
        &call(Shape::Scalar),
    )
    .await;
    let error = answer.unwrap_err().to_string();
    assert!(
        error.contains("superuser") && error.contains("postgres"),
        "{error}"
    );
    let config = PostgresConfig {
        allow_superuser: true,
        ..server.config("postgres")
    };
    let source = Source::Postgres(Postgres::open(config).unwrap());
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    server.end().await;
}

#[tokio::test]
async fn sqlite_keeps_its_deadline_and_its_shares() {
    let file = File::new();
    let config = SqliteConfig {
        connections_max: 4,
        ..SqliteConfig::new(file.path())
    };
    let source = Source::Sqlite(Sqlite::open(config).unwrap());
    let endless =
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r";
    let asked = Instant::now();
    let answer = read(
        &source,
        endless,
        Value::Null,
        &within(Shape::Scalar, Duration::from_millis(300)),
    )
    .await;
    assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
    assert!(asked.elapsed() < Duration::from_secs(10));
    let busy: Vec<_> = (0..4)
        .map(|_| {
            let source = source.clone();
            let endless_call = Call {
                tool: "endless".into(),
                ..call(Shape::Scalar)
            };
            tokio::spawn(async move { read(&source, endless, Value::Null, &endless_call).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let answer = read(
        &source,
        "SELECT 1",
        Value::Null,
        &within(Shape::Scalar, Duration::from_secs(5)),
    )
    .await;
    assert_eq!(answer.unwrap().json, "1");
    for task in busy {
        task.abort();
    }
}

#[tokio::test]
async fn our_own_file_is_no_source() {
    let file = File::new();
    let link = file.folder().join("link.db");
    std::os::unix::fs::symlink(file.path(), &link).unwrap();
    let config = SqliteConfig {
        forbidden: vec![file.path()],
        ..SqliteConfig::new(&link)
    };
    let error = Sqlite::open(config).unwrap_err().to_string();
    assert!(error.contains("our own"), "{error}");
    let config = SqliteConfig {
        forbidden: vec![file.folder().to_owned()],
        ..SqliteConfig::new(file.path())
    };
    let error = Sqlite::open(config).unwrap_err().to_string();
    assert!(error.contains("a folder of our own"), "{error}");
    let other = file.folder().join("notes.db");
    std::fs::write(
        &other,
        "{\"tools\": []} is no database, however long it is".repeat(20),
    )
    .unwrap();
    let error = Sqlite::open(SqliteConfig::new(&other)).unwrap_err();
    assert!(error.to_string().contains("no SQLite database"), "{error}");
    for path in [
        file.folder().to_owned(),
        "/no/such/file".into(),
        ":memory:".into(),
    ] {
        let error = Sqlite::open(SqliteConfig::new(&path)).unwrap_err();
        assert!(
            !error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
    }
}

#[tokio::test]
async fn where_a_file_is_callers_are_not_told() {
    let file = File::new();
    let source = file.source();
    let count = "SELECT count(*) FROM people";
    assert_eq!(json(&source, count, Shape::Scalar).await, 3);
    let folder = file.folder().to_str().unwrap();
    let moved = file.folder().join("moved.db");
    std::fs::rename(file.path(), &moved).unwrap();
    let gone = source.ask(count, &call(Shape::Scalar)).await.unwrap_err();
    assert!(matches!(gone, Error::Source { .. }), "{gone:?}");
    assert!(!gone.to_string().contains(folder), "{gone}");
    let written = crate::write(
        &source,
        "DELETE FROM people",
        Value::Null,
        &call(Shape::Row),
    )
    .await;
    let gone = written.unwrap_err().to_string();
    assert!(!gone.contains(folder), "{gone}");
    // What is there now is no database.
    std::fs::write(file.path(), "x".repeat(4096)).unwrap();
    let other = source.ask(count, &call(Shape::Scalar)).await.unwrap_err();
    assert!(!other.to_string().contains(folder), "{other}");
    std::fs::rename(&moved, file.path()).unwrap();
    assert_eq!(json(&source, count, Shape::Scalar).await, 3);
}
