//! Streams of servers over HTTP that break off: what is heard again, and what happened meanwhile.

use crate::world::{Fake, LONG, World, call, names, settings, talk, text};
use mcp::upstream::Upstream;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_again() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    let result = call(&one, "resume", json!({}), talk()).await.unwrap();
    assert_eq!(text(&result), "resumed");
    assert_eq!((fake.count("resume"), fake.count("resumed")), (1, 1));
    world.upstreams.close().await;
}

/// However short the pause is that it asks for, and also where it asks only once.
#[tokio::test]
async fn a_stream_that_breaks_off_again_and_again_is_not_asked_for_without_a_pause() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    for (retry, breaks, least) in [(0, 4, 400), (700, 2, 1400)] {
        let began = Instant::now();
        let arguments = json!({"retry": retry, "breaks": breaks});
        let result = call(&one, "resume", arguments, talk()).await.unwrap();
        assert_eq!(text(&result), "resumed");
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(least), "{retry}: {took:?}");
    }
    assert_eq!((fake.count("resume"), fake.count("resumed")), (2, 6));
    world.upstreams.close().await;
}

#[tokio::test]
async fn a_stream_that_was_there_is_asked_for_again() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    fake.until("stream", 1).await;
    let refusals = json!({"refusals": [503, 500]});
    call(&one, "end_streams", refusals, talk()).await.unwrap();
    fake.until("stream", 2).await;
    assert_eq!(fake.count("stream refused"), 2);
    call(&one, "grow", json!({}), talk()).await.unwrap();
    grown(&mut world, &one).await;
    world.upstreams.close().await;
}

/// Waits until a tool is listed that was not there before.
async fn grown(world: &mut World, one: &Upstream) {
    let grown = async {
        while !names(&one.lists().tools).contains(&"grown0") {
            world.notices.recv().await.unwrap();
        }
    };
    let grown = tokio::time::timeout(LONG, grown).await;
    grown.expect("it is listed");
}

/// Where nothing tells of a change while there is no stream, the next one is a reason to look.
#[tokio::test]
async fn what_changed_without_a_stream_is_seen_when_there_is_one_again() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    fake.until("stream", 1).await;
    let quietly = json!({"times": 0});
    call(&one, "grow", quietly, talk()).await.unwrap();
    let refusals = json!({"refusals": [503]});
    call(&one, "end_streams", refusals, talk()).await.unwrap();
    grown(&mut world, &one).await;
    world.upstreams.close().await;
}

/// A modern server needs another stream for other resources, and between the two nobody hears it.
#[tokio::test]
async fn what_changed_between_two_streams_is_seen() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "modern");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    fake.until("listens", 1).await;
    let quietly = json!({"times": 0});
    call(&one, "grow", quietly, talk()).await.unwrap();
    one.watch(BTreeSet::from(["x://a".to_owned()]));
    grown(&mut world, &one).await;
    world.upstreams.close().await;
}
