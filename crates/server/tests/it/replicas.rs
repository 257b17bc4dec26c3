//! Several servers on one PostgreSQL: what one changes counts on the others, and nobody's change is lost.

use crate::people::PASSWORD;
use crate::scripted::until;
use crate::testapp::{ADMIN, Answer, Setup, TestApp, admin_sql, definition, postgres_url};
use axum::body::Body;
use axum::http::Request;
use catalog::clock::Clock;
use catalog::policy::Policy;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

/// The same for all: 32 bytes.
pub(crate) const KEY: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A database of its own for as many servers as a test opens on it.
pub(crate) struct Place {
    pub(crate) database: String,
    pub(crate) tools: Value,
}

impl Place {
    pub(crate) async fn open(&self, key: &str) -> TestApp {
        let folder = tempfile::tempdir().unwrap();
        self.open_in(folder, key, Setup::with_confirmed()).await
    }

    /// The same in a folder that there is, or set up otherwise.
    pub(crate) async fn open_in(&self, folder: TempDir, key: &str, setup: Setup) -> TestApp {
        let text = json!({"version": 1, "tools": self.tools}).to_string();
        std::fs::write(folder.path().join("tools.json"), text).unwrap();
        std::fs::write(folder.path().join("mcp.json"), "{\"mcpServers\": {}}\n").unwrap();
        let database = Some(self.database.clone());
        let clock = Clock::System;
        let key = Some(key.to_owned());
        TestApp::open(
            Arc::new(folder),
            database,
            clock,
            Policy::default(),
            key,
            setup,
        )
        .await
    }
}

/// Runs a test with two servers that know of each other.
pub(crate) async fn with_two<F: AsyncFn(&TestApp, &TestApp, &Place)>(test: F) {
    if postgres_url().is_none() {
        println!("skipped: TOOLCRIB_TEST_POSTGRES names no PostgreSQL");
        return;
    }
    let place = Place {
        database: format!("replicas_{}", uuid::Uuid::new_v4().simple()),
        tools: json!([definition("on_file")]),
    };
    admin_sql(format!("CREATE DATABASE {}", place.database)).await;
    // At the same moment: they make the tables and read the file for the first time side by side.
    let (a, b) = tokio::join!(place.open(KEY), place.open(KEY));
    for app in [&a, &b] {
        until("both know of each other", async || {
            (app.server.app.replicas.others() == 1).then_some(())
        })
        .await;
    }
    test(&a, &b, &place).await;
    tokio::join!(a.stop(), b.stop());
    admin_sql(format!("DROP DATABASE {} WITH (FORCE)", place.database)).await;
}

impl TestApp {
    pub(crate) async fn change(
        &self,
        method: &str,
        path: &str,
        version: Option<i64>,
        body: Value,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        request = request
            .header("x-api-key", ADMIN)
            .header("content-type", "application/json");
        if let Some(version) = version {
            request = request.header("if-match", format!("\"{version}\""));
        }
        self.send(request.body(Body::from(body.to_string())).unwrap())
            .await
    }

