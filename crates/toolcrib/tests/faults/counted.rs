//! Calls that are counted by whoever makes them, beside what the servers count together: in their figures and in the log.

use crate::harness::{Running, request_to};
use crate::kept::Kept;
use crate::replicas::Group;
use crate::sizes;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

/// How many calls are under way at a time.
const CALLERS: usize = 100;

/// How many calls ended how: none is success.
type Ends = BTreeMap<String, u64>;

/// What one server has counted of this tool.
fn figures(server: &Running, tool: &str) -> Ends {
    let (address, key) = (&server.address, &server.key);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "GET /metrics HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let mut ends = Ends::new();
    let own = format!("toolcrib_calls_total{{tool=\"{tool}\",");
    for line in text.lines().filter(|line| line.starts_with(&own)) {
        let code = line.split("code=\"").nth(1).unwrap();
        let (code, _) = code.split_once('"').unwrap();
        let (_, count) = line.rsplit_once(' ').unwrap();
        *ends.entry(code.to_owned()).or_default() += count.parse::<u64>().unwrap();
    }
    ends
}

#[test]
fn figures_of_several_servers_add_up_to_what_was_called() {
    let Some(group) = Group::start("counted calls") else {
        return;
    };
    let (calls, left) = (sizes().counted, AtomicUsize::new(sizes().counted));
    let began = Instant::now();
    let counted: Vec<Ends> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| scope.spawn(|| caller(&group, &left)))
            .collect();
        callers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let took = began.elapsed();
    let add = |all: Vec<Ends>| {
        let mut sum = Ends::new();
        for (code, count) in all.into_iter().flatten() {
            *sum.entry(code).or_default() += count;
        }
        sum
    };
    let counted = add(counted);
    assert_eq!(counted.values().sum::<u64>(), calls as u64);
    assert_eq!(counted.len(), 3, "success and two errors: {counted:?}");
    let each: Vec<Ends> = group
        .servers
        .iter()
        .map(|it| figures(it, "calculator"))
        .collect();
    assert!(
        each.iter().all(|ends| !ends.is_empty()),
        "one was not asked: {each:?}"
    );
    assert_eq!(add(each), counted, "the figures of all servers");
    let (_, stats) = group.servers[0].request("GET", "/api/v1/executions/stats", None);
    assert_eq!(stats["total"], calls, "{stats}");
    let success = &stats["by_status"]["success"];
    assert_eq!(success.as_u64(), counted.get("").copied(), "{stats}");
    for (code, count) in counted.iter().filter(|(code, _)| !code.is_empty()) {
        assert_eq!(
            stats["by_error_code"][code].as_u64(),
            Some(*count),
            "{code}: {stats}"
        );
    }
    println!(
        "counted calls: {calls} through three servers, {CALLERS} at a time, in {:.1} s; counted by the callers, by the figures and by the log the same: {counted:?}",
        took.as_secs_f64()
    );
}

/// Makes calls until none are left; every tenth fails, in two ways.
fn caller(group: &Group, left: &AtomicUsize) -> Ends {
    let mut ends = Ends::new();
    let mut kept = Kept::default();
    let to = ("POST", "/api/v1/tools/calculator/call");
    while let Ok(number) =
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
    {
        let arguments = match number % 20 {
            0 => json!({"expression": "1 / 0"}),
            10 => json!({"expression": 7}),
            _ => json!({"expression": "6*7"}),
        };
        let body = json!({"arguments": arguments});
        // Both sorts of clients.
        let answer = match number % 2 {
            0 => request_to(&group.proxy.address, group.key(), to, Some(&body)),
            _ => kept.request((&group.proxy.address, group.key()), to, &body),
        };
        let (_, answer) = answer.expect("it is answered");
        let code = answer["error"]["code"].as_str().unwrap_or_default();
        *ends.entry(code.to_owned()).or_default() += 1;
    }
    ends
}
