//! Parameters that may be left out, and what an author is told of a query that cannot be one.

use crate::file::File;
use crate::server::Server;
use crate::{call, read};
use serde_json::{Value, json as value};
use sources::{Error, Shape, Source};

async fn count(source: &Source, column: &str, argument: &Value) -> String {
    let sql = format!("SELECT count(*) FROM things WHERE (:v IS NULL OR {column} = :v)");
    let answer = read(source, &sql, value!({"v": argument}), &call(Shape::Scalar)).await;
    answer
        .unwrap_or_else(|error| panic!("{column}: {error}"))
        .json
}

#[tokio::test]
async fn a_filter_may_be_left_out() {
    let file = File::new();
    let connection = rusqlite::Connection::open(file.path()).unwrap();
    let things =
        "CREATE TABLE things (id int, name text); INSERT INTO things VALUES (1, 'a'), (2, 'b')";
    connection.execute_batch(things).unwrap();
    for (column, wanted) in [("id", value!(1)), ("name", value!("a"))] {
        assert_eq!(count(&file.source(), column, &wanted).await, "1");
        assert_eq!(count(&file.source(), column, &Value::Null).await, "2");
    }
    let Some(server) = Server::start().await else {
        return;
    };
    let things = "CREATE TABLE things (id int, name text, day date, key uuid, amount numeric, flag boolean);
        INSERT INTO things VALUES (1, 'a', '2024-01-02', '00000000-0000-0000-0000-000000000001', 1.5, true),
            (2, 'b', '2024-01-03', '00000000-0000-0000-0000-000000000002', 2.5, false);
        GRANT SELECT ON things TO PUBLIC";
    server.as_owner(things).await;
    let source = server.source(&server.reader);
    for (column, wanted) in [
        ("id", value!(1)),
        ("name", value!("a")),
        ("day", value!("2024-01-02")),
        ("key", value!("00000000-0000-0000-0000-000000000001")),
        ("amount", value!(1.5)),
        ("flag", value!(true)),
    ] {
        // By a cursor first, and then prepared.
        for _ in 0..3 {
            assert_eq!(count(&source, column, &wanted).await, "1", "{column}");
            assert_eq!(count(&source, column, &Value::Null).await, "2", "{column}");
        }
    }
    server.end().await;
}

#[tokio::test]
async fn an_author_is_told_what_is_wrong() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.owner);
    let told = async |sql: &str| match read(&source, sql, Value::Null, &call(Shape::Records)).await
    {
        Err(error @ (Error::Refused { .. } | Error::Database { .. })) => error.to_string(),
        other => panic!("{sql}: {other:?}"),
    };
    for sql in ["DELETE FROM people", "UPDATE people SET name = 'x'"] {
        assert!(told(sql).await.contains("\"write\": true"), "{sql}");
    }
    // No tool may do that, whatever it says of itself.
    let said = told("drop table people").await;
    assert!(
        said.contains("only queries that read") && !said.contains("\"write\""),
        "{said}"
    );
    let hidden = "WITH x AS (DELETE FROM people RETURNING *) SELECT * FROM x";
    let said = told(hidden).await;
    assert!(
        said.contains("only queries that read") && said.contains("\"write\": true"),
        "{said}"
    );
    // The database's own hint is kept apart.
    let call = call(Shape::Records);
    let misspelled = read(&source, "SELECT nmae FROM people", Value::Null, &call).await;
    let error = misspelled.unwrap_err();
    assert_eq!(error.to_string(), "column \"nmae\" does not exist");
    assert!(error.in_full().contains("people.name"), "{error:?}");
    server.end().await;
}

#[tokio::test]
async fn a_value_of_another_type_is_told_by_its_name() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.reader);
    let sql = "SELECT :first::text, name FROM people WHERE id = :id";
    // By a cursor first, and then prepared.
    for id in [
        value!("x"),
        value!(1),
        value!("x"),
        value!(1),
        value!(1e300),
    ] {
        let arguments = value!({"first": "a", "id": id});
        match read(&source, sql, arguments, &call(Shape::Records)).await {
            Ok(_) => assert_eq!(id, 1),
            Err(Error::Argument { name, message }) => {
                assert_eq!(name, "id");
                assert!(message.contains("integer"), "{message}");
                assert_ne!(id, 1);
            }
            Err(other) => panic!("{id}: {other:?}"),
        }
    }
    // A value of the table that is no number is not the caller's fault.
    let sql = "SELECT name::int FROM people WHERE id = :id";
    let failed = read(&source, sql, value!({"id": 1}), &call(Shape::Records)).await;
    assert!(matches!(failed, Err(Error::Database { .. })), "{failed:?}");
    server.end().await;
}
