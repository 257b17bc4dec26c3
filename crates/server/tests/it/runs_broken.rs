//! Runs whose storage fails them: an answer that is lost, a driver that is gone, entries that are refused.

use crate::lines::led_around;
use crate::model::{Model, Say};
use crate::runs::calculate;
use crate::scripted::until;
use crate::testapp::{Setup, TestApp, on_both, on_both_given};
use catalog::policy::Policy;
use serde_json::{Value, json};
use std::time::Duration;
use store::runs::RunRow;
use uuid::Uuid;

/// How many entries of a type a journal holds.
async fn count(app: &TestApp, run: &Value, kind: &str) -> usize {
    let id = run["id"].as_str().unwrap().parse().unwrap();
    let entries = app.server.app.store.run_entries(id, 0).await.unwrap();
    let entries = entries
        .iter()
        .map(|it| serde_json::from_str::<Value>(&it.body).unwrap());
    entries.filter(|it| it["type"] == kind).count()
}

#[tokio::test]
async fn what_was_stored_is_not_stored_again_though_the_answer_was_lost() {
    led_around(async |led, straight, between| {
        let sum = vec![("calculator", json!({"expression": "1+1"}))];
        let model = Model::saying(vec![Say::Hold("Let me see", sum), Say::hold("It is 2")]).await;
        led.agent(&model, json!({})).await;
        let body = json!({"input": "x", "agent": "helper", "wait": false});
        let begun = led.post("/api/v1/runs", body).await.body;
        for (requests, started) in [(1, 0), (2, 1)] {
            until("the model speaks", async || {
                (model.requests().len() == requests).then_some(())
            })
            .await;
            assert_eq!(count(straight, &begun, "started").await, started);
            between.lose_commits(true);
            let lost = between.lost_commits();
            until("it goes on", async || {
                model.go_on();
                let turns = count(straight, &begun, "turn").await;
                (turns == requests && between.lost_commits() > lost).then_some(())
            })
            .await;
            between.lose_commits(false);
        }
        let done = led.rests(&begun).await;
        assert_eq!(
            (&done["status"], &done["calls"]),
            (&json!("done"), &json!(1)),
            "{done}"
        );
        for (kind, times) in [
            ("began", 1),
            ("turn", 2),
            ("started", 1),
            ("result", 1),
            ("ended", 1),
        ] {
            assert_eq!(count(straight, &begun, kind).await, times, "{kind}");
        }
    })
    .await;
}

/// What is under way is worth more than a look whether somebody has added something.
#[tokio::test]
async fn what_a_run_waits_for_is_not_cut_off_by_a_database_that_is_away() {
    led_around(async |led, _, between| {
        let model = Model::saying(vec![Say::hold("Let me see")]).await;
        led.agent(&model, json!({})).await;
        let body = json!({"input": "x", "agent": "helper", "wait": false});
        let begun = led.post("/api/v1/runs", body).await.body;
        until("the model speaks", async || {
            (model.requests().len() == 1).then_some(())
        })
        .await;
        for _ in 0..2 {
            let before = between.refused();
            between.go_away(true);
            // The run looks twice a second, others as often. Not so long that another server takes it for gone.
            until("it is looked for", async || {
                (between.refused() > before + 3).then_some(())
            })
            .await;
            between.go_away(false);
            led.comes_to("/api/v1/runs", "/items/0/status", json!("running"))
                .await;
        }
        model.go_on();
        let done = led.rests(&begun).await;
        assert_eq!(
            (&done["status"], &done["output"]),
            (&json!("done"), &json!("Let me see")),
            "{done}"
        );
        assert_eq!(model.requests().len(), 1, "it was asked once");
    })
    .await;
}

/// A run that is this server's by the database alone, as after a claim whose answer was lost.
async fn abandoned(app: &TestApp, like: &Value) -> Value {
    let store = &app.server.app.store;
    let id: Uuid = like["id"].as_str().unwrap().parse().unwrap();
    let row = store.run(id).await.unwrap().unwrap();
    let first = store.run_entries(id, 0).await.unwrap().remove(0).body;
    let other = Uuid::now_v7();
    let row = RunRow {
        id: other,
        status: "running".to_owned(),
        node: Some(app.server.app.node.clone()),
        epoch: 1,
        last_seq: 1,
        output: None,
        ended_at: None,
        ..row
    };
    assert_eq!(store.begin_run(&row, &[first]).await.unwrap(), None);
    json!({"id": other.to_string()})
}

#[tokio::test]
async fn a_run_that_nobody_drives_is_taken_up_by_its_own_server() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::text("Here I am.")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("x").await;
        let left = abandoned(app, &run).await;
        let done = app.rests(&left).await;
        assert_eq!(
            (&done["status"], &done["output"]),
            (&json!("done"), &json!("Here I am.")),
            "{done}"
        );
        let left = abandoned(app, &run).await;
        let path = format!("/api/v1/runs/{}/cancel", left["id"].as_str().unwrap());
        let cancelled = app.post(&path, Value::Null).await;
        let status = cancelled.body["status"].as_str().unwrap();
        assert!(
            ["cancelled", "done"].contains(&status),
            "{}",
            cancelled.body
        );
    })
    .await;
}

const SPOIL_SQLITE: &str = "CREATE TRIGGER spoil BEFORE INSERT ON run_entries WHEN NEW.body LIKE '%poison%' \
    BEGIN SELECT RAISE(ABORT, 'spoiled'); END";
const SPOIL_POSTGRES: &str = "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS \
    $$ BEGIN IF NEW.body LIKE '%poison%' THEN RAISE EXCEPTION 'spoiled'; END IF; RETURN NEW; END $$; \
    CREATE TRIGGER spoil BEFORE INSERT ON run_entries FOR EACH ROW EXECUTE FUNCTION spoil()";

#[tokio::test]
async fn what_can_never_be_stored_ends_the_run() {
    let runs = app::runs::Settings {
        first_pause: Duration::from_millis(5),
        ..app::runs::Settings::default()
    };
    let setup = Setup {
        runs,
        ..Setup::default()
    };
    on_both_given(
        json!([]),
        Policy::default(),
        setup,
        async |app: &TestApp| {
            app.sql(match app.is_postgres() {
                true => SPOIL_POSTGRES,
                false => SPOIL_SQLITE,
            })
            .await;
            let model = Model::saying(vec![calculate("1+1"), Say::text("poison")]).await;
            app.agent(&model, json!({})).await;
            let run = app.run("x").await;
            assert_eq!(
                (&run["status"], &run["error"]["code"]),
                (&json!("failed"), &json!("internal")),
                "{run}"
            );
            assert_eq!(
                run["usage"]["output_tokens"], 5,
                "what was stored counts: {run}"
            );
            let asked = model.requests().len();
            assert!(
                (3..=7).contains(&asked),
                "it is not asked for ever: {asked}"
            );
            let events = app.events(&run, "").await;
            assert_eq!(events.last().unwrap()["event"], "error", "{events:?}");
            let log = app.get("/api/v1/executions?tool=calculator").await;
            assert_eq!(log.body["items"].as_array().unwrap().len(), 1);
        },
    )
    .await;
}

#[tokio::test]
async fn a_letter_that_postgresql_cannot_hold_breaks_nothing() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::text("a\0b")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("x").await;
        assert_eq!(run["status"], "done", "{run}");
        let listed = app.get("/api/v1/runs").await.body;
        assert_eq!(listed["items"][0]["output"], "a\u{FFFD}b", "{listed}");
        let refused = app.post("/api/v1/runs", json!({"input": "a\0b"})).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
    })
    .await;
}
