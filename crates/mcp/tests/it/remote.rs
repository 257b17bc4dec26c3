//! What servers over HTTP do wrong, in both eras.

use crate::world::{Fake, World, call, names, settings, talk, text};
use mcp::upstream::{Settings, State, UpstreamError};
use serde_json::json;
use std::time::{Duration, Instant};

const ERAS: [&str; 2] = ["legacy", "modern"];

#[tokio::test]
async fn answers_that_are_none_are_told_apart() {
    let mut world = World::new(settings());
    for era in ERAS {
        let fake = Fake::new(&world, era);
        let server = fake.listen().await;
        let one = world.one(json!({"url": server.url("/mcp")})).await;
        let status = async |status: u16| {
            let arguments = json!({ "status": status });
            call(&one, "status", arguments, talk()).await.unwrap_err()
        };
        let busy = status(429).await;
        let retry = Some(Duration::from_secs(7));
        assert!(
            matches!(&busy, UpstreamError::Unavailable { retry_after, .. } if *retry_after == retry),
            "{busy:?}"
        );
        // Not for this call; the others go on.
        let forbidden = status(403).await;
        assert!(
            matches!(forbidden, UpstreamError::AuthRequired { .. }),
            "{forbidden:?}"
        );
        assert_eq!(one.status().state, State::Connected);
        // It may have run, so it is not sent again.
        let broken = status(502).await;
        assert!(matches!(broken, UpstreamError::Lost { .. }), "{broken:?}");
        assert!(matches!(status(415).await, UpstreamError::Protocol(_)));
        assert_eq!(fake.count("status"), 4);
        let led = call(&one, "redirect", json!({}), talk()).await.unwrap_err();
        assert!(
            matches!(&led, UpstreamError::Protocol(why) if why.contains("/elsewhere; give that address")),
            "nothing is followed: {led:?}"
        );
        let away = json!({"to": "https://example.com/elsewhere"});
        let led = call(&one, "redirect", away, talk()).await.unwrap_err();
        assert!(
            matches!(&led, UpstreamError::Protocol(why) if !why.contains("elsewhere")),
            "and nobody is sent to a stranger: {led:?}"
        );
        let cut = call(&one, "cut", json!({}), talk()).await.unwrap_err();
        assert!(matches!(cut, UpstreamError::Lost { .. }), "{cut:?}");
        assert_eq!(fake.count("cut"), 1);
        let mut again = talk();
        again.may_repeat = true;
        let cut = call(&one, "cut", json!({}), again).await.unwrap_err();
        assert!(matches!(cut, UpstreamError::Lost { .. }), "{cut:?}");
        assert_eq!(fake.count("cut"), 3, "and once more where it may");
        let result = call(&one, "echo", json!({"text": era}), talk())
            .await
            .unwrap();
        assert_eq!((text(&result), &result["x-result"]), (era, &json!(1)));
    }
    world.upstreams.close().await;
}

#[tokio::test]
async fn a_modern_request_says_in_headers_what_it_is() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "modern");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    assert_eq!(
        names(&one.lists().tools),
        ["echo", "count", "odd"],
        "and not the bad one"
    );
    // The server refuses what its headers do not say as well.
    let arguments = json!({"text": "x", "where": "here"});
    let result = call(&one, "echo", arguments.clone(), talk()).await.unwrap();
    assert_eq!(text(&result), "x");
    // What it wants there may change without a word.
    call(&one, "remark", json!({}), talk()).await.unwrap();
    let result = call(&one, "echo", arguments, talk()).await.unwrap();
    assert_eq!((text(&result), fake.count("echo")), ("x", 2));
    world.upstreams.close().await;
}

