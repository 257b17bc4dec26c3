//! Questions that a server asks in the middle of a call, over every transport and in both eras.

use crate::world::{Fake, World, call, settings, talk, talk_with, text};
use mcp::upstream::{Notice, Saying, Settings, Upstream, UpstreamError};
use mcp::wire::RpcError;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Answers every question with its message.
async fn answer(mut said: mpsc::Receiver<Saying>) -> Vec<String> {
    let mut methods = Vec::new();
    while let Some(saying) = said.recv().await {
        if let Saying::Ask {
            method,
            params,
            reply,
        } = saying
        {
            let said = params["message"].clone();
            let _ = reply.send(Ok(json!({"action": "accept", "content": {"said": said}})));
            methods.push(method);
        }
    }
    methods
}

async fn ask(
    one: &Upstream,
    method: &str,
    capabilities: Value,
) -> (Result<Value, UpstreamError>, Vec<String>) {
    let (talk, said) = talk_with(capabilities);
    let arguments = json!({ "method": method });
    tokio::join!(call(one, "ask", arguments, talk), answer(said))
}

/// Both sides of a question, to an older server.
async fn older_server_asks(one: &Upstream) {
    let every = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        let (result, asked) = ask(one, method, every.clone()).await;
        assert_eq!(asked, [method]);
        let result: Value = serde_json::from_str(text(&result.unwrap())).unwrap();
        assert_eq!(result[0]["content"]["said"], "well?", "{result}");
    }
    // Whoever cannot be asked, is not.
    let (result, asked) = ask(one, "elicitation/create", json!({"sampling": {}})).await;
    let result: Value = serde_json::from_str(text(&result.unwrap())).unwrap();
    assert_eq!(
        (asked.len(), &result[1]["code"]),
        (0, &json!(-32601)),
        "{result}"
    );
    let why = result[1]["message"].as_str().unwrap_or_default();
    assert!(why.contains("this caller cannot be asked"), "{result}");
    let (result, _) = ask(one, "roots/list", json!({})).await;
    let result: Value = serde_json::from_str(text(&result.unwrap())).unwrap();
    assert_eq!(result[0], json!({"roots": []}));
    let (result, _) = ask(one, "no/such", every).await;
    let result: Value = serde_json::from_str(text(&result.unwrap())).unwrap();
    assert_eq!(result[1]["code"], -32601);
}

#[tokio::test]
async fn an_older_server_asks() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    older_server_asks(&one).await;
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    older_server_asks(&one).await;
    world.upstreams.close().await;
}

async fn modern_server_asks(one: &Upstream, fake: &Fake) {
    let (result, asked) = ask(one, "elicitation/create", json!({"elicitation": {}})).await;
    assert_eq!(asked, ["elicitation/create"]);
    assert_eq!(text(&result.unwrap()), "\"answered\"");
    assert_eq!((fake.count("asks"), fake.count("ask")), (1, 1));
    let (result, asked) = ask(one, "roots/list", json!({})).await;
    assert_eq!((text(&result.unwrap()), asked.len()), ("\"answered\"", 0));
    let (result, _) = ask(one, "elicitation/create", json!({})).await;
    assert!(matches!(
        result,
        Err(UpstreamError::Rpc(RpcError { code: -32601, .. }))
    ));
    let endless = call(one, "endless", json!({}), talk()).await.unwrap_err();
    assert!(
        matches!(&endless, UpstreamError::Protocol(why) if why.contains("10 times")),
        "{endless:?}"
    );
}

#[tokio::test]
async fn a_modern_server_asks() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "modern");
    let one = world.one(fake.stdio()).await;
    modern_server_asks(&one, &fake).await;
    let fake = Fake::new(&world, "modern");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    modern_server_asks(&one, &fake).await;
    world.upstreams.close().await;
}

/// Calls of two people at once, to a server that has one pipe for both: nobody answers for another.
async fn together(one: &Arc<Upstream>, seconds: f64) -> Vec<(String, Value)> {
    let calls = ["ann", "bob"].map(|who| {
        let one = Arc::clone(one);
        tokio::spawn(async move {
            let (talk, said) = talk_with(json!({"elicitation": {}}));
            let arguments = json!({"calls": 2, "seconds": seconds, "who": who});
            let (result, _) = tokio::join!(call(&one, "together", arguments, talk), answer(said));
            let result = serde_json::from_str(text(&result.unwrap())).unwrap();
            (who.to_owned(), result)
        })
    });
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.unwrap());
    }
    results
}

