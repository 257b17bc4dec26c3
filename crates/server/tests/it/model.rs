//! A model for tests: a server on this machine that speaks the wire formats of providers and says what its script says.

use crate::dialect::{Dialect, messages, messages_events};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What the model says next.
#[derive(Clone)]
pub(crate) enum Say {
    Text(String),
    /// Calls: names and arguments.
    Calls(Vec<(&'static str, Value)>),
    /// Blocks as Anthropic sends them.
    Blocks(Vec<Value>),
    /// A text, and why there is no more of it, in Anthropic's words.
    Stopped(&'static str, &'static str),
    /// Calls, and why there is no more of them, in Anthropic's words.
    Cut(&'static str, Vec<(&'static str, Value)>),
    /// Calls of a provider that does not say what they used.
    Uncounted(Vec<(&'static str, Value)>),
    /// A refusal of the provider.
    Refuse(u16, Value),
    /// The beginning of a text, and nothing more until somebody says so; then the calls.
    Hold(&'static str, Vec<(&'static str, Value)>),
    /// The beginning of a text; the connection breaks when somebody says so.
    Break(&'static str),
}

impl Say {
    pub(crate) fn text(text: &str) -> Self {
        Say::Text(text.to_owned())
    }

    pub(crate) fn call(name: &'static str, arguments: Value) -> Self {
        Say::Calls(vec![(name, arguments)])
    }

    /// Only a text, held up.
    pub(crate) fn hold(text: &'static str) -> Self {
        Say::Hold(text, Vec::new())
    }
}

type Script = dyn Fn(Dialect, &Value) -> Say + Send + Sync;

pub(crate) struct Model {
    pub(crate) url: String,
    told: Arc<Told>,
    task: tokio::task::JoinHandle<()>,
}

struct Told {
    script: Box<Script>,
    requests: Mutex<Vec<(Dialect, Value)>>,
    go_on: Notify,
}

impl Model {
    /// One that answers by what it is asked.
    pub(crate) async fn by(script: impl Fn(&Value) -> Say + Send + Sync + 'static) -> Self {
        Model::speaking(move |_, request| script(request)).await
    }

    /// The same in whatever format it is asked.
    pub(crate) async fn speaking(
        script: impl Fn(Dialect, &Value) -> Say + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let told = Arc::new(Told {
            script: Box::new(script),
            requests: Mutex::default(),
            go_on: Notify::new(),
        });
        let shared = Arc::clone(&told);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Model { url, told, task }
    }

    /// One that says these things, one after the other: which is told by how many turns it has had.
    pub(crate) async fn saying(script: Vec<Say>) -> Self {
        Model::speaking(move |dialect, request| {
            script
                .get(dialect.turns(request))
                .cloned()
                .unwrap_or_else(|| Say::text("That is all."))
        })
        .await
    }

    /// What it was asked, in order.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let requests = self.told.requests.lock().unwrap();
        requests.iter().map(|it| it.1.clone()).collect()
    }

    /// The tools that it was shown in its last request, and the results that it was told.
    pub(crate) fn last(&self) -> (Vec<String>, Vec<String>) {
        let requests = self.told.requests.lock().unwrap();
        let (dialect, request) = requests.last().unwrap();
        (dialect.tools(request), dialect.results(request))
    }

    /// The results that it was told in its last request, in order.
    pub(crate) fn results(&self) -> Vec<(String, bool)> {
        let requests = self.requests();
        let last = requests.last().unwrap()["messages"]
            .as_array()
            .unwrap()
            .clone();
        let blocks = last
            .iter()
            .flat_map(|it| it["content"].as_array().cloned().unwrap_or_default());
        let results = blocks.filter(|it| it["type"] == "tool_result");
        results
            .map(|it| {
                let text = it["content"].as_str().map(str::to_owned);
                let text = text.unwrap_or_else(|| {
                    it["content"][0]["text"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned()
                });
                (text, it["is_error"] == true)
            })
            .collect()
    }

    pub(crate) fn go_on(&self) {
        self.told.go_on.notify_waiters();
    }

    /// The body of an agent that asks it.
    pub(crate) fn agent(&self, name: &str) -> Value {
        Dialect::Messages.agent(name, &self.url)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, told: Arc<Told>) {
    let Some((dialect, request)) = read(&mut stream).await else {
        return;
    };
    let count = {
        let mut requests = told.requests.lock().unwrap();
        requests.push((dialect, request.clone()));
        requests.len()
    };
    let is_stream = request["stream"] == true;
    let (status, text) = match (told.script)(dialect, &request) {
        Say::Refuse(status, body) => (status, body.to_string()),
        Say::Text(text) => (200, dialect.turn(&text, &[], count, is_stream)),
        Say::Calls(calls) => (200, dialect.turn("", &calls, count, is_stream)),
        Say::Blocks(blocks) if is_stream => (200, messages_events(&blocks)),
        Say::Blocks(blocks) => (200, messages(&blocks).to_string()),
        Say::Stopped(text, reason) => {
            let whole = Dialect::Messages.turn(text, &[], count, is_stream);
            (200, whole.replace("end_turn", reason))
        }
        Say::Cut(reason, calls) => {
            let whole = Dialect::Messages.turn("", &calls, count, is_stream);
            let ends = |reason: &str| format!("\"stop_reason\":\"{reason}\"");
            (200, whole.replace(&ends("tool_use"), &ends(reason)))
        }
        Say::Uncounted(calls) => {
            let mut whole = Dialect::Messages.turn("", &calls, count, is_stream);
            for count in [
                "input_tokens\":10",
                "output_tokens\":5",
                "output_tokens\":1",
            ] {
                let (name, _) = count.split_once(':').unwrap();
                whole = whole.replace(count, &format!("{name}:0"));
            }
            (200, whole)
        }
        Say::Break(text) => {
            let all = Dialect::Messages.turn(text, &[], count, true);
            let go_on = told.go_on.notified();
            if begin(&mut stream, &all).await.is_some() {
                go_on.await;
            }
            return;
        }
        Say::Hold(text, calls) => {
            let all = Dialect::Messages.turn(text, &calls, count, true);
            let go_on = told.go_on.notified();
            let Some(rest) = begin(&mut stream, &all).await else {
                return;
            };
            tokio::select! {
                () = go_on => {
                    let _ = stream.write_all(rest.as_bytes()).await;
                }
                // Until whoever asked hangs up.
                _ = stream.read_u8() => {}
            }
            return;
        }
    };
    let kind = if is_stream && status == 200 {
        "text/event-stream"
    } else {
        "application/json"
    };
    let answer = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
}

/// Sends a stream as far as the end of its first text; the rest of it.
async fn begin<'a>(stream: &mut TcpStream, all: &'a str) -> Option<&'a str> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let (begins, rest) = all.split_at(all.find("event: content_block_stop")?);
    let begins = format!("{head}{begins}");
    let sent = stream.write_all(begins.as_bytes()).await;
    sent.ok().map(|()| rest)
}

async fn read(stream: &mut TcpStream) -> Option<(Dialect, Value)> {
    let (head, body) = crate::scripted::request(stream, &mut Vec::new()).await?;
    let dialect = Dialect::at(head.split(' ').nth(1)?)?;
    Some((dialect, serde_json::from_slice(&body).ok()?))
}
