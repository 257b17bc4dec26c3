//! Clients that are slow, too many or gone, and a server that is told to stop among them.

use crate::engine;
use crate::harness::Running;
use crate::sizes;
use crate::wire::{self, call, read_answer, started_calls, until};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A server needs a descriptor for each connection, and so do we.
fn raise_open_files() -> usize {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
    maximum.map_or(usize::MAX, |files| {
        usize::try_from(files).unwrap_or(usize::MAX)
    })
}

fn healthy(server: &Running) {
    let (status, answer) = call(
        server,
        "calculator",
        &json!({"arguments": {"expression": "1 + 1"}}),
    )
    .unwrap();
    assert_eq!((status, &answer["data"]), (200, &json!(2)), "{answer}");
}

/// Whether the server closes this connection in time; what it says before does not matter.
fn is_closed(stream: &mut TcpStream, give_up: Instant) -> bool {
    let left = give_up.saturating_duration_since(Instant::now());
    let left = left.max(Duration::from_millis(1));
    stream.set_read_timeout(Some(left)).unwrap();
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn half_open_connections_are_closed() {
    let wanted = sizes().half_open;
    let count = wanted.min(raise_open_files().saturating_sub(200));
    let site = engine::sqlite();
    let sandbox = &site.sandbox;
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("TOOLCRIB_ADMIN_KEY", crate::harness::ADMIN_KEY)
        .env("TOOLCRIB_SERVER_HEAD_TIMEOUT_SECONDS", "1");
    let server = Running::start(command);
    let began = Instant::now();
    let mut half_open: Vec<TcpStream> = (0..count)
        .map(|number| {
            let mut stream = wire::open(&server, Duration::from_secs(10));
            let said: &[u8] =
                [&b""[..], b"GET /healthz HTTP/1.1\r\nHost: localhost", b"P"][number % 3];
            // The first ones may have been closed already when there are thousands.
            let _ = stream.write_all(said);
            stream
        })
        .collect();
    let opened = began.elapsed();
    for _ in 0..20 {
        healthy(&server);
    }
    let give_up = Instant::now() + Duration::from_secs(10);
    let mut open = half_open.iter_mut();
    let open = open.position(|stream| !is_closed(stream, give_up));
    assert_eq!(open, None, "a half-open connection is still open");
    healthy(&server);
    let less = if count < wanted {
        format!(" (the limit of open files allows no more; {wanted} were wanted)")
    } else {
        String::new()
    };
    println!(
        "half-open connections: {count}{less}, all closed {:.1} s after the last was opened, a healthy client was served all along",
        (began.elapsed() - opened).as_secs_f64()
    );
}

#[test]
fn a_slow_body_is_answered_with_408() {
    let count = sizes().slow;
    raise_open_files();
    let site = engine::sqlite();
    let sandbox = &site.sandbox;
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("TOOLCRIB_ADMIN_KEY", crate::harness::ADMIN_KEY)
        .env("TOOLCRIB_SERVER_BODY_TIMEOUT_SECONDS", "1");
    let server = Running::start(command);
    let head = format!(
        "POST /api/v1/tools/calculator/call HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
        server.key
    );
    let mut slow: Vec<TcpStream> = (0..count)
        .map(|_| {
            let mut stream = wire::open(&server, Duration::from_secs(10));
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    // A byte now and then does not help: the whole body has the time, not each byte.
    for _ in 0..3 {
        for stream in &mut slow {
            let _ = stream.write_all(b" ");
        }
        healthy(&server);
    }
    for stream in &mut slow {
        let answer = read_answer(stream).expect("an answer, not only the end");
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (408, &json!("request_timeout")),
            "{answer:?}"
        );
    }
    println!("slow bodies: {count} clients, each answered with 408 request_timeout");
}

#[test]
fn too_many_requests_are_told_to_come_back() {
    let site = engine::sqlite();
    let sandbox = &site.sandbox;
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("TOOLCRIB_ADMIN_KEY", crate::harness::ADMIN_KEY)
        .env("TOOLCRIB_SERVER_REQUESTS_MAX", "4");
    let server = Running::start(command);
    let bytes = |seconds: f64| {
        let body = json!({"arguments": {"seconds": seconds}}).to_string();
        wire::request(
            "POST",
            "/api/v1/tools/fixture_wait/call",
            &server.key,
            &body,
        )
    };
    // Twice as many as there is room for, and nothing else: the ones refused answer first.
    let (answered, answers) = std::sync::mpsc::channel();
    for _ in 0..8 {
        let mut stream = wire::open(&server, Duration::from_secs(20));
        stream.write_all(&bytes(4.0)).unwrap();
        let answered = answered.clone();
        std::thread::spawn(move || answered.send(read_answer(&mut stream).unwrap()));
    }
    let next = || answers.recv_timeout(Duration::from_secs(20)).unwrap();
    let overloaded = |refused: &wire::Answer| {
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (503, &json!("overloaded")),
            "{refused:?}"
        );
        assert_eq!(refused.header("retry-after"), Some("1"), "{refused:?}");
    };
    (0..4).for_each(|_| overloaded(&next()));
    overloaded(&wire::send(&server, "GET", "/api/v1/tools", &json!({})).unwrap());
    for _ in 0..4 {
        let answer = next();
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    healthy(&server);
    println!(
        "more requests than server.requests_max: 503 overloaded with Retry-After, served again afterwards"
    );
}

#[test]
fn a_graceful_stop_lets_calls_finish_and_leaves_a_clean_state() {
    for site in engine::every("graceful stop") {
        let server = site.sandbox.serve(&[]);
        let count = 20;
        let body = json!({"arguments": {"seconds": 1.5}});
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..count)
                .map(|_| scope.spawn(|| call(&server, "fixture_wait", &body)))
                .collect();
            until("all calls run", Duration::from_secs(5), || {
                Some(()).filter(|()| started_calls(&server).len() == count)
            });
            server.signal(Signal::TERM);
            for call in calls {
                let (status, answer) = call.join().unwrap().expect("a running call is answered");
                assert_eq!(status, 200, "{answer}");
            }
        });
        assert!(
            TcpStream::connect(&server.address).is_err() || !answers(&server),
            "a stopping server takes no more"
        );
        assert_eq!(server.ended(), 0);
        let server = site.sandbox.serve(&[]);
        let (_, page) = server.request("GET", "/api/v1/executions?limit=500", None);
        let entries = page["items"].as_array().unwrap();
        assert_eq!(entries.len(), count, "{page}");
        assert!(
            entries.iter().all(|entry| entry["status"] == "success"),
            "{page}"
        );
        assert_eq!(server.request("GET", "/readyz", None).1["status"], "ready");
        healthy(&server);
        println!(
            "graceful stop on {}: {count} running calls finished, exit 0, the next start is clean",
            site.engine
        );
    }
}

fn answers(server: &Running) -> bool {
    server.try_request("GET", "/healthz", None).is_ok()
}

#[test]
fn a_killed_server_leaves_the_workspace_to_the_next_at_once() {
    for site in engine::every("workspace after kill -9") {
        let mut slowest = Duration::ZERO;
        for _ in 0..sizes().kills.min(20) {
            let server = site.sandbox.serve(&[]);
            healthy(&server);
            server.signal(Signal::KILL);
            assert_eq!(server.ended(), -1);
            let began = Instant::now();
            let server = site.sandbox.serve(&[]);
            healthy(&server);
            slowest = slowest.max(began.elapsed());
        }
        assert!(slowest < Duration::from_secs(5), "{slowest:?}");
        println!(
            "workspace after kill -9 on {}: used by the next server after {} ms at most",
            site.engine,
            slowest.as_millis()
        );
    }
}