    /// Until what is at the path is so.
    pub(crate) async fn comes_to(&self, path: &str, pointer: &str, value: Value) {
        until(&format!("{path} {pointer} is {value}"), async || {
            let got = self.get(path).await;
            (got.body.pointer(pointer) == Some(&value)).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn what_one_server_changes_of_tools_counts_on_the_other() {
    with_two(async |a, b, _| {
        let made = a.post("/api/v1/tools", definition("adder")).await;
        assert_eq!(made.status, 201, "{}", made.body);
        // At once, though nobody waited: what is not known is looked for.
        let called = b
            .post(
                "/api/v1/tools/adder/call",
                json!({"arguments": {"expression": "1+2"}}),
            )
            .await;
        assert_eq!(
            (called.status, &called.body["data"]),
            (200, &json!(3)),
            "{}",
            called.body
        );
        let patch = json!({"description": "Adds much"});
        assert_eq!(
            b.change("PATCH", "/api/v1/tools/adder", None, patch)
                .await
                .status,
            200
        );
        a.comes_to("/api/v1/tools/adder", "/description", json!("Adds much"))
            .await;
        assert_eq!(
            a.change(
                "PATCH",
                "/api/v1/tools/adder",
                None,
                json!({"name": "summer"})
            )
            .await
            .status,
            200
        );
        b.comes_to("/api/v1/tools/summer", "/version", json!(3))
            .await;
        assert_eq!(b.get("/api/v1/tools/adder").await.status, 404);
        // The old name is free, and goes to another tool while the first one is removed.
        assert_eq!(
            b.post("/api/v1/tools", definition("adder")).await.status,
            201
        );
        assert_eq!(
            b.change("DELETE", "/api/v1/tools/summer", None, Value::Null)
                .await
                .status,
            204
        );
        until("it is gone", async || {
            (a.get("/api/v1/tools/summer").await.status == 404).then_some(())
        })
        .await;
        assert_eq!(a.get("/api/v1/tools/adder").await.body["version"], 1);
        let history = a.get("/api/v1/tools/summer/versions").await;
        assert_eq!(
            history.body["items"].as_array().unwrap().len(),
            4,
            "{}",
            history.body
        );
    })
    .await;
}

#[tokio::test]
async fn people_keys_and_sessions_of_one_server_come_in_through_the_other() {
    with_two(async |a, b, _| {
        let cookie = a.person("kim", "author").await.cookie;
        let me = b
            .as_browser(&cookie, None, "GET", "/api/v1/me", Value::Null)
            .await;
        assert_eq!(
            (me.status, &me.body["user"]),
            (200, &json!("kim")),
            "{}",
            me.body
        );
        let made = a
            .post("/api/v1/keys", json!({"name": "k", "scopes": ["read"]}))
            .await;
        let key = made.body["key"].as_str().unwrap();
        assert_eq!(
            b.as_key(key, "GET", "/api/v1/tools", Value::Null)
                .await
                .status,
            200
        );
        let id = made.body["id"].as_str().unwrap();
        assert_eq!(
            a.change("DELETE", &format!("/api/v1/keys/{id}"), None, Value::Null)
                .await
                .status,
            204
        );
        until("a revoked key is refused", async || {
            (b.as_key(key, "GET", "/api/v1/tools", Value::Null)
                .await
                .status
                == 401)
                .then_some(())
        })
        .await;
        assert_eq!(b.log_in("kim", PASSWORD).await.status, 200);
        let role = json!({"role": "viewer"});
        assert_eq!(
            b.change("PATCH", "/api/v1/users/kim", None, role)
                .await
                .status,
            200
        );
        a.comes_to("/api/v1/users/kim", "/role", json!("viewer"))
            .await;
    })
    .await;
}

#[tokio::test]
async fn everything_else_that_is_kept_counts_on_the_other() {
    with_two(async |a, b, _| {
        let calculator = "/api/v1/policy/explain?tool=calculator";
        let rules = json!({"rules": [{"subject": "everyone", "deny": ["calculator"]}]});
        let set = a.change("PUT", "/api/v1/policy", None, rules).await;
        assert_eq!(set.status, 200, "{}", set.body);
        b.comes_to(calculator, "/verdict", json!("denied")).await;
        let agent =
            json!({"name": "clerk", "model_provider": "anthropic", "model_name": "m", "tools": []});
        assert_eq!(a.post("/api/v1/agents", agent).await.status, 201);
        b.comes_to("/api/v1/agents/clerk", "/version", json!(1))
            .await;
        assert_eq!(
            b.change(
                "PATCH",
                "/api/v1/agents/clerk",
                None,
                json!({"description": "d"})
            )
            .await
            .status,
            200
        );
        a.comes_to("/api/v1/agents/clerk", "/description", json!("d"))
            .await;
        assert_eq!(
            a.post(
                "/api/v1/toolsets",
                json!({"name": "set", "tools": ["calculator"]})
            )
            .await
            .status,
            201
        );
        b.comes_to("/api/v1/toolsets/set", "/version", json!(1))
            .await;
        let limit = json!({"target_type": "TOOL", "target_id": "on_file", "max_count": 0});
        assert_eq!(a.post("/api/v1/limits", limit).await.status, 201);
        until("the limit holds", async || {
            let called = b
                .post(
                    "/api/v1/tools/on_file/call",
                    json!({"arguments": {"expression": "1"}}),
                )
                .await;
            (called.status == 429).then_some(())
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn what_tools_use_counts_on_the_other() {
    with_two(async |a, b, _| {
        let secret = json!({"value": "something secret"});
        assert_eq!(
            a.change("PUT", "/api/v1/secrets/token", None, secret)
                .await
                .status,
            201
        );
        b.comes_to("/api/v1/secrets", "/items/0/name", json!("token"))
            .await;
        let path = a.folder.path().join("some.db");
        let source = json!({"name": "some", "kind": "sqlite", "path": path});
        let made = a.post("/api/v1/sources", source).await;
        assert_eq!(made.status, 201, "{}", made.body);
        b.comes_to("/api/v1/sources/some", "/name", json!("some"))
            .await;
        let server = json!({"name": "up", "url": "http://127.0.0.1:9/mcp", "disabled": true});
        let made = a.post("/api/v1/servers", server).await;
        assert_eq!(made.status, 201, "{}", made.body);
        b.comes_to("/api/v1/servers/up", "/state", json!("disabled"))
            .await;
        assert_eq!(
            b.change("DELETE", "/api/v1/servers/up", None, Value::Null)
                .await
                .status,
            204
        );
        until("it is gone", async || {
            (a.get("/api/v1/servers/up").await.status == 404).then_some(())
        })
        .await;
        let confirmed = "/api/v1/tools/on_file/confirmed";
        assert_eq!(
            a.post(confirmed, json!({"query": "how much is it?"}))
                .await
                .status,
            201
        );
        b.comes_to(confirmed, "/items/0/query", json!("how much is it?"))
            .await;
    })
    .await;
}

#[tokio::test]
async fn no_change_is_lost_between_two_servers() {
    with_two(async |a, b, _| {
        assert_eq!(
            a.post("/api/v1/tools", definition("counter")).await.status,
            201
        );
        const EACH: usize = 30;
        let count = async |app: &TestApp, other: &TestApp| {
            for number in 0..EACH {
                // As round-robin has it: read here, changed there.
                let (reads, writes) = if number % 2 == 0 {
                    (app, other)
                } else {
                    (other, app)
                };
                loop {
                    let shown = reads.get("/api/v1/tools/counter").await.body;
                    let counted: usize = shown["description_user"]
                        .as_str()
                        .unwrap_or("0")
                        .parse()
                        .unwrap();
                    let patch = json!({"description_user": (counted + 1).to_string()});
                    let version = shown["version"].as_i64();
                    let done = writes
                        .change("PATCH", "/api/v1/tools/counter", version, patch)
                        .await;
                    match done.status {
                        200 => break,
                        409 => assert!(
                            done.body["error"]["details"]["version"].is_i64(),
                            "{}",
                            done.body
                        ),
                        status => panic!("{status} {}", done.body),
                    }
                }
            }
        };
        tokio::join!(count(a, b), count(b, a), count(a, b));
        for app in [a, b] {
            app.comes_to(
                "/api/v1/tools/counter",
                "/description_user",
                json!((3 * EACH).to_string()),
            )
            .await;
            app.comes_to("/api/v1/tools/counter", "/version", json!(3 * EACH + 1))
                .await;
        }
        // Without a version a patch is meant for whatever is there: both of them count.
        let patch = async |app: &TestApp, member: &str| {
            let done = app
                .change(
                    "PATCH",
                    "/api/v1/tools/counter",
                    None,
                    json!({"config": {"name": "calculator"}, member: "x"}),
                )
                .await;
            assert_eq!(done.status, 200, "{}", done.body);
        };
        tokio::join!(patch(a, "description"), patch(b, "description_user"));
        for member in ["/description", "/description_user"] {
            a.comes_to("/api/v1/tools/counter", member, json!("x"))
                .await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_change_from_an_older_version_is_told_what_has_changed() {
    with_two(async |a, b, _| {
        assert_eq!(a.post("/api/v1/tools", definition("adder")).await.status, 201);
        let patch = json!({"description": "Adds much"});
        assert_eq!(b.change("PATCH", "/api/v1/tools/adder", Some(1), patch).await.status, 200);
        let mine = json!({"description": "Adds little"});
        let late = a.change("PATCH", "/api/v1/tools/adder", Some(1), mine).await;
        assert_eq!((late.status, late.code()), (409, "conflict"), "{}", late.body);
        let details = &late.body["error"]["details"];
        let changed = json!([{"path": "$.description", "before": "Adds the tax to a price", "after": "Adds much"}]);
        assert_eq!((&details["version"], &details["changes"]), (&json!(2), &changed), "{}", late.body);
        let removed = a.change("DELETE", "/api/v1/tools/adder", Some(1), Value::Null).await;
        assert_eq!((removed.status, &removed.body["error"]["details"]["changes"]), (409, &changed));
    })
    .await;
}

#[tokio::test]
async fn changes_arrive_without_the_line_and_after_they_are_forgotten() {
    with_two(async |a, b, place| {
        // Both listen; their lines are cut, and what is told meanwhile is lost.
        let cut = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND query LIKE 'LISTEN%'",
            place.database
        );
        admin_sql(cut).await;
        assert_eq!(a.post("/api/v1/tools", definition("adder")).await.status, 201);
        // A list asks nobody.
        until("it is listed", async || {
            let listed = b.get("/api/v1/tools?q=adder").await;
            (listed.body["items"][0]["name"] == "adder").then_some(())
        })
        .await;
        // As after a long absence: changes that the other never heard of are not there any more.
        a.sql("INSERT INTO tools (id, name, owner_id, definition, version, created_at, updated_at) \
            SELECT '00000000-0000-4000-8000-000000000001', 'unheard', owner_id, replace(definition, 'adder', 'unheard'), 1, 0, 0 \
            FROM tools WHERE name = 'adder'; UPDATE revision SET number = number + 5")
            .await;
        b.comes_to("/api/v1/tools/unheard", "/version", json!(1)).await;
    })
    .await;
}
