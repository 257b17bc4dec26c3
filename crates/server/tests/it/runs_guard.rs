//! What somebody outside may have written destroys nothing without approval, however it came to the model.

use crate::model::{Model, Say};
use crate::testapp::{Setup, TestApp, definition, on_both_given, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};

fn wipes() -> Value {
    let mut tool = definition("wipes");
    tool["annotations"] = json!({"read_only": false, "destructive": true});
    tool
}

fn call(name: &'static str) -> Say {
    Say::call(name, json!({"expression": "1"}))
}

#[tokio::test]
async fn what_an_earlier_run_has_read_is_not_forgotten() {
    let mut reads = definition("reads");
    reads["annotations"] = json!({"read_only": true, "open_world": true});
    on_both_with(
        json!([reads, wipes()]),
        Policy::default(),
        async |app: &TestApp| {
            let model = Model::by(|request| {
                let said = request["messages"].to_string();
                match (said.contains("clean up"), said.contains("toolu")) {
                    (true, _) => call("wipes"),
                    (false, false) => call("reads"),
                    (false, true) => Say::text("Read."),
                }
            })
            .await;
            app.agent(&model, json!({})).await;
            let first = app.run("read").await;
            assert_eq!(first["status"], "done", "{first}");
            let body = json!({"input": "clean up", "agent": "helper", "after": first["id"]});
            let next = app.post("/api/v1/runs", body).await.body;
            assert_eq!(next["status"], "needs_input", "{next}");
            assert_eq!(next["pending"][0]["tool"], "wipes");
        },
    )
    .await;
}

/// Whether a run may still destroy something after it has called this tool.
async fn is_trusted(app: &TestApp, tool: &'static str, arguments: Value) -> bool {
    let model = Model::saying(vec![Say::call(tool, arguments), call("wipes")]).await;
    let body = model.agent(tool);
    assert_eq!(app.post("/api/v1/agents", body).await.status, 201);
    let body = json!({"input": "go", "agent": tool});
    let run = app.post("/api/v1/runs", body).await.body;
    match run["status"].as_str().unwrap() {
        "done" => true,
        "needs_input" => false,
        other => panic!("{other}: {run}"),
    }
}

#[tokio::test]
async fn what_only_computes_is_trusted_and_everything_else_is_not() {
    let expression = json!({
        "name": "adds", "description": "d", "kind": "expression", "config": {"expression": "1 + 1"},
        "input_schema": {"type": "object"}
    });
    let shell = json!({
        "name": "lists", "description": "d", "kind": "shell", "config": {"command": ["/bin/echo", "hello"]},
        "input_schema": {"type": "object"}
    });
    let mut harmless = shell.clone();
    harmless["name"] = json!("greets");
    harmless["annotations"] = json!({"open_world": false});
    let tools = json!([expression, shell, harmless, definition("same"), wipes()]);
    on_both_with(tools, Policy::default(), async |app: &TestApp| {
        assert!(is_trusted(app, "adds", json!({})).await);
        assert!(
            is_trusted(app, "same", json!({"expression": "1"})).await,
            "as the builtin it is made of"
        );
        assert!(!is_trusted(app, "lists", json!({})).await);
        assert!(
            is_trusted(app, "greets", json!({})).await,
            "somebody says so"
        );
    })
    .await;
}

#[tokio::test]
async fn it_is_only_asked_where_somebody_wants_that() {
    let mut reads = definition("reads");
    reads["annotations"] = json!({"read_only": true, "open_world": true});
    let setup = Setup {
        runs: app::runs::Settings {
            guard_untrusted: false,
            ..app::runs::Settings::default()
        },
        ..Setup::default()
    };
    on_both_given(
        json!([reads, wipes()]),
        Policy::default(),
        setup,
        async |app: &TestApp| {
            assert!(is_trusted(app, "reads", json!({"expression": "1"})).await);
        },
    )
    .await;
}
