//! Providers that hang, go away, say too much or say something else.

use crate::bodies::whole;
use crate::{World, events_answer, json_answer, request, server, streaming};
use providers::{Api, Class};
use serde_json::json;
use server::Reply;
use std::time::Duration;

#[tokio::test]
async fn whoever_hangs_up_closes_the_connection() {
    let world = World::new(Api::Messages, |_| Reply::Hang).await;
    let (client, target) = (world.client.clone(), world.target.clone());
    let asking = tokio::spawn(async move {
        let _ = client.turn(&target, &request(), &mut |_| {}).await;
    });
    world.server.asked.notified().await;
    asking.abort();
    world.server.left.notified().await;
}

#[tokio::test]
async fn a_provider_that_does_not_answer_is_given_up() {
    let mut world = World::new(Api::Messages, |_| Reply::Hang).await;
    world.target.answer_timeout = Duration::from_millis(50);
    let error = world.ask(&request()).await.unwrap_err();
    assert_eq!(error.class, Class::Timeout);
    assert_eq!(world.asked(), 2, "once more, and no oftener");
}

#[tokio::test]
async fn a_stream_that_stalls_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\n: hello\n\n";
    let reply = || Reply::Drip(head.as_bytes().to_vec());
    let mut world = World::new(Api::Chat, move |_| reply()).await;
    world.target.idle_timeout = Duration::from_millis(50);
    let error = world.ask(&streaming()).await.unwrap_err();
    assert_eq!(error.class, Class::Timeout);
    let mut world = World::new(Api::Chat, move |_| reply()).await;
    world.target.total_timeout = Duration::from_millis(50);
    let error = world.ask(&streaming()).await.unwrap_err();
    assert_eq!(error.class, Class::Timeout);
}

#[tokio::test]
async fn what_is_not_there_is_tried_again_and_then_told() {
    let mut world = World::new(Api::Chat, |_| Reply::Hang).await;
    // A port that nobody listens on: bound, and let go.
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    world.target.base_url = format!("http://{free}/v1");
    let error = world.ask(&request()).await.unwrap_err();
    assert_eq!(error.class, Class::Network);
    assert!(error.message.contains(&free.to_string()), "{error}");
}

#[tokio::test]
async fn an_address_that_is_none_is_the_callers_to_mend() {
    let mut world = World::new(Api::Chat, |_| Reply::Hang).await;
    world.target.base_url = "localhost:8080".to_owned();
    let error = world.ask(&request()).await.unwrap_err();
    assert_eq!(error.class, Class::BadRequest);
    // A private address is for operators to choose.
    world.target.base_url = format!("http://{}", world.server.address);
    world.target.trust = fetch::Trust::Guarded;
    let error = world.ask(&request()).await.unwrap_err();
    assert_eq!(error.class, Class::BadRequest);
    assert_eq!(world.asked(), 0);
}

#[tokio::test]
async fn an_answer_has_an_end() {
    let mut long = whole(Api::Chat);
    long["choices"][0]["message"]["content"] = json!("x".repeat(10_000));
    let endless = format!("data: {}", "x".repeat(10_000));
    let replies = vec![json_answer(&long), events_answer(&endless)];
    let mut world = World::in_turn(Api::Chat, replies).await;
    world.target.answer_bytes_max = 5_000;
    for request in [request(), streaming()] {
        let error = world.ask(&request).await.unwrap_err();
        assert_eq!(error.class, Class::Protocol);
        assert!(
            error.message.contains("5000") || error.message.contains("longer"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn what_is_no_answer_of_the_format_is_said_to_be_none() {
    for (api, other) in [
        (Api::Messages, Api::Chat),
        (Api::Chat, Api::Responses),
        (Api::Responses, Api::Messages),
    ] {
        let replies = vec![json_answer(&whole(other)), server::ok("<html>Hello</html>")];
        let mut world = World::in_turn(api, replies).await;
        for _ in 0..2 {
            let error = world.ask(&request()).await.unwrap_err();
            assert_eq!(error.class, Class::Protocol, "{api:?}: {error}");
        }
        assert_eq!(world.asked(), 2);
    }
}
