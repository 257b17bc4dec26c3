//! `toolcrib serve`: starting, who may ask, sharing a workspace with commands, stopping.

use crate::harness::{ADMIN_KEY, Follower, Running, Sandbox};
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const SUM: &str = r#"{"name":"sum","description":"adds numbers","kind":"builtin","config":{"name":"calculator"},
"input_schema":{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"]}}"#;

fn calculate(server: &Running, tool: &str, expression: &str) -> (u16, serde_json::Value) {
    let body = json!({"arguments": {"expression": expression}});
    server.request("POST", &format!("/api/v1/tools/{tool}/call"), Some(&body))
}

/// Its `started` entry tells that a call runs.
fn until_a_call_runs(server: &Running) {
    loop {
        let (_, page) = server.request("GET", "/api/v1/executions?status=started", None);
        if page["items"]
            .as_array()
            .is_some_and(|items| !items.is_empty())
        {
            return;
        }
    }
}

#[test]
fn without_any_configuration_it_makes_a_workspace_and_shows_a_key_once() {
    let sandbox = Sandbox::bare();
    let command = || sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut server = Running::start(command());
    server.key = server.said("tck_").trim().to_owned();
    let (status, answer) = calculate(&server, "calculator", "12.5% of 340");
    assert_eq!((status, &answer["data"]), (200, &json!(42.5)));
    assert!(
        sandbox
            .folder()
            .join(".local/share/toolcrib/workspace/tools.json")
            .exists()
    );
    let data = sandbox
        .folder()
        .join(".local/share/toolcrib/workspace/.toolcrib");
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(data.join("toolcrib.sock")), 0o600);
    assert_eq!(mode(data.clone()), 0o700);
    let key = server.key.clone();
    assert_eq!(server.terminate(), 0);
    assert!(!data.join("toolcrib.sock").exists());

    // The second start says nothing of a key, and the first one's still opens.
    let mut output = command();
    output.env("TOOLCRIB_TELEMETRY_LEVEL", "info");
    let mut server = Running::start(output);
    server.key = key;
    assert_eq!(calculate(&server, "calculator", "1+1").0, 200);
    server.signal(Signal::TERM);
    let line = server.said("");
    assert!(line.contains("stopping"), "{line}");
}

#[test]
fn the_first_start_shows_a_login_link_also_with_a_key_from_outside() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    let line = server.said("/login/");
    let (url, path) = line.trim().split_at(server.url().len());
    assert_eq!(url, server.url(), "{line}");
    let opens = || server.request("POST", path, None).0;
    assert_eq!(opens(), 303, "it lets in");
    assert_eq!(opens(), 401, "once");
    drop(server);
    let server = sandbox.serve(&[]);
    let (status, _) = server.request("GET", "/api/v1/me", None);
    assert_eq!(status, 200);
    let words = server.last_words();
    assert!(
        !words.iter().any(|line| line.contains("/login/")),
        "{words:?}"
    );
}

#[test]
fn a_key_is_needed_unless_it_is_a_developers_own_machine() {
    let sandbox = Sandbox::new();
    let mut server = sandbox.serve(&[]);
    assert_eq!(calculate(&server, "calculator", "1+1").0, 200);
    server.key = "wrong".to_owned();
    assert_eq!(calculate(&server, "calculator", "1+1").0, 401);
    let refused = sandbox.run(&["tools", "list", "--url", &server.url()]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("unauthenticated: "), "{refused:?}");
    let allowed = sandbox.run(&["tools", "list", "--url", &server.url(), "--key", ADMIN_KEY]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    drop(server);
    let server = sandbox.serve(&["--dev"]);
    assert_eq!(
        sandbox.run(&["tools", "list", "--url", &server.url()]).code,
        0
    );
}

#[test]
fn without_a_key_it_listens_only_on_loopback() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stderr.contains("no key") && done.stderr.contains("TOOLCRIB_ADMIN_KEY"),
        "{done:?}"
    );
    sandbox.ok(&["keys", "create", "first", "--scopes", "admin"]);
    Running::start(sandbox.command(&["serve", "--listen", "0.0.0.0:0"]));
}

