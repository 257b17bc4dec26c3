//! What a run may use and what it may cost: budgets, documents, tools that are found on the way, resources of other servers, and
//! requests that come twice.

use crate::model::{Model, Say};
use crate::runs::calculate;
use crate::scripted::{Scripted, tool, until};
use crate::servers::in_state;
use crate::testapp::{ADMIN, Setup, TestApp, definition, on_both, on_both_given, on_both_with};
use crate::vectors::{record, with_endpoint};
use app::runs::{Price, Settings};
use axum::body::Body;
use axum::http::Request;
use catalog::policy::Policy;
use serde_json::{Value, json};
use std::sync::Arc;

fn set_up(runs: Settings) -> Setup {
    Setup {
        runs,
        ..Setup::default()
    }
}

#[tokio::test]
async fn a_budget_is_kept_and_one_that_cannot_be_counted_is_refused() {
    let price = Price {
        model: "claude-test".to_owned(),
        input: 100_000.0,
        output: 200_000.0,
        cache_read: None,
        cache_write: None,
    };
    let runs = Settings {
        prices: vec![price],
        ..Settings::default()
    };
    on_both_given(
        json!([]),
        Policy::default(),
        set_up(runs),
        async |app: &TestApp| {
            let model = Model::by(|request| {
                calculate(&format!(
                    "1+{}",
                    request["messages"].as_array().unwrap().len()
                ))
            })
            .await;
            app.agent(&model, json!({"config": {"cost_budget": 3.5}}))
                .await;
            let run = app.run("go on for ever").await;
            assert_eq!(
                (&run["status"], &run["error"]["code"]),
                (&json!("failed"), &json!("cost_budget")),
                "{run}"
            );
            // Two turns of 10 tokens in and 5 out each.
            assert_eq!(
                (&run["steps"], run["cost"].as_f64()),
                (&json!(2), Some(4.0)),
                "{run}"
            );
            let mut body = model.agent("free");
            body["model_name"] = json!("some-other");
            body["config"] = json!({"cost_budget": 3.5});
            assert_eq!(app.post("/api/v1/agents", body).await.status, 201);
            let refused = app
                .post("/api/v1/runs", json!({"input": "x", "agent": "free"}))
                .await;
            assert_eq!(refused.status, 409, "{}", refused.body);
            assert!(
                refused.message().contains("runs.prices"),
                "{}",
                refused.body
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_question_with_odd_choices_can_be_answered() {
    on_both(async |app: &TestApp| {
        for (choices, answer) in [(json!([]), json!("anything")), (json!([1, 2]), json!("2"))] {
            let asks = Say::call(
                "request_human_input",
                json!({"question": "Which?", "choices": choices}),
            );
            let model = Model::saying(vec![asks, Say::text("Thanks.")]).await;
            app.agent(
                &model,
                json!({"name": format!("asks{}", answer.as_str().unwrap())}),
            )
            .await;
            let name = format!("asks{}", answer.as_str().unwrap());
            let run = app
                .post("/api/v1/runs", json!({"input": "x", "agent": name}))
                .await
                .body;
            let events = app.events(&run, "").await;
            let told = events
                .iter()
                .find(|it| it["event"] == "needs_input")
                .unwrap();
            assert_eq!(
                told["data"], run["pending"][0],
                "an event tells what a view shows"
            );
            let input = json!({"request_id": run["pending"][0]["request_id"], "answer": answer});
            let path = format!("/api/v1/runs/{}/input", run["id"].as_str().unwrap());
            let answered = app.post(&path, input).await;
            assert_eq!(answered.status, 200, "{choices}: {}", answered.body);
            assert_eq!(app.rests(&run).await["status"], "done");
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_stands_for_the_whole_request() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::text("Hello")]).await;
        app.agent(&model, json!({})).await;
        let long = "x".repeat(600);
        let begin = async |input: String, more: Value| {
            let mut body = json!({"input": input, "agent": "helper", "idempotency_key": "k"});
            for (name, value) in more.as_object().unwrap() {
                body[name.as_str()] = value.clone();
            }
            app.post("/api/v1/runs", body).await
        };
        let first = begin(long.clone(), json!({})).await;
        assert_eq!(first.status, 200, "{}", first.body);
        assert_eq!(begin(format!("{long}y"), json!({})).await.status, 409);
        assert_eq!(
            begin(long.clone(), json!({"tools": ["calculator"]}))
                .await
                .status,
            409
        );
        let schema = json!({"output_schema": {"type": "object"}});
        assert_eq!(begin(long.clone(), schema).await.status, 409);
        // It has happened, whatever has become of the agent since.
        let off = json!({"is_active": false});
        app.as_key(ADMIN, "PATCH", "/api/v1/agents/helper", off)
            .await;
        let again = begin(long, json!({})).await;
        assert_eq!(again.body["id"], first.body["id"], "{}", again.body);
    })
    .await;
}

#[tokio::test]
async fn a_list_says_nothing_that_it_does_not_know() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![calculate("1+1"), Say::text("2")]).await;
        app.agent(&model, json!({})).await;
        app.run("x").await;
        let listed = app.get("/api/v1/runs").await.body;
        let run = &listed["items"][0];
        assert_eq!(run["output"], "2");
        for figure in ["steps", "calls", "usage", "cost"] {
            assert!(run.get(figure).is_none(), "{run}");
        }
    })
    .await;
}

