//! Every type as JSON.

use crate::file::File;
use crate::server::Server;
use crate::{call, json, read};
use rusqlite::Connection;
use serde_json::{Value, json as value};
use sources::{Shape, Source};

/// An expression, and what it becomes.
fn postgres_types() -> Vec<(&'static str, Value)> {
    vec![
        ("true", value!(true)),
        ("1::int2", value!(1)),
        ("-5::int4", value!(-5)),
        ("9007199254740992::int8", value!(9_007_199_254_740_992_i64)),
        ("9223372036854775807::int8", value!("9223372036854775807")),
        ("1.5::float4", value!(1.5)),
        ("1e300::float8", value!(1e300)),
        ("'NaN'::float8", value!("NaN")),
        ("'-Infinity'::float4", value!("-Infinity")),
        ("12.50::numeric(10,2)", value!(12.50)),
        (
            "123456789012345678901234567890.5::numeric",
            value!("123456789012345678901234567890.5"),
        ),
        ("'NaN'::numeric", value!("NaN")),
        ("'x'::text", value!("x")),
        ("'x'::char(3)", value!("x  ")),
        ("'x'::varchar", value!("x")),
        ("'x'::\"char\"", value!("x")),
        ("'x'::name", value!("x")),
        ("'\\x00ff'::bytea", value!("\\x00ff")),
        ("date '2024-01-02'", value!("2024-01-02")),
        ("time '03:04:05.5'", value!("03:04:05.5")),
        ("timetz '03:04:05+09'", value!("03:04:05+09")),
        (
            "timestamp '2024-01-02 03:04:05'",
            value!("2024-01-02T03:04:05"),
        ),
        (
            "interval '1 year 2 days 03:00'",
            value!("1 year 2 days 03:00:00"),
        ),
        ("'2024-01-02'::date - '2024-01-01'::date", value!(1)),
        ("'{\"a\": [1, null]}'::json", value!({"a": [1, null]})),
        ("'{\"a\": [1, null]}'::jsonb", value!({"a": [1, null]})),
        ("'null'::jsonb", value!(null)),
        (
            "'a1b2c3d4-0000-0000-0000-000000000001'::uuid",
            value!("a1b2c3d4-0000-0000-0000-000000000001"),
        ),
    ]
}

/// The same for types that hold others, and for what does not come often.
fn more_postgres_types() -> Vec<(&'static str, Value)> {
    vec![
        ("ARRAY[1, 2, NULL]", value!([1, 2, null])),
        ("ARRAY[[1, 2], [3, 4]]", value!([[1, 2], [3, 4]])),
        (
            "ARRAY['a,b', 'c\"d', NULL, '']",
            value!(["a,b", "c\"d", null, ""]),
        ),
        ("'{}'::text[]", value!([])),
        ("'[0:1]={1,2}'::int[]", value!([1, 2])),
        ("ARRAY['{\"a\": 1}'::jsonb]", value!([{"a": 1}])),
        ("ARRAY[true, false]", value!([true, false])),
        (
            "ARRAY[timestamp '2024-01-02 03:04:05']",
            value!(["2024-01-02T03:04:05"]),
        ),
        (
            "ARRAY[9223372036854775807]",
            value!(["9223372036854775807"]),
        ),
        ("inet '10.0.0.1/8'", value!("10.0.0.1/8")),
        ("cidr '10.0.0.0/8'", value!("10.0.0.0/8")),
        ("macaddr '08:00:2b:01:02:03'", value!("08:00:2b:01:02:03")),
        ("int4range(1, 5)", value!("[1,5)")),
        ("'{[1,5)}'::int4multirange", value!("{[1,5)}")),
        ("daterange('2024-01-01', NULL)", value!("[2024-01-01,)")),
        ("B'0101'", value!("0101")),
        ("point(1, 2)", value!("(1,2)")),
        ("box(point(0,0), point(1,1))", value!("(1,1),(0,0)")),
        (
            "ARRAY[box(point(0,0), point(1,1))]",
            value!(["(1,1),(0,0)"]),
        ),
        ("circle(point(0,0), 2)", value!("<(0,0),2>")),
        ("to_tsvector('simple', 'b a')", value!("'a':2 'b':1")),
        ("to_tsquery('simple', 'a & b')", value!("'a' & 'b'")),
        ("'people'::regclass", value!("people")),
        ("'1 2'::int2vector", value!([1, 2])),
        ("ROW(1, 'x')", value!("(1,x)")),
        ("ROW(1, 'x')::pair", value!("(1,x)")),
        ("ARRAY[ROW(1, 'x')::pair]", value!(["(1,x)"])),
        ("'ok'::mood", value!("ok")),
        ("ARRAY['ok', 'sad']::mood[]", value!(["ok", "sad"])),
        ("'$1.50'::money IS NOT NULL", value!(true)),
        ("12345::oid", value!(12345)),
        ("'0/16B3748'::pg_lsn", value!("0/16B3748")),
        ("'10:20:10,14'::pg_snapshot", value!("10:20:10,14")),
        ("'$.a'::jsonpath", value!("$.\"a\"")),
        ("NULL", value!(null)),
        ("'한글 🦀'::text", value!("한글 🦀")),
        ("E'a\\tb\\n\\u0001'", value!("a\tb\n\u{1}")),
    ]
}

#[tokio::test]
async fn every_type_of_postgres_is_json() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.owner);
    let types = postgres_types().into_iter().chain(more_postgres_types());
    for (expression, expected) in types {
        let found = json(&source, &format!("SELECT {expression} AS v"), Shape::Scalar).await;
        assert_eq!(found, expected, "{expression}");
    }
    server.end().await;
}

