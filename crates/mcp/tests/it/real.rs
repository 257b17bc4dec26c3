//! Servers that others wrote, over every transport they have.

use crate::world::{
    Listening, World, call, names, program, script, settings, talk, talk_with, text,
};
use mcp::upstream::{Params, Saying, State, Talk, Upstream, UpstreamError};
use mcp::wire::Era;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

fn everything() -> String {
    program("npm/node_modules/.bin/mcp-server-everything")
}

fn python() -> String {
    program("py/bin/python")
}

/// What holds of server-everything, however it is reached.
async fn is_everything(one: &Upstream) {
    let status = one.status();
    assert_eq!(status.era, Some(Era::Legacy), "{status:?}");
    assert_eq!(status.protocol_version.as_deref(), Some("2025-11-25"));
    let lists = one.lists();
    assert!(
        names(&lists.tools).contains(&"echo"),
        "{:?}",
        names(&lists.tools)
    );
    assert!(!lists.resources.is_empty() && !lists.templates.is_empty());
    assert!(!lists.prompts.is_empty());
    let result = call(one, "echo", json!({"message": "hé"}), talk()).await;
    assert_eq!(text(&result.unwrap()), "Echo: hé");
    let error = one
        .request("no/such", Params::Of(&Map::new()), talk())
        .await;
    assert!(matches!(error, Err(UpstreamError::Rpc(error)) if error.code == -32601));
    let (talk, mut said) = talk_with(json!({}));
    let long = json!({"duration": 0.3, "steps": 3});
    let result = call(one, "trigger-long-running-operation", long, talk).await;
    assert!(text(&result.unwrap()).contains("completed"));
    let mut steps = Vec::new();
    while let Some(saying) = said.recv().await {
        if let Saying::Progress {
            progress, total, ..
        } = saying
        {
            steps.push((progress, total));
        }
    }
    // The last may come after the answer.
    assert_eq!(steps[..2], [(1.0, Some(3.0)), (2.0, Some(3.0))]);
    let uri = lists.resources[0]["uri"].clone();
    let params = json!({ "uri": uri }).as_object().unwrap().clone();
    let read = one
        .request("resources/read", Params::Of(&params), crate::world::talk())
        .await;
    let read: Value = serde_json::from_str(read.unwrap().get()).unwrap();
    assert_eq!(read["contents"][0]["uri"], uri);
}

#[tokio::test]
async fn everything_over_stdio() {
    let mut world = World::new(settings());
    let one = world
        .one(json!({"command": everything(), "args": ["stdio"]}))
        .await;
    assert!(one.status().pid.is_some() && one.status().server_info.is_some());
    is_everything(&one).await;
    world.upstreams.close().await;
}

#[tokio::test]
async fn everything_over_http() {
    let server = Listening::start(&everything(), &["streamableHttp"]).await;
    let mut world = World::new(settings());
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    is_everything(&one).await;
    world.upstreams.close().await;
}

#[tokio::test]
async fn everything_over_sse() {
    let server = Listening::start(&everything(), &["sse"]).await;
    let mut world = World::new(settings());
    let one = world.one(json!({"url": server.url("/sse")})).await;
    is_everything(&one).await;
    // Said to be of the newer transport, it is found out.
    let one = world
        .one(json!({"url": server.url("/sse"), "transport": "http"}))
        .await;
    is_everything(&one).await;
    world.upstreams.close().await;
}

/// What holds of the server on the Python SDK, however it is reached and in whichever era.
async fn is_sdk(world: &mut World, one: &Upstream, era: Era) {
    let status = one.status();
    assert_eq!(status.era, Some(era), "{status:?}");
    let lists = one.lists();
    assert_eq!(
        names(&lists.tools),
        ["echo", "paint", "count_to", "hang", "grow", "touch"]
    );
    assert_eq!((lists.resources.len(), lists.prompts.len()), (1, 1));
    let result = call(one, "echo", json!({"text": "hé"}), talk()).await;
    assert_eq!(text(&result.unwrap()), "hé");
    let (talk, mut said) = talk_with(json!({}));
    let result = call(one, "count_to", json!({"n": 3}), talk).await;
    assert_eq!(text(&result.unwrap()), "done");
    let first = said.recv().await.unwrap();
    assert!(
        matches!(&first, Saying::Progress { progress, message: Some(message), .. }
            if *progress == 1.0 && message == "at 1"),
        "{first:?}"
    );
    asks(one).await;
    cancels(world, one).await;
}

/// A tool that asks a person.
async fn asks(one: &Upstream) {
    let (talk, mut said) = talk_with(json!({"elicitation": {"form": {}}}));
    let person = async {
        while let Some(saying) = said.recv().await {
            if let Saying::Ask {
                method,
                params,
                reply,
            } = saying
            {
                assert_eq!(method, "elicitation/create");
                assert_eq!(params["message"], "Which color?");
                let _ = reply.send(Ok(json!({"action": "accept", "content": {"color": "red"}})));
            }
        }
    };
    let (result, ()) = tokio::join!(call(one, "paint", json!({}), talk), person);
    assert_eq!(text(&result.unwrap()), "painted red");
}

