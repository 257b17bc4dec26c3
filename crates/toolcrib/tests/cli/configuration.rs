//! Where values come from, what is refused, and the exit codes.

use crate::harness::{ADMIN_KEY, Sandbox};
use std::net::TcpListener;

#[test]
fn flags_win_over_the_environment_over_the_file_over_the_defaults() {
    let sandbox = Sandbox::new()
        .with("TOOLCRIB_TOOLS_QUEUE_MAX", "3")
        .with("TOOL_TIMEOUT_SECONDS", "4")
        .with("DATABASE_URL", "");
    sandbox.write(
        "toolcrib.toml",
        "[tools]\nqueue_max = 1\noutput_bytes_max = 2\ntimeout_seconds = 1\n",
    );
    let shown = sandbox.json(&["config", "show"]);
    let setting = |name: &str| shown["settings"][name].clone();
    assert_eq!(setting("tools.queue_max")["value"], 3);
    assert_eq!(
        setting("tools.queue_max")["from"],
        "environment TOOLCRIB_TOOLS_QUEUE_MAX"
    );
    assert_eq!(
        setting("tools.timeout_seconds")["from"],
        "environment TOOL_TIMEOUT_SECONDS"
    );
    assert_eq!(setting("tools.output_bytes_max")["value"], 2);
    assert!(
        setting("tools.output_bytes_max")["from"]
            .as_str()
            .unwrap()
            .ends_with("toolcrib.toml")
    );
    assert_eq!(setting("server.requests_max")["from"], "default");

    sandbox.write("other.toml", "[tools]\noutput_bytes_max = 9\n");
    let shown = sandbox.json(&["config", "show", "--config", "other.toml"]);
    assert_eq!(shown["settings"]["tools.output_bytes_max"]["value"], 9);

    // The flag: --listen 127.0.0.1:0 of the harness wins over an address nobody can listen on.
    let elsewhere = Sandbox::new().with("TOOLCRIB_SERVER_LISTEN", "203.0.113.1:1");
    elsewhere.serve(&[]);
}

#[test]
fn secrets_are_not_shown() {
    let sandbox = Sandbox::new()
        .with("DATABASE_URL", "postgres://me:hunter2@localhost/x")
        .with("TOOLCRIB_ADMIN_KEY", "hunter2-the-key")
        .with("TOOLCRIB_SECRET_KEY", "hunter2-opens-it");
    for arguments in [&["config", "show"][..], &["config", "show", "--json"]] {
        let shown = sandbox.ok(arguments);
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("hidden"), "{shown}");
    }
}

#[test]
fn every_problem_of_the_configuration_is_told_at_once() {
    let sandbox = Sandbox::new()
        .with("FEATURE_TOOLS_POLICY", "on")
        .with("TOOLCRIB_SERVER_LISTN", "x");
    sandbox.write(
        "toolcrib.toml",
        "[server]\nlisten = 1\nbodybytes_max = 2\n\n[nonsense]\nx = 1\n",
    );
    for command in [&["serve"][..], &["tools", "list"], &["config", "show"]] {
        let done = sandbox.run(command);
        assert_eq!(done.code, 3, "{done:?}");
        for part in [
            "toolcrib.toml:2: server.listen: expected an address",
            "toolcrib.toml:3: unknown key 'server.bodybytes_max'; did you mean 'server.body_bytes_max'?",
            "toolcrib.toml:6: unknown key 'nonsense.x'",
            "FEATURE_TOOLS_POLICY: expected true, 1, yes, false, 0 or no, got 'on'",
            "unknown variable TOOLCRIB_SERVER_LISTN; did you mean 'TOOLCRIB_SERVER_LISTEN'?",
        ] {
            assert!(
                done.stderr.contains(part),
                "{part}\nnot in\n{}",
                done.stderr
            );
        }
        assert_eq!(done.stdout, "");
    }
    sandbox.write(
        "toolcrib.toml",
        "[tools]\nqueue_max = 0\n\n[server]\nlisten = 1\nb = 2\na = 1\n\n[log]\nb = 3\n",
    );
    let done = sandbox.run(&["tools", "list"]);
    let lines = done.stderr.lines();
    let lines: Vec<&str> = lines.filter_map(|line| line.split(": ").nth(1)).collect();
    let places = lines
        .iter()
        .filter_map(|place| place.rsplit_once("toolcrib.toml:"));
    let places: Vec<&str> = places.map(|(_, line)| line).collect();
    assert_eq!(places, ["2", "5", "6", "7", "10"], "{done:?}");
    assert!(
        done.stderr
            .contains("`toolcrib init DIR` makes a new folder"),
        "{done:?}"
    );
    sandbox.write("toolcrib.toml", "[server\n");
    let done = sandbox.run(&["serve"]);
    assert_eq!(done.code, 3);
    assert!(!done.stderr.contains("toolcrib init"), "{done:?}");
    assert!(done.stderr.contains("toolcrib.toml:1: "), "{}", done.stderr);
    assert_eq!(sandbox.run(&["serve", "--config", "missing.toml"]).code, 3);
}

