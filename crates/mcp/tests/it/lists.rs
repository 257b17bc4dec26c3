//! Lists of servers: how long they may be, and what of them is left out.

use crate::world::{Fake, World, names, settings};
use mcp::upstream::{Settings, State};
use serde_json::json;

#[tokio::test]
async fn what_is_too_long_is_left_out_and_the_rest_is_listed() {
    let mut world = World::new(Settings {
        item_bytes_max: 10_000,
        ..settings()
    });
    for (bytes, listed) in [(9_000, &["long", "short"][..]), (11_000, &["short"][..])] {
        let fake = Fake::new(&world, "legacy");
        let mut server = fake.stdio();
        server["env"]["FAKE_LONG_TOOL"] = json!(bytes.to_string());
        let one = world.one(server).await;
        assert_eq!(names(&one.lists().tools), listed);
    }
    world.upstreams.close().await;
}

/// All pages together: each by itself may be as long as a message.
#[tokio::test]
async fn a_list_that_is_too_long_is_not_taken() {
    let mut world = World::new(Settings {
        list_bytes_max: 10_000,
        ..settings()
    });
    let fake = Fake::new(&world, "legacy");
    let mut server = fake.stdio();
    server["env"]["FAKE_PAGES"] = json!("1");
    server["env"]["FAKE_LONG_TOOL"] = json!("9920");
    world.set(&json!({ "one": server }));
    let one = world.upstreams.get("one").unwrap();
    world.until(&one, |state| *state == State::Degraded).await;
    let cause = one.status().cause.unwrap();
    assert!(cause.contains("more than 10000 bytes"), "{cause}");
    assert!(one.lists().tools.is_empty());
    world.upstreams.close().await;
}

#[tokio::test]
async fn who_says_too_much_before_the_endpoint_is_left() {
    let mut world = World::new(Settings {
        message_bytes_max: 20_000,
        retries: 0,
        ..settings()
    });
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen_sse(&[("FAKE_EARLY", "100")]).await;
    world.set(&json!({"one": {"url": server.url("/sse")}}));
    let one = world.upstreams.get("one").unwrap();
    world.until(&one, |state| *state == State::Failed).await;
    let cause = one.status().cause.unwrap();
    assert!(cause.contains("before it names its endpoint"), "{cause}");
    world.upstreams.close().await;
}

/// Whoever pages through what a server lists must come to an end, and each must be what its name says.
#[tokio::test]
async fn what_is_listed_again_and_again_counts_once() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let mut server = fake.stdio();
    server["env"]["FAKE_DOUBLES"] = json!("1");
    let one = world.one(server).await;
    let lists = one.lists();
    assert_eq!(lists.prompts, [json!({"name": "p", "title": "0"})]);
    let uris: Vec<_> = lists.resources.iter().map(|it| &it["uri"]).collect();
    assert_eq!(uris, ["x://a", "x://b"]);
    assert_eq!(lists.templates.len(), 1);
    world.upstreams.close().await;
}
