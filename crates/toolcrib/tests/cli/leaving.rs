//! Leaving a run with Ctrl-C before there is one and while it is stopped, and a prompt that its server leaves.

use crate::harness::Sandbox;
use crate::prompting::Bell;
use crate::session::Session;
use crate::standin::{Says, StandIn};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use std::fs::File;
use std::process::Command;
use std::time::{Duration, Instant};

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

#[test]
fn whoever_leaves_while_the_request_is_sent_is_told_that_nobody_knows() {
    let server = StandIn::start(|_| Says::Nothing);
    let sandbox = Sandbox::bare();
    for more in [&[][..], &["--detach"]] {
        let url = server.url();
        let request = [&["--url", &url, "run", "choose"][..], more].concat();
        let session = Session::start(&sandbox, &request);
        server.hears("POST /api/v1/runs");
        session.interrupt();
        let (text, exit) = session.ended();
        assert_eq!(exit, 130, "{text}");
        for says in ["whether a run was begun is not known", "toolcrib runs list"] {
            assert!(text.contains(says), "{says}: {text}");
        }
    }
}

#[test]
fn whoever_leaves_before_the_request_is_sent_is_told_that_there_is_no_run() {
    let sandbox = Sandbox::new();
    // Somebody else has the workspace and does not answer, so that it is waited for.
    let workspace = File::open(sandbox.workspace()).expect("it is there");
    workspace.lock().expect("nobody else has it");
    // Read when Ctrl-C is heard already: whoever opens the other end meets the program there.
    let config = sandbox.folder().join("config.toml");
    let made = Command::new("mkfifo").arg(&config).status();
    assert!(made.expect("it can be started").success());
    let config = config.to_str().expect("temporary paths are UTF-8");
    let session = Session::start(&sandbox, &["--config", config, "run", "choose"]);
    let met = File::options().write(true).open(config);
    session.interrupt();
    drop(met.expect("the program reads it"));
    let (text, exit) = session.ended();
    assert_eq!(exit, 130, "{text}");
    assert!(text.contains("no run was begun"), "{text}");
}

/// As long as it is there, nobody else stores anything of the workspace.
struct Held {
    runtime: tokio::runtime::Runtime,
    line: SqliteConnection,
}

impl Held {
    fn new(sandbox: &Sandbox) -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
        let registry = sandbox.workspace().join(".toolcrib/registry.db");
        let url = format!("sqlite://{}", registry.display());
        let line = runtime.block_on(async {
            let mut line = SqliteConnection::connect(&url).await.expect("it is there");
            let held = sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut line).await;
            held.expect("nobody else writes");
            line
        });
        Held { runtime, line }
    }

    fn let_go(self) {
        let closed = self.runtime.block_on(self.line.close());
        closed.expect("it closes");
    }
}

#[test]
fn the_second_ctrl_c_does_not_wait_until_a_run_is_cancelled() {
    let bell = Bell::new();
    let sandbox = bell.sandbox();
    let mut session = Session::start(&sandbox, &bell.request());
    // It is never answered.
    let _called = bell.rings();
    let held = Held::new(&sandbox);
    session.interrupt();
    session.sees("cancelling run ");
    session.interrupt();
    let pressed = Instant::now();
    let (text, exit) = session.ended();
    // What is waited for otherwise takes longer: first the database, then the call.
    let waited = pressed.elapsed();
    assert!(waited < Duration::from_secs(5), "{waited:?}: {text}");
    held.let_go();
    let id = newest(&sandbox)["id"].clone();
    let id = id.as_str().expect("a run was begun");
    assert_eq!(exit, 130, "{text}");
    for says in [
        format!("whether run {id} is cancelled is not known"),
        "the next server".to_owned(),
        format!("toolcrib runs cancel {id}"),
    ] {
        assert!(text.contains(&says), "{says}: {text}");
    }
    // What it says is so.
    sandbox.ok(&["runs", "cancel", id]);
    assert_eq!(newest(&sandbox)["status"], "cancelled");
}

fn newest(sandbox: &Sandbox) -> Value {
    sandbox.json(&["runs", "list", "--limit", "1"])["items"][0].clone()
}
