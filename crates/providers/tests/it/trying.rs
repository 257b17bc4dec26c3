//! What is tried again, what is not, and what a stream that breaks leaves behind. All answers are written by hand; no
//! recording of a 529 is known.

use crate::bodies::{events, whole};
use crate::{KEY, World, events_answer, json_answer, refusal, request, server, streaming};
use providers::{Api, Class, Delta};
use serde_json::{Value, json};
use server::Reply;
use std::time::Duration;

fn overloaded() -> Value {
    json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
}

/// The beginning of a stream, up to this mark, and then nothing.
fn cut_before(api: Api, mark: &str) -> Reply {
    let events = events(api);
    let body = &events[..events.find(mark).unwrap()];
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\n";
    Reply::Close(format!("{head}{body}").into_bytes())
}

#[tokio::test]
async fn a_busy_provider_is_asked_again() {
    let limited =
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}});
    let replies = vec![
        refusal("529 Site is overloaded", &overloaded()),
        server::answer(
            "429 Too Many Requests",
            &[("Retry-After", "0")],
            limited.to_string().as_bytes(),
        ),
        json_answer(&whole(Api::Messages)),
    ];
    let mut world = World::in_turn(Api::Messages, replies).await;
    let turn = world.ask(&request()).await.unwrap();
    assert_eq!(turn.text, "Let me add.");
    assert_eq!(world.asked(), 3);
}

#[tokio::test]
async fn tries_end() {
    let mut world = World::new(Api::Messages, |_| {
        refusal("529 Site is overloaded", &overloaded())
    })
    .await;
    let error = world.ask(&request()).await.unwrap_err();
    assert_eq!(error.class, Class::Overloaded);
    assert_eq!(
        (error.status, error.message.as_str()),
        (Some(529), "Overloaded")
    );
    assert_eq!(world.asked(), 3);
}

fn hopeless() -> Vec<(Api, &'static str, Value, Class)> {
    let anthropic = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
    let spent = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "Limit", "details": {"error_code": "enforced_spend_limit_reached"}}});
    let openai = |code: &str| json!({"error": {"type": "invalid_request_error", "code": code, "message": "No."}});
    vec![
        (Api::Messages, "429 Too Many Requests", spent, Class::Quota),
        (
            Api::Messages,
            "400 Bad Request",
            anthropic(
                "invalid_request_error",
                "Your credit balance is too low to access the API.",
            ),
            Class::Quota,
        ),
        (
            Api::Messages,
            "400 Bad Request",
            anthropic(
                "invalid_request_error",
                "prompt is too long: 200001 tokens > 200000 maximum",
            ),
            Class::TooLong,
        ),
        (
            Api::Messages,
            "413 Payload Too Large",
            anthropic("request_too_large", "Too large"),
            Class::TooLong,
        ),
        (
            Api::Messages,
            "403 Forbidden",
            anthropic("permission_error", "No."),
            Class::Auth,
        ),
        (
            Api::Chat,
            "429 Too Many Requests",
            openai("insufficient_quota"),
            Class::Quota,
        ),
        (
            Api::Chat,
            "401 Unauthorized",
            openai("invalid_api_key"),
            Class::Auth,
        ),
        (
            Api::Chat,
            "400 Bad Request",
            openai("context_length_exceeded"),
            Class::TooLong,
        ),
        (
            Api::Chat,
            "400 Bad Request",
            openai("content_filter"),
            Class::Filtered,
        ),
        (
            Api::Chat,
            "400 Bad Request",
            openai("unsupported_parameter"),
            Class::BadRequest,
        ),
        (
            Api::Responses,
            "404 Not Found",
            openai("model_not_found"),
            Class::BadRequest,
        ),
        (
            Api::Chat,
            "307 Temporary Redirect",
            json!({}),
            Class::Protocol,
        ),
    ]
}

