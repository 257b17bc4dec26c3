//! Several real servers on one PostgreSQL, each with a folder of its own and the same files in it, and a proxy in front.

use crate::crib::{path, until};
use crate::harness::{ADMIN_KEY, Running, Sandbox};
use crate::plain::Plain;
use crate::proxy::Proxy;
use crate::skipping::postgres_url;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// All of them open what one of them has sealed.
const SECRET_KEY: &str = "k1:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

pub(crate) struct Fleet {
    /// None is one that was killed.
    pub(crate) servers: Vec<Option<Running>>,
    pub(crate) sandboxes: Vec<Sandbox>,
    pub(crate) proxy: Proxy,
    database: Database,
}

/// Gone when dropped.
struct Database {
    url: String,
    name: String,
}

impl Fleet {
    /// None where there is no PostgreSQL.
    pub(crate) fn new(size: usize) -> Option<Self> {
        Fleet::of(size, |_| {})
    }

    /// The same with workspaces that are set up so.
    pub(crate) fn of(size: usize, set_up: impl Fn(&Sandbox)) -> Option<Self> {
        Fleet::told(size, set_up, |_, _| {})
    }

    /// The same with something more said to each, who are told who was started before.
    pub(crate) fn told(
        size: usize,
        set_up: impl Fn(&Sandbox),
        tell: impl Fn(&[Option<Running>], &mut Command),
    ) -> Option<Self> {
        let database = Database::new(postgres_url()?);
        let (mut servers, mut sandboxes) = (Vec::new(), Vec::new());
        for _ in 0..size {
            let sandbox = Sandbox::new()
                .with("PATH", &path())
                .with("DATABASE_URL", &database.own())
                .with("TOOLCRIB_SECRET_KEY", SECRET_KEY)
                .with("TOOLCRIB_MCP_CONFORMANCE", "true")
                .with("TOOLCRIB_BUILTINS_FIXTURES", "true");
            set_up(&sandbox);
            let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
            command.env("TOOLCRIB_ADMIN_KEY", ADMIN_KEY);
            tell(&servers, &mut command);
            servers.push(Some(Running::start(command)));
            sandboxes.push(sandbox);
        }
        let addresses = servers.iter().flatten().map(|it| it.address.clone());
        let proxy = Proxy::start(addresses.collect());
        Some(Fleet {
            servers,
            sandboxes,
            proxy,
            database,
        })
    }

    pub(crate) fn server(&self, number: usize) -> &Running {
        self.servers[number].as_ref().unwrap()
    }

    /// A client that asks this one.
    pub(crate) fn at(&self, number: usize) -> Plain<'_> {
        Plain::admin(self.server(number))
    }

    /// A client that asks whoever is next.
    pub(crate) fn plain(&self) -> Plain<'_> {
        Plain::at(&self.proxy.address, Some(ADMIN_KEY))
    }

    /// The numbers of those that run.
    pub(crate) fn running(&self) -> Vec<usize> {
        let all = self.servers.iter().enumerate();
        all.filter_map(|(number, it)| it.as_ref().map(|_| number))
            .collect()
    }

    /// Ends a server without a word.
    pub(crate) fn kill(&mut self, number: usize) {
        self.servers[number] = None;
    }

    /// Waits until this server knows that so many others are there.
    pub(crate) fn knows(&self, number: usize, others: usize) {
        until("the others are known", || {
            let health = self.server(number).request("GET", "/readyz", None).1;
            let known = health["replicas"]["others"].as_array().map(Vec::len);
            (known == Some(others)).then_some(())
        });
    }

    /// Stores a tool, and waits until everybody has it.
    pub(crate) fn add(&self, number: usize, name: &str) {
        let tool = json!({
            "name": name, "description": "Adds", "kind": "builtin", "config": {"name": "calculator"},
            "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}},
        });
        let server = self.server(number);
        let (status, made): (u16, Value) = server.request("POST", "/api/v1/tools", Some(&tool));
        assert_eq!(status, 201, "{made}");
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.servers.clear();
        let Database { url, name } = &self.database;
        admin(url, format!("DROP DATABASE {name} WITH (FORCE)"));
    }
}

impl Database {
    fn new(url: String) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("fleet_{}_{number}", std::process::id());
        admin(&url, format!("CREATE DATABASE {name}"));
        Database { url, name }
    }

    fn own(&self) -> String {
        let (server, rest) = self.url.rsplit_once('/').unwrap();
        let options = rest.split_once('?').map(|(_, it)| format!("?{it}"));
        format!("{server}/{}{}", self.name, options.unwrap_or_default())
    }
}

fn admin(url: &str, sql: String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let pool = sqlx::PgPool::connect(url).await.unwrap();
        let done = sqlx::query(AssertSqlSafe(sql)).execute(&pool).await;
        done.unwrap();
        pool.close().await;
    });
}