#[tokio::test]
async fn rows_keep_their_columns_apart_and_parameters_their_types() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.reader);
    let row = json(&source, "SELECT 1 AS a, 2 AS a, 3 AS \"A\"", Shape::Row).await;
    assert_eq!(row, value!({"a": 1, "a_2": 2, "A": 3}));
    let sql = "SELECT id FROM people WHERE id IN (:ids) AND (:dept::int IS NULL OR dept = :dept) AND name = ANY({{names}}) \
               AND :doc::jsonb @> '[1]' ORDER BY id";
    let arguments = value!({"ids": [1, 2, 3], "names": ["ann", "kim"], "doc": [1, 2]});
    let answer = read(&source, sql, arguments, &call(Shape::Records))
        .await
        .unwrap();
    assert_eq!(answer.json, r#"[{"id":1},{"id":3}]"#);
    let hostile = "'; DROP TABLE people; --";
    let answer = read(
        &source,
        "SELECT :a AS a",
        value!({"a": hostile}),
        &call(Shape::Scalar),
    )
    .await;
    assert_eq!(answer.unwrap().json, format!("\"{hostile}\""));
    let many = "SELECT :a::numeric + 1 AS n, :b::date AS d, :c::uuid AS u, :d::text[] AS t, :e::boolean AS b";
    let arguments = value!({"a": "1.5", "b": "2024-01-02", "c": "a1b2c3d4-0000-0000-0000-000000000001", "d": ["x", null], "e": true});
    let answer = read(&source, many, arguments, &call(Shape::Row))
        .await
        .unwrap();
    assert_eq!(
        answer.json,
        r#"{"n":2.5,"d":"2024-01-02","u":"a1b2c3d4-0000-0000-0000-000000000001","t":["x",null],"b":true}"#
    );
    server.end().await;
}

#[tokio::test]
async fn many_rows_of_a_type_nobody_knows_yet() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.owner);
    let sql = "SELECT 'ok'::mood AS m, repeat('x', 5000) AS t FROM generate_series(1, 400)";
    let answer = read(&source, sql, Value::Null, &call(Shape::Records))
        .await
        .unwrap();
    assert_eq!((answer.rows, answer.truncated), (400, false));
    server.end().await;
}

#[tokio::test]
async fn every_type_of_sqlite_is_json() {
    let file = File::new();
    let source = file.source();
    let cases = [
        ("NULL", value!(null)),
        ("1", value!(1)),
        ("9007199254740993", value!("9007199254740993")),
        ("1.5", value!(1.5)),
        ("1.0", value!(1.0)),
        ("9e999", value!("Infinity")),
        ("-9e999", value!("-Infinity")),
        ("'한글 🦀'", value!("한글 🦀")),
        ("x'00ff'", value!("\\x00ff")),
        ("CAST(x'ff41' AS TEXT)", value!("\u{fffd}A")),
        ("json('[1]')", value!("[1]")),
    ];
    for (expression, expected) in cases {
        let found = json(&source, &format!("SELECT {expression}"), Shape::Scalar).await;
        assert_eq!(found, expected, "{expression}");
    }
    let sql = "SELECT id FROM people WHERE id IN (:ids) AND name IN (SELECT value FROM json_each(:names)) AND :none IS NULL AND :yes";
    let arguments = value!({"ids": [1, 2, 3], "names": ["ann", "kim"], "yes": true});
    let answer = read(&source, sql, arguments, &call(Shape::Records))
        .await
        .unwrap();
    assert_eq!(answer.json, r#"[{"id":1},{"id":3}]"#);
    assert_eq!(
        json(&source, "SELECT 1 AS a, 2 AS a", Shape::Row).await,
        value!({"a": 1, "a_2": 2})
    );
}

#[tokio::test]
async fn a_file_that_was_exchanged_is_opened_anew() {
    let file = File::new();
    let source: Source = file.source();
    assert_eq!(
        json(&source, "SELECT count(*) FROM people", Shape::Scalar).await,
        3
    );
    let other = file.folder().join("other.db");
    let connection = Connection::open(&other).unwrap();
    connection
        .execute_batch("CREATE TABLE people (id); INSERT INTO people VALUES (1)")
        .unwrap();
    drop(connection);
    std::fs::rename(&other, file.path()).unwrap();
    // One that is known to be quick may find the old one for a moment more.
    let began = std::time::Instant::now();
    while json(&source, "SELECT count(*) FROM people", Shape::Scalar).await != 1 {
        assert!(began.elapsed().as_secs() < 15);
    }
    assert_eq!(
        json(&source, "SELECT count(*) + 0 FROM people", Shape::Scalar).await,
        1
    );
}

#[tokio::test]
async fn an_rtree_is_read() {
    let file = File::new();
    let source = file.source();
    let near = "SELECT label FROM places WHERE x0 >= 0 AND x1 <= 2";
    let answer = source.ask(near, &call(Shape::Scalar)).await;
    assert_eq!(answer.unwrap().json, "\"home\"");
    // Whoever changes the tables has all connections open theirs again.
    let other = Connection::open(file.path()).unwrap();
    other.execute_batch("CREATE TABLE later (id)").unwrap();
    assert_eq!(json(&source, near, Shape::Scalar).await, "home");
    let add = "INSERT INTO places VALUES (3, 8, 9, 8, 9, 'new')";
    other.execute_batch(add).unwrap();
    let by_key = "SELECT label FROM places WHERE id = 3";
    assert_eq!(json(&source, by_key, Shape::Scalar).await, "new");
    // They are opened without asking the authorizer, and nothing else is.
    for refused in [
        "SELECT label FROM places, sqlite_master",
        "SELECT rtreecheck('main', 'places') FROM places",
    ] {
        let answer = source.ask(refused, &call(Shape::Scalar)).await;
        assert!(answer.is_err(), "{answer:?}");
    }
}