/// A call that nobody waits for any more.
async fn cancels(world: &mut World, one: &Upstream) {
    let note = world.folder.path().join("note");
    let _ = std::fs::remove_file(&note);
    let (talk, mut said) = talk_with(json!({}));
    let cancel = CancellationToken::new();
    let talk = Talk {
        cancel: Some(cancel.clone()),
        ..talk
    };
    let stop = async {
        // It has begun when it says so.
        assert!(matches!(said.recv().await, Some(Saying::Progress { .. })));
        cancel.cancel();
    };
    let arguments = json!({ "note": note });
    let (result, ()) = tokio::join!(call(one, "hang", arguments, talk), stop);
    assert_eq!(result.unwrap_err(), UpstreamError::Cancelled);
    let noted = async {
        while std::fs::read_to_string(&note).unwrap() != "began\ncancelled\n" {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let noted = tokio::time::timeout(crate::world::LONG, noted).await;
    noted.expect("the server was not told");
}

/// A tool that is added, seen by whoever listens.
async fn grows(world: &mut World, one: &Upstream) {
    let before = one.lists();
    call(one, "grow", json!({}), talk()).await.unwrap();
    world
        .notice(|notice| matches!(notice, mcp::upstream::Notice::Lists(_)))
        .await;
    let after = one.lists();
    assert_eq!(after.tools.len(), before.tools.len() + 1);
    assert_eq!(names(&after.tools).last(), Some(&"grown"));
}

/// A resource that is watched, until it is not.
async fn watches(world: &mut World, one: &Upstream) {
    let uri = "test://one";
    one.watch(std::iter::once(uri.to_owned()).collect());
    let updated = |notice: &mcp::upstream::Notice| matches!(notice, mcp::upstream::Notice::ResourceUpdated { uri, .. } if uri == "test://one");
    let touches = async {
        // From when on the server looks, it does not say.
        loop {
            call(one, "touch", json!({ "uri": uri }), talk())
                .await
                .unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        () = touches => {}
        () = world.notice(updated) => {}
    }
}

#[tokio::test]
async fn the_python_sdk_over_stdio() {
    let mut world = World::new(settings());
    let one = world
        .one(json!({"command": python(), "args": [script("sdk.py"), "stdio"]}))
        .await;
    is_sdk(&mut world, &one, Era::Modern).await;
    grows(&mut world, &one).await;
    watches(&mut world, &one).await;
    world.upstreams.close().await;
}

#[tokio::test]
async fn the_python_sdk_over_http() {
    let args = [&script("sdk.py"), "streamable-http", "PORT"];
    let server = Listening::start(&python(), &args).await;
    let mut world = World::new(settings());
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    is_sdk(&mut world, &one, Era::Modern).await;
    grows(&mut world, &one).await;
    watches(&mut world, &one).await;
    world.upstreams.close().await;
}

#[tokio::test]
async fn the_python_sdk_over_sse() {
    let server = Listening::start(&python(), &[&script("sdk.py"), "sse", "PORT"]).await;
    let mut world = World::new(settings());
    let one = world.one(json!({"url": server.url("/sse")})).await;
    is_sdk(&mut world, &one, Era::Legacy).await;
    world.upstreams.close().await;
}

/// Several at once in one file, each with its own era, transport and language.
#[tokio::test]
async fn all_at_once() {
    let mut world = World::new(settings());
    let folder = world.folder.path().to_owned();
    world.set(&json!({
        "time": {"command": program("py/bin/mcp-server-time"), "args": ["--local-timezone=UTC"]},
        "memory": {"command": program("npm/node_modules/.bin/mcp-server-memory"), "env": {"MEMORY_FILE_PATH": folder.join("memory.json")}},
        "files": {"command": program("npm/node_modules/.bin/mcp-server-filesystem"), "args": [folder]},
        "sqlite": {"command": program("py1/bin/mcp-server-sqlite"), "args": ["--db-path", folder.join("a.db")]},
        "off": {"command": "no-such-program", "disabled": true},
        "missing": {"command": "no-such-program"},
    }));
    for (name, era, tools) in [
        ("time", Era::Modern, 2),
        ("memory", Era::Legacy, 9),
        ("files", Era::Legacy, 14),
        ("sqlite", Era::Legacy, 6),
    ] {
        let one = world.upstreams.get(name).unwrap();
        world.until(&one, |state| *state == State::Connected).await;
        let status = one.status();
        assert_eq!(status.era, Some(era), "{name}: {status:?}");
        assert_eq!(one.lists().tools.len(), tools, "{name}");
    }
    let ask = async |name: &str, tool: &str, arguments: Value| {
        let one = world.upstreams.get(name).unwrap();
        call(&one, tool, arguments, talk()).await.unwrap()
    };
    let now = ask("time", "get_current_time", json!({"timezone": "UTC"})).await;
    assert!(text(&now).contains("UTC"));
    let files = ask("files", "list_allowed_directories", json!({})).await;
    assert!(text(&files).contains(folder.file_name().unwrap().to_str().unwrap()));
    let made = json!({"query": "CREATE TABLE a (b INTEGER)"});
    assert_eq!(
        text(&ask("sqlite", "create_table", made).await),
        "Table created successfully"
    );
    let off = world.upstreams.get("off").unwrap();
    let refused = call(&off, "x", json!({}), talk()).await.unwrap_err();
    assert!(
        matches!(
            refused,
            UpstreamError::Unavailable {
                state: State::Disabled,
                ..
            }
        ),
        "{refused:?}"
    );
    let missing = world.upstreams.get("missing").unwrap();
    world.until(&missing, |state| *state == State::Failed).await;
    let status = missing.status();
    let cause = status.cause.unwrap();
    assert!(
        cause.contains("no-such-program") && cause.contains("cannot be started"),
        "{cause}"
    );
    assert_eq!(
        status.stderr, "",
        "what the supervisor says is no word of its"
    );
    world.upstreams.close().await;
}
