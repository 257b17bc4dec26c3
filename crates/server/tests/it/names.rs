//! What tools are called: without dots for clients that take none, by a bare name, by what a toolset calls them. And what
//! is listed by whoever asks before the servers have come.

use crate::scripted::{Scripted, tool};
use crate::testapp::{ADMIN, TestApp, definition, on_both, on_both_mcp};
use crate::toolsets_mcp::Client;
use axum::body::Body;
use axum::http::Request;
use catalog::names::{Names, is_plain};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Adds a server, and waits for nothing.
async fn add(app: &TestApp, name: &str, url: &str) {
    let body = json!({"name": name, "url": url});
    let made = app.post("/api/v1/servers", body).await;
    assert_eq!(made.status, 201, "{}", made.body);
}

async fn upstream(app: &TestApp, name: &str, tools: &[&str]) -> Scripted {
    let tools: Vec<Value> = tools.iter().map(|it| tool(it, "A tool.")).collect();
    let scripted = Scripted::start(json!(tools)).await;
    add(app, name, &scripted.url()).await;
    scripted
}

async fn both<'a>(app: &'a TestApp, path: &str) -> [Client<'a>; 2] {
    let (legacy, _) = Client::legacy(app, ADMIN, path).await;
    [Client::modern(app, ADMIN, path), legacy]
}

/// Those of upstream servers, as they are listed.
async fn listed(client: &Client<'_>) -> Vec<String> {
    let said = client.ask("tools/list", json!({})).await;
    let tools = said.result()["tools"].as_array().unwrap();
    let names = tools.iter().map(|it| it["name"].as_str().unwrap());
    let names = names.filter(|it| it.starts_with("files") || it.starts_with("git"));
    names.map(str::to_owned).collect()
}

async fn call(client: &Client<'_>, name: &str) -> Value {
    let params = json!({"name": name, "arguments": {}});
    client.ask("tools/call", params).await.result()["content"][0]["text"].clone()
}

#[tokio::test]
async fn tools_have_names_without_dots_for_who_asks() {
    on_both(async |app: &TestApp| {
        let long = "x".repeat(70);
        let _files = upstream(app, "files", &["read", "read file", "read.file", &long]).await;
        for client in both(app, "/mcp").await {
            let names = listed(&client).await;
            let long = format!("files.{long}");
            assert_eq!(
                names,
                ["files.read", "files.read file", "files.read.file", &long]
            );
            // Asked for or not, each leads to its tool.
            assert_eq!(call(&client, "files__read").await, "ran read");
        }
        let mut seen = Vec::new();
        for client in both(app, "/mcp?names=plain").await {
            let names = listed(&client).await;
            assert!(names.iter().all(|it| is_plain(it)), "{names:?}");
            assert_eq!((names.len(), &*names[0]), (4, "files__read"), "{names:?}");
            assert_ne!(names[1], names[2]);
            for (name, ran) in names.iter().zip(["read", "read file", "read.file", &long]) {
                assert_eq!(call(&client, name).await, format!("ran {ran}"), "{name}");
            }
            assert_eq!(call(&client, "files.read").await, "ran read");
            seen.push(names);
        }
        assert_eq!(seen[0], seen[1]);
        let [dotted, _] = both(app, "/mcp?names=dotted").await;
        assert_eq!(listed(&dotted).await[0], "files.read");
        let rest = app
            .post("/api/v1/tools/files__read/call", json!({"arguments": {}}))
            .await;
        assert_eq!(
            (&rest.body["data"], &rest.body["tool_name"]),
            (&json!("ran read"), &json!("files.read"))
        );
        let wrong = app.post("/mcp?names=short", json!({})).await;
        assert_eq!(
            (wrong.status, wrong.message()),
            (422, "names: expected dotted or plain, once")
        );

        // Nobody but the operator takes such a name over.
        let taken = app.post("/api/v1/tools", definition("files__read")).await;
        assert_eq!(
            (taken.status, taken.code()),
            (409, "conflict"),
            "{}",
            taken.body
        );
        let mut own = definition("files__read");
        own["shelf"] = json!("file");
        assert_eq!(app.post("/api/v1/tools", own).await.status, 201);
        let [client, _] = both(app, "/mcp?names=plain").await;
        let names = listed(&client).await;
        assert!(names.contains(&"files__read".to_owned()), "{names:?}");
        let other = names
            .iter()
            .find(|it| it.starts_with("files__read_") && it.len() == 20);
        let ran = call(&client, other.unwrap_or_else(|| panic!("{names:?}"))).await;
        assert_eq!(ran, "ran read");
    })
    .await;
}

