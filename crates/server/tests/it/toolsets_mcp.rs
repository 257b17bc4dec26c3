//! Toolsets over MCP, in both eras: what is listed and called at an address of its own, and two tools that stand for all.

use crate::testapp::{ADMIN, TestApp, on_both_mcp};
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::sync::Arc;

const MODERN: &str = "2026-07-28";
const META: &str = "io.modelcontextprotocol";

/// One client, of one era, at one address.
pub(crate) struct Client<'a> {
    app: &'a TestApp,
    key: String,
    path: String,
    /// None in the modern era.
    session: Option<String>,
}

/// What came back: the status, and every message.
pub(crate) struct Said {
    status: u16,
    messages: Vec<Value>,
}

impl Said {
    pub(crate) fn result(&self) -> &Value {
        &self.messages.last().unwrap()["result"]
    }

    pub(crate) fn error(&self) -> &Value {
        &self.messages.last().unwrap()["error"]
    }
}

/// The messages of a JSON text or of a stream.
fn messages(text: &str) -> Vec<Value> {
    match serde_json::from_str(text) {
        Ok(one) => vec![one],
        Err(_) => {
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            data.map(|it| serde_json::from_str(it).unwrap()).collect()
        }
    }
}

impl<'a> Client<'a> {
    pub(crate) fn modern(app: &'a TestApp, key: &str, path: &str) -> Self {
        Client {
            app,
            key: key.to_owned(),
            path: path.to_owned(),
            session: None,
        }
    }

    /// With a session; gives what it was greeted with.
    pub(crate) async fn legacy(app: &'a TestApp, key: &str, path: &str) -> (Self, Value) {
        let mut client = Client::modern(app, key, path);
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let (status, session, messages) = client.post(&[], &body).await;
        assert_eq!(status, 200, "{messages:?}");
        client.session = session;
        assert!(client.session.is_some());
        let greeting = messages[0]["result"].clone();
        (client, greeting)
    }

    async fn post(
        &self,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, Option<String>, Vec<Value>) {
        let mut request = Request::post(&self.path)
            .header("x-api-key", &self.key)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        let api = server::Api::new(Arc::clone(&self.app.server));
        let (parts, body) = api.answer(request).await.into_parts();
        let session = parts.headers.get("mcp-session-id");
        let session = session.map(|it| it.to_str().unwrap().to_owned());
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        (parts.status.as_u16(), session, messages(&text))
    }

