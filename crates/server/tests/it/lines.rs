//! What becomes of a server when its lines to PostgreSQL break where nobody is told.

use crate::between::Between;
use crate::replicas::{KEY, Place};
use crate::scripted::until;
use crate::testapp::{ADMIN, Setup, TestApp, admin_sql, definition};
use serde_json::{Value, json};

/// Runs a test with a server that is led around on its way to the database, and one that is not.
pub(crate) async fn led_around<F: AsyncFn(&TestApp, &TestApp, &Between)>(test: F) {
    let Some(between) = Between::start().await else {
        return;
    };
    let place = Place {
        database: format!("lines_{}", uuid::Uuid::new_v4().simple()),
        tools: json!([]),
    };
    admin_sql(format!("CREATE DATABASE {}", place.database)).await;
    let setup = Setup {
        way: Some(between.url(&place.database)),
        ..Setup::default()
    };
    let led = place
        .open_in(tempfile::tempdir().unwrap(), KEY, setup)
        .await;
    let straight = place.open(KEY).await;
    test(&led, &straight, &between).await;
    tokio::join!(led.stop(), straight.stop());
    admin_sql(format!("DROP DATABASE {} WITH (FORCE)", place.database)).await;
}

#[tokio::test]
async fn a_line_that_fell_silent_is_replaced() {
    led_around(async |led, straight, between| {
        until("it listens", async || {
            (between.listeners() == 1).then_some(())
        })
        .await;
        between.silence_listeners();
        until("it listens anew", async || {
            (between.listeners() > 1).then_some(())
        })
        .await;
        let made = straight.post("/api/v1/tools", definition("adder")).await;
        assert_eq!(made.status, 201, "{}", made.body);
        led.comes_to("/api/v1/tools/adder", "/version", json!(1))
            .await;
    })
    .await;
}

#[tokio::test]
async fn changes_are_found_though_no_line_can_be_listened_on() {
    led_around(async |led, straight, between| {
        until("it listens", async || {
            (between.listeners() == 1).then_some(())
        })
        .await;
        between.deafen();
        // Twice: once while the old line is not known to be lost, once while none can be opened.
        for (number, name) in ["first", "second"].into_iter().enumerate() {
            let made = straight
                .post("/api/v1/users", json!({"name": name, "role": "viewer"}))
                .await;
            assert_eq!(made.status, 201, "{}", made.body);
            until("it is found by looking", async || {
                // Nothing is asked of it that would make it look.
                let users = led.get("/api/v1/users").await.body.to_string();
                users.contains(name).then_some(())
            })
            .await;
            until("another line is tried", async || {
                (between.listeners() > number + 1).then_some(())
            })
            .await;
        }
    })
    .await;
}

#[tokio::test]
async fn whatever_was_stored_counts_though_the_answer_was_lost() {
    led_around(async |led, _, between| {
        let path = led.folder.path().join("some.db");
        let changes: [(&str, &str, Value, &str); 6] = [
            (
                "POST",
                "/api/v1/agents",
                json!({"name": "one", "model_provider": "openai", "model_name": "m"}),
                "/api/v1/agents/one",
            ),
            (
                "POST",
                "/api/v1/toolsets",
                json!({"name": "one", "tools": []}),
                "/api/v1/toolsets/one",
            ),
            (
                "POST",
                "/api/v1/sources",
                json!({"name": "one", "kind": "sqlite", "path": path}),
                "/api/v1/sources/one",
            ),
            (
                "POST",
                "/api/v1/servers",
                json!({"name": "one", "url": "http://127.0.0.1:9/mcp", "disabled": true}),
                "/api/v1/servers/one",
            ),
            (
                "POST",
                "/api/v1/users",
                json!({"name": "one", "role": "viewer"}),
                "/api/v1/users/one",
            ),
            (
                "POST",
                "/api/v1/tools",
                definition("one"),
                "/api/v1/tools/one",
            ),
        ];
        for (number, (method, path, body, there)) in changes.into_iter().enumerate() {
            between.lose_commits(true);
            let lost = led.as_key(ADMIN, method, path, body).await;
            between.lose_commits(false);
            assert_eq!(lost.status, 503, "{path} {}", lost.body);
            assert_eq!(between.lost_commits(), number + 1, "{path}");
            led.comes_to(there, "/name", json!("one")).await;
        }
    })
    .await;
}