#[tokio::test]
async fn tools_of_an_agent_that_are_gone_are_told() {
    on_both_with(
        json!([definition("on_file")]),
        Policy::default(),
        async |app: &TestApp| {
            assert_eq!(
                app.post("/api/v1/tools", definition("short_lived"))
                    .await
                    .status,
                201
            );
            let model = Model::saying(vec![Say::text("Fine.")]).await;
            app.agent(&model, json!({"tools": ["on_file", "short_lived"]}))
                .await;
            let gone = app
                .as_key(ADMIN, "DELETE", "/api/v1/tools/short_lived", Value::Null)
                .await;
            assert!(gone.status < 300, "{}", gone.body);
            let run = app.run("x").await;
            assert_eq!(run["status"], "done", "{run}");
            let events = app.events(&run, "").await;
            let note = events
                .iter()
                .find(|it| it["data"]["code"] == "tools_missing");
            assert!(note.is_some(), "{events:?}");
            let plan = events.iter().find(|it| it["event"] == "plan").unwrap();
            assert_eq!(plan["data"]["tools"], json!(["on_file"]));
        },
    )
    .await;
}

#[tokio::test]
async fn of_many_tools_a_model_is_shown_some_and_finds_others() {
    let named = |name: &str, description: &str| {
        let mut tool = definition(name);
        tool["description"] = json!(description);
        tool
    };
    let tools = json!([
        named("book_room", "Books a meeting room in the office"),
        named("send_mail", "Sends an e-mail to somebody"),
        named("weather", "Tells the weather forecast of a city"),
        named("translate", "Translates a text into another language"),
    ]);
    let runs = Settings {
        tools_max: 2,
        ..Settings::default()
    };
    on_both_given(
        tools,
        Policy::default(),
        set_up(runs),
        async |app: &TestApp| {
            let model = Model::saying(vec![
                Say::call(
                    "find_tools",
                    json!({"query": "translate a text into Korean"}),
                ),
                Say::call("translate", json!({"expression": "1+1"})),
                Say::text("Done."),
            ])
            .await;
            app.agent(
                &model,
                json!({"tools": ["book_room", "send_mail", "weather", "translate"]}),
            )
            .await;
            let run = app.run("Send an e-mail about the meeting room").await;
            assert_eq!(run["status"], "done", "{run}");
            let shown = |request: usize| -> Vec<String> {
                let tools = model.requests()[request]["tools"]
                    .as_array()
                    .unwrap()
                    .clone();
                tools
                    .iter()
                    .map(|it| it["name"].as_str().unwrap().to_owned())
                    .collect()
            };
            let first = shown(0);
            assert!(first.contains(&"find_tools".to_owned()), "{first:?}");
            assert!(!first.contains(&"translate".to_owned()), "{first:?}");
            assert!(shown(1).contains(&"translate".to_owned()), "{:?}", shown(1));
            let results = model.results();
            assert!(
                results[0].0.contains("translate") && !results[1].1,
                "{results:?}"
            );
        },
    )
    .await;
}

