//! Reading along: whoever comes back, wherever and whenever, makes the same of what they are told.

use crate::model::{Model, Say};
use crate::scripted::until;
use crate::testapp::{ADMIN, TestApp, on_both, on_both_with};
use axum::body::Body;
use axum::http::Request;
use catalog::policy::Policy;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The text that counts in the end.
fn text_of(events: &[Value]) -> String {
    let mut text = String::new();
    for event in events {
        match event["event"].as_str().unwrap() {
            "text_delta" => text += event["data"]["text"].as_str().unwrap(),
            "text_reset" => text.clear(),
            _ => {}
        }
    }
    text
}

fn names(events: &[Value]) -> Vec<&str> {
    let names = events.iter().map(|it| it["event"].as_str().unwrap());
    names.collect()
}

/// Events of a stream.
fn streamed(text: &str) -> Vec<Value> {
    let events = text.split("\n\n").filter(|it| it.contains("event: "));
    let line = |event: &str, name: &str| {
        let found = event.lines().find_map(|it| it.strip_prefix(name));
        found.map(str::to_owned)
    };
    events
        .map(|event| {
            let data = line(event, "data: ").unwrap();
            json!({
                "id": line(event, "id: "), "event": line(event, "event: "),
                "data": serde_json::from_str::<Value>(&data).unwrap(),
            })
        })
        .collect()
}

/// Begins a run and reads all that it tells; `on_text` happens as soon as the reader, and not only somebody else, has read
/// something of its text.
async fn read_along(app: &TestApp, on_text: impl AsyncFnOnce()) -> Vec<Value> {
    let body = json!({"input": "hi", "agent": "helper", "stream": true});
    let request = Request::post("/api/v1/runs")
        .header("x-api-key", ADMIN)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()));
    let api = server::Api::new(Arc::clone(&app.server));
    let mut stream = api.answer(request.unwrap()).await.into_body();
    let (mut read, mut on_text) = (Vec::new(), Some(on_text));
    while let Some(frame) = stream.frame().await {
        read.extend_from_slice(&frame.unwrap().into_data().unwrap());
        if String::from_utf8_lossy(&read).contains("event: text_delta")
            && let Some(on_text) = on_text.take()
        {
            on_text().await;
        }
    }
    streamed(str::from_utf8(&read).unwrap())
}

/// One that says these things in this order, whatever it is asked.
async fn in_turn(script: Vec<Say>) -> Model {
    let next = AtomicUsize::new(0);
    Model::by(move |_| script[next.fetch_add(1, Ordering::SeqCst).min(script.len() - 1)].clone())
        .await
}

