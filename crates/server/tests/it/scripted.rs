//! An upstream MCP server that says what a test tells it to, and remembers what it was asked.

use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What has not happened by then never will.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Scripted {
    pub(crate) port: u16,
    told: Arc<Told>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Told {
    tools: Mutex<Value>,
    /// What else it answers, by the method.
    answers: Mutex<Map<String, Value>>,
    /// Connections, methods and `authorization` headers, in order.
    seen: Mutex<Vec<String>>,
}

impl Scripted {
    pub(crate) async fn start(tools: Value) -> Self {
        Scripted::start_at(0, tools).await
    }

    pub(crate) async fn start_at(port: u16, tools: Value) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let told = Arc::new(Told {
            tools: Mutex::new(tools),
            ..Told::default()
        });
        let shared = Arc::clone(&told);
        let task = tokio::spawn(async move {
            // Whoever is connected is left with the task.
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                shared.note("connection");
                open.spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Scripted { port, told, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// What it offers from now on, to whoever asks again.
    pub(crate) fn offer(&self, tools: Value) {
        *self.told.tools.lock().unwrap() = tools;
    }

    /// What it answers to a method from now on.
    pub(crate) fn say(&self, method: &str, result: Value) {
        let mut answers = self.told.answers.lock().unwrap();
        answers.insert(method.to_owned(), result);
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.told.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        self.seen().iter().filter(|it| *it == what).count()
    }

    /// Nobody answers there any more.
    pub(crate) async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

impl Told {
    fn note(&self, what: &str) {
        self.seen.lock().unwrap().push(what.to_owned());
    }

    fn answer(&self, method: &str, params: &Value) -> Option<Value> {
        let answers = self.answers.lock().unwrap();
        if let Some(answer) = answers.get(method) {
            return Some(answer.clone());
        }
        Some(match method {
            "initialize" => {
                let mut able = json!({"tools": {}});
                for offer in ["resources", "prompts"] {
                    if answers.contains_key(&format!("{offer}/list")) {
                        able[offer] = json!({});
                    }
                }
                json!({"protocolVersion": "2025-06-18", "capabilities": able, "serverInfo": {"name": "scripted"}})
            }
            "tools/list" => json!({"tools": *self.tools.lock().unwrap()}),
            "tools/call" => {
                let text = format!("ran {}", params["name"].as_str().unwrap());
                json!({"content": [{"type": "text", "text": text}]})
            }
            "ping" => json!({}),
            _ => return None,
        })
    }
}

async fn serve(mut stream: TcpStream, told: Arc<Told>) {
    let mut read = Vec::new();
    while let Some((head, body)) = request(&mut stream, &mut read).await {
        let is_post = head.starts_with("post ");
        for line in head
            .lines()
            .filter(|line| line.starts_with("authorization:"))
        {
            told.note(line);
        }
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let (status, answer) = match (is_post, message.get("id")) {
            (false, _) => ("405 Method Not Allowed", String::new()),
            (true, None) => ("202 Accepted", String::new()),
            (true, Some(id)) => {
                told.note(method);
                let answer = match told.answer(method, &message["params"]) {
                    Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    None => {
                        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}})
                    }
                };
                ("200 OK", answer.to_string())
            }
        };
        let length = answer.len();
        let text = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}"
        );
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The next request: its head in small letters, and its body.
pub(crate) async fn request(
    stream: &mut TcpStream,
    read: &mut Vec<u8>,
) -> Option<(String, Vec<u8>)> {
    let end = |bytes: &[u8]| bytes.windows(4).position(|it| it == b"\r\n\r\n");
    let head_end = loop {
        if let Some(at) = end(read) {
            break at + 4;
        }
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&read[..head_end]).to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    let length = length.map_or(0, |it| it.trim().parse().unwrap());
    while read.len() < head_end + length {
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
    let body = read[head_end..head_end + length].to_vec();
    read.drain(..head_end + length);
    Some((head, body))
}

/// Asks until the answer is there.
pub(crate) async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let wait = async {
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}"))
}

pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}
