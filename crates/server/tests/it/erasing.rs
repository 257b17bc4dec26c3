//! Somebody is erased: nothing names them afterwards, what they own is somebody's, and the logs are whole.

use crate::replicas::with_two;
use crate::scripted::until;
use crate::testapp::{TestApp, definition, on_both};
use serde_json::{Value, json};

/// Everything that the registry and the log hold, as text.
async fn everything(app: &TestApp) -> String {
    let mut all = String::new();
    for path in [
        "/api/v1/users",
        "/api/v1/keys?limit=500",
        "/api/v1/executions?limit=1000",
        "/api/v1/audit?limit=500",
        "/api/v1/tools/adder/versions",
        "/api/v1/secrets",
        "/api/v1/policy",
        "/api/v1/limits",
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        all.push_str(&answer.body.to_string());
    }
    all
}

async fn lived_in(app: &TestApp) -> String {
    let kim = app.person("kim", "author").await.key;
    let as_kim = async |method: &str, path: &str, body: Value, status: u16| {
        let answer = app.as_key(&kim, method, path, body).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        answer.body
    };
    as_kim("POST", "/api/v1/tools", definition("adder"), 201).await;
    let arguments = json!({"arguments": {"expression": "40 + 2"}});
    as_kim("POST", "/api/v1/tools/calculator/call", arguments, 200).await;
    let wrong = json!({"arguments": {"expression": "a private question"}});
    as_kim("POST", "/api/v1/tools/calculator/call", wrong, 502).await;
    as_kim(
        "PUT",
        "/api/v1/secrets/mine",
        json!({"value": "sesame"}),
        201,
    )
    .await;
    let limit = json!({"target_type": "USER", "target_id": "kim", "max_count": 9});
    assert_eq!(
        app.as_key(crate::testapp::ADMIN, "PUT", "/api/v1/limits", limit)
            .await
            .status,
        201
    );
    let rules = json!({"rules": [{"subject": "user", "target": "kim", "hide": ["secret_*"]}]});
    let set = app
        .as_key(crate::testapp::ADMIN, "PUT", "/api/v1/policy", rules)
        .await;
    assert_eq!(set.status, 200, "{}", set.body);
    kim
}

#[tokio::test]
async fn nothing_names_them_afterwards() {
    on_both(async |app: &TestApp| {
        let kim = lived_in(app).await;
        app.person("lee", "author").await;
        assert!(everything(app).await.contains("kim"));

        let erase = "/api/v1/users/kim/erase";
        let refused = app.post(erase, Value::Null).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert!(refused.message().contains("1 tools"), "{}", refused.body);

        let before = everything(app).await;
        let unknown = format!("{erase}?dry_run=true&to=nobody");
        assert_eq!(app.post(&unknown, Value::Null).await.status, 422);
        let tried = app
            .post(&format!("{erase}?dry_run=true&to=lee"), Value::Null)
            .await;
        assert_eq!(tried.status, 200, "{}", tried.body);
        assert_eq!(tried.body["executions"], 2, "{}", tried.body);
        assert_eq!(tried.body["rows"]["keys"], 1, "{}", tried.body);
        assert_eq!(everything(app).await, before, "a dry run changes nothing");

        let done = app.post(&format!("{erase}?to=lee"), Value::Null).await;
        assert_eq!(done.status, 200, "{}", done.body);
        assert_eq!(done.body["servers_left"], 0);
        let pseudonym = done.body["pseudonym"].as_str().unwrap().to_owned();
        let after = everything(app).await;
        for part in ["kim", "private question", "40 + 2"] {
            assert!(!after.contains(part), "{part}: {after}");
        }
        assert!(after.contains(&pseudonym));
        let whole = app.get("/api/v1/audit/verify").await.body;
        assert_eq!(whole["valid"], true, "{whole}");
        assert_eq!(app.get("/api/v1/tools/adder").await.body["owner"], "lee");
        let calls = app
            .get(&format!("/api/v1/executions?caller={pseudonym}"))
            .await
            .body;
        assert_eq!(calls["items"].as_array().unwrap().len(), 2, "{calls}");

        let out = app.as_key(&kim, "GET", "/api/v1/me", Value::Null).await;
        assert_eq!(out.status, 401);
        assert_eq!(app.post(erase, Value::Null).await.status, 404);
        let again = app
            .post(&format!("/api/v1/users/{pseudonym}/erase"), Value::Null)
            .await;
        assert_eq!((again.status, &again.body["executions"]), (200, &json!(0)));
        let unknown = format!("/api/v1/users/{pseudonym}/erase?to=nobody");
        assert_eq!(app.post(&unknown, Value::Null).await.status, 422);
        let back = format!("/api/v1/users/{pseudonym}/restore");
        assert_eq!(app.post(&back, Value::Null).await.status, 409);
        // The name is anybody's again.
        app.person("kim", "viewer").await;
        let app = app.restart().await;
        assert_eq!(app.get("/api/v1/users/kim").await.body["role"], "viewer");
    })
    .await;
}

