//! The outside of a replayed run: a provider that answers what was recorded, one exchange after the other, and the tools.

use super::tool_loop::{Answered, ToolLoop};
use crate::scripted::request;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

pub(super) struct Stage {
    /// Host and port.
    pub(super) address: String,
    set: Mutex<Set>,
}

/// Headers and body of an answer.
type Answer = (Vec<(String, String)>, Vec<u8>);

#[derive(Default)]
struct Set {
    answers: VecDeque<Answer>,
    results: Vec<Expected>,
    requests: Vec<Value>,
    calls: usize,
}

/// A call of which the answer was recorded.
struct Expected {
    tool: String,
    arguments: Value,
    answered: Answered,
}

impl Stage {
    pub(super) async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stage = Arc::new(Stage {
            address: listener.local_addr().unwrap().to_string(),
            set: Mutex::default(),
        });
        let shared = Arc::clone(&stage);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        stage
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next recording.
    pub(super) fn set(&self, tool_loop: &ToolLoop<'_>) {
        let answers = tool_loop.exchanges.iter().map(|it| it.reply());
        let results = tool_loop.calls().into_iter();
        let results = results.filter_map(|(id, tool, arguments)| {
            Some(Expected {
                answered: tool_loop.results.get(&id)?.clone(),
                tool,
                arguments,
            })
        });
        *self.set.lock().unwrap() = Set {
            answers: answers.collect(),
            results: results.collect(),
            ..Set::default()
        };
    }

    /// What the provider was asked.
    pub(super) fn requests(&self) -> Vec<Value> {
        self.set.lock().unwrap().requests.clone()
    }

    /// How many calls reached a tool.
    pub(super) fn calls(&self) -> usize {
        self.set.lock().unwrap().calls
    }

    fn answer(&self, path: &str, body: Value) -> String {
        let mut set = self.set.lock().unwrap();
        if let Some(tool) = path.strip_prefix("/tool/") {
            set.calls += 1;
            // A recording may name another tool than the model called.
            let is_same = |it: &Expected| it.arguments == body;
            let fits = |it: &Expected| is_same(it) && it.tool.eq_ignore_ascii_case(tool);
            let results = || set.results.iter();
            let found = results()
                .position(fits)
                .or_else(|| results().position(is_same));
            let Some(at) = found else {
                return written(404, "content-type: text/plain\r\n", b"nobody called this");
            };
            let answered = set.results.remove(at).answered;
            let status = if answered.is_error { 500 } else { 200 };
            let head = "content-type: text/plain; charset=utf-8\r\n";
            return written(status, head, answered.text.as_bytes());
        }
        set.requests.push(body);
        match set.answers.pop_front() {
            Some((headers, body)) => {
                let headers = headers
                    .iter()
                    .map(|(name, value)| format!("{name}: {value}\r\n"));
                written(200, &headers.collect::<String>(), &body)
            }
            None => written(
                400,
                "",
                b"{\"error\": {\"message\": \"nothing more was recorded\"}}",
            ),
        }
    }
}

fn written(status: u16, headers: &str, body: &[u8]) -> String {
    let length = body.len();
    let body = String::from_utf8_lossy(body);
    format!(
        "HTTP/1.1 {status} Recorded\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

async fn serve(mut stream: TcpStream, stage: Arc<Stage>) {
    let Some((head, body)) = request(&mut stream, &mut Vec::new()).await else {
        return;
    };
    let path = head.split(' ').nth(1).unwrap_or_default();
    let body = serde_json::from_slice(&body).unwrap_or_else(|_| Value::Object(Default::default()));
    let answer = stage.answer(path, body);
    let _ = stream.write_all(answer.as_bytes()).await;
}
