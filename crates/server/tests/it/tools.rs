//! Creating, reading, changing and removing tools.

use crate::testapp::{ADMIN, TestApp, definition, on_both};
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

#[tokio::test]
async fn a_created_tool_is_there_at_once_under_name_and_id() {
    on_both(async |app: &TestApp| {
        let made = app.post("/api/v1/tools", definition("tax")).await;
        assert_eq!(made.status, 201, "{}", made.body);
        assert_eq!(made.headers["location"], "/api/v1/tools/tax");
        let tool = &made.body;
        assert_eq!(
            (&tool["shelf"], &tool["version"], &tool["owner"]),
            (&json!("database"), &json!(1), &json!("admin"))
        );
        assert_eq!(
            (
                &tool["is_active"],
                &tool["parallel_capable"],
                &tool["is_public"]
            ),
            (&json!(true), &json!(true), &json!(false))
        );
        let id = tool["id"].as_str().unwrap();
        for address in ["tax", id] {
            assert_eq!(
                app.get(&format!("/api/v1/tools/{address}")).await.body,
                *tool
            );
        }
        let called = app
            .post(
                "/api/v1/tools/tax/call",
                json!({"arguments": {"expression": "100 * 1.19"}}),
            )
            .await;
        assert_eq!(
            (called.status, &called.body["data"]),
            (200, &json!(119)),
            "{}",
            called.body
        );
    })
    .await;
}

#[tokio::test]
async fn what_was_fetched_can_be_changed_and_sent_back() {
    on_both(async |app: &TestApp| {
        for shelf in ["file", "database"] {
            let name = format!("tool_{shelf}");
            let mut body = definition(&name);
            body["shelf"] = json!(shelf);
            let mut tool = app.post("/api/v1/tools", body).await.body;
            tool["description"] = json!("New words");
            tool["timeout_seconds"] = json!(2.5);
            let path = format!("/api/v1/tools/{name}");
            let put = app.as_key(ADMIN, "PUT", &path, tool).await;
            assert_eq!(
                (put.status, &put.body["version"]),
                (200, &json!(2)),
                "{}",
                put.body
            );
            let same = app.as_key(ADMIN, "PUT", &path, put.body.clone()).await;
            assert_eq!(same.body["version"], json!(2), "no change makes no version");
            let patched = app
                .as_key(
                    ADMIN,
                    "PATCH",
                    &path,
                    json!({"is_active": false, "timeout_seconds": null}),
                )
                .await;
            assert_eq!(
                (
                    &patched.body["version"],
                    &patched.body["is_active"],
                    &patched.body["timeout_seconds"]
                ),
                (&json!(3), &json!(false), &Value::Null)
            );
            assert_eq!(patched.body["description"], json!("New words"));
            let refused = app
                .post(
                    &format!("{path}/call"),
                    json!({"arguments": {"expression": "1"}}),
                )
                .await;
            assert_eq!((refused.status, refused.code()), (409, "tool_inactive"));
            assert_eq!(
                app.as_key(ADMIN, "DELETE", &path, Value::Null).await.status,
                204
            );
            assert_eq!(app.get(&path).await.status, 404);
        }
    })
    .await;
}

#[tokio::test]
async fn a_renamed_tool_leaves_its_old_name() {
    on_both(async |app: &TestApp| {
        for shelf in ["file", "database"] {
            let (old, new) = (format!("old_{shelf}"), format!("new_{shelf}"));
            let mut body = definition(&old);
            body["shelf"] = json!(shelf);
            app.post("/api/v1/tools", body).await;
            let renamed = app
                .as_key(
                    ADMIN,
                    "PATCH",
                    &format!("/api/v1/tools/{old}"),
                    json!({"name": new}),
                )
                .await;
            assert_eq!(
                (renamed.status, &renamed.body["name"]),
                (200, &json!(new)),
                "{}",
                renamed.body
            );
            assert_eq!(app.get(&format!("/api/v1/tools/{old}")).await.status, 404);
            assert_eq!(app.get(&format!("/api/v1/tools/{new}")).await.status, 200);
            let again = app.post("/api/v1/tools", definition(&old)).await;
            assert_eq!(again.status, 201, "the old name is free: {}", again.body);
        }
    })
    .await;
}

