//! A run at a terminal: what it asks there, what becomes of the question elsewhere, and leaving it with Ctrl-C.

use crate::harness::Sandbox;
use crate::session::Session;
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};

const ASKS: [&str; 2] = ["run", "check the daily limit of a user"];

/// The run that waits for somebody.
fn waiting(sandbox: &Sandbox) -> String {
    let listed = sandbox.json(&["runs", "list", "--status", "needs_input"]);
    let id = listed["items"][0]["id"].as_str();
    id.expect("a run waits").to_owned()
}

#[test]
fn a_question_that_is_answered_elsewhere_is_not_asked_any_more() {
    let sandbox = Sandbox::new();
    let _server = sandbox.serve(&[]);
    let mut session = Session::start(&sandbox, &ASKS);
    session.sees("> ");
    sandbox.ok(&["runs", "answer", &waiting(&sandbox), "hong"]);
    session.sees("answered elsewhere, by 'admin'");
    let (text, code) = session.ended();
    assert!(text.contains("50") && !text.contains("error:"), "{text}");
    assert_eq!(code, 0, "{text}");
}

#[test]
fn a_run_that_is_cancelled_elsewhere_ends_at_its_prompt() {
    let sandbox = Sandbox::new();
    let _server = sandbox.serve(&[]);
    let mut session = Session::start(&sandbox, &ASKS);
    session.sees("> ");
    sandbox.ok(&["runs", "cancel", &waiting(&sandbox)]);
    let (text, code) = session.ended();
    assert!(text.contains("'admin' cancelled the run"), "{text}");
    assert!(!text.contains("waits for an answer"), "{text}");
    assert_eq!(code, 1, "{text}");
}

#[test]
fn whoever_leaves_the_prompt_is_told_how_to_answer_later() {
    let sandbox = Sandbox::new();
    let _server = sandbox.serve(&[]);
    let mut session = Session::start(&sandbox, &ASKS);
    session.sees("> ");
    session.interrupt();
    let (text, code) = session.ended();
    let hint = format!("toolcrib runs answer {}", waiting(&sandbox));
    assert!(text.contains(&hint), "{text}");
    assert_eq!(code, 1, "{text}");
}

/// A tool that calls somebody who does not answer.
pub(crate) struct Bell(TcpListener);

impl Bell {
    pub(crate) fn new() -> Self {
        Bell(TcpListener::bind("127.0.0.1:0").expect("a port is free"))
    }

    /// A workspace that has it.
    pub(crate) fn sandbox(&self) -> Sandbox {
        let place = self.0.local_addr().expect("it has an address");
        let sandbox = Sandbox::new().with("TOOLCRIB_HTTP_ALLOW", &place.to_string());
        let tool = json!({
            "name": "ring_bell", "kind": "http", "description": "Rings the bell of the tower",
            "config": {"base_url": format!("http://{place}"), "method": "GET", "path": "/"},
            "input_schema": {"type": "object"}, "annotations": {"read_only": true},
            "examples": ["ring the bell of the tower"],
        });
        sandbox.ok(&["tools", "add", &tool.to_string()]);
        sandbox
    }

    /// The run that calls it.
    pub(crate) fn request(&self) -> [&'static str; 4] {
        [
            "run",
            "--tool",
            "ring_bell",
            "Ring the bell of the tower now",
        ]
    }

    /// Waits until it is called.
    pub(crate) fn rings(&self) -> TcpStream {
        self.0.accept().expect("the tool calls").0
    }
}

#[test]
fn whoever_leaves_a_run_under_way_is_told_that_it_goes_on() {
    let bell = Bell::new();
    let sandbox = bell.sandbox();
    for served in [true, false] {
        let server = served.then(|| sandbox.serve(&[]));
        let session = Session::start(&sandbox, &bell.request());
        // It is never answered.
        let _called = bell.rings();
        session.interrupt();
        let (text, code) = session.ended();
        assert_eq!(code, 130, "{text}");
        let listed = sandbox.json(&["runs", "list", "--limit", "1"]);
        let (id, status) = (&listed["items"][0]["id"], &listed["items"][0]["status"]);
        let id = id.as_str().expect("a run was begun");
        if served {
            assert_eq!(status, "running", "{text}");
            for hint in [
                format!("run {id} goes on"),
                format!("toolcrib runs follow {id}"),
                format!("toolcrib runs cancel {id}"),
            ] {
                assert!(text.contains(&hint), "{text}");
            }
            sandbox.ok(&["runs", "cancel", id]);
        } else {
            assert_eq!(status, "cancelled", "{text}");
            assert!(text.contains(&format!("run {id} is cancelled")), "{text}");
        }
        drop(server);
    }
}

#[test]
fn an_answer_that_is_left_out_is_asked_for_at_a_terminal() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&ASKS).code, 1);
    let id = waiting(&sandbox);
    let mut session = Session::start(&sandbox, &["runs", "answer", &id]);
    session.sees("> ");
    session.types("hong\n");
    let (text, code) = session.ended();
    assert!(text.contains("50"), "{text}");
    assert_eq!(code, 0, "{text}");
}