#[tokio::test]
async fn what_other_servers_offer_is_listed_and_read() {
    on_both(async |app: &TestApp| {
        let upstream = Scripted::start(json!([tool("echo", "Echoes.")])).await;
        upstream.say(
            "resources/list",
            json!({"resources": [{"uri": "a://one", "name": "one"}]}),
        );
        upstream.say(
            "resources/read",
            json!({"contents": [{"uri": "a://one", "text": "the text of one"}]}),
        );
        app.post(
            "/api/v1/servers",
            json!({"name": "s", "url": upstream.url()}),
        )
        .await;
        in_state(app, "s", "connected").await;
        let model = Model::saying(vec![
            Say::call("list_resources", json!({})),
            Say::Calls(vec![
                ("read_resource", json!({"server": "s", "uri": "a://one"})),
                ("read_resource", json!({"server": "s"})),
            ]),
            Say::text("Done."),
        ])
        .await;
        app.agent(&model, json!({})).await;
        until("its resources are known", async || {
            let run = app.run("x").await;
            let results = model.results();
            (run["status"] == "done" && results[0].0.contains("a://one")).then_some(())
        })
        .await;
        let results = model.results();
        assert_eq!(
            results[1],
            ("the text of one".to_owned(), false),
            "{results:?}"
        );
        assert!(results[2].1 && results[2].0.contains("uri"), "{results:?}");
    })
    .await;
}

#[tokio::test]
async fn documents_are_shown_to_whom_they_are_not_kept_from() {
    with_endpoint(async |app: &TestApp| {
        let records: Vec<Value> = (0..5).map(record).collect();
        app.post("/api/v1/vectors/import", json!({"records": records}))
            .await;
        let mut wipes = definition("wipes");
        wipes["annotations"] = json!({"destructive": true});
        app.post("/api/v1/tools", wipes).await;
        let model = Model::saying(vec![Say::call("wipes", json!({"expression": "1"}))]).await;
        app.agent(
            &model,
            json!({"config": {"retrieval": true}, "is_public": true}),
        )
        .await;
        let run = app.run("a number").await;
        let told = model.requests()[0]["messages"].to_string();
        assert!(told.contains("Retrieved docs"), "{told}");
        assert_eq!(
            run["status"], "needs_input",
            "who knows who wrote them: {run}"
        );
        let rule = json!({"rules": [{"subject": "everyone", "deny": ["get_sim_search"]}]});
        let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", rule).await;
        assert_eq!(set.status, 200, "{}", set.body);
        let kim = app.person("kim", "author").await;
        let body = json!({"input": "a number", "agent": "helper"});
        app.as_key(&kim.key, "POST", "/api/v1/runs", body).await;
        let told = model.requests().pop().unwrap()["messages"].to_string();
        assert!(!told.contains("Retrieved docs"), "{told}");
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_there_is_no_seat_for_begins_no_run() {
    on_both(async |app: &TestApp| {
        let limits = server::Limits {
            streams_max: 0,
            ..server::Limits::default()
        };
        let inner = Arc::clone(&app.server.app);
        let full = server::Server::new(
            inner,
            limits,
            server::Edge::default(),
            face::Settings::default(),
            false,
        );
        let request = Request::post("/api/v1/runs")
            .header("x-api-key", ADMIN)
            .header("content-type", "application/json")
            .body(Body::from(
                json!({"input": "What is 1+1?", "stream": true}).to_string(),
            ));
        let answer = server::Api::new(full).answer(request.unwrap()).await;
        assert_eq!(answer.status(), 503);
        let runs = app.get("/api/v1/runs").await.body;
        assert_eq!(runs["items"], json!([]));
    })
    .await;
}
