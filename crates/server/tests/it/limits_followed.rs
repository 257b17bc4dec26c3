//! A limit follows what it is for: behind another name, when something is only tried out, and when a tool is removed
//! and made again.

use crate::scripted::{Scripted, tool};
use crate::servers::in_state;
use crate::testapp::{ADMIN, Answer, TestApp, on_both, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};

const QUOTA: &str = "quota_exceeded";

/// A builtin that does nothing, under another name.
fn waits(name: &str) -> Value {
    json!({"name": name, "description": "d", "kind": "builtin", "config": {"name": "fixture_wait"},
        "input_schema": {"type": "object"}, "parallel_capable": true})
}

async fn limit(app: &TestApp, tool: &str, max_count: i64) -> Answer {
    let body = json!({"target_type": "TOOL", "target_id": tool, "max_count": max_count});
    let set = app.post("/api/v1/limits", body).await;
    assert!(set.status < 300, "{}", set.body);
    set
}

async fn make(app: &TestApp, key: &str, name: &str) -> String {
    let made = app.as_key(key, "POST", "/api/v1/tools", waits(name)).await;
    assert_eq!(made.status, 201, "{}", made.body);
    made.body["id"].as_str().unwrap().to_owned()
}

async fn remove(app: &TestApp, key: &str, name: &str) {
    let path = format!("/api/v1/tools/{name}");
    let gone = app.as_key(key, "DELETE", &path, Value::Null).await;
    assert_eq!(gone.status, 204, "{}", gone.body);
}

async fn call(app: &TestApp, key: &str, tool: &str) -> String {
    let body = json!({"arguments": {"seconds": 0}});
    let path = format!("/api/v1/tools/{tool}/call");
    let answer = app.as_key(key, "POST", &path, body).await;
    answer.code().to_owned()
}

async fn try_out(app: &TestApp, key: &str, tool: Value) -> Answer {
    let body = json!({"tool": tool, "arguments": {"seconds": 0}});
    app.as_key(key, "POST", "/api/v1/tools/test", body).await
}

