//! Programs as tools.

use crate::crib::Crib;
use serde_json::json;

#[test]
fn arguments_are_words_and_never_a_line_of_a_shell() {
    let crib = Crib::new();
    let schema = json!({"input_schema": {"type": "object", "properties": {"text": {}, "list": {}, "flag": {}}}});
    let config = json!({"command": ["printf", "[%s]", "{{text}}", "{list}", "--{flag}=x"]});
    crib.add("words", "shell", &config, &schema);
    for (arguments, expected) in [
        (
            json!({"text": "$(id); `id` | cat > /tmp/x && \"'"}),
            "[$(id); `id` | cat > /tmp/x && \"'][--=x]",
        ),
        (
            json!({"text": "a b", "list": ["1", 2, "c d"], "flag": "f"}),
            "[a b][1][2][c d][--f=x]",
        ),
        (
            json!({"text": "{{list}}", "flag": true}),
            "[{{list}}][--true=x]",
        ),
        (json!({"text": "한글\nzwei"}), "[한글\nzwei][--=x]"),
    ] {
        assert_eq!(crib.call("words", &arguments).data(), expected);
    }
    crib.call("words", &json!({"text": "a\u{0}b"}))
        .failed("invalid_input");
}

#[test]
fn input_environment_and_folder_are_the_tools_own() {
    let crib = Crib::new();
    let schema = json!({"input_schema": {"type": "object", "properties": {"n": {}}}});
    crib.add("all", "shell", &json!({"command": ["cat"]}), &schema);
    assert_eq!(
        crib.call("all", &json!({"n": [1, {"a": "b"}]})).data(),
        &json!({"n": [1, {"a": "b"}]})
    );
    crib.add(
        "text",
        "shell",
        &json!({"command": ["cat"], "stdin": "n is {{n}}."}),
        &schema,
    );
    assert_eq!(crib.call("text", &json!({"n": 5})).data(), "n is 5.");
    let config = json!({"command": ["sh", "-c", "echo $WHO in $(basename $PWD); env | cut -d= -f1 | sort | tr '\\n' ' '"], "env": {"WHO": "n={{n}}"}, "cwd": "inner"});
    std::fs::create_dir(crib.sandbox.workspace().join("inner")).unwrap();
    crib.add("there", "shell", &config, &schema);
    let answer = crib.call("there", &json!({"n": 7}));
    let said = answer.data().as_str().unwrap();
    let (first, names) = said.split_once('\n').unwrap();
    assert_eq!(first, "n=7 in inner");
    let own = |name: &&str| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name);
    let names: Vec<&str> = names.split_whitespace().filter(own).collect();
    assert_eq!(
        names,
        ["HOME", "PATH", "WHO"],
        "nothing of the server's environment"
    );
}

#[test]
fn a_program_that_fails_says_how() {
    let crib = Crib::new();
    let config = json!({"command": ["sh", "-c", "echo half; echo 'no such thing' >&2; exit 3"]});
    crib.add("fails", "shell", &config, &json!({}));
    let answer = crib.call("fails", &json!({}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("sh ended with exit code 3: no such thing"),
        "{message}"
    );
    let details = answer.details();
    assert_eq!(
        *details,
        json!({"exit_code": 3, "signal": null, "stdout": "half\n", "stderr": "no such thing\n"})
    );
    crib.add(
        "killed",
        "shell",
        &json!({"command": ["sh", "-c", "kill -9 $$"]}),
        &json!({}),
    );
    let answer = crib.call("killed", &json!({}));
    assert!(
        answer
            .failed("tool_execution_error")
            .contains("was ended by SIGKILL")
    );
    crib.add(
        "missing",
        "shell",
        &json!({"command": ["no-such-program-at-all"]}),
        &json!({}),
    );
    let answer = crib.call("missing", &json!({}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("'no-such-program-at-all' cannot be started: No such file"),
        "{message}"
    );
}

#[test]
fn json_and_text_are_told_apart() {
    let crib = Crib::new();
    for (name, text, more, expected) in [
        ("object", "{\"a\": [1.5]}", json!({}), json!({"a": [1.5]})),
        ("digits", "42", json!({}), json!("42")),
        (
            "number",
            "42",
            json!({"output_schema": {"type": "integer"}}),
            json!(42),
        ),
        ("lines", "a\nb\n", json!({}), json!("a\nb")),
        ("empty", "", json!({}), json!("")),
    ] {
        crib.add(
            name,
            "shell",
            &json!({"command": ["printf", "%s", text]}),
            &more,
        );
        assert_eq!(crib.call(name, &json!({})).data(), &expected, "{name}");
    }
}

#[test]
fn nothing_is_left_of_a_program_that_is_stopped() {
    let crib = Crib::new();
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do setsid sleep 98763 & (setsid sh -c 'sleep 98763' &) ; done; wait";
    crib.add(
        "family",
        "shell",
        &json!({"command": ["sh", "-c", script]}),
        &json!({}),
    );
    crib.call_within("family", &json!({}), 1.0)
        .failed("timeout");
    crib.nothing_left_of("sleep 98763");
    // One that ends while its children go on, holding its pipes.
    let config = json!({"command": ["sh", "-c", "setsid sleep 98762 & echo started"]});
    crib.add("parent", "shell", &config, &json!({}));
    assert_eq!(crib.call("parent", &json!({})).data(), "started");
    crib.nothing_left_of("sleep 98762");
    crib.add(
        "flood",
        "shell",
        &json!({"command": ["head", "-c", "100000000", "/dev/zero"]}),
        &json!({}),
    );
    crib.call("flood", &json!({})).failed("output_too_large");
}

#[test]
fn a_server_that_is_killed_leaves_no_program_behind() {
    let crib = Crib::new();
    let script = "setsid sleep 98764 & sleep 98764";
    crib.add(
        "lasting",
        "shell",
        &json!({"command": ["sh", "-c", script]}),
        &json!({}),
    );
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let path = "/api/v1/tools/lasting/call";
            let _ = crib
                .server
                .try_request("POST", path, Some(&json!({"arguments": {}})));
        });
        crate::crib::until("it runs", || {
            (crib
                .below()
                .iter()
                .filter(|(_, line)| line.contains("98764"))
                .count()
                >= 2)
                .then_some(())
        });
        crib.server.signal(rustix::process::Signal::KILL);
    });
    crib.nothing_left_of("sleep 98764");
}
