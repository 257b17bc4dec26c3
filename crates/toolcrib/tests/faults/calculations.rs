//! Calculations that never end or bring their process down: the call fails, nothing else does.

use crate::engine;
use crate::harness::Running;
use crate::wire::{self, call, until};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// Neither ends nor ever asks whether it should.
const ENDLESS: &str = "@2020-01-01 + 99999999999 days";

/// Calls itself until the stack ends.
const BOTTOMLESS: &str = "f = x: f x; f 1";

const PATIENCE: Duration = Duration::from_secs(20);

fn body(expression: &str, seconds: f64) -> Value {
    json!({"arguments": {"expression": expression}, "timeout_seconds": seconds})
}

fn calculates(server: &Running) {
    let (status, answer) = call(server, "calculator", &body("1+1", 20.0)).unwrap();
    assert_eq!((status, &answer["data"]), (200, &json!(2)), "{answer}");
}

/// What the kernel says of a process.
#[derive(Debug)]
struct Process {
    pid: i32,
    state: String,
    parent: u32,
    /// Processor time, in hundredths of a second.
    used: u64,
}

fn process(pid: i32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = text.rsplit_once(") ")?;
    let field: Vec<&str> = after_name.split(' ').collect();
    Some(Process {
        pid,
        state: field[0].to_owned(),
        parent: field[1].parse().ok()?,
        used: field[11].parse::<u64>().ok()? + field[12].parse::<u64>().ok()?,
    })
}

/// Also those that ended and were not waited for.
fn children(server: &Running) -> Vec<Process> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(process)
        .filter(|process| process.parent == server.pid())
        .collect()
}

/// Waits until a worker of this server is really at it.
fn spinning_worker(server: &Running) -> i32 {
    let spinning = || children(server).into_iter().find(|worker| worker.used > 15);
    until("a worker calculates", PATIENCE, spinning).0.pid
}

/// Waits until a process does nothing any more; whoever inherits a dead one may leave it unburied.
fn ends(pid: i32) -> Duration {
    // Its first thread may be dead while another still holds the pipes.
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    let is_over = || process(pid).is_none_or(|process| process.state == "Z" && threads() <= 1);
    until("the worker ends", PATIENCE, || is_over().then_some(())).1
}

/// Sends an endless calculation and does not wait for its answer.
fn begin_endless(server: &Running) -> (std::net::TcpStream, i32) {
    let mut stream = wire::open(server, PATIENCE);
    let body = body(ENDLESS, 60.0).to_string();
    let path = "/api/v1/tools/calculator/call";
    stream
        .write_all(&wire::request("POST", path, &server.key, &body))
        .unwrap();
    (stream, spinning_worker(server))
}

#[test]
fn a_calculation_that_never_ends_or_crashes_fails_alone() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let hostile = [
        ("(x: x x)(x: x x)", None),
        (BOTTOMLESS, None),
        ("1<<99999999", None),
        ("999999999d6", None),
        (ENDLESS, Some("timeout")),
        ("9^9^9", None),
    ];
    let mut slowest = Duration::ZERO;
    for (expression, code) in hostile {
        let began = Instant::now();
        let (status, answer) = std::thread::scope(|scope| {
            let call = scope.spawn(|| call(&server, "calculator", &body(expression, 1.0)));
            while !call.is_finished() {
                let asked = Instant::now();
                assert_eq!(server.request("GET", "/healthz", None).0, 200);
                assert!(asked.elapsed() < Duration::from_secs(10), "{expression}");
            }
            call.join().unwrap().expect("the server answers")
        });
        slowest = slowest.max(began.elapsed());
        let said = answer["error"]["code"].as_str().unwrap_or_default();
        let fits = code.map_or(
            ["timeout", "tool_execution_error"].contains(&said),
            |code| code == said,
        );
        assert!(fits, "{expression}: {status} {answer}");
        let id = answer["execution_id"].as_str().unwrap();
        let (_, entry) = server.request("GET", &format!("/api/v1/executions/{id}"), None);
        assert_eq!(entry["error"]["code"], said, "{expression}: {entry}");
        calculates(&server);
    }
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    println!(
        "hostile calculations: {} expressions, each failed within {} ms of a deadline of 1000, the server served on",
        hostile.len(),
        slowest.as_millis()
    );
}

