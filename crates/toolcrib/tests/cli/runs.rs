//! `toolcrib run` on a fresh machine: the examples of the README, without any key and any model.

use crate::harness::Sandbox;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

/// What a run answered.
fn run(sandbox: &Sandbox, request: &str) -> Value {
    let done = sandbox.run(&["--json", "run", request]);
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

/// A command of the README, what it prints, and what somebody types in between.
struct Example {
    command: String,
    prints: Vec<String>,
    typed: Option<String>,
}

/// Those of the block that shows runs, in order.
fn examples() -> Vec<Example> {
    let readme = include_str!("../../../../README.md");
    let blocks = readme.split("```console\n").skip(1);
    let mut blocks = blocks.map(|it| it.split("```").next().unwrap_or_default());
    let block = blocks.find(|it| it.contains("toolcrib run "));
    let block = block.expect("the README shows runs");
    let mut all: Vec<Example> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            all.push(Example {
                command: command.to_owned(),
                prints: Vec::new(),
                typed: None,
            });
            continue;
        }
        let last = all.last_mut().expect("a block begins with a command");
        match line.strip_prefix("> ") {
            Some(typed) => last.typed = Some(typed.to_owned()),
            None => last.prints.push(line.to_owned()),
        }
    }
    all
}

#[test]
fn the_examples_of_the_readme_work_without_any_key() {
    let sandbox = Sandbox::new();
    let mut runs = 0;
    for Example {
        command,
        prints,
        typed,
    } in examples()
    {
        if let Some(text) = command.strip_prefix("echo \"") {
            let (text, file) = text.split_once("\" > ").unwrap();
            sandbox.write(file, &format!("{text}\n"));
            continue;
        }
        let request = command.strip_prefix("toolcrib run \"").unwrap();
        let request = request.strip_suffix('"').unwrap();
        runs += 1;
        let done = sandbox.run(&["run", request]);
        let Some(typed) = typed else {
            let lines: Vec<&str> = done.stdout.lines().collect();
            assert_eq!(
                (lines, done.code),
                (prints.iter().map(String::as_str).collect(), 0),
                "{request}"
            );
            continue;
        };
        // Nobody sits at a terminal here: what is asked is told, and answered by another command.
        assert_eq!(done.code, 1, "{request}: {done:?}");
        let (asked, answer) = (&prints[0], &prints[1]);
        assert!(done.stderr.contains(asked.as_str()), "{request}: {done:?}");
        let waiting = sandbox.json(&["runs", "list", "--status", "needs_input"]);
        let id = waiting["items"][0]["id"].as_str().unwrap();
        let answered = sandbox.ok(&["runs", "answer", id, &typed]);
        assert_eq!(answered.trim(), answer, "{request}");
    }
    assert!(runs >= 10, "the README shows {runs}");
}

#[test]
fn a_request_goes_to_its_tool() {
    let sandbox = Sandbox::new();
    for (request, tool) in [
        ("What is 12.5% of 340?", "calculator"),
        ("multiply 48 by 125", "multiply_numbers"),
        ("kim의 일일 제한량은?", "get_user_daily_limit"),
    ] {
        let view = run(&sandbox, request);
        assert_eq!(view["status"], "done", "{request}: {view}");
        let log = sandbox.json(&["log", "--limit", "1"]);
        assert_eq!(log["items"][0]["tool_name"], tool, "{request}");
    }
}

/// Two numbers alone do not make a product: each is worked out as it is asked for.
#[test]
fn numbers_are_put_together_as_it_is_asked_for() {
    let sandbox = Sandbox::new();
    for (request, answer) in [
        ("Sum of 48 and 125", "173"),
        ("What is 2+2?", "4"),
        ("What is 48 over 125?", "0.384"),
        ("100 빼기 4", "96"),
        ("100을 4로 나누면?", "25"),
        ("100과 4를 더해줘", "104"),
        ("multiply 48 by 125", "6000"),
        ("12랑 34 곱하면 얼마야", "408"),
        ("average of 48 and 125", "86.5"),
        ("12*12", "144"),
    ] {
        let view = run(&sandbox, request);
        assert_eq!(view["output"], answer, "{request}: {view}");
    }
    let view = run(&sandbox, "how many minutes in 3 days");
    assert_eq!(view["output"], "4320 minutes", "{view}");
    // What is not surely understood is asked for.
    let view = run(&sandbox, "the median of 48 and 125");
    assert_eq!(view["status"], "needs_input", "{view}");
}

