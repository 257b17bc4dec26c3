//! Servers that others wrote.

use crate::world::{World, call, names, program, settings, talk, text};
use mcp::upstream::{State, UpstreamError};
use mcp::wire::Era;
use serde_json::json;

#[tokio::test]
async fn everything_over_stdio() {
    let mut world = World::new(settings());
    let server = json!({"command": program("npm/node_modules/.bin/mcp-server-everything"), "args": ["stdio"]});
    let one = world.one(server).await;
    let status = one.status();
    assert_eq!(status.era, Some(Era::Legacy), "{status:?}");
    assert!(status.pid.is_some() && status.server_info.is_some());
    let lists = one.lists();
    assert!(
        names(&lists.tools).contains(&"echo"),
        "{:?}",
        names(&lists.tools)
    );
    assert!(!lists.resources.is_empty() && !lists.prompts.is_empty());
    let result = call(&one, "echo", json!({"message": "hé"}), talk())
        .await
        .unwrap();
    assert_eq!(text(&result), "Echo: hé");
    let error = one.request("no/such", Default::default(), talk()).await;
    assert!(matches!(error, Err(UpstreamError::Rpc(error)) if error.code == -32601));
    world.upstreams.close().await;
}

#[tokio::test]
async fn a_modern_python_server_over_stdio() {
    let mut world = World::new(settings());
    let server =
        json!({"command": program("py/bin/mcp-server-time"), "args": ["--local-timezone=UTC"]});
    let one = world.one(server).await;
    let status = one.status();
    assert_eq!(status.era, Some(Era::Modern), "{status:?}");
    assert_eq!(status.state, State::Connected);
    assert_eq!(names(&one.lists().tools).len(), 2);
    let result = call(&one, "get_current_time", json!({"timezone": "UTC"}), talk()).await;
    assert!(text(&result.unwrap()).contains("UTC"));
    world.upstreams.close().await;
}
