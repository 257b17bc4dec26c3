//! The commands on a workspace that no server has open.

use crate::engines::on_both;
use crate::harness::Sandbox;
use serde_json::json;

const SUM: &str = r#"{
  "name": "sum",
  "description": "adds numbers",
  "kind": "builtin",
  "config": {"name": "calculator"},
  "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
  "tests": [{"arguments": {"expression": "1 + 1"}, "expect": 2}]
}"#;

#[test]
fn init_makes_a_workspace_whose_tools_work() {
    let sandbox = Sandbox::new();
    let files = [
        "tools.json",
        "mcp.json",
        "toolcrib.toml",
        "demo.db",
        "skills/weekly-limit/SKILL.md",
        ".gitignore",
    ];
    for file in files {
        assert!(sandbox.workspace().join(file).exists(), "{file}");
    }
    let ignored = std::fs::read_to_string(sandbox.workspace().join(".gitignore")).unwrap();
    assert_eq!(ignored, ".toolcrib/\n");
    let answer = sandbox.ok(&["call", "convert_units", r#"{"expression": "2 km to m"}"#]);
    assert_eq!(answer, "2000 m\n");
    for tool in [
        "convert_units",
        "clean_text",
        "get_user_daily_limit",
        "multiply_numbers",
    ] {
        assert!(
            sandbox.ok(&["tools", "test", tool]).starts_with("pass "),
            "{tool}"
        );
    }
    let again = sandbox.run(&["init", "."]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(
        again
            .stderr
            .contains("already holds tools.json, mcp.json, toolcrib.toml, demo.db"),
        "{again:?}"
    );
}

#[test]
fn the_starter_configuration_is_the_default_commented_out() {
    let sandbox = Sandbox::new();
    let shown = sandbox.json(&["config", "show"]);
    for (key, setting) in shown["settings"].as_object().unwrap() {
        assert_eq!(setting["from"], "default", "{key}");
    }
    let path = sandbox.workspace().join("toolcrib.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("#queue_max = 256", "queue_max = 17")).unwrap();
    let shown = sandbox.json(&["config", "show"]);
    assert_eq!(shown["settings"]["tools.queue_max"]["value"], 17);
}

#[test]
fn call_takes_arguments_in_three_ways() {
    let sandbox = Sandbox::new();
    let text = r#"{"expression": "6 * 7"}"#;
    sandbox.write("arguments.json", text);
    assert_eq!(sandbox.ok(&["call", "calculator", text]), "42\n");
    assert_eq!(
        sandbox.ok(&["call", "calculator", "@arguments.json"]),
        "42\n"
    );
    let piped = sandbox.run_with_stdin(&["call", "calculator", "-"], text);
    assert_eq!((piped.code, piped.stdout.as_str()), (0, "42\n"));
    let response = sandbox.json(&["call", "calculator", text]);
    assert_eq!(
        (&response["status"], &response["data"]),
        (&json!("success"), &json!(42))
    );
}

#[test]
fn a_failed_call_exits_with_1_and_says_why() {
    let sandbox = Sandbox::new().with("TOOLCRIB_BUILTINS_FIXTURES", "yes");
    for (arguments, code) in [
        (&["nothing"][..], "tool_not_found: "),
        (&["calculator"], "invalid_input: "),
        (
            &["calculator", r#"{"expression": "1 +"}"#],
            "tool_execution_error: ",
        ),
        (
            &["fixture_wait", r#"{"seconds": 30}"#, "--timeout", "0.1"],
            "timeout: ",
        ),
    ] {
        let done = sandbox.run(&[&["call"], arguments].concat());
        assert_eq!((done.code, done.stdout.as_str()), (1, ""), "{done:?}");
        assert!(
            done.stderr.starts_with(&format!("error: {code}")),
            "{done:?}"
        );
        let done = sandbox.run(&[&["call", "--json"], arguments].concat());
        let response: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!((done.code, &response["status"]), (1, &json!("error")));
    }
}

#[test]
fn the_same_idempotency_key_never_runs_twice() {
    let sandbox = Sandbox::new();
    let call = || {
        let arguments = [
            "call",
            "calculator",
            r#"{"expression": "1"}"#,
            "--idempotency-key",
            "k",
        ];
        sandbox.json(&arguments)["execution_id"].clone()
    };
    assert_eq!(call(), call());
}

#[test]
fn tools_are_changed_and_rolled_back() {
    on_both("tools", change_and_roll_back);
}

fn change_and_roll_back(sandbox: &Sandbox) {
    sandbox.write("sum.json", SUM);
    let name = |text: &str| {
        text.lines()
            .map(|l| l.split('\t').next().unwrap_or("").to_owned())
            .collect::<Vec<_>>()
    };
    let tool = sandbox.json(&["tools", "add", "sum.json"]);
    assert_eq!(
        (&tool["version"], &tool["shelf"]),
        (&json!(1), &json!("database"))
    );
    sandbox.write("sum.json", &SUM.replace("adds numbers", "adds them up"));
    sandbox.ok(&["tools", "update", "sum", "sum.json"]);
    let found = name(&sandbox.ok(&["tools", "search", "add", "them", "up", "--limit", "2"]));
    assert_eq!((found.len(), found[0].as_str()), (2, "sum"));
    sandbox.ok(&["tools", "disable", "sum"]);
    assert_eq!(
        name(&sandbox.ok(&["tools", "list", "--active", "false"])),
        ["sum"]
    );
    assert_eq!(
        sandbox.run(&["call", "sum", r#"{"expression": "1"}"#]).code,
        1
    );
    sandbox.ok(&["tools", "enable", "sum"]);
    assert!(
        sandbox
            .ok(&["tools", "history", "sum", "--diff", "2"])
            .contains("\"adds numbers\" → \"adds them up\"")
    );
    sandbox.ok(&["tools", "rollback", "sum", "1"]);
    assert_eq!(
        sandbox.json(&["tools", "show", "sum"])["description"],
        "adds numbers"
    );
    sandbox.ok(&["tools", "remove", "sum"]);
    assert_eq!(sandbox.run(&["tools", "show", "sum"]).code, 1);
    sandbox.ok(&["tools", "restore", "sum"]);
    let history = sandbox.ok(&["tools", "history", "sum"]);
    let what: Vec<&str> = history
        .lines()
        .map(|line| line.split('\t').nth(3).unwrap_or(""))
        .collect();
    assert_eq!(
        what,
        [
            "restore", "delete", "rollback", "update", "update", "update", "create"
        ]
    );
    assert!(
        history
            .lines()
            .all(|line| line.split('\t').nth(2) == Some("admin")),
        "{history}"
    );
    assert_eq!(
        name(&sandbox.ok(&["tools", "list", "--kind", "builtin", "--limit", "1"])).len(),
        1
    );
}

#[test]
fn a_definition_with_faults_is_refused_with_file_and_line() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "bad.json",
        &SUM.replace("builtin", "builtn").replace("adds numbers", ""),
    );
    let done = sandbox.run(&["tools", "add", "bad.json", "--shelf", "file"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stderr.contains("error: bad.json:3:") && done.stderr.contains("error: bad.json:4:"),
        "{done:?}"
    );
}

#[test]
fn tests_of_a_tool_pass_or_fail() {
    let sandbox = Sandbox::new();
    sandbox.write("sum.json", SUM);
    assert_eq!(
        sandbox.ok(&["tools", "test", "--file", "sum.json"]),
        "pass {\"expression\":\"1 + 1\"}\n"
    );
    sandbox.write("sum.json", &SUM.replace("\"expect\": 2", "\"expect\": 3"));
    let done = sandbox.run(&["tools", "test", "--file", "sum.json"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout.contains("fail ") && done.stdout.contains("expected 3"),
        "{done:?}"
    );
    assert_eq!(
        sandbox.ok(&["tools", "test", "calculator"]),
        "'calculator' has no tests\n"
    );
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let sandbox = Sandbox::new();
    let key = sandbox.ok(&["keys", "create", "ci", "--scopes", "read,call"]);
    assert!(key.starts_with("tck_"), "{key}");
    let listed = sandbox.json(&["keys", "list"]);
    assert_eq!(listed["items"][0]["scopes"], json!(["read", "call"]));
    assert!(
        !listed
            .to_string()
            .contains(key.trim().rsplit('_').next().unwrap())
    );
    sandbox.ok(&["keys", "revoke", "ci"]);
    assert!(sandbox.json(&["keys", "list"])["items"][0]["revoked_at"].is_string());
    let id = listed["items"][0]["id"].as_str().unwrap();
    for which in ["ci", id] {
        let again = sandbox.run(&["keys", "revoke", which]);
        assert_eq!(again.code, 1, "{again:?}");
        let said = format!("the key '{which}' was already revoked at 2");
        assert!(again.stderr.contains(&said), "{again:?}");
    }
    let unknown = sandbox.run(&["keys", "revoke", "nobody"]);
    assert!(unknown.stderr.contains("no key 'nobody'"), "{unknown:?}");
}

#[test]
fn limits_are_set_listed_used_up_and_removed() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["limits", "set", "user", "admin", "2"]);
    let set = sandbox.json(&["limits", "set", "TOOL", "calculator", "5"]);
    assert_eq!(
        (&set["target_name"], &set["max_count"]),
        (&json!("calculator"), &json!(5))
    );
    let listed = sandbox.ok(&["limits", "list"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("USER\tadmin\t2\t"), "{listed}");
    assert!(lines[1].starts_with("TOOL\tcalculator\t5\t"), "{listed}");
    let call = ["call", "calculator", r#"{"expression":"1+1"}"#];
    assert_eq!([sandbox.ok(&call), sandbox.ok(&call)], ["2\n", "2\n"]);
    let refused = sandbox.run(&call);
    assert_eq!(refused.code, 1);
    let said = "Daily quota exceeded: 2 calls per day (UTC) for user 'admin'";
    assert!(refused.stderr.contains(said), "{refused:?}");
    let usage = sandbox.ok(&["usage"]);
    assert_eq!(
        usage,
        "USER\tadmin\t2 of 2\t\t\t\nTOOL\tcalculator\t2 of 5\t\t\t\n"
    );
    sandbox.ok(&["limits", "remove", "USER", "admin"]);
    assert_eq!(sandbox.ok(&call), "2\n");
    let gone = sandbox.run(&["limits", "remove", "USER", "admin"]);
    assert!(
        gone.stderr.contains("Limit 'USER admin' not found"),
        "{gone:?}"
    );
    for wrong in [["AGENT", "x", "1"], ["USER", "admin", "-1"]] {
        let wrong = sandbox.run(&[&["limits", "set"], &wrong[..]].concat());
        assert_eq!(wrong.code, 2, "{wrong:?}");
    }
}

#[test]
fn a_second_key_of_the_same_name_is_warned_about() {
    let sandbox = Sandbox::new();
    let create = || {
        let done = sandbox.run(&["keys", "create", "ci"]);
        assert_eq!(done.code, 0, "{done:?}");
        done.stderr
    };
    assert_eq!(create(), "");
    sandbox.ok(&["keys", "revoke", "ci"]);
    assert_eq!(create(), "", "a revoked key is not in the way");
    let first = sandbox.json(&["keys", "list"])["items"][1]["id"].clone();
    let first = first.as_str().unwrap();
    let warned = create();
    assert!(
        warned.starts_with("warning: admin had a key 'ci' already") && warned.contains(first),
        "{warned}"
    );
    let refused = sandbox.run(&["keys", "revoke", "ci"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.stderr.contains(first),
        "the ids are told: {refused:?}"
    );
}

#[test]
fn the_shell_is_helped() {
    let sandbox = Sandbox::bare();
    assert!(sandbox.ok(&["completions", "bash"]).contains("toolcrib"));
    assert!(sandbox.ok(&["man"]).contains(".TH toolcrib 1"));
    let page = sandbox.ok(&["man", "tools", "add"]);
    assert!(
        page.contains(".TH toolcrib-tools-add 1") && page.contains("database"),
        "{page}"
    );
    let unknown = sandbox.run(&["man", "tools", "ad"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(
        unknown.stderr.contains("hint: it has list, search"),
        "{unknown:?}"
    );
    sandbox.ok(&["man", "--out", "pages/man1"]);
    for page in ["toolcrib", "toolcrib-keys", "toolcrib-tools-rollback"] {
        let file = sandbox.folder().join(format!("pages/man1/{page}.1"));
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains(&format!(".TH {page} 1")), "{text}");
    }
}
