//! Dry runs: a change of a tool is checked like any other, and not made.

use crate::testapp::{ADMIN, TestApp, definition, on_both};
use serde_json::{Value, json};

/// What a dry run must not change: the tools, their file, their versions and the audit log.
async fn state(app: &TestApp) -> (Value, String, Value) {
    let file = std::fs::read_to_string(app.tools_file()).unwrap();
    let tools = app.get("/api/v1/tools?limit=500").await.body;
    let audit = app.get("/api/v1/audit?limit=1").await.body;
    (tools, file, audit["items"].clone())
}

fn dry(path: &str) -> String {
    format!("{path}?dry_run=true")
}

#[tokio::test]
async fn a_dry_run_shows_the_tool_and_changes_nothing() {
    on_both(async |app: &TestApp| {
        app.post("/api/v1/tools", definition("there")).await;
        let before = state(app).await;
        for shelf in ["database", "file"] {
            let mut body = definition("new");
            body["shelf"] = json!(shelf);
            let made = app.post(&dry("/api/v1/tools"), body).await;
            assert_eq!(made.status, 200, "{}", made.body);
            let told = (&made.body["name"], &made.body["shelf"]);
            assert_eq!(told, (&json!("new"), &json!(shelf)));
            assert!(!made.headers.contains_key("location"));
        }
        assert_eq!(app.get("/api/v1/tools/new").await.status, 404);
        let path = "/api/v1/tools/there";
        let patch = json!({"description": "Other words"});
        let changed = app.as_key(ADMIN, "PATCH", &dry(path), patch).await;
        assert_eq!(changed.status, 200, "{}", changed.body);
        let told = (&changed.body["description"], &changed.body["version"]);
        assert_eq!(told, (&json!("Other words"), &json!(2)));
        assert!(!changed.headers.contains_key("etag"));
        let mut body = definition("there");
        body["timeout_seconds"] = json!(3.0);
        let changed = app.as_key(ADMIN, "PUT", &dry(path), body).await;
        assert_eq!(changed.body["timeout_seconds"], json!(3.0));
        assert_eq!(state(app).await, before);
    })
    .await;
}

#[tokio::test]
async fn a_dry_run_refuses_what_the_change_refuses() {
    on_both(async |app: &TestApp| {
        app.post("/api/v1/tools", definition("there")).await;
        let mut cannot = definition("new");
        cannot["kind"] = json!("expression");
        cannot["config"] = json!({"expression": "1 +"});
        let mut nameless = definition("new");
        nameless["name"] = json!("two words");
        let mut masked = definition("new");
        masked["auth_config"] = json!({"token": {"set": true, "last4": null}});
        for body in [cannot, nameless, masked, definition("there")] {
            let tried = app.post(&dry("/api/v1/tools"), body.clone()).await;
            let real = app.post("/api/v1/tools", body).await;
            assert!(real.status >= 400, "{}", real.body);
            assert_eq!(
                (tried.status, tried.message()),
                (real.status, real.message())
            );
        }
        let author = app.key(&["read", "author"]).await;
        let mut body = definition("new");
        body["shelf"] = json!("file");
        let refused = app
            .as_key(&author, "POST", &dry("/api/v1/tools"), body)
            .await;
        assert_eq!(refused.status, 403, "{}", refused.body);
        let reader = app.key(&["read"]).await;
        let path = dry("/api/v1/tools/there");
        let refused = app.as_key(&reader, "PATCH", &path, json!({})).await;
        assert_eq!(refused.status, 403, "{}", refused.body);
    })
    .await;
}

#[tokio::test]
async fn a_dry_run_shows_no_secret() {
    on_both(async |app: &TestApp| {
        let mut body = definition("new");
        body["kind"] = json!("http");
        body["config"] = json!({"base_url": "https://example.com", "method": "GET"});
        body["auth_config"] = json!({"type": "bearer", "token": "not for anybody"});
        let made = app.post(&dry("/api/v1/tools"), body).await;
        assert_eq!(made.status, 200, "{}", made.body);
        assert!(!made.body.to_string().contains("not for anybody"));
        assert_eq!(made.body["auth_config"]["token"]["set"], true);
    })
    .await;
}
