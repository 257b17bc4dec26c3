//! Deadlines, hang-ups, serial tools and idempotency keys, under many calls at once.

use crate::engine;
use crate::harness::Running;
use crate::wire::{self, call, definition, started_calls, until};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

const AT_ONCE: usize = 100;

/// The same call so many times at once.
fn all_at_once(server: &Running, count: usize, tool: &str, body: &Value) -> Vec<(u16, Value)> {
    let barrier = std::sync::Barrier::new(count);
    let one = || {
        barrier.wait();
        call(server, tool, body).expect("the server answers")
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(one)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// What the test tool counted so far, without this last call of it.
fn counts(server: &Running, tool: &str) -> (u64, u64, u64) {
    let (status, answer) = call(server, tool, &json!({"arguments": {"seconds": 0}})).unwrap();
    assert_eq!(status, 200, "{answer}");
    let count = |name: &str| answer["data"][name].as_u64().unwrap();
    (
        count("running"),
        count("started") - 1,
        count("finished") - 1,
    )
}

fn entry(server: &Running, id: &str) -> Value {
    let (status, entry) = server.request("GET", &format!("/api/v1/executions/{id}"), None);
    assert_eq!(status, 200, "{entry}");
    entry
}

#[test]
fn a_call_past_its_deadline_is_gone() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let body = json!({"arguments": {"seconds": 60}, "timeout_seconds": 0.2});
    for (status, answer) in all_at_once(&server, AT_ONCE, "fixture_wait", &body) {
        assert_eq!(
            (status, &answer["error"]["code"]),
            (504, &json!("timeout")),
            "{answer}"
        );
        let logged = entry(&server, answer["execution_id"].as_str().unwrap());
        assert_eq!(
            (&logged["status"], &logged["error"]["code"]),
            (&json!("error"), &json!("timeout")),
            "{logged}"
        );
    }
    // A late one of them may not even have begun; none runs and none ran to its end.
    let (running, started, finished) = counts(&server, "fixture_wait");
    assert_eq!((running, finished), (0, 0));
    assert!(started > 0);
    println!(
        "calls past their deadline: {AT_ONCE} calls, all `timeout` in the log, {running} still running"
    );
}

#[test]
fn a_client_that_hangs_up_cancels_its_call() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let body = json!({"arguments": {"seconds": 60}, "timeout_seconds": 60}).to_string();
    let bytes = wire::request(
        "POST",
        "/api/v1/tools/fixture_wait/call",
        &server.key,
        &body,
    );
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = wire::open(&server, Duration::from_secs(10));
            stream.write_all(&bytes).unwrap();
            stream
        })
        .collect();
    let (ids, _) = until("all calls run", Duration::from_secs(10), || {
        Some(started_calls(&server)).filter(|ids| ids.len() == clients.len())
    });
    drop(clients);
    let ((), took) = until("no call runs", Duration::from_secs(5), || {
        Some(()).filter(|()| started_calls(&server).is_empty())
    });
    for id in &ids {
        let logged = entry(&server, id);
        assert_eq!(logged["status"], "cancelled", "{logged}");
    }
    let (running, started, finished) = counts(&server, "fixture_wait");
    assert_eq!((running, started, finished), (0, 20, 0));
    println!(
        "clients that hang up: 20 calls, all `cancelled` in the log {} ms later, 0 running",
        took.as_millis()
    );
}

#[test]
fn serial_tools_run_one_call_at_a_time_and_parallel_ones_do_not() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let mut peaks = Vec::new();
    for (name, parallel) in [("one_by_one", false), ("side_by_side", true)] {
        let mut tool = definition(name, "fixture_wait", "file");
        tool["parallel_capable"] = json!(parallel);
        assert_eq!(server.request("POST", "/api/v1/tools", Some(&tool)).0, 201);
        let body = json!({"arguments": {"seconds": 0.02}});
        let answers = all_at_once(&server, AT_ONCE, name, &body);
        for (status, answer) in &answers {
            assert_eq!(*status, 200, "{answer}");
        }
        peaks.push(
            answers
                .iter()
                .filter_map(|(_, a)| a["data"]["peak"].as_u64())
                .max()
                .unwrap(),
        );
        assert_eq!(counts(&server, name), (0, AT_ONCE as u64, AT_ONCE as u64));
    }
    assert_eq!(peaks[0], 1, "the serial tool ran side by side");
    assert!(peaks[1] > 1, "the parallel tool ran one by one");
    println!(
        "{AT_ONCE} concurrent calls: peak {} on a serial tool, {} on a parallel one",
        peaks[0], peaks[1]
    );
}

#[test]
fn the_same_idempotency_key_at_once_runs_once() {
    for site in engine::every("idempotency key") {
        let server = site.sandbox.serve(&[]);
        let body = json!({"arguments": {"seconds": 0.2}, "idempotency_key": "the same"});
        let answers = all_at_once(&server, 50, "fixture_wait", &body);
        let ids: HashSet<String> = answers
            .iter()
            .map(|(status, answer)| {
                assert_eq!(*status, 200, "{answer}");
                answer["execution_id"].to_string()
            })
            .collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
        assert_eq!(counts(&server, "fixture_wait"), (0, 1, 1));
        println!(
            "the same idempotency key 50 times at once on {}: 1 run, 50 equal answers",
            site.engine
        );
    }
}
