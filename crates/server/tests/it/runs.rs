//! Runs: a model, or the planner, answers a request by calling tools; what it does wrong is told to it, and limits hold.

use crate::model::{Model, Say};
use crate::scripted::until;
use crate::testapp::{ADMIN, TestApp, on_both, on_both_runs};
use serde_json::{Value, json};

impl TestApp {
    pub(crate) async fn agent(&self, model: &Model, more: Value) -> String {
        let mut body = model.agent("helper");
        for (name, value) in more.as_object().unwrap() {
            body[name.as_str()] = value.clone();
        }
        let made = self.post("/api/v1/agents", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.body["name"].as_str().unwrap().to_owned()
    }

    /// A run of the only agent, to its end or its first question.
    pub(crate) async fn run(&self, input: &str) -> Value {
        let body = json!({"input": input, "agent": "helper"});
        let ran = self.post("/api/v1/runs", body).await;
        assert_eq!(ran.status, 200, "{}", ran.body);
        ran.body
    }

    pub(crate) async fn events(&self, run: &Value, after: &str) -> Vec<Value> {
        let id = run["id"].as_str().unwrap();
        let log = self
            .get(&format!("/api/v1/runs/{id}/log?after={after}"))
            .await;
        assert_eq!(log.status, 200, "{}", log.body);
        log.body["events"].as_array().unwrap().clone()
    }
}

pub(crate) fn calculate(expression: &str) -> Say {
    Say::call("calculator", json!({"expression": expression}))
}

fn names(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|it| it["event"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn without_a_model_the_planner_answers() {
    on_both(async |app: &TestApp| {
        let ran = app
            .post("/api/v1/runs", json!({"input": "What is 12.5% of 340?"}))
            .await;
        assert_eq!(ran.status, 200, "{}", ran.body);
        assert_eq!(ran.body["status"], "done", "{}", ran.body);
        assert!(
            ran.body["output"].as_str().unwrap().contains("42.5"),
            "{}",
            ran.body
        );
        assert_eq!(ran.body["calls"], 1);
        let none = app
            .post(
                "/api/v1/runs",
                json!({"input": "What is the capital of France?"}),
            )
            .await;
        assert_eq!(
            (&none.body["status"], &none.body["calls"]),
            (&json!("done"), &json!(0))
        );
    })
    .await;
}

#[tokio::test]
async fn a_model_calls_tools_until_it_is_done() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![
            Say::Calls(vec![
                ("calculator", json!({"expression": "6*7"})),
                ("calculator", json!({"expression": "1/0"})),
                ("no_such_tool", json!({})),
                ("calculator", json!({"formula": "1"})),
            ]),
            Say::text("It is 42."),
        ])
        .await;
        app.agent(
            &model,
            json!({"config": {"temperature": 0.5, "max_tokens": 100}}),
        )
        .await;
        let run = app.run("six times seven?").await;
        assert_eq!(
            (&run["status"], &run["output"]),
            (&json!("done"), &json!("It is 42.")),
            "{run}"
        );
        assert_eq!((&run["steps"], &run["calls"]), (&json!(2), &json!(2)));
        assert_eq!(run["usage"]["output_tokens"], 10);
        let results = model.results();
        assert_eq!(results.len(), 4, "in the order of the calls");
        assert!(results[0].0.contains("42") && !results[0].1, "{results:?}");
        assert!(results[1..].iter().all(|it| it.1), "{results:?}");
        assert!(results[2].0.contains("no_such_tool") && results[2].0.contains("calculator"));
        assert!(
            results[3].0.contains("expression"),
            "what was expected: {results:?}"
        );
        let requests = model.requests();
        assert_eq!(
            (&requests[0]["temperature"], &requests[0]["max_tokens"]),
            (&json!(0.5), &json!(100))
        );
        let events = app.events(&run, "").await;
        let told = names(&events);
        assert_eq!(told.first(), Some(&"plan"));
        assert_eq!(told.last(), Some(&"done"));
        assert_eq!(told.iter().filter(|it| **it == "tool_result").count(), 4);
        let text: String = events
            .iter()
            .filter(|it| it["event"] == "text_delta")
            .map(|it| it["data"]["text"].as_str().unwrap())
            .collect();
        assert_eq!(text, "It is 42.");
        for (i, event) in events.iter().enumerate() {
            let rest = app.events(&run, event["id"].as_str().unwrap()).await;
            assert_eq!(rest, events[i + 1..], "after {event}");
        }
        let log = app.get("/api/v1/executions?tool=calculator").await;
        let logged = &log.body["items"][0];
        assert_eq!(logged["transport"], "agent", "{logged}");
    })
    .await;
}