#[tokio::test]
async fn what_waiting_does_not_mend_is_not_tried_again() {
    for (api, status, body, class) in hopeless() {
        let shown = format!("{api:?} {status} {body}");
        let mut world = World::new(api, move |_| refusal(status, &body)).await;
        let error = world.ask(&request()).await.unwrap_err();
        assert_eq!(error.class, class, "{shown}");
        assert_eq!(world.asked(), 1, "{shown}");
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_left_to_the_caller() {
    let body = json!({"error": {"type": "rate_limit_exceeded", "message": "Later."}});
    let reply = move |_: &server::Seen| {
        let headers = [("Retry-After", "3600")];
        server::answer(
            "429 Too Many Requests",
            &headers,
            body.to_string().as_bytes(),
        )
    };
    let mut world = World::new(Api::Chat, reply).await;
    let error = world.ask(&request()).await.unwrap_err();
    let retry_after = Some(Duration::from_secs(3600));
    assert_eq!(error.class, Class::RateLimited);
    assert_eq!(error.retry_after, retry_after);
    assert_eq!(world.asked(), 1);
}

#[tokio::test]
async fn a_stream_that_breaks_after_words_begins_anew() {
    let api = Api::Messages;
    let replies = vec![
        cut_before(
            api,
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}",
        ),
        events_answer(&events(api)),
    ];
    let mut world = World::in_turn(api, replies).await;
    let turn = world.ask(&streaming()).await.unwrap();
    assert_eq!(turn.text, "Let me add.");
    assert_eq!(world.asked(), 2);
    let again = world
        .told
        .iter()
        .position(|delta| *delta == Delta::Again)
        .unwrap();
    let text: String = world.told[again..]
        .iter()
        .filter_map(|delta| match delta {
            Delta::Text(piece) => Some(piece.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "Let me add.");
}

#[tokio::test]
async fn a_stream_that_breaks_inside_of_a_call_begins_anew() {
    for (api, mark) in [
        (Api::Messages, "event: message_delta"),
        // Its counts would make it whole.
        (
            Api::Chat,
            "data: {\"id\":\"chatcmpl-1\",\"model\":\"some-model-1\",\"choices\":[],",
        ),
        (Api::Responses, "event: response.completed"),
    ] {
        let replies = vec![cut_before(api, mark), events_answer(&events(api))];
        let mut world = World::in_turn(api, replies).await;
        let turn = world.ask(&streaming()).await.unwrap();
        assert_eq!((world.asked(), turn.calls.len()), (2, 1), "{api:?}");
        let again = world.told.iter().position(|it| *it == Delta::Again);
        let (before, after) = world.told.split_at(again.unwrap());
        let begun = |told: &[Delta]| {
            let is_call = |it: &&Delta| matches!(it, Delta::CallStarted { .. });
            told.iter().filter(is_call).count()
        };
        assert_eq!((begun(before), begun(after)), (1, 1), "{api:?}");
    }
}

#[tokio::test]
async fn a_provider_that_took_too_long_is_asked_once_more() {
    let late = || refusal("504 Gateway Timeout", &json!({}));
    let replies = vec![late(), json_answer(&whole(Api::Chat))];
    let mut world = World::in_turn(Api::Chat, replies).await;
    world.ask(&request()).await.unwrap();
    let mut world = World::in_turn(Api::Chat, vec![late(), late()]).await;
    let error = world.ask(&request()).await.unwrap_err();
    assert_eq!((error.class, world.asked()), (Class::Timeout, 2));
}

#[tokio::test]
async fn whoever_is_overloaded_may_say_for_how_long() {
    let reply = |_: &server::Seen| {
        let headers = [("Retry-After", "3600")];
        let body = overloaded().to_string();
        server::answer("529 Site is overloaded", &headers, body.as_bytes())
    };
    let mut world = World::new(Api::Messages, reply).await;
    let error = world.ask(&request()).await.unwrap_err();
    assert_eq!(error.class, Class::Overloaded);
    assert_eq!(error.retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(world.asked(), 1, "an hour is not waited for in here");
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_one() {
    let event = format!("event: error\ndata: {}\n\n", overloaded());
    let events = events(Api::Messages);
    let at = events.find("event: content_block_start").unwrap();
    let broken = format!("{}{event}", &events[..at]);
    let replies = vec![events_answer(&broken), events_answer(&events)];
    let mut world = World::in_turn(Api::Messages, replies).await;
    world.ask(&streaming()).await.unwrap();
    assert_eq!(world.asked(), 2);
    // Nothing had been told, so there is nothing to take back.
    assert!(!world.told.contains(&Delta::Again));

    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "Slow down"}}});
    let broken = format!("event: response.failed\ndata: {failed}\n\n");
    let mut world = World::new(Api::Responses, move |_| events_answer(&broken)).await;
    world.target.tries_max = 1;
    let error = world.ask(&streaming()).await.unwrap_err();
    assert_eq!(error.class, Class::RateLimited);
    assert_eq!((error.status, error.message.as_str()), (None, "Slow down"));
}

#[tokio::test]
async fn a_key_that_comes_back_is_hidden() {
    let body = json!({"error": {"code": "invalid_api_key", "message": format!("Incorrect API key provided: {KEY}.")}});
    let mut world = World::new(Api::Chat, move |_| refusal("401 Unauthorized", &body)).await;
    let error = world.ask(&request()).await.unwrap_err();
    assert_eq!(error.message, "Incorrect API key provided: [hidden].");
    assert!(!format!("{error:?}").contains(KEY));
}