#[test]
fn commands_go_through_the_server_that_owns_the_workspace() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    let added = sandbox.run_with_stdin(&["tools", "add", "-"], SUM);
    assert_eq!(added.code, 0, "{added:?}");
    let (status, answer) = calculate(&server, "sum", "40+2");
    assert_eq!((status, &answer["data"]), (200, &json!(42)));
    let on_file = SUM.replace("\"sum\"", "\"sum_on_file\"");
    let added = sandbox.run_with_stdin(&["tools", "add", "-", "--shelf", "file"], &on_file);
    assert_eq!(added.code, 0, "{added:?}");
    assert!(
        std::fs::read_to_string(sandbox.workspace().join("tools.json"))
            .unwrap()
            .contains("sum_on_file")
    );
    assert_eq!(calculate(&server, "sum_on_file", "1+1").0, 200);
    assert_eq!(
        sandbox.ok(&["call", "sum", r#"{"expression":"2+2"}"#]),
        "4\n"
    );
    let log = sandbox.json(&["log", "--tool", "sum"]);
    let transports: Vec<_> = log["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["transport"].clone())
        .collect();
    assert_eq!(transports, ["cli", "rest"]);
    let doctor = sandbox.ok(&["doctor"]);
    assert!(
        doctor.contains(&format!(
            "process {} owns the workspace and its socket answers",
            server.pid()
        )),
        "{doctor}"
    );
}

#[test]
fn a_second_server_on_the_same_workspace_fails_clearly() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    let done = sandbox.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stderr
            .contains(&format!("process {} already owns", server.pid())),
        "{done:?}"
    );
    assert!(done.stderr.contains("hint: "), "{done:?}");
    assert_eq!(
        calculate(&server, "calculator", "1+1").0,
        200,
        "the first is unharmed"
    );
}

#[test]
fn another_data_folder_does_not_make_two_writers_of_one_workspace() {
    let sandbox = Sandbox::new();
    let _server = sandbox.serve(&[]);
    let done = sandbox.run(&["serve", "--listen", "127.0.0.1:0", "--data", "other"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stderr.contains("already owns"), "{done:?}");
}

#[test]
fn a_killed_server_leaves_nothing_in_the_way() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    server.signal(Signal::KILL);
    assert_eq!(server.ended(), -1);
    assert!(
        sandbox.workspace().join(".toolcrib/toolcrib.sock").exists(),
        "a stale socket lies there"
    );
    assert_eq!(
        sandbox.ok(&["call", "calculator", r#"{"expression":"1+1"}"#]),
        "2\n"
    );
    let server = sandbox.serve(&[]);
    assert_eq!(calculate(&server, "calculator", "1+1").0, 200);
}

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let sandbox = Sandbox::new();
    let ended: Vec<_> = std::thread::scope(|scope| {
        let run = || sandbox.run(&["call", "calculator", r#"{"expression":"1+1"}"#]);
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(run)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for done in &ended {
        assert_eq!((done.code, done.stdout.as_str()), (0, "2\n"), "{done:?}");
    }
    let log = sandbox.json(&["log"]);
    assert_eq!(log["items"].as_array().unwrap().len(), 6);
}

#[test]
fn a_call_under_way_is_finished_when_the_server_is_told_to_stop() {
    let sandbox = Sandbox::new().with("TOOLCRIB_BUILTINS_FIXTURES", "true");
    let server = sandbox.serve(&[]);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let body = json!({"arguments": {"seconds": 1}});
            server.request("POST", "/api/v1/tools/fixture_wait/call", Some(&body))
        });
        until_a_call_runs(&server);
        server.signal(Signal::TERM);
        let (status, answer) = call.join().unwrap();
        assert_eq!(status, 200, "{answer}");
    });
    assert_eq!(server.ended(), 0);
    let log = sandbox.json(&["log"]);
    assert_eq!(log["items"][0]["status"], "success", "{log}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let sandbox = Sandbox::new().with("TOOLCRIB_BUILTINS_FIXTURES", "true");
    let server = sandbox.serve(&[]);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let body = json!({"arguments": {"seconds": 60}, "timeout_seconds": 60});
            server.try_request("POST", "/api/v1/tools/fixture_wait/call", Some(&body))
        });
        until_a_call_runs(&server);
        server.signal(Signal::INT);
        server.said("stopping");
        server.signal(Signal::INT);
        assert!(call.join().unwrap().is_err(), "the answer never comes");
    });
    assert_eq!(server.ended(), 1);
    let log = sandbox.json(&["log"]);
    assert_eq!(log["items"][0]["status"], "interrupted", "{log}");
}

