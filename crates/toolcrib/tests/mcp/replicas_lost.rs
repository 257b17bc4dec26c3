//! Servers that are gone, and ids that nobody was given: the client is told in a way that makes it begin anew, and nobody is
//! called who is not one of the servers.

use crate::crib::until;
use crate::fleet::Fleet;
use crate::harness::ADMIN_KEY;
use crate::plain::{Plain, send};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::net::TcpListener;

fn able() -> Value {
    json!({"elicitation": {}})
}

fn asks() -> Value {
    json!({"name": "request_human_input", "arguments": {"question": "Really?"}})
}

/// What comes back for a question that was asked by a server that is gone.
fn answered(client: &Plain<'_>, asked: &Value) -> (u16, String) {
    let mut params = asks();
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({"ask-1": {"action": "accept", "content": {"answer": "yes"}}});
    let answer = client.modern("tools/call", &params, &able());
    let why = answer.json()["error"]["message"].to_string();
    (answer.status, why)
}

#[test]
fn a_session_whose_server_was_killed_is_begun_anew() {
    let Some(mut fleet) = Fleet::new(3) else {
        return;
    };
    let session = fleet.at(0).open_able(&able());
    assert_eq!(fleet.at(1).ping(&session).status, 200);
    let asked = fleet.at(0).modern("tools/call", &asks(), &able()).json();
    let stream = fleet.at(1).stream(&session).unwrap();
    let mut call = fleet.at(2).answers(&session, "tools/call", &asks());
    call.hears("elicitation/create");
    fleet.knows(1, 2);
    fleet.kill(0);
    // What was under way ends.
    call.ends();
    stream.ends();
    // It is still in the list of servers, but nobody takes the connection.
    for number in fleet.running() {
        let client = fleet.at(number);
        for answer in [
            client.ping(&session),
            client.send("GET", Some(&session), None),
            client.send("DELETE", Some(&session), None),
        ] {
            assert_eq!(answer.status, 404, "{answer:?}");
            assert_eq!(answer.json()["error"]["code"], -32001, "{answer:?}");
        }
        let (status, why) = answered(&client, &asked);
        assert_eq!(status, 400, "{why}");
        assert!(why.contains("is gone") && why.contains("anew"), "{why}");
        let posted = client.post_to(
            &format!("/messages?session_id={session}"),
            &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        );
        assert_eq!(posted.status, 404, "{posted:?}");
    }
    // A client begins anew, through the same proxy.
    let client = fleet.plain();
    let session = client.open();
    for _ in 0..4 {
        assert_eq!(client.ping(&session).status, 200);
    }
    // And nothing changes once the others know that it is gone.
    fleet.knows(1, 1);
    assert_eq!(fleet.at(1).ping(&session).status, 200);
    assert!(answered(&fleet.at(1), &asked).1.contains("is gone"));
}

/// What was sent and not answered may have been done: it is not told as if there had been no session.
#[test]
fn a_call_whose_server_is_killed_under_way_is_told_apart() {
    let Some(mut fleet) = Fleet::new(2) else {
        return;
    };
    let session = fleet.at(0).open();
    let address = fleet.server(1).address.clone();
    let waits = json!({"name": "fixture_wait", "arguments": {"seconds": 60}});
    let waiting = std::thread::spawn({
        let session = session.clone();
        move || Plain::at(&address, Some(ADMIN_KEY)).ask(&session, "tools/call", &waits)
    });
    until("it runs", || {
        let health = fleet.server(0).request("GET", "/readyz", None).1;
        (health["running_calls"] == 1).then_some(())
    });
    fleet.kill(0);
    let answer = waiting.join().unwrap();
    assert_eq!(answer.status, 502, "{answer:?}");
    let why = answer.json()["error"]["message"].to_string();
    assert!(why.contains("is not known"), "{answer:?}");
    assert_eq!(fleet.at(1).ping(&session).status, 404);
}

#[test]
fn a_server_that_leaves_keeps_its_sessions_until_it_closes() {
    let fleet = Fleet::told(
        2,
        |_| {},
        |_, command| {
            command.env("TOOLCRIB_SERVER_DRAIN_SECONDS", "4");
        },
    );
    let Some(mut fleet) = fleet else { return };
    let session = fleet.at(0).open();
    fleet.knows(0, 1);
    let stream = fleet.at(1).stream(&session).unwrap();
    fleet.server(0).signal(Signal::TERM);
    until("it says that it leaves", || {
        let ready = fleet.server(0).try_request("GET", "/readyz", None);
        ready.is_ok_and(|(status, _)| status == 503).then_some(())
    });
    assert_eq!(fleet.at(1).ping(&session).status, 200, "it leaves");
    stream.ends();
    let left = fleet.servers[0].take().unwrap();
    assert_eq!(left.ended(), 0);
    assert_eq!(fleet.at(1).ping(&session).status, 404, "it is gone");
}

