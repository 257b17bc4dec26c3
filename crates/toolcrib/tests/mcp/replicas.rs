//! What lives on one of several servers, used through the others: sessions with their streams, the older transport, and
//! questions of both eras.

use crate::crib::until;
use crate::fleet::Fleet;
use crate::plain::Stream;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn able() -> Value {
    json!({"elicitation": {}})
}

fn asks() -> Value {
    json!({"name": "request_human_input", "arguments": {"question": "Really?"}})
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

#[test]
fn a_session_is_used_through_every_server() {
    let Some(fleet) = Fleet::new(3) else { return };
    for owner in 0..3 {
        let session = fleet.at(owner).open();
        for number in 0..3 {
            let client = fleet.at(number);
            // Twice: the second goes over the connection that the first has left.
            for _ in 0..2 {
                let answer = client.ping(&session);
                assert_eq!(answer.status, 200, "{owner} through {number}: {answer:?}");
            }
            let listed = client.ask(&session, "tools/list", &json!({})).json();
            let tools = listed["result"]["tools"].as_array().unwrap();
            assert!(tools.iter().any(|it| it["name"] == "calculator"));
            let sum = call("calculator", &json!({"expression": "6 * 7"}));
            let sum = client.ask(&session, "tools/call", &sum).json();
            assert_eq!(sum["result"]["content"][0]["text"], "42", "{sum}");
            let long = json!({"seconds": 0, "bytes": 200_000});
            let long = client.ask(&session, "tools/call", &call("fixture_wait", &long));
            assert!(long.json().to_string().len() > 200_000, "{}", long.status);
            let both = json!([
                {"jsonrpc": "2.0", "id": "a", "method": "ping"},
                {"jsonrpc": "2.0", "id": "b", "method": "ping"},
            ]);
            let both = client.send("POST", Some(&session), Some(&both)).json();
            assert_eq!(both.as_array().map(Vec::len), Some(2), "{both}");
            let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            let noted = client.send("POST", Some(&session), Some(&note));
            assert_eq!(noted.status, 202, "{noted:?}");
        }
        let other = fleet.at((owner + 1) % 3);
        assert_eq!(other.send("DELETE", Some(&session), None).status, 204);
        for number in 0..3 {
            assert_eq!(fleet.at(number).ping(&session).status, 404);
        }
    }
}

/// What is said before the answer comes while the call goes on: its question is answered over yet another server.
#[test]
fn a_call_speaks_and_is_answered_through_others() {
    let Some(fleet) = Fleet::new(3) else { return };
    let session = fleet.at(0).open_able(&able());
    let mut progress = call("test_tool_with_progress", &json!({}));
    progress["_meta"] = json!({"progressToken": "p"});
    let mut stream = fleet.at(1).answers(&session, "tools/call", &progress);
    for _ in 0..2 {
        let told = stream.hears("notifications/progress");
        assert_eq!(told["params"]["progressToken"], "p");
    }
    let done = stream.until(|it| it["id"] == 1);
    assert!(done["result"]["content"].is_array(), "{done}");
    stream.ends();

    let mut stream = fleet.at(1).answers(&session, "tools/call", &asks());
    let asked = stream.hears("elicitation/create");
    let given = json!({"action": "accept", "content": {"answer": "yes"}});
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": given});
    let taken = fleet.at(2).send("POST", Some(&session), Some(&answer));
    assert_eq!(taken.status, 202, "{taken:?}");
    let done = stream.until(|it| it["id"] == 1);
    let said = &done["result"]["structuredContent"]["answer"];
    assert_eq!(*said, "yes", "{done}");

    // And one that is cancelled over another server.
    let mut stream = fleet.at(2).answers(&session, "tools/call", &asks());
    stream.hears("elicitation/create");
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    fleet.at(1).send("POST", Some(&session), Some(&cancel));
    let done = stream.until(|it| it["id"] == 1);
    assert!(done["error"].is_object(), "{done}");
}

#[test]
fn a_stream_through_another_hears_of_changes_at_a_third() {
    let Some(fleet) = Fleet::new(3) else { return };
    let session = fleet.at(0).open();
    let mut stream = fleet.at(1).stream(&session).unwrap();
    fleet.add(2, "made_elsewhere");
    stream.hears("notifications/tools/list_changed");
    let listed = fleet.at(2).ask(&session, "tools/list", &json!({})).json();
    assert!(listed.to_string().contains("made_elsewhere"), "{listed}");
    // It ends with its session.
    assert_eq!(fleet.at(2).send("DELETE", Some(&session), None).status, 204);
    stream.ends();
}

fn endpoint(stream: &mut Stream) -> String {
    stream.next().unwrap()
}

#[test]
fn the_older_transport_posts_to_any_server() {
    let Some(fleet) = Fleet::new(3) else { return };
    let mut stream = fleet.at(0).sse();
    let endpoint = endpoint(&mut stream);
    let version = json!({"protocolVersion": "2025-11-25", "capabilities": able(), "clientInfo": {"name": "t", "version": "1"}});
    let send = |number: usize, body: Value| {
        let taken = fleet.at(number).post_to(&endpoint, &body);
        assert_eq!(taken.status, 202, "{taken:?}");
    };
    let of = |id: u8, method: &str, params: &Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    send(1, of(1, "initialize", &version));
    let begun = stream.until(|it| it["id"] == 1);
    assert!(begun["result"]["serverInfo"].is_object(), "{begun}");
    send(2, of(2, "tools/call", &asks()));
    let asked = stream.hears("elicitation/create");
    let given = json!({"action": "accept", "content": {"answer": "yes"}});
    send(
        1,
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": given}),
    );
    let done = stream.until(|it| it["id"] == 2);
    assert_eq!(
        done["result"]["structuredContent"]["answer"], "yes",
        "{done}"
    );
}

/// What a modern client brings back is known by the server that asked, whoever it is brought to.
#[test]
fn a_modern_question_is_answered_through_another() {
    let Some(fleet) = Fleet::new(3) else { return };
    for through in 0..3 {
        let mut params = asks();
        let asked = fleet.at(0).modern("tools/call", &params, &able()).json();
        let asked = &asked["result"];
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        params["requestState"] = asked["requestState"].clone();
        let key = asked["inputRequests"].as_object().unwrap().keys().next();
        let given = json!({"action": "accept", "content": {"answer": "yes"}});
        params["inputResponses"] = json!({key.unwrap(): given});
        let done = fleet.at(through).modern("tools/call", &params, &able());
        assert_eq!(done.status, 200, "{done:?}");
        let done = done.json();
        let said = &done["result"]["structuredContent"]["answer"];
        assert_eq!(*said, "yes", "{done}");
        // It is good for one answer, wherever that comes.
        let again = fleet.at(through).modern("tools/call", &params, &able());
        assert_eq!(again.status, 400, "{again:?}");
    }
}

/// A client that hangs up on one server has hung up on the one that keeps its session.
#[test]
fn who_hangs_up_leaves_no_stream_behind() {
    let fleet = Fleet::told(
        2,
        |_| {},
        |before, command| {
            if before.is_empty() {
                command.env("TOOLCRIB_SERVER_STREAMS_MAX", "1");
            }
        },
    );
    let Some(fleet) = fleet else { return };
    let (one, other) = (fleet.at(0).open(), fleet.at(0).open());
    let stream = fleet.at(1).stream(&one).unwrap();
    let refused = fleet.at(1).stream(&other).unwrap_err();
    assert_eq!(refused, 503, "there is room for one");
    drop(stream);
    let began = Instant::now();
    until("there is room again", || fleet.at(1).stream(&other).ok());
    // The next sign of life would find out by itself, 15 seconds later.
    assert!(began.elapsed() < Duration::from_secs(10));
}