#[test]
fn a_crash_is_told_as_a_calculation_that_needs_too_much() {
    let site = engine::sqlite();
    let arguments = json!({"expression": BOTTOMLESS}).to_string();
    let alone = site
        .sandbox
        .run(&["call", "calculator", &arguments, "--json"]);
    assert_eq!(alone.code, 1, "{alone:?}");
    let server = site.sandbox.serve(&[]);
    let (status, answer) = call(&server, "calculator", &body(BOTTOMLESS, 20.0)).unwrap();
    assert_eq!(status, 502, "{answer}");
    let message = "needs more than is allowed";
    assert!(answer.to_string().contains(message), "{answer}");
    assert!((alone.stdout + &alone.stderr).contains(message));
    let (none, _) = until("the dead worker is buried", PATIENCE, || {
        Some(children(&server)).filter(Vec::is_empty)
    });
    assert!(none.is_empty());
    calculates(&server);
}

#[test]
fn more_endless_calculations_than_workers_leave_nothing_behind() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    std::thread::scope(|scope| {
        let one = || call(&server, "calculator", &body(ENDLESS, 1.0)).unwrap();
        let calls: Vec<_> = (0..12).map(|_| scope.spawn(one)).collect();
        for call in calls {
            let (_, answer) = call.join().unwrap();
            assert_eq!(answer["error"]["code"], "timeout", "{answer}");
        }
    });
    calculates(&server);
    let (left, _) = until("no worker calculates", PATIENCE, || {
        let left = children(&server);
        let resting = |worker: &Process| worker.state == "S" && worker.used < 15;
        left.iter().all(resting).then_some(left)
    });
    assert!((1..=4).contains(&left.len()), "{left:?}");
}

#[test]
fn a_worker_starts_with_nothing_and_is_replaced_when_it_dies_idle() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    assert!(children(&server).is_empty(), "none before it is needed");
    calculates(&server);
    let worker = children(&server).pop().expect("it stays for the next call");
    let of_worker = |name: &str| std::fs::read(format!("/proc/{}/{name}", worker.pid)).unwrap();
    let environment = String::from_utf8(of_worker("environ")).unwrap();
    assert_eq!(environment, "MIMALLOC_ARENA_RESERVE=65536\0");
    let folder = std::fs::read_link(format!("/proc/{}/cwd", worker.pid)).unwrap();
    assert_eq!(folder, std::path::Path::new("/"));
    let limits = String::from_utf8(of_worker("limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap()
    };
    assert_eq!(limit("Max address space"), (512 << 20).to_string());
    assert_eq!(limit("Max core file size"), "0");
    assert_eq!(limit("Max open files"), "16");

    let pid = Pid::from_raw(worker.pid).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    ends(worker.pid);
    calculates(&server);
    let after = children(&server);
    assert_eq!(after.len(), 1, "{after:?}");
    assert_ne!(after[0].pid, worker.pid);
}

#[test]
fn a_hang_up_kills_the_worker_and_buries_it() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let (stream, worker) = begin_endless(&server);
    drop(stream);
    let gone = || children(&server).iter().all(|child| child.pid != worker);
    let (_, took) = until("the worker is gone", PATIENCE, || gone().then_some(()));
    calculates(&server);
    println!(
        "a hang-up during an endless calculation: worker gone {} ms later",
        took.as_millis()
    );
}

#[test]
fn an_endless_calculation_does_not_hold_up_the_end_of_the_server() {
    let site = engine::sqlite();
    let mut command = site.sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("TOOLCRIB_ADMIN_KEY", crate::harness::ADMIN_KEY)
        .env("TOOLCRIB_SERVER_GRACE_SECONDS", "1");
    let server = Running::start(command);
    let (_stream, worker) = begin_endless(&server);
    let began = Instant::now();
    assert_eq!(server.terminate(), 0);
    assert!(began.elapsed() < Duration::from_secs(15));
    ends(worker);
    println!(
        "SIGTERM during an endless calculation: exit 0 after {} ms with a grace of 1000",
        began.elapsed().as_millis()
    );
}

#[test]
fn a_killed_server_takes_its_workers_with_it() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let (_stream, worker) = begin_endless(&server);
    server.signal(Signal::KILL);
    assert_eq!(server.ended(), -1);
    let took = ends(worker);
    println!(
        "kill -9 during an endless calculation: worker gone {} ms later",
        took.as_millis()
    );
}