#[tokio::test]
async fn a_toolset_and_the_server_say_how_tools_are_named() {
    let settings = face::Settings {
        names: Names::Plain,
        ..face::Settings::default()
    };
    on_both_mcp(settings, async |app: &TestApp| {
        let _files = upstream(app, "files", &["read", "write"]).await;
        let [client, _] = both(app, "/mcp").await;
        assert_eq!(listed(&client).await, ["files__read", "files__write"]);
        for set in [
            json!({"name": "dotted", "names": "dotted", "allow": ["files.*"]}),
            json!({"name": "kit", "tools": ["files.read", {"tool": "files.write", "name": "files.put"}]}),
            json!({"name": "found", "find_tools": true, "allow": ["files.*"]}),
        ] {
            let made = app.post("/api/v1/toolsets", set).await;
            assert_eq!(made.status, 201, "{}", made.body);
        }
        for client in both(app, "/mcp/dotted").await {
            assert_eq!(listed(&client).await, ["files.read", "files.write"]);
        }
        for client in both(app, "/mcp/dotted?names=plain").await {
            assert_eq!(listed(&client).await, ["files__read", "files__write"]);
        }
        for client in both(app, "/mcp/kit").await {
            assert_eq!(listed(&client).await, ["files__read", "files_put"]);
            for (name, ran) in [("files_put", "write"), ("files.put", "write"), ("files__read", "read")] {
                assert_eq!(call(&client, name).await, format!("ran {ran}"), "{name}");
            }
            // Under another name than its own only, dots or not.
            for name in ["files.write", "files__write"] {
                assert_eq!(call(&client, name).await, Value::Null, "{name}");
            }
        }
        for client in both(app, "/mcp/found").await {
            let params = json!({"name": "find_tools", "arguments": {"query": "read"}});
            let found = client.ask("tools/call", params).await.result()["structuredContent"].clone();
            assert_eq!(found["tools"][0]["name"], "files__read", "{found}");
            let params = json!({"name": "call_tool", "arguments": {"name": "files__read"}});
            let ran = client.ask("tools/call", params).await;
            assert_eq!(ran.result()["content"][0]["text"], "ran read");
        }
        let shown = app.get("/api/v1/toolsets/dotted").await.body;
        assert_eq!(shown["names"], "dotted");
    })
    .await;
}

#[tokio::test]
async fn the_older_transport_is_told_where_to_post_with_the_same_names() {
    on_both(async |app: &TestApp| {
        let request = Request::get("/sse?names=plain").header("x-api-key", ADMIN);
        let request = request.header("accept", "text/event-stream");
        let api = server::Api::new(Arc::clone(&app.server));
        let answer = api.answer(request.body(Body::empty()).unwrap()).await;
        let mut body = answer.into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let first = String::from_utf8(first.to_vec()).unwrap();
        let address = first.lines().find_map(|line| line.strip_prefix("data: "));
        let address = address.unwrap_or_else(|| panic!("{first}"));
        assert!(address.ends_with("&names=plain"), "{address}");
    })
    .await;
}

