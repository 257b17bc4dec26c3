//! The crate through its public face: bodies written by hand for each wire format, a provider on this machine that
//! answers with them, and recordings of real providers where they are named (`scripts/replay`).

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

mod asking;
mod bodies;
mod broken;
mod ids;
mod journal;
mod mangled;
mod reading;
mod replay;
#[path = "../../../fetch/tests/it/server.rs"]
#[expect(dead_code, reason = "the client's own tests use more of it")]
mod server;
mod trying;
mod writing;
mod zhipu;

use fetch::{Fetcher, Options};
use providers::{
    Api, Arguments, Call, Client, Delta, Error, Request, Said, Target, Tool, ToolResult, Turn,
};
use serde_json::{Value, json};
use server::{Reply, Seen, Server};
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "sk-hand-written";

/// A provider on this machine, and how to reach it.
struct World {
    server: Arc<Server>,
    target: Target,
    client: Client,
    told: Vec<Delta>,
}

impl World {
    async fn new(api: Api, reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let server = Server::start(reply).await;
        let base = format!("http://{}", server.address);
        let mut target = Target::new(api, Some(&base), Some(KEY.to_owned()));
        target.first_pause = Duration::from_millis(1);
        World {
            server,
            target,
            client: Client::new(Fetcher::new(Options::default())),
            told: Vec::new(),
        }
    }

    /// One that gives these answers, one after the other.
    async fn in_turn(api: Api, replies: Vec<Reply>) -> Self {
        let replies = std::sync::Mutex::new(replies.into_iter());
        let next = move |_: &Seen| replies.lock().unwrap().next().expect("no more answers");
        World::new(api, next).await
    }

    async fn ask(&mut self, request: &Request) -> Result<Turn, Error> {
        let told = &mut self.told;
        let mut on = |delta| told.push(delta);
        self.client.turn(&self.target, request, &mut on).await
    }

    fn asked(&self) -> usize {
        self.server.seen().len()
    }

    fn sent(&self) -> Value {
        serde_json::from_slice(&self.server.last().body).unwrap()
    }
}

/// The simplest request that has a tool.
fn request() -> Request {
    Request {
        model: "some-model".to_owned(),
        system: Some("Use tools.".to_owned()),
        said: vec![Said::User("What is 2 + 3?".to_owned())],
        tools: vec![Tool {
            name: "math.add".to_owned(),
            description: "Adds.".to_owned(),
            input_schema: json!({"type": "object", "properties": {"a": {"type": "number"}}}),
        }],
        ..Request::default()
    }
}

fn streaming() -> Request {
    Request {
        stream: true,
        ..request()
    }
}

fn json_answer(body: &Value) -> Reply {
    let headers = [("Content-Type", "application/json")];
    server::answer("200 OK", &headers, body.to_string().as_bytes())
}

fn events_answer(events: &str) -> Reply {
    let headers = [("Content-Type", "text/event-stream")];
    server::answer("200 OK", &headers, events.as_bytes())
}

fn refusal(status: &str, body: &Value) -> Reply {
    server::answer(status, &[], body.to_string().as_bytes())
}

/// Two calls of the model, the second of which is garbled.
fn calls() -> Vec<Call> {
    let call = |id: &str, arguments| Call {
        id: id.to_owned(),
        name: "math.add".to_owned(),
        arguments,
    };
    vec![
        call("call_1", Arguments::Json(json!({"a": 2}))),
        call("call_2", Arguments::Bad("{\"a\"".to_owned())),
    ]
}

fn result(call_id: &str, text: &str, is_error: bool) -> ToolResult {
    ToolResult {
        call_id: call_id.to_owned(),
        name: "math.add".to_owned(),
        text: text.to_owned(),
        is_error,
        code: None,
    }
}
