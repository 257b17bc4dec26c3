//! MCP on stdin and stdout: every line is posted to the server, and what it answers or says comes back as lines. The era
//! is the client's business and the server's; here only sessions, cancelling and lost connections are looked after.

mod link;
mod session;

pub(crate) use link::{Link, Local, Lost, Need};

use fetch::events::Events;
use link::{Headers, Reply};
use mcp::headers::{marked, named_by, written};
use mcp::wire::{self, MODERN, Message, RpcError, Sort, code};
use serde_json::Value;
use session::Kept;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The longest line that is taken.
const LINE_BYTES_MAX: usize = 64 << 20;

/// How long answers are waited for when stdin has ended, and how long they may take to be written.
const LAST_ANSWERS: Duration = Duration::from_secs(30);
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(crate) struct Bridge {
    link: Link,
    out: mpsc::Sender<String>,
    tasks: TaskTracker,
    /// Requests that end only with their client.
    listens: CancellationToken,
    /// One session at a time is begun in place of one that the server has forgotten.
    beginning: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<String>,
    /// What the client began with, to begin again where the server has forgotten.
    initialize: Option<String>,
    running: HashMap<String, CancellationToken>,
    /// Requests whose answers nobody wants any more.
    cancelled: HashSet<String>,
    listening: Option<CancellationToken>,
    kept: Kept,
    /// The schemas of tools that want arguments repeated in headers.
    marked: HashMap<String, Value>,
}

/// Reads stdin until it ends. Both ends are threads: a runtime could not stop while one of its own waits for a line.
pub(crate) async fn run(link: Link) -> std::io::Result<()> {
    let (out, lines) = mpsc::channel::<String>(256);
    let writing = std::thread::spawn(move || write(lines));
    let (taken, mut asked) = mpsc::channel(16);
    std::thread::spawn(move || read(&taken));
    let bridge = Arc::new(Bridge {
        link,
        out,
        tasks: TaskTracker::new(),
        listens: CancellationToken::new(),
        beginning: tokio::sync::Mutex::default(),
        state: Mutex::default(),
    });
    let mut terminate = signal(SignalKind::terminate())?;
    loop {
        let line = tokio::select! {
            line = asked.recv() => line,
            _ = terminate.recv() => None,
            _ = tokio::signal::ctrl_c() => None,
        };
        match line {
            None => break,
            Some(Ok(text)) => bridge.take(text).await,
            Some(Err(error)) => bridge.say(wire::error(None, &error)).await,
        }
    }
    bridge.listens.cancel();
    // Whoever closes stdin right after the last line may still want its answer.
    bridge.tasks.close();
    tokio::select! {
        _ = tokio::time::timeout(LAST_ANSWERS, bridge.tasks.wait()) => {}
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    bridge.end().await;
    drop(bridge);
    let written = tokio::task::spawn_blocking(move || writing.join());
    let _ = tokio::time::timeout(LAST_WORDS, written).await;
    Ok(())
}

fn write(mut lines: mpsc::Receiver<String>) {
    let mut stdout = std::io::stdout().lock();
    while let Some(mut line) = lines.blocking_recv() {
        // Between the lines of a JSON text there is nothing that matters.
        line.retain(|letter| letter != '\n' && letter != '\r');
        line.push('\n');
        if stdout.write_all(line.as_bytes()).is_err() || stdout.flush().is_err() {
            return;
        }
    }
}

/// Every line, or why it is none that could be passed on.
fn read(taken: &mpsc::Sender<Result<String, RpcError>>) {
    let mut stdin = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = (&mut stdin)
            .take(LINE_BYTES_MAX as u64)
            .read_until(b'\n', &mut line);
        if !matches!(most, Ok(n) if n > 0) {
            return;
        }
        let is_cut = line.len() == LINE_BYTES_MAX && !line.ends_with(b"\n");
        if is_cut && stdin.skip_until(b'\n').is_err() {
            return;
        }
        let said = match std::str::from_utf8(&line) {
            _ if is_cut => {
                let why = "The line is too long";
                Err(RpcError::new(code::INVALID_REQUEST, why))
            }
            Err(_) => Err(RpcError::new(code::PARSE, "The line is not UTF-8")),
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => Ok(text.trim().to_owned()),
        };
        if taken.blocking_send(said).is_err() {
            return;
        }
    }
}

impl Bridge {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn say(&self, line: String) {
        let _ = self.out.send(line).await;
    }

