//! Servers that are lost, or that nobody uses: how they are connected again, and who waits for that.

use crate::world::{Fake, LONG, World, call, names, settings, talk, text};
use mcp::upstream::{Settings, State, UpstreamError};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

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

#[tokio::test]
async fn what_nobody_uses_is_closed_until_it_is_needed() {
    let mut world = World::new(Settings {
        idle: Some(Duration::from_millis(200)),
        ..settings()
    });
    let fake = Fake::new(&world, "modern");
    let one = world.one(fake.stdio()).await;
    fake.all_gone().await;
    let tools = one.lists();
    assert_eq!(names(&tools.tools), ["echo", "count", "odd", "bad"]);
    let result = call(&one, "echo", json!({"text": "awake"}), talk())
        .await
        .unwrap();
    assert_eq!(text(&result), "awake");
    assert_eq!(fake.count("start"), 2);
    world.upstreams.close().await;
}

/// Whoever needed it while it was being connected has got it, and is no reason to connect it again later.
#[tokio::test]
async fn what_nobody_uses_stays_closed() {
    let world = World::new(Settings {
        idle: Some(Duration::from_millis(200)),
        ..settings()
    });
    let (early, other) = (Fake::new(&world, "modern"), Fake::new(&world, "modern"));
    world.set(&json!({"early": early.stdio(), "other": other.stdio()}));
    let server = |name: &str| world.upstreams.get(name).unwrap();
    let (early_server, other_server) = (server("early"), server("other"));
    call(&early_server, "echo", json!({}), talk())
        .await
        .unwrap();
    early.all_gone().await;
    // The other one is closed three times meanwhile.
    for starts in 1..=3 {
        call(&other_server, "echo", json!({}), talk())
            .await
            .unwrap();
        other.all_gone().await;
        assert!(other.count("start") >= starts);
    }
    assert_eq!(early.count("start"), 1);
    world.upstreams.close().await;
}

/// Over HTTP nothing runs for us meanwhile, and whoever follows a resource would miss what becomes of it.
#[tokio::test]
async fn only_programs_are_closed_and_only_those_that_nobody_follows() {
    let mut world = World::new(Settings {
        idle: Some(Duration::from_millis(200)),
        ..settings()
    });
    let fakes = [(); 3].map(|()| Fake::new(&world, "modern"));
    let [followed, remote, rests] = &fakes;
    let listening = remote.listen().await;
    world.set(&json!({
        "followed": followed.stdio(), "remote": {"url": listening.url("/mcp")}, "rests": rests.stdio(),
    }));
    let server = |name: &str| world.upstreams.get(name).unwrap();
    let [a, b, c] = ["followed", "remote", "rests"].map(server);
    a.watch(BTreeSet::from(["x://a".to_owned()]));
    for one in [&a, &b] {
        world.until(one, |state| *state == State::Connected).await;
    }
    for _ in 0..3 {
        call(&c, "echo", json!({}), talk()).await.unwrap();
        rests.all_gone().await;
    }
    for one in [&a, &b] {
        assert_eq!(one.status().cause, None, "{}", one.name());
    }
    assert_eq!(followed.count("start"), 1);
    world.upstreams.close().await;
}