    pub(crate) async fn ask(&self, method: &str, mut params: Value) -> Said {
        // The newest entry of the log is the one of the last call.
        self.app.clock.advance(1);
        let name = ["name", "uri"].iter().find_map(|it| params[it].as_str());
        let name = name.unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        match &self.session {
            Some(session) => headers.push(("mcp-session-id", session.as_str())),
            None => {
                headers.extend([("mcp-protocol-version", MODERN), ("mcp-method", method)]);
                if !name.is_empty() {
                    headers.push(("mcp-name", name.as_str()));
                }
                params["_meta"][format!("{META}/protocolVersion")] = json!(MODERN);
                params["_meta"][format!("{META}/clientCapabilities")] = json!({"elicitation": {}});
            }
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (status, _, messages) = self.post(&headers, &body).await;
        Said { status, messages }
    }

    async fn list(&self) -> Vec<Value> {
        let said = self.ask("tools/list", json!({})).await;
        let tools = said.result()["tools"].as_array();
        tools
            .unwrap_or_else(|| panic!("{:?}", said.messages))
            .clone()
    }

    async fn names(&self) -> String {
        let tools = self.list().await;
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
        names.collect::<Vec<_>>().join(" ")
    }

    async fn call(&self, name: &str, arguments: Value) -> Said {
        let params = json!({"name": name, "arguments": arguments});
        self.ask("tools/call", params).await
    }
}

async fn make(app: &TestApp, key: &str, body: Value) {
    let made = app.as_key(key, "POST", "/api/v1/toolsets", body).await;
    assert_eq!(made.status, 201, "{}", made.body);
}

/// The newest entry of the log: tool, toolset, transport, status.
async fn logged(app: &TestApp) -> String {
    let page = app.get("/api/v1/executions?limit=1").await.body;
    let last = &page["items"][0];
    let part = |name: &str| last[name].as_str().unwrap_or("-").to_owned();
    ["tool_name", "toolset", "transport", "status"]
        .map(part)
        .join(" ")
}

fn code(said: &Said) -> &Value {
    &said.result()["_meta"]["toolcrib/error"]["code"]
}

/// A client of each era, and what each is told to begin with.
async fn both<'a>(app: &'a TestApp, path: &str) -> [(Client<'a>, Value); 2] {
    let modern = Client::modern(app, ADMIN, path);
    let discovered = modern.ask("server/discover", json!({})).await;
    let discovered = discovered.result().clone();
    [(modern, discovered), Client::legacy(app, ADMIN, path).await]
}

#[tokio::test]
async fn a_set_has_its_own_order_names_and_arguments() {
    on_both_mcp(face::Settings::default(), async |app: &TestApp| {
        make(app, ADMIN, json!({
            "name": "kit", "instructions": "Add, then answer.", "allow": ["fixture_*"],
            "tools": ["serialize_for_cell", "later", {"tool": "calculator", "name": "answer", "description": "The answer", "arguments": {"expression": "6*7"}}, {"tool": "calculator", "name": "add"}],
        })).await;
        let id = app.get("/api/v1/tools/calculator").await.body["id"].as_str().unwrap().to_owned();
        for (client, told) in both(app, "/mcp/kit").await {
            assert_eq!(told["instructions"], "Add, then answer.");
            let tools = client.list().await;
            assert_eq!(client.names().await, "serialize_for_cell answer add fixture_wait");
            let answer = &tools[1];
            assert_eq!(answer["description"], "The answer");
            assert!(answer["inputSchema"]["properties"].get("expression").is_none(), "{answer}");
            assert!(answer["inputSchema"].get("required").is_none(), "{answer}");
            assert!(tools[2]["inputSchema"]["properties"].get("expression").is_some());

            let said = client.call("answer", json!({})).await;
            assert!(said.result()["content"][0]["text"].as_str().unwrap().contains("42"), "{:?}", said.messages);
            assert_eq!(logged(app).await, "calculator kit mcp success");
            let said = client.call("add", json!({"expression": "1+1"})).await;
            assert!(said.result()["isError"].is_null(), "{:?}", said.messages);
            // What is set is not sent, not even as it is.
            let said = client.call("answer", json!({"expression": "6*7"})).await;
            assert_eq!((code(&said), &said.result()["isError"]), (&json!("invalid_input"), &json!(true)), "{:?}", said.messages);
            assert_eq!(logged(app).await, "calculator kit mcp error");
            // No way around it, and nothing that is not in the set.
            for name in ["calculator", id.as_str(), "web_search", "later", "nothing"] {
                let said = client.call(name, json!({"expression": "1"})).await;
                assert_eq!(said.error()["code"], -32602, "{name}: {:?}", said.messages);
            }
        }
        // A change counts at once, for open sessions too.
        let (client, _) = Client::legacy(app, ADMIN, "/mcp/kit").await;
        let change = json!({"tools": ["calculator"], "allow": null});
        app.as_key(ADMIN, "PATCH", "/api/v1/toolsets/kit", change).await;
        assert_eq!(client.names().await, "calculator");
        assert_eq!(client.call("answer", json!({})).await.error()["code"], -32602);
    })
    .await;
}

#[tokio::test]
async fn who_may_not_see_a_set_finds_nothing_there() {
    on_both_mcp(face::Settings::default(), async |app: &TestApp| {
        let (kim, lee) = (
            app.person("kim", "author").await.key,
            app.person("lee", "author").await.key,
        );
        make(app, &kim, json!({"name": "kit", "tools": ["calculator"]})).await;
        let status = async |key: &str, path: &str| {
            Client::modern(app, key, path)
                .ask("tools/list", json!({}))
                .await
                .status
        };
        assert_eq!(status(&kim, "/mcp/kit").await, 200);
        assert_eq!(status(ADMIN, "/mcp/kit").await, 200);
        assert_eq!(status(&lee, "/mcp/kit").await, 404);
        for path in ["/mcp/nosuch", "/mcp/a%20b", "/mcp/%FF"] {
            assert_eq!(status(ADMIN, path).await, 404, "{path}");
        }
        app.as_key(
            &kim,
            "PATCH",
            "/api/v1/toolsets/kit",
            json!({"is_public": true}),
        )
        .await;
        assert_eq!(status(&lee, "/mcp/kit").await, 200);
        // A session belongs to the address where it was opened.
        let (mut client, _) = Client::legacy(app, &lee, "/mcp/kit").await;
        assert_eq!(client.names().await, "calculator");
        client.path = "/mcp".to_owned();
        assert_eq!(client.ask("tools/list", json!({})).await.status, 404);
        client.path = "/mcp/kit".to_owned();
        assert_eq!(client.ask("tools/list", json!({})).await.status, 200);
        // What somebody leaves behind is out of use until it is somebody else's.
        app.as_key(ADMIN, "DELETE", "/api/v1/users/kim", Value::Null)
            .await;
        assert_eq!(client.ask("tools/list", json!({})).await.status, 404);
        assert_eq!(status(ADMIN, "/mcp/kit").await, 404);
        app.post("/api/v1/users/kim/reassign", json!({"to": "lee"}))
            .await;
        assert_eq!(client.ask("tools/list", json!({})).await.status, 200);
        app.as_key(ADMIN, "DELETE", "/api/v1/toolsets/kit", Value::Null)
            .await;
        assert_eq!(client.ask("tools/list", json!({})).await.status, 404);
        assert_eq!(status(&lee, "/mcp/kit").await, 404);
    })
    .await;
}

#[tokio::test]
async fn the_older_transport_has_the_sets_too() {
    on_both_mcp(face::Settings::default(), async |app: &TestApp| {
        make(app, ADMIN, json!({"name": "kit", "tools": ["calculator"]})).await;
        let request = Request::get("/sse/kit")
            .header("x-api-key", ADMIN)
            .header("accept", "text/event-stream");
        let api = server::Api::new(Arc::clone(&app.server));
        let mut stream = api
            .answer(request.body(Body::empty()).unwrap())
            .await
            .into_body();
        let mut read = async || {
            let frame = stream.frame().await.unwrap().unwrap();
            String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
        };
        let first = read().await;
        let address = first
            .lines()
            .find_map(|line| line.strip_prefix("data: "))
            .unwrap()
            .to_owned();
        assert!(address.starts_with("/messages/kit?session_id="), "{first}");
        let mut client = Client::modern(app, ADMIN, &address);
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        assert_eq!(client.post(&[], &list).await.0, 202);
        let said = messages(&read().await);
        let tools = said[0]["result"]["tools"].as_array().unwrap();
        assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!("calculator")));
        // Several at once are answered together.
        let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let several = json!([list, told, ping]);
        assert_eq!(client.post(&[], &several).await.0, 202);
        let said = messages(&read().await);
        let answers = said[0].as_array().unwrap();
        let ids: Vec<&Value> = answers.iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!(2)]);
        assert_eq!(client.post(&[], &json!([])).await.0, 400);
        client.path = address.replace("/kit", "");
        assert_eq!(client.post(&[], &list).await.0, 404);
    })
    .await;
}

