//! Runs whose server is gone: another goes on from the journal, nothing that was stored runs twice, and the one call that was
//! under way is told as unknown.

use crate::model::{Model, Say};
use crate::replicas::with_two;
use crate::runs::calculate;
use crate::scripted::until;
use crate::testapp::{ADMIN, TestApp, on_both};
use serde_json::{Value, json};
use store::runs::{RunRow, RunWrite, Written};
use uuid::Uuid;

fn id_of(run: &Value) -> Uuid {
    run["id"].as_str().unwrap().parse().unwrap()
}

/// What a server that was killed leaves behind of a run: its journal as it is now, and nobody who drives it.
async fn left_behind(app: &TestApp, begun: &Value) -> Value {
    let store = &app.server.app.store;
    let row = store.run(id_of(begun)).await.unwrap().unwrap();
    let entries = store.run_entries(row.id, 0).await.unwrap();
    let bodies: Vec<String> = entries.into_iter().map(|it| it.body).collect();
    let copy = RunRow {
        id: Uuid::now_v7(),
        node: None,
        last_seq: bodies.len() as i64,
        ..row
    };
    store.begin_run(&copy, &bodies).await.unwrap();
    json!({"id": copy.id.to_string()})
}

#[tokio::test]
async fn a_call_that_was_under_way_is_told_as_unknown_and_never_run_again() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![
            calculate("20+22"),
            Say::call("fixture_wait", json!({"seconds": 60})),
            Say::text("I do not know."),
        ])
        .await;
        app.agent(&model, json!({})).await;
        let begun = app
            .post(
                "/api/v1/runs",
                json!({"input": "x", "agent": "helper", "wait": false}),
            )
            .await
            .body;
        until("the second call runs", async || {
            let events = app.events(&begun, "").await;
            let started = events.iter().filter(|it| it["event"] == "tool_started");
            (started.count() == 2).then_some(())
        })
        .await;
        let copied = left_behind(app, &begun).await;
        let other = id_of(&copied);
        let done = until("it is taken up and done", async || {
            let view = app.get(&format!("/api/v1/runs/{other}")).await.body;
            (view["status"] == "done").then_some(view)
        })
        .await;
        assert_eq!(done["output"], "I do not know.", "{done}");
        let results = app.events(&copied, "").await;
        let results: Vec<&Value> = results
            .iter()
            .filter(|it| it["event"] == "tool_result")
            .map(|it| &it["data"])
            .collect();
        assert_eq!(results.len(), 2);
        assert_eq!(results[1]["code"], "interrupted", "{results:?}");
        let calls = app.get("/api/v1/executions?tool=fixture_wait").await;
        assert!(
            calls.body["items"].as_array().unwrap().len() <= 1,
            "it was run once: {}",
            calls.body
        );
        let id = begun["id"].as_str().unwrap();
        app.post(&format!("/api/v1/runs/{id}/cancel"), Value::Null)
            .await;
    })
    .await;
}

/// Whoever goes on with the conversation must not take it for a call that was never made.
#[tokio::test]
async fn a_call_that_was_under_way_is_unknown_also_where_the_run_cannot_go_on() {
    on_both(async |app: &TestApp| {
        let wait = Say::call("fixture_wait", json!({"seconds": 60}));
        let model = Model::saying(vec![wait]).await;
        app.agent(&model, json!({"is_public": true})).await;
        let kim = app.person("kim", "author").await;
        let body = json!({"input": "x", "agent": "helper", "wait": false});
        let begun = app
            .as_key(&kim.key, "POST", "/api/v1/runs", body)
            .await
            .body;
        until("the call runs", async || {
            let events = app.events(&begun, "").await;
            let mut events = events.iter();
            events.any(|it| it["event"] == "tool_started").then_some(())
        })
        .await;
        let gone = app
            .as_key(ADMIN, "DELETE", "/api/v1/users/kim", Value::Null)
            .await;
        assert!(gone.status < 300, "{}", gone.body);
        let left = left_behind(app, &begun).await;
        let path = format!("/api/v1/runs/{}/cancel", id_of(&begun));
        app.post(&path, Value::Null).await;
        // One whose server was killed, and one that was stopped here.
        for (run, code) in [(&left, "forbidden"), (&begun, "cancelled")] {
            let over = app.rests(run).await;
            assert_eq!(over["error"]["code"], code, "{over}");
            let events = app.events(run, "").await;
            let result = events.iter().find(|it| it["event"] == "tool_result");
            let text = result.unwrap()["data"]["text"].as_str().unwrap();
            assert!(text.contains("effect is unknown"), "{text}");
        }
    })
    .await;
}

