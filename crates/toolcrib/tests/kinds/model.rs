//! A scripted model that the real program asks: what it says next follows from the results that it has been told.

use crate::dialect::{Call, Dialect};
use crate::harness::Sandbox;
use crate::site::Site;
use serde_json::Value;

/// What the model says: a text, and calls.
pub(crate) type Saying = (String, Vec<Call>);

pub(crate) fn say(text: &str) -> Saying {
    (text.to_owned(), Vec::new())
}

pub(crate) fn call(name: &'static str, arguments: Value) -> Saying {
    (String::new(), vec![(name, arguments)])
}

/// One that speaks whatever format it is asked in.
pub(crate) fn model(script: impl Fn(&[String]) -> Saying + Send + 'static) -> Site {
    Site::start(move |request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let dialect = Dialect::at(head.split(' ').nth(1).unwrap()).unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let results = dialect.results(&body);
        let (text, calls) = script(&results);
        let is_stream = body["stream"] == true;
        let kind = match is_stream {
            true => "text/event-stream",
            false => "application/json",
        };
        let turn = dialect.turn(&text, &calls, results.len(), is_stream);
        (200, kind, turn.into_bytes())
    })
}

/// What `toolcrib run` tells of a request to an agent.
pub(crate) fn run(sandbox: &Sandbox, agent: &str, request: &str) -> Value {
    let done = sandbox.run(&["--json", "run", "--agent", agent, request]);
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

/// The output of a run that ended well.
pub(crate) fn output(run: &Value) -> &str {
    assert_eq!(run["status"], "done", "{run}");
    run["output"].as_str().unwrap()
}
