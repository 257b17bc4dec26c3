//! History, rolling back, restoring, on both shelves.

use crate::testapp::{ADMIN, TestApp, definition, on_both};
use serde_json::{Value, json};
use std::fs;

#[tokio::test]
async fn every_change_makes_a_version_and_any_can_come_back() {
    on_both(async |app: &TestApp| {
        for shelf in ["file", "database"] {
            let name = format!("tax_{shelf}");
            let path = format!("/api/v1/tools/{name}");
            let mut body = definition(&name);
            body["shelf"] = json!(shelf);
            app.post("/api/v1/tools", body).await;
            app.as_key(ADMIN, "PATCH", &path, json!({"description": "Second"}))
                .await;
            app.as_key(ADMIN, "PATCH", &path, json!({"timeout_seconds": 9}))
                .await;
            let back = app
                .post(&format!("{path}/rollback"), json!({"version": 1}))
                .await;
            assert_eq!(
                (back.status, &back.body["version"]),
                (200, &json!(4)),
                "{}",
                back.body
            );
            assert_eq!(back.body["description"], "Adds the tax to a price");
            assert_eq!(
                app.as_key(ADMIN, "DELETE", &path, Value::Null).await.status,
                204
            );
            let history = app.get(&format!("{path}/versions")).await.body["items"]
                .as_array()
                .unwrap()
                .clone();
            let actions: Vec<_> = history
                .iter()
                .map(|v| v["action"].as_str().unwrap())
                .collect();
            assert_eq!(
                actions,
                ["delete", "rollback", "update", "update", "create"]
            );
            assert_eq!(
                history[2]["changes"],
                json!([{"path": "$.timeout_seconds", "before": null, "after": 9.0}])
            );
            assert!(history.iter().all(|v| v["changed_by"] == "admin"));
            let restored = app.post(&format!("{path}/restore"), Value::Null).await;
            assert_eq!(
                (restored.status, &restored.body["version"]),
                (200, &json!(6)),
                "{}",
                restored.body
            );
            assert_eq!(
                app.post(&format!("{path}/restore"), Value::Null)
                    .await
                    .status,
                409
            );
            assert_eq!(
                app.post(&format!("{path}/rollback"), json!({"version": 99}))
                    .await
                    .status,
                404
            );
            let second = app.get(&format!("{path}/versions/2")).await.body;
            assert_eq!(second["definition"]["description"], "Second");
        }
    })
    .await;
}

#[tokio::test]
async fn a_change_made_while_no_server_ran_is_in_the_history() {
    on_both(async |app: &TestApp| {
        let mut body = definition("tax");
        body["shelf"] = json!("file");
        app.post("/api/v1/tools", body).await;
        app.stop().await;
        let text = fs::read_to_string(app.tools_file()).unwrap();
        fs::write(
            app.tools_file(),
            text.replace("Adds the tax", "Takes off the tax"),
        )
        .unwrap();
        let next = app.restart().await;
        let versions = next.get("/api/v1/tools/tax/versions").await.body;
        assert_eq!(
            (
                &versions["items"][0]["version"],
                &versions["items"][0]["changed_by"]
            ),
            (&json!(2), &json!("file")),
            "{versions}"
        );
        let again = next.restart().await;
        assert_eq!(
            again.get("/api/v1/tools/tax").await.body["version"],
            2,
            "an unchanged file makes no version"
        );
        fs::write(app.tools_file(), "{\"version\": 1, \"tools\": []}").unwrap();
        let last = again.restart().await;
        let gone = last.get("/api/v1/tools/tax/versions").await.body;
        assert_eq!(gone["items"][0]["action"], "delete");
        last.stop().await;
    })
    .await;
}