#[tokio::test]
async fn where_it_cannot_be_told_who_is_asked_one_goes_after_the_other() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    let first = together(&one, 20.0).await;
    let refused = |(_, result): &(String, Value)| result[1][1]["code"] == -32603;
    assert!(first.iter().any(refused), "{first:?}");
    call(&one, "forget", json!({}), talk()).await.unwrap();
    for (who, result) in together(&one, 0.3).await {
        assert_eq!(result[0], 1, "one at a time: {result}");
        assert_eq!(result[1][0]["content"]["said"], who.as_str(), "{result}");
    }
    world.upstreams.close().await;
}

/// What somebody leaves unanswered holds up nothing but what would have to ask as well, and that is told at once.
#[tokio::test]
async fn a_question_that_nobody_answers_holds_up_no_other_tool() {
    let mut world = World::new(Settings {
        question_patience: Duration::ZERO,
        ..settings()
    });
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    let first = together(&one, 20.0).await;
    assert!(
        first.iter().any(|(_, it)| it[1][1]["code"] == -32603),
        "{first:?}"
    );
    let able = || talk_with(json!({"elicitation": {}}));
    let alone = |who: &str| json!({"calls": 1, "seconds": 0, "who": who});
    let (talk, mut said) = able();
    let (server, arguments) = (Arc::clone(&one), alone("ann"));
    let ann = tokio::spawn(async move { call(&server, "together", arguments, talk).await });
    let reply = loop {
        if let Saying::Ask { reply, .. } = said.recv().await.expect("ann is asked") {
            break reply;
        }
    };
    let (talk, _said) = able();
    call(&one, "echo", json!({}), talk).await.unwrap();
    let (talk, _said) = able();
    let busy = call(&one, "together", alone("bob"), talk).await;
    assert!(
        matches!(&busy, Err(UpstreamError::Unavailable { cause, .. }) if cause.contains("waits for somebody's answer")),
        "{busy:?}"
    );
    reply
        .send(Ok(json!({"action": "accept", "content": {"said": "ann"}})))
        .unwrap();
    let answered: Value = serde_json::from_str(text(&ann.await.unwrap().unwrap())).unwrap();
    assert_eq!(answered[1][0]["content"]["said"], "ann", "{answered}");
    let (talk, said) = able();
    let (answered, _) = tokio::join!(call(&one, "together", alone("bob"), talk), answer(said));
    let answered: Value = serde_json::from_str(text(&answered.unwrap())).unwrap();
    assert_eq!(answered[1][0]["content"]["said"], "bob", "{answered}");
    world.upstreams.close().await;
}

/// Over HTTP each call has a stream of its own, and so it can always be told.
#[tokio::test]
async fn over_http_each_is_asked_their_own() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let server = fake.listen().await;
    let one = world.one(json!({"url": server.url("/mcp")})).await;
    for _ in 0..3 {
        for (who, result) in together(&one, 20.0).await {
            assert_eq!(result[1][0]["content"]["said"], who.as_str(), "{result}");
        }
    }
    world.upstreams.close().await;
}

#[tokio::test]
async fn an_older_server_logs_as_much_as_somebody_wants() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    for level in ["warning", "error", "debug", "info", "nonsense"] {
        let mut talk = talk();
        talk.log_level = Some(level.to_owned());
        call(&one, "echo", json!({}), talk).await.unwrap();
    }
    let levels: Vec<String> = fake
        .lines()
        .into_iter()
        .filter(|line| line.starts_with("level"))
        .collect();
    assert_eq!(levels, ["level warning", "level debug"]);
    world.upstreams.close().await;
}

#[tokio::test]
async fn an_older_server_is_told_what_is_watched() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    let watch = |uris: &[&str]| one.watch(uris.iter().map(|uri| (*uri).to_owned()).collect());
    watch(&["x://a"]);
    fake.until("resources/subscribe x://a", 1).await;
    watch(&["x://b"]);
    fake.until("resources/subscribe x://b", 1).await;
    fake.until("resources/unsubscribe x://a", 1).await;
    call(&one, "touch", json!({"uri": "x://b"}), talk())
        .await
        .unwrap();
    let updated =
        |notice: &Notice| matches!(notice, Notice::ResourceUpdated { uri, .. } if uri == "x://b");
    world.notice(updated).await;
    // A new connection watches the same.
    let _ = call(&one, "die", json!({}), talk()).await;
    call(&one, "echo", json!({}), talk()).await.unwrap();
    fake.until("resources/subscribe x://b", 2).await;
    assert_eq!(fake.count("resources/subscribe x://a"), 1);
    world.upstreams.close().await;
}