#[tokio::test]
async fn the_limit_of_a_builtin_holds_behind_every_name() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        make(app, &kim, "mine").await;
        limit(app, "fixture_wait", 4).await;
        assert_eq!(call(app, ADMIN, "fixture_wait").await, "");
        assert_eq!(call(app, &kim, "mine").await, "");
        assert_eq!(try_out(app, &kim, waits("draft")).await.code(), "");
        remove(app, &kim, "mine").await;
        make(app, &kim, "another").await;
        assert_eq!(call(app, &kim, "another").await, "");
        assert_eq!(call(app, &kim, "another").await, QUOTA);
        let app = app.restart().await;
        for (key, tool) in [(ADMIN, "fixture_wait"), (&kim, "another")] {
            assert_eq!(call(&app, key, tool).await, QUOTA, "{tool}");
        }
        let refused = try_out(&app, &kim, waits("draft")).await;
        assert_eq!(refused.code(), QUOTA);
        let message = "Daily quota exceeded: 4 calls per day (UTC) for tool 'fixture_wait'";
        assert_eq!(
            refused.message(),
            message,
            "the one that is used up is named"
        );
        let usage = app.get("/api/v1/usage").await.body;
        assert_eq!(usage["items"][0]["target_name"], "fixture_wait", "{usage}");
        assert_eq!(usage["items"][0]["count"], 4, "{usage}");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_rate_of_a_builtin_holds_behind_every_name() {
    let mut slow = waits("fixture_wait");
    slow["rate_limit"] = json!({"requests_per_minute": 3});
    on_both_with(json!([slow]), Policy::default(), async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        make(app, &kim, "mine").await;
        assert_eq!(call(app, &kim, "fixture_wait").await, "");
        assert_eq!(call(app, &kim, "mine").await, "");
        assert_eq!(try_out(app, &kim, waits("draft")).await.code(), "");
        for tool in ["mine", "fixture_wait"] {
            assert_eq!(call(app, &kim, tool).await, "rate_limited", "{tool}");
        }
        let app = app.restart().await;
        assert_eq!(call(&app, &kim, "mine").await, "rate_limited");
        assert_eq!(
            try_out(&app, &kim, waits("draft")).await.code(),
            "rate_limited"
        );
        app.clock.advance(60_000);
        assert_eq!(call(&app, &kim, "mine").await, "");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_tried_out_counts_as_a_call_of_the_saved_tool() {
    on_both(async |app: &TestApp| {
        let (kim, lee) = (
            app.person("kim", "author").await.key,
            app.person("lee", "author").await.key,
        );
        make(app, &kim, "mine").await;
        limit(app, "mine", 2).await;
        assert_eq!(call(app, &kim, "mine").await, "");
        // Nobody uses up what is somebody else's.
        let refused = try_out(app, &lee, waits("mine")).await;
        assert_eq!(
            (refused.status, refused.code()),
            (409, "conflict"),
            "{}",
            refused.body
        );
        let refused = try_out(app, &lee, waits("fixture_wait")).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert_eq!(try_out(app, &kim, waits("mine")).await.code(), "");
        assert_eq!(try_out(app, &kim, waits("mine")).await.code(), QUOTA);
        let app = app.restart().await;
        assert_eq!(call(&app, &kim, "mine").await, QUOTA);
        assert_eq!(try_out(&app, &kim, waits("mine")).await.code(), QUOTA);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_tool_that_is_made_again_has_its_limit_again() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        let operator = app.person("oh", "operator").await.key;
        let first = make(app, &kim, "mine").await;
        limit(app, "mine", 1).await;
        assert_eq!(call(app, &kim, "mine").await, "");
        remove(app, &kim, "mine").await;
        let listed = app.get("/api/v1/limits").await.body;
        assert_eq!(listed["items"][0]["target_name"], "mine", "{listed}");
        let listed = app
            .as_key(&operator, "GET", "/api/v1/limits", Value::Null)
            .await;
        let shown = &listed.body["items"][0];
        assert_eq!(shown["target_name"], Value::Null, "it was private: {shown}");
        let second = make(app, &kim, "mine").await;
        assert_ne!(first, second);
        assert_eq!(call(app, &kim, "mine").await, QUOTA);
        let app = app.restart().await;
        assert_eq!(call(&app, &kim, "mine").await, QUOTA);
        let usage = app.get("/api/v1/usage").await.body;
        assert_eq!(usage["items"][0]["target_id"], json!(second), "{usage}");

        // Set anew, it is the new tool's, and there is one limit.
        limit(&app, "mine", 2).await;
        let listed = app.get("/api/v1/limits").await.body;
        assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed["items"][0]["target_id"], json!(second));
        assert_eq!(call(&app, &kim, "mine").await, "");
        assert_eq!(call(&app, &kim, "mine").await, QUOTA);

        // Another name is no way out either, not even with a new tool under the old one.
        let rename = json!({"name": "renamed"});
        let renamed = app
            .as_key(&kim, "PATCH", "/api/v1/tools/mine", rename)
            .await;
        assert_eq!(renamed.status, 200, "{}", renamed.body);
        make(&app, &kim, "mine").await;
        let app = app.restart().await;
        for tool in ["renamed", "mine"] {
            assert_eq!(call(&app, &kim, tool).await, QUOTA, "{tool}");
        }
        remove(&app, &kim, "mine").await;
        remove(&app, &kim, "renamed").await;
        let path = "/api/v1/limits/TOOL/mine";
        assert_eq!(
            app.as_key(&operator, "DELETE", path, Value::Null)
                .await
                .status,
            404
        );
        assert_eq!(
            app.as_key(ADMIN, "DELETE", path, Value::Null).await.status,
            204
        );
        assert_eq!(app.get("/api/v1/limits").await.body["items"], json!([]));
        make(&app, &kim, "mine").await;
        assert_eq!(call(&app, &kim, "mine").await, "");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nobody_uses_up_what_is_somebody_elses() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        let lee = app.person("lee", "author").await.key;
        make(app, &lee, "lees").await;
        limit(app, "lees", 2).await;
        let mut posing = waits("posing");
        posing["config"] = json!({"name": "lees"});
        let refused = [
            app.as_key(&kim, "POST", "/api/v1/tools", posing.clone())
                .await,
            try_out(app, &kim, posing.clone()).await,
        ];
        for refused in refused {
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert!(
                refused
                    .message()
                    .starts_with("config.name: there is no builtin 'lees'"),
                "{}",
                refused.message()
            );
        }
        make(app, &kim, "mine").await;
        let change = json!({"config": {"name": "lees"}});
        let changed = app
            .as_key(&kim, "PATCH", "/api/v1/tools/mine", change)
            .await;
        assert_eq!(changed.status, 422, "{}", changed.body);
        for _ in 0..2 {
            assert_eq!(call(app, &lee, "lees").await, "");
        }
        assert_eq!(call(app, &lee, "lees").await, QUOTA);
    })
    .await;
}

/// Whoever keeps a tool of a server from people means it under every name that an author can give it; a narrower one of
/// the operator's own, on the file shelf, is another matter.
#[tokio::test]
async fn rules_and_limits_of_an_upstream_tool_hold_behind_every_name() {
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([tool("echo", "Echoes.")])).await;
        let server = json!({"name": "s", "url": upstream.url()});
        assert_eq!(app.post("/api/v1/servers", server).await.status, 201);
        in_state(app, "s", "connected").await;
        let kim = app.person("kim", "author").await.key;
        let echoes = |name: &str, shelf: &str| {
            json!({"name": name, "description": "d", "kind": "mcp", "shelf": shelf,
                "config": {"server_name": "s", "tool_name": "echo"}, "input_schema": {"type": "object"}})
        };
        for (key, tool) in [(&*kim, echoes("mine", "database")), (ADMIN, echoes("ours", "file"))] {
            let made = app.as_key(key, "POST", "/api/v1/tools", tool).await;
            assert_eq!(made.status, 201, "{}", made.body);
        }
        limit(app, "s.echo", 2).await;
        assert_eq!(call(app, &kim, "mine").await, "");
        assert_eq!(call(app, ADMIN, "s.echo").await, "");
        for tool in ["mine", "s.echo"] {
            assert_eq!(call(app, &kim, tool).await, QUOTA, "{tool}");
        }
        assert_eq!(try_out(app, &kim, echoes("draft", "database")).await.code(), QUOTA);
        let rules = json!({"rules": [{"subject": "everyone", "deny": ["s.*"]}]});
        let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", rules).await;
        assert_eq!(set.status, 200, "{}", set.body);
        for tool in ["mine", "s.echo"] {
            assert_eq!(call(app, &kim, tool).await, "blocked_by_policy", "{tool}");
        }
        let tried = try_out(app, &kim, echoes("draft", "database")).await;
        assert_eq!(tried.code(), "blocked_by_policy", "{}", tried.body);
        assert_eq!(upstream.count("tools/call"), 2);
        assert_eq!(call(app, &kim, "ours").await, "");
    })
    .await;
}
