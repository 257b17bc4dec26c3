//! The requirements of the registry (seed 002, SPEC-004), each as a test with its id, on both engines. Its constraints
//! are in `seed_002_constraints.rs`.

use crate::testapp::{ADMIN, TestApp, definition, on_both};
use serde_json::{Value, json};

pub(crate) fn agent(name: &str) -> Value {
    json!({
        "name": name, "description": "Answers with figures", "model_provider": "anthropic",
        "model_name": "claude-sonnet-4-5", "system_prompt": "You are careful.",
        "config": {"temperature": 0.7, "max_tokens": 4096, "top_p": 0.9, "stop_sequences": ["Human:", "Assistant:"]},
        "tools": ["calculator"],
        "memory_config": {"type": "sliding_window", "max_messages": 20, "max_tokens": 8000}
    })
}

#[tokio::test]
async fn req_001_a_tool_has_every_field_and_an_owner() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let mut body = definition("full");
        body["output_schema"] = json!({});
        body["rate_limit"] = json!({"requests_per_minute": 60});
        let made = app.as_key(&kim.key, "POST", "/api/v1/tools", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        for field in [
            "id",
            "owner",
            "name",
            "description",
            "kind",
            "config",
            "input_schema",
            "output_schema",
            "auth_config",
            "rate_limit",
            "is_active",
            "is_public",
            "created_at",
            "updated_at",
            "version",
        ] {
            assert!(made.body.get(field).is_some(), "{field}");
        }
        assert_eq!(made.body["owner"], "kim");
        assert_eq!(
            (&made.body["is_active"], &made.body["is_public"]),
            (&json!(true), &json!(false))
        );
    })
    .await;
}

#[tokio::test]
async fn req_002_every_tool_type_is_known_and_no_other() {
    on_both(async |app: &TestApp| {
        let configs = [
            ("http", json!({"base_url": "https://api.example.com", "method": "POST", "headers": {"Content-Type": "application/json"}, "timeout_seconds": 30})),
            ("mcp", json!({"server_name": "mcp-server", "tool_name": "search", "transport": "stdio"})),
            ("python", json!({"module": "app.tools.custom", "function": "execute_analysis", "async": true})),
            ("shell", json!({"command": ["echo", "hello"]})),
            ("builtin", json!({"name": "calculator"})),
        ];
        for (kind, config) in configs {
            let body = json!({"name": format!("of_{kind}"), "description": "d", "tool_type": kind, "config": config});
            let made = app.post("/api/v1/tools", body).await;
            assert_eq!(made.status, 201, "{kind}: {}", made.body);
            assert_eq!(made.body["kind"], kind);
        }
        let body = json!({"name": "x", "description": "d", "tool_type": "graphql", "config": {}});
        assert_eq!(app.post("/api/v1/tools", body).await.status, 422);
    })
    .await;
}

#[tokio::test]
async fn req_003_an_agent_has_every_field_and_comes_back_as_written() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let made = app
            .as_key(&kim.key, "POST", "/api/v1/agents", agent("분석가"))
            .await;
        assert_eq!(made.status, 201, "{}", made.body);
        let id = made.body["id"].as_str().unwrap();
        let got = app
            .as_key(
                &kim.key,
                "GET",
                &format!("/api/v1/agents/{id}"),
                Value::Null,
            )
            .await;
        assert_eq!(got.body, made.body);
        let asked = agent("분석가");
        for field in [
            "name",
            "description",
            "model_provider",
            "model_name",
            "system_prompt",
            "config",
            "memory_config",
        ] {
            assert_eq!(got.body[field], asked[field], "{field}");
        }
        assert_eq!(got.body["owner"], "kim");
        assert_eq!(got.body["is_active"], true);
        assert_eq!(got.body["version"], 1);
        let patched = app
            .as_key(
                &kim.key,
                "PATCH",
                &format!("/api/v1/agents/{id}"),
                json!({"memory_config": null, "is_public": true}),
            )
            .await;
        assert_eq!(patched.status, 200, "{}", patched.body);
        assert_eq!(
            (&patched.body["memory_config"], &patched.body["version"]),
            (&Value::Null, &json!(2))
        );
        // It is still there after a restart, and everything wrong is told at once.
        let again = app.restart().await;
        let got = again
            .as_key(
                &kim.key,
                "GET",
                &format!("/api/v1/agents/{id}"),
                Value::Null,
            )
            .await;
        assert_eq!(got.body, patched.body);
        let wrong =
            json!({"model_provider": "anthropic", "model_name": 5, "config": {"temperature": 9}});
        let refused = again.post("/api/v1/agents", wrong).await;
        assert_eq!(refused.status, 422);
        assert_eq!(
            refused.body["error"]["details"]["problems"]
                .as_array()
                .unwrap()
                .len(),
            3,
            "{}",
            refused.body
        );
        let twice = again.post("/api/v1/agents", agent("분석가")).await;
        assert_eq!((twice.status, twice.code()), (409, "conflict"));
    })
    .await;
}

