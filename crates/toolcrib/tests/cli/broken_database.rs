//! Mistakes with PostgreSQL, each on a database of its own.

use crate::broken::{Broken, Mistake, each, nobody, sound};
use crate::engines::{admin, postgres_url};
use crate::harness::{Running, Sandbox};
use crate::pooler;
use serde_json::Value;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A database that is gone with this.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    /// With what stands behind the name in CREATE DATABASE.
    pub(crate) fn new(more: &str) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = postgres_url()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("doctor_{}_{number}", std::process::id());
        admin(&server, format!("CREATE DATABASE {name} {more}"));
        Some(Database { server, name })
    }

    pub(crate) fn url(&self) -> String {
        let (server, _) = self
            .server
            .rsplit_once('/')
            .expect("the URL names a database");
        format!("{server}/{}", self.name)
    }

    pub(crate) fn run(&self, sql: &str) {
        admin(&self.url(), sql.to_owned());
    }

    fn on(self, sandbox: Sandbox) -> Broken {
        Broken::new(sandbox.with("DATABASE_URL", &self.url())).keep(self)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        admin(
            &self.server,
            format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
    }
}

/// One that a server has worked on, and that server's sandbox.
fn used() -> Option<(Database, Sandbox)> {
    let database = Database::new("")?;
    let sandbox = sound().with("DATABASE_URL", &database.url());
    sandbox.ok(&["call", "calculator", "{\"expression\": \"1 + 1\"}"]);
    Some((database, sandbox))
}

fn with_url(url: &str) -> Option<Broken> {
    Some(Broken::new(sound().with("DATABASE_URL", url)))
}