    /// One line of the client's. Requests go on in tasks of their own; everything else in its order.
    async fn take(self: &Arc<Self>, text: String) {
        if text.starts_with('[') {
            return self.take_several(&text).await;
        }
        let message = match Message::read(&text) {
            Ok(message) => message,
            Err(error) => return self.say(unreadable(&error)).await,
        };
        let method = message.method.as_deref().unwrap_or_default().to_owned();
        let is_modern = face::modern::is_modern(None, &message);
        match message.sort() {
            Sort::Request if method == "initialize" && !is_modern => {
                self.lock().initialize = Some(text.clone());
                self.request(text, None).await;
            }
            Sort::Request => {
                self.lock().kept.note(&message);
                let id = message.id.map(|id| id.get().to_owned()).unwrap_or_default();
                let token = match method == "subscriptions/listen" {
                    true => self.listens.child_token(),
                    false => CancellationToken::new(),
                };
                self.lock().running.insert(id.clone(), token.clone());
                let bridge = Arc::clone(self);
                self.tasks.spawn(async move {
                    let headers = is_modern.then(|| bridge.described(&text));
                    tokio::select! {
                        () = bridge.request(text, headers) => {}
                        // A modern server is told by hanging up.
                        () = token.cancelled() => {}
                    }
                    let mut state = bridge.lock();
                    state.running.remove(&id);
                    state.cancelled.remove(&id);
                });
            }
            Sort::Notification if method == "notifications/cancelled" => {
                let params: Value = message
                    .params
                    .and_then(|it| serde_json::from_str(it.get()).ok())
                    .unwrap_or_default();
                self.cancel(&params["requestId"].to_string(), text).await;
            }
            Sort::Odd => {
                let why = "This is no JSON-RPC message: expected an object with \"jsonrpc\": \"2.0\" and a \"method\", or the answer to a request";
                let error = RpcError::new(code::INVALID_REQUEST, why);
                self.say(wire::error(message.id, &error)).await;
            }
            Sort::Notification | Sort::Response => {
                let _ = self.post(&text, None, Need::Own).await;
                if method == "notifications/initialized" {
                    self.listen();
                }
            }
        }
    }

    /// Several messages at once, as one version of the protocol had it. The server answers them together.
    async fn take_several(self: &Arc<Self>, text: &str) {
        let messages: Vec<Message<'_>> = match serde_json::from_str(text) {
            Ok(messages) => messages,
            Err(error) => return self.say(unreadable(&error)).await,
        };
        let is = |message: &Message<'_>, method: &str| message.method.as_deref() == Some(method);
        let listens = messages
            .iter()
            .any(|it| is(it, "notifications/initialized"));
        let requests = messages.iter().filter(|it| it.sort() == Sort::Request);
        let mut ids = Vec::new();
        for request in requests {
            self.lock().kept.note(request);
            ids.extend(request.id.map(ToOwned::to_owned));
        }
        if ids.is_empty() && !messages.is_empty() {
            let _ = self.post(text, None, Need::Own).await;
        } else {
            let (bridge, text) = (Arc::clone(self), text.to_owned());
            self.tasks.spawn(async move {
                let passed = match bridge.post(&text, None, Need::Client).await {
                    Ok(reply) => bridge.pass("", reply).await,
                    Err(lost) => Err(lost),
                };
                if let Err(lost) = passed {
                    let error = RpcError::new(code::INTERNAL, lost.to_string());
                    let each = ids.iter().map(|id| wire::error(Some(id), &error));
                    let each = each.collect::<Vec<_>>().join(",");
                    let all = match ids.is_empty() {
                        true => wire::error(None, &error),
                        false => format!("[{each}]"),
                    };
                    bridge.say(all).await;
                }
            });
        }
        if listens {
            self.listen();
        }
    }

    /// A legacy server is told; either way nobody waits for the answer any more.
    async fn cancel(self: &Arc<Self>, id: &str, text: String) {
        let (token, is_legacy) = {
            let mut state = self.lock();
            let token = state.running.get(id).cloned();
            if token.is_some() {
                state.cancelled.insert(id.to_owned());
            }
            (token, state.session.is_some())
        };
        if is_legacy {
            let _ = self.post(&text, None, Need::Own).await;
        } else if let Some(token) = token {
            token.cancel();
        }
    }

    /// Posts a request and passes on everything that comes back for it.
    async fn request(self: &Arc<Self>, text: String, described: Option<Described>) {
        let Ok(message) = Message::read(&text) else {
            return;
        };
        let id = message.id.map(|id| id.get().to_owned()).unwrap_or_default();
        let passed = match self.post(&text, described.as_ref(), Need::Client).await {
            Ok(reply) => self.pass(&id, reply).await,
            Err(lost) => Err(lost),
        };
        if let Err(lost) = passed {
            let error = RpcError::new(code::INTERNAL, lost.to_string());
            self.say(wire::error(message.id, &error)).await;
        }
    }

    async fn pass(&self, id: &str, mut reply: Reply) -> Result<(), Lost> {
        let mut is_answered = false;
        if reply.is_stream {
            let mut events = Events::new(LINE_BYTES_MAX);
            while let Some(Ok(bytes)) = reply.next().await {
                for text in messages(&mut events, &bytes)? {
                    is_answered |= is_answer(&text);
                    self.say_unless_cancelled(id, text).await;
                }
            }
        } else {
            let body = reply.whole().await?;
            if reply.status >= 400 && !answers(&body, id) {
                return Err(Lost::Refused(refusal(reply.status, &body)));
            }
            is_answered = !body.is_empty();
            if is_answered {
                self.say_unless_cancelled(id, body).await;
            }
        }
        let early = || Lost::Midway("the connection ended before the answer".to_owned());
        is_answered.then_some(()).ok_or_else(early)
    }

    async fn say_unless_cancelled(&self, id: &str, text: String) {
        self.note_tools(&text);
        let is_cancelled = self.lock().cancelled.contains(id);
        if !(is_cancelled && is_answer(&text)) {
            self.say(text).await;
        }
    }

    /// Posts a message; where the server has forgotten the session, begins anew and posts it again.
    async fn post(
        self: &Arc<Self>,
        text: &str,
        described: Option<&Described>,
        need: Need,
    ) -> Result<Reply, Lost> {
        let session = self.session();
        let reply = self.post_once(text, described, session.as_deref(), need);
        let reply = reply.await?;
        let Some(forgotten) = session.filter(|_| reply.status == 404 && described.is_none()) else {
            return Ok(reply);
        };
        if !self.begin_anew(&forgotten, need).await? {
            return Ok(reply);
        }
        let session = self.session();
        self.post_once(text, described, session.as_deref(), need)
            .await
    }

    fn session(&self) -> Option<String> {
        self.lock().session.clone()
    }

    async fn post_once(
        &self,
        text: &str,
        described: Option<&Described>,
        session: Option<&str>,
        need: Need,
    ) -> Result<Reply, Lost> {
        let mut headers: Headers = Vec::new();
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        add("content-type", "application/json");
        add("accept", "application/json, text/event-stream");
        match described {
            Some(described) => {
                add("mcp-protocol-version", MODERN);
                add("mcp-method", &described.method);
                if let Some(name) = &described.name {
                    add("mcp-name", name);
                }
                headers.extend(described.repeated.iter().cloned());
            }
            None => add_session(&mut headers, session),
        }
        let reply = self.link.send("POST", &headers, Some(text), need).await?;
        if let Some(session) = &reply.session {
            self.lock().session = Some(session.clone());
        }
        Ok(reply)
    }

    /// The client is gone.
    async fn end(&self) {
        if let Some(listening) = self.lock().listening.take() {
            listening.cancel();
        }
        if let Some(session) = self.session() {
            let mut headers = Vec::new();
            add_session(&mut headers, Some(&session));
            let _ = self.link.send("DELETE", &headers, None, Need::Own).await;
        }
        self.link.close().await;
    }
}

