//! Connections that never finish: half-open ones stop inside the request's head, slow ones send one byte of body at a time.
//! Prints a first line when all are open (a measurement beside it may begin) and a second one at the end.

use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Failure;
use crate::http::Target;
use crate::latency::Latencies;
use crate::request::seconds;

/// At most this many connects in each pause: the kernel accepts for the server, and past the length of its queue
/// it drops connects, whose retries a second later would be what we measure.
const CONNECTS_AT_ONCE: usize = 64;
const CONNECT_PAUSE: Duration = Duration::from_millis(5);
/// Files this process needs beside its connections.
const OTHER_FILES: u64 = 64;
const BYTE_EVERY: Duration = Duration::from_millis(100);
const SLOW_BODY_BYTES: usize = 1_000_000;

#[derive(Args)]
pub(crate) struct SlowArgs {
    #[arg(long)]
    url: String,
    /// Connections that send part of a head and then nothing
    #[arg(long, default_value_t = 5_000)]
    half_open: u32,
    /// Connections that send one byte of body every 100 ms
    #[arg(long, default_value_t = 1_000)]
    slow: u32,
    /// How long to hold them once all are open
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Header `Name: value` of the slow requests; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Manner {
    HalfOpen,
    Slow,
}

/// How one connection ended.
enum End {
    NotOpened(String),
    /// The server closed after this long, with this status if it said one.
    Closed(Duration, Option<u16>),
    Held,
}

pub(crate) fn run(args: &SlowArgs) -> Result<(), Failure> {
    crate::on_one_thread(hold(args))?
}

async fn hold(args: &SlowArgs) -> Result<(), Failure> {
    let target = Target::parse(&args.url)?;
    let length = seconds("--seconds", args.seconds)?;
    let (half_open, slow) = fit(args.half_open, args.slow);
    let gate = Rc::new(Semaphore::new(CONNECTS_AT_ONCE));
    let (opened, mut all_opened) = tokio::sync::mpsc::channel::<()>(1);
    let (end, ended) = tokio::sync::watch::channel(false);
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for place in 0..half_open + slow {
        let manner = if place < half_open {
            Manner::HalfOpen
        } else {
            Manner::Slow
        };
        let head: Rc<[u8]> = head_of(manner, &target, &args.headers).into();
        let (gate, opened, mut ended, address) = (
            Rc::clone(&gate),
            opened.clone(),
            ended.clone(),
            target.address,
        );
        tasks.spawn_local(async move {
            let stream = connect(address, &gate).await;
            drop(opened);
            let end = match stream {
                Ok(stream) => {
                    let since = Instant::now();
                    tokio::select! {
                        end = keep_open(stream, manner, &head, since) => end,
                        _ = ended.wait_for(|over| *over) => End::Held,
                    }
                }
                Err(why) => End::NotOpened(why),
            };
            (manner, end)
        });
    }
    // Each task drops its sender once it is connected or refused: the channel ends when the last one has.
    drop(opened);
    all_opened.recv().await;
    let open_ms = start.elapsed().as_millis() as u64;
    let asked = json!({"half_open": args.half_open, "slow": args.slow});
    crate::print_line(&json!({"state": "open", "half_open": half_open, "slow": slow, "asked": asked, "open_ms": open_ms}).to_string())?;
    tokio::time::sleep(length).await;
    // Tasks that are over already do not listen any more.
    let _ = end.send(true);

    let mut ends = (Vec::new(), Vec::new());
    while let Some(joined) = tasks.join_next().await {
        let (manner, end) = joined.map_err(|e| format!("a connection's task stopped: {e}"))?;
        if manner == Manner::HalfOpen {
            ends.0.push(end)
        } else {
            ends.1.push(end)
        }
    }
    let held_ms = start.elapsed().as_millis() as u64 - open_ms;
    crate::print_line(&json!({"state": "done", "held_ms": held_ms, "half_open": summary(ends.0), "slow": summary(ends.1)}).to_string())
}

/// Raises the limit on open files as far as it goes; if that is not enough, fewer connections in the same proportion.
fn fit(half_open: u32, slow: u32) -> (u32, u32) {
    let limit = getrlimit(Resource::Nofile);
    // Refused only where the limit is already at its highest: what counts is the value afterwards.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
    let files = getrlimit(Resource::Nofile)
        .current
        .unwrap_or(u64::MAX)
        .saturating_sub(OTHER_FILES);
    scale(half_open, slow, files)
}

fn scale(half_open: u32, slow: u32, files: u64) -> (u32, u32) {
    let wanted = u64::from(half_open) + u64::from(slow);
    if wanted <= files {
        return (half_open, slow);
    }
    let part = |count: u32| u32::try_from(u64::from(count) * files / wanted).unwrap_or(count);
    (part(half_open), part(slow))
}

fn head_of(manner: Manner, target: &Target, headers: &[String]) -> Vec<u8> {
    let mut head = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\n",
        target.path, target.authority
    );
    if manner == Manner::HalfOpen {
        head.push_str("X-Never-");
        return head.into_bytes();
    }
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str(&format!(
        "Content-Type: application/json\r\nContent-Length: {SLOW_BODY_BYTES}\r\n\r\n{{"
    ));
    head.into_bytes()
}

