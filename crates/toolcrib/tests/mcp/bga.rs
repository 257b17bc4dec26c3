//! The database of the specification's examples, in a real PostgreSQL, with a role that may only read it.

use sqlx::{AssertSqlSafe, Connection, PgConnection};

pub(crate) struct Bga {
    url: String,
    /// Of the role and of the database.
    name: String,
}

const TABLES: &str = "
CREATE TABLE users (user_id int PRIMARY KEY, username text NOT NULL, email varchar(255));
COMMENT ON COLUMN users.email IS '사용자 이메일 주소';
INSERT INTO users VALUES (101, 'alice', 'alice@example.com'), (102, 'bob', 'bob@example.com'),
  (103, 'charlie', 'charlie@example.com'), (104, 'dave', 'dave@example.com')";

impl Bga {
    /// None, said, where no PostgreSQL is there to be asked.
    pub(crate) fn start() -> Option<Self> {
        let url = crate::skipping::postgres_url()?;
        let name = format!("bga_{}", std::process::id());
        run(&url, &format!("CREATE ROLE {name} LOGIN PASSWORD 'secret'"));
        run(&url, &format!("CREATE DATABASE {name}"));
        let (server, _) = url.rsplit_once('/').unwrap();
        let grant = format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}");
        run(&format!("{server}/{name}"), &format!("{TABLES}; {grant}"));
        Some(Bga { url, name })
    }

    pub(crate) fn variables(&self) -> [(&'static str, String); 5] {
        let (before, _) = self.url.rsplit_once('/').unwrap();
        let (_, place) = before.rsplit_once('@').unwrap();
        let (host, port) = place.rsplit_once(':').unwrap();
        [
            ("POSTGRESQL_DB_USER", self.name.clone()),
            ("POSTGRESQL_DB_PASS", "secret".to_owned()),
            ("POSTGRESQL_DB_NAME", self.name.clone()),
            ("POSTGRESQL_DB_HOST", host.to_owned()),
            ("POSTGRESQL_DB_PORT", port.to_owned()),
        ]
    }

    /// Changes the tables, as their owner.
    pub(crate) fn change(&self, sql: &str) {
        let (server, _) = self.url.rsplit_once('/').unwrap();
        run(&format!("{server}/{}", self.name), sql);
    }

    pub(crate) fn end(self) {
        let name = &self.name;
        run(&self.url, &format!("DROP DATABASE {name} WITH (FORCE)"));
        run(&self.url, &format!("DROP ROLE {name}"));
    }
}

fn run(url: &str, sql: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection);
        done.await.unwrap();
    });
}
