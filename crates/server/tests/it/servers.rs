//! Upstream servers that are kept over the API: made, shown, changed, removed; who may, and what is never shown.

use crate::scripted::{Scripted, tool, until};
use crate::testapp::{ADMIN, Answer, TestApp, on_both, on_both_servers};
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

const PATH: &str = "/api/v1/servers";
const SECRET: &str = "Bearer s3cret-of-the-search-server";

async fn change(app: &TestApp, method: &str, name: &str, body: Value) -> Answer {
    app.as_key(ADMIN, method, &format!("{PATH}/{name}"), body)
        .await
}

/// The server, when it is in this state.
pub(crate) async fn in_state(app: &TestApp, name: &str, state: &str) -> Value {
    until(&format!("{name} is {state}"), async || {
        let shown = app.get(&format!("{PATH}/{name}")).await.body;
        (shown["state"] == state).then_some(shown)
    })
    .await
}

async fn tools(app: &TestApp) -> Vec<String> {
    let page = app.get("/api/v1/tools?kind=mcp&limit=500").await.body;
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_server_is_kept_shown_changed_and_removed() {
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([tool("echo", "Echoes.")])).await;
        let body = json!({
            "name": "search", "url": upstream.url(), "headers": {"Authorization": SECRET, "X-Env": "${SERVER_TOKEN}"},
            "timeout_seconds": 20.0,
        });
        let made = app.post(PATH, body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        assert_eq!(made.headers["etag"], "\"1\"");
        let mask = json!({"set": true, "last4": "rver"});
        let shown = in_state(app, "search", "connected").await;
        let expected = [
            ("headers", json!({"Authorization": mask, "X-Env": "${SERVER_TOKEN}"})),
            ("url", json!(upstream.url())),
            ("source", json!("database")),
            ("owner", json!("admin")),
            ("is_guarded", json!(false)),
            ("tools", json!(1)),
            ("pinning_now", json!("flag")),
            ("transport", json!("http")),
        ];
        for (name, value) in expected {
            assert_eq!(shown[name], value, "{name}");
        }
        until("its tools are there", async || (tools(app).await == ["search.echo"]).then_some(())).await;
        let called = app.post("/api/v1/tools/search.echo/call", json!({"arguments": {}})).await;
        assert_eq!(called.body["data"], "ran echo", "{}", called.body);
        let sent = format!("authorization: {}", SECRET.to_lowercase());
        assert!(upstream.count(&sent) > 0, "{:?}", upstream.seen());

        // What is fetched can be sent back: the mask keeps the value.
        let same = change(app, "PUT", "search", shown.clone()).await;
        assert_eq!((same.status, &same.body["version"]), (200, &json!(2)), "{}", same.body);
        assert_eq!(same.headers["etag"], "\"2\"");
        let before = upstream.seen().len();
        let patched = change(app, "PATCH", "search", json!({"timeout_seconds": null, "headers": {"X-Env": null}})).await;
        assert_eq!((patched.status, &patched.body["version"]), (200, &json!(3)), "{}", patched.body);
        assert_eq!(patched.body["headers"], json!({"Authorization": mask}));
        assert!(patched.body.get("timeout_seconds").is_none());
        until("it is connected anew, with the same secret", async || {
            upstream.seen()[before..].contains(&sent).then_some(())
        })
        .await;
        let stale = Request::put(format!("{PATH}/search")).header("x-api-key", ADMIN);
        let stale = stale.header("if-match", "\"2\"").header("content-type", "application/json");
        let stale = app.send(stale.body(Body::from(json!({"url": upstream.url()}).to_string())).unwrap()).await;
        assert_eq!((stale.status, stale.code()), (409, "conflict"), "{}", stale.body);
        let other = change(app, "PATCH", "search", json!({"headers": {"Authorization": "Bearer another-secret-value"}})).await;
        assert_eq!(other.body["headers"]["Authorization"]["last4"], "alue", "{}", other.body);
        let kept = app.server.app.store.secrets().await.unwrap();
        assert_eq!(kept.len(), 1, "what is replaced is gone");
        until("the new secret is sent", async || {
            let sent = "authorization: bearer another-secret-value";
            (upstream.count(sent) > 0).then_some(())
        })
        .await;

        let app = app.restart().await;
        let kept = in_state(&app, "search", "connected").await;
        assert_eq!((&kept["version"], &kept["headers"]), (&json!(4), &other.body["headers"]));
        nothing_in_the_clear(&app, &["s3cret", "another-secret"]).await;
        assert_eq!(change(&app, "DELETE", "search", Value::Null).await.status, 204);
        assert_eq!(app.get(&format!("{PATH}/search")).await.status, 404);
        assert!(tools(&app).await.is_empty());
        let store = &app.server.app.store;
        assert!(store.secrets().await.unwrap().is_empty(), "nothing of it is left");
        assert!(store.server_lists().await.unwrap().is_empty());
        assert!(store.server_pins().await.unwrap().is_empty());

        let acts = app.get("/api/v1/audit?target=server:search").await.body;
        let acts: Vec<&str> = acts["items"].as_array().unwrap().iter().map(|act| act["action"].as_str().unwrap()).collect();
        assert_eq!(acts, ["server.delete", "server.update", "server.update", "server.update", "server.create"]);
        assert_eq!(app.get("/api/v1/audit/verify").await.body["valid"], true);
        app.stop().await;
    })
    .await;
}

