//! Servers that are lost, or that nobody uses: how they are connected again, and who waits for that.

use crate::world::{Fake, LONG, World, call, settings, talk, text};
use mcp::upstream::{Settings, State, UpstreamError};
use serde_json::json;
use std::time::Instant;

/// Two tries to connect it again fail, and the third does not.
#[tokio::test]
async fn a_call_waits_for_all_tries_to_connect_again() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let mut server = fake.stdio();
    server["env"]["FAKE_BREAK"] = json!("crash-2-to-5");
    let one = world.one(server).await;
    call(&one, "die", json!({}), talk()).await.unwrap_err();
    let asked = || call(&one, "echo", json!({"text": "back"}), talk());
    let (a, b) = tokio::join!(asked(), asked());
    for result in [a, b] {
        assert_eq!(text(&result.unwrap()), "back");
    }
    assert_eq!(fake.count("start"), 6, "and all who wait share them");
    world.upstreams.close().await;
}

/// Nothing was sent, so nothing ran: that must not be told as a deadline that passed meanwhile.
#[tokio::test]
async fn whoever_cannot_wait_for_a_connection_is_told_that_nothing_ran() {
    let mut world = World::new(Settings {
        backoff_base: LONG,
        backoff_max: LONG,
        ..settings()
    });
    let fake = Fake::new(&world, "legacy");
    let mut server = fake.stdio();
    server["env"]["FAKE_BREAK"] = json!("crash");
    world.set(&json!({ "one": server }));
    let one = world.upstreams.get("one").unwrap();
    world
        .until(&one, |state| matches!(state, State::Reconnecting { .. }))
        .await;
    let mut short = talk();
    short.connect_by = Some(Instant::now());
    let refused = call(&one, "echo", json!({}), short).await.unwrap_err();
    assert!(
        matches!(&refused, UpstreamError::Unavailable { cause, .. } if cause.contains("in time")),
        "{refused:?}"
    );
    world.upstreams.close().await;
}