#[tokio::test]
async fn req_004_three_providers_and_the_older_name_of_one() {
    on_both(async |app: &TestApp| {
        for (given, stored) in [
            ("anthropic", "anthropic"),
            ("openai", "openai"),
            ("zhipuai", "zhipuai"),
            ("glm", "zhipuai"),
        ] {
            let mut body = agent(&format!("a-{given}"));
            body["model_provider"] = json!(given);
            let made = app.post("/api/v1/agents", body).await;
            assert_eq!(
                (made.status, &made.body["model_provider"]),
                (201, &json!(stored))
            );
        }
        let mut body = agent("other");
        body["model_provider"] = json!("google");
        assert_eq!(app.post("/api/v1/agents", body).await.status, 422);
    })
    .await;
}

#[tokio::test]
async fn req_005_what_a_removed_user_leaves_is_kept_out_of_use_and_reassigned() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        app.person("lee", "author").await;
        let mut body = definition("kims");
        body["is_public"] = json!(true);
        app.as_key(&kim.key, "POST", "/api/v1/tools", body).await;
        app.as_key(&kim.key, "POST", "/api/v1/agents", agent("kims-agent"))
            .await;
        let call = json!({"arguments": {"expression": "1+1"}});
        assert_eq!(
            app.post("/api/v1/tools/kims/call", call.clone())
                .await
                .status,
            200
        );

        let gone = app
            .as_key(ADMIN, "DELETE", "/api/v1/users/kim", Value::Null)
            .await;
        assert_eq!(gone.status, 204);
        assert_eq!(
            app.as_key(&kim.key, "GET", "/api/v1/me", Value::Null)
                .await
                .status,
            401
        );
        let refused = app.post("/api/v1/tools/kims/call", call.clone()).await;
        assert_eq!(
            (refused.status, refused.code()),
            (409, "tool_inactive"),
            "{}",
            refused.body
        );
        assert_eq!(app.get("/api/v1/tools/kims").await.body["is_active"], false);
        assert_eq!(
            app.get("/api/v1/agents/kims-agent").await.body["is_active"],
            false
        );
        let active = app.get("/api/v1/tools?active=true&q=kims").await;
        assert_eq!(active.body["items"].as_array().unwrap().len(), 0);

        let to_gone = app
            .post("/api/v1/users/lee/reassign", json!({"to": "kim"}))
            .await;
        assert_eq!(to_gone.status, 422, "not to somebody who is gone");
        let moved = app
            .post("/api/v1/users/kim/reassign", json!({"to": "lee"}))
            .await;
        assert_eq!(moved.status, 200, "{}", moved.body);
        assert_eq!(
            (&moved.body["tools"], &moved.body["agents"]),
            (&json!(1), &json!(1))
        );
        let tool = app.get("/api/v1/tools/kims").await.body;
        assert_eq!(
            (&tool["owner"], &tool["is_active"]),
            (&json!("lee"), &json!(true))
        );
        assert_eq!(
            app.get("/api/v1/agents/kims-agent").await.body["owner"],
            "lee"
        );
        assert_eq!(app.post("/api/v1/tools/kims/call", call).await.status, 200);
        let back = app.post("/api/v1/users/kim/restore", Value::Null).await;
        assert_eq!(back.status, 200);
        let me = app.as_key(&kim.key, "GET", "/api/v1/me", Value::Null).await;
        assert_eq!(me.status, 401, "a key that ended stays ended");
    })
    .await;
}

