//! Queries that come again are prepared: they answer the same as by a cursor, and are held to reading just the same.

use crate::server::Server;
use crate::{call, every_type, json, read, within, write};
use serde_json::{Value, json as value};
use sources::{Error, Postgres, PostgresConfig, Shape, Source};
use std::time::Duration;

/// How many statements with this text the only session of a source keeps.
async fn kept(source: &Source, text: &str) -> Value {
    let sql = format!(
        "SELECT count(*) FROM pg_prepared_statements WHERE position('{text}' IN statement) = 1"
    );
    json(source, &sql, Shape::Scalar).await
}

#[tokio::test]
async fn every_value_is_the_same_each_time() {
    let Some(server) = Server::start().await else {
        return;
    };
    server.as_owner(every_type::SETUP).await;
    let source = server.one_connection(&server.reader);
    for value in every_type::values() {
        let sql = format!("SELECT {value} AS v, NULL AS n");
        let first = json(&source, &sql, Shape::Row).await;
        for _ in 0..2 {
            assert_eq!(json(&source, &sql, Shape::Row).await, first, "{sql}");
        }
    }
    // One of a type that is read in its binary form, and one of a type that is not.
    assert_eq!(kept(&source, "SELECT -5::int4").await, 1);
    assert_eq!(kept(&source, "SELECT ''(1,2)''::point").await, 0);
    server.end().await;
}

#[tokio::test]
async fn times_keep_the_zone_of_the_session() {
    let Some(server) = Server::start().await else {
        return;
    };
    let reader = &server.reader;
    let zone = format!("ALTER ROLE {reader} SET timezone = 'Asia/Seoul'");
    server.admin.batch_execute(&zone).await.unwrap();
    let source = server.one_connection(reader);
    for _ in 0..3 {
        let sql = "SELECT '2024-01-02 03:04:05+00'::timestamptz";
        let time = json(&source, sql, Shape::Scalar).await;
        assert_eq!(time, "2024-01-02T12:04:05+09:00");
    }
    server.end().await;
}

#[tokio::test]
async fn a_catalog_that_cannot_be_read_keeps_no_author_from_reading() {
    let Some(server) = Server::start().await else {
        return;
    };
    let hide = "REVOKE SELECT ON pg_catalog.pg_operator FROM PUBLIC";
    server.admin.batch_execute(hide).await.unwrap();
    let source = server.one_connection(&server.reader);
    for _ in 0..3 {
        assert_eq!(json(&source, "SELECT 40 + 2", Shape::Scalar).await, 42);
    }
    // Whoever writes the text at the call is told that nothing is known of it.
    assert!(source.ask("SELECT 1", &call(Shape::Scalar)).await.is_err());
    server.end().await;
}

#[tokio::test]
async fn tables_may_change_under_a_query() {
    let Some(server) = Server::start().await else {
        return;
    };
    let reader = &server.reader;
    let source = server.one_connection(reader);
    let make =
        format!("CREATE TABLE t (a int); INSERT INTO t VALUES (1); GRANT SELECT ON t TO {reader}");
    server.as_owner(&make).await;
    let sql = "SELECT * FROM t";
    for (change, expected) in [
        ("", value!([{"a": 1}])),
        (
            "ALTER TABLE t ADD b text DEFAULT 'x'",
            value!([{"a": 1, "b": "x"}]),
        ),
        (
            "ALTER TABLE t ALTER a TYPE text USING 'y'",
            value!([{"a": "y", "b": "x"}]),
        ),
        (
            "ALTER TABLE t RENAME b TO c",
            value!([{"a": "y", "c": "x"}]),
        ),
    ] {
        server.as_owner(change).await;
        for _ in 0..3 {
            assert_eq!(json(&source, sql, Shape::Records).await, expected);
        }
    }
    server.as_owner("DROP TABLE t").await;
    let gone = read(&source, sql, Value::Null, &call(Shape::Records)).await;
    assert!(
        matches!(&gone, Err(Error::Database { code, .. }) if code == "42P01"),
        "{gone:?}"
    );
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    server.end().await;
}

