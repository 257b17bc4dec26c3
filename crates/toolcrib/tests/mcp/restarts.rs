//! `toolcrib mcp` while its server stops and starts again.

use crate::crib::Crib;
use crate::stdio::{PATIENCE, Spoken};
use serde_json::{Value, json};

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