#[tokio::test]
async fn a_change_from_an_old_version_is_refused() {
    on_both(async |app: &TestApp| {
        app.post("/api/v1/tools", definition("tax")).await;
        let change = async |version: &str, words: &str| {
            let request = Request::builder()
                .method("PATCH")
                .uri("/api/v1/tools/tax")
                .header("x-api-key", ADMIN)
                .header("content-type", "application/json")
                .header("if-match", version)
                .body(Body::from(json!({"description": words}).to_string()));
            app.send(request.unwrap()).await
        };
        assert_eq!(change("\"1\"", "first").await.status, 200);
        let late = change("\"1\"", "second").await;
        assert_eq!((late.status, late.code()), (409, "conflict"));
        assert!(late.message().contains("version 2"), "{}", late.message());
        assert_eq!(change("nonsense", "x").await.status, 400);
        let remove = async |version: &str| {
            let request = Request::builder()
                .method("DELETE")
                .uri("/api/v1/tools/tax")
                .header("x-api-key", ADMIN)
                .header("if-match", version)
                .body(Body::empty());
            app.send(request.unwrap()).await.status
        };
        assert_eq!(remove("\"1\"").await, 409);
        assert_eq!(app.get("/api/v1/tools/tax").await.headers["etag"], "\"2\"");
        assert_eq!(remove("\"2\"").await, 204);
    })
    .await;
}

#[tokio::test]
async fn names_clash_across_shelves_with_both_places_named() {
    on_both(async |app: &TestApp| {
        let mut on_file = definition("tax");
        on_file["shelf"] = json!("file");
        assert_eq!(app.post("/api/v1/tools", on_file.clone()).await.status, 201);
        let clash = app.post("/api/v1/tools", definition("tax")).await;
        assert_eq!((clash.status, clash.code()), (409, "conflict"));
        assert!(
            clash.message().contains("tools.json") && clash.message().contains("database shelf"),
            "{}",
            clash.message()
        );
        let builtin = app.post("/api/v1/tools", definition("calculator")).await;
        assert!(
            builtin.message().contains("among the builtins"),
            "{}",
            builtin.message()
        );
        let change = app
            .as_key(
                ADMIN,
                "PATCH",
                "/api/v1/tools/calculator",
                json!({"is_active": false}),
            )
            .await;
        assert_eq!(change.status, 409);
        assert!(
            change.message().contains("builtins.disabled"),
            "{}",
            change.message()
        );
        // The operator may put a tool of a builtin's name on the file shelf, and gets the builtin back.
        on_file["name"] = json!("calculator");
        assert_eq!(app.post("/api/v1/tools", on_file).await.status, 201);
        assert_eq!(
            app.get("/api/v1/tools/calculator").await.body["shelf"],
            "file"
        );
        assert_eq!(
            app.as_key(ADMIN, "DELETE", "/api/v1/tools/calculator", Value::Null)
                .await
                .status,
            204
        );
        assert_eq!(
            app.get("/api/v1/tools/calculator").await.body["shelf"],
            "builtin"
        );
    })
    .await;
}