#[tokio::test]
async fn limits_end_a_run_with_an_answer_or_an_error() {
    on_both(async |app: &TestApp| {
        let model = Model::by(|request| {
            let turns = request["messages"].as_array().unwrap().len();
            match request["tools"].is_null() || request["tool_choice"]["type"] == "none" {
                true => Say::text("So far."),
                false => calculate(&format!("1+{turns}")),
            }
        })
        .await;
        app.agent(&model, json!({"config": {"max_steps": 3}})).await;
        let run = app.run("go on for ever").await;
        assert_eq!(
            (&run["status"], &run["output"]),
            (&json!("done"), &json!("So far.")),
            "{run}"
        );
        assert_eq!(
            (&run["error"]["code"], &run["calls"]),
            (&json!("max_steps"), &json!(3))
        );
        for (config, code) in [
            (json!({"max_steps": 2, "at_limit": "fail"}), "max_steps"),
            (json!({"token_budget": 20}), "token_budget"),
        ] {
            app.patch_agent(json!({"config": config})).await;
            let run = app.run("go on for ever").await;
            assert_eq!(
                (&run["status"], &run["error"]["code"]),
                (&json!("failed"), &json!(code)),
                "{run}"
            );
        }
        app.patch_agent(json!({"config": {"max_calls_per_tool": 1, "max_steps": 2, "at_limit": null, "token_budget": null}}))
            .await;
        app.run("go on for ever").await;
        assert!(
            model.results()[1].1,
            "the second call of the tool is refused"
        );
    })
    .await;
}

impl TestApp {
    async fn patch_agent(&self, patch: Value) {
        let patched = self
            .as_key(
                crate::testapp::ADMIN,
                "PATCH",
                "/api/v1/agents/helper",
                patch,
            )
            .await;
        assert_eq!(patched.status, 200, "{}", patched.body);
    }
}

