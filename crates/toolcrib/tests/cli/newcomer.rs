//! What somebody meets who has just begun: no workspace yet, slips of the pen, tools that cannot work.

use crate::harness::Sandbox;
use serde_json::{Value, json};

/// Where whoever runs the tests looks for programs.
pub(crate) fn path() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    path.to_string_lossy().into_owned()
}

fn tool(name: &str, kind: &str, config: &Value) -> Value {
    json!({"name": name, "description": "a tool", "kind": kind, "config": config,
        "input_schema": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}})
}

#[test]
fn init_goes_where_it_is_told() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["--workspace", "demo", "init"]);
    assert!(sandbox.folder().join("demo/tools.json").exists());
    assert!(!sandbox.folder().join("tools.json").exists());
    let both = sandbox.run(&["--workspace", "one", "init", "two"]);
    assert_eq!(both.code, 2, "{both:?}");
    assert!(both.stderr.contains("leave one of the two out"), "{both:?}");
    sandbox.ok(&["--workspace", "same", "init", "./same"]);
    assert!(sandbox.folder().join("same/tools.json").exists());
    sandbox.ok(&["init"]);
    assert!(sandbox.folder().join("tools.json").exists());
}

#[test]
fn where_there_is_no_workspace_init_is_named() {
    const HINT: &str = "this folder is no workspace; `toolcrib init` makes it one";
    let sandbox = Sandbox::bare();
    let done = sandbox.run(&["tools", "list"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.stderr.contains(HINT), "{done:?}");
    let doctor = sandbox.run(&["doctor"]);
    assert!(doctor.stdout.contains(HINT), "{doctor:?}");
    // One of the user's own is used instead, and lacks what the folder was thought to have.
    let own = sandbox.folder().join(".local/share/toolcrib/workspace");
    sandbox.ok(&["init", own.to_str().unwrap()]);
    for arguments in [&["call", "mine"][..], &["tools", "show", "mine"]] {
        let done = sandbox.run(arguments);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(done.stderr.contains(HINT), "{done:?}");
    }
}

#[test]
fn a_fault_in_the_file_is_not_told_of_the_definition() {
    let sandbox = Sandbox::new();
    let _server = sandbox.serve(&[]);
    let text = std::fs::read_to_string(sandbox.workspace().join("tools.json")).unwrap();
    sandbox.write("tools.json", &text.replace("\"examples\"", "\"exampels\""));
    let right = tool("right", "builtin", &json!({"name": "calculator"})).to_string();
    let done = sandbox.run(&["tools", "add", "--shelf", "file", &right]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stderr.starts_with("error: tools.json:"), "{done:?}");
    let hint = "hint: nothing was added; mend tools.json first";
    assert!(done.stderr.contains(hint), "{done:?}");
    // The server says the same as the files, and once is enough.
    let doctor = sandbox.run(&["doctor"]);
    let told = doctor.stdout.matches("$.tools[0].exampels").count();
    assert_eq!((doctor.code, told), (1, 1), "{doctor:?}");
}

#[test]
fn one_slip_is_one_fault() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "tools.json",
        r#"{"version": 1, "tools": [{"name": "x", "description": "d", "kid": "builtin", "config": {"name": "calculator"}}]}"#,
    );
    sandbox.write("mcp.json", r#"{"mcpServers": {"s": {"comand": "x"}}}"#);
    let doctor = sandbox.run(&["doctor"]);
    assert_eq!(doctor.stdout.matches("fail  ").count(), 2, "{doctor:?}");
    for remedy in ["Did you mean \"kind\"?", "Did you mean \"command\"?"] {
        assert!(doctor.stdout.contains(remedy), "{doctor:?}");
    }
}