#[tokio::test]
async fn who_was_replaced_writes_nothing_any_more() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::call(
            "request_human_input",
            json!({"question": "?"}),
        )])
        .await;
        app.agent(&model, json!({})).await;
        let run = app.run("x").await;
        let store = &app.server.app.store;
        // Its question is told before its driver has let go of it.
        let before = until("nobody drives it", async || {
            let row = store.run(id_of(&run)).await.unwrap().unwrap();
            row.node.is_none().then_some(row)
        })
        .await;
        let after = store
            .claim_run(before.id, "another")
            .await
            .unwrap()
            .unwrap();
        assert_eq!(after.epoch, before.epoch + 1);
        assert_eq!(
            store.claim_run(before.id, "a third").await.unwrap(),
            None,
            "it is driven"
        );
        let write = |epoch: i64, last_seq: i64| RunWrite {
            id: before.id,
            epoch,
            last_seq,
            at: 1,
            bodies: &[],
            status: "needs_input",
            output: None,
            error: None,
            wake_at: None,
            is_over: false,
            is_released: false,
        };
        let late = store
            .write_run(&write(before.epoch, before.last_seq))
            .await
            .unwrap();
        assert_eq!(late, Written::Replaced);
        let behind = store
            .write_run(&write(after.epoch, before.last_seq - 1))
            .await
            .unwrap();
        assert_eq!(behind, Written::Behind);
        store.release_runs("another").await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn another_server_answers_follows_and_cancels() {
    with_two(async |a: &TestApp, b: &TestApp, _| {
        let model = Model::saying(vec![
            Say::call("request_human_input", json!({"question": "?"})),
            Say::hold("Thinking"),
        ])
        .await;
        a.agent(&model, json!({})).await;
        let run = a.run("x").await;
        let id = run["id"].as_str().unwrap();
        let input = json!({"request_id": run["pending"][0]["request_id"], "answer": "y"});
        let answered = b.post(&format!("/api/v1/runs/{id}/input"), input).await;
        assert_eq!(answered.status, 200, "{}", answered.body);
        until("the answer is told at the first", async || {
            let events = a.events(&run, "").await;
            events
                .iter()
                .any(|it| it["event"] == "answered")
                .then_some(())
        })
        .await;
        until("the model is asked", async || {
            (model.requests().len() == 2).then_some(())
        })
        .await;
        // Driven by b, cancelled at a.
        let cancelled = a
            .post(&format!("/api/v1/runs/{id}/cancel"), Value::Null)
            .await;
        assert_eq!(cancelled.body["status"], "cancelled", "{}", cancelled.body);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_stops_hands_its_runs_on() {
    with_two(async |a: &TestApp, b: &TestApp, _| {
        let model = Model::by(|request| {
            let said = request["messages"].as_array().unwrap().len();
            match said {
                1 => calculate("1+1"),
                _ => Say::hold("Two"),
            }
        })
        .await;
        a.agent(&model, json!({})).await;
        let begun = a
            .post(
                "/api/v1/runs",
                json!({"input": "x", "agent": "helper", "wait": false}),
            )
            .await
            .body;
        until("the second turn is under way", async || {
            (model.requests().len() == 2).then_some(())
        })
        .await;
        a.stop().await;
        until("the other asks again", async || {
            (model.requests().len() == 3).then_some(())
        })
        .await;
        model.go_on();
        let done = b.rests(&begun).await;
        assert_eq!(
            (&done["status"], &done["calls"]),
            (&json!("done"), &json!(1)),
            "{done}"
        );
    })
    .await;
}