#[tokio::test]
async fn what_was_written_before_the_line_broke_is_taken_back() {
    on_both(async |app: &TestApp| {
        let model = in_turn(vec![Say::Break("안녕하세"), Say::text("안녕히 가세요")]).await;
        app.agent(&model, json!({})).await;
        let events = read_along(app, async || model.go_on()).await;
        assert_eq!(text_of(&events), "안녕히 가세요", "{events:?}");
        let names = names(&events);
        assert!(names.contains(&"text_reset"), "{names:?}");
        // Whoever was cut off in the middle and asks anywhere for the rest.
        let runs = app.get("/api/v1/runs").await.body;
        for (i, event) in events.iter().enumerate() {
            let rest = app
                .events(&runs["items"][0], event["id"].as_str().unwrap())
                .await;
            let whole: Vec<Value> = events[..=i].iter().chain(&rest).cloned().collect();
            assert_eq!(text_of(&whole), "안녕히 가세요", "after {event}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_another_driver_says_is_not_spliced_to_what_was_read() {
    on_both(async |app: &TestApp| {
        let model = in_turn(vec![
            Say::hold("Hello there, I th"),
            Say::text("Goodbye then, friend"),
        ])
        .await;
        app.agent(&model, json!({})).await;
        let body = json!({"input": "hi", "agent": "helper", "wait": false});
        let begun = app.post("/api/v1/runs", body).await.body;
        let read = until("the text is on its way", async || {
            let events = app.events(&begun, "").await;
            names(&events).contains(&"text_delta").then_some(events)
        })
        .await;
        assert_eq!(text_of(&read), "Hello there, I th");
        let app = &app.restart().await;
        app.rests(&begun).await;
        let rest = app
            .events(&begun, read.last().unwrap()["id"].as_str().unwrap())
            .await;
        assert_eq!(names(&rest)[..2], ["text_reset", "text_delta"], "{rest:?}");
        let whole: Vec<Value> = read.into_iter().chain(rest).collect();
        assert_eq!(text_of(&whole), "Goodbye then, friend");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn whoever_cancels_while_a_text_is_written_has_nothing_told_twice() {
    on_both(async |app: &TestApp| {
        let model = in_turn(vec![Say::hold("Let me think")]).await;
        app.agent(&model, json!({})).await;
        let events = read_along(app, async || {
            let runs = app.get("/api/v1/runs").await.body;
            let id = runs["items"][0]["id"].as_str().unwrap();
            app.post(&format!("/api/v1/runs/{id}/cancel"), Value::Null)
                .await;
        })
        .await;
        assert_eq!(text_of(&events), "Let me think", "{events:?}");
        assert_eq!(names(&events).last(), Some(&"error"));
    })
    .await;
}

#[tokio::test]
async fn the_header_of_browsers_is_understood() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![Say::text("Hello")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("hi").await;
        let all = app.events(&run, "").await;
        let path = format!("/api/v1/runs/{}/events", run["id"].as_str().unwrap());
        for (i, event) in all.iter().enumerate() {
            let request = Request::get(&path)
                .header("x-api-key", ADMIN)
                .header("last-event-id", event["id"].as_str().unwrap());
            let read = app.send(request.body(Body::empty()).unwrap()).await;
            let rest = streamed(read.body.as_str().unwrap_or_default());
            assert_eq!(rest, all[i + 1..], "after {event}");
        }
        // Of another run, perhaps: nothing would ever come after it.
        let last = run["last_event"].as_str().unwrap();
        for id in ["no-id", "99", "99.3.a"] {
            let request = Request::get(&path)
                .header("x-api-key", ADMIN)
                .header("last-event-id", id);
            let refused = app.send(request.body(Body::empty()).unwrap()).await;
            assert_eq!(refused.status, 422, "{id}: {}", refused.body);
            let message = refused.body["error"]["message"].as_str().unwrap();
            assert!(message.contains(id), "{message}");
            let log = format!("/api/v1/runs/{}/log", run["id"].as_str().unwrap());
            assert_eq!(app.get(&format!("{log}?after={id}")).await.status, 422);
            assert!(
                id == "no-id" || message.contains(&format!("last event is '{last}'")),
                "{message}"
            );
        }
    })
    .await;
}

/// The events that the guide shows, by name: what they hold.
fn of_the_guide() -> Vec<Value> {
    let guide = include_str!("../../../../docs/guide/runs.md");
    let block = guide.split("```").find(|it| it.contains("\nevent: "));
    streamed(&block.expect("the guide shows events").replace("{…}", "{}"))
}

fn members(event: &Value) -> Vec<&String> {
    event["data"].as_object().unwrap().keys().collect()
}

#[tokio::test]
async fn the_events_of_the_guide_are_what_is_sent() {
    let mut careful = crate::testapp::definition("careful");
    careful["approval"] = json!("always");
    let tools = json!([careful]);
    on_both_with(tools, Policy::default(), async |app: &TestApp| {
        let call = Say::call("careful", json!({"expression": "1+1"}));
        let model = Model::saying(vec![call]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("do it").await;
        let no = json!({"decision": "reject", "text": "not today"});
        let answered = app.answer(&run, &run["pending"][0], no).await;
        assert_eq!(answered.status, 200, "{}", answered.body);
        app.rests(&run).await;
        let sent = app.events(&run, "").await;
        let shown = of_the_guide();
        assert_eq!(names(&shown), ["needs_input", "answered", "tool_result"]);
        let at = sent.iter().position(|it| it["event"] == "needs_input");
        for (shown, sent) in shown.iter().zip(&sent[at.unwrap()..]) {
            assert_eq!(
                (&shown["event"], &shown["id"], members(shown)),
                (&sent["event"], &sent["id"], members(sent))
            );
        }
        assert_eq!(
            shown[2]["data"]["text"],
            sent[at.unwrap() + 2]["data"]["text"]
        );
    })
    .await;
}
