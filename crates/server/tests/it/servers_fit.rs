//! Tools of ours that stand for a tool of an upstream server: what that server does not have, or does not take, is told.

use crate::scripted::{Scripted, until};
use crate::servers::in_state;
use crate::testapp::{ADMIN, TestApp, on_both};
use serde_json::{Value, json};

fn own(name: &str, config: &Value) -> Value {
    json!({"name": name, "description": "d", "kind": "mcp", "config": config, "input_schema": {"type": "object"}})
}

#[tokio::test]
async fn a_tool_that_does_not_fit_its_server_is_told() {
    on_both(async |app: &TestApp| {
        let schema = json!({"type": "object", "properties": {"folder": {"type": "string"}, "limit": {"type": "integer"}}});
        let search = json!({"name": "search", "description": "Searches.", "inputSchema": schema});
        let upstream = Scripted::start(json!([search])).await;
        let body = json!({"name": "s", "url": upstream.url()});
        assert_eq!(app.post("/api/v1/servers", body).await.status, 201);
        in_state(app, "s", "connected").await;
        until("its tool is there", async || {
            (app.get("/api/v1/tools/s.search").await.status == 200).then_some(())
        })
        .await;
        let set = |arguments: Value| json!({"server_name": "s", "tool_name": "search", "arguments": arguments});
        for (name, config, told) in [
            ("fits", set(json!({"folder": "a"})), None),
            ("slip", set(json!({"foldr": "a"})), Some("did you mean 'folder'?")),
            ("wrong", set(json!({"limit": "many"})), Some("$.limit")),
            ("none", json!({"server_name": "s", "tool_name": "serach"}), Some("did you mean 'search'?")),
        ] {
            let made = app.post("/api/v1/tools", own(name, &config)).await;
            assert_eq!(made.status, 201, "{}", made.body);
            let trouble = &made.body["trouble"];
            match told {
                None => assert!(trouble.is_null(), "{name}: {trouble}"),
                Some(told) => assert!(trouble.as_str().is_some_and(|it| it.contains(told)), "{name}: {trouble}"),
            }
        }
        // A tool of the file may stand for one that is kept from everybody, and works.
        let rules = json!([{"subject": "everyone", "deny": ["s.search"]}]);
        let set_rules = app.as_key(ADMIN, "PUT", "/api/v1/policy", json!({ "rules": rules })).await;
        assert_eq!(set_rules.status, 200, "{}", set_rules.body);
        let mut narrow = own("narrow", &set(json!({"folder": "a"})));
        narrow["shelf"] = "file".into();
        let made = app.post("/api/v1/tools", narrow).await;
        assert_eq!((made.status, &made.body["trouble"]), (201, &Value::Null), "{}", made.body);
        let open = app.as_key(ADMIN, "PUT", "/api/v1/policy", json!({"rules": []})).await;
        assert_eq!(open.status, 200, "{}", open.body);
        // And whoever looks later is told the same.
        let page = app.get("/api/v1/tools?kind=mcp&check=true").await.body;
        let troubled = page["items"].as_array().unwrap().iter();
        let troubled = troubled.filter(|it| !it["trouble"].is_null());
        let troubled: Vec<&str> = troubled.map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(troubled, ["none", "slip", "wrong"]);
    })
    .await;
}

#[tokio::test]
async fn a_tool_that_somebody_may_not_see_is_not_told_by_a_slip() {
    on_both(async |app: &TestApp| {
        let schema = json!({"type": "object", "properties": {"hidden_arg": {"type": "string"}}});
        let secret = json!({"name": "secret_tool", "description": "S.", "inputSchema": schema});
        let upstream = Scripted::start(json!([secret])).await;
        let body = json!({"name": "s", "url": upstream.url()});
        assert_eq!(app.post("/api/v1/servers", body).await.status, 201);
        in_state(app, "s", "connected").await;
        until("its tool is there", async || {
            let found = app.get("/api/v1/tools/s.secret_tool").await;
            (found.status == 200).then_some(())
        })
        .await;
        let ann = app.person("ann", "author").await.key;
        let rules = json!([{"subject": "user", "target": "ann", "hide": ["s.secret_tool"]}]);
        let set = app
            .as_key(ADMIN, "PUT", "/api/v1/policy", json!({ "rules": rules }))
            .await;
        assert_eq!(set.status, 200, "{}", set.body);
        for (name, theirs) in [("slip", "secret_tol"), ("exact", "secret_tool")] {
            let config = json!({"server_name": "s", "tool_name": theirs, "arguments": {"zzz": 1}});
            let tool = own(name, &config);
            let made = app.as_key(&ann, "POST", "/api/v1/tools", tool).await;
            assert_eq!(made.status, 201, "{}", made.body);
            let trouble = made.body["trouble"].as_str().unwrap_or_default();
            let unknown = format!("has no tool '{theirs}'; `toolcrib servers tools s` lists");
            assert!(trouble.contains(&unknown), "{trouble}");
            assert!(!trouble.contains("hidden_arg"), "{trouble}");
        }
    })
    .await;
}