#[test]
fn a_call_is_decided_at_the_prompt_and_declining_is_offered_there() {
    let sandbox = Sandbox::new();
    let careful = json!({
        "name": "percent_of", "kind": "builtin", "config": {"name": "calculator"}, "approval": "always",
        "description": "Takes a percentage of an amount, written as \"12.5% of 340\"",
        "input_schema": {"type": "object", "required": ["expression"],
            "properties": {"expression": {"type": "string", "description": "The calculation"}}},
    });
    sandbox.ok(&["tools", "add", &careful.to_string()]);
    let request = ["run", "--tool", "percent_of", "What is 12.5% of 340?"];
    let mut session = Session::start(&sandbox, &request);
    session.sees("or always? ");
    session.types("/decline\n");
    let (text, code) = session.ended();
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("(/decline: "), "{text}");
    assert!(text.contains("not called: rejected"), "{text}");
    // That nothing was called is told by the answer; it is not told once more as an error.
    assert!(!text.contains("error:"), "{text}");
}

/// What `--after` takes is told where somebody looks, and nowhere else.
#[test]
fn a_run_tells_its_id_at_a_terminal() {
    let sandbox = Sandbox::new();
    let request = ["run", "What is 12.5% of 340?"];
    let (text, _) = Session::start(&sandbox, &request).ended();
    let listed = sandbox.json(&["runs", "list"]);
    let id = listed["items"][0]["id"].as_str().unwrap_or_default();
    assert!(text.ends_with(&format!("(run {id})\r\n")), "{text}");
    assert!(!sandbox.run(&request).stderr.contains("(run "));
    let quiet = Session::start(&sandbox, &["run", "-q", "What is 12.5% of 340?"]);
    assert_eq!(quiet.ended().0, "42.5\r\n");
}

#[test]
fn the_list_of_runs_says_what_each_waits_for() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&ASKS).code, 1);
    sandbox.ok(&["run", "What is 12.5% of 340?"]);
    let listed = sandbox.ok(&["runs", "list"]);
    let lines: Vec<&str> = listed.lines().collect();
    let waits = |line: &str| line.split('\t').nth(4).map(str::to_owned);
    assert_eq!(
        [waits(lines[0]), waits(lines[1])],
        [
            Some(String::new()),
            Some("question for get_user_daily_limit".to_owned())
        ],
        "{listed}"
    );
    let (table, _) = Session::start(&sandbox, &["runs", "list"]).ended();
    assert!(table.contains("WAITS FOR"), "{table}");
}

/// What a run has for its output.
fn output(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    sandbox.json(arguments)["output"].clone()
}

#[test]
fn a_request_may_begin_with_a_minus_and_come_from_stdin() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["run", "-5 times 3"][..],
        &["run", "-q", "-5", "times", "3"],
        &["--json", "run", "-5 times 3", "--quiet"],
    ] {
        assert_eq!(output(&sandbox, arguments), "-15", "{arguments:?}");
    }
    assert_eq!(sandbox.ok(&["run", "--", "-5 times 3"]), "-15\n");
    for (arguments, says) in [
        (&["run", "-5 times 3", "--quite"][..], "--quite"),
        (&["run", "-x", "2 times 3"], "-x"),
    ] {
        let done = sandbox.run(arguments);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.stderr.contains(says), "{done:?}");
    }
    let piped = sandbox.run_with_stdin(&["run", "-"], "multiply 48\nby 125\n");
    assert_eq!((piped.stdout.trim(), piped.code), ("6000", 0), "{piped:?}");
    let empty = sandbox.run_with_stdin(&["run", "-"], "\n");
    assert_eq!(empty.code, 2, "{empty:?}");
    assert!(empty.stderr.contains("stdin"), "{empty:?}");
    let both = sandbox.run_with_stdin(&["run", "-", "--output-schema", "-"], "x");
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn what_is_wrong_with_an_answer_is_said() {
    let sandbox = Sandbox::new();
    let broken = sandbox.run(&["run", "--output-schema", "{bad", "x"]);
    assert_eq!(broken.code, 2, "{broken:?}");
    assert!(broken.stderr.contains("--output-schema: "), "{broken:?}");
    assert_eq!(sandbox.run(&ASKS).code, 1);
    let id = waiting(&sandbox);
    let answer = ["runs", "answer", &id];
    for (more, says) in [
        (&[][..], "--decline"),
        (&["kim", "--decline"], "one or the other"),
        (&["edit", "--arguments", "{}"], "--arguments"),
        (&["kim", "--text", "why"], "--text"),
        (&["-5", "--text", "why"], "--text"),
        (&["--decline", "--text", "why"], "--text"),
    ] {
        let done = sandbox.run(&[&answer[..], more].concat());
        assert_eq!(done.code, 2, "{more:?}: {done:?}");
        assert!(done.stderr.contains(says), "{more:?}: {done:?}");
    }
    sandbox.ok(&["runs", "answer", &id, "hong"]);
    let again = sandbox.run(&["--json", "runs", "answer", &id, "kim"]);
    assert_eq!(again.code, 1, "{again:?}");
    let said: Value = serde_json::from_str(&again.stdout).expect("--json prints JSON");
    assert_eq!(said["error"]["code"], "conflict", "{said}");
    for says in ["error: conflict: ", "is done", "runs show"] {
        assert!(again.stderr.contains(says), "{says}: {again:?}");
    }
}