/// The server's own key pays for what somebody else's agent does.
#[tokio::test]
async fn only_an_admins_agent_goes_beyond_the_limits_of_the_server() {
    let model = Model::by(|request| match request["tool_choice"]["type"] == "none" {
        true => Say::text("So far."),
        false => calculate(&format!("1+{}", request["messages"].to_string().len())),
    })
    .await;
    // Kim's agents reach what the server itself is set up with, and nothing else on this machine.
    let provider = app::runs::ProviderSettings {
        key: Some(catalog::secret::Secret::new("key".to_owned())),
        base_url: Some(model.url.clone()),
    };
    let mut runs = app::runs::Settings {
        providers: [("anthropic", provider)].into(),
        ..app::runs::Settings::default()
    };
    runs.limits.steps_max = 2;
    on_both_runs(runs, async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        for (key, owner, steps) in [(ADMIN, "admins", 4), (kim.key.as_str(), "kims", 2)] {
            let mut body = model.agent(owner);
            body["config"] = json!({"max_steps": 4});
            let made = app.as_key(key, "POST", "/api/v1/agents", body).await;
            assert_eq!(made.status, 201, "{}", made.body);
            let body = json!({"input": "go on for ever", "agent": owner});
            let run = app.as_key(key, "POST", "/api/v1/runs", body).await.body;
            assert_eq!(
                (&run["error"]["code"], &run["calls"]),
                (&json!("max_steps"), &json!(steps)),
                "{owner}: {run}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn the_same_call_over_and_over_is_stopped() {
    on_both(async |app: &TestApp| {
        let model = Model::by(|request| match request["tool_choice"]["type"] == "none" {
            true => Say::text("I give up."),
            false => calculate("1+1"),
        })
        .await;
        app.agent(&model, json!({})).await;
        let run = app.run("again").await;
        assert_eq!(
            (&run["output"], &run["error"]["code"]),
            (&json!("I give up."), &json!("repetition")),
            "{run}"
        );
        assert_eq!(run["calls"], 4);
    })
    .await;
}

#[tokio::test]
async fn an_output_has_the_shape_that_was_asked_for() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![
            Say::text("about forty"),
            Say::text("```json\n{\"total\": 42}\n```"),
        ])
        .await;
        app.agent(&model, json!({})).await;
        let schema = json!({"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]});
        let body = json!({"input": "total?", "agent": "helper", "output_schema": schema});
        let ran = app.post("/api/v1/runs", body).await;
        assert_eq!(ran.body["value"], json!({"total": 42}), "{}", ran.body);
        let told = &model.requests()[1]["messages"];
        assert!(told.to_string().contains("not JSON"), "the model is told what is wrong: {told}");
    })
    .await;
}

#[tokio::test]
async fn what_a_provider_refuses_is_told() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::Refuse(
            401,
            json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}),
        )])
        .await;
        app.agent(&model, json!({})).await;
        let run = app.run("hello").await;
        assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("model_auth")), "{run}");
        let said = run["error"]["message"].as_str().unwrap();
        assert!(said.contains("401") && said.contains("invalid x-api-key") && said.contains("config.api_key"), "{said}");
        assert_eq!(model.requests().len(), 1, "nobody tries again with a wrong key");
    })
    .await;
}

