//! Sessions over HTTP that a server does not know any more, and what only sounds like it.

use crate::world::{Fake, World, call, settings, talk, text};
use mcp::upstream::UpstreamError;
use serde_json::json;

#[tokio::test]
async fn a_session_that_is_gone_is_begun_again() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    call(&one, "forget_sessions", json!({}), talk())
        .await
        .unwrap();
    // It did not run the first time, so it may be sent again.
    let result = call(&one, "echo", json!({"text": "a"}), talk())
        .await
        .unwrap();
    assert_eq!((text(&result), fake.count("echo")), ("a", 1));
    world.upstreams.close().await;
    assert_eq!(fake.count("delete"), 1, "and given up in the end");
}

/// Whoever gives our id back has read what was asked, whatever it says of sessions.
#[tokio::test]
async fn an_error_that_speaks_of_a_session_is_an_answer() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    for (tool, says) in [("logged_out", "browser"), ("no_order", "order 17")] {
        let told = call(&one, tool, json!({}), talk()).await.unwrap_err();
        assert!(
            matches!(&told, UpstreamError::Rpc(error)
                if error.code == -32000 && error.message.contains(says)),
            "{told:?}"
        );
        assert_eq!(fake.count(tool), 1, "{tool}");
    }
    let told = call(&one, "close_database", json!({}), talk()).await;
    assert!(matches!(told, Err(UpstreamError::Protocol(_))), "{told:?}");
    assert_eq!(fake.count("close_database"), 1);
    assert_eq!(fake.count("delete"), 0, "and the session goes on");
    world.upstreams.close().await;
}

/// Then it was not about the session, and it may have run.
#[tokio::test]
async fn what_a_new_session_is_told_as_well_counts_as_lost() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    let told = call(&one, "status", json!({"status": 404}), talk()).await;
    assert!(matches!(told, Err(UpstreamError::Lost { .. })), "{told:?}");
    assert_eq!(fake.count("status"), 2);
    world.upstreams.close().await;
}

/// The call is answered and not sent again; the next one must not be answered with the same.
#[tokio::test]
async fn a_server_that_answers_who_has_no_session_is_greeted_again() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    let forget = json!({"answers_strangers": true});
    call(&one, "forget_sessions", forget, talk()).await.unwrap();
    let told = call(&one, "echo", json!({}), talk()).await.unwrap_err();
    assert!(
        matches!(&told, UpstreamError::Rpc(error) if error.code == -32001),
        "{told:?}"
    );
    let result = call(&one, "echo", json!({"text": "a"}), talk()).await;
    assert_eq!((text(&result.unwrap()), fake.count("echo")), ("a", 1));
    world.upstreams.close().await;
}
