//! Seed 001 word for word, where a server without its program shows it: tools that a run finds, calls and does not call, on
//! both engines and in the wire format of each provider. `toolcrib`'s tests of the same name run code and real servers.

use crate::dialect::Dialect;
use crate::model::{Model, Say};
use crate::scripted::{Scripted, request, tool};
use crate::servers::in_state;
use crate::testapp::{ADMIN, TestApp, definition, on_both, on_both_given, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

/// What the search engine knows of today.
const WEATHER: &str = "Seoul today: clear, 21 °C";

/// A search engine, as far as one question needs it, and what it was asked.
struct Engine {
    setup: crate::testapp::Setup,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Engine {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (head, _) = request(&mut stream, &mut Vec::new()).await.unwrap();
                let line = head.lines().next().unwrap().to_owned();
                seen.lock().unwrap().push(line);
                let found = json!({"results": [{"title": "Weather", "url": "https://weather.example/", "content": WEATHER}]});
                let body = found.to_string();
                let text = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        let mut setup = crate::testapp::Setup::default();
        setup.web_search.provider = "searxng".to_owned();
        setup.web_search.base_url = url;
        Engine { setup, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

/// `web_search`, as somebody registers it in tools.json.
fn web_search() -> Value {
    json!([{
        "name": "web_search", "kind": "builtin", "config": {"name": "web_search"},
        "description": "Searches the web for what is new: weather, news, prices.",
        "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    }])
}

fn hello_world() -> Value {
    let mut tool = definition("hello_world");
    tool["description"] = json!("Greets the world by computing an expression");
    tool["shelf"] = json!("file");
    tool
}

impl TestApp {
    /// A run of an agent that asks this model in this format.
    async fn asked_in(&self, dialect: Dialect, model: &Model, input: &str) -> Value {
        let name = format!("agent_{dialect:?}").to_lowercase();
        let made = self
            .post("/api/v1/agents", dialect.agent(&name, &model.url))
            .await;
        assert!([201, 409].contains(&made.status), "{}", made.body);
        let body = json!({"input": input, "agent": name});
        let ran = self.post("/api/v1/runs", body).await;
        assert_eq!(ran.status, 200, "{}", ran.body);
        ran.body
    }

    async fn executions(&self, tool: &str) -> Vec<Value> {
        let log = self.get(&format!("/api/v1/executions?tool={tool}")).await;
        log.body["items"].as_array().unwrap().clone()
    }
}

fn done(run: &Value) -> &str {
    assert_eq!(run["status"], "done", "{run}");
    run["output"].as_str().unwrap()
}

/// US1.1: Given the `web_search` tool is registered in `tools.json`, when the user asks about today's weather in Seoul, then
/// the agent calls the `web_search` tool and returns the current weather.
#[tokio::test]
async fn us1_1_the_weather_of_today_is_searched_for() {
    let engine = Engine::start().await;
    let setup = engine.setup.clone();
    on_both_given(
        web_search(),
        Policy::default(),
        setup,
        async |app: &TestApp| {
            let registered = app.get("/api/v1/tools/web_search").await;
            assert_eq!(registered.body["shelf"], "file", "{}", registered.body);
            for dialect in Dialect::ALL {
                // It knows no weather but what it is told.
                let model =
                    Model::speaking(|dialect, request| match dialect.results(request).first() {
                        None => Say::call("web_search", json!({"query": "weather Seoul today"})),
                        Some(found) if found.contains(WEATHER) => Say::text(WEATHER),
                        Some(other) => Say::Text(format!("I have found nothing: {other}")),
                    })
                    .await;
                let asked = "What is today's weather in Seoul?";
                let run = app.asked_in(dialect, &model, asked).await;
                assert_eq!(done(&run), WEATHER, "{dialect:?}");
                assert_eq!(run["calls"], 1, "{run}");
                assert!(model.last().0.contains(&"web_search".to_owned()));
                let line = engine.asked().join(" ");
                assert!(line.contains("q=weather+seoul+today"), "{line}");
            }
            let logged = app.executions("web_search").await;
            assert_eq!(logged.len(), Dialect::ALL.len());
            assert_eq!(
                logged[0]["arguments"],
                json!({"query": "weather Seoul today"})
            );
        },
    )
    .await;
}

/// US1.2: Given the `web_search` tool is registered, when the user asks a general knowledge question (e.g., "What is the
/// capital of France?"), then the agent answers directly without unnecessarily calling the search tool.
#[tokio::test]
async fn us1_2_general_knowledge_is_answered_directly() {
    let engine = Engine::start().await;
    let setup = engine.setup.clone();
    let asked = "What is the capital of France?";
    on_both_given(
        web_search(),
        Policy::default(),
        setup,
        async |app: &TestApp| {
            for dialect in Dialect::ALL {
                let model = Model::saying(vec![Say::text("Paris.")]).await;
                let run = app.asked_in(dialect, &model, asked).await;
                assert_eq!((done(&run), &run["calls"]), ("Paris.", &json!(0)));
                let (shown, _) = model.last();
                assert!(shown.contains(&"web_search".to_owned()), "it could have");
                assert_eq!(model.requests().len(), 1, "nobody asks it twice");
            }
            // Without a model, whether to search is decided here.
            let planned = app.post("/api/v1/runs", json!({"input": asked})).await;
            done(&planned.body);
            assert_eq!(planned.body["calls"], 0, "{}", planned.body);
            assert_eq!(engine.asked(), Vec::<String>::new());
            assert_eq!(app.executions("web_search").await, Vec::<Value>::new());
        },
    )
    .await;
}

/// US3.1: Given a new tool definition is added to `tools.json` via API, when the agent starts or reloads, then it successfully
/// loads the new tool into its available tools list.
#[tokio::test]
async fn us3_1_a_tool_that_is_added_is_there_for_the_agent() {
    on_both(async |app: &TestApp| {
        let name = "hello_world".to_owned();
        let model = Model::speaking(|dialect, request| {
            let is_there = dialect.tools(request).contains(&"hello_world".to_owned());
            match dialect.results(request).first() {
                None if is_there => Say::call("hello_world", json!({"expression": "20+1"})),
                Some(result) => Say::Text(format!("hello {result}")),
                None => Say::text("I have no such tool"),
            }
        })
        .await;
        let before = app
            .asked_in(Dialect::Chat, &model, "greet the world with 20+1")
            .await;
        assert_eq!(done(&before), "I have no such tool");
        let added = app.post("/api/v1/tools", hello_world()).await;
        assert_eq!(added.status, 201, "{}", added.body);
        let file = std::fs::read_to_string(app.tools_file()).unwrap();
        assert!(file.contains("hello_world"), "{file}");
        // It reloads: at once, for all.
        for dialect in Dialect::ALL {
            let run = app
                .asked_in(dialect, &model, "greet the world with 20+1")
                .await;
            assert_eq!(done(&run), "hello 21");
            assert!(model.last().0.contains(&name));
        }
        // It starts.
        let next = app.restart().await;
        let run = next
            .asked_in(Dialect::Messages, &model, "greet the world with 20+1")
            .await;
        assert_eq!(done(&run), "hello 21");
        next.stop().await;
    })
    .await;
}

/// US3.2: Given a tool is removed from `tools.json` via API, when the agent starts or reloads, then it no longer attempts to
/// use that tool.
#[tokio::test]
async fn us3_2_a_tool_that_is_removed_is_used_no_more() {
    on_both_with(
        json!([definition("hello_world")]),
        Policy::default(),
        async |app: &TestApp| {
            // This one insists, whatever it is shown.
            let model =
                Model::speaking(|dialect, request| match dialect.results(request).first() {
                    None => Say::call("hello_world", json!({"expression": "20+1"})),
                    Some(result) => Say::Text(format!("told: {result}")),
                })
                .await;
            let run = app.asked_in(Dialect::Chat, &model, "greet").await;
            assert_eq!(done(&run), "told: 21");
            let path = "/api/v1/tools/hello_world";
            let removed = app.as_key(ADMIN, "DELETE", path, Value::Null).await;
            assert_eq!(removed.status, 204, "{}", removed.body);
            let file = std::fs::read_to_string(app.tools_file()).unwrap();
            assert!(!file.contains("hello_world"), "{file}");
            let made = app.executions("hello_world").await.len();
            let refused = async |at: &TestApp, dialect| {
                let run = at.asked_in(dialect, &model, "greet").await;
                assert!(done(&run).contains("no tool 'hello_world'"), "{run}");
                assert!(!model.last().0.contains(&"hello_world".to_owned()));
            };
            // It reloads: at once, for all. Then it starts.
            for dialect in Dialect::ALL {
                refused(app, dialect).await;
            }
            let next = app.restart().await;
            refused(&next, Dialect::Messages).await;
            assert_eq!(next.executions("hello_world").await.len(), made);
            next.stop().await;
        },
    )
    .await;
}

/// US4.1: Given an MCP server URL is configured in `mcp.json`, when the agent initializes, then it establishes a connection
/// to the MCP server.
#[tokio::test]
async fn us4_1_a_server_in_mcp_json_is_connected() {
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([tool("lookup", "Looks something up.")])).await;
        app.stop().await;
        let file = json!({"mcpServers": {"library": {"url": upstream.url()}}});
        std::fs::write(app.folder.path().join("mcp.json"), file.to_string()).unwrap();
        let next = app.restart().await;
        let model = Model::saying(vec![Say::call("library__lookup", json!({}))]).await;
        // Nobody waits for the connection: the run does.
        let run = next.asked_in(Dialect::Chat, &model, "look it up").await;
        done(&run);
        assert_eq!(model.last().1, ["ran lookup"]);
        in_state(&next, "library", "connected").await;
        assert_eq!(upstream.count("initialize"), 1, "{:?}", upstream.seen());
        next.stop().await;
    })
    .await;
}

/// US4.2: Given an active MCP connection, when a user request requires a resource from the MCP server, then the agent
/// successfully retrieves and uses that resource.
#[tokio::test]
async fn us4_2_a_resource_of_a_server_is_read_and_used() {
    const RULES: &str = "Books are lent for 21 days.";
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([])).await;
        let listed = json!({"resources": [{"uri": "lib://rules", "name": "rules", "description": "The rules of the library"}]});
        upstream.say("resources/list", listed);
        upstream.say("resources/templates/list", json!({"resourceTemplates": []}));
        upstream.say("resources/read", json!({"contents": [{"uri": "lib://rules", "text": RULES}]}));
        app.post("/api/v1/servers", json!({"name": "library", "url": upstream.url()})).await;
        in_state(app, "library", "connected").await;
        for dialect in Dialect::ALL {
            let model = Model::speaking(|dialect, request| match &dialect.results(request)[..] {
                [] => Say::call("list_resources", json!({})),
                [list] => {
                    let list: Value = serde_json::from_str(list).unwrap();
                    let uri = &list[0]["uri"];
                    Say::call("read_resource", json!({"server": list[0]["server"], "uri": uri}))
                }
                [_, rules, ..] => Say::Text(rules.clone()),
            })
            .await;
            let run = app.asked_in(dialect, &model, "For how long may I keep a book?").await;
            assert_eq!(done(&run), RULES, "{dialect:?}");
        }
        assert_eq!(upstream.count("resources/read"), Dialect::ALL.len());
    })
    .await;
}

/// FR-006 and SC-005: the agent falls back to `request_human_input` when it lacks information, and goes on with the answer.
#[tokio::test]
async fn fr_006_and_sc_005_what_is_not_known_is_asked_for() {
    on_both(async |app: &TestApp| {
        for dialect in Dialect::ALL {
            let model =
                Model::speaking(|dialect, request| match dialect.results(request).first() {
                    None => Say::call("request_human_input", json!({"question": "In which city?"})),
                    Some(city) => Say::Text(format!("You are in {city}.")),
                })
                .await;
            let run = app
                .asked_in(dialect, &model, "What is the weather here?")
                .await;
            assert_eq!(run["status"], "needs_input", "{run}");
            assert_eq!(run["pending"][0]["question"], "In which city?");
            assert_eq!(run["calls"], 0, "no other tool was tried");
            let path = format!("/api/v1/runs/{}/input", run["id"].as_str().unwrap());
            let body = json!({"request_id": run["pending"][0]["request_id"], "answer": "Seoul"});
            assert_eq!(app.post(&path, body).await.status, 200);
            let run = app.rests(&run).await;
            assert_eq!(done(&run), "You are in Seoul.", "{dialect:?}");
        }
        // Without a model, the planner asks as well.
        let mut vague = definition("book_room");
        vague["description"] = json!("Books a meeting room for a number of people");
        vague["examples"] = json!(["book a meeting room"]);
        vague["input_schema"]["properties"]["people"] = json!({"type": "integer"});
        vague["input_schema"]["required"] = json!(["expression", "people"]);
        app.post("/api/v1/tools", vague).await;
        let body = json!({"input": "Book a meeting room", "tools": ["book_room"]});
        let run = app.post("/api/v1/runs", body).await.body;
        assert_eq!(
            (&run["status"], &run["calls"]),
            (&json!("needs_input"), &json!(0))
        );
    })
    .await;
}

/// FR-008: success and error come back to the agent by one interface, whatever ran and whatever went wrong.
#[tokio::test]
async fn fr_008_success_and_error_come_back_alike() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::Calls(vec![
            ("calculator", json!({"expression": "6*7"})),
            ("calculator", json!({"expression": "1/0"})),
            ("calculator", json!({"formula": "6*7"})),
            ("no_such_tool", json!({})),
        ])])
        .await;
        for dialect in Dialect::ALL {
            let run = app.asked_in(dialect, &model, "count").await;
            done(&run);
            let (_, told) = model.last();
            assert_eq!(told.len(), 4, "{told:?}");
            assert_eq!(told[0], "42");
            let events = app.events(&run, "").await;
            let results = events.iter().filter(|it| it["event"] == "tool_result");
            let mut codes = Vec::new();
            for result in results {
                let data = &result["data"];
                for name in ["call_id", "tool", "text", "is_error", "elapsed"] {
                    assert!(!data[name].is_null(), "{name}: {data}");
                }
                assert_eq!(data["is_error"] == true, !data["code"].is_null(), "{data}");
                codes.push(data["code"].as_str().unwrap_or("success").to_owned());
            }
            codes.sort_unstable();
            let expected = [
                "invalid_input",
                "success",
                "tool_execution_error",
                "tool_not_found",
            ];
            assert_eq!(codes, expected);
        }
    })
    .await;
}
