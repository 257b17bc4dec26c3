//! `kill -9` at the worst moments: what was acknowledged is there after the restart, and nothing is half written.

use crate::engine::{self, Site};
use crate::files::Reader;
use crate::harness::Running;
use crate::load::{self, Promises};
use crate::sizes;
use crate::wire::{Dice, call, started_calls, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Authors at a time.
const AUTHORS: usize = 6;

/// Kills the server while authors change the catalogue; gives what they were promised.
fn one_storm(server: &Running, round: usize, dice: &mut Dice) -> Promises {
    let delay = Duration::from_millis(5 + dice.roll() % 120);
    let kept = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let author = |t| move || load::over_rest(server, &format!("r{round}_{t}"), kept);
        let authors: Vec<_> = (0..AUTHORS).map(|t| scope.spawn(author(t))).collect();
        until("something is acknowledged", Duration::from_secs(30), || {
            (kept.load(Ordering::Relaxed) > 0).then_some(())
        });
        std::thread::sleep(delay);
        server.signal(Signal::KILL);
        let mut promises = Promises::default();
        for author in authors {
            promises.add(author.join().unwrap());
        }
        promises
    })
}

/// Storms over and over, each on a server that was started on what the last one left behind.
fn storms(site: &Site, seed: u64) -> Promises {
    let mut dice = Dice(seed);
    let mut all = Promises::default();
    let mut server = site.sandbox.serve(&[]);
    for round in 0..sizes().kills {
        let promises = one_storm(&server, round, &mut dice);
        drop(server);
        server = site.sandbox.serve(&[]);
        let broken = promises.broken(&server);
        assert!(broken.is_empty(), "seed {seed}, round {round}: {broken:#?}");
        all.add(promises);
    }
    let broken = all.broken(&server);
    assert!(broken.is_empty(), "seed {seed}, at the end: {broken:#?}");
    assert!(
        all.acknowledged > 0,
        "the storms were killed before anything happened"
    );
    all
}

#[test]
fn no_acknowledged_change_is_lost_when_the_server_is_killed() {
    for site in engine::every("kill -9 during registrations") {
        let reader = Reader::start(&site.sandbox.workspace());
        let all = storms(&site, 20_260_115);
        let seen = reader.stop();
        println!(
            "kill -9 during registrations on {}: {} kills, {} acknowledged, {} cut off, 0 lost, {} reads of tools.json, 0 malformed",
            site.engine,
            sizes().kills,
            all.acknowledged,
            all.unanswered,
            seen.reads
        );
    }
}

#[test]
fn no_acknowledged_change_is_lost_when_commands_work_on_the_same_workspace() {
    let site = engine::sqlite();
    let reader = Reader::start(&site.sandbox.workspace());
    let stop = AtomicBool::new(false);
    let (all, by_command) = std::thread::scope(|scope| {
        let sandbox = &site.sandbox;
        let commands = scope.spawn(|| load::by_command(sandbox, "command", usize::MAX, &stop, 99));
        let all = std::panic::catch_unwind(|| storms(&site, 4_711));
        stop.store(true, Ordering::Relaxed);
        let by_command = commands.join().unwrap();
        (
            all.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            by_command,
        )
    });
    let seen = reader.stop();
    let broken = by_command.broken(&site.sandbox.serve(&[]));
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(by_command.acknowledged > 0);
    println!(
        "kill -9 of a server and of commands on one workspace: {} kills of the server, {} acknowledged by it, {} by commands, 0 lost, {} reads of tools.json, 0 malformed",
        sizes().kills,
        all.acknowledged,
        by_command.acknowledged,
        seen.reads
    );
}

/// What clients know of a server that was killed.
#[derive(Default)]
struct Heard {
    /// Execution id and data of every answer.
    answers: Vec<(String, Value)>,
    /// The ids of calls that were running.
    cut_off: Vec<String>,
}

/// Calls over and over until the server is gone.
fn caller(server: &Running) -> Vec<(String, Value)> {
    let mut answers = Vec::new();
    for number in 0.. {
        let (tool, arguments) = match number % 2 {
            0 => ("calculator", json!({"expression": format!("{number} + 1")})),
            _ => ("fixture_wait", json!({"seconds": 0})),
        };
        match call(server, tool, &json!({"arguments": arguments})) {
            Ok((200, answer)) if answer["execution_id"].is_string() => {
                let id = answer["execution_id"].as_str().unwrap().to_owned();
                answers.push((id, answer["data"].clone()));
            }
            // The head came through and the rest did not: not an answer that a client can use.
            Ok((200, _)) | Err(_) => return answers,
            Ok((status, answer)) => panic!("{status} {answer}"),
        }
    }
    answers
}

