//! A model for tests: a server on this machine that speaks Anthropic's wire format and says what its script says.

use serde_json::{Value, json};
use std::fmt::Write;
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
    /// A refusal of the provider.
    Refuse(u16, Value),
    /// The beginning of a text, and nothing more until somebody says so.
    Hold(&'static str),
}

impl Say {
    pub(crate) fn text(text: &str) -> Self {
        Say::Text(text.to_owned())
    }

    pub(crate) fn call(name: &'static str, arguments: Value) -> Self {
        Say::Calls(vec![(name, arguments)])
    }
}

type Script = dyn Fn(&Value) -> Say + Send + Sync;

pub(crate) struct Model {
    pub(crate) url: String,
    told: Arc<Told>,
    task: tokio::task::JoinHandle<()>,
}

struct Told {
    script: Box<Script>,
    requests: Mutex<Vec<Value>>,
    go_on: Notify,
}

impl Model {
    /// One that answers by what it is asked.
    pub(crate) async fn by(script: impl Fn(&Value) -> Say + Send + Sync + 'static) -> Self {
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
        Model::by(move |request| {
            let said = request["messages"].as_array().unwrap().iter();
            let turns = said.filter(|it| it["role"] == "assistant").count();
            script
                .get(turns)
                .cloned()
                .unwrap_or_else(|| Say::text("That is all."))
        })
        .await
    }

    /// What it was asked, in order.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.told.requests.lock().unwrap().clone()
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
        json!({"name": name, "model_provider": "anthropic", "model_name": "claude-test", "base_url": self.url})
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, told: Arc<Told>) {
    let Some(request) = read(&mut stream).await else {
        return;
    };
    told.requests.lock().unwrap().push(request.clone());
    let count = told.requests.lock().unwrap().len();
    let is_stream = request["stream"] == true;
    let (status, text) = match (told.script)(&request) {
        Say::Refuse(status, body) => (status, body.to_string()),
        Say::Text(text) if is_stream => (200, streamed(&[json!({"type": "text", "text": text})])),
        Say::Text(text) => (200, whole(&[json!({"type": "text", "text": text})])),
        Say::Calls(calls) => {
            let block = |(i, (name, input)): (usize, &(&str, Value))| json!({"type": "tool_use", "id": format!("toolu_{count}_{i}"), "name": name, "input": input});
            let blocks: Vec<Value> = calls.iter().enumerate().map(block).collect();
            match is_stream {
                true => (200, streamed(&blocks)),
                false => (200, whole(&blocks)),
            }
        }
        Say::Hold(text) => {
            let all = streamed(&[json!({"type": "text", "text": text})]);
            let end = all.find("event: content_block_stop").unwrap();
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let go_on = told.go_on.notified();
            let _ = stream
                .write_all(format!("{head}{}", &all[..end]).as_bytes())
                .await;
            tokio::select! {
                () = go_on => {
                    let _ = stream.write_all(&all.as_bytes()[end..]).await;
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

async fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 8192];
        let count = stream.read(&mut piece).await.ok().filter(|it| *it > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, _)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().unwrap())
        });
        let from = head.len() + 4;
        if bytes.len() >= from + length.unwrap_or(0) {
            return serde_json::from_slice(&bytes[from..]).ok();
        }
    }
}

fn stop_reason(blocks: &[Value]) -> &'static str {
    match blocks.iter().any(|it| it["type"] == "tool_use") {
        true => "tool_use",
        false => "end_turn",
    }
}

fn whole(blocks: &[Value]) -> String {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": blocks,
        "stop_reason": stop_reason(blocks), "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 5}
    })
    .to_string()
}

fn streamed(blocks: &[Value]) -> String {
    let mut all = String::new();
    let mut event = |name: &str, data: Value| {
        let _ = write!(all, "event: {name}\ndata: {data}\n\n");
    };
    event(
        "message_start",
        json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1}}}),
    );
    for (index, block) in blocks.iter().enumerate() {
        let mut empty = block.clone();
        let delta = match block["type"] == "text" {
            true => {
                empty["text"] = json!("");
                json!({"type": "text_delta", "text": block["text"]})
            }
            false => {
                empty["input"] = json!({});
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
            }
        };
        event(
            "content_block_start",
            json!({"type": "content_block_start", "index": index, "content_block": empty}),
        );
        event(
            "content_block_delta",
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
        );
        event(
            "content_block_stop",
            json!({"type": "content_block_stop", "index": index}),
        );
    }
    event(
        "message_delta",
        json!({"type": "message_delta", "delta": {"stop_reason": stop_reason(blocks), "stop_sequence": null}, "usage": {"output_tokens": 5}}),
    );
    event("message_stop", json!({"type": "message_stop"}));
    all
}
