//! Servers that are defined anew while calls are under way.

use crate::world::{Fake, World, call, settings, talk, text};
use mcp::upstream::State;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn what_has_nothing_to_do_with_the_connection_changes_under_it() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    let waits = tokio::spawn({
        let one = Arc::clone(&one);
        async move { call(&one, "wait", json!({}), talk()).await }
    });
    fake.until("wait", 1).await;
    let mut changed = fake.stdio();
    changed["timeout_seconds"] = json!(7);
    changed["pinning"] = json!("approve");
    changed["x-other"] = json!(true);
    world.set(&json!({ "one": changed }));
    let now = world.upstreams.get("one").unwrap();
    assert!(Arc::ptr_eq(&one, &now));
    assert_eq!(now.config().timeout_seconds, Some(7.0));
    assert!(now.config().pinning.is_some());
    fake.release();
    assert_eq!(text(&waits.await.unwrap().unwrap()), "waited");
    assert_eq!(fake.count("start"), 1);
    world.upstreams.close().await;
}

#[tokio::test]
async fn calls_over_http_come_to_their_end_when_another_takes_its_place() {
    let mut world = World::new(settings());
    for era in ["legacy", "modern"] {
        let fake = Fake::new(&world, era);
        let server = fake.listen().await;
        let url = server.url("/mcp");
        let one = world.one(json!({ "url": url })).await;
        let waits = tokio::spawn(async move { call(&one, "wait", json!({}), talk()).await });
        fake.until("wait", 1).await;
        world.set(&json!({"one": {"url": url, "headers": {"X-New": "1"}}}));
        let now = world.upstreams.get("one").unwrap();
        world.until(&now, |state| *state == State::Connected).await;
        fake.release();
        assert_eq!(text(&waits.await.unwrap().unwrap()), "waited", "{era}");
    }
    world.upstreams.close().await;
}
