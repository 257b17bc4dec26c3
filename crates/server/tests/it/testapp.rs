//! A whole server without a socket: SQLite always, PostgreSQL where TOOLCRIB_TEST_POSTGRES names one.

pub(crate) use crate::skipping::postgres_url;
use app::{App, Options};
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use catalog::clock::Clock;
use catalog::policy::Policy;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use server::{Limits, Server};
use sqlx::AssertSqlSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub(crate) const ADMIN: &str = "operator-key";
pub(crate) const NOW: i64 = 1_800_000_000_000;

pub(crate) struct TestApp {
    pub(crate) server: Arc<Server>,
    pub(crate) clock: Clock,
    pub(crate) folder: Arc<TempDir>,
    /// How many pages a day file of the log may have; 0 is no bound.
    pub(crate) log_pages: Arc<AtomicU32>,
    database: Option<String>,
    setup: Setup,
}

/// What a test may want otherwise.
#[derive(Clone, Default)]
pub(crate) struct Setup {
    pub(crate) mcp: face::Settings,
    pub(crate) servers: app::servers::Settings,
    pub(crate) sources: app::sources::Settings,
    pub(crate) vectors: kinds::retrieval::VectorOptions,
    pub(crate) web_search: kinds::builtin::SearchOptions,
    pub(crate) http_allow: Vec<fetch::Allowed>,
    pub(crate) runs: app::runs::Settings,
    /// Whether confirmed requests count.
    pub(crate) confirmed: bool,
    /// Another way to the database than the straight one.
    pub(crate) way: Option<String>,
    pub(crate) pipeline: app::pipeline::Settings,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

pub(crate) async fn admin_sql(sql: String) {
    let pool = sqlx::PgPool::connect(&postgres_url().unwrap())
        .await
        .unwrap();
    sqlx::query(AssertSqlSafe(sql))
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
}

/// Runs a test on every engine there is.
pub(crate) async fn on_both<F: AsyncFn(&TestApp)>(test: F) {
    on_both_with(json!([]), Policy::default(), test).await;
}

pub(crate) async fn on_both_with<F: AsyncFn(&TestApp)>(tools: Value, policy: Policy, test: F) {
    on_both_given(tools, policy, Setup::default(), test).await;
}

/// The same with an MCP server that is set up so.
pub(crate) async fn on_both_mcp<F: AsyncFn(&TestApp)>(mcp: face::Settings, test: F) {
    let setup = Setup {
        mcp,
        ..Setup::default()
    };
    on_both_given(json!([]), Policy::default(), setup, test).await;
}

/// The same with upstream servers that are set up so.
pub(crate) async fn on_both_servers<F: AsyncFn(&TestApp)>(
    servers: app::servers::Settings,
    test: F,
) {
    let setup = Setup {
        servers,
        ..Setup::default()
    };
    on_both_given(json!([]), Policy::default(), setup, test).await;
}

/// The same with runs that are set up so.
pub(crate) async fn on_both_runs<F: AsyncFn(&TestApp)>(runs: app::runs::Settings, test: F) {
    let setup = Setup {
        runs,
        ..Setup::default()
    };
    on_both_given(json!([]), Policy::default(), setup, test).await;
}

/// The same with vectors that are made and kept so.
pub(crate) async fn on_both_vectors<F: AsyncFn(&TestApp)>(
    vectors: kinds::retrieval::VectorOptions,
    test: F,
) {
    let setup = Setup {
        vectors,
        ..Setup::default()
    };
    on_both_given(json!([]), Policy::default(), setup, test).await;
}

pub(crate) async fn on_both_given<F: AsyncFn(&TestApp)>(
    tools: Value,
    policy: Policy,
    setup: Setup,
    test: F,
) {
    let mut databases = vec![None];
    if postgres_url().is_some() {
        databases.push(Some(format!("api_{}", uuid::Uuid::new_v4().simple())));
    }
    for database in databases {
        if let Some(name) = &database {
            admin_sql(format!("CREATE DATABASE {name}")).await;
        }
        let folder = tempfile::tempdir().unwrap();
        let text = serde_json::to_string_pretty(&json!({"version": 1, "tools": tools})).unwrap();
        std::fs::write(folder.path().join("tools.json"), text + "\n").unwrap();
        std::fs::write(folder.path().join("mcp.json"), "{\"mcpServers\": {}}\n").unwrap();
        let app = TestApp::open(
            Arc::new(folder),
            database.clone(),
            Clock::manual(NOW),
            policy.clone(),
            None,
            setup.clone(),
        )
        .await;
        test(&app).await;
        app.stop().await;
        if let Some(name) = database {
            admin_sql(format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    }
}

impl Setup {
    pub(crate) fn with_confirmed() -> Self {
        Setup {
            confirmed: true,
            ..Setup::default()
        }
    }
}

impl TestApp {
    pub(crate) async fn open(
        folder: Arc<TempDir>,
        database: Option<String>,
        clock: Clock,
        policy: Policy,
        sealing: Option<String>,
        setup: Setup,
    ) -> TestApp {
        let url = database.as_ref().map(|name| {
            let url = postgres_url().unwrap();
            format!("{}/{name}", url.rsplit_once('/').unwrap().0)
        });
        let url = setup.way.clone().or(url);
        let log = executions::Options::default();
        let log_pages = Arc::clone(&log.pages_max);
        let app = App::open(Options {
            workspace: folder.path().to_owned(),
            data: folder.path().join(".toolcrib"),
            database_url: url,
            admin_key: Some(ADMIN.into()),
            sealing: app::sealing_keys::KeySource {
                text: sealing,
                file: folder.path().join(".toolcrib/secret.key"),
            },
            policy,
            executor: executor::Settings::default(),
            log,
            oidc: None,
            servers: setup.servers.clone(),
            sources: setup.sources.clone(),
            runs: setup.runs.clone(),
            gold: folder.path().join("gold.jsonl"),
            confirmed: setup.confirmed,
            own_encoder: false,
            pipeline: setup.pipeline.clone(),
            skills: Some(folder.path().join("skills")),
            kinds: kinds::Options {
                fixtures: true,
                conformance: setup.mcp.conformance,
                data: folder.path().join(".toolcrib"),
                vectors: setup.vectors.clone(),
                http_allow: setup.http_allow.clone(),
                web_search: setup.web_search.clone(),
                ..kinds::Options::default()
            },
            env: Arc::new(|name| (name == "SERVER_TOKEN").then(|| "from-the-environment".into())),
            clock: clock.clone(),
            watch: true,
        })
        .await
        .unwrap();
        let limits = Limits {
            body_bytes_max: 100_000,
            ..Limits::default()
        };
        let mcp = setup.mcp.clone();
        TestApp {
            server: Server::new(app, limits, server::Edge::default(), mcp, false),
            clock,
            folder,
            log_pages,
            database,
            setup,
        }
    }

    /// While it keeps them, the database gives no idempotency key back.
    pub(crate) async fn keep_keys(&self, keep: bool) {
        const KEEP: &str = "CREATE TRIGGER keep BEFORE DELETE ON idempotency";
        if let Some(name) = &self.database {
            let sql = match keep {
                true => format!(
                    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                     $$ BEGIN RAISE EXCEPTION 'kept'; END $$; \
                     {KEEP} FOR EACH ROW EXECUTE FUNCTION refuse()"
                ),
                false => "DROP TRIGGER keep ON idempotency".to_owned(),
            };
            let url = postgres_url().unwrap();
            let url = format!("{}/{name}", url.rsplit_once('/').unwrap().0);
            let pool = sqlx::PgPool::connect(&url).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(sql))
                .execute(&pool)
                .await
                .unwrap();
            return pool.close().await;
        }
        let sql = match keep {
            true => format!("{KEEP} BEGIN SELECT RAISE(ABORT, 'kept'); END"),
            false => "DROP TRIGGER keep".to_owned(),
        };
        let file = self.folder.path().join(".toolcrib/registry.db");
        let pool = sqlx::SqlitePool::connect(file.to_str().unwrap())
            .await
            .unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&pool)
            .await
            .unwrap();
        pool.close().await;
    }

    /// Does something to the database behind the server's back.
    pub(crate) async fn sql(&self, sql: &'static str) {
        match &self.server.app.store {
            store::Db::Sqlite(pool, ..) => {
                sqlx::raw_sql(sql).execute(pool).await.map(|_| ()).unwrap()
            }
            store::Db::Postgres(pool, ..) => {
                sqlx::raw_sql(sql).execute(pool).await.map(|_| ()).unwrap()
            }
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.database.is_some()
    }

    pub(crate) async fn stop(&self) {
        self.server.app.stop(Duration::from_secs(5)).await;
    }

    /// The same workspace and database, opened by the next process.
    pub(crate) async fn restart(&self) -> TestApp {
        self.restart_with(None).await
    }

    /// The same with these sealing keys.
    pub(crate) async fn restart_with(&self, sealing: Option<String>) -> TestApp {
        self.stop().await;
        TestApp::open(
            Arc::clone(&self.folder),
            self.database.clone(),
            self.clock.clone(),
            Policy::default(),
            sealing,
            self.setup.clone(),
        )
        .await
    }

    /// The same after somebody switched confirmed requests on or off.
    pub(crate) async fn restart_confirmed(&self, confirmed: bool) -> TestApp {
        self.stop().await;
        let setup = Setup {
            confirmed,
            ..self.setup.clone()
        };
        TestApp::open(
            Arc::clone(&self.folder),
            self.database.clone(),
            self.clock.clone(),
            Policy::default(),
            None,
            setup,
        )
        .await
    }

    /// Another server on the same database, with the same files.
    pub(crate) async fn beside(&self, clock: Clock) -> TestApp {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".toolcrib")).unwrap();
        for file in ["tools.json", "mcp.json", ".toolcrib/secret.key"] {
            std::fs::copy(self.folder.path().join(file), folder.path().join(file)).unwrap();
        }
        TestApp::open(
            Arc::new(folder),
            self.database.clone(),
            clock,
            Policy::default(),
            None,
            self.setup.clone(),
        )
        .await
    }

