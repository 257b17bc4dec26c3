//! Servers that others wrote, all at once in one mcp.json: every tool is listed once and can be called, resources and
//! prompts can be read, and the file may change while we run.

use crate::client::{Client, Story, call};
use crate::crib::{Crib, sandbox, until};
use crate::harness::ADMIN_KEY;
use crate::programs::{LONG, Listening, npm, program, run};
use crate::world::{listed, names, servers};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

/// What each server is asked through us, and what is in its answer.
const CALLS: [(&str, &str, &str, &str); 8] = [
    (
        "everything_stdio",
        "echo",
        r#"{"message": "one"}"#,
        "Echo: one",
    ),
    (
        "everything_sse",
        "echo",
        r#"{"message": "two"}"#,
        "Echo: two",
    ),
    (
        "everything_http",
        "echo",
        r#"{"message": "three"}"#,
        "Echo: three",
    ),
    (
        "files",
        "list_allowed_directories",
        "{}",
        "Allowed directories",
    ),
    (
        "memory",
        "create_entities",
        r#"{"entities": [{"name": "crib", "entityType": "tool", "observations": ["holds"]}]}"#,
        "crib",
    ),
    ("time", "get_current_time", r#"{"timezone": "UTC"}"#, "UTC"),
    ("git", "git_log", r#"{"repo_path": "REPO"}"#, "the first"),
    (
        "sqlite",
        "create_table",
        r#"{"query": "CREATE TABLE a (b INTEGER)"}"#,
        "Table created",
    ),
];

struct Others {
    everything: [Listening; 2],
    folder: tempfile::TempDir,
}

impl Others {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
            command.args(arguments).current_dir(folder.path());
            let ended = run(command, "");
            assert!(ended.is_good, "{ended:?}");
        };
        git(&["init", "--quiet", "."]);
        git(&["commit", "--quiet", "--allow-empty", "-m", "the first"]);
        Others {
            everything: [
                Listening::everything("sse", "/sse"),
                Listening::everything("streamableHttp", "/mcp"),
            ],
            folder,
        }
    }

    fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// What stands in mcp.json.
    fn entries(&self) -> Map<String, Value> {
        let folder = self.folder();
        let entries = json!({
            "everything_stdio": {"command": npm("mcp-server-everything"), "args": ["stdio"]},
            "everything_sse": {"url": self.everything[0].url, "type": "sse"},
            "everything_http": {"url": self.everything[1].url},
            "files": {"command": npm("mcp-server-filesystem"), "args": [folder]},
            "memory": {"command": npm("mcp-server-memory"), "env": {"MEMORY_FILE_PATH": format!("{folder}/memory.json")}},
            "time": {"command": program("py/bin/mcp-server-time"), "args": ["--local-timezone=UTC"]},
            "git": {"command": program("py/bin/mcp-server-git"), "args": ["--repository", folder]},
            "sqlite": {"command": program("py1/bin/mcp-server-sqlite"), "args": ["--db-path", format!("{folder}/a.db")]},
        });
        entries.as_object().unwrap().clone()
    }

    /// A client that asks a server without us between.
    fn directly(&self, entry: &Value) -> Client {
        let client = match entry["url"].as_str() {
            Some(url) if entry["type"] == "sse" => Client::new("sse", url, "legacy"),
            Some(url) => Client::new("http", url, "auto"),
            None => {
                let words = std::iter::once(&entry["command"]);
                let words = words.chain(entry["args"].as_array().into_iter().flatten());
                let words: Vec<String> = words
                    .map(|it| format!("'{}'", it.as_str().unwrap()))
                    .collect();
                Client::new("stdio", &words.join(" "), "auto")
            }
        };
        // What it can be asked decides on what it is offered.
        client.able()
    }
}

/// The same list, two at a time: each server is asked by a client of its own.
fn asked_directly(others: &Others) -> BTreeMap<String, Story> {
    let entries: Vec<(String, Value)> = others.entries().into_iter().collect();
    let (one, two) = entries.split_at(entries.len() / 2);
    let ask = |entries: &[(String, Value)]| -> Vec<(String, Story)> {
        let entries = entries.iter();
        entries
            .map(|(name, entry)| {
                let client = others.directly(entry);
                (name.clone(), client.script(&[json!({"action": "list"})]))
            })
            .collect()
    };
    std::thread::scope(|both| {
        let other = both.spawn(|| ask(two));
        ask(one).into_iter().chain(other.join().unwrap()).collect()
    })
}

