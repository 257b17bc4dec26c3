//! Upstream servers that are not as they should be: a variable is missing, nobody answers, a definition hides letters, or
//! a sealed header is to go to another address.

use crate::scripted::{Scripted, tool, until};
use crate::servers::in_state;
use crate::testapp::{ADMIN, TestApp, on_both, on_both_servers};
use crate::toolsets_mcp::Client;
use app::servers::Settings;
use catalog::pinning::Pinning;
use serde_json::{Value, json};

const PATH: &str = "/api/v1/servers";

fn write_file(app: &TestApp, servers: &Value) {
    let text = json!({"mcpServers": servers}).to_string();
    std::fs::write(app.folder.path().join("mcp.json"), text).unwrap();
}

#[tokio::test]
async fn a_missing_variable_fails_its_server_and_nothing_else() {
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([tool("echo", "Echoes.")])).await;
        write_file(
            app,
            &json!({
                "fine": {"url": upstream.url(), "headers": {"X-Key": "${SERVER_TOKEN}", "X-Open": "a-long-secret-value"}},
                "lacks": {"url": upstream.url(), "headers": {"X-Key": "${NO_SUCH_VARIABLE}"}, "timeout_seconds": 7},
            }),
        );
        let app = app.restart().await;
        in_state(&app, "fine", "connected").await;
        let lacks = app.get(&format!("{PATH}/lacks")).await.body;
        assert_eq!(lacks["state"], "failed", "{lacks}");
        let cause = lacks["cause"].as_str().unwrap_or_default();
        for part in ["NO_SUCH_VARIABLE is not set", "$.mcpServers.lacks.headers.X-Key", "mcp.json:1"] {
            assert!(cause.contains(part), "{part} is not in {cause}");
        }
        let called = app.post("/api/v1/tools/lacks.echo/call", json!({"arguments": {}})).await;
        assert_eq!((called.status, called.code()), (503, "service_unavailable"), "{}", called.body);
        assert!(called.message().contains("NO_SUCH_VARIABLE"), "{}", called.body);
        assert_eq!(app.post(&format!("{PATH}/lacks/reconnect"), Value::Null).await.status, 200);
        // What stands in the file is shown, and no secret of it.
        assert_eq!((&lacks["headers"], &lacks["timeout_seconds"]), (&json!({"X-Key": "${NO_SUCH_VARIABLE}"}), &json!(7)));
        let fine = app.get(&format!("{PATH}/fine")).await.body;
        let mask = json!({"set": true, "last4": "alue"});
        assert_eq!(fine["headers"], json!({"X-Key": "${SERVER_TOKEN}", "X-Open": mask}), "{fine}");
        let viewer = app.person("ann", "viewer").await.key;
        let seen = app.as_key(&viewer, "GET", &format!("{PATH}/fine"), Value::Null).await.body;
        assert!(seen.get("headers").is_none() && seen.get("url").is_none(), "{seen}");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_tool_of_a_server_that_never_came_up_is_not_simply_unknown() {
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([tool("echo", "Echoes.")])).await;
        let url = upstream.url();
        upstream.stop().await;
        app.post(PATH, json!({"name": "s", "url": url})).await;
        app.post(PATH, json!({"name": "off", "url": url, "disabled": true}))
            .await;
        let shown = until("it is tried", async || {
            let shown = app.get(&format!("{PATH}/s")).await.body;
            shown["cause"].is_string().then_some(shown)
        })
        .await;
        assert_ne!(shown["state"], "connected");
        let call = async |name: &str| {
            app.post(
                &format!("/api/v1/tools/{name}/call"),
                json!({"arguments": {}}),
            )
            .await
        };
        let down = call("s.echo").await;
        assert_eq!(
            (down.status, down.code()),
            (503, "service_unavailable"),
            "{}",
            down.body
        );
        assert!(
            down.message().starts_with("MCP server 's': it is "),
            "{}",
            down.body
        );
        assert_eq!(
            down.body["error"]["details"]["server"], "s",
            "{}",
            down.body
        );
        let off = call("off.echo").await;
        assert!(off.message().contains("it is disabled"), "{}", off.body);
        for none in ["nowhere.echo", "echo"] {
            assert_eq!(call(none).await.code(), "tool_not_found", "{none}");
        }
        // A toolset says the same of what it holds, and nothing of what it does not.
        let kit = json!({"name": "kit", "tools": ["s.echo"]});
        assert_eq!(app.post("/api/v1/toolsets", kit).await.status, 201);
        let client = Client::modern(app, ADMIN, "/mcp/kit");
        let through = async |name: &str| {
            let params = json!({"name": name, "arguments": {}});
            let said = client.ask("tools/call", params).await;
            format!("{} {}", said.result(), said.error())
        };
        let said = through("s.echo").await;
        assert!(said.contains("MCP server 's': it is "), "{said}");
        let said = through("off.echo").await;
        assert!(said.contains("Tool 'off.echo' not found"), "{said}");
    })
    .await;
}