#[tokio::test]
async fn req_006_an_agents_tools_are_checked_when_written_and_when_used() {
    on_both(async |app: &TestApp| {
        let (kim, lee) = (
            app.person("kim", "author").await,
            app.person("lee", "author").await,
        );
        app.as_key(&kim.key, "POST", "/api/v1/tools", definition("kims"))
            .await;
        let mut body = agent("helper");
        body["tools"] = json!(["calculator", "kims", "calculator"]);
        let made = app
            .as_key(&kim.key, "POST", "/api/v1/agents", body.clone())
            .await;
        assert_eq!(made.status, 201, "{}", made.body);
        let ids = made.body["tools"].as_array().unwrap();
        let id = app.get("/api/v1/tools/kims").await.body["id"].clone();
        assert!(
            ids.len() == 2 && ids.contains(&id),
            "ids out, each once: {ids:?}"
        );
        // Somebody else's private tool does not exist.
        body["name"] = json!("thief");
        let refused = app
            .as_key(&lee.key, "POST", "/api/v1/agents", body.clone())
            .await;
        assert_eq!(refused.status, 422);
        assert!(
            refused.message().contains("'kims'"),
            "{}",
            refused.message()
        );
        body["tools"] = json!(["nothing", "calculator", "neither"]);
        let refused = app.post("/api/v1/agents", body).await;
        assert!(
            refused.message().contains("'nothing', 'neither'"),
            "{}",
            refused.message()
        );
        // One that is removed later is named as missing.
        app.as_key(&kim.key, "DELETE", "/api/v1/tools/kims", Value::Null)
            .await;
        let got = app
            .as_key(&kim.key, "GET", "/api/v1/agents/helper", Value::Null)
            .await;
        assert_eq!(got.body["tools_missing"], json!([id]));
        // Whoever changes something else keeps it: without it the agent would have every tool.
        let mut body = agent("helper");
        body["tools"] = got.body["tools"].clone();
        body["description"] = json!("Changed");
        let path = "/api/v1/agents/helper";
        let changed = app.as_key(&kim.key, "PUT", path, body.clone()).await;
        assert_eq!(changed.status, 200, "{}", changed.body);
        assert_eq!(changed.body["tools"], got.body["tools"]);
        body["name"] = json!("another");
        let refused = app.as_key(&kim.key, "POST", "/api/v1/agents", body).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
    })
    .await;
}

#[tokio::test]
async fn req_007_public_items_are_read_and_used_by_others_and_changed_by_their_owner() {
    on_both(async |app: &TestApp| {
        let (kim, lee) = (
            app.person("kim", "author").await,
            app.person("lee", "author").await,
        );
        let call = json!({"arguments": {"expression": "2*3"}});
        app.as_key(&kim.key, "POST", "/api/v1/tools", definition("shared"))
            .await;
        app.as_key(&kim.key, "POST", "/api/v1/agents", agent("shared"))
            .await;
        for path in ["/api/v1/tools/shared", "/api/v1/agents/shared"] {
            let hidden = app.as_key(&lee.key, "GET", path, Value::Null).await;
            assert_eq!(hidden.status, 404, "{path} is private");
            let opened = app
                .as_key(&kim.key, "PATCH", path, json!({"is_public": true}))
                .await;
            assert_eq!(opened.status, 200, "{}", opened.body);
            let seen = app.as_key(&lee.key, "GET", path, Value::Null).await;
            assert_eq!((seen.status, &seen.body["owner"]), (200, &json!("kim")));
            for (method, body) in [
                ("PATCH", json!({"is_public": false})),
                ("DELETE", Value::Null),
            ] {
                let refused = app.as_key(&lee.key, method, path, body).await;
                assert_eq!(
                    (refused.status, refused.code()),
                    (403, "forbidden"),
                    "{method} {path}"
                );
            }
        }
        assert_eq!(
            app.as_key(&lee.key, "POST", "/api/v1/tools/shared/call", call)
                .await
                .status,
            200
        );
        let mine = app
            .as_key(&kim.key, "DELETE", "/api/v1/agents/shared", Value::Null)
            .await;
        assert_eq!(mine.status, 204);
        let back = app
            .as_key(
                &kim.key,
                "POST",
                "/api/v1/agents/shared/restore",
                Value::Null,
            )
            .await;
        assert_eq!((back.status, &back.body["is_public"]), (200, &json!(true)));
    })
    .await;
}

const API_KEY: &str = "sk-live-0123456789-wxyz";