    /// Listens, and tells the other servers where, until the token is cancelled.
    pub(crate) async fn listen(&self) -> CancellationToken {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", tcp.local_addr().unwrap());
        let listeners = server::Listeners {
            tcp: Some(tcp),
            unix: None,
        };
        let stop = CancellationToken::new();
        let grace = Duration::from_secs(5);
        let serving = server::serve(Arc::clone(&self.server), listeners, stop.clone(), grace);
        tokio::spawn(serving);
        let joined = self.server.app.advertise(Some(address)).await;
        joined.unwrap();
        stop
    }

    pub(crate) fn tools_file(&self) -> PathBuf {
        self.folder.path().join("tools.json")
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let api = server::Api::new(Arc::clone(&self.server));
        let response = api.answer(request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| match bytes.is_empty() {
            true => Value::Null,
            false => String::from_utf8_lossy(&bytes).into(),
        });
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
        }
    }

    pub(crate) async fn as_key(&self, key: &str, method: &str, path: &str, body: Value) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("x-api-key", key);
        if !body.is_null() {
            request = request.header("content-type", "application/json");
        }
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.send(request.body(Body::from(text)).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.as_key(ADMIN, "GET", path, Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.as_key(ADMIN, "POST", path, body).await
    }

    pub(crate) async fn key(&self, scopes: &[&str]) -> String {
        let made = self
            .post("/api/v1/keys", json!({"name": "test", "scopes": scopes}))
            .await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.body["key"].as_str().unwrap().to_owned()
    }
}

impl Answer {
    pub(crate) fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    pub(crate) fn message(&self) -> &str {
        self.body["error"]["message"].as_str().unwrap_or_default()
    }
}

/// A definition that works: the calculator under another name.
pub(crate) fn definition(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Adds the tax to a price",
        "kind": "builtin",
        "config": {"name": "calculator"},
        "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}
    })
}
