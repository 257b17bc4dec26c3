//! The two engines a server can keep its registry and log in; each test gets a workspace and a database of its own.

use crate::harness::Sandbox;
use sqlx::AssertSqlSafe;
use std::sync::atomic::{AtomicU32, Ordering};

/// A workspace whose servers use one engine; the database goes with it.
pub(crate) struct Site {
    pub(crate) sandbox: Sandbox,
    pub(crate) engine: &'static str,
    database: Option<(String, String)>,
}

/// A workspace on SQLite, with the test tools.
pub(crate) fn sqlite() -> Site {
    Site {
        sandbox: sandbox(),
        engine: "SQLite",
        database: None,
    }
}

fn sandbox() -> Sandbox {
    Sandbox::new()
        .with("TOOLCRIB_BUILTINS_FIXTURES", "true")
        .with("TOOLCRIB_TELEMETRY_LEVEL", "error")
}

/// One workspace for each engine there is; says so where PostgreSQL is not tested.
pub(crate) fn every(test: &str) -> Vec<Site> {
    let mut sites = vec![sqlite()];
    match crate::skipping::postgres_url() {
        None => println!("{test}: skipped on PostgreSQL"),
        Some(url) => sites.push(postgres(url)),
    }
    sites
}

/// A workspace on PostgreSQL; none where none is tested.
pub(crate) fn only_postgres(test: &str) -> Option<Site> {
    let url = crate::skipping::postgres_url();
    if url.is_none() {
        println!("{test}: skipped, it needs PostgreSQL");
    }
    url.map(postgres)
}

fn postgres(url: String) -> Site {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!("faults_{}_{number}", std::process::id());
    admin(&url, &format!("CREATE DATABASE {name}"));
    Site {
        sandbox: sandbox().with("DATABASE_URL", &own(&url, &name)),
        engine: "PostgreSQL",
        database: Some((url, name)),
    }
}

/// The address of another database of the same server.
fn own(url: &str, name: &str) -> String {
    let (server, rest) = url.rsplit_once('/').expect("a database address has a path");
    let options = rest
        .split_once('?')
        .map(|(_, options)| format!("?{options}"));
    format!("{server}/{name}{}", options.unwrap_or_default())
}

fn admin(url: &str, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let pool = sqlx::PgPool::connect(url)
            .await
            .expect("PostgreSQL answers");
        let done = sqlx::query(AssertSqlSafe(sql.to_owned()))
            .execute(&pool)
            .await;
        done.expect("the tests' user may make databases");
        pool.close().await;
    });
}

impl Site {
    /// Another workspace on the same database.
    pub(crate) fn beside(&self) -> Sandbox {
        let (url, name) = self.database.as_ref().expect("it is on PostgreSQL");
        sandbox().with("DATABASE_URL", &own(url, name))
    }

    pub(crate) fn database(&self) -> &str {
        let (_, name) = self.database.as_ref().expect("it is on PostgreSQL");
        name
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some((url, name)) = &self.database {
            admin(url, &format!("DROP DATABASE {name} WITH (FORCE)"));
        }
    }
}