fn with_fixtures(find_tools_above: usize) -> face::Settings {
    face::Settings {
        find_tools_above,
        conformance: true,
        ..face::Settings::default()
    }
}

#[tokio::test]
async fn two_tools_stand_for_all_of_a_set() {
    on_both_mcp(with_fixtures(0), async |app: &TestApp| {
        make(app, ADMIN, json!({"name": "kit", "find_tools": true, "allow": ["test_*"],
            "tools": [{"tool": "calculator", "name": "answer", "arguments": {"expression": "6*7"}}, "request_human_input"], "deny": ["test_simple_text"]})).await;
        for (client, _) in both(app, "/mcp/kit").await {
            assert_eq!(client.names().await, "find_tools call_tool");
            let said = client.call("find_tools", json!({"query": "the answer to arithmetic"})).await;
            let found = &said.result()["structuredContent"]["tools"];
            assert_eq!(found[0]["name"], "answer", "{:?}", said.messages);
            assert!(found[0]["inputSchema"]["properties"].get("expression").is_none());
            assert!(found.as_array().unwrap().len() <= 5);
            let text = said.result()["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap()["tools"], *found);
            let said = client.call("find_tools", json!({"query": "answers with a picture", "limit": 20})).await;
            let found = said.result()["structuredContent"]["tools"].to_string();
            assert!(found.contains("test_image_content") && !found.contains("test_simple_text"), "{found}");

            let said = client.call("call_tool", json!({"name": "answer"})).await;
            assert!(said.result()["content"][0]["text"].as_str().unwrap().contains("42"), "{:?}", said.messages);
            assert_eq!(logged(app).await, "calculator kit mcp success");
            // Directly, too.
            let said = client.call("answer", json!({})).await;
            assert!(said.result()["isError"].is_null(), "{:?}", said.messages);
            // The same refusals as directly.
            let pinned = json!({"name": "answer", "arguments": {"expression": "1"}});
            assert_eq!(code(&client.call("call_tool", pinned).await), "invalid_input");
            for name in ["test_simple_text", "calculator", "call_tool", "find_tools", "nothing"] {
                let said = client.call("call_tool", json!({"name": name})).await;
                assert_eq!((code(&said), &said.result()["isError"]), (&json!("invalid_input"), &json!(true)), "{name}");
                // Directly it is the client that asks for what is not there.
                if name != "call_tool" && name != "find_tools" {
                    let said = client.call(name, json!({})).await;
                    assert_eq!(said.error()["code"], -32602, "{name}: {:?}", said.messages);
                }
            }
            for (tool, wrong) in [
                ("find_tools", json!({})),
                ("find_tools", json!({"query": " "})),
                ("find_tools", json!({"query": "x", "limit": 21})),
                ("call_tool", json!({})),
                ("call_tool", json!({"name": "answer", "arguments": [1]})),
                ("call_tool", json!({"name": "answer", "expression": "1"})),
            ] {
                let said = client.call(tool, wrong.clone()).await;
                assert_eq!((code(&said), &said.result()["isError"]), (&json!("invalid_input"), &json!(true)), "{wrong}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn progress_and_questions_pass_through_call_tool() {
    on_both_mcp(with_fixtures(3), async |app: &TestApp| {
        for (client, _) in both(app, "/mcp").await {
            assert_eq!(client.names().await, "find_tools call_tool");
            let params = json!({"name": "call_tool", "arguments": {"name": "test_tool_with_progress"}, "_meta": {"progressToken": "p"}});
            let said = client.ask("tools/call", params).await;
            let progress = said.messages.iter().filter(|it| it["method"] == "notifications/progress");
            assert!(progress.filter(|it| it["params"]["progressToken"] == "p").count() >= 2, "{:?}", said.messages);
            assert!(said.result()["content"].is_array());
            assert_eq!(logged(app).await, "test_tool_with_progress - mcp success");
        }
        let client = Client::modern(app, ADMIN, "/mcp");
        let mut params = json!({"name": "call_tool", "arguments": {"name": "request_human_input", "arguments": {"question": "Really?"}}});
        let said = client.ask("tools/call", params.clone()).await;
        let asked = said.result();
        assert_eq!(asked["resultType"], "input_required", "{:?}", said.messages);
        let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(question["params"]["message"], "Really?");
        params["requestState"] = asked["requestState"].clone();
        params["inputResponses"] = json!({key.as_str(): {"action": "accept", "content": {"answer": "yes"}}});
        let said = client.ask("tools/call", params).await;
        assert!(said.result()["content"][0]["text"].as_str().unwrap().contains("yes"), "{:?}", said.messages);
        assert_eq!(logged(app).await, "request_human_input - mcp success");
    })
    .await;
}

/// In lists and calls; a caller who says otherwise is refused.
#[tokio::test]
async fn what_a_schema_pins_is_not_shown_and_always_given() {
    on_both_mcp(face::Settings::default(), async |app: &TestApp| {
        let tool = json!({"name": "everything", "kind": "builtin", "description": "Tells the answer.", "config": {"name": "calculator"},
            "input_schema": {"type": "object", "required": ["expression"], "additionalProperties": false,
                "properties": {"expression": {"type": "string", "const": "6 * 7", "readOnly": true}}}});
        let made = app.post("/api/v1/tools", tool).await;
        assert_eq!(made.status, 201, "{}", made.body);
        make(app, ADMIN, json!({"name": "kit", "tools": [{"tool": "everything", "name": "answer"}]})).await;
        for (path, name) in [("/mcp", "everything"), ("/mcp/kit", "answer")] {
            for (client, _) in both(app, path).await {
                let tools = client.list().await;
                let listed = tools.iter().find(|it| it["name"] == name).unwrap();
                assert_eq!(listed["inputSchema"]["properties"], json!({}), "{listed}");
                assert!(listed["inputSchema"].get("required").is_none(), "{listed}");
                let said = client.call(name, json!({})).await;
                let text = said.result()["content"][0]["text"].as_str().unwrap();
                assert!(text.contains("42"), "{:?}", said.messages);
                let otherwise = client.call(name, json!({"expression": "1"})).await;
                assert_eq!(code(&otherwise), "invalid_input");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn two_tools_stand_for_too_many_and_only_for_those() {
    on_both_mcp(with_fixtures(10), async |app: &TestApp| {
        make(app, ADMIN, json!({"name": "few", "tools": ["calculator"]})).await;
        make(app, ADMIN, json!({"name": "many"})).await;
        let lee = app.person("lee", "author").await.key;
        let names = async |key: &str, path: &str| Client::modern(app, key, path).names().await;
        assert_eq!(names(ADMIN, "/mcp").await, "find_tools call_tool");
        assert_eq!(names(ADMIN, "/mcp/many").await, "find_tools call_tool");
        assert_eq!(names(ADMIN, "/mcp/few").await, "calculator");
        // There they are no tools at all.
        let few = Client::modern(app, ADMIN, "/mcp/few");
        assert_eq!(
            few.call("find_tools", json!({"query": "x"})).await.error()["code"],
            -32602
        );
        // What a policy keeps from somebody is neither found nor called.
        let found = async |key: &str| {
            let said = Client::modern(app, key, "/mcp")
                .call("find_tools", json!({"query": "calculator", "limit": 20}))
                .await;
            said.result()["structuredContent"]["tools"]
                .to_string()
                .contains("\"calculator\"")
        };
        assert!(found(&lee).await);
        let rules =
            json!({"rules": [{"subject": "user", "target": "lee", "hide": ["calculator"]}]});
        let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", rules).await;
        assert_eq!(set.status, 200, "{}", set.body);
        assert!(!found(&lee).await && found(ADMIN).await);
        let inner = json!({"name": "calculator", "arguments": {"expression": "1"}});
        let said = Client::modern(app, &lee, "/mcp")
            .call("call_tool", inner)
            .await;
        assert_eq!(code(&said), "invalid_input", "{:?}", said.messages);
        assert_eq!(logged(app).await, "calculator - mcp error");
    })
    .await;
}

#[tokio::test]
async fn a_slash_behind_the_address_does_not_matter() {
    on_both_mcp(with_fixtures(0), async |app: &TestApp| {
        make(app, ADMIN, json!({"name": "kit", "tools": ["calculator"]})).await;
        for (with, without) in [("/mcp/", "/mcp"), ("/mcp/kit/", "/mcp/kit")] {
            let same = Client::modern(app, ADMIN, without).names().await;
            assert_eq!(Client::modern(app, ADMIN, with).names().await, same);
            let (client, _) = Client::legacy(app, ADMIN, with).await;
            assert_eq!(client.names().await, same, "{with}");
        }
        let none = Client::modern(app, ADMIN, "/mcp//");
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        assert_eq!(none.post(&[], &body).await.0, 404);
    })
    .await;
}
