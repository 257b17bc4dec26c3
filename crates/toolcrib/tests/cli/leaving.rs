//! A prompt that its server leaves.

use crate::harness::Sandbox;
use crate::session::Session;
use crate::standin::{Says, StandIn};
use serde_json::json;

/// The run of a server that stands in for a real one, and what it asks.
const RUN: &str = "01a1";

/// What a look at the log from the question on asks for.
const LOOKS: &str = "GET /api/v1/runs/01a1/log?wait_seconds=20&after=3";

/// A server with a run that asks something; `says` what comes of each look whether it is still asked.
fn asking(mut says: impl FnMut() -> Says + Send + 'static) -> StandIn {
    StandIn::start(move |request| match request {
        LOOKS => says(),
        "POST /api/v1/runs" => Says::Answer(202, json!({"id": RUN, "status": "running"})),
        "GET /api/v1/runs/01a1" => Says::Answer(
            200,
            json!({"id": RUN, "status": "needs_input", "last_event": "3", "pending": [
                {"request_id": "q", "kind": "question", "question": "Which?", "schema": {"type": "string"}},
            ]}),
        ),
        _ => Says::Answer(200, json!({"events": [], "is_over": false})),
    })
}

fn refusal(status: u16, code: &str) -> Says {
    let error = json!({"code": code, "message": "No", "details": null, "request_id": "r"});
    Says::Answer(status, json!({"error": error}))
}

#[test]
fn a_prompt_ends_when_the_server_refuses_to_say_more() {
    for (status, code, hints) in [
        (
            401,
            "unauthenticated",
            ["TOOLCRIB_KEY", "toolcrib runs answer 01a1"],
        ),
        (403, "forbidden", ["later", "toolcrib runs answer 01a1"]),
        (404, "not_found", ["toolcrib runs list", "there are"]),
    ] {
        let server = asking(move || refusal(status, code));
        let sandbox = Sandbox::bare();
        let mut session = Session::start(&sandbox, &["--url", &server.url(), "run", "choose"]);
        session.sees("> ");
        let (text, exit) = session.ended();
        assert_eq!(exit, 1, "{code}: {text}");
        assert!(text.contains(&format!("error: {code}: No")), "{text}");
        for hint in hints {
            assert!(text.contains(hint), "{hint}: {text}");
        }
    }
}

#[test]
fn a_prompt_outlives_trouble_and_not_the_server() {
    let mut looks = 0;
    let server = asking(move || {
        looks += 1;
        match looks {
            1 => refusal(503, "overloaded"),
            _ => Says::Gone,
        }
    });
    let sandbox = Sandbox::bare();
    let session = Session::start(&sandbox, &["--url", &server.url(), "run", "choose"]);
    server.hears(LOOKS);
    server.hears(LOOKS);
    let (text, exit) = session.ended();
    assert_eq!(exit, 4, "{text}");
    for says in [
        format!("no server answers at {}", server.url()),
        "toolcrib runs answer 01a1".to_owned(),
    ] {
        assert!(text.contains(&says), "{says}: {text}");
    }
}