#[tokio::test]
async fn a_wrong_definition_is_refused_with_every_problem() {
    on_both(async |app: &TestApp| {
        let wrong = json!({"name": "no spaces", "kind": "bultin", "timeout_seconds": -1, "input_schema": {"type": "strng"}});
        let refused = app.post("/api/v1/tools", wrong).await;
        assert_eq!((refused.status, refused.code()), (422, "invalid"));
        let problems = refused.body["error"]["details"]["problems"].as_array().unwrap();
        let paths: Vec<_> = problems.iter().map(|p| p["path"].as_str().unwrap()).collect();
        for path in ["$.name", "$.kind", "$.timeout_seconds"] {
            assert!(paths.contains(&path), "{path} in {paths:?}");
        }
        let mut bad_schema = definition("x");
        bad_schema["input_schema"] = json!({"type": "object", "properties": {"a": {"type": "strng"}}});
        let refused = app.post("/api/v1/tools", bad_schema).await;
        assert_eq!(refused.status, 422);
        assert_eq!(
            refused.body["error"]["details"]["problems"][0]["path"],
            "$.input_schema.properties.a.type"
        );
        let mut secret = definition("x");
        secret["shelf"] = json!("file");
        secret["auth_config"] = json!({"type": "bearer", "token": "hunter2-in-the-clear"});
        let refused = app.post("/api/v1/tools", secret).await;
        assert_eq!(refused.status, 422);
        assert!(!refused.body.to_string().contains("hunter2"), "{}", refused.body);
        assert_eq!(app.get("/api/v1/tools/x").await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn a_tool_named_test_is_reached_like_any_other() {
    on_both(async |app: &TestApp| {
        assert_eq!(
            app.post("/api/v1/tools", definition("test")).await.status,
            201
        );
        assert_eq!(app.get("/api/v1/tools/test").await.body["name"], "test");
        let patched = app
            .as_key(
                ADMIN,
                "PATCH",
                "/api/v1/tools/test",
                json!({"is_active": false}),
            )
            .await;
        assert_eq!(patched.body["version"], 2, "{}", patched.body);
        assert_eq!(
            app.as_key(ADMIN, "DELETE", "/api/v1/tools/test", Value::Null)
                .await
                .status,
            204
        );
    })
    .await;
}

#[tokio::test]
async fn nobody_takes_another_tools_id_as_a_name() {
    on_both(async |app: &TestApp| {
        let id = app.get("/api/v1/tools/calculator").await.body["id"].clone();
        let id = id.as_str().unwrap();
        app.post("/api/v1/tools", definition(id)).await;
        assert_eq!(
            app.get(&format!("/api/v1/tools/{id}")).await.body["name"],
            "calculator"
        );
        let called = app
            .post(
                &format!("/api/v1/tools/{id}/call"),
                json!({"arguments": {"expression": "1"}}),
            )
            .await;
        assert_eq!(called.body["tool_name"], "calculator");
    })
    .await;
}

#[tokio::test]
async fn a_tool_named_like_anothers_id_is_not_taken_for_it() {
    on_both(async |app: &TestApp| {
        let made = app.post("/api/v1/tools", definition("victim")).await;
        let victim = made.body["id"].as_str().unwrap().to_owned();
        // Names are checked against the ids there are; this one comes before its namesake.
        app.as_key(ADMIN, "DELETE", "/api/v1/tools/victim", Value::Null)
            .await;
        let other = app.post("/api/v1/tools", definition(&victim)).await;
        assert_eq!(other.status, 201, "{}", other.body);
        app.post("/api/v1/tools/victim/restore", json!({})).await;
        let id = other.body["id"].as_str().unwrap();
        let gone = app
            .as_key(ADMIN, "DELETE", &format!("/api/v1/tools/{id}"), Value::Null)
            .await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        assert_eq!(app.get("/api/v1/tools/victim").await.status, 200);
        assert_eq!(app.get(&format!("/api/v1/tools/{id}")).await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn a_character_that_one_engine_cannot_store_is_refused_by_both() {
    on_both(async |app: &TestApp| {
        let mut wrong = definition("nul");
        wrong["description"] = json!("a\u{0}b");
        let good: Vec<_> = (0..10).map(|i| definition(&format!("good_{i}"))).collect();
        let mut on_file = wrong.clone();
        on_file["shelf"] = json!("file");
        for body in [wrong, on_file] {
            let refused = app.post("/api/v1/tools", body).await;
            assert_eq!(
                (refused.status, refused.code()),
                (422, "invalid"),
                "{}",
                refused.body
            );
        }
        for body in good {
            assert_eq!(app.post("/api/v1/tools", body).await.status, 201);
        }
        for path in [
            "/api/v1/tools/%00",
            "/api/v1/tools/%00/versions",
            "/api/v1/tools/a%00b",
        ] {
            assert_eq!(app.get(path).await.status, 404, "{path}");
        }
        assert_eq!(
            app.post("/api/v1/tools/%00/restore", Value::Null)
                .await
                .status,
            404
        );
        for query in ["tool=%00", "caller=%00", "limit=0"] {
            let refused = app.get(&format!("/api/v1/executions?{query}")).await;
            assert_eq!(
                (refused.status, refused.code()),
                (422, "invalid"),
                "{query}"
            );
        }
        let call = json!({"arguments": {"expression": "1"}, "idempotency_key": "a\u{0}b"});
        assert_eq!(
            app.post("/api/v1/tools/calculator/call", call).await.status,
            422
        );
        let call = json!({"arguments": {}, "idempotency_key": "k"});
        assert_eq!(app.post("/api/v1/tools/x%00/call", call).await.status, 404);
    })
    .await;
}
