//! Sessions of the legacy era: ended by their client, unknown to everybody else, and gone when nobody uses them.

use crate::crib::{Crib, sandbox, until};
use crate::plain::Plain;
use serde_json::json;
use std::time::Instant;

#[test]
fn a_session_that_was_deleted_is_unknown() {
    let crib = Crib::new();
    let client = Plain::admin(&crib.server);
    let (session, other) = (client.open(), client.open());
    assert_ne!(session, other);
    assert_eq!(client.ping(&session).status, 200);
    let ended = client.send("DELETE", Some(&session), None).status;
    assert_eq!(ended, 204);
    for answer in [
        client.ping(&session),
        client.send("GET", Some(&session), None),
        client.send("DELETE", Some(&session), None),
        client.ping("no-such-session"),
    ] {
        assert_eq!(answer.status, 404, "{answer:?}");
        let why = answer.json()["error"]["message"].to_string();
        assert!(why.contains("no such session"), "{answer:?}");
    }
    assert_eq!(client.ping(&other).status, 200);
}

/// What a client says of itself stands in one place; the same text in what somebody writes says nothing.
#[test]
fn the_era_is_not_read_from_arguments() {
    let crib = Crib::new();
    let client = Plain::admin(&crib.server);
    let session = client.open();
    let data = "a \"io.modelcontextprotocol/protocolVersion\": \"2026-07-28\"";
    let params = json!({"name": "clean_text", "arguments": {"data": data}});
    let answer = client.ask(&session, "tools/call", &params);
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    assert_eq!(answer["result"]["content"][0]["text"], data, "{answer}");
}

/// A session of the older transport lasts as long as its stream.
#[test]
fn a_stream_that_is_closed_ends_its_session() {
    let crib = Crib::new();
    let mut stream = Plain::admin(&crib.server).sse();
    let endpoint = stream.next().unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let post = || crib.server.request("POST", &endpoint, Some(&ping)).0;
    assert_eq!(post(), 202);
    drop(stream);
    until("the session is gone", || (post() == 404).then_some(()));
}

#[test]
fn another_keys_session_is_unknown() {
    let crib = Crib::new();
    let client = Plain::admin(&crib.server);
    let made = json!({"name": "other", "scopes": ["read", "call"]});
    let (status, made) = crib.server.request("POST", "/api/v1/keys", Some(&made));
    assert_eq!(status, 201, "{made}");
    let other = Plain::new(&crib.server, made["key"].as_str());
    let (session, others) = (client.open(), other.open());
    for answer in [
        other.ping(&session),
        other.send("DELETE", Some(&session), None),
        client.ping(&others),
    ] {
        assert_eq!(answer.status, 404, "{answer:?}");
    }
    assert_eq!(client.ping(&session).status, 200);
    assert_eq!(other.ping(&others).status, 200);
}

/// What somebody was asked is nobody else's to answer.
#[test]
fn another_keys_question_is_unknown() {
    let crib = Crib::new();
    let client = Plain::admin(&crib.server);
    let made = json!({"name": "other", "user": "admin", "scopes": ["read", "call"]});
    let (status, made) = crib.server.request("POST", "/api/v1/keys", Some(&made));
    assert_eq!(status, 201, "{made}");
    let other = Plain::new(&crib.server, made["key"].as_str());
    let able = json!({"elicitation": {}});
    let mut params = json!({"name": "request_human_input", "arguments": {"question": "Really?"}});
    let asked = client.modern("tools/call", &params, &able).json();
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    params["requestState"] = asked["requestState"].clone();
    let key = asked["inputRequests"].as_object().unwrap().keys().next();
    let given = json!({"action": "accept", "content": {"answer": "yes"}});
    params["inputResponses"] = json!({key.unwrap(): given});
    let refused = other.modern("tools/call", &params, &able).json();
    let why = refused["error"]["message"].to_string();
    assert!(why.contains("requestState"), "{refused}");
    let done = client.modern("tools/call", &params, &able).json();
    assert_eq!(
        done["result"]["structuredContent"]["answer"], "yes",
        "{done}"
    );
}

/// A client that takes no stream cannot be asked: it hears so at once, and waits for nothing.
#[test]
fn who_takes_no_stream_is_not_asked() {
    let crib = Crib::new();
    let client = Plain {
        accept: "application/json",
        ..Plain::admin(&crib.server)
    };
    let session = client.open_able(&json!({"elicitation": {}}));
    let params = json!({"name": "request_human_input", "arguments": {"question": "Really?"}});
    let one = client.ask(&session, "tools/call", &params).json();
    // Nor is one who sends several messages at once.
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let both = Plain::admin(&crib.server);
    let several = both.send("POST", Some(&session), Some(&json!([call])));
    for answer in [&one, &several.json()[0]] {
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        let why = result["content"][0]["text"].to_string();
        assert!(why.contains("takes no event stream"), "{answer}");
    }
}

#[test]
fn abandoned_sessions_expire() {
    const SESSIONS: usize = 50;
    let sandbox = sandbox();
    // There is room for no more, so that others can come only once these are gone.
    let config = format!(
        "[mcp]\nsession_idle_seconds = 2\nsessions_max = {SESSIONS}\nuser_sessions_max = 1000\n"
    );
    sandbox.write("toolcrib.toml", &config);
    let crib = Crib::of(sandbox);
    let client = Plain::admin(&crib.server);
    let began = Instant::now();
    let sessions: Vec<String> = (0..SESSIONS).map(|_| client.open()).collect();
    let open = || {
        until("there is room for a session", || {
            client.try_open(&json!({})).ok()
        })
    };
    let again: Vec<String> = (0..SESSIONS).map(|_| open()).collect();
    let waited = began.elapsed();
    for session in &sessions {
        assert_eq!(client.ping(session).status, 404);
    }
    for session in &again {
        assert_eq!(client.ping(session).status, 200);
    }
    println!(
        "sessions: {SESSIONS} abandoned, gone and as many new ones there {waited:?} after the first"
    );
}

/// Who opens sessions without end ends their own.
#[test]
fn nobody_takes_every_session() {
    let sandbox = sandbox();
    sandbox.write("toolcrib.toml", "[mcp]\nsessions_max = 20\n");
    let crib = Crib::of(sandbox);
    let admin = Plain::admin(&crib.server);
    let first = admin.open();
    let made = json!({"name": "kim", "role": "viewer"});
    let (status, made) = crib.server.request("POST", "/api/v1/users", Some(&made));
    assert_eq!(status, 201, "{made}");
    let made = json!({"name": "reader", "user": "kim", "scopes": ["read"]});
    let (status, made) = crib.server.request("POST", "/api/v1/keys", Some(&made));
    assert_eq!(status, 201, "{made}");
    let viewer = Plain::new(&crib.server, made["key"].as_str());
    let sessions: Vec<String> = (0..50).map(|_| viewer.open()).collect();
    assert_eq!(viewer.ping(&sessions[0]).status, 404);
    assert_eq!(viewer.ping(&sessions[49]).status, 200);
    assert_eq!(admin.ping(&first).status, 200);
    admin.open();
}