fn started(others: &Others) -> Crib {
    let sandbox = sandbox();
    servers(&sandbox, &Value::Object(others.entries()));
    let crib = Crib::of(sandbox);
    for (server, tool, ..) in CALLS {
        listed(&crib, &format!("{server}.{tool}"));
    }
    crib
}

fn through_us(crib: &Crib) -> Client {
    let url = format!("{}/mcp", crib.server.url());
    Client::new("http", &url, "auto").with_key(ADMIN_KEY).able()
}

#[test]
fn every_tool_of_every_server_is_listed_once_and_can_be_called() {
    let others = Others::start();
    let crib = started(&others);
    let mut steps = vec![json!({"action": "list"})];
    for (server, tool, arguments, _) in CALLS {
        let arguments = arguments.replace("REPO", others.folder());
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        steps.push(call(&format!("{server}.{tool}"), &arguments));
    }
    let story = through_us(&crib).script(&steps);
    for (number, (server, _, _, expected)) in CALLS.into_iter().enumerate() {
        let text = story.text(number + 1);
        assert!(text.contains(expected), "{server}: {text}");
    }
    let shown = story.list(0, "tools");
    for (server, direct) in asked_directly(&others) {
        let theirs = direct.list(0, "tools");
        let prefix = format!("{server}.");
        let ours: Vec<&Value> = shown
            .iter()
            .filter(|it| it["name"].as_str().unwrap().starts_with(&prefix))
            .collect();
        println!(
            "{server}: {} of {} tools, {}",
            ours.len(),
            theirs.len(),
            direct.version()
        );
        for tool in &theirs {
            let mut expected = tool.clone();
            expected["name"] = format!("{prefix}{}", tool["name"].as_str().unwrap()).into();
            let same: Vec<&&Value> = ours
                .iter()
                .filter(|it| it["name"] == expected["name"])
                .collect();
            assert_eq!(same, [&&expected]);
        }
        assert_eq!(ours.len(), theirs.len(), "{server}");
    }
}

#[test]
fn resources_and_prompts_of_everything_can_be_read() {
    let others = Others::start();
    let crib = started(&others);
    let client = through_us(&crib);
    let story = client.script(&[json!({"action": "list"})]);
    let resources = story.list(0, "resources");
    let uris = |prefix: &str| -> Vec<&str> {
        let uris = resources.iter().map(|it| it["uri"].as_str().unwrap());
        uris.filter(|uri| uri.starts_with(prefix)).collect()
    };
    // The first server in the order of names has the addresses as they are.
    let own = uris("demo://");
    assert!(!own.is_empty());
    let mut all = own.clone();
    for server in ["everything_sse", "everything_stdio"] {
        let same = uris(&format!("toolcrib+{server}:demo://"));
        assert_eq!(same.len(), own.len(), "{server}: {resources:?}");
        all.extend(same);
    }
    let mut steps: Vec<Value> = all
        .iter()
        .map(|uri| json!({"action": "read", "name": uri}))
        .collect();
    let templates = story.list(0, "templates");
    assert!(templates.len() >= 3, "{templates:?}");
    steps.push(json!({"action": "read", "name": "demo://resource/dynamic/text/1"}));
    let read = steps.len();
    let prompts = story.list(0, "prompts");
    for prompt in &prompts {
        let arguments = prompt["arguments"].as_array();
        let filled = arguments.into_iter().flatten().map(|it| {
            let name = it["name"].as_str().unwrap().to_owned();
            let value = match name.as_str() {
                "resourceType" => "Text",
                "resourceId" => "1",
                "department" => "Engineering",
                _ => "Alice",
            };
            (name, value.into())
        });
        let arguments: Map<String, Value> = filled.collect();
        steps.push(json!({"action": "get", "name": prompt["name"], "arguments": arguments}));
    }
    let story = client.script(&steps);
    for (number, step) in steps.iter().enumerate().take(read) {
        let contents = &story.result(number)["contents"];
        assert_eq!(contents[0]["uri"], step["name"], "{contents}");
    }
    for number in read..steps.len() {
        let messages = &story.result(number)["messages"];
        assert!(!messages.as_array().unwrap().is_empty(), "{messages}");
    }
    // What a tool links to can be read of the server that the tool is of.
    let linking = call("everything_stdio.get-resource-links", &json!({"count": 2}));
    let story = client.script(&[linking]);
    let blocks = story.result(0)["content"].as_array().unwrap().iter();
    let links = blocks.filter(|it| it["type"] == "resource_link");
    let links: Vec<&str> = links.map(|it| it["uri"].as_str().unwrap()).collect();
    assert_eq!(links.len(), 2, "{links:?}");
    let steps: Vec<Value> = links
        .iter()
        .map(|uri| json!({"action": "read", "name": uri}))
        .collect();
    let story = client.script(&steps);
    for (number, uri) in links.iter().enumerate() {
        assert!(
            uri.starts_with("toolcrib+everything_stdio:demo://"),
            "{uri}"
        );
        assert_eq!(story.result(number)["contents"][0]["uri"], **uri);
    }
    println!(
        "everything: {read} resources read, {} prompts got",
        prompts.len()
    );
}