#[tokio::test]
async fn a_run_is_cancelled_while_the_model_speaks_and_while_a_tool_runs() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::hold("Let me th")]).await;
        app.agent(&model, json!({})).await;
        let begun = app
            .post(
                "/api/v1/runs",
                json!({"input": "hi", "agent": "helper", "wait": false}),
            )
            .await;
        assert_eq!(begun.status, 202, "{}", begun.body);
        until("the model speaks", async || {
            let events = app.events(&begun.body, "").await;
            events
                .iter()
                .any(|it| it["data"]["text"] == "Let me th")
                .then_some(())
        })
        .await;
        let id = begun.body["id"].as_str().unwrap();
        let cancelled = app
            .post(&format!("/api/v1/runs/{id}/cancel"), Value::Null)
            .await;
        assert_eq!(cancelled.body["status"], "cancelled", "{}", cancelled.body);
        let again = app
            .post(&format!("/api/v1/runs/{id}/cancel"), Value::Null)
            .await;
        assert_eq!(again.body["status"], "cancelled", "it is over");

        let waiting = Model::saying(vec![Say::call("fixture_wait", json!({"seconds": 60}))]).await;
        let mut body = waiting.agent("waits");
        body["tools"] = json!(["fixture_wait"]);
        app.post("/api/v1/agents", body).await;
        let begun = app
            .post(
                "/api/v1/runs",
                json!({"input": "hi", "agent": "waits", "wait": false}),
            )
            .await;
        until("the tool runs", async || {
            let events = app.events(&begun.body, "").await;
            names(&events).contains(&"tool_started").then_some(())
        })
        .await;
        let id = begun.body["id"].as_str().unwrap();
        let cancelled = app
            .post(&format!("/api/v1/runs/{id}/cancel"), Value::Null)
            .await;
        assert_eq!(cancelled.body["status"], "cancelled", "{}", cancelled.body);
        until("the call is logged as cancelled", async || {
            let log = app.get("/api/v1/executions?tool=fixture_wait").await;
            (log.body["items"][0]["status"] == "cancelled").then_some(())
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn the_same_key_begins_one_run_and_a_conversation_goes_on() {
    on_both(async |app: &TestApp| {
        let model = Model::by(|request| {
            let said = request["messages"].as_array().unwrap();
            Say::Text(format!("I heard {}", said.len()))
        })
        .await;
        app.agent(&model, json!({})).await;
        let body = json!({"input": "hello", "agent": "helper", "idempotency_key": "k"});
        let first = app.post("/api/v1/runs", body.clone()).await;
        let second = app.post("/api/v1/runs", body).await;
        assert_eq!(first.body["id"], second.body["id"]);
        assert_eq!(model.requests().len(), 1);
        let other = json!({"input": "another", "agent": "helper", "idempotency_key": "k"});
        assert_eq!(app.post("/api/v1/runs", other).await.status, 409);
        let body = json!({"input": "and now?", "agent": "helper", "after": first.body["id"]});
        let next = app.post("/api/v1/runs", body).await;
        assert_eq!(next.body["output"], "I heard 3", "{}", next.body);
    })
    .await;
}

#[tokio::test]
async fn a_request_that_cannot_be_run_is_refused_at_once() {
    on_both(async |app: &TestApp| {
        let refused = |body: Value| app.post("/api/v1/runs", body);
        assert_eq!(refused(json!({"input": " "})).await.status, 422);
        assert_eq!(
            refused(json!({"input": "x", "agent": "none"})).await.status,
            404
        );
        let tools = refused(json!({"input": "x", "tools": ["none"]})).await;
        assert!(tools.message().contains("'none'"), "{}", tools.body);
        let made = json!({"name": "keyless", "model_provider": "openai", "model_name": "m"});
        assert_eq!(app.post("/api/v1/agents", made).await.status, 201);
        let keyless = refused(json!({"input": "x", "agent": "keyless"})).await;
        assert_eq!(keyless.status, 409, "{}", keyless.body);
        assert!(
            keyless.message().contains("OPENAI_API_KEY"),
            "{}",
            keyless.body
        );
        let schema = refused(json!({"input": "x", "output_schema": {"type": 5}})).await;
        assert_eq!(schema.status, 422, "{}", schema.body);
        let unshaped = refused(json!({"input": "1+1", "output_schema": {"type": "object"}})).await;
        assert_eq!(unshaped.status, 409, "{}", unshaped.body);
        let none = refused(json!({"input": "1+1", "tools": []})).await;
        assert_eq!(none.status, 422, "no tools are not all: {}", none.body);
    })
    .await;
}

#[tokio::test]
async fn whoever_reads_along_reads_every_piece_once() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::hold("Hello there")]).await;
        let config = json!({"temperature": 0.5});
        app.agent(
            &model,
            json!({"model_name": "claude-opus-4-8", "config": config}),
        )
        .await;
        let body = json!({"input": "hi", "agent": "helper", "stream": true});
        let reading = app.post("/api/v1/runs", body);
        let speaking = async {
            let run = until("the text is on its way", async || {
                let runs = app.get("/api/v1/runs").await.body;
                let run = runs["items"].get(0)?.clone();
                let events = app.events(&run, "").await;
                names(&events).contains(&"text_delta").then_some(run)
            });
            let run = run.await;
            model.go_on();
            run
        };
        let (read, run) = tokio::join!(reading, speaking);
        assert_eq!(read.headers["content-type"], "text/event-stream");
        // Else whoever follows it could neither answer nor cancel it.
        let place = format!("/api/v1/runs/{}", run["id"].as_str().unwrap());
        assert_eq!(read.headers["location"], place.as_str());
        let text = read.body.as_str().unwrap();
        let pieces = text.split("event: text_delta\ndata: ").skip(1);
        let pieces =
            pieces.map(|it| serde_json::from_str::<Value>(it.lines().next().unwrap()).unwrap());
        let all: String = pieces
            .map(|it| it["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(all, "Hello there", "{text}");
        assert!(
            text.contains("temperature"),
            "what was dropped is told: {text}"
        );
        assert!(text.contains("event: done"), "{text}");
    })
    .await;
}
