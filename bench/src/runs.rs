//! Runs against a model of our own that writes the time into its text: how long after it has written something somebody who
//! follows the run reads it, and how long after it has asked for a call the tool is asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::Failure;
use crate::proc::tree_usage;

#[derive(Args)]
pub(crate) struct RunsArgs {
    /// Address of the server, such as 127.0.0.1:8787
    #[arg(long)]
    address: String,
    #[arg(long)]
    key: String,
    /// The server's process
    #[arg(long)]
    pid: u32,
    /// Runs at a time
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// Pieces of text in each
    #[arg(long, default_value_t = 100)]
    pieces: usize,
    /// Milliseconds between two pieces
    #[arg(long, default_value_t = 100)]
    pause_ms: u64,
    /// Calls of a tool, one after the other
    #[arg(long, default_value_t = 200)]
    calls: usize,
}

/// The model and the site of the tool.
struct Outside {
    began: Instant,
    pieces: usize,
    pause: Duration,
    calls: usize,
    /// When a call was asked for, and how long after that the tool was asked, in microseconds.
    asked_at: Mutex<Option<Instant>>,
    starts: Mutex<Vec<u64>>,
}

pub(crate) fn run(args: &RunsArgs) -> Result<(), Failure> {
    crate::on_one_thread(measure(args))?
}

async fn measure(args: &RunsArgs) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .map_err(|e| e.to_string())?;
    let outside = Arc::new(Outside {
        began: Instant::now(),
        pieces: args.pieces,
        pause: Duration::from_millis(args.pause_ms),
        calls: args.calls,
        asked_at: Mutex::default(),
        starts: Mutex::default(),
    });
    let url = format!(
        "http://{}",
        listener.local_addr().map_err(|e| e.to_string())?
    );
    let shared = Arc::clone(&outside);
    tokio::task::spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let shared = Arc::clone(&shared);
            tokio::task::spawn_local(async move {
                let _ = shared.answer(stream).await;
            });
        }
    });
    prepare(args, &url).await?;
    let mut delays = Vec::new();
    let before = tree_usage(args.pid)?.rss_kb;
    let streaming = stream_all(args, &outside, &mut delays);
    let peak = streaming.await?;
    delays.sort_unstable();
    let per_run = peak.saturating_sub(before) as f64 / args.runs as f64;
    // Alone: what is measured is the way of one call, not a queue.
    let body = json!({"input": "calls", "agent": "bench-runs", "tools": ["bench_site"]});
    let (status, told) = ask(args, "POST", "/api/v1/runs", &body).await?;
    if status != 200 || told["status"] != "done" {
        return Err(format!(
            "the run with calls did not end well: {status} {told}"
        ));
    }
    let mut starts = outside
        .starts
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    starts.sort_unstable();
    crate::print_line(
        &json!({
            "runs": args.runs, "events": delays.len(), "expected": args.runs * args.pieces,
            "delay_p50_ms": at(&delays, 0.5) / 1e3, "delay_p99_ms": at(&delays, 0.99) / 1e3, "delay_max_ms": at(&delays, 1.0) / 1e3,
            "kb_per_run": per_run, "rss_before_kb": before, "rss_peak_kb": peak,
            "calls": starts.len(), "start_p50_us": at(&starts, 0.5), "start_p99_us": at(&starts, 0.99),
        })
        .to_string(),
    )
}

fn at(sorted: &[u64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * share).round() as usize)
        .map_or(f64::NAN, |it| *it as f64)
}

/// The agent, and the tool that it calls.
async fn prepare(args: &RunsArgs, url: &str) -> Result<(), Failure> {
    let agent = json!({
        "name": "bench-runs", "model_provider": "anthropic", "model_name": "m", "base_url": url, "tools": ["bench_site"],
        "config": {"max_steps": args.calls + 10, "max_tool_calls": args.calls + 10}
    });
    let tool = json!({
        "name": "bench_site", "shelf": "file", "kind": "http", "description": "Asks a site", "config": {"method": "GET", "base_url": url, "path": "/site"},
        "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "annotations": {"readOnlyHint": true, "openWorldHint": false}
    });
    // The workspace may be that of a run before, on another engine.
    ask(args, "DELETE", "/api/v1/tools/bench_site", &Value::Null).await?;
    for (path, body) in [("/api/v1/tools", tool), ("/api/v1/agents", agent)] {
        let (status, told) = ask(args, "POST", path, &body).await?;
        if status != 201 {
            return Err(format!("{path}: {status} {told}"));
        }
    }
    Ok(())
}

/// All runs at once; the most memory that the server had meanwhile.
async fn stream_all(
    args: &RunsArgs,
    outside: &Arc<Outside>,
    delays: &mut Vec<u64>,
) -> Result<u64, Failure> {
    let mut following = JoinSet::new();
    for _ in 0..args.runs {
        let (address, key, outside) = (args.address.clone(), args.key.clone(), Arc::clone(outside));
        following.spawn_local(async move { follow(&address, &key, &outside).await });
    }
    let mut peak = 0;
    let mut look = tokio::time::interval(Duration::from_millis(250));
    loop {
        tokio::select! {
            _ = look.tick() => peak = peak.max(tree_usage(args.pid)?.rss_kb),
            ended = following.join_next() => match ended {
                None => return Ok(peak),
                Some(ended) => delays.extend(ended.map_err(|e| e.to_string())??),
            },
        }
    }
}