#[test]
fn mcp_json_may_change_while_we_run() {
    let sandbox = sandbox();
    let time =
        json!({"command": program("py/bin/mcp-server-time"), "args": ["--local-timezone=UTC"]});
    let memory = json!({"command": npm("mcp-server-memory")});
    servers(&sandbox, &json!({"clock": time}));
    let crib = Crib::of(sandbox);
    listed(&crib, "clock.get_current_time");
    let began = Instant::now();
    servers(&crib.sandbox, &json!({"clock": time, "memory": memory}));
    listed(&crib, "memory.read_graph");
    let added = began.elapsed();
    let began = Instant::now();
    servers(&crib.sandbox, &json!({"memory": memory}));
    gone(&crib, "clock.");
    println!(
        "mcp.json: a server was there after {added:?}, another gone after {:?}",
        began.elapsed()
    );
    // Its program is gone too; the other one stayed.
    let runs = |name: &str| crib.below().iter().any(|(_, line)| line.contains(name));
    until("the program has ended", || {
        (!runs("mcp-server-time")).then_some(())
    });
    assert!(runs("mcp-server-memory"), "{:?}", crib.below());
    assert_eq!(crib.call("memory.read_graph", &json!({})).status, 200);
}

/// A command that finds nobody to ask connects the one server it needs.
#[test]
fn a_tool_is_called_where_no_server_runs() {
    let sandbox = sandbox();
    let entry = json!({"command": npm("mcp-server-everything"), "args": ["stdio"]});
    let broken = json!({"command": "no-such-program"});
    servers(&sandbox, &json!({"every": entry, "broken": broken}));
    let tool = json!({"name": "say", "description": "Says it again.", "kind": "mcp",
        "config": {"server_name": "every", "tool_name": "echo"}, "input_schema": {"type": "object"}});
    sandbox.write(
        "tools.json",
        &json!({"version": 1, "tools": [tool]}).to_string(),
    );
    for name in ["every.echo", "say"] {
        let said = sandbox.ok(&["call", name, r#"{"message": "hello"}"#]);
        assert_eq!(said.trim(), "Echo: hello", "{name}");
    }
    let failed = sandbox.run(&["call", "broken.echo", "{}"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    let why = &failed.stderr;
    assert!(
        why.contains("'broken'") && why.contains("no-such-program"),
        "{why}"
    );
    // What it offered last is listed as well, and can be looked at.
    let listed = sandbox.ok(&["tools", "list"]);
    assert!(listed.contains("every.echo"), "{listed}");
    let shown = sandbox.json(&["tools", "show", "every.echo"]);
    assert_eq!(shown["shelf"], "server", "{shown}");
    assert!(
        shown["input_schema"]["properties"]["message"].is_object(),
        "{shown}"
    );
    let unknown = sandbox.run(&["call", "every.nothing", "{}"]);
    assert!(unknown.stderr.contains("tool_not_found"), "{unknown:?}");
}

/// Waits until no tool of this beginning is listed.
fn gone(crib: &Crib, beginning: &str) {
    let began = Instant::now();
    while names(crib).iter().any(|name| name.starts_with(beginning)) {
        assert!(began.elapsed() < LONG, "{:?}", names(crib));
        std::thread::sleep(Duration::from_millis(20));
    }
}
