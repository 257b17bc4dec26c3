//! Resources of several upstream servers with the same addresses: whoever is told of one can read that very one.

use crate::scripted::{Scripted, tool, until};
use crate::servers::in_state;
use crate::testapp::{ADMIN, TestApp, on_both};
use crate::toolsets_mcp::Client;
use serde_json::{Value, json};

const PATH: &str = "/api/v1/servers";

/// A server with a resource, a template and a prompt; whatever is read of it holds its name.
async fn offering(app: &TestApp, name: &str) -> Scripted {
    let upstream = Scripted::start(json!([tool("link", "Links.")])).await;
    upstream.say(
        "resources/list",
        json!({"resources": [{"uri": "x://1", "name": "one"}]}),
    );
    upstream.say(
        "resources/templates/list",
        json!({"resourceTemplates": [{"uriTemplate": "x://t/{id}", "name": "t"}]}),
    );
    upstream.say("prompts/list", json!({"prompts": [{"name": "p"}]}));
    let read =
        json!({"contents": [{"uri": "x://1", "text": name}, {"uri": "x://below", "text": name}]});
    upstream.say("resources/read", read);
    app.post(PATH, json!({"name": name, "url": upstream.url()}))
        .await;
    in_state(app, name, "connected").await;
    until("its tool is there", async || {
        let found = app.get(&format!("/api/v1/tools/{name}.link")).await;
        (found.status == 200).then_some(())
    })
    .await;
    upstream
}

fn link(uri: &str) -> Value {
    json!({"type": "resource_link", "uri": uri, "name": "n"})
}

fn embedded(uri: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "text": "t"}})
}

async fn read(client: &Client<'_>, uri: &str) -> Vec<Value> {
    let read = client.ask("resources/read", json!({"uri": uri})).await;
    let contents = read.result()["contents"].as_array();
    contents
        .unwrap_or_else(|| panic!("{uri}: {}", read.error()))
        .clone()
}

#[tokio::test]
async fn what_is_read_is_called_what_it_was_asked_for_by() {
    on_both(async |app: &TestApp| {
        let _both = (offering(app, "a").await, offering(app, "b").await);
        let (legacy, _) = Client::legacy(app, ADMIN, "/mcp").await;
        for client in [&legacy, &Client::modern(app, ADMIN, "/mcp")] {
            let listed = client.ask("resources/list", json!({})).await;
            let listed = listed.result()["resources"].as_array().unwrap().clone();
            assert_eq!(
                (&listed[0]["uri"], &listed[1]["uri"]),
                (&json!("x://1"), &json!("toolcrib+b:x://1"))
            );
            let contents = read(client, "x://1").await;
            assert_eq!(contents[0]["uri"], "x://1");
            assert_eq!(contents[0]["text"], "a");
            let contents = read(client, "toolcrib+b:x://1").await;
            assert_eq!(contents[0]["uri"], "toolcrib+b:x://1");
            assert_eq!(contents[1]["uri"], "toolcrib+b:x://below");
            assert_eq!(contents[0]["text"], "b");
        }
    })
    .await;
}

/// The entries of the log, without what is new each time.
async fn logged(app: &TestApp) -> Vec<Value> {
    let page = app.get("/api/v1/executions?limit=100").await.body;
    let names = ["tool_name", "arguments", "status", "transport", "output"];
    let entry = |it: &Value| {
        let members = names.map(|name| (name.to_owned(), it[name].clone()));
        Value::Object(members.into_iter().collect())
    };
    page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(entry)
        .collect()
}

#[tokio::test]
async fn who_reads_stands_in_the_log() {
    on_both(async |app: &TestApp| {
        let server = offering(app, "a").await;
        server.say("prompts/get", json!({"messages": []}));
        let entry = |method: &str, arguments: Value, transport: &str| {
            json!({"tool_name": method, "arguments": arguments, "status": "success", "transport": transport, "output": null})
        };
        let uri = json!({"server": "a", "uri": "x://1"});
        let client = Client::modern(app, ADMIN, "/mcp");
        read(&client, "x://1").await;
        assert_eq!(logged(app).await, [entry("resources/read", uri.clone(), "mcp")]);
        let asked = json!({"name": "a.p", "arguments": {"k": "v"}});
        assert!(client.ask("prompts/get", asked).await.result()["messages"].is_array());
        let arguments = json!({"server": "a", "name": "p", "arguments": {"k": "v"}});
        assert!(logged(app).await.contains(&entry("prompts/get", arguments, "mcp")));
        let found = app.get(&format!("{PATH}/a/resources/read?uri=x://1")).await;
        assert_eq!(found.status, 200);
        let entries = logged(app).await;
        assert!(entries.contains(&entry("resources/read", uri, "rest")), "{entries:?}");
        // What is listed only is not read, and what is not there neither.
        client.ask("resources/list", json!({})).await;
        client.ask("resources/read", json!({"uri": "y://nothing"})).await;
        assert_eq!(logged(app).await.len(), entries.len());
    })
    .await;
}

