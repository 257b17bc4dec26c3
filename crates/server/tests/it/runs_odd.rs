//! Models that do what they should not: ids that are missing or the same, answers that are cut off, calls where none are
//! wanted, and settings that no clock can count.

use crate::model::{Model, Say};
use crate::runs::calculate;
use crate::scripted::until;
use crate::testapp::{TestApp, on_both};
use serde_json::{Value, json};
use std::collections::HashSet;

/// All blocks of a type that a model was sent.
fn blocks(request: &Value, kind: &str) -> Vec<Value> {
    let messages = request["messages"].as_array().unwrap().iter();
    let blocks = messages.flat_map(|it| it["content"].as_array().unwrap().clone());
    blocks.filter(|it| it["type"] == kind).collect()
}

#[tokio::test]
async fn calls_with_the_same_id_or_none_are_made_once_each() {
    on_both(async |app: &TestApp| {
        let block = |id: &str, n: usize| json!({"type": "tool_use", "id": id, "name": "calculator", "input": {"expression": format!("{n}+1")}});
        let model = Model::saying(vec![
            Say::Blocks(vec![block("same", 1), block("same", 2), block("", 3), block("", 4)]),
            Say::text("2, 3, 4 and 5."),
        ])
        .await;
        app.agent(&model, json!({})).await;
        let run = app.run("count").await;
        assert_eq!((&run["status"], &run["calls"]), (&json!("done"), &json!(4)), "{run}");
        let texts: Vec<String> = model.results().into_iter().map(|it| it.0).collect();
        for (text, expected) in texts.iter().zip(["2", "3", "4", "5"]) {
            assert!(text.contains(expected), "each has its own result: {texts:?}");
        }
        let told = model.requests().pop().unwrap();
        let ids = |kind: &str, field: &str| -> Vec<String> {
            let all = blocks(&told, kind);
            all.iter().map(|it| it[field].as_str().unwrap().to_owned()).collect()
        };
        let calls = ids("tool_use", "id");
        assert_eq!(calls, ids("tool_result", "tool_use_id"), "what is echoed is what is answered");
        assert_eq!(calls.iter().collect::<HashSet<_>>().len(), 4, "{calls:?}");
        let log = app.get("/api/v1/executions?tool=calculator").await;
        assert_eq!(log.body["items"].as_array().unwrap().len(), 4);
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_is_cut_short_says_so() {
    on_both(async |app: &TestApp| {
        for (reason, code) in [
            ("max_tokens", "cut_off"),
            ("model_context_window_exceeded", "cut_off"),
            ("refusal", "filtered"),
            ("some_new_reason", "ended_early"),
        ] {
            let model = Model::by(move |_| Say::Stopped("Half an ans", reason)).await;
            let mut body = model.agent(reason);
            body["config"] = json!({"max_tokens": 10});
            assert_eq!(app.post("/api/v1/agents", body).await.status, 201);
            let body = json!({"input": "x", "agent": reason});
            let run = app.post("/api/v1/runs", body).await.body;
            assert_eq!(
                (&run["status"], &run["output"], &run["error"]["code"]),
                (&json!("done"), &json!("Half an ans"), &json!(code)),
                "{reason}: {run}"
            );
            let events = app.events(&run, "").await;
            let noted = events
                .iter()
                .any(|it| it["event"] == "note" && it["data"]["code"] == code);
            assert!(noted, "{reason}: {events:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_is_empty_says_so() {
    on_both(async |app: &TestApp| {
        let model = Model::by(|_| Say::text("")).await;
        app.agent(&model, json!({})).await;
        let run = app.run("say something").await;
        assert_eq!(
            (&run["status"], &run["error"]["code"]),
            (&json!("done"), &json!("empty_answer")),
            "{run}"
        );
        let events = app.events(&run, "").await;
        let note = events.iter().find(|it| it["event"] == "note").unwrap();
        assert_eq!(note["data"]["message"], run["error"]["message"]);
    })
    .await;
}

/// What is to be mended is called as people set it.
#[tokio::test]
async fn an_address_where_something_else_answers_is_named() {
    on_both(async |app: &TestApp| {
        let model = Model::by(|_| Say::Refuse(200, json!({"hello": 1}))).await;
        app.agent(&model, json!({"config": {"stream": false}}))
            .await;
        let run = app.run("say something").await;
        assert_eq!(run["status"], "failed", "{run}");
        let message = run["error"]["message"].as_str().unwrap();
        assert!(message.contains("the base_url of 'helper'"), "{message}");
    })
    .await;
}

/// A call whose arguments were cut off may do more than was wanted: with none of them, it would do it to everything.
#[tokio::test]
async fn a_call_that_was_cut_off_is_not_made() {
    on_both(async |app: &TestApp| {
        let calls = || {
            let sum = json!({"expression": "1+1"});
            vec![("calculator", sum.clone()), ("calculator", sum)]
        };
        for (reason, code, made) in [
            ("max_tokens", "cut_off", 1),
            ("model_context_window_exceeded", "cut_off", 1),
            ("refusal", "filtered", 0),
            ("some_new_reason", "", 2),
        ] {
            let model = Model::saying(vec![
                Say::Cut(reason, calls()),
                Say::text("Then without it."),
            ])
            .await;
            let body = model.agent(reason);
            assert_eq!(app.post("/api/v1/agents", body).await.status, 201);
            let body = json!({"input": "x", "agent": reason});
            let run = app.post("/api/v1/runs", body).await.body;
            if code == "filtered" {
                assert_eq!(
                    (&run["error"]["code"], &run["calls"]),
                    (&json!("model_filtered"), &json!(0)),
                    "{run}"
                );
                continue;
            }
            assert_eq!(
                (&run["status"], &run["calls"]),
                (&json!("done"), &json!(made)),
                "{reason}: {run}"
            );
            let refused: Vec<bool> = model.results().into_iter().map(|it| it.1).collect();
            assert_eq!(refused, [false, made == 1], "{reason}");
            let events = app.events(&run, "").await;
            let noted = events
                .iter()
                .any(|it| it["event"] == "note" && it["data"]["code"] == "cut_off");
            assert_eq!(noted, made == 1, "{reason}: {events:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_budget_counts_though_the_provider_does_not() {
    on_both(async |app: &TestApp| {
        let model = Model::by(|request| {
            let turns = request["messages"].as_array().unwrap().len();
            let sum = json!({"expression": format!("1+{turns}")});
            Say::Uncounted(vec![("calculator", sum)])
        })
        .await;
        // What it is shown of itself and of the tools counts as well: the words of the request are few.
        let config = json!({"token_budget": 2_000});
        let system = "You go on for ever. ".repeat(200);
        app.agent(&model, json!({"config": config, "system_prompt": system}))
            .await;
        let run = app.run("go on for ever").await;
        assert_eq!(
            (&run["status"], &run["error"]["code"]),
            (&json!("failed"), &json!("token_budget")),
            "{run}"
        );
        assert!(model.requests().len() <= 2, "{}", model.requests().len());
        let events = app.events(&run, "").await;
        let notes = events.iter();
        let notes = notes.filter(|it| it["data"]["code"] == "usage_estimated");
        assert_eq!(notes.count(), 1, "{events:?}");
    })
    .await;
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_run_that_was_stopped_at_its_limit() {
    on_both(async |app: &TestApp| {
        // One that calls although it was told to answer.
        let model = Model::by(|request| {
            let said = request["messages"].to_string();
            match said.contains("and now?") {
                true => Say::text("Now I answer."),
                false => calculate("1+1"),
            }
        })
        .await;
        app.agent(&model, json!({"config": {"max_steps": 1}})).await;
        let run = app.run("go").await;
        assert_eq!(
            (&run["status"], &run["calls"]),
            (&json!("done"), &json!(1)),
            "{run}"
        );
        let body = json!({"input": "and now?", "agent": "helper", "after": run["id"]});
        let next = app.post("/api/v1/runs", body).await.body;
        assert_eq!(next["output"], "Now I answer.", "{next}");
        let told = model.requests().pop().unwrap();
        assert_eq!(blocks(&told, "tool_use").len(), 2);
        assert_eq!(
            blocks(&told, "tool_result").len(),
            2,
            "no call without its result: {told}"
        );
    })
    .await;
}

#[tokio::test]
async fn of_a_long_conversation_the_newest_request_is_shown() {
    on_both(async |app: &TestApp| {
        let model = Model::by(|request| {
            let said = request["messages"].as_array().unwrap();
            match said
                .iter()
                .any(|it| it["role"] == "assistant" && it.to_string().contains("toolu"))
            {
                true => Say::text("Done."),
                false => calculate("1+1"),
            }
        })
        .await;
        app.agent(
            &model,
            json!({"memory_config": {"type": "sliding_window", "max_messages": 2}}),
        )
        .await;
        let first = app.run("the first request").await;
        let body = json!({"input": "this request", "agent": "helper", "after": first["id"]});
        app.post("/api/v1/runs", body).await;
        for request in model.requests().iter().skip(2) {
            let said = request["messages"].to_string();
            assert!(said.contains("this request"), "{said}");
            assert!(!said.contains("the first request"), "{said}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_time_that_no_clock_can_count_is_refused_and_none_panics() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![calculate("1+1"), Say::text("2")]).await;
        let mut body = model.agent("eternal");
        body["config"] = json!({"max_seconds": 1e20});
        let refused = app.post("/api/v1/agents", body).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(
            refused.body.to_string().contains("max_seconds"),
            "{}",
            refused.body
        );
        // One that was written before that was asked.
        app.agent(&model, json!({"config": {"max_seconds": 7.0}}))
            .await;
        app.sql(match app.is_postgres() {
            true => "UPDATE agents SET config = jsonb_set(config, '{max_seconds}', '1e20')",
            false => "UPDATE agents SET config = json_set(config, '$.max_seconds', 1e20)",
        })
        .await;
        let app = &app.restart().await;
        let run = app.run("x").await;
        assert_eq!(run["output"], "2", "{run}");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_run_takes_no_longer_than_it_may() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::hold("Let me th")]).await;
        app.agent(&model, json!({"config": {"max_seconds": 0.2}}))
            .await;
        let body = json!({"input": "x", "agent": "helper", "wait": false});
        let begun = app.post("/api/v1/runs", body).await.body;
        until("the model is asked", async || {
            (!model.requests().is_empty()).then_some(())
        })
        .await;
        app.clock.advance(1_000);
        let over = app.rests(&begun).await;
        assert_eq!(
            (&over["status"], &over["error"]["code"]),
            (&json!("failed"), &json!("max_seconds")),
            "{over}"
        );
    })
    .await;
}