#[test]
fn a_data_folder_may_lie_deeper_than_a_socket_path_reaches() {
    let sandbox = Sandbox::new();
    let deep = format!("{}/data", ["a-folder-with-a-rather-long-name"; 5].join("/"));
    std::fs::create_dir_all(sandbox.workspace().join(&deep)).unwrap();
    let server = sandbox.serve(&["--data", &deep]);
    let added = sandbox.run_with_stdin(&["tools", "add", "-", "--data", &deep], SUM);
    assert_eq!(added.code, 0, "{added:?}");
    assert_eq!(calculate(&server, "sum", "1+1").0, 200);
}

#[test]
fn an_empty_whitelist_is_warned_about() {
    let sandbox = Sandbox::new().with("FEATURE_TOOLS_POLICY", "1");
    let server = sandbox.serve(&[]);
    assert!(server.said("warning:").contains("allows all tools"));
    drop(server);
    let sandbox = sandbox.with("TOOL_WHITELIST", "clean_text, no_such_tool");
    let server = sandbox.serve(&[]);
    let (status, answer) = calculate(&server, "calculator", "1+1");
    assert_eq!(
        (status, &answer["error"]["code"]),
        (403, &json!("blocked_by_policy"))
    );
    assert!(
        sandbox
            .ok(&["doctor"])
            .contains("the whitelist names 'no_such_tool'")
    );
}

#[test]
fn the_log_is_followed() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["call", "calculator", r#"{"expression": "1"}"#]);
    let alone = sandbox.run(&["log", "--follow"]);
    assert_eq!(
        (alone.code, alone.stdout.lines().count()),
        (4, 1),
        "{alone:?}"
    );
    let server = sandbox.serve(&[]);
    let follower = Follower::start(sandbox.command(&["log", "--follow", "--json"]));
    assert_eq!(follower.next()["output"], json!(1));
    for expression in ["1+1", "1+2"] {
        calculate(&server, "calculator", expression);
    }
    assert_eq!(follower.next()["output"], json!(2));
    assert_eq!(follower.next()["output"], json!(3));
    assert_eq!(server.terminate(), 0);
    assert_eq!(follower.ended(), 4, "it ends with the server");
}

#[test]
fn a_login_link_leads_to_the_server_that_runs() {
    let sandbox = Sandbox::new();
    let link = || sandbox.ok(&["users", "login-link", "admin"]);
    assert!(
        link().starts_with("/login/"),
        "nobody knows where it is reached"
    );
    let server = sandbox.serve(&[]);
    let shown = link();
    assert!(
        shown.starts_with(&format!("{}/login/", server.url())),
        "{shown}"
    );
    drop(server);
    let public = Sandbox::new().with("TOOLCRIB_SERVER_URL", "https://tools.example.com/");
    let _server = public.serve(&[]);
    let shown = public.ok(&["users", "login-link", "admin"]);
    assert!(
        shown.starts_with("https://tools.example.com/login/"),
        "{shown}"
    );
}
