//! A quota under `kill -9`: however often the server dies, nobody gets more calls than there are.

use crate::engine::{self, Site};
use crate::harness::Running;
use crate::wire::{Dice, call};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

const QUOTA: usize = 400;
const CALLERS: usize = 8;
const KILLS: usize = 4;

/// What a server that is killed may take with it where shares are leased (ADR 24): its block, and what was just asked for.
const LEASE: usize = 64 + CALLERS;

/// How much of the quota may be lost with servers that were killed.
fn lost_at_most(site: &Site) -> usize {
    match site.engine {
        "PostgreSQL" => KILLS * LEASE,
        _ => 0,
    }
}

/// Calls until the server is gone or refuses; counts the successes, also for the one who kills it.
fn caller(server: &Running, number: usize, answered: &AtomicUsize) {
    loop {
        // One tool has effects, so its calls are in the log before they run; the other has none.
        let (tool, arguments) = match number % 2 {
            0 => ("fixture_wait", json!({"seconds": 0})),
            _ => ("calculator", json!({"expression": "1 + 1"})),
        };
        match call(server, tool, &json!({"arguments": arguments})) {
            Ok((200, answer)) if answer["status"] == "success" => {
                answered.fetch_add(1, Ordering::SeqCst);
            }
            Ok((429, answer)) => {
                assert_eq!(answer["error"]["code"], "quota_exceeded", "{answer}");
                return;
            }
            // Only the head came through, or nothing.
            Ok((200, Value::Null)) | Err(_) => return,
            Ok((status, answer)) => panic!("{status} {answer}"),
        }
    }
}

/// One life of the server: until it is killed after so many answers, or the quota is used up. Gives the successes.
fn life(site: &Site, kill_after: Option<usize>) -> usize {
    let server = site.sandbox.serve(&[]);
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let answered = &answered;
        let server = &server;
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| scope.spawn(move || caller(server, number, answered)))
            .collect();
        if let Some(count) = kill_after {
            while answered.load(Ordering::SeqCst) < count
                && !callers
                    .iter()
                    .all(std::thread::ScopedJoinHandle::is_finished)
            {
                std::thread::yield_now();
            }
            server.signal(Signal::KILL);
        }
    });
    answered.load(Ordering::SeqCst)
}

fn usage(server: &Running) -> Value {
    let (status, page) = server.request("GET", "/api/v1/usage", None);
    assert_eq!(status, 200, "{page}");
    page["items"][0].clone()
}

/// Gives the successes of all lives; none where the day changed meanwhile, which is another quota.
fn all_lives(site: &Site, dice: &mut Dice) -> Option<usize> {
    let server = site.sandbox.serve(&[]);
    let limit = json!({"target_type": "USER", "target_id": "admin", "max_count": QUOTA});
    let (status, made) = server.request("PUT", "/api/v1/limits", Some(&limit));
    assert_eq!(status, 201, "{made}");
    let before = usage(&server);
    drop(server);
    let mut successes = 0;
    for _ in 0..KILLS {
        successes += life(site, Some(20 + dice.below(60)));
    }
    successes += life(site, None);
    let after = usage(&site.sandbox.serve(&[]));
    if before["day"] != after["day"] {
        return None;
    }
    let used = after["count"]
        .as_u64()
        .and_then(|it| usize::try_from(it).ok());
    let used = used.unwrap_or_default();
    assert!(
        used <= QUOTA && used + lost_at_most(site) >= QUOTA,
        "all of it is used up, and no more: {after}"
    );
    Some(successes)
}

#[test]
fn no_quota_is_exceeded_over_all_lives_of_a_server() {
    for site in engine::every("kill -9 under a quota") {
        let Some(successes) = all_lives(&site, &mut Dice(31)) else {
            println!("kill -9 under a quota: midnight came in between");
            continue;
        };
        assert!(successes <= QUOTA, "{successes} of {QUOTA}");
        // Whatever was cut off may have run and counts, but nobody heard of it.
        let cut_off = QUOTA - successes;
        let most = KILLS * CALLERS + lost_at_most(&site);
        assert!(cut_off <= most, "{successes} of {QUOTA}");
        println!(
            "kill -9 under a quota of {QUOTA} on {}: {KILLS} kills, {successes} successes, {cut_off} cut off, 0 too many",
            site.engine
        );
    }
}