/// One run, followed to its end: the delay of every piece, in microseconds.
async fn follow(address: &str, key: &str, outside: &Outside) -> Result<Vec<u64>, Failure> {
    let body = json!({"input": "text", "agent": "bench-runs", "stream": true}).to_string();
    let head = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let failed = |e: std::io::Error| format!("a run could not be followed: {e}");
    let mut stream = TcpStream::connect(address).await.map_err(failed)?;
    stream.write_all(head.as_bytes()).await.map_err(failed)?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).await.map_err(failed)?;
    if !line.contains(" 200 ") {
        return Err(format!("a run was refused: {line}"));
    }
    let mut delays = Vec::new();
    let mut is_text = false;
    // Lines that are sizes of chunks, or empty, are no events.
    loop {
        line.clear();
        if reader.read_line(&mut line).await.map_err(failed)? == 0 {
            return Err("a stream ended before its run did".to_owned());
        }
        if let Some(name) = line.strip_prefix("event: ") {
            is_text = name.trim() == "text_delta";
            match name.trim() {
                "done" => return Ok(delays),
                "error" => return Err(format!("a run failed: {}", next_line(&mut reader).await)),
                _ => {}
            }
        } else if let Some(data) = line.strip_prefix("data: ").filter(|_| is_text) {
            let now = outside.now_us();
            let data: Value = serde_json::from_str(data).map_err(|e| format!("{e}: {data}"))?;
            let text = data["text"].as_str().unwrap_or_default();
            let times = text
                .split_whitespace()
                .filter_map(|it| it.parse::<u64>().ok());
            delays.extend(times.map(|written| now.saturating_sub(written)));
        }
    }
}

async fn next_line(reader: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    let _ = reader.read_line(&mut line).await;
    line
}

/// One request with its answer.
async fn ask(
    args: &RunsArgs,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<(u16, Value), Failure> {
    let text = body.to_string();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nX-API-Key: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        args.address,
        args.key,
        text.len()
    );
    let failed = |e: std::io::Error| format!("{path}: {e}");
    let mut stream = TcpStream::connect(&args.address).await.map_err(failed)?;
    stream.write_all(head.as_bytes()).await.map_err(failed)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.map_err(failed)?;
    let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok());
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.trim());
    let body = body.and_then(|it| serde_json::from_str(it).ok());
    Ok((status.unwrap_or(0), body.unwrap_or(Value::Null)))
}

impl Outside {
    fn now_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    async fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let is_site = line.contains(" /site");
            if is_site {
                self.tool_is_asked();
            }
            let mut length = 0;
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).await?;
                if header.trim().is_empty() {
                    break;
                }
                if let Some((name, value)) = header.split_once(':')
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).await?;
            if is_site {
                let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1";
                reader.get_mut().write_all(answer.as_bytes()).await?;
                continue;
            }
            let request: Value = serde_json::from_slice(&body)?;
            return self.speak(reader.get_mut(), &request).await;
        }
    }

    fn tool_is_asked(&self) {
        let asked = self
            .asked_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(asked) = asked {
            let after = u64::try_from(asked.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.starts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(after);
        }
    }

    /// A turn: pieces of text, or the next call.
    async fn speak(&self, stream: &mut TcpStream, request: &Value) -> std::io::Result<()> {
        let said = request["messages"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let first = said
            .first()
            .map(|it| it["content"].to_string())
            .unwrap_or_default();
        let turns = said.iter().filter(|it| it["role"] == "assistant").count();
        let is_call = first.contains("calls") && turns < self.calls;
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await?;
        let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
        self.event(stream, "message_start", &json!({"message": message}))
            .await?;
        let block = match is_call {
            true => {
                json!({"type": "tool_use", "id": format!("c{turns}"), "name": "bench_site", "input": {}})
            }
            false => json!({"type": "text", "text": ""}),
        };
        self.event(
            stream,
            "content_block_start",
            &json!({"index": 0, "content_block": block}),
        )
        .await?;
        if is_call {
            let delta =
                json!({"type": "input_json_delta", "partial_json": format!("{{\"n\": {turns}}}")});
            self.event(
                stream,
                "content_block_delta",
                &json!({"index": 0, "delta": delta}),
            )
            .await?;
        } else if !first.contains("calls") {
            for _ in 0..self.pieces {
                tokio::time::sleep(self.pause).await;
                let delta = json!({"type": "text_delta", "text": format!("{} ", self.now_us())});
                self.event(
                    stream,
                    "content_block_delta",
                    &json!({"index": 0, "delta": delta}),
                )
                .await?;
            }
        }
        self.event(stream, "content_block_stop", &json!({"index": 0}))
            .await?;
        let stop = if is_call { "tool_use" } else { "end_turn" };
        let end = json!({"delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}});
        self.event(stream, "message_delta", &end).await?;
        if is_call {
            *self.asked_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        self.event(stream, "message_stop", &json!({})).await
    }

    async fn event(&self, stream: &mut TcpStream, name: &str, data: &Value) -> std::io::Result<()> {
        let mut data = data.clone();
        data["type"] = json!(name);
        let text = format!("event: {name}\ndata: {data}\n\n");
        stream.write_all(text.as_bytes()).await
    }
}
