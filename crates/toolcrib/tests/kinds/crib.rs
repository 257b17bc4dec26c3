//! A server with tools of every kind, and what it leaves running.

use crate::harness::{Running, Sandbox};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What has not happened by then never will.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Crib {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: Running,
}

/// An answer to a call.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn data(&self) -> &Value {
        assert_eq!(self.status, 200, "{}", self.body);
        &self.body["data"]
    }

    /// The message of a call that failed with this code.
    pub(crate) fn failed(&self, code: &str) -> &str {
        assert_eq!(self.body["error"]["code"], code, "{}", self.body);
        self.body["error"]["message"].as_str().unwrap()
    }

    pub(crate) fn details(&self) -> &Value {
        &self.body["error"]["details"]
    }
}

impl Crib {
    pub(crate) fn new() -> Self {
        Crib::of(sandbox())
    }

    pub(crate) fn of(sandbox: Sandbox) -> Self {
        let server = sandbox.serve(&[]);
        Crib { sandbox, server }
    }

    /// Stores a tool on the database shelf and gives the answer.
    pub(crate) fn try_add(
        &self,
        name: &str,
        kind: &str,
        config: &Value,
        more: &Value,
    ) -> (u16, Value) {
        let mut definition = json!({
            "name": name,
            "description": format!("a tool named {name}"),
            "kind": kind,
            "config": config,
            "input_schema": {"type": "object"},
        });
        for (key, value) in more.as_object().unwrap() {
            definition[key] = value.clone();
        }
        self.server
            .request("POST", "/api/v1/tools", Some(&definition))
    }

    pub(crate) fn add(&self, name: &str, kind: &str, config: &Value, more: &Value) {
        let (status, answer) = self.try_add(name, kind, config, more);
        assert_eq!(status, 201, "{answer}");
    }

    /// Writes a script and stores a tool of its name that runs it.
    pub(crate) fn add_python(&self, name: &str, script: &str) {
        let file = format!("{name}.py");
        self.sandbox.write(&file, script);
        self.add(name, "python", &json!({"script": file}), &json!({}));
    }

    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Answer {
        self.call_within(tool, arguments, 30.0)
    }

    pub(crate) fn call_within(&self, tool: &str, arguments: &Value, seconds: f64) -> Answer {
        let path = format!("/api/v1/tools/{tool}/call");
        let body = json!({"arguments": arguments, "timeout_seconds": seconds});
        let (status, body) = self.server.request("POST", &path, Some(&body));
        Answer { status, body }
    }

    /// What the call printed, as the log has it.
    pub(crate) fn printed(&self, answer: &Answer) -> String {
        let id = answer.body["execution_id"].as_str().unwrap();
        let (_, entry) = self
            .server
            .request("GET", &format!("/api/v1/executions/{id}"), None);
        entry["log_text"].as_str().unwrap_or_default().to_owned()
    }

    /// The processes below the server, however deep, with their command lines.
    pub(crate) fn below(&self) -> Vec<(u32, String)> {
        let all = processes();
        let mut found = vec![self.server.pid()];
        let mut next = 0;
        while let Some(&parent) = found.get(next) {
            found.extend(
                all.iter()
                    .filter(|p| p.parent == parent && p.is_alive)
                    .map(|p| p.pid),
            );
            next += 1;
        }
        let line = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        };
        found[1..].iter().map(|pid| (*pid, line(pid))).collect()
    }

    /// Waits until nothing whose command line has `text` in it runs below the server, or anywhere.
    pub(crate) fn nothing_left_of(&self, text: &str) {
        let is_left = || {
            processes().into_iter().any(|p| {
                let line = std::fs::read(format!("/proc/{}/cmdline", p.pid)).unwrap_or_default();
                p.is_alive
                    && String::from_utf8_lossy(&line)
                        .replace('\0', " ")
                        .contains(text)
            })
        };
        until(&format!("'{text}' is gone: {:?}", self.below()), || {
            (!is_left()).then_some(())
        });
    }
}

/// Where whoever runs the tests looks for programs.
pub(crate) fn path() -> String {
    std::env::var_os("PATH")
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// With the search path of whoever runs the tests: Python may be anywhere.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new().with("PATH", &path())
}

struct Process {
    pid: u32,
    parent: u32,
    is_alive: bool,
}

fn processes() -> Vec<Process> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let process = |pid| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, after_name) = text.rsplit_once(") ")?;
        let mut fields = after_name.split(' ');
        let is_alive = !matches!(fields.next()?, "Z" | "X");
        Some(Process {
            pid,
            parent: fields.next()?.parse().ok()?,
            is_alive,
        })
    };
    pids.filter_map(process).collect()
}

/// Asks again until the answer is there.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(
            began.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}