async fn connect(address: std::net::SocketAddr, gate: &Semaphore) -> Result<TcpStream, String> {
    let _turn = gate.acquire().await.map_err(|e| e.to_string())?;
    let connecting = tokio::time::timeout(Duration::from_secs(10), TcpStream::connect(address));
    let stream = match connecting.await {
        Ok(stream) => stream.map_err(|e| e.to_string()),
        Err(_) => Err("no connection within 10 s".to_owned()),
    };
    tokio::time::sleep(CONNECT_PAUSE).await;
    stream
}

async fn keep_open(stream: TcpStream, manner: Manner, head: &[u8], since: Instant) -> End {
    let (mut from_server, mut to_server) = stream.into_split();
    let sending = async {
        let mut sent = to_server.write_all(head).await;
        while manner == Manner::Slow && sent.is_ok() {
            tokio::time::sleep(BYTE_EVERY).await;
            sent = to_server.write_all(b" ").await;
        }
        // Half-open, or the server takes no more: what it does next shows on the reading side.
        std::future::pending::<()>().await;
    };
    let receiving = async {
        let mut said = Vec::new();
        // An answer before the close is kept up to its status line.
        while let Ok(1..) = from_server.read_buf(&mut said).await {
            said.truncate(64);
        }
        std::str::from_utf8(&said)
            .ok()
            .and_then(|s| s.split(' ').nth(1)?.parse().ok())
    };
    tokio::select! {
        status = receiving => End::Closed(since.elapsed(), status),
        () = sending => End::Held,
    }
}

fn summary(ends: Vec<End>) -> serde_json::Value {
    let (mut closed, mut held, mut not_opened) = (Latencies::default(), 0, 0);
    let mut first_refusal = None;
    let mut statuses = std::collections::BTreeMap::<String, u32>::new();
    for end in ends {
        match end {
            End::Held => held += 1,
            End::NotOpened(why) => {
                not_opened += 1;
                first_refusal.get_or_insert(why);
            }
            End::Closed(after, status) => {
                closed.add(after);
                *statuses
                    .entry(status.map_or("none".to_owned(), |s| s.to_string()))
                    .or_default() += 1;
            }
        }
    }
    let after_ms = closed
        .percentiles_us([0.0, 0.5, 1.0])
        .map(|at| at.map(|us| (us / 1000.0).round()));
    json!({
        "held": held,
        "closed": closed.len(),
        "closed_after_ms": after_ms.map(|at| json!({"first": at[0], "median": at[1], "last": at[2]})),
        "statuses": statuses,
        "not_opened": not_opened,
        "first_refusal": first_refusal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_files_mean_fewer_connections_in_proportion() {
        assert_eq!(scale(5_000, 1_000, 6_000), (5_000, 1_000));
        assert_eq!(scale(5_000, 1_000, 600), (500, 100));
        assert_eq!(scale(0, 0, 0), (0, 0));
        assert_eq!(scale(u32::MAX, u32::MAX, 10), (5, 5));
    }

    #[test]
    fn ends_are_counted_by_how_they_ended() {
        let got = summary(vec![
            End::Held,
            End::Closed(Duration::from_millis(30), Some(408)),
            End::Closed(Duration::from_millis(10), None),
            End::NotOpened("refused".to_owned()),
        ]);
        assert_eq!(got["held"], 1);
        assert_eq!(
            got["closed_after_ms"],
            json!({"first": 10.0, "median": 10.0, "last": 30.0})
        );
        assert_eq!(got["statuses"], json!({"408": 1, "none": 1}));
        assert_eq!(got["first_refusal"], "refused");
    }

    #[test]
    fn a_half_open_head_never_ends_and_a_slow_one_does() {
        let target = Target::parse("http://127.0.0.1:1/x").unwrap();
        let text =
            |manner| String::from_utf8(head_of(manner, &target, &["K: v".to_owned()])).unwrap();
        assert!(!text(Manner::HalfOpen).contains("\r\n\r\n"));
        assert!(
            text(Manner::Slow).contains("K: v\r\n") && text(Manner::Slow).ends_with("\r\n\r\n{")
        );
    }
}