#[tokio::test]
async fn more_rows_than_before_are_capped() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.one_connection(&server.reader);
    let sql = "SELECT i, repeat('x', 1000) AS x FROM generate_series(1, :n) g(i)";
    for (shape, shown) in [(Shape::Records, 500), (Shape::Row, 1)] {
        for count in [0, 1, 1, 1, 5_000_000, 1, 5_000_000] {
            let answer = read(&source, sql, value!({"n": count}), &call(shape)).await;
            let answer = answer.unwrap();
            let expected = u64::min(count, shown);
            assert_eq!((answer.rows, count), (expected, count));
            assert_eq!(answer.truncated, shape == Shape::Records && count > shown);
        }
    }
    // Closing a connection in the middle of its rows takes a moment at the server.
    server.until(&server.reader, "generate_series", 0).await;
    assert!(server.connections(&server.reader).await <= 1);
    server.end().await;
}

#[tokio::test]
async fn a_prepared_query_can_no_more_than_another() {
    let Some(server) = Server::start().await else {
        return;
    };
    server
        .as_owner(
            "CREATE FUNCTION maybe(boolean) RETURNS int LANGUAGE plpgsql AS
             'BEGIN IF $1 THEN DELETE FROM people; END IF; RETURN 1; END';
             GRANT EXECUTE ON FUNCTION maybe TO PUBLIC",
        )
        .await;
    for role in [&server.owner, &server.reader] {
        let source = server.one_connection(role);
        let before = server.state().await;
        let sql = "SELECT maybe(:b)";
        for _ in 0..3 {
            let fine = read(&source, sql, value!({"b": false}), &call(Shape::Scalar)).await;
            assert_eq!(fine.unwrap().json, "1");
        }
        assert_eq!(kept(&source, "SELECT maybe").await, 1);
        let wipes = read(&source, sql, value!({"b": true}), &call(Shape::Scalar)).await;
        assert!(
            matches!(&wipes, Err(Error::Database { code, .. }) if code == "25006"),
            "{wipes:?}"
        );
        for _ in 0..3 {
            json(&source, "SELECT pg_try_advisory_lock(5)", Shape::Scalar).await;
            let set = "SELECT set_config('work_mem', '1MB', false)";
            json(&source, set, Shape::Scalar).await;
        }
        // Prepared by now, and nothing after it: a query by a cursor would release the lock.
        json(&source, "SELECT pg_try_advisory_lock(5)", Shape::Scalar).await;
        assert_eq!(server.state().await, before);
        assert_eq!(kept(&source, "SELECT pg_try_advisory_lock").await, 1);
        let work_mem = json(&source, "SELECT current_setting('work_mem')", Shape::Scalar).await;
        assert_ne!(work_mem, "1MB");
        // Locks of sessions are part of the state.
        assert_eq!(server.state().await, before);
    }
    server.end().await;
}

#[tokio::test]
async fn the_server_knows_when_to_stop_a_prepared_query() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.one_connection(&server.owner);
    let sql = "SELECT current_setting('statement_timeout')";
    let asked = async |seconds| {
        let call = within(Shape::Scalar, Duration::from_secs(seconds));
        read(&source, sql, Value::Null, &call).await.unwrap().json
    };
    for _ in 0..3 {
        asked(20).await;
    }
    for (seconds, shown) in [(20, "\"20s\""), (40, "\"40s\""), (20, "\"20s\"")] {
        assert_eq!(asked(seconds).await, shown);
    }
    // What an author who writes leaves behind in the session does not count.
    let unset = "SELECT set_config('statement_timeout', '0', false)";
    let left = write(&source, unset, Value::Null, &call(Shape::Scalar)).await;
    assert_eq!(left.unwrap().json, "\"0\"");
    assert_eq!(asked(20).await, "\"20s\"");
    assert_eq!(kept(&source, "SELECT current_setting").await, 1);
    let paths = "SELECT concat_ws(' ', current_setting('search_path'), current_setting('jit'), current_user)";
    let path = json(&source, paths, Shape::Scalar).await;
    let set = "SELECT set_config('search_path', 'pg_temp', false), set_config('jit', 'on', false)";
    let left = write(&source, set, Value::Null, &call(Shape::Row)).await;
    assert!(left.is_ok(), "{left:?}");
    assert_eq!(json(&source, paths, Shape::Scalar).await, path);
    server.end().await;
}