/// No answer and no row holds any of these.
async fn nothing_in_the_clear(app: &TestApp, secrets: &[&str]) {
    let mut texts = Vec::new();
    for path in [
        PATH,
        "/api/v1/servers/search",
        "/api/v1/audit",
        "/api/v1/secrets",
        "/api/v1/executions",
    ] {
        texts.push(app.get(path).await.body.to_string());
    }
    let folder = tempfile::tempdir().unwrap();
    app.server.app.store.backup_to(folder.path()).await.unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    assert!(texts.len() > secrets.len());
    for secret in secrets {
        assert!(!texts.iter().any(|text| text.contains(secret)), "{secret}");
    }
}

#[tokio::test]
async fn sealed_values_go_along_with_a_new_key() {
    let old = format!("old:{}=", "AQEB".repeat(10) + "AQE");
    let new = format!("new:{}=", "AgIC".repeat(10) + "AgI");
    on_both(async |app: &TestApp| {
        let app = app.restart_with(Some(old.clone())).await;
        let upstream = Scripted::start(json!([])).await;
        let body =
            json!({"name": "search", "url": upstream.url(), "headers": {"Authorization": SECRET}});
        app.post(PATH, body).await;
        let app = app.restart_with(Some(format!("{new},{old}"))).await;
        let rotated = app.post("/api/v1/secrets/rotate", Value::Null).await;
        assert_eq!(rotated.body["rotated"], 1, "{}", rotated.body);
        let app = app.restart_with(Some(new.clone())).await;
        assert_eq!(app.get("/api/v1/secrets/verify").await.body["valid"], true);
        in_state(&app, "search", "connected").await;
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn who_may_keep_which_server() {
    let settings = app::servers::Settings {
        commands_allowed: vec!["python3".to_owned()],
        ..Default::default()
    };
    on_both_servers(settings, async |app: &TestApp| {
        let (kim, lee) = (app.person("kim", "operator").await.key, app.person("lee", "operator").await.key);
        let remote = |name: &str| json!({"name": name, "url": "https://mcp.example.com/mcp", "disabled": true});
        let made = app.as_key(&kim, "POST", PATH, remote("kims")).await;
        assert_eq!((made.status, &made.body["owner"]), (201, &json!("kim")), "{}", made.body);
        assert_eq!(made.body["is_guarded"], true);
        // Others see it, but only its owner and admins may change it.
        let path = format!("{PATH}/kims");
        assert_eq!(app.as_key(&lee, "GET", &path, Value::Null).await.status, 200);
        for (method, body) in [("PUT", remote("kims")), ("PATCH", json!({})), ("DELETE", Value::Null)] {
            assert_eq!(app.as_key(&lee, method, &path, body).await.status, 403, "{method}");
        }
        let program = json!({"name": "p", "command": "python3", "disabled": true});
        let refused = app.as_key(&kim, "POST", PATH, program.clone()).await;
        assert_eq!((refused.status, refused.code()), (403, "forbidden"), "{}", refused.body);
        let variable = json!({"name": "v", "url": "https://mcp.example.com/${SERVER_TOKEN}"});
        let refused = app.as_key(&kim, "POST", PATH, variable).await;
        assert_eq!((refused.status, refused.code()), (403, "forbidden"), "{}", refused.body);
        assert_eq!(app.post(PATH, program).await.status, 201);
        let other = app.post(PATH, json!({"name": "q", "command": "bash"})).await;
        assert_eq!((other.status, other.code()), (422, "invalid"), "{}", other.body);
        assert!(other.message().contains("mcp.commands_allowed"), "{}", other.body);
        assert!(other.message().contains("python3"), "{}", other.body);
        // A reader sees how it does, not how it is reached.
        let viewer = app.person("ann", "viewer").await.key;
        let seen = app.as_key(&viewer, "GET", &path, Value::Null).await.body;
        assert_eq!((&seen["state"], seen.get("url")), (&json!("disabled"), None), "{seen}");
        // What kim leaves behind goes to lee, with what is sealed.
        app.as_key(&kim, "PATCH", &path, json!({"headers": {"A": "a secret of kim"}})).await;
        let moved = app.post("/api/v1/users/kim/reassign", json!({"to": "lee"})).await;
        assert_eq!((&moved.body["servers"], &moved.body["secrets"]), (&json!(1), &json!(1)), "{}", moved.body);
        let mine = app.as_key(&lee, "PATCH", &path, json!({"timeout_seconds": 5})).await;
        assert_eq!((mine.status, &mine.body["owner"]), (200, &json!("lee")), "{}", mine.body);
    })
    .await;
}

#[tokio::test]
async fn what_looks_secret_in_an_address_is_not_shown() {
    let settings = app::servers::Settings {
        commands_allowed: vec!["python3".to_owned()],
        ..Default::default()
    };
    on_both_servers(settings, async |app: &TestApp| {
        let url = |key: &str| format!("https://mcp.example.com/mcp?api_key={key}&page=2");
        let body = |key: &str| json!({"url": url(key), "disabled": true});
        let mut made = body("QUERYSECRET99");
        made["name"] = json!("q");
        let made = app.post(PATH, made).await;
        assert_eq!((made.status, &made.body["url"]), (201, &json!(url("…"))), "{}", made.body);
        let program = json!({"name": "p", "command": "python3", "args": ["--token", "ARGSECRET99"], "disabled": true});
        let made = app.post(PATH, program).await;
        assert_eq!((made.status, &made.body["args"]), (201, &json!(["--token", "…"])), "{}", made.body);
        // Who sends back what they were shown means what is hidden there.
        let mut same = body("…");
        same["timeout_seconds"] = json!(5.0);
        let kept = change(app, "PUT", "q", same).await;
        assert_eq!((kept.status, &kept.body["url"]), (200, &json!(url("…"))), "{}", kept.body);
        let stored = app.server.app.store.servers().await.unwrap();
        let stored: Vec<&str> = stored.iter().map(|it| it.definition.as_str()).collect();
        assert!(stored.iter().any(|it| it.contains("QUERYSECRET99")), "{stored:?}");
        let moved = json!({"url": "https://other.example.com/mcp?api_key=…", "disabled": true});
        let moved = change(app, "PUT", "q", moved).await;
        assert_eq!(moved.status, 422, "{}", moved.body);
        let lee = app.person("lee", "operator").await.key;
        for path in [format!("{PATH}/q"), format!("{PATH}/p"), PATH.to_owned()] {
            let seen = app.as_key(&lee, "GET", &path, Value::Null).await.body;
            assert!(!seen.to_string().contains("SECRET99"), "{seen}");
        }
        let acts = app.get("/api/v1/audit").await.body;
        assert!(acts.to_string().contains("server:q"), "{acts}");
        assert!(!acts.to_string().contains("SECRET99"), "{acts}");
    })
    .await;
}

#[tokio::test]
async fn only_an_admins_server_may_be_private() {
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([tool("echo", "Echoes.")])).await;
        let kim = app.person("kim", "operator").await.key;
        let body = |name: &str| json!({"name": name, "url": upstream.url()});
        let made = app.as_key(&kim, "POST", PATH, body("kims")).await;
        assert_eq!(
            (made.status, &made.body["is_guarded"]),
            (201, &json!(true)),
            "{}",
            made.body
        );
        let cause = until("it is refused", async || {
            let shown = app.get(&format!("{PATH}/kims")).await.body;
            shown["cause"].as_str().map(str::to_owned)
        })
        .await;
        assert!(cause.contains("127.0.0.1"), "{cause}");
        app.post(&format!("{PATH}/kims/reconnect"), Value::Null)
            .await;
        // An admin's key is not enough where somebody else owns it.
        change(app, "PATCH", "kims", json!({"timeout_seconds": 3})).await;
        let ann = app.person("ann", "admin").await.key;
        let made = app.as_key(&ann, "POST", PATH, body("anns")).await;
        assert_eq!(made.body["is_guarded"], false, "{}", made.body);
        in_state(app, "anns", "connected").await;
        let connections = upstream.count("connection");
        assert!(connections > 0);
        assert_eq!(
            app.get(&format!("{PATH}/kims")).await.body["is_guarded"],
            true
        );
        // As long as an admin owns it.
        let demoted = app
            .as_key(
                ADMIN,
                "PATCH",
                "/api/v1/users/ann",
                json!({"role": "operator"}),
            )
            .await;
        assert_eq!(demoted.status, 200, "{}", demoted.body);
        until("it is guarded", async || {
            let shown = app.get(&format!("{PATH}/anns")).await.body;
            (shown["is_guarded"] == true && shown["state"] != "connected").then_some(())
        })
        .await;
        assert_eq!(
            upstream.count("connection"),
            connections,
            "nobody has called it since"
        );
    })
    .await;
}

