//! Clients that do not read, do not come back or take less than a server says, and servers that change their mind: nobody
//! else is held up by them.

use crate::client::{Client, call};
use crate::crib::{Crib, sandbox, until};
use crate::harness::ADMIN_KEY;
use crate::plain::Plain;
use crate::programs::script;
use crate::world::{listed, servers};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// With an upstream that has moods.
fn moody(more: &[&str], timeout_seconds: u32) -> Crib {
    let sandbox = sandbox();
    let args: Vec<String> = std::iter::once(script("moody.py"))
        .chain(more.iter().map(|&it| it.to_owned()))
        .collect();
    let entry = json!({"command": "python3", "args": args, "timeout_seconds": timeout_seconds});
    servers(&sandbox, &json!({"moody": entry}));
    let crib = Crib::of(sandbox);
    listed(&crib, "moody.rows");
    crib
}

/// The last call of a tool, as the log has it.
fn logged(crib: &Crib, tool: &str) -> Value {
    let path = format!("/api/v1/executions?tool={tool}&limit=1");
    let (status, mut page) = crib.server.request("GET", &path, None);
    assert_eq!(status, 200, "{page}");
    page["items"][0].take()
}

/// Nobody works on a call that waits for its client, so it must not be waited for.
#[test]
fn a_question_that_nobody_answers_keeps_no_server_from_stopping() {
    const GRACE: u64 = 5;
    let sandbox = sandbox();
    let config = format!("[server]\ngrace_seconds = {GRACE}\n");
    sandbox.write("toolcrib.toml", &config);
    let crib = Crib::of(sandbox);
    let params = json!({"name": "request_human_input", "arguments": {"question": "Really?"}});
    let client = Plain::admin(&crib.server);
    let asked = client.modern("tools/call", &params, &json!({"elicitation": {}}));
    let asked = asked.json();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let Crib { sandbox, server } = crib;
    let began = Instant::now();
    assert_eq!(server.terminate(), 0);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(GRACE + 10), "{took:?}");
    let again = Crib::of(sandbox);
    let row = logged(&again, "request_human_input");
    assert_eq!(row["status"], "cancelled", "{row}");
}

/// It reads the head of the answer and nothing of what follows; the call's own deadline counts all the same.
#[test]
fn a_client_that_does_not_read_stops_no_clock() {
    let crib = moody(&[], 1);
    let client = Plain::admin(&crib.server);
    let session = client.open();
    let level = client.ask(&session, "logging/setLevel", &json!({"level": "debug"}));
    assert_eq!(level.status, 200, "{level:?}");
    let params = json!({"name": "moody.chat", "arguments": {}});
    let began = Instant::now();
    let unread = client.answers(&session, "tools/call", &params);
    let row = until("the call is over", || {
        let row = logged(&crib, "moody.chat");
        (row["status"] == "error").then_some(row)
    });
    assert_eq!(row["error"]["code"], "timeout", "{row}");
    println!(
        "odd: a client that does not read; the call is over after {:?}",
        began.elapsed()
    );
    drop(unread);
}

#[test]
fn older_clients_take_what_newer_servers_offer() {
    let crib = moody(&["modern"], 30);
    let list = [json!({"action": "list"}), call("moody.rows", &json!({}))];
    let url = format!("{}/mcp", crib.server.url());
    let client = Client::new("http", &url, "legacy").with_key(ADMIN_KEY);
    let story = client.script(&list);
    let tools = story.list(0, "tools");
    let rows = tools.iter().find(|it| it["name"] == "moody.rows").unwrap();
    assert_eq!(rows["outputSchema"]["type"], "object", "{rows}");
    assert_eq!(story.result(1)["structuredContent"], json!({"result": [1]}));
    // A newer one gets it as it is.
    let client = Plain::admin(&crib.server);
    let tools = client.modern("tools/list", &json!({}), &json!({})).json();
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let rows = tools.iter().find(|it| it["name"] == "moody.rows").unwrap();
    assert_eq!(rows["outputSchema"], json!({"type": "array"}));
    assert!(rows.get("title").is_none() && rows.get("description").is_none());
    let params = json!({"name": "moody.rows", "arguments": {}});
    let answer = client.modern("tools/call", &params, &json!({})).json();
    assert_eq!(
        answer["result"]["structuredContent"],
        json!([1]),
        "{answer}"
    );
}

#[test]
fn a_question_that_is_taken_back_is_taken_back_from_the_client() {
    let crib = moody(&[], 30);
    let client = Plain::admin(&crib.server);
    let session = client.open_able(&json!({"elicitation": {}}));
    let file = crib.sandbox.folder().join("go");
    let params = json!({"name": "moody.doubt", "arguments": {"file": file}});
    let mut answers = client.answers(&session, "tools/call", &params);
    let asked = answers.hears("elicitation/create");
    std::fs::write(&file, "").unwrap();
    let back = answers.hears("notifications/cancelled");
    assert_eq!(back["params"]["requestId"], asked["id"], "{back}");
    std::fs::write(file.with_extension("end"), "").unwrap();
    let done = answers.until(|message| message["id"] == 1);
    let text = &done["result"]["content"][0]["text"];
    assert_eq!(*text, "answered []", "its server wants no answer: {done}");
}

/// What a tool says of its failure is no way around the limit of what it may say.
#[test]
fn a_failure_is_no_longer_than_an_output_may_be() {
    let crib = moody(&[], 30);
    let client = Plain::admin(&crib.server);
    let session = client.open();
    for (bytes, is_whole) in [(1_000, true), (2 << 20, false)] {
        let params = json!({"name": "moody.fail", "arguments": {"bytes": bytes}});
        let answer = client.ask(&session, "tools/call", &params).json();
        let result = &answer["result"];
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(text.len() == bytes, is_whole, "{}", text.len());
        assert!(text.len() < 10_000, "{}", text.len());
    }
}

/// Where the configuration says so; the next call starts it again.
#[test]
fn a_program_that_nobody_uses_is_closed() {
    let sandbox = sandbox();
    sandbox.write("toolcrib.toml", "[mcp]\nprogram_idle_seconds = 1\n");
    let entry = json!({"command": "python3", "args": [script("moody.py"), "seldom"]});
    servers(&sandbox, &json!({"moody": entry}));
    let crib = Crib::of(sandbox);
    listed(&crib, "moody.rows");
    crib.nothing_left_of("moody.py seldom");
    assert_eq!(*crib.call("moody.rows", &json!({})).data(), json!([1]));
}