#[tokio::test]
async fn a_prepared_query_is_stopped_at_the_server() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.one_connection(&server.reader);
    let sql = "SELECT 1 FROM (SELECT pg_sleep(:s)) AS slept";
    for _ in 0..3 {
        let slept = read(&source, sql, value!({"s": 0}), &call(Shape::Scalar)).await;
        assert_eq!(slept.unwrap().json, "1");
    }
    assert_eq!(kept(&source, "SELECT 1 FROM (SELECT pg_sleep").await, 1);
    let late = within(Shape::Scalar, Duration::from_millis(300));
    let answer = read(&source, sql, value!({"s": 60}), &late).await;
    assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
    server.until(&server.reader, "pg_sleep", 0).await;
    let dropped = tokio::spawn({
        let source = source.clone();
        async move { read(&source, sql, value!({"s": 60}), &call(Shape::Scalar)).await }
    });
    server.until(&server.reader, "pg_sleep", 1).await;
    dropped.abort();
    server.until(&server.reader, "pg_sleep", 0).await;
    let slept = read(&source, sql, value!({"s": 0}), &call(Shape::Scalar)).await;
    assert_eq!(slept.unwrap().json, "1");
    server.end().await;
}

/// A cursor gives text, a prepared query bytes, and so does a write; of none is a number read on the way.
#[tokio::test]
async fn json_keeps_every_digit_on_every_way() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.one_connection(&server.owner);
    let object = r#"{"m": 0.12345678901234567890, "n": 123456789012345678901}"#;
    let small = format!("0.{}1", "0".repeat(399));
    let columns = format!(
        "'{object}'::jsonb AS a, '{object}'::json AS b, '1e-400'::jsonb AS c, 1e-330::numeric AS d"
    );
    let expected = format!(
        r#"{{"a":{object},"b":{object},"c":{small},"d":"0.{}1"}}"#,
        "0".repeat(329)
    );
    let sql = format!("SELECT {columns}");
    for _ in 0..3 {
        let answer = read(&source, &sql, Value::Null, &call(Shape::Row)).await;
        assert_eq!(answer.unwrap().json, expected);
    }
    assert_eq!(kept(&source, "SELECT ''{").await, 1);
    let sql = format!("INSERT INTO badges (id) VALUES (77) RETURNING {columns}");
    let answer = write(&source, &sql, Value::Null, &call(Shape::Row)).await;
    assert_eq!(answer.unwrap().json, expected);
    let array = format!("SELECT ARRAY['{object}'::json]");
    let answer = read(&source, &array, Value::Null, &call(Shape::Scalar)).await;
    assert_eq!(answer.unwrap().json, format!("[{object}]"));
    server.end().await;
}

/// A function that somebody built into the database can leave statements in its session, under the names that the driver
/// gave to those of tools.
#[tokio::test]
async fn what_callers_leave_in_a_session_reaches_no_tool() {
    let Some(server) = Server::start().await else {
        return;
    };
    let forge = "CREATE FUNCTION forge() RETURNS int LANGUAGE plpgsql AS $f$
        DECLARE n text;
        BEGIN
          FOR n IN SELECT name FROM pg_prepared_statements LOOP
            EXECUTE 'DEALLOCATE ' || n;
            EXECUTE 'PREPARE ' || n || ' AS SELECT ''forged''::text';
          END LOOP;
          RETURN 1;
        END $f$";
    server.as_owner(forge).await;
    let honest = "SELECT name FROM people WHERE id = 1";
    for connections_max in [1, 4] {
        let config = PostgresConfig {
            connections_min: 1,
            connections_max,
            functions: vec!["forge".to_owned()],
            ..server.config(&server.reader)
        };
        let source = Source::Postgres(Postgres::open(config).unwrap());
        for _ in 0..3 {
            for _ in 0..3 {
                assert_eq!(json(&source, honest, Shape::Scalar).await, "ann");
            }
            // Of a type that it does not know the driver asks with statements of its own, which are forged as well. The
            // next caller does not notice.
            for asked in [
                "SELECT 'ok'::mood",
                "SELECT forge()",
                "SELECT '(1,x)'::pair",
            ] {
                let answer = source.ask(asked, &call(Shape::Scalar)).await;
                assert!(answer.is_ok(), "{asked}: {answer:?}");
            }
        }
        assert_eq!(json(&source, honest, Shape::Scalar).await, "ann");
        let open = server.connections(&server.reader).await;
        assert!(open <= 4, "{open}");
    }
    server.end().await;
}
