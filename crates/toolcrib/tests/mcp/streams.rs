//! Streams that last: who hears what on them, how many there may be, and when they end.

use crate::crib::{Crib, sandbox, until};
use crate::harness::Sandbox;
use crate::plain::{Plain, Stream};
use crate::programs::{LEGACY, Listening, npm};
use crate::world::{listed, servers};
use serde_json::{Value, json};

const UPDATED: &str = "notifications/resources/updated";

/// A resource that server-everything has.
const FOLLOWED: &str = "demo://resource/dynamic/text/1";

fn everything() -> Sandbox {
    let sandbox = sandbox();
    let entry = json!({"command": npm("mcp-server-everything"), "args": ["stdio"]});
    servers(&sandbox, &json!({"one": entry, "two": entry}));
    sandbox
}

/// Switches the updates that it makes up on or off.
fn toggle(crib: &Crib, server: &str) {
    let tool = format!("{server}.toggle-subscriber-updates");
    assert_eq!(crib.call(&tool, &json!({})).status, 200);
}

#[test]
fn who_follows_a_resource_hears_that_it_has_changed() {
    let crib = Crib::of(everything());
    for server in ["one", "two"] {
        listed(&crib, &format!("{server}.echo"));
    }
    let client = Plain::admin(&crib.server);
    // The first server in the order of names has the address as it is.
    let others = format!("toolcrib+two:{FOLLOWED}");
    let (session, idle) = (client.open(), client.open());
    let mut stream = client.stream(&session).unwrap();
    let mut silent = client.stream(&idle).unwrap();
    for uri in [FOLLOWED, &others] {
        let answer = client.ask(&session, "resources/subscribe", &json!({"uri": uri}));
        assert!(answer.json()["error"].is_null(), "{answer:?}");
    }
    let unknown = json!({"uri": "nowhere://at/all"});
    let answer = client.ask(&session, "resources/subscribe", &unknown).json();
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    let wanted = json!({"resourceSubscriptions": [FOLLOWED, "nowhere://at/all"]});
    let mut modern = client.listen(&wanted).unwrap();
    let accepted = modern.hears("notifications/subscriptions/acknowledged");
    let accepted = &accepted["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*accepted, json!([FOLLOWED]));
    toggle(&crib, "one");
    let told = |stream: &mut Stream| stream.hears(UPDATED)["params"]["uri"].clone();
    assert_eq!(told(&mut stream), FOLLOWED);
    assert_eq!(told(&mut modern), FOLLOWED);
    toggle(&crib, "one");
    toggle(&crib, "two");
    let is_other = |message: &Value| message["params"]["uri"] == *others;
    stream.until(is_other);
    // Nobody who follows nothing has heard of it: what they hear first is what comes last.
    client.ask(&idle, "resources/subscribe", &json!({"uri": others}));
    assert_eq!(told(&mut silent), *others);
    // And who follows no more hears no more.
    let answer = client.ask(&session, "resources/unsubscribe", &json!({"uri": others}));
    assert!(answer.json()["error"].is_null(), "{answer:?}");
}

/// A person is sent to an address; that they are done is told later, to the client that sent them.
#[test]
fn who_sent_somebody_elsewhere_hears_when_they_are_done() {
    let sandbox = sandbox();
    servers(&sandbox, &json!({"old": LEGACY.stdio(&[])}));
    let crib = Crib::of(sandbox);
    listed(&crib, "old.visit");
    let client = Plain::admin(&crib.server);
    let session = client.open_able(&json!({"elicitation": {"url": {}}}));
    let mut stream = client.stream(&session).unwrap();
    let params = json!({"name": "old.visit", "arguments": {"address": "https://example.com/"}});
    let mut answers = client.answers(&session, "tools/call", &params);
    let asked = answers.hears("elicitation/create");
    assert_eq!(asked["params"]["elicitationId"], "visit-1", "{asked}");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}});
    let taken = client.send("POST", Some(&session), Some(&answer));
    assert_eq!(taken.status, 202, "{taken:?}");
    let done = answers.until(|message| message["id"] == 1);
    assert_eq!(done["result"]["content"][0]["text"], "accept", "{done}");
    let told = stream.hears("notifications/elicitation/complete");
    assert_eq!(told["params"]["elicitationId"], "visit-1", "{told}");
}

#[test]
fn streams_end_with_their_key() {
    let crib = Crib::new();
    let made = json!({"name": "short", "scopes": ["read"]});
    let (status, made) = crib.server.request("POST", "/api/v1/keys", Some(&made));
    assert_eq!(status, 201, "{made}");
    let client = Plain::new(&crib.server, made["key"].as_str());
    let session = client.open();
    let streams = [
        client.stream(&session).unwrap(),
        client.listen(&json!({"toolsListChanged": true})).unwrap(),
        client.sse(),
    ];
    let kept = Plain::admin(&crib.server);
    let mut other = kept.listen(&json!({"toolsListChanged": true})).unwrap();
    let path = format!("/api/v1/keys/{}", made["id"].as_str().unwrap());
    let (status, gone) = crib.server.request("DELETE", &path, None);
    assert!(status < 300, "{gone}");
    for stream in streams {
        stream.ends();
    }
    // Another's goes on.
    let tool = json!({"name": "later", "description": "A tool.", "kind": "expression", "config": {"expression": "1"}, "input_schema": {"type": "object"}});
    let (status, made) = crib.server.request("POST", "/api/v1/tools", Some(&tool));
    assert_eq!(status, 201, "{made}");
    other.hears("notifications/tools/list_changed");
}

#[test]
fn what_comes_and_goes_with_a_server_is_told() {
    let listening = Listening::fixture(&LEGACY, "http");
    let crib = Crib::new();
    let client = Plain::admin(&crib.server);
    let wanted = json!({"promptsListChanged": true, "resourcesListChanged": true});
    let mut changes = client.listen(&wanted).unwrap();
    let mut tells = |method: &str, path: &str, body: Option<&Value>| {
        let (status, answer) = crib.server.request(method, path, body);
        assert!(status < 300, "{method} {path}: {answer}");
        changes.hears("notifications/prompts/list_changed");
        changes.hears("notifications/resources/list_changed");
    };
    let (servers, policy) = ("/api/v1/servers", "/api/v1/policy");
    let one = format!("{servers}/s");
    let made = json!({"name": "s", "url": listening.url});
    tells("POST", servers, Some(&made));
    for disabled in [true, false] {
        tells("PATCH", &one, Some(&json!({ "disabled": disabled })));
    }
    let rules = json!([{"subject": "everyone", "hide": ["s.*"]}]);
    tells("PUT", policy, Some(&json!({ "rules": rules })));
    tells("PUT", policy, Some(&json!({"rules": []})));
    tells("DELETE", &one, None);
}

#[test]
fn there_are_only_so_many_streams() {
    let sandbox = sandbox();
    sandbox.write("toolcrib.toml", "[server]\nstreams_max = 2\n");
    let crib = Crib::of(sandbox);
    let client = Plain::admin(&crib.server);
    let session = client.open();
    let wanted = json!({"toolsListChanged": true});
    let both = (client.stream(&session).unwrap(), client.listen(&wanted));
    assert!(both.1.is_ok());
    assert_eq!(client.listen(&wanted).unwrap_err(), 503);
    assert_eq!(client.stream(&session).unwrap_err(), 503);
    assert_eq!(
        client.ping(&session).status,
        200,
        "requests are not in the way"
    );
    drop(both);
    until("there is room again", || client.listen(&wanted).ok());
}