#[tokio::test]
async fn links_lead_back_to_the_server_that_gave_them() {
    on_both(async |app: &TestApp| {
        let (a, b) = (offering(app, "a").await, offering(app, "b").await);
        let given = json!([
            link("x://1"), embedded("x://1"), link("x://t/5"), link("x://unlisted"), link("https://example.com/"),
            {"type": "text", "text": "see \"resource\" x://1"},
        ]);
        let answer = json!({"content": given, "structuredContent": {"uri": "x://1"}});
        let uris = |content: &Value| -> Vec<Value> {
            let blocks = content.as_array().unwrap().iter();
            let uri = |it: &Value| match it["type"].as_str() {
                Some("resource") => it["resource"]["uri"].clone(),
                _ => it["uri"].clone(),
            };
            blocks.map(uri).take(5).collect()
        };
        for server in [&a, &b] {
            server.say("tools/call", answer.clone());
            let messages: Vec<Value> = given.as_array().unwrap().iter().map(|it| json!({"role": "user", "content": it})).collect();
            server.say("prompts/get", json!({"messages": messages}));
        }
        // The same tool under a name of ours.
        let own = json!({"name": "own", "description": "Links.", "kind": "mcp", "input_schema": {"type": "object"},
            "config": {"server_name": "b", "tool_name": "link"}});
        assert_eq!(app.post("/api/v1/tools", own).await.status, 201);
        let client = Client::modern(app, ADMIN, "/mcp");
        let web = "https://example.com/";
        let of_a = json!(["x://1", "x://1", "x://t/5", "toolcrib+a:x://unlisted", web]);
        let of_b = json!([
            "toolcrib+b:x://1", "toolcrib+b:x://1", "toolcrib+b:x://t/5", "toolcrib+b:x://unlisted", web,
        ]);
        for (name, expected) in [("a.link", &of_a), ("b.link", &of_b), ("own", &of_b)] {
            let called = client.ask("tools/call", json!({"name": name, "arguments": {}})).await;
            let result = called.result();
            assert_eq!(json!(uris(&result["content"])), *expected, "{name}");
            assert_eq!(result["content"][5], given[5]);
            assert_eq!(result["structuredContent"], answer["structuredContent"]);
        }
        for (name, expected) in [("a.p", &of_a), ("b.p", &of_b)] {
            let got = client.ask("prompts/get", json!({"name": name})).await;
            let contents = got.result()["messages"].as_array().unwrap().iter();
            let contents: Vec<Value> = contents.map(|it| it["content"].clone()).collect();
            assert_eq!(json!(uris(&json!(contents))), *expected, "{name}");
        }
        // What is in no list is read of whoever gave it.
        let contents = read(&client, "toolcrib+b:x://unlisted").await;
        assert_eq!(contents[0]["text"], "b");
    })
    .await;
}

/// A server without resources tells of something else, and what one says of its own passes as it came.
#[tokio::test]
async fn what_leads_nowhere_else_is_passed_on_as_it_came() {
    on_both(async |app: &TestApp| {
        let plain = Scripted::start(json!([tool("link", "Links.")])).await;
        plain.say("tools/call", json!({"content": [link("file:///a")]}));
        app.post(PATH, json!({"name": "plain", "url": plain.url()}))
            .await;
        in_state(app, "plain", "connected").await;
        until("its tool is there", async || {
            let found = app.get("/api/v1/tools/plain.link").await;
            (found.status == 200).then_some(())
        })
        .await;
        let client = Client::modern(app, ADMIN, "/mcp");
        let called = client
            .ask("tools/call", json!({"name": "plain.link", "arguments": {}}))
            .await;
        assert_eq!(called.result()["content"], json!([link("file:///a")]));
    })
    .await;
}