#[test]
fn config_show_says_what_it_shows() {
    let sandbox = Sandbox::new();
    let alone = sandbox.run(&["config", "show"]);
    assert_eq!(alone.code, 0, "{alone:?}");
    assert!(
        alone.stderr.contains("a server takes it when it starts")
            && !alone.stderr.contains("process"),
        "{alone:?}"
    );
    let server = sandbox.serve(&[]);
    let beside = sandbox.run(&["config", "show"]);
    let said = format!("process {} runs on this workspace", server.pid());
    assert!(beside.stderr.contains(&said), "{beside:?}");
    let shown = sandbox.json(&["config", "show"]);
    assert_eq!(shown["in_force"], "at the next start");
    assert_eq!(shown["server_running"], true);
}

#[test]
fn a_broken_file_does_not_keep_anyone_from_a_server_that_runs() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    sandbox.write("toolcrib.toml", "[server\n");
    let done = sandbox.run(&["call", "calculator", r#"{"expression": "1+1"}"#]);
    assert_eq!((done.code, done.stdout.as_str()), (0, "2\n"), "{done:?}");
    assert!(
        done.stderr.starts_with("warning: ") && done.stderr.contains("toolcrib.toml:1: "),
        "{done:?}"
    );
    let by_url = ["tools", "list", "--url", &server.url(), "--key", ADMIN_KEY];
    let done = sandbox.run(&by_url);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{done:?}");
    assert_eq!(server.terminate(), 0);
    assert_eq!(
        sandbox.run(&["tools", "list"]).code,
        3,
        "now the file counts"
    );
}

#[test]
fn only_postgresql_is_taken_for_a_database() {
    for wrong in [
        "mysql://me:hunter2@localhost/x",
        "hunter2",
        "me:hunter2@localhost",
    ] {
        let sandbox = Sandbox::new().with("DATABASE_URL", wrong);
        let done = sandbox.run(&["tools", "list"]);
        assert_eq!(done.code, 3, "{done:?}");
        assert!(
            done.stderr
                .contains("DATABASE_URL: expected a PostgreSQL address: postgres://")
                && done.stderr.contains("postgresql://")
                && !done.stderr.contains("hunter2"),
            "{done:?}"
        );
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["no-such-command"][..],
        &[],
        &["call"],
        &["serve", "--no-such-flag"],
        &["call", "calculator", "{not json"],
        &["call", "calculator", "@missing.json"],
        &["tools", "add", "missing.json"],
        &["call", "calculator", "--url", "ftp://x"],
        &[
            "call",
            "calculator",
            "--url",
            "http://x",
            "--workspace",
            ".",
        ],
        &["serve", "--dev", "--listen", "0.0.0.0:0"],
        &["serve", "--url", "http://127.0.0.1:1"],
        &["config", "show", "--url", "http://127.0.0.1:1"],
        &["restore", "x", "--url", "http://127.0.0.1:1"],
        &["tools", "list", "--key", "tck_x"],
        &["tools", "list", "--url", "http://127.0.0.1:99999"],
        &["tools", "list", "--kind", "nonsense"],
        &["tools", "list", "--limit", "0"],
        &["tools", "rollback", "x", "0"],
        &["tools", "history", "x", "--diff", "1", "--limit", "5"],
        &["log", "--limit", "0"],
        &["log", "--status", "nonsense"],
        &["log", "--since", "yesterday"],
        &["keys", "create", "x", "--scopes", "all"],
        &["keys", "create", "x", "--expires-at", "soon"],
        &["call", "calculator", "{}", "--timeout", "-1"],
    ] {
        let done = sandbox.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(
            done.stderr.contains("error") || done.stderr.contains("Usage"),
            "{done:?}"
        );
    }
    assert_eq!(sandbox.run(&["--help"]).code, 0);
    assert_eq!(sandbox.run(&["--version"]).code, 0);
}

#[test]
fn an_unreachable_server_exits_with_4() {
    // A port that was free a moment ago and is closed now.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["tools", "list", "--url", &url]);
    assert_eq!(done.code, 4, "{done:?}");
    assert!(
        done.stderr.contains("no server answers") && done.stderr.contains("hint: "),
        "{done:?}"
    );
    let sandbox = sandbox.with("TOOLCRIB_URL", &url);
    assert_eq!(sandbox.run(&["tools", "list"]).code, 4);
    assert_eq!(
        sandbox.run(&["tools", "list", "--workspace", "."]).code,
        0,
        "a flag wins over the environment"
    );
}

#[test]
fn colour_is_not_for_pipes() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["tools", "list"][..],
        &["doctor"],
        &["call", "nothing"],
        &["--help"],
    ] {
        let done = sandbox.run(arguments);
        assert!(
            !format!("{}{}", done.stdout, done.stderr).contains('\u{1b}'),
            "{done:?}"
        );
    }
}

#[test]
fn what_stands_twice_is_told_with_its_first_place() {
    let sandbox = Sandbox::new();
    for (text, told) in [
        (
            "[log]\nretention_days = 3\n\n[log]\ndurability = \"full\"\n",
            "toolcrib.toml:4: the section [log] is there already, in line 1; put its lines there",
        ),
        (
            "[log]\nretention_days = 3\nretention_days = 4\n",
            "toolcrib.toml:3: retention_days is set twice, first in line 2; keep one",
        ),
    ] {
        sandbox.write("toolcrib.toml", text);
        let done = sandbox.run(&["config", "show"]);
        assert_eq!(done.code, 3, "{done:?}");
        assert!(
            done.stderr.contains(told),
            "{told}\nnot in\n{}",
            done.stderr
        );
    }
}