/// Kills the server the moment one more answer has been read, with calls under way.
fn kill_after_an_answer(server: &Running, dice: &mut Dice) -> Heard {
    let long = json!({"arguments": {"seconds": 60}, "timeout_seconds": 60});
    std::thread::scope(|scope| {
        let run_long = || call(server, "fixture_wait", &long);
        let running: Vec<_> = (0..2).map(|_| scope.spawn(run_long)).collect();
        let (cut_off, _) = until("both long calls run", Duration::from_secs(10), || {
            Some(started_calls(server)).filter(|ids| ids.len() == 2)
        });
        let others: Vec<_> = (0..2).map(|_| scope.spawn(|| caller(server))).collect();
        let mut heard = Heard {
            answers: Vec::new(),
            cut_off,
        };
        for number in 0..=dice.below(6) {
            let body = json!({"arguments": {"expression": format!("{number} * 2")}});
            let (status, answer) = call(server, "calculator", &body).expect("it is not killed yet");
            assert_eq!(status, 200, "{answer}");
            let id = answer["execution_id"].as_str().unwrap().to_owned();
            heard.answers.push((id, answer["data"].clone()));
        }
        server.signal(Signal::KILL);
        for other in others {
            heard.answers.extend(other.join().unwrap());
        }
        for call in running {
            assert!(
                call.join().unwrap().is_err(),
                "a killed server does not answer"
            );
        }
        heard
    })
}

fn check_log(server: &Running, heard: &Heard) {
    let entry = |id: &str| server.request("GET", &format!("/api/v1/executions/{id}"), None);
    for (id, data) in &heard.answers {
        let (status, logged) = entry(id);
        assert_eq!(
            status, 200,
            "the answered call {id} is not in the log: {logged}"
        );
        assert_eq!(
            (&logged["status"], &logged["output"]),
            (&json!("success"), data),
            "{logged}"
        );
    }
    for id in &heard.cut_off {
        let (status, logged) = entry(id);
        assert_eq!(
            (status, &logged["status"]),
            (200, &json!("interrupted")),
            "{logged}"
        );
        assert_eq!(logged["error"]["code"], "interrupted", "{logged}");
    }
}

#[test]
fn every_answered_call_is_in_the_log_after_a_kill() {
    for site in engine::every("kill -9 after an answer") {
        let mut dice = Dice(1_234);
        let (mut answers, mut cut_off) = (0, 0);
        let mut server = site.sandbox.serve(&[]);
        for _ in 0..sizes().kills {
            let heard = kill_after_an_answer(&server, &mut dice);
            drop(server);
            server = site.sandbox.serve(&[]);
            check_log(&server, &heard);
            assert_eq!(
                started_calls(&server),
                Vec::<String>::new(),
                "nothing runs any more"
            );
            answers += heard.answers.len();
            cut_off += heard.cut_off.len();
        }
        println!(
            "kill -9 after an answer on {}: {} kills, {answers} answered calls all in the log, {cut_off} cut off all `interrupted`",
            site.engine,
            sizes().kills
        );
    }
}

#[test]
fn a_keyed_call_that_was_cut_off_is_never_run_again() {
    for site in engine::every("kill -9 of a keyed call") {
        let server = site.sandbox.serve(&[]);
        let body =
            json!({"arguments": {"seconds": 60}, "timeout_seconds": 60, "idempotency_key": "once"});
        std::thread::scope(|scope| {
            let cut_off = scope.spawn(|| call(&server, "fixture_wait", &body));
            until("the call runs", Duration::from_secs(10), || {
                Some(()).filter(|()| started_calls(&server).len() == 1)
            });
            server.signal(Signal::KILL);
            assert!(cut_off.join().unwrap().is_err());
        });
        drop(server);
        let server = site.sandbox.serve(&[]);
        let (status, answer) = call(&server, "fixture_wait", &body).unwrap();
        assert_eq!(
            (status, &answer["error"]["code"]),
            (500, &json!("interrupted")),
            "{answer}"
        );
        let entry = format!(
            "/api/v1/executions/{}",
            answer["execution_id"].as_str().unwrap()
        );
        let (status, entry) = server.request("GET", &entry, None);
        assert_eq!(
            (status, &entry["error"]["code"]),
            (200, &json!("interrupted")),
            "it can be looked up: {entry}"
        );
        let (_, counts) = call(
            &server,
            "fixture_wait",
            &json!({"arguments": {"seconds": 0}}),
        )
        .unwrap();
        assert_eq!(
            counts["data"]["started"], 1,
            "only this very call has run: {counts}"
        );
        println!(
            "kill -9 of a keyed call on {}: the key answers `interrupted`, 0 second runs",
            site.engine
        );
    }
}