#[test]
fn no_tool_is_called_where_none_is_needed() {
    let sandbox = Sandbox::new();
    for request in ["What is the capital of France?", "프랑스의 수도는 어디야?"] {
        let view = run(&sandbox, request);
        assert_eq!(
            (&view["status"], view["calls"].as_u64()),
            (&Value::from("done"), Some(0)),
            "{view}"
        );
    }
}

#[test]
fn what_a_request_does_not_say_is_asked_for_and_answered_later() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["--json", "run", "check the daily limit of a user"]);
    assert_eq!(done.code, 1, "{done:?}");
    let view: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(view["status"], "needs_input", "{view}");
    let id = view["id"].as_str().unwrap();
    let listed = sandbox.json(&["runs", "list", "--status", "needs_input"]);
    assert_eq!(listed["items"][0]["id"], id);
    let shown = sandbox.ok(&["runs", "show", id]);
    assert!(shown.contains("asks "), "{shown}");
    let answered = sandbox.json(&["runs", "answer", id, "hong"]);
    assert_eq!(answered["status"], "done", "{answered}");
    assert!(
        answered["output"].as_str().unwrap().contains("50"),
        "{answered}"
    );
    let again = sandbox.run(&["runs", "answer", id, "kim"]);
    assert_eq!(again.code, 1, "{again:?}");
}

#[test]
fn nobody_has_to_answer() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["run", "check the daily limit of a user"]);
    assert!(done.stderr.contains("--decline"), "{done:?}");
    assert!(
        done.stderr.contains("asks for get_user_daily_limit"),
        "{done:?}"
    );
    let listed = sandbox.json(&["runs", "list", "--status", "needs_input"]);
    let id = listed["items"][0]["id"].as_str().unwrap();
    for odd in [
        &["runs", "answer", id][..],
        &["runs", "answer", id, "kim", "--decline"],
    ] {
        assert_eq!(sandbox.run(odd).code, 2);
    }
    let declined = sandbox.run(&["runs", "answer", id, "--decline"]);
    assert_eq!(declined.code, 1, "it did nothing: {declined:?}");
    assert!(declined.stderr.contains("not answered"), "{declined:?}");
    assert!(
        declined.stdout.contains("did not want to give user_name"),
        "{declined:?}"
    );
}

/// A run that waits for somebody to decide about a call: its id, and what it said about that.
fn waiting(sandbox: &Sandbox) -> (String, String) {
    let done = sandbox.run(&["run", "--tool", "percent_of", "What is 12.5% of 340?"]);
    assert_eq!(done.code, 1, "{done:?}");
    let listed = sandbox.json(&["runs", "list", "--status", "needs_input"]);
    let id = listed["items"][0]["id"].as_str().expect("a run that waits");
    (id.to_owned(), done.stderr)
}

#[test]
fn a_call_is_decided_in_the_words_of_people() {
    let sandbox = Sandbox::new();
    let careful = json!({
        "name": "percent_of", "kind": "builtin", "config": {"name": "calculator"}, "approval": "always",
        "description": "Takes a percentage of an amount, written as \"12.5% of 340\"",
        "input_schema": {"type": "object", "required": ["expression"],
            "properties": {"expression": {"type": "string", "description": "The calculation"}}},
    });
    sandbox.ok(&["tools", "add", &careful.to_string()]);
    for (answer, code, prints, says) in [
        ("예", 0, "42.5", "←"),
        ("edit {\"expression\": \"10% of 340\"}", 0, "34", "(edited)"),
        ("respond nine", 0, "nine", "← nine"),
        (
            "거절: 오늘은 말고",
            1,
            "오늘은 말고",
            "not called: rejected: 오늘은 말고",
        ),
    ] {
        let (id, asked) = waiting(&sandbox);
        for verb in ["approve", "edit", "reject", "respond", "always"] {
            assert!(asked.contains(verb), "{verb}: {asked}");
        }
        let done = sandbox.run(&["runs", "answer", &id, answer]);
        assert_eq!(done.code, code, "{answer}: {done:?}");
        assert!(done.stdout.contains(prints), "{answer}: {done:?}");
        assert!(done.stderr.contains(says), "{answer}: {done:?}");
    }
    let (id, _) = waiting(&sandbox);
    for unclear in ["perhaps", "yes, but less", "edit"] {
        // As it is with what is no answer to a question.
        let done = sandbox.run(&["runs", "answer", &id, unclear]);
        assert_eq!(done.code, 1, "{unclear}: {done:?}");
        assert!(done.stderr.contains("error: invalid: "), "{done:?}");
    }
    for (odd, says) in [
        (&["approve", "--arguments", "{}"][..], "--arguments"),
        (&["edit {}", "--arguments", "{}"], "--arguments"),
        (&["edit {}", "--text", "why"], "--text"),
        (&["{\"decision\": \"approve\"}", "--text", "why"], "--text"),
    ] {
        let done = sandbox.run(&[&["runs", "answer", &id][..], odd].concat());
        assert_eq!(done.code, 2, "{odd:?}: {done:?}");
        assert!(done.stderr.contains(says), "{odd:?}: {done:?}");
    }
    let other = "{\"expression\": \"20% of 340\"}";
    let edited = ["runs", "answer", &id, "edit", "--arguments", other];
    assert_eq!(sandbox.ok(&edited).trim(), "68");
}