#[tokio::test]
async fn who_lists_first_waits_for_servers_that_were_never_seen_and_nobody_else_does() {
    on_both(async |app: &TestApp| {
        let _files = upstream(app, "files", &["read"]).await;
        let client = Client::modern(app, ADMIN, "/mcp");
        assert_eq!(listed(&client).await, ["files.read"], "it was waited for");

        // One that takes the call and says nothing.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", silent.local_addr().unwrap());
        add(app, "gitless", &url).await;
        let (held, _) = silent.accept().await.unwrap();
        let listing = listed(&client);
        tokio::pin!(listing);
        let sum = json!({"arguments": {"expression": "6*7"}});
        let called = app.post("/api/v1/tools/calculator/call", sum);
        tokio::select! {
            biased;
            names = &mut listing => panic!("{names:?} before the server has answered"),
            sum = called => assert_eq!(sum.body["data"], 42, "{}", sum.body),
        }
        drop((held, silent));
        assert_eq!(listing.await, ["files.read"], "it has failed");
        // What was seen before is known, wherever its server is.
        let again = app.restart().await;
        let client = Client::modern(&again, ADMIN, "/mcp");
        assert_eq!(listed(&client).await, ["files.read"]);
        again.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_bare_name_that_several_have_says_so() {
    on_both(async |app: &TestApp| {
        let names: Vec<String> = (1..=7).map(|n| format!("git{n}")).collect();
        let mut servers = vec![upstream(app, &names[0], &["echo"]).await];
        let client = Client::modern(app, ADMIN, "/mcp");
        listed(&client).await;
        assert_eq!(call(&client, "echo").await, "ran echo");
        for name in &names[1..] {
            servers.push(upstream(app, name, &["echo"]).await);
        }
        listed(&client).await;
        let refused = app.post("/api/v1/tools/echo/call", json!({"arguments": {}})).await;
        assert_eq!((refused.status, refused.code()), (404, "tool_not_found"));
        let why = "'echo' is ambiguous; call one by its full name: git1.echo, git2.echo, git3.echo, git4.echo, git5.echo and 2 more";
        assert_eq!(refused.message(), why);
        let shown = app.get("/api/v1/tools/echo").await;
        assert_eq!((shown.status, shown.message()), (404, why));
        assert_eq!(shown.body["error"]["details"]["candidates"][0], "git1.echo");
        // What somebody may not see is not told.
        let rule = json!({"rules": [{"subject": "everyone", "hide": ["git*"]}]});
        let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", rule).await;
        assert_eq!(set.status, 200, "{}", set.body);
        let hidden = app.get("/api/v1/tools/echo").await;
        assert_eq!(hidden.message(), "Tool 'echo' not found");
    })
    .await;
}

#[tokio::test]
async fn a_tool_of_a_server_is_not_ours_to_change() {
    on_both(async |app: &TestApp| {
        let _files = upstream(app, "files", &["read"]).await;
        listed(&Client::modern(app, ADMIN, "/mcp")).await;
        let path = "/api/v1/tools/files.read";
        for (method, body) in [
            ("PATCH", json!({"is_active": false})),
            ("PUT", definition("files.read")),
            ("DELETE", Value::Null),
        ] {
            let refused = app.as_key(ADMIN, method, path, body).await;
            assert_eq!(
                (refused.status, refused.code()),
                (409, "conflict"),
                "{method}"
            );
            let why = "deny \"files.read\" in a rule of the policy";
            assert!(refused.message().contains(why), "{}", refused.body);
        }
    })
    .await;
}

#[tokio::test]
async fn a_tool_is_explained_by_what_its_toolset_calls_it() {
    on_both(async |app: &TestApp| {
        let set = json!({"name": "kit", "tools": [{"tool": "calculator", "name": "my.sum"}]});
        assert_eq!(app.post("/api/v1/toolsets", set).await.status, 201);
        for name in ["my.sum", "my_sum", "calculator"] {
            let path = format!("/api/v1/policy/explain?tool={name}&toolset=kit");
            let told = app.get(&path).await.body;
            assert_eq!((&told["tool"], &told["verdict"]), (&json!("calculator"), &json!("allowed")), "{told}");
            let why = "the toolset 'kit' lists it as 'my.sum'";
            assert!(told.to_string().contains(why), "{told}");
        }
        let none = app.get("/api/v1/policy/explain?tool=my.sum").await.body;
        assert_eq!(none["verdict"], "hidden", "{none}");
        // Nor does a set tell of what somebody may not know.
        let secret = app.post("/api/v1/tools", definition("secret")).await;
        assert_eq!(secret.status, 201, "{}", secret.body);
        let set = json!({"name": "open", "is_public": true, "tools": [{"tool": "secret", "name": "shown"}]});
        assert_eq!(app.post("/api/v1/toolsets", set).await.status, 201);
        let made = app.post("/api/v1/users", json!({"name": "kim", "role": "author"})).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let key = json!({"name": "kims", "user": "kim", "scopes": ["read", "call"]});
        let key = app.post("/api/v1/keys", key).await.body["key"].as_str().unwrap().to_owned();
        let path = "/api/v1/policy/explain?tool=shown&toolset=open";
        let told = app.as_key(&key, "GET", path, Value::Null).await.body;
        assert_eq!((&told["tool"], &told["verdict"]), (&json!("shown"), &json!("hidden")), "{told}");
    })
    .await;
}

#[tokio::test]
async fn what_a_toolset_sets_must_fit_its_tool() {
    on_both(async |app: &TestApp| {
        let with = |tool: &str, arguments: Value| json!({"name": "kit", "tools": [{"tool": tool, "arguments": arguments}]});
        let refused = app.post("/api/v1/toolsets", with("calculator", json!({"expression": 7}))).await;
        assert_eq!((refused.status, refused.code()), (422, "invalid"), "{}", refused.body);
        let problem = &refused.body["error"]["details"]["problems"][0];
        assert_eq!(problem["path"], "$.tools[0].arguments.expression", "{problem}");
        // Of a tool that comes later it is told by whoever looks.
        let made = app.post("/api/v1/toolsets", with("later", json!({"expression": 7, "other": 1}))).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let troubles = async || {
            let page = app.get("/api/v1/toolsets?check=true&owner=admin").await.body;
            page["items"][0]["troubles"].clone()
        };
        assert_eq!(troubles().await, Value::Null);
        let mut later = definition("later");
        later["input_schema"]["additionalProperties"] = json!(false);
        assert_eq!(app.post("/api/v1/tools", later).await.status, 201);
        let told = troubles().await;
        assert_eq!(told.as_array().map(Vec::len), Some(2), "{told}");
        assert!(told.to_string().contains("the arguments set for 'later', at $"), "{told}");
        let patch = json!({"description": "the same"});
        let refused = app.as_key(ADMIN, "PATCH", "/api/v1/toolsets/kit", patch).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
    })
    .await;
}