#[tokio::test]
async fn a_sealed_header_does_not_follow_to_another_origin() {
    on_both(async |app: &TestApp| {
        let (here, elsewhere) = (
            Scripted::start(json!([])).await,
            Scripted::start(json!([])).await,
        );
        let secret = "Bearer of-the-first-server";
        let body = json!({"name": "s", "url": here.url(), "headers": {"Authorization": secret}});
        let made = app.post(PATH, body).await.body;
        in_state(app, "s", "connected").await;
        let path = format!("{PATH}/s");
        let patch = async |body: Value| app.as_key(ADMIN, "PATCH", &path, body).await;
        let refused = patch(json!({"url": elsewhere.url()})).await;
        assert_eq!(
            (refused.status, refused.code()),
            (422, "invalid"),
            "{}",
            refused.body
        );
        assert!(
            refused.message().ends_with("headers.Authorization"),
            "{}",
            refused.body
        );
        let mut whole = made;
        whole["url"] = elsewhere.url().into();
        let refused = app.as_key(ADMIN, "PUT", &path, whole).await;
        assert_eq!(
            refused.status, 422,
            "a mask keeps nothing either: {}",
            refused.body
        );
        // Another path is the same server; and whoever gives the value again may send it anywhere.
        let other_path =
            patch(json!({"url": format!("http://127.0.0.1:{}/other", here.port)})).await;
        assert_eq!(other_path.status, 200, "{}", other_path.body);
        let given =
            patch(json!({"url": elsewhere.url(), "headers": {"Authorization": "Bearer another"}}))
                .await;
        assert_eq!(given.status, 200, "{}", given.body);
        until("it is sent", async || {
            (elsewhere.count("authorization: bearer another") > 0).then_some(())
        })
        .await;
        let dropped = patch(json!({"url": here.url(), "headers": null})).await;
        assert_eq!(dropped.status, 200, "{}", dropped.body);
        let sent = format!("authorization: {}", secret.to_lowercase());
        assert_eq!(elsewhere.count(&sent), 0);
    })
    .await;
}

#[tokio::test]
async fn under_approve_letters_that_hide_wait_from_the_first_sight() {
    let settings = Settings {
        pinning: Pinning::Approve,
        ..Settings::default()
    };
    on_both_servers(settings, async |app: &TestApp| {
        let odd = tool("odd", "Adds.\u{e0041}");
        let upstream = Scripted::start(json!([tool("plain", "P."), odd])).await;
        app.post(PATH, json!({"name": "s", "url": upstream.url()}))
            .await;
        in_state(app, "s", "connected").await;
        until("the plain one counts", async || {
            let found = app.get("/api/v1/tools/s.plain").await;
            (found.status == 200).then_some(())
        })
        .await;
        assert_eq!(app.get("/api/v1/tools/s.odd").await.status, 404);
        let shown = app.get(&format!("{PATH}/s")).await.body;
        assert_eq!(
            (&shown["changed"], &shown["hidden_letters"]),
            (&json!(["odd"]), &json!({"odd": ["U+E0041"]}))
        );
        let changes = app.get(&format!("{PATH}/s/changes")).await.body;
        let hash = &changes["items"][0]["hash"];
        let approved = json!({"tools": [{"name": "odd", "hash": hash}]});
        let done = app.post(&format!("{PATH}/s/approve"), approved).await;
        assert_eq!(done.status, 200, "{}", done.body);
        assert_eq!(app.get("/api/v1/tools/s.odd").await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn why_a_server_is_down_is_for_those_who_operate_it() {
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([tool("echo", "Echoes.")])).await;
        upstream.say("prompts/list", json!({"prompts": [{"name": "ask"}]}));
        upstream.say(
            "resources/list",
            json!({"resources": [{"uri": "a://one", "name": "one"}]}),
        );
        let url = format!("{}?api_key=QUERYSECRET99", upstream.url());
        app.post(PATH, json!({"name": "s", "url": url})).await;
        in_state(app, "s", "connected").await;
        until("its tool is there", async || {
            let found = app.get("/api/v1/tools/s.echo").await;
            (found.status == 200).then_some(())
        })
        .await;
        upstream.stop().await;
        app.post(PATH, json!({"name": "never", "url": url})).await;
        let cause = until("it is tried", async || {
            let shown = app.get(&format!("{PATH}/never")).await.body;
            shown["cause"].as_str().map(str::to_owned)
        })
        .await;
        assert!(cause.contains("127.0.0.1"), "{cause}");
        assert!(!cause.contains("QUERYSECRET99"), "{cause}");
        let user = app.key(&["read", "call"]).await;
        let (theirs, admins) = (
            Client::modern(app, &user, "/mcp"),
            Client::modern(app, ADMIN, "/mcp"),
        );
        let call = |name: &str| json!({"name": name, "arguments": {}});
        for (server, method, params) in [
            ("s", "tools/call", call("s.echo")),
            ("s", "prompts/get", call("s.ask")),
            ("s", "resources/read", json!({"uri": "a://one"})),
            ("never", "tools/call", call("never.echo")),
        ] {
            let whole = admins.ask(method, params.clone()).await;
            let whole = format!("{} {}", whole.result(), whole.error());
            assert!(!whole.contains("servers show"), "{method}: {whole}");
            let said = theirs.ask(method, params).await;
            let said = format!("{} {}", said.result(), said.error());
            assert!(!said.contains("127.0.0.1"), "{method}: {said}");
            assert!(said.contains("try"), "{method}: {said}");
            let hint = format!("toolcrib servers show {server}");
            assert!(said.contains(&hint), "{method}: {said}");
            assert!(!whole.contains("QUERYSECRET99"), "{method}: {whole}");
        }
        for name in ["s.echo", "never.echo"] {
            let path = format!("/api/v1/tools/{name}/call");
            let said = app
                .as_key(&user, "POST", &path, json!({"arguments": {}}))
                .await;
            assert_eq!(said.status, 503, "{}", said.body);
            assert!(
                !said.body.to_string().contains("127.0.0.1"),
                "{}",
                said.body
            );
        }
    })
    .await;
}