fn write_file(app: &TestApp, servers: &Value) {
    let text = json!({"mcpServers": servers}).to_string();
    std::fs::write(app.folder.path().join("mcp.json"), text).unwrap();
}

#[tokio::test]
async fn what_stands_in_the_file_wins() {
    on_both(async |app: &TestApp| {
        let (ours, theirs) = (Scripted::start(json!([tool("ours", "")])).await, Scripted::start(json!([tool("theirs", "")])).await);
        app.post(PATH, json!({"name": "a", "url": ours.url()})).await;
        in_state(app, "a", "connected").await;
        write_file(app, &json!({"a": {"url": theirs.url(), "pinning": "approve"}, "b": {"url": theirs.url(), "disabled": true}}));
        app.server.app.reload().await.unwrap();
        until("the file's tools are there instead", async || (tools(app).await == ["a.theirs"]).then_some(())).await;
        let listed = app.get(PATH).await.body;
        let listed: Vec<String> = listed["items"].as_array().unwrap().iter()
            .map(|it| ["name", "source", "state"].map(|key| it[key].as_str().unwrap()).join(" "))
            .collect();
        assert_eq!(listed, ["a file connected", "a database hidden", "b file disabled"]);
        let shown = app.get(&format!("{PATH}/a")).await;
        assert_eq!((&shown.body["source"], &shown.body["pinning_now"]), (&json!("file"), &json!("approve")));
        assert!(shown.headers.get("etag").is_none());
        for name in ["a", "b"] {
            let taken = app.post(PATH, json!({"name": name, "url": ours.url()})).await;
            assert_eq!((taken.status, taken.code()), (409, "conflict"), "{}", taken.body);
            assert!(taken.message().contains("mcp.json"), "{}", taken.body);
        }
        let fixed = change(app, "PATCH", "b", json!({"disabled": false})).await;
        assert_eq!((fixed.status, fixed.code()), (409, "conflict"), "{}", fixed.body);
        let hidden = change(app, "PATCH", "a", json!({"timeout_seconds": 9})).await;
        assert_eq!((hidden.status, &hidden.body["state"]), (200, &json!("hidden")), "{}", hidden.body);
        write_file(app, &json!({}));
        app.server.app.reload().await.unwrap();
        until("ours is back", async || (tools(app).await == ["a.ours"]).then_some(())).await;
    })
    .await;
}