/// Waits until a server says this of itself.
pub(crate) fn until_ready(server: &Running, is_so: impl Fn(&Value) -> bool) {
    let since = Instant::now();
    loop {
        let (_, ready) = server.request("GET", "/readyz", None);
        if is_so(&ready) {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(30), "{ready}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "database.unreachable",
        is_fatal: true,
        says: &[
            "PostgreSQL at 127.0.0.1:",
            "(database crib): connection refused",
        ],
        remedy: "start PostgreSQL there",
        make: || with_url(&format!("postgres://me:hunter2@{}/crib", nobody())),
    },
    Mistake {
        id: "database.unreachable",
        is_fatal: true,
        says: &["PostgreSQL at 127.0.0.1:", "timed out"],
        remedy: "check the network between",
        make: || {
            let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            let address = silent.local_addr().expect("it has one");
            Some(with_url(&format!("postgres://me@{address}/crib"))?.keep(silent))
        },
    },
    Mistake {
        id: "database.missing",
        is_fatal: true,
        says: &["\"no_such_database\" does not exist"],
        remedy: "createdb",
        make: || {
            let url = postgres_url()?;
            let (server, _) = url.rsplit_once('/').expect("the URL names a database");
            with_url(&format!("{server}/no_such_database"))
        },
    },
    Mistake {
        id: "database.tls",
        is_fatal: true,
        says: &["server does not support TLS"],
        remedy: "ssl = on",
        make: || with_url(&format!("{}?sslmode=require", postgres_url()?)),
    },
    Mistake {
        id: "database.tls",
        is_fatal: true,
        says: &["sslrootcert=/no/such.pem cannot be read"],
        remedy: "name the file",
        make: || {
            with_url(&format!(
                "{}?sslmode=verify-full&sslrootcert=/no/such.pem",
                postgres_url()?
            ))
        },
    },
    Mistake {
        id: "database.encoding",
        is_fatal: true,
        says: &["SQL_ASCII, not as UTF8"],
        remedy: "createdb --encoding=UTF8",
        make: || {
            let ascii = "ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0";
            Some(Database::new(ascii)?.on(sound()))
        },
    },
    Mistake {
        id: "database.read_only",
        is_fatal: true,
        says: &["takes no writes"],
        remedy: "name the primary",
        make: || {
            let (database, sandbox) = used()?;
            let name = &database.name;
            database.run(&format!(
                "ALTER DATABASE {name} SET default_transaction_read_only = on"
            ));
            Some(Broken::new(sandbox).keep(database))
        },
    },
    Mistake {
        id: "database.newer",
        is_fatal: true,
        says: &["made by a newer version of toolcrib (migration 9999)"],
        remedy: "upgrade toolcrib",
        make: || {
            let (database, sandbox) = used()?;
            database.run("INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', true, '', 0)");
            Some(Broken::new(sandbox).keep(database))
        },
    },
    Mistake {
        id: "database.older",
        is_fatal: false,
        says: &["is of an older version"],
        remedy: "make a backup",
        make: || {
            let (database, sandbox) = used()?;
            database.run("DELETE FROM _sqlx_migrations WHERE version = (SELECT max(version) FROM _sqlx_migrations)");
            Some(Broken::new(sandbox).keep(database))
        },
    },
    Mistake {
        id: "database.rights",
        is_fatal: true,
        says: &["may not make tables"],
        remedy: "GRANT CREATE",
        make: || {
            let database = Database::new("")?;
            let role = format!("{}_poor", database.name);
            database.run(&format!("DO $$ BEGIN CREATE ROLE {role} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"));
            database.run("REVOKE CREATE ON SCHEMA public FROM public");
            let url = database
                .url()
                .replacen("//postgres@", &format!("//{role}@"), 1);
            let broken = with_url(&url)?;
            Some(broken.keep(database))
        },
    },
    Mistake {
        id: "clock.database",
        is_fatal: false,
        says: &["PostgreSQL's clock is", "s behind this machine's"],
        remedy: "NTP",
        make: || {
            let database = Database::new("")?;
            let name = &database.name;
            database.run("CREATE SCHEMA late");
            database.run("CREATE FUNCTION late.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() - interval '90 s' $$");
            database.run(&format!(
                "ALTER DATABASE {name} SET search_path = public, late, pg_catalog"
            ));
            Some(database.on(sound()))
        },
    },
    Mistake {
        id: "database.pooled",
        is_fatal: true,
        says: &["a pooler that lends sessions out"],
        remedy: "pool_mode = session",
        make: || {
            let database = Database::new("")?;
            let url = pooler::in_front_of(&database.url());
            Some(with_url(&url)?.keep(database))
        },
    },
    Mistake {
        id: "secrets.key",
        is_fatal: true,
        says: &["there is no key file", "stored secrets need one"],
        remedy: "put the key file there",
        make: || {
            let (database, sandbox) = used()?;
            sandbox.run_with_stdin(&["secrets", "set", "token"], "a secret");
            let key = sandbox.workspace().join(".toolcrib/secret.key");
            std::fs::remove_file(key).expect("it was made");
            Some(Broken::new(sandbox).keep(database))
        },
    },
];

#[test]
fn mistakes_with_postgresql() {
    each(MISTAKES);
}

#[test]
fn a_sound_postgresql_has_no_findings_and_is_not_changed() {
    let Some(database) = Database::new("") else {
        return;
    };
    let sandbox = sound().with("DATABASE_URL", &database.url());
    let content = |answer: &serde_json::Value| {
        let checks = answer["checks"].as_array().expect("a list").clone();
        assert!(
            checks.iter().all(|check| check["status"] == "ok"),
            "{answer}"
        );
    };
    content(&sandbox.json(&["doctor"]));
    database.run("DO $$ BEGIN IF EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public') THEN RAISE 'doctor made tables'; END IF; END $$");
    sandbox.ok(&["call", "calculator", "{\"expression\": \"1 + 1\"}"]);
    let tool = r#"{"name": "adder", "description": "adds numbers", "kind": "builtin", "config": {"name": "calculator"}}"#;
    sandbox.ok(&["tools", "add", tool]);
    // A tool that is stored there is known although nobody serves it.
    let sandbox = sandbox
        .with("FEATURE_TOOLS_POLICY", "true")
        .with("TOOL_WHITELIST", "adder");
    content(&sandbox.json(&["doctor"]));
    let _server = sandbox.serve(&[]);
    content(&sandbox.json(&["doctor"]));
}
