//! Many registrations at once: valid ones, wrong ones and several for one name, over REST and by command.

use crate::engine::{self, Site};
use crate::files::{Reader, names};
use crate::harness::Running;
use crate::load::{self, Promises};
use crate::sizes;
use crate::wire::definition;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The wrong definitions, and what the refusal must name.
fn wrong(number: usize) -> (Value, &'static str) {
    let mut tool = definition(&format!("wrong_{number}"), "calculator", "file");
    let member = [
        "kind",
        "description",
        "input_schema",
        "name",
        "timeout_seconds",
    ][number % 5];
    tool[member] = [
        json!("bulitin"),
        json!(""),
        json!({"type": 7}),
        json!("no spaces, please"),
        json!(-1),
    ][number % 5]
        .clone();
    (tool, member)
}

#[derive(PartialEq, Clone, Copy, Debug)]
enum Sort {
    Fine,
    Wrong(&'static str),
    Contested,
}

fn registration(number: usize) -> (Sort, Value) {
    match number % 10 {
        0 => {
            let (tool, member) = wrong(number / 10);
            (Sort::Wrong(member), tool)
        }
        1 | 2 => (
            Sort::Contested,
            definition("contested", "calculator", "file"),
        ),
        _ => (
            Sort::Fine,
            definition(&format!("fine_{number}"), "calculator", "file"),
        ),
    }
}

fn check(sort: Sort, status: u16, answer: &Value) {
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    match sort {
        Sort::Fine => assert_eq!(status, 201, "{answer}"),
        Sort::Contested if status == 201 => {}
        Sort::Contested => {
            assert_eq!(
                (status, &answer["error"]["code"]),
                (409, &json!("conflict")),
                "{answer}"
            );
            assert!(
                message.contains("'contested' is already on the file shelf"),
                "{answer}"
            );
        }
        Sort::Wrong(member) => {
            assert_eq!(
                (status, &answer["error"]["code"]),
                (422, &json!("invalid")),
                "{answer}"
            );
            let path = answer["error"]["details"]["problems"][0]["path"]
                .as_str()
                .unwrap_or_default();
            assert!(
                path.contains(member),
                "{member} is not in {path:?}: {answer}"
            );
        }
    }
}

fn register_at_once(site: &Site) -> String {
    let count = sizes().registrations;
    let server = site.sandbox.serve(&[]);
    let path = site.sandbox.workspace().join("tools.json");
    let before = names(&path).unwrap();
    let reader = Reader::start(&site.sandbox.workspace());
    let barrier = Barrier::new(count);
    let one = |number: usize| {
        let (sort, tool) = registration(number);
        barrier.wait();
        let (status, answer) = server.request("POST", "/api/v1/tools", Some(&tool));
        check(sort, status, &answer);
        (status == 201).then(|| tool["name"].as_str().unwrap().to_owned())
    };
    let accepted: Vec<String> = std::thread::scope(|scope| {
        let one = &one;
        let threads: Vec<_> = (0..count)
            .map(|number| scope.spawn(move || one(number)))
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().unwrap())
            .collect()
    });
    let seen = reader.stop();
    let distinct: HashSet<String> = accepted.iter().cloned().collect();
    assert_eq!(distinct.len(), accepted.len(), "a name was accepted twice");
    assert!(distinct.contains("contested"));
    assert_eq!(
        &names(&path).unwrap() - &before,
        distinct,
        "the file holds what was accepted, once each"
    );
    every_one_is_served(&server, &distinct);
    drop(server);
    every_one_is_served(&site.sandbox.serve(&[]), &distinct);
    format!(
        "{count} concurrent registrations on {}: {} accepted, {} refused with their reasons, {} reads of tools.json, 0 malformed",
        site.engine,
        accepted.len(),
        count - accepted.len(),
        seen.reads
    )
}

fn every_one_is_served(server: &Running, names: &HashSet<String>) {
    for name in names {
        let (status, tool) = server.request("GET", &format!("/api/v1/tools/{name}"), None);
        assert_eq!((status, &tool["version"]), (200, &json!(1)), "{tool}");
    }
}

#[test]
fn concurrent_registrations_are_all_there_or_refused_with_a_reason() {
    for site in engine::every("concurrent registrations") {
        println!("{}", register_at_once(&site));
    }
}

#[test]
fn a_server_and_commands_share_a_workspace_under_load() {
    let site = engine::sqlite();
    let count = sizes().command_adds;
    let reader = Reader::start(&site.sandbox.workspace());
    let server = site.sandbox.serve(&[]);
    let (never, kept) = (AtomicBool::new(false), &AtomicUsize::new(0));
    let (mut all, by_command) = std::thread::scope(|scope| {
        let rest: Vec<_> = (0..4)
            .map(|t| {
                scope.spawn({
                    let server = &server;
                    move || load::over_rest(server, &format!("rest{t}"), kept)
                })
            })
            .collect();
        let commands: Vec<_> = (0..2)
            .map(|t| {
                let (sandbox, never) = (&site.sandbox, &never);
                scope.spawn(move || {
                    load::by_command(sandbox, &format!("command{t}"), count / 2, never, 7 + t)
                })
            })
            .collect();
        let mut added = Promises::default();
        for thread in commands {
            added.add(thread.join().unwrap());
        }
        server.signal(rustix::process::Signal::KILL);
        let mut all = Promises::default();
        for thread in rest {
            all.add(thread.join().unwrap());
        }
        (all, added)
    });
    drop(server);
    let seen = reader.stop();
    assert!(by_command.acknowledged > 0);
    let added = by_command.acknowledged;
    all.add(by_command);
    let broken = all.broken(&site.sandbox.serve(&[]));
    assert!(broken.is_empty(), "{broken:#?}");
    println!(
        "server and commands on one workspace: {} changes acknowledged ({added} by {count} commands, some killed), 0 lost, {} reads of tools.json, 0 malformed",
        all.acknowledged, seen.reads
    );
}

/// The files of two workspaces may lie in one folder, each behind its link.
#[test]
fn two_workspaces_keep_their_files_in_one_folder() {
    let shared = tempfile::tempdir().unwrap();
    let sites = [engine::sqlite(), engine::sqlite()];
    let servers: Vec<Running> = (0..2)
        .map(|number| {
            let path = sites[number].sandbox.workspace().join("tools.json");
            let target = shared.path().join(format!("env{number}.json"));
            std::fs::rename(&path, &target).unwrap();
            std::os::unix::fs::symlink(&target, &path).unwrap();
            sites[number].sandbox.serve(&[])
        })
        .collect();
    std::thread::scope(|scope| {
        for (number, server) in servers.iter().enumerate() {
            for half in 0..2 {
                scope.spawn(move || {
                    for i in 0..40 {
                        let name = format!("of_{number}_{half}_{i}");
                        let tool = definition(&name, "calculator", "file");
                        let (status, answer) = server.request("POST", "/api/v1/tools", Some(&tool));
                        assert_eq!(status, 201, "{answer}");
                    }
                });
            }
        }
    });
    for number in 0..2 {
        let text = std::fs::read(shared.path().join(format!("env{number}.json"))).unwrap();
        let file: Value = serde_json::from_slice(&text).unwrap();
        let names = file["tools"].as_array().unwrap().iter();
        let own = format!("of_{number}_");
        let (mine, others): (Vec<_>, Vec<_>) = names
            .filter_map(|tool| tool["name"].as_str())
            .filter(|name| name.starts_with("of_"))
            .partition(|name| name.starts_with(&own));
        assert_eq!((mine.len(), others.len()), (80, 0), "{others:?}");
    }
}