#[tokio::test]
async fn history_shows_no_more_than_the_tool_itself() {
    on_both(async |app: &TestApp| {
        let mut body = definition("with_auth");
        body["shelf"] = json!("file");
        body["auth_config"] = json!({"type": "bearer", "token": {"$env": "SUPER_SECRET_NAME"}});
        assert_eq!(app.post("/api/v1/tools", body).await.status, 201);
        app.as_key(
            ADMIN,
            "PATCH",
            "/api/v1/tools/with_auth",
            json!({"auth_config": null}),
        )
        .await;
        let reader = app.key(&["read"]).await;
        for path in ["", "/versions", "/versions/1", "/versions/2"] {
            let path = format!("/api/v1/tools/with_auth{path}");
            let shown = app.as_key(&reader, "GET", &path, Value::Null).await;
            assert_eq!(shown.status, 200);
            assert!(
                !shown.body.to_string().contains("SUPER_SECRET_NAME"),
                "{path}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_rule_hides_stays_hidden_when_it_is_gone() {
    on_both(async |app: &TestApp| {
        let mut body = definition("internal_x");
        body["shelf"] = json!("file");
        assert_eq!(app.post("/api/v1/tools", body).await.status, 201);
        let rules = json!([{"subject": "role", "target": "viewer", "hide": ["internal_*"]}]);
        let set = json!({"rules": rules});
        let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", set).await;
        assert_eq!(set.status, 200, "{}", set.body);
        let viewer = app.person("kim", "viewer").await.key;
        let path = "/api/v1/tools/internal_x";
        let history = async |key: &str| {
            let path = format!("{path}/versions");
            app.as_key(key, "GET", &path, Value::Null).await.status
        };
        assert_eq!((history(&viewer).await, history(ADMIN).await), (404, 200));
        let gone = app.as_key(ADMIN, "DELETE", path, Value::Null).await;
        assert_eq!(gone.status, 204);
        assert_eq!((history(&viewer).await, history(ADMIN).await), (404, 200));
    })
    .await;
}

const SHARED: &str = "/api/v1/tools/shared";

/// A tool whose versions are private, public, public, private and public.
async fn share(app: &TestApp, kim: &str) {
    let mut body = definition("shared");
    body["description"] = json!("the private past");
    body["auth_config"] =
        json!({"type": "basic", "username": "kims-account", "password": "hush-hush-hush"});
    assert_eq!(
        app.as_key(kim, "POST", "/api/v1/tools", body).await.status,
        201
    );
    for patch in [
        json!({"is_public": true, "description": "The first public one"}),
        json!({"description": "The second public one"}),
        json!({"is_public": false, "description": "the private past again"}),
        json!({"is_public": true, "description": "The third public one"}),
    ] {
        assert_eq!(app.as_key(kim, "PATCH", SHARED, patch).await.status, 200);
    }
}

#[tokio::test]
async fn what_was_private_stays_private_when_a_tool_is_shared() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        let lee = app.person("lee", "author").await.key;
        let vic = app.person("vic", "viewer").await.key;
        let path = SHARED;
        share(app, &kim).await;
        for key in [&lee, &vic] {
            let get = async |rest: &str| {
                app.as_key(key, "GET", &format!("{path}/versions{rest}"), Value::Null)
                    .await
            };
            let list = get("").await;
            let seen: Vec<_> = list.body["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v["version"].clone())
                .collect();
            assert_eq!(seen, [5, 3, 2], "{}", list.body);
            let mut told = list.body.to_string();
            for (version, status) in [(1, 404), (2, 200), (3, 200), (4, 404), (5, 200)] {
                let one = get(&format!("/{version}")).await;
                assert_eq!(one.status, status, "version {version}: {}", one.body);
                told += &one.body.to_string();
            }
            for hidden in ["private past", "kims-account", "auth_config", "last4"] {
                assert!(!told.contains(hidden), "{hidden}: {told}");
            }
            let changes = &list.body["items"][1]["changes"];
            assert_eq!(
                changes[0]["path"], "$.description",
                "both are public: {changes}"
            );
            assert_eq!(
                list.body["items"][0]["changes"],
                json!([]),
                "the one before is not"
            );
            // Pages are full, however much lies between.
            let first = get("?limit=2").await.body;
            assert_eq!(first["items"].as_array().unwrap().len(), 2, "{first}");
            let next = get(&format!(
                "?limit=2&cursor={}",
                first["next_cursor"].as_str().unwrap()
            ))
            .await
            .body;
            assert_eq!(
                (&next["items"][0]["version"], &next["next_cursor"]),
                (&json!(2), &Value::Null)
            );
        }
        let back = async |version: i64| {
            let body = json!({"version": version});
            app.as_key(&lee, "POST", &format!("{path}/rollback"), body)
                .await
        };
        for version in [1, 2, 99] {
            let refused = back(version).await;
            assert_eq!(
                (refused.status, refused.code()),
                (403, "forbidden"),
                "{}",
                refused.body
            );
        }
        for key in [kim.as_str(), ADMIN] {
            let list = app
                .as_key(key, "GET", &format!("{path}/versions"), Value::Null)
                .await;
            assert_eq!(
                list.body["items"].as_array().unwrap().len(),
                5,
                "the owner and admins see all"
            );
        }
    })
    .await;
}