#[test]
fn tools_that_cannot_work_are_told_when_they_are_added_and_by_doctor() {
    let sandbox = Sandbox::new().with("PATH", &path());
    sandbox.write("broken.py", "def execute(:\n");
    let header = json!({"type": "bearer", "token": {"$secret": "nosuch"}});
    let mut secret = tool(
        "secret",
        "http",
        &json!({"base_url": "https://api.example.com", "method": "GET"}),
    );
    secret["auth_config"] = header;
    let dead = [
        (
            tool("script", "python", &json!({"script": "gone.py"})),
            "there is no script 'gone.py' in the workspace",
        ),
        (
            tool("syntax", "python", &json!({"script": "broken.py"})),
            "Python cannot read broken.py: line 1:",
        ),
        (
            tool("program", "shell", &json!({"command": ["no-such-program"]})),
            "there is no program 'no-such-program'",
        ),
        (
            tool(
                "server",
                "mcp",
                &json!({"server_name": "nowhere", "tool_name": "x"}),
            ),
            "there is no server 'nowhere' in mcp.json",
        ),
        (
            tool("name", "expression", &json!({"expression": "a * b"})),
            "config.expression uses 'b', which is no argument; the input schema has a",
        ),
        (
            secret,
            "auth_config.token: there is no secret 'nosuch'; `toolcrib secrets set nosuch` sets it",
        ),
    ];
    for (tool, why) in &dead {
        let added = sandbox.run(&["tools", "add", "--shelf", "file", &tool.to_string()]);
        assert_eq!(added.code, 0, "{added:?}");
        let warned = added.stderr.starts_with("warning: ") && added.stderr.contains(why);
        assert!(warned, "{why}: {added:?}");
    }
    let doctor = sandbox.ok(&["doctor"]);
    for (tool, why) in &dead {
        let name = tool["name"].as_str().unwrap();
        let line = format!("warn  tools          '{name}' may not work as it is: {why}");
        assert!(doctor.contains(&line), "{line}\nnot in\n{doctor}");
    }
    assert_eq!(doctor.matches("warn  ").count(), dead.len(), "{doctor}");
    let called = sandbox.run(&["call", "secret", r#"{"a": 1}"#]);
    let said = "Secret 'nosuch' not found; `toolcrib secrets set nosuch` sets it";
    assert!(called.stderr.contains(said), "{called:?}");
    // Nothing is said of one that works, nor of one that is switched off.
    let fine = tool("fine", "shell", &json!({"command": ["cat"]})).to_string();
    let added = sandbox.run(&["tools", "add", &fine]);
    let told = "added fine (version 1, database shelf)\n";
    assert_eq!((added.code, added.stderr.as_str()), (0, told));
    sandbox.ok(&["tools", "disable", "program"]);
    assert!(!sandbox.ok(&["doctor"]).contains("'program'"));
}

#[test]
fn a_name_that_is_nearly_right_and_a_tool_that_is_off() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["call", "convert_unit"][..],
        &["tools", "show", "convert_unit"],
    ] {
        let done = sandbox.run(arguments);
        let said = "Tool 'convert_unit' not found; did you mean 'convert_units'?";
        assert!(done.stderr.contains(said), "{done:?}");
    }
    let far = sandbox.run(&["call", "abracadabra"]);
    assert!(!far.stderr.contains("did you mean"), "{far:?}");
    sandbox.ok(&["tools", "disable", "convert_units"]);
    let off = sandbox.run(&["call", "convert_units", r#"{"expression": "1 km to m"}"#]);
    let said = "hint: `toolcrib tools enable convert_units` switches it on";
    assert!(off.stderr.contains(said), "{off:?}");
}

#[test]
fn what_is_no_json_is_wrong_usage_and_the_hint_fits_the_tool() {
    let sandbox = Sandbox::new();
    for given in ["expression=1", "{'expression': 1}"] {
        let done = sandbox.run(&["call", "convert_units", given]);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(
            done.stderr.contains(r#"such as '{"expression":"…"}'"#),
            "{done:?}"
        );
    }
    let done = sandbox.run(&["tools", "add", "{\"name\": "]);
    assert_eq!(done.code, 2, "{done:?}");
}

#[test]
fn the_hint_about_quotes_is_for_lines_that_lack_them() {
    let sandbox = Sandbox::new();
    let add = |line: &str| sandbox.run(&["tools", "add", "--from-curl", line]);
    assert!(add("curl").stderr.contains("quote the whole line"));
    let file = add("curl -d @body.json https://api.example.com");
    assert!(!file.stderr.contains("quote the whole line"), "{file:?}");
    assert!(
        file.stderr.contains("or {{name}} for an argument"),
        "{file:?}"
    );
}

#[test]
fn a_script_is_found_below_the_workspace_from_anywhere() {
    let sandbox = Sandbox::new().with("PATH", &path());
    std::fs::create_dir(sandbox.workspace().join("tools")).unwrap();
    sandbox.write(
        "tools/twice.py",
        "def execute(a: int):\n    \"Doubles.\"\n    return a * 2\n",
    );
    let workspace = sandbox.workspace();
    let workspace = workspace.to_str().unwrap();
    let elsewhere = |file: &str| {
        let arguments = [
            "--workspace",
            workspace,
            "tools",
            "add",
            "--from-python",
            file,
        ];
        let done = sandbox
            .command(&arguments)
            .current_dir(sandbox.folder())
            .output()
            .unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let (code, said) = elsewhere("tools/twice.py");
    assert!(
        code == Some(0) && said.starts_with("added twice "),
        "{said}"
    );
    let (code, said) = elsewhere("tools/gone.py");
    assert_eq!(code, Some(2));
    assert!(said.contains("and below"), "{said}");
}

#[test]
fn what_looks_secret_is_not_copied_in_silence() {
    let sandbox = Sandbox::new();
    let client =
        r#"{"mcpServers": {"s": {"command": "x", "env": {"API_KEY": "abc", "MODE": "y"}}}}"#;
    sandbox.write("client.json", client);
    let done = sandbox.run(&["import", "mcp-servers", "client.json"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        done.stderr.contains("(s: env.API_KEY)") && done.stderr.contains("\"${NAME}\""),
        "{done:?}"
    );
    assert!(
        !done.stderr.contains("MODE") && !done.stderr.contains("abc"),
        "{done:?}"
    );
}

#[test]
fn what_another_client_has_is_taken_over_in_part_and_told_where_it_is_wrong() {
    let sandbox = Sandbox::new();
    let before = std::fs::read_to_string(sandbox.workspace().join("mcp.json")).unwrap();
    sandbox.write(
        "code.json",
        r#"{ // of an editor
  "servers": {
    "fine": {"type": "stdio", "command": "run", "args": ["--api-key", "abc", "${env:ROOT}"]},
    "query": {"url": "https://a.example/mcp?token=abc"},
    "wrong": {
      "url": "nowhere", },
  },
}"#,
    );
    let import =
        |more: &[&str]| sandbox.run(&[&["import", "mcp-servers", "code.json"], more].concat());
    let wrong = import(&["--only", "wrong"]);
    assert_eq!(wrong.code, 1, "{wrong:?}");
    let place = "error: code.json:6:14: at $.servers.wrong.url: expected an http or https address";
    assert!(wrong.stderr.starts_with(place), "{wrong:?}");
    let none = import(&["--only", "fine,nosuch"]);
    assert!(
        none.code == 2 && none.stderr.contains("fine, query, wrong"),
        "{none:?}"
    );
    let dry = import(&["--only", "fine,query", "--dry-run"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    for part in [
        "would hold",
        "(fine: args[1], query: url)",
        "would be added to ",
    ] {
        assert!(dry.stderr.contains(part), "{part}: {dry:?}");
    }
    let now = || std::fs::read_to_string(sandbox.workspace().join("mcp.json")).unwrap();
    assert_eq!(now(), before, "nothing was written");
    let done = import(&["--only", "fine"]);
    assert!(
        done.code == 0 && done.stderr.contains("added to "),
        "{done:?}"
    );
    let file: Value = serde_json::from_str(&now()).unwrap();
    let fine = json!({"command": "run", "args": ["--api-key", "abc", "${ROOT}"]});
    assert_eq!(file["mcpServers"]["fine"], fine);
    assert!(file["mcpServers"].get("query").is_none(), "{file}");
    let rest = import(&[]);
    assert_eq!(rest.code, 1, "one is left out: {rest:?}");
    assert!(rest.stderr.contains(place), "{rest:?}");
    assert!(rest.stderr.contains("left out: wrong"), "{rest:?}");
    let file: Value = serde_json::from_str(&now()).unwrap();
    assert!(file["mcpServers"].get("query").is_some(), "{file}");
}

#[test]
fn one_bad_server_of_another_client_keeps_no_other_out() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "client.json",
        r#"{"mcpServers": {
  "my server": {"command": "a"},
  "dot.ted": {"command": "b"},
  "open": {"url": "http://me:pa55word@a.example/mcp"},
  "fine": {"command": "c", "disabledTools": ["rm"]}
}}"#,
    );
    let done = sandbox.run(&["import", "mcp-servers", "client.json", "--json"]);
    assert_eq!(done.code, 1, "{done:?}");
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(told["added"], json!(["fine"]), "{told}");
    let left_out = told["left_out"].as_array().unwrap();
    let names: Vec<&Value> = left_out.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["my server", "dot.ted", "open"]);
    let why = left_out[1]["problems"][0].as_str().unwrap();
    assert!(why.starts_with("client.json:3:"), "{why}");
    assert_eq!(told["no_effect"], json!(["fine: disabledTools"]));
    assert!(done.stderr.contains("fine: disabledTools"), "{done:?}");
    let file = std::fs::read_to_string(sandbox.workspace().join("mcp.json")).unwrap();
    assert!(
        file.contains("\"fine\"") && !file.contains("dot.ted"),
        "{file}"
    );
    for shown in [&done.stdout, &done.stderr, &file] {
        assert!(!shown.contains("pa55word"), "{shown}");
    }
    // Nor does one whose name is taken.
    let again = r#"{"mcpServers": {"fine": {"command": "d"}, "more": {"command": "e"}}}"#;
    sandbox.write("again.json", again);
    let done = sandbox.run(&["import", "mcp-servers", "again.json", "--json"]);
    assert_eq!(done.code, 1, "{done:?}");
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(told["added"], json!(["more"]), "{told}");
    assert_eq!(told["left_out"][0]["name"], "fine", "{told}");
    let why = told["left_out"][0]["problems"][0].as_str().unwrap();
    assert!(why.contains("--force"), "{why}");
    sandbox.write("notes.txt", "servers:\n  - a: b\n");
    let other = sandbox.run(&["import", "mcp-servers", "notes.txt"]);
    assert_eq!(other.code, 1, "{other:?}");
    let told = "notes.txt is neither JSON nor TOML";
    assert!(other.stderr.contains(told), "{other:?}");
}
