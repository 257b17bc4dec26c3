//! The Python client (clients/client.py) with a script of steps, and what it said of each.

use crate::programs::{program, run, script};
use serde_json::{Value, json};
use std::process::Command;

/// Where a client connects and how.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    /// A URL, or a command line with the transport stdio.
    pub(crate) target: String,
    pub(crate) transport: &'static str,
    /// "legacy", "modern" or "auto".
    pub(crate) era: &'static str,
    pub(crate) key: Option<String>,
    /// What it answers when it is asked, as options of client.py.
    answers: Vec<String>,
}

impl Client {
    pub(crate) fn new(transport: &'static str, target: &str, era: &'static str) -> Self {
        Client {
            target: target.to_owned(),
            transport,
            era,
            key: None,
            answers: Vec::new(),
        }
    }

    pub(crate) fn with_key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Gets a token itself, as a program that the authorization server knows.
    pub(crate) fn with_token_of(mut self, issuer: &str, client: &str, secret: &str) -> Self {
        let oauth = ["--oauth", issuer, client, secret];
        self.answers.extend(oauth.map(str::to_owned));
        self
    }

    /// Accepts questions to a person with this.
    pub(crate) fn answering(mut self, answer: &Value) -> Self {
        self.answers = vec!["--elicit".to_owned(), answer.to_string()];
        self
    }

    /// Can be asked everything that a client can be asked.
    pub(crate) fn able(self) -> Self {
        let mut able = self.answering(&json!({}));
        let more = ["--sample", "a text", "--root", "file:///nowhere"];
        able.answers.extend(more.map(str::to_owned));
        able
    }

    /// Does these steps over one connection.
    pub(crate) fn script(&self, steps: &[Value]) -> Story {
        self.run(&["script"], &json!(steps).to_string())
    }

    /// Calls a tool and waits until it has heard of a change of some list.
    pub(crate) fn call_and_watch(&self, tool: &str) -> Story {
        self.run(&["--watch", "1", "call", tool, "{}"], "")
    }

    fn run(&self, action: &[&str], stdin: &str) -> Story {
        let mut command = Command::new(program("py/bin/python"));
        command.args([&script("client.py"), &self.target]);
        command.args(["--transport", self.transport, "--era", self.era]);
        command.args(["--timeout", "100"]);
        if let Some(key) = &self.key {
            command.args(["--header", &format!("Authorization: Bearer {key}")]);
        }
        command.args(&self.answers).args(action);
        let ended = run(command, stdin);
        let events = ended.stdout.lines();
        let events = events.map(|line| serde_json::from_str(line).unwrap());
        let story = Story {
            events: events.collect(),
            stderr: ended.stderr,
        };
        assert!(ended.is_good, "{self:?}: {story:?}");
        story
    }
}

/// A step that calls a tool.
pub(crate) fn call(tool: &str, arguments: &Value) -> Value {
    json!({"action": "call", "name": tool, "arguments": arguments})
}

/// What a client said.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) events: Vec<Value>,
    stderr: String,
}

impl Story {
    /// The version of the protocol that it speaks with the server.
    pub(crate) fn version(&self) -> &str {
        let first = &self.events[0];
        assert_eq!(first["event"], "connected", "{self:?}");
        first["protocolVersion"].as_str().unwrap()
    }

    /// What it said of one step.
    pub(crate) fn step(&self, number: usize) -> Vec<&Value> {
        let events = self.events.iter();
        events.filter(|it| it["step"] == number).collect()
    }

    /// The events of one kind in a step.
    pub(crate) fn of(&self, number: usize, event: &str) -> Vec<&Value> {
        let step = self.step(number).into_iter();
        step.filter(|it| it["event"] == event).collect()
    }

    /// The result of a step.
    pub(crate) fn result(&self, number: usize) -> &Value {
        match self.of(number, "result")[..] {
            [only] => &only["result"],
            _ => panic!("step {number}: {:?} {}", self.step(number), self.stderr),
        }
    }

    /// The text of the result of a call that went well.
    pub(crate) fn text(&self, number: usize) -> &str {
        let result = self.result(number);
        assert_ne!(result["isError"], true, "step {number}: {result}");
        result["content"][0]["text"].as_str().unwrap()
    }

    /// The items of a list in a step: "tools", "resources", "templates" or "prompts".
    pub(crate) fn list(&self, number: usize, what: &str) -> Vec<Value> {
        match self.of(number, what)[..] {
            [only] => only[what].as_array().unwrap().clone(),
            _ => panic!("step {number}: {:?} {}", self.step(number), self.stderr),
        }
    }

    pub(crate) fn names(&self, number: usize, what: &str) -> Vec<String> {
        let list = self.list(number, what);
        let names = list.iter().map(|it| it["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    }
}
