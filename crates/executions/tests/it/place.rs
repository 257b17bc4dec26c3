//! Where a test's log lives: a temporary folder, or a fresh PostgreSQL database that goes away with the test.

use catalog::clock::Clock;
use catalog::tool::Millis;
use executions::{Execution, ExecutionLog, Options, Status, new_id};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, PgPool};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Noon of 2026-11-15 UTC.
pub(crate) const NOON: Millis = 1_794_744_000_000;
pub(crate) const HOUR: Millis = 3_600_000;
pub(crate) const DAY: Millis = 24 * HOUR;

#[derive(Clone)]
pub(crate) struct Place {
    folder: Arc<tempfile::TempDir>,
    /// The server's own database, and the name of the test's.
    pub(crate) database: Option<(PgConnectOptions, String)>,
    pub(crate) clock: Clock,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Place {
            folder,
            database: None,
            clock: Clock::manual(NOON),
        }
    }

    pub(crate) async fn postgres() -> Option<Self> {
        let url = crate::skipping::postgres_url()?;
        let server: PgConnectOptions = url.parse().unwrap();
        let name = format!("executions_test_{}", new_id(NOON).simple());
        let place = Place {
            database: Some((server, name.clone())),
            ..Place::sqlite()
        };
        place.admin(&format!("CREATE DATABASE {name}")).await;
        Some(place)
    }

    /// Runs a statement on the server's own database.
    pub(crate) async fn admin(&self, sql: &str) {
        let (server, _) = self.database.as_ref().unwrap();
        let mut connection = server.connect().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&mut connection)
            .await
            .unwrap();
    }

    pub(crate) async fn drop_database(&self) {
        if let Some((_, name)) = &self.database {
            self.admin(&format!("DROP DATABASE {name} WITH (FORCE)"))
                .await;
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) async fn pool(&self) -> PgPool {
        let (server, name) = self.database.as_ref().unwrap();
        PgPoolOptions::new()
            .max_connections(4)
            .connect_with(server.clone().database(name))
            .await
            .unwrap()
    }

    pub(crate) async fn open(&self) -> ExecutionLog {
        self.open_with(Options::default()).await
    }

    pub(crate) async fn open_with(&self, options: Options) -> ExecutionLog {
        match &self.database {
            None => {
                ExecutionLog::open_sqlite(self.path().join("log"), options, self.clock.clone())
                    .await
            }
            Some(_) => {
                ExecutionLog::open_postgres(self.pool().await, options, self.clock.clone()).await
            }
        }
        .unwrap()
    }

    /// The days that the log keeps, as `YYYYMMDD`, whatever the engine calls them.
    pub(crate) async fn days(&self) -> Vec<String> {
        let mut names: Vec<String> = match &self.database {
            None => std::fs::read_dir(self.path().join("log"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect(),
            Some(_) => {
                let sql = "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent WHERE p.relname = 'executions'";
                sqlx::query_scalar(sql)
                    .fetch_all(&self.pool().await)
                    .await
                    .unwrap()
            }
        };
        for name in &mut names {
            let name_only = name.split('.').next().unwrap();
            *name = name_only.chars().filter(char::is_ascii_digit).collect();
        }
        // Not the journal.
        names.retain(|name| name.len() == 8);
        names.sort();
        names.dedup();
        names
    }
}

pub(crate) fn execution(tool: &str, started_at: Millis, status: Status) -> Execution {
    Execution {
        id: new_id(started_at),
        started_at,
        status,
        tool_name: tool.into(),
        tool_version: 2,
        tool_hash: "abc".into(),
        caller: "hong".into(),
        key: None,
        agent: None,
        run: None,
        toolset: None,
        transport: Cow::Borrowed("rest"),
        error_code: None,
        elapsed_us: 0,
        node: "local".into(),
        arguments: "{}".into(),
        output: None,
        error: None,
        log_text: None,
        behind: None,
    }
}

/// Makes a test of each named function for each engine.
macro_rules! on_both {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::place::Place::sqlite()).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let Some(place) = $crate::place::Place::postgres().await else { return };
                // In a task of its own, so that the database goes away even when the test fails.
                let result = tokio::spawn(super::$test(place.clone())).await;
                place.drop_database().await;
                result.unwrap();
            })+
        }
    };
}
pub(crate) use on_both;