#[tokio::test]
async fn the_secret_of_a_client_is_sealed_too() {
    on_both(async |app: &TestApp| {
        let body = json!({
            "name": "a", "url": "http://127.0.0.1:9/mcp", "disabled": true,
            "auth": {"client_id": "us", "client_secret": "hunter2-hunter2-hunter2", "grant": "client_credentials"},
        });
        let refused = app.post(PATH, body.clone()).await;
        assert_eq!((refused.status, refused.code()), (422, "invalid"), "{}", refused.body);
        assert!(refused.body.to_string().contains("issuer"), "{}", refused.body);
        let mut body = body;
        body["auth"]["issuer"] = "http://127.0.0.1:9".into();
        let made = app.post(PATH, body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let auth = json!({
            "client_id": "us", "client_secret": {"set": true, "last4": "ter2"}, "grant": "client_credentials", "issuer": "http://127.0.0.1:9",
        });
        assert_eq!(made.body["auth"], auth);
        let same = change(app, "PUT", "a", made.body.clone()).await;
        assert_eq!((same.status, &same.body["auth"]), (200, &auth), "{}", same.body);
        assert_eq!(same.body["state"], "disabled", "it opens: {}", same.body);
        let audit = app.get("/api/v1/audit?limit=50").await.body.to_string();
        assert!(audit.contains("server.update") && !audit.contains("hunter2"), "{audit}");
        let gone = change(app, "DELETE", "a", Value::Null).await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        let left = app.get("/api/v1/secrets/verify").await.body;
        assert_eq!((&left["valid"], &left["secrets"]), (&json!(true), &json!(0)), "{left}");
    })
    .await;
}

#[tokio::test]
async fn a_wrong_server_is_refused_with_every_place() {
    on_both(async |app: &TestApp| {
        let wrong = json!({"name": "a", "url": "nowhere", "hedaers": {}, "headers": {"A B": "x"}, "pinning": "on"});
        let refused = app.post(PATH, wrong).await;
        assert_eq!((refused.status, refused.code()), (422, "invalid"), "{}", refused.body);
        let problems = refused.body["error"]["details"]["problems"].as_array().unwrap();
        let mut paths: Vec<&str> = problems.iter().map(|it| it["path"].as_str().unwrap()).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["$.headers[\"A B\"]", "$.hedaers", "$.pinning", "$.url"]);
        let made = json!({"name": "a", "url": "https://mcp.example.com", "disabled": true});
        let first = app.post(PATH, made.clone()).await;
        assert_eq!(first.status, 201, "{}", first.body);
        // What is meant for a server by its id would go to one that is named so.
        let mut named = made.clone();
        named["name"] = first.body["id"].clone();
        let refused = app.post(PATH, named).await;
        assert_eq!((refused.status, refused.code()), (422, "invalid"), "{}", refused.body);
        assert!(refused.body.to_string().contains("$.name"), "{}", refused.body);
        let again = app.post(PATH, made).await;
        assert_eq!((again.status, again.code()), (409, "conflict"), "{}", again.body);
        let renamed = change(app, "PATCH", "a", json!({"name": "b"})).await;
        assert_eq!((renamed.status, renamed.code()), (422, "invalid"), "{}", renamed.body);
        let mask = json!({"headers": {"B": {"set": true}}});
        let nothing = change(app, "PATCH", "a", mask).await;
        assert_eq!(nothing.status, 422, "{}", nothing.body);
        assert!(nothing.message().contains("$.headers.B"), "{}", nothing.body);
        let theirs = json!({"headers": {"B": {"$sealed": "00000000-0000-0000-0000-000000000001"}}});
        assert_eq!(change(app, "PATCH", "a", theirs).await.status, 422);
    })
    .await;
}
