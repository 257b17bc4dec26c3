//! The same on PostgreSQL: types, the plan, the end of what nobody waits for.

use crate::crib::{Crib, named, takes};
use serde_json::{Value, json};
use sources::{Postgres, PostgresConfig, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_postgres::{Client, NoTls};

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A database with a role that owns it and is no superuser.
struct Server {
    admin: Client,
    role: String,
    url: String,
}

async fn connect(url: &str) -> Client {
    let (client, driver) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}

impl Server {
    async fn start() -> Option<Server> {
        let url = crate::skipping::postgres_url()?;
        let admin = connect(&url).await;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let role = format!("kinds_{}_{number}", std::process::id());
        for sql in [
            format!("CREATE ROLE {role} LOGIN PASSWORD 'secret'"),
            format!("CREATE DATABASE {role} OWNER {role}"),
        ] {
            admin.batch_execute(&sql).await.unwrap();
        }
        let place = url.rsplit_once('/').unwrap().0.rsplit_once('@').unwrap().1;
        let url = format!("postgres://{role}:secret@{place}/{role}");
        let own = connect(&url).await;
        own.batch_execute(
            "CREATE TABLE people (id bigint PRIMARY KEY, name text, born date, tags text[]);
             INSERT INTO people VALUES (1, 'ann', '2001-02-03', '{a,b}'), (2, 'bob', NULL, NULL),
                (9223372036854775807, '한', NULL, '{}');",
        )
        .await
        .unwrap();
        Some(Server { admin, role, url })
    }

    fn named(&self) -> kinds::sources::Named {
        let config = PostgresConfig::new(self.url.as_str());
        named(Source::Postgres(Postgres::open(config).unwrap()))
    }

    /// Waits until so many statements of the role sleep; the database tells nobody when a backend has ended. What a cursor
    /// reads from sleeps in its FETCH.
    async fn until_sleeping(&self, count: i64) {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND state <> 'idle' AND wait_event = 'PgSleep'";
        for _ in 0..400 {
            let row = self.admin.query_one(sql, &[&self.role]).await.unwrap();
            if row.get::<_, i64>(0) == count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("not {count} asleep");
    }
}

#[tokio::test]
async fn values_go_in_and_come_out_as_what_they_are() {
    let Some(server) = Server::start().await else {
        return;
    };
    let query = "SELECT id, name, born, tags FROM people
        WHERE id = ANY(:ids) AND (:after::date IS NULL OR born > {{after}}) ORDER BY id -- :none";
    let properties = json!({"ids": {"type": "array"}, "after": {"type": "string"}});
    let crib = Crib::on(server.named(), json!({"query": query}), takes(&properties)).await;
    let ann = json!({"id": 1, "name": "ann", "born": "2001-02-03", "tags": ["a", "b"]});
    let born = json!({"ids": [1, 2], "after": "2000-01-01"});
    assert_eq!(crib.data(born).await, json!([ann]));
    let big = json!({"id": "9223372036854775807", "name": "한", "born": null, "tags": []});
    let ids = json!({"ids": [9_223_372_036_854_775_807_i64]});
    assert_eq!(crib.data(ids).await, json!([big]));
    let (code, message) = crib.error(json!({"ids": [1], "after": "soon"})).await;
    assert_eq!(code, "invalid_input");
    assert_eq!(
        message,
        "Input validation failed: argument `after`: invalid input syntax for type date: \"soon\""
    );
}

#[tokio::test]
async fn numbers_of_json_keep_their_digits() {
    let Some(server) = Server::start().await else {
        return;
    };
    let object = r#"{"n": 0.12345678901234567890}"#;
    for (format, expected) in [
        ("json", object.to_owned()),
        ("text", Value::from(object).to_string()),
    ] {
        let config = json!({"query": format!("SELECT '{object}'::jsonb AS j"), "result": "scalar"});
        let crib = Crib::on(server.named(), config, json!({"output_format": format})).await;
        assert_eq!(crib.call(json!({})).await.data.get(), expected);
    }
}

#[tokio::test]
async fn queries_are_checked_and_explained_by_the_server() {
    let Some(server) = Server::start().await else {
        return;
    };
    let config = json!({"query": "SELECT name FROM people WHERE id = :id"});
    let crib = Crib::on(
        server.named(),
        config,
        takes(&json!({"id": {"type": "integer"}})),
    )
    .await;
    let check = async |query: &str| {
        let config = match query.strip_prefix("write: ") {
            Some(query) => json!({"query": query, "write": true}),
            None => json!({"query": query}),
        };
        let definition = crate::crib::definition(&config, &json!({}));
        let checked = crib.executor.check(&definition).await;
        (
            checked.map_err(|failure| failure.message),
            crib.executor.missing(&definition),
        )
    };
    assert_eq!(check("SELECT name FROM people").await, (Ok(()), None));
    let (refused, _) = check("SELECT nane FROM people").await;
    let message = refused.unwrap_err();
    assert!(
        message.contains("source 's' says: column \"nane\" does not exist"),
        "{message}"
    );
    for (query, why) in [
        ("DELETE FROM people", "\"write\": true"),
        ("EXPLAIN SELECT 1", "toolcrib tools explain"),
        (
            "write: DELETE FROM people WHERE nr = 1",
            "column \"nr\" does not exist",
        ),
        (
            "write: DELETE FROM people RETURNING interval '1 day' AS i",
            "write `i::text`",
        ),
    ] {
        let message = check(query).await.0.unwrap_err();
        assert!(message.contains(why), "{query}: {message}");
    }
    assert_eq!(check("write: DELETE FROM people").await, (Ok(()), None));
    let missing = check("write: DELETE FROM later").await.1.unwrap();
    assert!(missing.contains("does not exist"), "{missing}");
    let count = json!({"query": "SELECT count(*) FROM people", "result": "scalar"});
    let left = Crib::on(server.named(), count, json!({})).await;
    assert_eq!(left.data(json!({})).await, 3, "nothing was run");
    let (stored, missing) = check("SELECT 1 FROM later").await;
    assert_eq!(stored, Ok(()));
    let missing = missing.unwrap();
    assert!(
        missing.contains("relation \"later\" does not exist"),
        "{missing}"
    );
    let entry = crib.executor.catalogue.load().get("t").unwrap().clone();
    let caller = Arc::new(crib.caller.clone());
    let plan = crib.executor.explain(caller, entry, json!({"id": 1})).await;
    let plan = plan.unwrap();
    assert!(plan[0]["Plan"]["Node Type"].is_string(), "{plan}");
}

#[tokio::test]
async fn writes_are_one_transaction() {
    let Some(server) = Server::start().await else {
        return;
    };
    let query = "INSERT INTO people (id, name) SELECT * FROM unnest(:ids::bigint[], :names::text[]) RETURNING id";
    let properties = json!({"ids": {"type": "array"}, "names": {"type": "array"}});
    let config = json!({"query": query, "write": true});
    let crib = Crib::on(server.named(), config, takes(&properties)).await;
    let (code, message) = crib
        .error(json!({"ids": [7, 1], "names": ["x", "y"]}))
        .await;
    assert_eq!(code, "tool_execution_error");
    assert!(message.contains("duplicate key value"), "{message}");
    let fine = json!({"ids": [7, 8], "names": ["x", "y"]});
    let expected: Value = json!([{"id": 7}, {"id": 8}]);
    assert_eq!(crib.data(fine).await, expected, "7 was not kept before");
}

#[tokio::test]
async fn a_query_ends_at_the_server_with_its_call() {
    let Some(server) = Server::start().await else {
        return;
    };
    let config = json!({"query": "SELECT pg_sleep(60)::text AS a"});
    let crib = Crib::on(server.named(), config, json!({})).await;
    let response = crib.start(json!({}), 0.5).await;
    let error = response.error.unwrap();
    assert_eq!(error.message, "Tool execution timeout (0.5s)");
    server.until_sleeping(0).await;
    let call = tokio::spawn(crib.start(json!({}), 60.0));
    server.until_sleeping(1).await;
    call.abort();
    server.until_sleeping(0).await;
}
