//! `query_bga_database` on a real PostgreSQL: the shape of its answers, what it cuts, what it cleans and what it refuses.

use catalog::caller::{Caller, Role, Transport};
use catalog::catalogue::{Catalogue, Change};
use catalog::clock::Clock;
use catalog::policy::Policy;
use executions::ExecutionLog;
use executor::{CallRequest, Executor, Settings, ToolResponse};
use kinds::sources::{Named, Sources};
use serde_json::{Value, json};
use sources::{Postgres, PostgresConfig, Source};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

/// A database with the table of the examples and a role that owns it, so that only the guard and the transaction are
/// in the way of a write.
struct Database {
    url: String,
    name: String,
    admin: Client,
}

const TABLES: &str = "
CREATE TABLE users (user_id int PRIMARY KEY, username text NOT NULL, email varchar(255));
INSERT INTO users VALUES (101, 'alice', 'alice@example.com'), (102, 'bob', 'bob@example.com'),
  (103, 'charlie', 'charlie@example.com'), (104, 'dave', 'dave@example.com')";

async fn connect(url: &str) -> Client {
    let (client, driver) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}

impl Database {
    async fn start() -> Option<Self> {
        let url = crate::skipping::postgres_url()?;
        let root = connect(&url).await;
        let name = format!("kinds_bga_{}", std::process::id());
        let role = format!("CREATE ROLE {name} LOGIN PASSWORD 'secret'");
        root.batch_execute(&role).await.unwrap();
        let database = format!("CREATE DATABASE {name} OWNER {name}");
        root.batch_execute(&database).await.unwrap();
        let admin = connect(&at(&url, &name)).await;
        let tables = format!("SET ROLE {name}; {TABLES}; RESET ROLE");
        admin.batch_execute(&tables).await.unwrap();
        Some(Database { url, name, admin })
    }

    fn source(&self) -> Source {
        let (_, place) = self.url.rsplit_once('@').unwrap();
        let name = &self.name;
        let url = format!("postgres://{name}:secret@{place}");
        Source::Postgres(Postgres::open(PostgresConfig::new(at(&url, name))).unwrap())
    }

    async fn users(&self) -> i64 {
        let counted = self.admin.query_one("SELECT count(*) FROM users", &[]);
        counted.await.unwrap().get(0)
    }

    async fn end(self) {
        let root = connect(&self.url).await;
        let name = &self.name;
        let database = format!("DROP DATABASE {name} WITH (FORCE)");
        root.batch_execute(&database).await.unwrap();
        root.batch_execute(&format!("DROP ROLE {name}"))
            .await
            .unwrap();
    }
}

/// The same server, another database.
fn at(url: &str, database: &str) -> String {
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{database}")
}

/// An executor with the builtins, and the databases that they find.
struct Crib {
    executor: Arc<Executor>,
    sources: Arc<Sources>,
    _folder: TempDir,
}

impl Crib {
    async fn new() -> Self {
        let all = kinds::all(&kinds::Options::default(), None);
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(1_800_000_000_000);
        let log = executions::Options::default();
        let log = ExecutionLog::open_sqlite(folder.path(), log, clock.clone());
        let log = log.await.unwrap();
        let tools = all
            .builtins
            .into_iter()
            .map(Change::Put)
            .collect::<Vec<_>>();
        let executor = Executor::new(
            Catalogue::default().with(tools),
            Policy::default(),
            all.kinds,
            log,
            clock,
            Settings::default(),
        );
        Crib {
            executor,
            sources: all.sources,
            _folder: folder,
        }
    }

    async fn ask(&self, sql: &str) -> ToolResponse {
        let caller = Caller::of_user(Uuid::from_u128(77), "kim", Role::Author, Transport::Rest);
        let request = CallRequest {
            tool: "query_bga_database".into(),
            arguments: json!({"generated_sql": sql}),
            ..CallRequest::default()
        };
        self.executor.call(Arc::new(caller), request).await
    }
}

fn told(response: &ToolResponse) -> Value {
    serde_json::to_value(response).unwrap()
}

#[tokio::test]
async fn without_a_source_it_says_what_to_set() {
    let crib = Crib::new().await;
    let answer = crib.ask("SELECT 1").await;
    assert!(answer.is_whole);
    let told = told(&answer);
    assert_eq!(told["error"]["code"], "not_configured", "{told}");
    let message = told["message"].as_str().unwrap();
    for name in ["'bga'", "POSTGRESQL_DB_USER", "POSTGRESQL_DB_PORT"] {
        assert!(message.contains(name), "{message}");
    }
}

#[tokio::test]
async fn the_answers_of_a_real_database() {
    let Some(database) = Database::start().await else {
        return;
    };
    let crib = Crib::new().await;
    crib.sources.put(Named {
        name: "bga".to_owned(),
        source: Ok(database.source()),
        allow_write: false,
        authors_everyone: false,
    });
    examples(&crib).await;
    cuts(&crib).await;
    refusals(&crib, &database).await;
    crib.sources.remove("bga");
    database.end().await;
}

