//! Runs a test on SQLite and, where TOOLCRIB_TEST_POSTGRES names a server, on a PostgreSQL database of its own.

use crate::harness::Sandbox;
pub(crate) use crate::skipping::postgres_url;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

pub(crate) fn on_both(name: &str, test: impl Fn(&Sandbox)) {
    test(&Sandbox::new());
    let Some(url) = postgres_url() else { return };
    let database = format!("cli_{name}_{}", std::process::id());
    let (server, _) = url.rsplit_once('/').expect("the URL names a database");
    admin(&url, format!("CREATE DATABASE {database}"));
    test(&Sandbox::new().with("DATABASE_URL", &format!("{server}/{database}")));
    admin(&url, format!("DROP DATABASE {database} WITH (FORCE)"));
}

pub(crate) fn admin(url: &str, sql: String) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(async {
        let mut connection = PgConnection::connect(url)
            .await
            .expect("PostgreSQL answers");
        let done = sqlx::query(AssertSqlSafe(sql))
            .execute(&mut connection)
            .await;
        done.expect("a superuser may make databases");
    });
}
