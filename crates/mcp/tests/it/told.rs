//! What is told of a server that is down, and what of its definition is not.

use crate::world::{World, call, settings, talk};
use mcp::upstream::State;
use serde_json::json;

#[tokio::test]
async fn what_a_program_was_given_is_not_told() {
    let mut world = World::new(settings());
    let script =
        "import os, sys; sys.stderr.write('key is ' + os.environ['KEY'] + '\\n'); sys.exit(3)";
    let secret = "supersecretvalue1234";
    let server = json!({"command": "python3", "args": ["-c", script], "env": {"KEY": secret}});
    world.set(&json!({ "one": server }));
    let one = world.upstreams.get("one").unwrap();
    world.until(&one, |state| *state == State::Failed).await;
    let status = one.status();
    assert_eq!(
        status.cause.as_deref(),
        Some("it ended with exit code 3: key is ***")
    );
    assert!(status.stderr.contains("key is ***"), "{}", status.stderr);
    assert!(!status.stderr.contains(secret), "{}", status.stderr);
    let refused = call(&one, "x", json!({}), talk()).await.unwrap_err();
    assert!(!format!("{refused:?}").contains(secret), "{refused:?}");
    world.upstreams.close().await;
}