async fn examples(crib: &Crib) {
    let sql = "SELECT user_id, username, email FROM users LIMIT 3";
    for asked in [sql.to_owned(), sql.replacen(' ', "\u{a0}", 3)] {
        let answer = crib.ask(&asked).await;
        assert!(answer.is_whole);
        let told = told(&answer);
        assert_eq!(told["status"], "success", "{told}");
        assert_eq!(told["message"], "SQL executed.");
        assert_eq!(told["error"], Value::Null);
        let expected = json!({"type": "csv_table", "content": {"sql": sql, "records": [
            {"user_id": 101, "username": "alice", "email": "alice@example.com"},
            {"user_id": 102, "username": "bob", "email": "bob@example.com"},
            {"user_id": 103, "username": "charlie", "email": "charlie@example.com"}
        ]}});
        assert_eq!(told["data"], expected, "nothing more, and nothing less");
    }
    // Also inside of a literal: what is answered as SQL is what was run.
    let quoted = told(&crib.ask("SELECT 'a\u{a0}b' AS t").await);
    assert_eq!(quoted["data"]["content"]["sql"], "SELECT 'a b' AS t");
    assert_eq!(quoted["data"]["content"]["records"], json!([{"t": "a b"}]));
    let kept = told(&crib.ask("SELECT chr(160) AS t").await);
    assert_eq!(
        kept["data"]["content"]["records"],
        json!([{"t": "\u{a0}"}]),
        "data are not cleaned"
    );
    let none = told(&crib.ask("SELECT user_id FROM users WHERE false").await);
    assert_eq!(none["data"]["content"]["records"], json!([]));
}

async fn cuts(crib: &Crib) {
    let all = told(&crib.ask("SELECT n FROM generate_series(1, 10000) n").await);
    assert_eq!(
        all["data"]["content"]["records"].as_array().unwrap().len(),
        10_000
    );
    assert_eq!(all["data"]["content"].get("truncated"), None);
    let rows = told(&crib.ask("SELECT n FROM generate_series(1, 10001) n").await);
    assert_eq!(
        rows["data"]["content"]["records"].as_array().unwrap().len(),
        10_000
    );
    assert_eq!(rows["data"]["content"]["truncated"], true);
    // By bytes: with the query itself in it, the answer is still no longer than an output may be.
    let long = "x".repeat(10_000);
    let sql =
        format!("SELECT repeat('\"y', 500) AS a, '{long}' AS b FROM generate_series(1, 5000)");
    let answer = crib.ask(&sql).await;
    assert!(answer.error.is_none(), "{:?}", answer.error);
    assert!(
        answer.data.get().len() <= 1 << 20,
        "{}",
        answer.data.get().len()
    );
    let bytes = told(&answer);
    assert_eq!(bytes["data"]["content"]["truncated"], true);
    assert!(
        bytes["data"]["content"]["records"]
            .as_array()
            .unwrap()
            .len()
            > 50
    );
}

async fn refusals(crib: &Crib, database: &Database) {
    let wrong = crib.ask("SELEC user_id FROM users").await;
    assert!(wrong.is_whole);
    let wrong = told(&wrong);
    let message = "Error while querying DB: syntax error at or near \"SELEC\"";
    assert_eq!(
        (&wrong["status"], &wrong["message"]),
        (&json!("error"), &json!(message))
    );
    assert_eq!(wrong["error"]["details"]["sqlstate"], "42601");
    assert_eq!(wrong["data"], Value::Null);
    let unknown = told(&crib.ask("SELECT nothing FROM users").await);
    let message = "Error while querying DB: column \"nothing\" does not exist";
    assert_eq!(unknown["message"], message);
    // What else the database says stands apart.
    let misspelled = told(&crib.ask("SELECT usernam FROM users").await);
    let message = "Error while querying DB: column \"usernam\" does not exist";
    assert_eq!(misspelled["message"], message);
    let hint = misspelled["error"]["details"]["hint"].as_str().unwrap();
    assert!(hint.contains("users.username"), "{hint}");
    let hostile = [
        "DELETE FROM users",
        "SELECT 1; DELETE FROM users",
        "WITH gone AS (DELETE FROM users RETURNING *) SELECT * FROM gone",
        "COMMIT; DELETE FROM users",
    ];
    for sql in hostile {
        let refused = told(&crib.ask(sql).await);
        assert_eq!(
            refused["error"]["code"], "tool_execution_error",
            "{sql}: {refused}"
        );
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.starts_with("Error while querying DB: "),
            "{sql}: {message}"
        );
    }
    assert_eq!(database.users().await, 4);
}
