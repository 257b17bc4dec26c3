//! Keys: what each scope opens, and that a key ends when it should.

use crate::testapp::{ADMIN, TestApp, on_both};
use serde_json::{Value, json};

#[tokio::test]
async fn a_scope_opens_its_own_doors_and_no_other() {
    on_both(async |app: &TestApp| {
        let doors = [
            ("read", "GET", "/api/v1/tools", Value::Null),
            (
                "call",
                "POST",
                "/api/v1/tools/calculator/call",
                json!({"arguments": {"expression": "1"}}),
            ),
            ("author", "DELETE", "/api/v1/tools/nothing", Value::Null),
            ("admin", "GET", "/api/v1/audit", Value::Null),
        ];
        for scope in ["read", "call", "author", "admin"] {
            let key = app.key(&[scope]).await;
            for (needed, method, path, body) in &doors {
                let answer = app.as_key(&key, method, path, body.clone()).await;
                let allowed = scope == *needed || scope == "admin";
                assert_eq!(
                    answer.status != 403,
                    allowed,
                    "{scope} at {path}: {}",
                    answer.body
                );
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_is_shown_once_and_ends_when_revoked_or_expired() {
    on_both(async |app: &TestApp| {
        let made = app
            .post(
                "/api/v1/keys",
                json!({"name": "ci", "scopes": ["read"], "expires_at": "2027-06-01T00:00:00Z"}),
            )
            .await;
        let (id, key) = (
            made.body["id"].as_str().unwrap(),
            made.body["key"].as_str().unwrap(),
        );
        assert!(key.starts_with("tck_"));
        let listed = app.get("/api/v1/keys").await;
        assert!(
            !listed.body.to_string().contains(&key[40..]),
            "never the secret"
        );
        let status = async || {
            app.as_key(key, "GET", "/api/v1/tools", Value::Null)
                .await
                .status
        };
        assert_eq!(status().await, 200);
        app.clock.advance(365 * 24 * 3600 * 1000);
        assert_eq!(status().await, 401, "expired");
        app.clock.advance(-365 * 24 * 3600 * 1000);
        assert_eq!(status().await, 200);
        assert_eq!(
            app.as_key(ADMIN, "DELETE", &format!("/api/v1/keys/{id}"), Value::Null)
                .await
                .status,
            204
        );
        assert_eq!(status().await, 401, "revoked");
        assert_eq!(
            app.as_key(
                ADMIN,
                "DELETE",
                "/api/v1/keys/00000000-0000-0000-0000-000000000000",
                Value::Null
            )
            .await
            .status,
            404
        );
    })
    .await;
}

#[tokio::test]
async fn wrong_keys_are_refused_with_what_is_needed() {
    on_both(async |app: &TestApp| {
        let bodies = [
            json!({"name": "", "scopes": ["read"]}),
            json!({"name": "x", "scopes": []}),
            json!({"name": "x", "scopes": ["root"]}),
            json!({"name": "x", "scopes": ["read"], "expires_at": "2001-01-01T00:00:00Z"}),
            json!({"name": "x", "scopes": ["read"], "user": "nobody"}),
        ];
        for body in bodies {
            let refused = app.post("/api/v1/keys", body.clone()).await;
            assert_eq!((refused.status, refused.code()), (422, "invalid"), "{body}");
        }
    })
    .await;
}

#[tokio::test]
async fn keys_revoked_together_are_all_gone() {
    on_both(async |app: &TestApp| {
        let mut keys = Vec::new();
        for i in 0..20 {
            let made = app
                .post(
                    "/api/v1/keys",
                    json!({"name": format!("k{i}"), "scopes": ["read"]}),
                )
                .await;
            keys.push((
                made.body["id"].as_str().unwrap().parse().unwrap(),
                made.body["key"].as_str().unwrap().to_owned(),
            ));
        }
        let revoked: Vec<_> = keys
            .iter()
            .map(|(id, _): &(uuid::Uuid, String)| {
                let (app, id) = (std::sync::Arc::clone(&app.server.app), *id);
                tokio::spawn(async move {
                    app.revoke_key(&app::access::operator_caller("test"), id)
                        .await
                })
            })
            .collect();
        for done in revoked {
            done.await.unwrap().unwrap();
        }
        for (_, key) in &keys {
            assert_eq!(
                app.as_key(key, "GET", "/api/v1/tools", Value::Null)
                    .await
                    .status,
                401
            );
        }
    })
    .await;
}
