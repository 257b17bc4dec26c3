//! What somebody leaves behind goes to somebody else: everything, in one commit.

use crate::testapp::{ADMIN, TestApp, definition, on_both};
use serde_json::{Value, json};

const TOKEN: &str = "sk-live-0123456789-wxyz";

fn agent(name: &str) -> Value {
    json!({"name": name, "model_provider": "openai", "model_name": "m"})
}

/// kim owns a tool in use with a sealed value, one behind the file shelf, a removed one, and the same of agents.
async fn scene(app: &TestApp) -> String {
    let kim = app.person("kim", "author").await.key;
    app.person("lee", "author").await;
    let mut sealed = definition("used");
    sealed["auth_config"] = json!({"type": "bearer", "token": TOKEN});
    for body in [sealed, definition("covered"), definition("removed")] {
        let made = app.as_key(&kim, "POST", "/api/v1/tools", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
    }
    for name in ["helper", "former"] {
        let made = app
            .as_key(&kim, "POST", "/api/v1/agents", agent(name))
            .await;
        assert_eq!(made.status, 201, "{}", made.body);
    }
    for name in ["kit", "old-kit"] {
        let body = json!({"name": name, "tools": ["used"]});
        let made = app.as_key(&kim, "POST", "/api/v1/toolsets", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
    }
    app.as_key(&kim, "PUT", "/api/v1/secrets/kims", json!({"value": TOKEN}))
        .await;
    for path in [
        "/api/v1/tools/removed",
        "/api/v1/agents/former",
        "/api/v1/toolsets/old-kit",
    ] {
        let gone = app.as_key(&kim, "DELETE", path, Value::Null).await;
        assert_eq!(gone.status, 204, "{}", gone.body);
    }
    let mut file = definition("covered");
    file["description"] = json!("From the file");
    let text = json!({"version": 1, "tools": [file]}).to_string();
    std::fs::write(app.tools_file(), text).unwrap();
    app.server.app.reload().await.unwrap();
    assert_eq!(app.get("/api/v1/tools/covered").await.body["shelf"], "file");
    kim
}

async fn owners(app: &TestApp) -> Vec<String> {
    let store = &app.server.app.store;
    let access = app.server.app.access.load_full();
    let name = |id| access.user(id).unwrap().name.clone();
    let mut owners = Vec::new();
    for user in ["kim", "lee"] {
        let id = access.user_named(user).unwrap().id;
        for tool in store.tools_of(id).await.unwrap() {
            let row = store.tool(tool).await.unwrap().unwrap();
            owners.push(format!("tool {} {}", row.name, name(row.owner_id)));
        }
    }
    for row in store.agents().await.unwrap() {
        owners.push(format!("agent {} {}", row.name, name(row.owner_id)));
    }
    for row in store.toolsets().await.unwrap() {
        owners.push(format!("toolset {} {}", row.name, name(row.owner_id)));
    }
    for row in store.secrets().await.unwrap() {
        let what = row.name.unwrap_or_else(|| "value".to_owned());
        owners.push(format!("secret {what} {}", name(row.owner_id)));
    }
    owners.sort();
    owners
}

fn all_of(name: &str) -> Vec<String> {
    let things = [
        "agent former",
        "agent helper",
        "secret kims",
        "secret value",
        "tool covered",
        "tool removed",
        "tool used",
        "toolset kit",
        "toolset old-kit",
    ];
    things.map(|thing| format!("{thing} {name}")).to_vec()
}

#[tokio::test]
async fn everything_goes_what_is_covered_or_removed_among_it() {
    on_both(async |app: &TestApp| {
        scene(app).await;
        assert_eq!(owners(app).await, all_of("kim"));
        app.as_key(ADMIN, "DELETE", "/api/v1/users/kim", Value::Null)
            .await;
        let moved = app
            .post("/api/v1/users/kim/reassign", json!({"to": "lee"}))
            .await;
        let expected = json!({"from": "kim", "to": "lee", "tools": 3, "agents": 2, "toolsets": 2, "servers": 0, "secrets": 2});
        assert_eq!((moved.status, &moved.body), (200, &expected));
        assert_eq!(owners(app).await, all_of("lee"));
        // What is out of use comes back as lee's.
        let restored = app.post("/api/v1/tools/removed/restore", Value::Null).await;
        assert_eq!(
            (restored.status, &restored.body["owner"]),
            (200, &json!("lee")),
            "{}",
            restored.body
        );
        let restored = app.post("/api/v1/agents/former/restore", Value::Null).await;
        assert_eq!(restored.body["owner"], "lee", "{}", restored.body);
        std::fs::write(app.tools_file(), "{\"version\": 1, \"tools\": []}").unwrap();
        app.server.app.reload().await.unwrap();
        let uncovered = app.get("/api/v1/tools/covered").await.body;
        assert_eq!(
            (&uncovered["shelf"], &uncovered["owner"]),
            (&json!("database"), &json!("lee"))
        );
        let changed = app
            .as_key(
                ADMIN,
                "PATCH",
                "/api/v1/tools/covered",
                json!({"timeout_seconds": 3}),
            )
            .await;
        assert_eq!(changed.status, 200, "{}", changed.body);
        let app = app.restart().await;
        assert_eq!(owners(&app).await, all_of("lee"));
        let acts = app.get("/api/v1/audit?action=tool.reassign").await.body;
        assert_eq!(acts["items"].as_array().unwrap().len(), 3, "{acts}");
        let again = app
            .post("/api/v1/users/kim/reassign", json!({"to": "lee"}))
            .await;
        assert_eq!(again.body["tools"], 0, "{}", again.body);
        assert_eq!(app.get("/api/v1/audit/verify").await.body["valid"], true);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn all_or_nothing() {
    on_both(async |app: &TestApp| {
        let kim = scene(app).await;
        // The row of one agent is ahead of what this server knows: somebody else has just changed it.
        let store = &app.server.app.store;
        let mut ahead = store.agents().await.unwrap().remove(0);
        ahead.version += 5;
        store.write(&[store::Write::Agent(ahead)]).await.unwrap();
        let refused = app
            .post("/api/v1/users/kim/reassign", json!({"to": "lee"}))
            .await;
        assert_eq!(
            (refused.status, refused.code()),
            (409, "conflict"),
            "{}",
            refused.body
        );
        assert_eq!(
            owners(app).await,
            all_of("kim"),
            "nothing has changed hands"
        );
        let tool = app
            .as_key(&kim, "GET", "/api/v1/tools/used", Value::Null)
            .await;
        assert_eq!(
            (&tool.body["owner"], &tool.body["version"]),
            (&json!("kim"), &json!(1))
        );
        let some = json!({"to": "lee", "tools": ["used", "calculator"]});
        let refused = app.post("/api/v1/users/kim/reassign", some).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        let some = json!({"to": "lee", "tools": ["used", "used"]});
        let moved = app.post("/api/v1/users/kim/reassign", some).await;
        let expected = json!({"from": "kim", "to": "lee", "tools": 1, "agents": 0, "toolsets": 0, "servers": 0, "secrets": 1});
        assert_eq!((moved.status, &moved.body), (200, &expected));
    })
    .await;
}