/// What the headers of a modern request repeat of its body.
struct Described {
    method: String,
    name: Option<String>,
    /// Arguments.
    repeated: Vec<(String, String)>,
}

impl Bridge {
    fn described(&self, text: &str) -> Described {
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let name = named_by(method).and_then(|member| message["params"][member].as_str());
        let schema = name.and_then(|name| self.lock().marked.get(name).cloned());
        let marked = schema.and_then(|schema| marked(&schema).ok());
        let repeated = marked.into_iter().flatten().filter_map(|param| {
            let text = param.text(message["params"].get("arguments"))?;
            Some((param.header.to_string(), written(&text).into_owned()))
        });
        Described {
            method: method.to_owned(),
            name: name.map(|name| written(name).into_owned()),
            repeated: repeated.collect(),
        }
    }

    /// Remembers the tools whose arguments are to be repeated in headers.
    fn note_tools(&self, text: &str) {
        if !text.contains("x-mcp-header") {
            return;
        }
        let answer: Value = serde_json::from_str(text).unwrap_or_default();
        let tools = answer["result"]["tools"].as_array().cloned();
        let mut state = self.lock();
        for tool in tools.unwrap_or_default() {
            if let Some(name) = tool["name"].as_str() {
                state
                    .marked
                    .insert(name.to_owned(), tool["inputSchema"].clone());
            }
        }
    }
}

fn add_session(headers: &mut Headers, session: Option<&str>) {
    if let Some(session) = session {
        headers.push(("mcp-session-id".to_owned(), session.to_owned()));
    }
}

/// The messages that are whole with these bytes.
fn messages(events: &mut Events, bytes: &[u8]) -> Result<Vec<String>, Lost> {
    let events = events.take(bytes);
    let events = events.map_err(|_| Lost::Midway("an event is too long".to_owned()))?;
    let texts = events.into_iter().map(|event| event.data);
    Ok(texts.filter(|text| !text.trim().is_empty()).collect())
}

/// Whether this is the answer to this request: before it is read, a request is refused without its id.
fn answers(text: &str, id: &str) -> bool {
    Message::read(text).is_ok_and(|message| message.id.is_some_and(|it| it.get() == id))
}

/// What a server says that refuses a request unread.
fn refusal(status: u16, body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    match body["error"]["message"].as_str() {
        Some(message) => message.to_owned(),
        None => format!("it answers with status {status}"),
    }
}

/// What is said of a line that is no message.
fn unreadable(error: &serde_json::Error) -> String {
    let code = match error.is_data() {
        true => code::INVALID_REQUEST,
        false => code::PARSE,
    };
    let error = RpcError::new(code, format!("This is no message: {error}"));
    wire::error(None, &error)
}

fn is_answer(text: &str) -> bool {
    Message::read(text).is_ok_and(|message| message.sort() == Sort::Response)
}
