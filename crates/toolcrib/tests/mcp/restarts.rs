//! `toolcrib mcp` while its server stops and starts again.

use crate::crib::{Crib, until};
use crate::harness::Sandbox;
use crate::stdio::{PATIENCE, Spoken, answer, elsewhere};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The next line of which this is true.
fn next(spoken: &Spoken, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    loop {
        let line = spoken.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|_| panic!("{what} does not come"));
        if is_it(&line) {
            return line;
        }
    }
}

/// Else a server that is started again would not get its workspace back.
#[test]
fn nobody_takes_the_workspace_without_a_request() {
    let Crib { sandbox, server } = Crib::new();
    let mut idle = Spoken::start(&sandbox, &[], false);
    assert_eq!(server.terminate(), 0);
    idle.write(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    // What is no message it answers itself, and only after what came before.
    idle.write(&json!({"a": 1}));
    next(&idle, "the refusal", |line| line["error"]["code"] == -32600);
    let server = sandbox.serve(&[]);
    let listed = idle.ask("tools/list", json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    assert_eq!(server.terminate(), 0);
    // With a request it does: somebody has to answer.
    let listed = idle.ask("tools/list", json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
}

/// The next three lines, without answers, are that every list may have changed.
fn hears_of_every_list(spoken: &Spoken) {
    for list in ["tools", "resources", "prompts"] {
        let method = format!("notifications/{list}/list_changed");
        next(spoken, &method, |line| line["method"] == method);
    }
}

#[test]
fn who_idles_hears_of_a_restart() {
    let Crib { sandbox, server } = Crib::new();
    let mut idle = Spoken::start(&sandbox, &[], false);
    idle.ask("ping", json!({}));
    assert_eq!(server.terminate(), 0);
    let _server = sandbox.serve(&[]);
    hears_of_every_list(&idle);
}

/// What a server that forgets its session was asked.
#[derive(Default)]
struct Forgetful {
    session: String,
    begun: u32,
    streams: u32,
    /// In the session of now.
    asked: Vec<String>,
}

impl Forgetful {
    fn answer(&mut self, request: &str) -> String {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let head = format!("{}\r\n", head.to_ascii_lowercase());
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        let result = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}}).to_string();
        if message["method"] == "initialize" {
            self.begun += 1;
            self.session = format!("s{}", self.begun);
            self.asked.clear();
            let session = format!("Mcp-Session-Id: {}\r\n", self.session);
            return answer(200, &session, &result);
        }
        if !head.contains(&format!("mcp-session-id: {}\r\n", self.session)) {
            return answer(404, "", "{}");
        }
        if head.starts_with("get ") {
            self.streams += 1;
            return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: \n\n".to_owned();
        }
        let (method, params) = (&message["method"], &message["params"]);
        let about = params["level"].as_str().or(params["uri"].as_str());
        let about = about.unwrap_or_default();
        self.asked
            .push(format!("{} {about}", method.as_str().unwrap_or_default()));
        match message["id"].is_null() {
            true => answer(202, "", ""),
            false => answer(200, "", &result),
        }
    }
}

#[test]
fn another_session_is_asked_for_what_the_one_before_was() {
    let state = Arc::new(Mutex::new(Forgetful::default()));
    let shared = Arc::clone(&state);
    let url = elsewhere(move |request| shared.lock().unwrap().answer(request));
    let mut spoken = Spoken::start(&Sandbox::bare(), &["--url", &url], false);
    spoken.ask("logging/setLevel", json!({"level": "debug"}));
    spoken.ask("logging/setLevel", json!({"level": "error"}));
    for uri in ["x://a", "x://b"] {
        spoken.ask("resources/subscribe", json!({"uri": uri}));
    }
    spoken.ask("resources/unsubscribe", json!({"uri": "x://a"}));
    until("it listens", || {
        (state.lock().unwrap().streams > 0).then_some(())
    });
    state.lock().unwrap().session = "another".to_owned();
    hears_of_every_list(&spoken);
    let state = state.lock().unwrap();
    assert_eq!(state.begun, 2);
    let expected = [
        "notifications/initialized ",
        "logging/setLevel error",
        "resources/subscribe x://b",
    ];
    assert_eq!(state.asked, expected);
}
