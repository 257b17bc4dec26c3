//! After much trouble, nothing is left of it: no descriptor, no task, no process. Alone in its program, because it
//! counts what all of it has.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

#[path = "it/world.rs"]
#[expect(dead_code, reason = "the other tests need the rest of it")]
mod world;

use mcp::upstream::{Talk, Upstream};
use serde_json::json;
use std::time::{Duration, Instant};
use world::{Fake, World, call, settings};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn tasks() -> usize {
    tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
}

fn short() -> Talk {
    Talk::until(Instant::now() + Duration::from_millis(20))
}

/// One of everything that can go wrong.
async fn trouble(one: &Upstream, tools: &[&str]) {
    for tool in tools {
        let arguments = json!({"bytes": 100_000, "status": 502, "method": "elicitation/create"});
        let _ = call(one, tool, arguments.clone(), short()).await;
        // And one that is simply dropped.
        let dropped = call(one, tool, arguments, world::talk());
        let _ = tokio::time::timeout(Duration::from_millis(1), dropped).await;
    }
}

async fn settles(what: &str, now: impl Fn() -> usize, most: usize) {
    let began = Instant::now();
    while now() > most {
        assert!(
            began.elapsed() < world::LONG,
            "{what}: {} instead of {most}",
            now()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn nothing_is_left_of_trouble() {
    let mut world = World::new(settings());
    let (pipe, old, new) = (
        Fake::new(&world, "legacy"),
        Fake::new(&world, "legacy"),
        Fake::new(&world, "modern"),
    );
    let (old_server, new_server) = (old.listen().await, new.listen().await);
    // The thread that starts programs, and what the runtime keeps, come with the first use.
    world.one(pipe.stdio()).await;
    world.set(&json!({}));
    pipe.all_gone().await;
    settles("tasks", tasks, 0).await;
    let before = descriptors();
    for _ in 0..5 {
        world.set(&json!({
            "pipe": pipe.stdio(),
            "old": {"url": old_server.url("/mcp")},
            "new": {"url": new_server.url("/mcp")},
        }));
        for (name, tools) in [
            (
                "pipe",
                &["die", "half", "hang", "noise", "big", "ask", "flood"][..],
            ),
            (
                "old",
                &[
                    "cut",
                    "hang",
                    "status",
                    "ask",
                    "big",
                    "resume",
                    "forget_sessions",
                ],
            ),
            ("new", &["cut", "hang", "status", "ask", "big", "endless"]),
        ] {
            let one = world.upstreams.get(name).unwrap();
            call(&one, "echo", json!({}), world::talk()).await.unwrap();
            trouble(&one, tools).await;
        }
        world.set(&json!({}));
    }
    world.upstreams.close().await;
    pipe.all_gone().await;
    settles("tasks", tasks, 0).await;
    // Idle connections to servers that are still there may be kept for a while.
    settles("descriptors", descriptors, before + 16).await;
    drop((old_server, new_server));
    settles("descriptors", descriptors, before).await;
}
