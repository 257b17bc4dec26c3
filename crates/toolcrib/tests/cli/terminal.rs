//! What a person at a terminal sees: a pseudo-terminal of a given width instead of a pipe.

use crate::harness::Sandbox;
use crate::session::{other_end, terminal};
use std::io::{Read, Write};

/// Runs a command whose stdout is a terminal; gives its lines without their colours.
fn on_terminal(sandbox: &Sandbox, columns: u16, arguments: &[&str]) -> Vec<String> {
    typed_on_terminal(sandbox, columns, arguments, None)
}

/// The same with somebody who types these lines, which the terminal shows as they are typed.
fn typed_on_terminal(
    sandbox: &Sandbox,
    columns: u16,
    arguments: &[&str],
    typed: Option<&str>,
) -> Vec<String> {
    let (mut ours, path) = terminal(columns);
    let open = || other_end(&path);
    let mut command = sandbox.command(arguments);
    command
        .stdout(open())
        .stderr(std::process::Stdio::null())
        .env("NO_COLOR", "1");
    if let Some(typed) = typed {
        command.stdin(open());
        command.stderr(open());
        ours.write_all(typed.as_bytes())
            .expect("it can be typed ahead");
    }
    let mut child = command.spawn().expect("the program can be started");
    // It holds our copy of the other end, which must be closed for the reading to end.
    drop(command);
    let mut text = Vec::new();
    // A terminal whose other end is closed gives an error instead of an end.
    let _ = ours.read_to_end(&mut text);
    child.wait().expect("a child can be waited for");
    let text = String::from_utf8(text).expect("the program prints UTF-8");
    text.lines()
        .map(|line| line.trim_end_matches('\r').to_owned())
        .collect()
}

const KOREAN: &str = r#"{"name": "sum", "description": "두 수를 더하는 도구입니다. 금액을 합칠 때 쓰세요.", "kind": "builtin",
"config": {"name": "calculator"}, "input_schema": {"type": "object"}}"#;

/// Places on the terminal: everything in these tests that is not ASCII is Hangul, or the mark of a cut.
fn places(text: &str) -> usize {
    let wide = |c: char| 1 + usize::from(('가'..='힣').contains(&c));
    text.chars().map(wide).sum()
}

#[test]
fn a_table_is_cut_to_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["tools", "add", KOREAN]);
    for columns in [60, 80, 200] {
        let lines = on_terminal(&sandbox, columns, &["tools", "list"]);
        assert!(lines[0].starts_with("NAME "), "{lines:?}");
        for line in &lines {
            assert!(places(line) <= usize::from(columns), "{columns}: {line}");
        }
        let sum = lines
            .iter()
            .find(|line| line.starts_with("sum "))
            .expect("it is listed");
        let is_whole = sum.ends_with("쓰세요.");
        assert_eq!(is_whole, columns == 200, "{columns}: {sum}");
        assert!(is_whole || sum.ends_with('…'), "{columns}: {sum}");
    }
}

#[test]
fn wide_characters_do_not_move_the_columns_behind_them() {
    let sandbox = Sandbox::new();
    for name in ["열쇠", "key"] {
        sandbox.ok(&["keys", "create", name, "--scopes", "read"]);
    }
    let id = sandbox.json(&["keys", "list"])["items"][0]["id"].clone();
    let narrow = on_terminal(&sandbox, 80, &["keys", "list"]);
    assert!(narrow[1].starts_with(id.as_str().unwrap()), "{narrow:?}");
    assert!(narrow.iter().all(|line| places(line) <= 80), "{narrow:?}");
    let lines = on_terminal(&sandbox, 200, &["keys", "list"]);
    let scopes = |line: &String| places(line.split("read").next().expect("the scope is shown"));
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(scopes(&lines[1]), scopes(&lines[2]), "{lines:?}");
}

#[test]
fn the_log_has_a_header_when_it_is_followed_too() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["call", "calculator", r#"{"expression": "1"}"#]);
    assert_eq!(
        sandbox
            .run(&["call", "calculator", r#"{"expression": "1 +"}"#])
            .code,
        1
    );
    for arguments in [&["log"][..], &["log", "--follow"]] {
        let lines = on_terminal(&sandbox, 80, arguments);
        assert!(lines.iter().all(|line| places(line) <= 80), "{lines:?}");
        let caller = |line: &String| {
            let before = line
                .split("CALLER")
                .next()
                .and_then(|part| part.split("admin").next());
            before.map(places)
        };
        assert!(
            lines.iter().all(|line| caller(line) == caller(&lines[0])),
            "{lines:?}"
        );
        let lines = on_terminal(&sandbox, 140, arguments);
        let head: Vec<&str> = lines[0].split_whitespace().collect();
        assert_eq!(
            head,
            [
                "STARTED",
                "TOOL",
                "STATUS",
                "MS",
                "CALLER",
                "KEY",
                "TRANSPORT",
                "ERROR"
            ],
            "{arguments:?}"
        );
    }
}

#[test]
fn one_thing_is_shown_member_by_member() {
    let sandbox = Sandbox::new();
    sandbox.ok(&[
        "servers",
        "add",
        r#"{"name": "far", "url": "https://127.0.0.1:9/mcp"}"#,
    ]);
    for (arguments, line) in [
        (["servers", "show", "far"], "url: https://127.0.0.1:9/mcp"),
        (["sources", "show", "demo"], "kind: sqlite"),
        (["users", "show", "admin"], "role: admin"),
    ] {
        let lines = on_terminal(&sandbox, 120, &arguments);
        assert!(
            lines.iter().any(|it| it == line),
            "{arguments:?}: {lines:?}"
        );
        let json = on_terminal(&sandbox, 120, &[&arguments[..], &["--json"]].concat());
        assert_eq!(json[0], "{", "{arguments:?}: {json:?}");
    }
}

/// A line that does not fit is asked for again at once, and what fits goes on.
#[test]
fn a_question_is_asked_until_its_answer_fits() {
    let sandbox = Sandbox::new();
    let arguments = ["run", "Multiply two numbers"];
    let typed = "many\n7\n6\n";
    let lines = typed_on_terminal(&sandbox, 120, &arguments, Some(typed));
    assert!(lines.iter().any(|line| line == "42"), "{lines:?}");
    let text = lines.join("\n");
    let asked = |name: &str| text.matches(name).count();
    assert_eq!((asked("num1> "), asked("num2> ")), (2, 1), "{lines:?}");
    assert_eq!(asked("request_human_input"), 0, "{lines:?}");
}