#[test]
fn a_run_without_a_terminal_prints_its_output_and_nothing_else() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["run", "What is 12.5% of 340?"]);
    assert_eq!((done.stdout.trim(), done.code), ("42.5", 0), "{done:?}");
    assert!(
        done.stderr.contains("calculator"),
        "what happens is told beside it: {done:?}"
    );
    let quiet = sandbox.run(&["run", "-q", "What is 12.5% of 340?"]);
    assert_eq!((quiet.stdout.trim(), quiet.stderr.as_str()), ("42.5", ""));
}

#[test]
fn an_agent_without_a_key_says_what_to_set() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    let agent =
        json!({"name": "a", "model_provider": "anthropic", "model_name": "claude-sonnet-4-5"});
    assert_eq!(
        server.request("POST", "/api/v1/agents", Some(&agent)).0,
        201
    );
    let done = sandbox.run(&["run", "--agent", "a", "hello"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("ANTHROPIC_API_KEY"), "{done:?}");
}

/// Where somebody asks a model: what they show to be let in, once for each request. It refuses them all.
fn asked_with() -> (String, Receiver<Option<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let place = listener.local_addr().expect("it has an address");
    let place = place.to_string();
    let (sender, heard) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            let stream = stream.expect("somebody came");
            let lines =
                BufReader::new(stream.try_clone().expect("it can be read and written")).lines();
            let head: Vec<String> = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            let shown = head.iter().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                let is_shown = name.eq_ignore_ascii_case("authorization");
                is_shown.then(|| value.to_owned())
            });
            let _ = (&stream).write_all(
                b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
            );
            let _ = sender.send(shown);
        }
    });
    (place, heard)
}

#[test]
fn the_servers_own_key_goes_to_nobody_elses_address() {
    let (place, heard) = asked_with();
    let sandbox = Sandbox::new()
        .with("OPENAI_API_KEY", "sk-of-the-server")
        .with("TOOLCRIB_HTTP_ALLOW", &place);
    let server = sandbox.serve(&[]);
    let kim = json!({"name": "kim", "role": "author"});
    assert_eq!(server.request("POST", "/api/v1/users", Some(&kim)).0, 201);
    let key = json!({"name": "kims", "user": "kim", "scopes": ["read", "call", "author"]});
    let (status, made) = server.request("POST", "/api/v1/keys", Some(&key));
    assert_eq!(status, 201, "{made}");
    let kims = made["key"].as_str().unwrap();
    for (who, key, expected) in [
        ("kim", kims, None),
        // Whoever has the server's keys may send them where they like.
        (
            "admin",
            server.key.as_str(),
            Some("Bearer sk-of-the-server"),
        ),
    ] {
        let agent = json!({
            "name": format!("of-{who}"), "model_provider": "openai", "model_name": "m",
            "base_url": format!("http://{place}/v1"),
        });
        let ask = |path: &str, body: &Value| {
            server
                .try_request_as(key, "POST", path, Some(body))
                .unwrap()
        };
        let (status, made) = ask("/api/v1/agents", &agent);
        assert_eq!(status, 201, "{made}");
        let request = json!({"input": "x", "agent": agent["name"]});
        let (_, run) = ask("/api/v1/runs", &request);
        assert_eq!(run["status"], "failed", "{run}");
        let shown = heard.recv().unwrap();
        assert_eq!(shown.as_deref(), expected, "{who}: {run}");
    }
}