/// Everything that is stored: the files of the data folder, or the tables.
pub(crate) async fn everything_stored(app: &TestApp) -> Vec<u8> {
    let copy = app
        .folder
        .path()
        .join(format!("copy-{}", uuid::Uuid::new_v4()));
    let body = json!({"folder": copy});
    let made = app.post("/api/v1/admin/backup", body).await;
    assert_eq!(made.status, 204, "{}", made.body);
    let mut all = Vec::new();
    let mut folders = vec![copy, app.folder.path().join(".toolcrib")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => all.extend(std::fs::read(path).unwrap_or_default()),
            }
        }
    }
    all
}

#[tokio::test]
async fn req_008_auth_config_is_sealed_with_a_key_of_the_environment_and_masked_when_read() {
    on_both(async |app: &TestApp| {
        // The key comes from the environment.
        let key = "k1:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
        let app = app.restart_with(Some(key.to_owned())).await;
        let kim = app.person("kim", "author").await.key;
        let mut body = definition("sealed");
        body["auth_config"] = json!({"type": "basic", "username": "kim", "password": API_KEY});
        let made = app.as_key(&kim, "POST", "/api/v1/tools", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        // Masked for whoever reads it, its owner and admins as well.
        let mask = json!({"set": true, "last4": "wxyz"});
        let path = "/api/v1/tools/sealed";
        for shown in [
            made.body,
            app.as_key(&kim, "GET", path, Value::Null).await.body,
            app.get(path).await.body,
        ] {
            assert_eq!(shown["auth_config"]["password"], mask, "{shown}");
            assert!(!shown.to_string().contains(API_KEY), "{shown}");
        }
        // Nowhere in plain text: not in the database, its history, the log or the audit log.
        let stored = everything_stored(&app).await;
        let held = |text: &str| {
            stored
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        assert!(
            held("sealed") && !held(API_KEY),
            "it is stored, but not as it is"
        );
        // Whoever has the key opens it, and without the key the server does not start.
        let opened = |app: &TestApp| {
            let catalogue = app.server.app.executor.catalogue.load();
            let tool = &catalogue.find("sealed").unwrap().tool;
            let reference = &tool.definition.auth_config.as_ref().unwrap()["password"];
            let secret = app.server.app.open_secret(tool, reference).unwrap();
            secret.expose().to_owned()
        };
        let next = app.restart_with(Some(key.to_owned())).await;
        assert_eq!(opened(&next), API_KEY);
        next.stop().await;
    })
    .await;
}

#[tokio::test]
async fn req_009_a_tool_has_rates_for_a_minute_an_hour_and_at_a_time() {
    on_both(async |app: &TestApp| {
        let rate = json!({"requests_per_minute": 2, "requests_per_hour": 3, "concurrent_requests": 1});
        let body = json!({"name": "rated", "description": "d", "kind": "builtin", "config": {"name": "fixture_wait"},
            "input_schema": {"type": "object"}, "parallel_capable": true, "rate_limit": rate});
        let made = app.post("/api/v1/tools", body.clone()).await;
        assert_eq!((made.status, &made.body["rate_limit"]), (201, &rate), "{}", made.body);
        let call = async || {
            let body = json!({"arguments": {"seconds": 0}});
            let answer = app.post("/api/v1/tools/rated/call", body).await;
            answer.message().to_owned()
        };
        for expected in ["", "", "Rate limit exceeded: 2 requests per minute"] {
            assert_eq!(call().await, expected);
        }
        app.clock.advance(60_000);
        for expected in ["", "Rate limit exceeded: 3 requests per hour"] {
            assert_eq!(call().await, expected);
        }
        app.clock.advance(3_600_000);
        // One at a time: of two that want to wait, one does.
        let long = json!({"arguments": {"seconds": 0.5}});
        let (one, other) = tokio::join!(
            app.post("/api/v1/tools/rated/call", long.clone()),
            app.post("/api/v1/tools/rated/call", long)
        );
        let refused = if one.status == 429 { &one } else { &other };
        assert_eq!(one.status.min(other.status), 200, "{} {}", one.body, other.body);
        assert_eq!(refused.message(), "Rate limit exceeded: 1 concurrent request");
        // It is optional, and what makes no sense is refused.
        for (rate, status) in [(json!(null), 201), (json!({"requests_per_minute": -1}), 422), (json!({"per_day": 5}), 422)] {
            let mut other = body.clone();
            other["name"] = json!(format!("rated_{status}"));
            other["rate_limit"] = rate.clone();
            let made = app.post("/api/v1/tools", other).await;
            assert_eq!(made.status, status, "{rate}: {}", made.body);
        }
    })
    .await;
}
