//! Secrets in runs: what a tool's schema marks stands in no journal, event or view, and the call is made with it all the same,
//! also after a restart.

use crate::model::{Model, Say};
use crate::testapp::{TestApp, definition, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};
use uuid::Uuid;

/// Nobody may read it.
const SECRET: &str = "1000003*7";
const RESULT: &str = "7000021";

/// Calculates what nobody else may see, once somebody has approved it.
fn vault() -> Value {
    let mut tool = definition("vault");
    tool["approval"] = json!("always");
    tool["input_schema"]["properties"]["expression"]["writeOnly"] = json!(true);
    json!([tool])
}

/// Everything that is stored and told of a run.
async fn all_of(app: &TestApp, run: &Value) -> String {
    let id = run["id"].as_str().unwrap();
    let row: Uuid = id.parse().unwrap();
    let stored = app.server.app.store.run_entries(row, 0).await.unwrap();
    let stored: Vec<String> = stored.into_iter().map(|it| it.body).collect();
    let view = app.get(&format!("/api/v1/runs/{id}")).await.body;
    let list = app.get("/api/v1/runs").await.body;
    let events = app.events(run, "").await;
    format!("{stored:?}\n{view}\n{list}\n{events:?}")
}

async fn decide(app: &TestApp, run: &Value, answer: Value) -> (u16, Value) {
    let id = run["id"].as_str().unwrap();
    let body = json!({"request_id": run["pending"][0]["request_id"], "answer": answer});
    let answer = app.post(&format!("/api/v1/runs/{id}/input"), body).await;
    (answer.status, answer.body)
}

fn call() -> Say {
    Say::call("vault", json!({"expression": SECRET}))
}

#[tokio::test]
async fn a_secret_argument_is_sealed_and_the_call_made_after_a_restart() {
    on_both_with(vault(), Policy::default(), async |app: &TestApp| {
        let model = Model::saying(vec![call(), Say::text("Done.")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("x").await;
        assert_eq!(run["status"], "needs_input", "{run}");
        assert_eq!(run["pending"][0]["arguments"], json!({"expression": "***"}));
        let all = all_of(app, &run).await;
        assert!(!all.contains(SECRET), "{all}");
        let next = app.restart().await;
        let (status, body) = decide(&next, &run, json!("approve")).await;
        assert_eq!(status, 200, "{body}");
        let done = next.rests(&run).await;
        assert_eq!(done["output"], "Done.", "{done}");
        // It was called with the secret, and the model is told its own words.
        assert!(
            model.results()[0].0.contains(RESULT),
            "{:?}",
            model.results()
        );
        assert!(model.requests()[1].to_string().contains(SECRET));
        let all = all_of(&next, &run).await;
        assert!(!all.contains(SECRET) && all.contains("***"), "{all}");
        // Whoever goes on with the conversation has it without the secret.
        let body = json!({"input": "y", "agent": "helper", "after": run["id"]});
        let after = next.post("/api/v1/runs", body).await;
        assert_eq!(after.status, 200, "{}", after.body);
        assert!(
            !model
                .requests()
                .last()
                .unwrap()
                .to_string()
                .contains(SECRET)
        );
        assert!(!all_of(&next, &after.body).await.contains(SECRET));
    })
    .await;
}

#[tokio::test]
async fn a_secret_that_somebody_edits_is_sealed_too() {
    on_both_with(vault(), Policy::default(), async |app: &TestApp| {
        let other = Say::call("vault", json!({"expression": "1+1"}));
        let model = Model::saying(vec![other, Say::text("Done.")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("x").await;
        let masked = json!({"decision": "edit", "arguments": {"expression": "***"}});
        let (status, body) = decide(app, &run, masked).await;
        assert_eq!(status, 422, "{body}");
        let edited = json!({"decision": "edit", "arguments": {"expression": SECRET}});
        let (status, body) = decide(app, &run, edited).await;
        assert_eq!(status, 200, "{body}");
        app.rests(&run).await;
        assert!(
            model.results()[0].0.contains(RESULT),
            "{:?}",
            model.results()
        );
        let all = all_of(app, &run).await;
        assert!(!all.contains(SECRET), "{all}");
    })
    .await;
}

#[tokio::test]
async fn a_run_whose_key_is_gone_ends_and_calls_nothing() {
    on_both_with(vault(), Policy::default(), async |app: &TestApp| {
        let model = Model::saying(vec![call(), Say::text("Done.")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("x").await;
        let next = app
            .restart_with(Some("another-key-of-enough-length-for-sealing".to_owned()))
            .await;
        let (status, body) = decide(&next, &run, json!("approve")).await;
        assert_eq!(status, 200, "{body}");
        let done = next.rests(&run).await;
        assert_eq!(done["status"], "failed", "{done}");
        assert_eq!(done["error"]["code"], "secrets_unreadable", "{done}");
        assert_eq!(done["calls"], 0, "{done}");
    })
    .await;
}
