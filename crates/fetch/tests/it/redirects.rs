//! Following redirects: how often, with what, and what stays behind.

use crate::server::{Server, ok, to};
use crate::world::{PUBLIC, World, fetched, get};
use fetch::{Body, Bytes, Error, HeaderValue, Method};
use std::sync::Arc;

/// `/n` leads to `/n-1`, until `/0`.
async fn countdown() -> (Arc<World>, Arc<Server>) {
    let server = Server::start(|seen| match seen.target[1..].parse::<u32>() {
        Ok(0) | Err(_) => ok("there"),
        Ok(n) => to("302 Found", &format!("/{}", n - 1)),
    })
    .await;
    let world = World::new();
    world.route(PUBLIC, 80, server.address);
    (world, server)
}

#[tokio::test]
async fn five_are_followed_and_six_are_not() {
    let (world, server) = countdown().await;
    let fetcher = world.fetcher("");
    let answer = fetched(&fetcher, &format!("http://{PUBLIC}/5"))
        .await
        .unwrap();
    assert_eq!(
        (answer.body.as_ref(), answer.url.path()),
        (b"there".as_ref(), "/0")
    );
    assert_eq!(server.seen().len(), 6);
    let error = fetched(&fetcher, &format!("http://{PUBLIC}/6"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::TooManyRedirects { max: 5, .. }),
        "{error:?}"
    );
    assert_eq!(server.seen().len(), 12);
    assert_eq!(server.accepted(), 1, "one connection does for all");
}

#[tokio::test]
async fn where_none_are_followed_the_redirect_is_the_answer() {
    let (world, server) = countdown().await;
    let mut request = get(&format!("http://{PUBLIC}/3"));
    request.limits.redirects_max = 0;
    let answer = world.fetcher("").send(request).await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), &answer.headers["location"]),
        (302, &HeaderValue::from_static("/2"))
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn credentials_do_not_go_along_to_another_host() {
    let world = World::new();
    let other = Server::start(|_| ok("other")).await;
    let first = Server::start(|seen| match seen.target.as_str() {
        "/same" => to("307 x", "/away"),
        _ => to("307 x", "http://other.example/"),
    })
    .await;
    world.name("first.example", &[&["93.184.216.1"]]);
    world.name("other.example", &[&["93.184.216.2"]]);
    world.route("93.184.216.1", 80, first.address);
    world.route("93.184.216.2", 80, other.address);
    let mut request = get("http://first.example/same");
    let mut secret = HeaderValue::from_static("hunter2");
    secret.set_sensitive(true);
    request.method = Method::POST;
    request.body = Body::Bytes(Bytes::from_static(b"hello"));
    request.headers.insert("x-api-key", secret);
    request
        .headers
        .insert("authorization", HeaderValue::from_static("Bearer hunter2"));
    request
        .headers
        .insert("cookie", HeaderValue::from_static("s=hunter2"));
    request
        .headers
        .insert("x-plain", HeaderValue::from_static("yes"));
    let answer = world.fetcher("").send(request).await.unwrap();
    assert_eq!(answer.body, "other");
    for seen in first.seen() {
        assert_eq!(seen.headers["x-api-key"], "hunter2");
        assert_eq!(seen.headers["authorization"], "Bearer hunter2");
        assert_eq!(seen.headers["cookie"], "s=hunter2");
    }
    assert_eq!(first.seen().len(), 2, "the same host keeps them");
    let seen = other.last();
    assert!(!format!("{seen:?}").contains("hunter2"), "{seen:?}");
    assert_eq!(
        (seen.method.as_str(), seen.headers["x-plain"].as_str()),
        ("POST", "yes")
    );
    assert_eq!(
        (seen.headers["host"].as_str(), seen.body.as_slice()),
        ("other.example", b"hello".as_ref())
    );
}

#[tokio::test]
async fn a_post_becomes_a_get_without_its_body() {
    let world = World::new();
    let server = Server::start(|seen| match seen.target.as_str() {
        "/" => to("303 See Other", "/done"),
        _ => ok("done"),
    })
    .await;
    world.route(PUBLIC, 80, server.address);
    let mut request = get(&format!("http://{PUBLIC}/"));
    request.method = Method::POST;
    request.body = Body::Json(serde_json::json!({"a": 1}));
    world.fetcher("").send(request).await.unwrap();
    let [posted, got] = server.seen().try_into().unwrap();
    assert_eq!(
        (
            posted.method.as_str(),
            posted.headers["content-type"].as_str()
        ),
        ("POST", "application/json")
    );
    assert_eq!((got.method.as_str(), got.body.len()), ("GET", 0));
    assert!(!got.headers.contains_key("content-type"));
}