#[tokio::test]
async fn credentials_that_are_not_enough_are_not_tried_again_and_again() {
    let mut world = World::new(settings());
    for era in ERAS {
        let fake = Fake::new(&world, era);
        let server = fake.listen_with(&[("FAKE_TOKEN", "secret")]).await;
        world.set(&json!({"one": {"url": server.url("/mcp")}}));
        let one = world.upstreams.get("one").unwrap();
        world
            .until(&one, |state| *state == State::AuthRequired)
            .await;
        let tries = fake.count("refused");
        let refused = call(&one, "echo", json!({}), talk()).await.unwrap_err();
        assert_eq!(fake.count("refused"), tries);
        let challenge = r#"Bearer resource_metadata="https://x.example/meta""#.to_owned();
        let UpstreamError::AuthRequired {
            challenge: told,
            remedy,
        } = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!(told, Some(challenge));
        assert!(remedy.contains("\"auth\": \"oauth\""), "{remedy}");
        let headers = json!({"Authorization": "Bearer secret"});
        let one = world
            .one(json!({"url": server.url("/mcp"), "headers": headers}))
            .await;
        call(&one, "echo", json!({}), talk()).await.unwrap();
    }
    world.upstreams.close().await;
}

#[tokio::test]
async fn a_server_that_is_down_is_found_again() {
    let mut world = World::new(Settings {
        retries: 0,
        ..settings()
    });
    for era in ERAS {
        let fake = Fake::new(&world, era);
        let server = fake.listen().await;
        let port = server.port;
        let one = world.one(json!({"url": server.url("/mcp")})).await;
        drop(server);
        let began = Instant::now();
        let down = loop {
            match call(&one, "echo", json!({}), talk()).await {
                // It has not ended yet.
                Ok(_) | Err(UpstreamError::Lost { .. }) => {}
                Err(down) => break down,
            }
            assert!(began.elapsed() < crate::world::LONG);
        };
        assert!(
            matches!(down, UpstreamError::Unavailable { .. }),
            "{down:?}"
        );
        assert_eq!(
            names(&one.lists().tools)[0],
            "echo",
            "what it had is still known"
        );
        let _server = fake.listen_at(port).await;
        let result = call(&one, "echo", json!({"text": "back"}), talk())
            .await
            .unwrap();
        assert_eq!(text(&result), "back");
    }
    world.upstreams.close().await;
}

#[tokio::test]
async fn whoever_leaves_is_noticed() {
    let mut world = World::new(settings());
    for era in ERAS {
        let fake = Fake::new(&world, era);
        let server = fake.listen().await;
        let one = world.one(json!({"url": server.url("/mcp")})).await;
        let mut short = talk();
        short.deadline = Some(Instant::now() + Duration::from_millis(300));
        let late = call(&one, "hang", json!({}), short).await.unwrap_err();
        assert_eq!(late, UpstreamError::Late);
        fake.until("hang cancelled", 1).await;
    }
    world.upstreams.close().await;
}

#[tokio::test]
async fn lists_change_over_http() {
    let mut world = World::new(settings());
    for era in ERAS {
        let fake = Fake::new(&world, era);
        let server = fake.listen().await;
        let one = world.one(json!({"url": server.url("/mcp")})).await;
        let grown = async {
            // The stream for notifications may not be there yet at the first.
            while !names(&one.lists().tools).contains(&"grown0") {
                call(&one, "grow", json!({}), talk()).await.unwrap();
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(crate::world::LONG, grown)
            .await
            .unwrap();
    }
    world.upstreams.close().await;
}

/// Streams that end are read to their end, so that the next call need not connect anew.
#[tokio::test]
async fn connections_are_used_again() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    let before = fake.count("connection");
    for n in 1..=20 {
        let arguments = json!({"method": "roots/list"});
        call(&one, "ask", arguments, talk()).await.unwrap();
        fake.until("stream ended", n).await;
    }
    let opened = fake.count("connection") - before;
    assert!(opened < 10, "{opened} connections");
    world.upstreams.close().await;
}

#[tokio::test]
async fn the_oldest_transport_has_one_stream_for_all() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen_sse(&[]).await;
    let one = world.one(json!({"url": server.url("/sse")})).await;
    let result = call(&one, "echo", json!({"text": "a"}), talk())
        .await
        .unwrap();
    assert_eq!(text(&result), "a");
    let mut short = talk();
    short.deadline = Some(Instant::now() + Duration::from_millis(300));
    let late = call(&one, "hang", json!({}), short).await.unwrap_err();
    assert_eq!(late, UpstreamError::Late);
    fake.until("hang cancelled", 1).await;
    let (hang, cut) = tokio::join!(call(&one, "hang", json!({}), talk()), async {
        fake.until("hang", 2).await;
        call(&one, "cut", json!({}), talk()).await
    });
    for lost in [hang, cut] {
        assert!(matches!(lost, Err(UpstreamError::Lost { .. })), "{lost:?}");
    }
    let result = call(&one, "echo", json!({"text": "b"}), talk())
        .await
        .unwrap();
    assert_eq!((text(&result), fake.count("cut")), ("b", 1));
    world.upstreams.close().await;
}