/// A server that stops ends the streams that it passes on, and does not wait for them.
#[test]
fn a_server_that_stops_ends_what_it_passes_on() {
    let fleet = Fleet::told(
        2,
        |_| {},
        |_, command| {
            command.env("TOOLCRIB_SERVER_DRAIN_SECONDS", "0.1");
            command.env("TOOLCRIB_SERVER_GRACE_SECONDS", "600");
        },
    );
    let Some(mut fleet) = fleet else { return };
    let session = fleet.at(0).open();
    let stream = fleet.at(1).stream(&session).unwrap();
    fleet.server(1).signal(Signal::TERM);
    stream.ends();
    assert_eq!(fleet.servers[1].take().unwrap().ended(), 0);
    assert_eq!(fleet.at(0).ping(&session).status, 200);
}

#[test]
fn ids_that_nobody_was_given_lead_nowhere() {
    let Some(fleet) = Fleet::new(2) else { return };
    let real = fleet.at(0).open();
    let (owner, secret) = real.split_once('.').unwrap();
    // Somebody else's, who would be glad to hear from us.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let place = listener.local_addr().unwrap();
    let other = secret.replace(|c: char| c.is_ascii_digit(), "a");
    for made_up in [
        format!("toolcrib-0123456789abcdef.{secret}"),
        format!("{owner}.{other}"),
        format!("{owner}."),
        format!("{place}.{secret}"),
        format!("http://{place}.{secret}"),
        format!("toolcrib-0123456789abcde@{place}.{secret}"),
        format!("toolcrib-x@{place}/.{secret}"),
        secret.to_owned(),
    ] {
        for number in 0..2 {
            let answer = fleet.at(number).ping(&made_up);
            assert_eq!(answer.status, 404, "{made_up}: {answer:?}");
            let mut params = asks();
            params["requestState"] = made_up.clone().into();
            let answer = fleet.at(number).modern("tools/call", &params, &able());
            assert_eq!(answer.status, 400, "{made_up}: {answer:?}");
        }
    }
    assert!(listener.accept().is_err(), "nobody was called");
    // Another key's session is unknown, whoever is asked.
    let made = json!({"name": "other", "scopes": ["read", "call"]});
    let (status, made) = fleet.server(0).request("POST", "/api/v1/keys", Some(&made));
    assert_eq!(status, 201, "{made}");
    let key = made["key"].as_str();
    for number in 0..2 {
        let other = Plain::new(fleet.server(number), key);
        until("the key is known", || {
            let status = other.modern("tools/list", &json!({}), &json!({})).status;
            (status == 200).then_some(())
        });
        assert_eq!(other.ping(&real).status, 404);
        let nobody = Plain::new(fleet.server(number), Some("no-such-key"));
        assert_eq!(nobody.ping(&real).status, 401);
    }
    assert_eq!(fleet.at(1).ping(&real).status, 200);
}

/// A server that says it is where another one is: what is passed on there goes no further.
#[test]
fn nothing_is_passed_on_twice() {
    let fleet = Fleet::told(
        2,
        |_| {},
        |before, command| {
            if let [Some(first)] = before {
                command.env("TOOLCRIB_SERVER_ADVERTISE", first.url());
            }
        },
    );
    let Some(fleet) = fleet else { return };
    let session = fleet.at(1).open();
    assert_eq!(fleet.at(1).ping(&session).status, 200);
    assert_eq!(fleet.at(0).ping(&session).status, 404, "it asked itself");
    // And whoever marks a request as passed on is told so by the first that they ask.
    let session = fleet.at(0).open();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let headers = format!(
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer {ADMIN_KEY}\r\nMcp-Session-Id: {session}"
    );
    let marked = format!("{headers}\r\nToolcrib-Forwarded: 1");
    let address = &fleet.server(0).address;
    assert_eq!(send(address, "POST", "/mcp", &marked, &ping).status, 200);
    let address = &fleet.server(1).address;
    assert_eq!(send(address, "POST", "/mcp", &headers, &ping).status, 200);
    assert_eq!(send(address, "POST", "/mcp", &marked, &ping).status, 404);
}
