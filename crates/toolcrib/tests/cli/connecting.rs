//! `toolcrib connect` and the start of `toolcrib mcp`: what a client is to be told, and what is wrong before it is.

use crate::harness::{ADMIN_KEY, Sandbox};
use serde_json::{Value, json};

const URL: &str = "https://tools.example.com";

fn printed(sandbox: &Sandbox, arguments: &[&str]) -> (Value, String) {
    let done = sandbox.run(&[&["connect"], arguments].concat());
    assert_eq!(done.code, 0, "{done:?}");
    let read = serde_json::from_str(&done.stdout);
    (read.unwrap_or(Value::String(done.stdout)), done.stderr)
}

#[test]
fn each_client_gets_the_form_that_it_takes() {
    let sandbox = Sandbox::new();
    for (client, member, variable) in [
        ("claude-code", "mcpServers", "${TOOLCRIB_KEY}"),
        ("cursor", "mcpServers", "${env:TOOLCRIB_KEY}"),
        ("vscode", "servers", "${env:TOOLCRIB_KEY}"),
        ("windsurf", "mcpServers", "${env:TOOLCRIB_KEY}"),
        ("gemini", "mcpServers", "${TOOLCRIB_KEY}"),
    ] {
        let (all, told) = printed(&sandbox, &[client, "--url", URL]);
        let entry = &all[member]["toolcrib"];
        let key = format!("Bearer {variable}");
        assert_eq!(entry["headers"]["Authorization"], key, "{client}: {all}");
        assert!(
            told.contains("TOOLCRIB_KEY must be set"),
            "{client}: {told}"
        );
        assert!(told.contains(client), "{told}");
    }
    let (zed, told) = printed(&sandbox, &["zed", "--url", URL]);
    let shown = &zed["context_servers"]["toolcrib"]["headers"]["Authorization"];
    assert_eq!(shown, "Bearer WRITE-THE-KEY-HERE");
    assert!(told.contains("in place of WRITE-THE-KEY-HERE"), "{told}");
    let (codex, _) = printed(&sandbox, &["codex", "--url", URL, "--names", "plain"]);
    let codex = codex.as_str().unwrap_or_default();
    assert!(
        codex.contains("bearer_token_env_var = \"TOOLCRIB_KEY\""),
        "{codex}"
    );
    assert!(
        codex.contains("https://tools.example.com/mcp?names=plain"),
        "{codex}"
    );
    // What we tell to write is read with its credentials.
    sandbox.write("config.toml", codex);
    let done = sandbox.run(&["import", "mcp-servers", "config.toml"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!done.stderr.contains("mean nothing"), "{done:?}");
    let file = std::fs::read_to_string(sandbox.workspace().join("mcp.json")).unwrap();
    assert!(file.contains("Bearer ${TOOLCRIB_KEY}"), "{file}");
}

/// It calls no server with a key, and leaves out one that has a dot in a name.
#[test]
fn claude_desktop_starts_what_calls_the_server() {
    let sandbox = Sandbox::new();
    let (all, told) = printed(&sandbox, &["claude-desktop", "--url", &format!("{URL}/")]);
    let entry = &all["mcpServers"]["toolcrib"];
    assert_eq!(
        entry["args"],
        json!(["mcp", "--url", URL, "--names", "plain"])
    );
    assert!(
        entry["command"]
            .as_str()
            .is_some_and(|it| it.ends_with("toolcrib")),
        "{all}"
    );
    assert_eq!(entry["env"], json!({"TOOLCRIB_KEY": "WRITE-THE-KEY-HERE"}));
    assert!(
        told.contains("toolcrib keys create claude-desktop"),
        "{told}"
    );
    let with_key = [
        "claude-desktop",
        "--url",
        URL,
        "--key",
        "k",
        "--names",
        "dotted",
    ];
    let (all, told) = printed(&sandbox, &with_key);
    let entry = &all["mcpServers"]["toolcrib"];
    assert_eq!(entry["env"], json!({"TOOLCRIB_KEY": "k"}));
    assert_eq!(entry["args"][4], "dotted");
    assert_eq!(told, "");
    let (all, _) = printed(&sandbox, &["claude-desktop"]);
    let workspace = sandbox.workspace();
    let args = json!(["mcp", "--workspace", workspace, "--names", "plain"]);
    assert_eq!(all["mcpServers"]["toolcrib"]["args"], args);
}

#[test]
fn an_address_that_cannot_be_one_is_refused() {
    let sandbox = Sandbox::new();
    for (url, why) in [
        ("tools.example.com", "must begin with http:// or https://"),
        (
            "ftp://tools.example.com",
            "must begin with http:// or https://",
        ),
        ("https://", "expected http:// or https:// and a host"),
        (
            "https://me:secret@tools.example.com",
            "no user and no password",
        ),
        ("https://tools.example.com/?a=b", "without ? and #"),
        ("https://tools.example.com/mcp", "without /mcp"),
        ("https://tools.example.com/mcp/kit/", "without /mcp"),
    ] {
        let done = sandbox.run(&["connect", "cursor", "--url", url]);
        assert_eq!((done.code, &*done.stdout), (2, ""), "{url}: {done:?}");
        assert!(done.stderr.contains(why), "{url}: {done:?}");
        assert!(!done.stderr.contains("secret"), "{done:?}");
    }
}

#[test]
fn a_toolset_must_be_there_where_that_can_be_known() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["toolsets", "add", r#"{"name": "kit"}"#]);
    let (all, _) = printed(&sandbox, &["cursor", "--toolset", "kit"]);
    assert!(all.to_string().contains(r#""--toolset","kit""#), "{all}");
    for name in ["kti", "no such/name"] {
        let done = sandbox.run(&["connect", "cursor", "--toolset", name]);
        assert_eq!((done.code, &*done.stdout), (2, ""), "{done:?}");
        let why = format!("there is no toolset '{name}'");
        assert!(done.stderr.contains(&why), "{done:?}");
    }
    let server = sandbox.serve(&[]);
    let url = server.url();
    let known = sandbox.run(&[
        "connect",
        "cursor",
        "--url",
        &url,
        "--key",
        ADMIN_KEY,
        "--toolset",
        "kti",
    ]);
    assert_eq!(known.code, 2, "{known:?}");
    let (all, told) = printed(
        &sandbox,
        &[
            "cursor",
            "--url",
            &url,
            "--key",
            ADMIN_KEY,
            "--toolset",
            "kit",
        ],
    );
    assert!(all.to_string().contains("/mcp/kit"), "{all}");
    assert_eq!(told, "");
    let (_, told) = printed(&sandbox, &["cursor", "--url", &url, "--toolset", "kti"]);
    assert!(told.contains("could not be checked"), "{told}");
}

#[test]
fn nothing_is_served_through_a_toolset_that_is_not_there() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["toolsets", "add", r#"{"name": "kit"}"#]);
    let refused = |arguments: &[&str]| {
        let done = sandbox.run(&[&["mcp"], arguments].concat());
        assert_eq!((done.code, &*done.stdout), (2, ""), "{done:?}");
        let why = "there is no toolset 'kits'; did you mean 'kit'?";
        assert!(done.stderr.contains(why), "{done:?}");
    };
    // It owns the workspace itself, or somebody else does, or it is asked for over the network.
    refused(&["--toolset", "kits"]);
    let there = sandbox.run(&["mcp", "--toolset", "kit"]);
    assert_eq!(there.code, 0, "{there:?}");
    let server = sandbox.serve(&[]);
    refused(&["--toolset", "kits"]);
    let url = server.url();
    refused(&["--url", &url, "--key", ADMIN_KEY, "--toolset", "kits"]);
    let there = sandbox.run(&["mcp", "--url", &url, "--key", ADMIN_KEY, "--toolset", "kit"]);
    assert_eq!((there.code, &*there.stderr), (0, ""), "{there:?}");
    // A server that is down may come back while its client runs.
    drop(server);
    let down = sandbox.run(&["mcp", "--url", &url, "--key", ADMIN_KEY, "--toolset", "kit"]);
    assert_eq!(down.code, 0, "{down:?}");
    assert!(down.stderr.contains("could not be checked"), "{down:?}");
}

#[test]
fn whoever_starts_it_is_told_of_the_workspace() {
    let sandbox = Sandbox::bare();
    let nowhere = sandbox.run(&["mcp", "--workspace", "nowhere"]);
    assert_eq!((nowhere.code, &*nowhere.stdout), (3, ""), "{nowhere:?}");
    let folder = sandbox.folder().join("nowhere");
    let shown = folder.display();
    for part in [
        format!("{shown} is no workspace: there is no such folder"),
        format!("`toolcrib init {shown}` makes one there"),
    ] {
        assert!(nowhere.stderr.contains(&part), "{nowhere:?}");
    }
    std::fs::create_dir(&folder).expect("a folder can be made");
    let empty = sandbox.run(&["mcp", "--workspace", "nowhere"]);
    assert!(empty.stderr.contains("it has no tools.json"), "{empty:?}");
    let made = sandbox.run(&["mcp"]);
    assert_eq!(made.code, 0, "{made:?}");
    let own = sandbox.folder().join(".local/share/toolcrib/workspace");
    let own = own.display();
    let why = "this folder is none; --workspace names another";
    let told = format!("made a starter workspace in {own}\nthe workspace is {own}: {why}\n");
    assert_eq!(made.stderr, told);
    let is_here = |name: &str| sandbox.folder().join(name).exists();
    assert!(!is_here("tools.json") && !is_here(".toolcrib"));
    let again = sandbox.run(&["mcp"]);
    assert_eq!(again.stderr, format!("the workspace is {own}: {why}\n"));
    let named = sandbox.run(&["mcp", "--workspace", &own.to_string()]);
    assert_eq!((named.code, &*named.stderr), (0, ""), "{named:?}");
}

#[test]
fn doctor_tells_of_arguments_that_do_not_fit() {
    let sandbox = Sandbox::new();
    let kit = r#"{"name": "kit", "tools": [{"tool": "later", "arguments": {"a": "text"}}]}"#;
    sandbox.ok(&["toolsets", "add", kit]);
    let later = json!({"name": "later", "description": "d", "kind": "builtin", "config": {"name": "calculator"},
        "input_schema": {"type": "object", "properties": {"a": {"type": "number"}}}});
    sandbox.ok(&["tools", "add", &later.to_string()]);
    let doctor = sandbox.run(&["doctor"]);
    let told = "'kit': the arguments set for 'later', at $.a: expected type number";
    assert!(doctor.stdout.contains(told), "{doctor:?}");
    assert!(
        doctor.stdout.contains("toolcrib toolsets update kit"),
        "{doctor:?}"
    );
}