/// The stream may live on; without its session nothing more comes on it.
#[tokio::test]
async fn calls_are_lost_with_the_session_of_the_oldest_transport() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen_sse(&[]).await;
    let one = world.one(json!({"url": server.url("/sse")})).await;
    let began = Instant::now();
    let (hang, unknown) = tokio::join!(call(&one, "hang", json!({}), talk()), async {
        fake.until("hang", 1).await;
        call(&one, "unknown", json!({}), talk()).await
    });
    assert!(matches!(hang, Err(UpstreamError::Lost { .. })), "{hang:?}");
    assert!(unknown.is_err(), "{unknown:?}");
    // Its own deadline comes a minute later.
    let took = began.elapsed();
    assert!(took < crate::world::LONG / 2, "{took:?}");
    world.upstreams.close().await;
}

/// What we say is for the server that was named, and for no other.
#[tokio::test]
async fn an_endpoint_elsewhere_is_not_spoken_to() {
    let mut world = World::new(Settings {
        retries: 0,
        ..settings()
    });
    let fake = Fake::new(&world, "legacy");
    let elsewhere = "http://127.0.0.1:9/message";
    let server = fake.listen_sse(&[("FAKE_ENDPOINT", elsewhere)]).await;
    world.set(&json!({"one": {"url": server.url("/sse")}}));
    let one = world.upstreams.get("one").unwrap();
    world.until(&one, |state| *state == State::Failed).await;
    let cause = one.status().cause.unwrap();
    assert!(cause.contains("is at another server"), "{cause}");
    world.upstreams.close().await;
}

/// A server that answers whatever is asked with the same words.
async fn always(head: &'static str, body: &'static str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut asked = [0; 8192];
                let _ = stream.read(&mut asked).await;
                let length = body.len();
                let text = format!(
                    "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                let _ = stream.write_all(text.as_bytes()).await;
            });
        }
    });
    url
}

#[tokio::test]
async fn an_address_where_no_server_is_is_told_for_what_it_is() {
    let head = "200 OK\r\ncontent-type: text/html; charset=utf-8";
    let page = always(head, "<html></html>").await;
    let nothing = always("404 Not Found", "").await;
    let mut world = World::new(Settings {
        retries: 0,
        ..settings()
    });
    world.set(&json!({
        "page": {"url": page}, "sse": {"url": page, "transport": "sse"}, "nothing": {"url": nothing},
        "lacks": {"url": page, "headers": {"K": "${NO_SUCH_VARIABLE}"}},
    }));
    for (name, why) in [
        ("page", "there is a web page (HTML) at its address"),
        ("sse", "there is a web page (HTML) at its address"),
        (
            "nothing",
            "there is no MCP server at its address (HTTP 404)",
        ),
        ("lacks", "NO_SUCH_VARIABLE is not set"),
    ] {
        let one = world.upstreams.get(name).unwrap();
        world.until(&one, |state| *state == State::Failed).await;
        let cause = one.status().cause.unwrap_or_default();
        assert!(cause.contains(why), "{name}: {cause}");
    }
    let one = world.upstreams.get("lacks").unwrap();
    let refused = call(&one, "echo", json!({}), talk()).await.unwrap_err();
    assert!(
        matches!(&refused, UpstreamError::Unavailable { cause, .. } if cause.contains("NO_SUCH_VARIABLE")),
        "{refused:?}"
    );
    world.upstreams.close().await;
}
