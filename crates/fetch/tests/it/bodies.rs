//! What is sent, as the server sees it.

use crate::server::{Server, ok};
use crate::world::{PUBLIC, World, get};
use fetch::{Body, Bytes, Error, Fetcher, HeaderName, HeaderValue, Method, Piece};
use serde_json::json;
use std::sync::Arc;

async fn served() -> (Fetcher, Arc<Server>) {
    let world = World::new();
    let server = Server::start(|_| ok("")).await;
    world.route(PUBLIC, 80, server.address);
    (world.fetcher(""), server)
}

#[tokio::test]
async fn each_body_brings_its_content_type() {
    let (fetcher, server) = served().await;
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    for (body, content_type, text) in [
        (Body::Empty, "", ""),
        (Body::Bytes(Bytes::from_static(b"raw")), "", "raw"),
        (
            Body::Json(json!({"a": [1, "ü"]})),
            "application/json",
            r#"{"a":[1,"ü"]}"#,
        ),
        (
            Body::Form(vec![pair("a b", "c&d=ü"), pair("a b", "")]),
            "application/x-www-form-urlencoded",
            "a+b=c%26d%3D%C3%BC&a+b=",
        ),
    ] {
        let mut request = get(&format!("http://{PUBLIC}/x?y=z"));
        request.method = Method::POST;
        request.body = body;
        fetcher.send(request).await.unwrap();
        let seen = server.last();
        assert_eq!(
            (seen.method.as_str(), seen.target.as_str()),
            ("POST", "/x?y=z")
        );
        assert_eq!(
            seen.headers.get("content-type").map_or("", String::as_str),
            content_type
        );
        assert_eq!(String::from_utf8(seen.body).unwrap(), text);
        assert!(seen.headers["user-agent"].starts_with("toolcrib/"));
        assert_eq!(seen.headers["host"], PUBLIC);
    }
}

#[tokio::test]
async fn a_content_type_of_the_callers_own_stays_unless_there_is_a_boundary() {
    let (fetcher, server) = served().await;
    let own = HeaderValue::from_static("application/vnd.api+json");
    let piece = Piece {
        name: "f".to_owned(),
        file_name: Some("a.txt".to_owned()),
        bytes: Bytes::from_static(b"text"),
        ..Piece::default()
    };
    for (body, expected) in [
        (Body::Json(json!(1)), "application/vnd.api+json"),
        (
            Body::Multipart(vec![piece]),
            "multipart/form-data; boundary=",
        ),
    ] {
        let mut request = get(&format!("http://{PUBLIC}/"));
        request.method = Method::PUT;
        request.headers.insert("content-type", own.clone());
        request.body = body;
        fetcher.send(request).await.unwrap();
        let seen = server.last();
        assert!(
            seen.headers["content-type"].starts_with(expected),
            "{seen:?}"
        );
    }
    let body = String::from_utf8(server.last().body).unwrap();
    assert!(
        body.contains("name=\"f\"; filename=\"a.txt\"\r\n\r\ntext\r\n--toolcrib-"),
        "{body}"
    );
}

#[tokio::test]
async fn headers_that_frame_the_message_are_refused() {
    let (fetcher, server) = served().await;
    for name in [
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Keep-Alive",
        "Upgrade",
        "TE",
        "Trailer",
        "Expect",
        "Proxy-Authorization",
        "Proxy-Connection",
        "Accept-Encoding",
    ] {
        let mut request = get(&format!("http://{PUBLIC}/"));
        let header: HeaderName = name.parse().unwrap();
        request
            .headers
            .insert(header, HeaderValue::from_static("1"));
        let error = fetcher.send(request).await.unwrap_err();
        assert!(
            matches!(error, Error::BadHeader { .. }),
            "{name}: {error:?}"
        );
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn a_head_has_no_body_whatever_its_length() {
    let world = World::new();
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\nContent-Encoding: gzip\r\n\r\n";
    let server = Server::start(|_| crate::server::Reply::Raw(reply.to_vec())).await;
    world.route(PUBLIC, 80, server.address);
    let mut request = get(&format!("http://{PUBLIC}/"));
    request.method = Method::HEAD;
    let answer = world.fetcher("").send(request).await.unwrap();
    assert_eq!(
        (answer.body.len(), &answer.headers["content-length"]),
        (0, &HeaderValue::from_static("99999999"))
    );
}

#[tokio::test]
async fn an_address_that_is_too_long_is_refused() {
    let (fetcher, server) = served().await;
    let error = fetcher
        .send(get(&format!("http://{PUBLIC}/{}", "a".repeat(70_000))))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::BadUrl { .. }), "{error:?}");
    assert_eq!(server.accepted(), 0);
}