#[tokio::test]
async fn nobody_erases_themselves_nor_the_first_admin() {
    on_both(async |app: &TestApp| {
        let boss = app.person("boss", "admin").await.key;
        for name in ["boss", "admin"] {
            let path = format!("/api/v1/users/{name}/erase");
            let refused = app.as_key(&boss, "POST", &path, Value::Null).await;
            assert_eq!(refused.status, 409, "{}", refused.body);
        }
        let named = json!({"name": "erased-1", "role": "viewer"});
        assert_eq!(app.post("/api/v1/users", named).await.status, 422);
    })
    .await;
}

/// The commit is there and the rest was cut off: the next start goes on with it.
#[tokio::test]
async fn what_was_cut_off_is_gone_on_with() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "operator").await.key;
        let body = json!({"arguments": {"expression": "40 + 2"}});
        let called = app
            .as_key(&kim, "POST", "/api/v1/tools/calculator/call", body)
            .await;
        assert_eq!(called.status, 200);
        let removed = app
            .as_key(
                crate::testapp::ADMIN,
                "DELETE",
                "/api/v1/users/kim",
                Value::Null,
            )
            .await;
        assert_eq!(removed.status, 204);
        let users = app.server.app.store.users().await.unwrap();
        let user = users.iter().find(|user| user.name == "kim").unwrap();
        let row = store::erasure::ErasureRow {
            user_id: user.id,
            name: Some("kim".to_owned()),
            pseudonym: "erased-1".to_owned(),
            at: app.clock.now(),
        };
        let write = store::Write::Erase(row);
        app.server.app.store.write(&[write]).await.unwrap();
        let app = app.restart().await;
        let log = "/api/v1/executions?limit=1";
        app.comes_to(log, "/items/0/caller", json!("erased-1"))
            .await;
        let left = everything_but_tools(&app).await;
        assert!(!left.contains("kim"), "{left}");
    })
    .await;
}

async fn everything_but_tools(app: &TestApp) -> String {
    let log = app.get("/api/v1/executions?limit=1000").await.body;
    let audit = app.get("/api/v1/audit?limit=500").await.body;
    let users = app.get("/api/v1/users").await.body;
    format!("{log}{audit}{users}")
}

/// Each server does its part; the last one takes the name out of the database.
#[tokio::test]
async fn every_server_erases_what_it_keeps() {
    with_two(async |a, b, _| {
        let kim = a.person("kim", "operator").await.key;
        let body = json!({"arguments": {"expression": "40 + 2"}});
        for app in [a, b] {
            let path = "/api/v1/tools/calculator/call";
            let called = app.as_key(&kim, "POST", path, body.clone()).await;
            assert_eq!(called.status, 200, "{}", called.body);
        }
        let done = a.post("/api/v1/users/kim/erase", Value::Null).await;
        assert_eq!(done.status, 200, "{}", done.body);
        assert_eq!(done.body["executions"], 2, "{}", done.body);
        let pseudonym = done.body["pseudonym"].as_str().unwrap();
        let again = format!("/api/v1/users/{pseudonym}/erase?dry_run=true");
        until("all servers are done", async || {
            let asked = a.post(&again, Value::Null).await;
            let is_over = a.server.app.store.erasures().await.unwrap()[0]
                .name
                .is_none();
            (asked.body["servers_left"] == 0 && is_over).then_some(())
        })
        .await;
        let out = b.as_key(&kim, "GET", "/api/v1/me", Value::Null).await;
        assert_eq!(out.status, 401);
        for app in [a, b] {
            let left = everything_but_tools(app).await;
            assert!(!left.contains("kim"), "{left}");
        }
    })
    .await;
}
