//! Authors who change the catalogue without pause and remember what was acknowledged.

use crate::harness::{Running, Sandbox};
use crate::wire::{Dice, definition};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What an author was promised: each tool's description, or that it is gone.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    pub(crate) tools: HashMap<String, Option<String>>,
    pub(crate) acknowledged: usize,
    /// Changes that never got an answer: either outcome is right.
    pub(crate) unanswered: usize,
}

impl Promises {
    pub(crate) fn add(&mut self, other: Promises) {
        self.tools.extend(other.tools);
        self.acknowledged += other.acknowledged;
        self.unanswered += other.unanswered;
    }

    fn keep(&mut self, name: &str, description: Option<String>) {
        self.acknowledged += 1;
        self.tools.insert(name.to_owned(), description);
    }

    fn unsure(&mut self, name: &str) {
        self.unanswered += 1;
        self.tools.remove(name);
    }

    /// Every promise that the server does not keep.
    pub(crate) fn broken(&self, server: &Running) -> Vec<String> {
        let mut broken = Vec::new();
        for (name, promised) in &self.tools {
            let (status, tool) = server.request("GET", &format!("/api/v1/tools/{name}"), None);
            let found = (status == 200)
                .then(|| tool["description"].as_str().unwrap_or_default().to_owned());
            if found != *promised {
                broken.push(format!(
                    "{name}: promised {promised:?}, found {found:?} ({status})"
                ));
            }
        }
        broken
    }
}

/// Creates, changes and removes tools on both shelves over REST until the server is gone. `kept` counts what is acknowledged.
pub(crate) fn over_rest(server: &Running, prefix: &str, kept: &AtomicUsize) -> Promises {
    let mut promises = Promises::default();
    for number in 0.. {
        let name = format!("{prefix}_{number}");
        let shelf = if number % 2 == 0 { "file" } else { "database" };
        let new = definition(&name, "calculator", shelf);
        let said = new["description"].as_str().map(str::to_owned);
        let path = format!("/api/v1/tools/{name}");
        let mut steps = vec![("POST", "/api/v1/tools", Some(new), said)];
        if number % 3 == 0 {
            let other = format!("changed {number}");
            steps.push((
                "PATCH",
                &path,
                Some(json!({"description": other})),
                Some(other),
            ));
        }
        if number % 4 < 2 {
            steps.push(("DELETE", &path, None, None));
        }
        for (method, path, body, outcome) in steps {
            match server.try_request(method, path, body.as_ref()) {
                Ok((200 | 201 | 204, _)) => {
                    kept.fetch_add(1, Ordering::Relaxed);
                    promises.keep(&name, outcome);
                }
                Ok((status, answer)) => panic!("{method} {path}: {status} {answer}"),
                Err(_) => {
                    promises.unsure(&name);
                    return promises;
                }
            }
        }
    }
    promises
}

/// Adds file tools with `toolcrib tools add`, a process each, until told to stop or so many are added.
/// Some of the processes are killed on the way.
pub(crate) fn by_command(
    sandbox: &Sandbox,
    prefix: &str,
    at_most: usize,
    stop: &AtomicBool,
    seed: u64,
) -> Promises {
    let mut dice = Dice(seed);
    let mut promises = Promises::default();
    for number in 0..at_most {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let name = format!("{prefix}_{number}");
        let new = definition(&name, "calculator", "file");
        let kill = (dice.below(5) == 0).then(|| Duration::from_millis(dice.roll() % 40));
        match add(sandbox, &new, kill) {
            Ok(()) => promises.keep(&name, new["description"].as_str().map(str::to_owned)),
            Err(said) => {
                assert!(!said.contains("panicked"), "{said}");
                promises.unsure(&name);
            }
        }
    }
    promises
}

fn add(sandbox: &Sandbox, new: &Value, kill: Option<Duration>) -> Result<(), String> {
    let mut command = sandbox.command(&["tools", "add", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program can be started");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    // A process that refused at once has closed its end: its exit code tells.
    let _ = stdin.write_all(new.to_string().as_bytes());
    drop(stdin);
    if let Some(delay) = kill {
        std::thread::sleep(delay);
        let _ = child.kill();
    }
    let done = child.wait_with_output().expect("the program ends");
    if done.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&done.stderr).into_owned())
}
