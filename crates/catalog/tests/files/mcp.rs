//! `mcp.json`.

use super::check_one;
use catalog::mcp_file::{McpFile, Transport, read_servers, server_from_text};
use catalog::problem::Problem;
use serde_json::json;

fn env(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret".to_owned()),
        "EMPTY" => Some(String::new()),
        "LINES" => Some("a\r\nb".to_owned()),
        _ => None,
    }
}

fn servers(text: &str) -> Result<McpFile, Vec<Problem>> {
    read_servers("mcp.json", text, &env)
}

const WRONG_FILES: &[(&str, u32, &str, &str)] = &[
    ("{\"mcpServers\": {},}", 1, "$", "Delete the comma"),
    ("[]", 1, "$", "object"),
    ("{}", 1, "$.mcpServers", "under \"mcpServers\""),
    ("{\"mcpServers\": []}", 1, "$.mcpServers", "object"),
    (
        "{\"mcpServers\": {\n\"a\": 1}}",
        2,
        "$.mcpServers.a",
        "object",
    ),
    (
        "{\"mcpServers\": {\n\"a\": {}}}",
        2,
        "$.mcpServers.a",
        "\"url\" for a server",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\",\n\"url\": \"http://h\"}}}",
        2,
        "$.mcpServers.a.url",
        "Keep \"command\"",
    ),
    (
        "{\"mcpServers\": {\n\"a.b\": {\"command\": \"c\"}}}",
        2,
        "$.mcpServers[\"a.b\"]",
        "server.tool",
    ),
    (
        "{\"mcpServers\": {\n\"0192f0c1-2d3e-7a4b-8c5d-6e7f8091a2b3\": {\"command\": \"c\"}}}",
        2,
        "$.mcpServers.0192f0c1-2d3e-7a4b-8c5d-6e7f8091a2b3",
        "with this id",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": [\"c\"]}}}",
        1,
        "$.mcpServers.a.command",
        "double quotes",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\",\n\"args\": \"x\"}}}",
        2,
        "$.mcpServers.a.args",
        "array",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"args\": [\"x\",\n1]}}}",
        2,
        "$.mcpServers.a.args[1]",
        "double quotes",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"env\": {\"A\": 1}}}}",
        1,
        "$.mcpServers.a.env.A",
        "double quotes",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"env\": {\"A=B\": \"1\"}}}}",
        1,
        "$.mcpServers.a.env[\"A=B\"]",
        "\"=\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"headers\": {}}}}",
        1,
        "$.mcpServers.a.headers",
        "goes with \"url\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"type\": \"sse\"}}}",
        1,
        "$.mcpServers.a.type",
        "Delete \"type\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h\", \"transport\": \"stdio\"}}}",
        1,
        "$.mcpServers.a.transport",
        "\"command\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h\", \"transport\": \"websocket\"}}}",
        1,
        "$.mcpServers.a.transport",
        "\"stdio\", \"sse\", \"http\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h\", \"transport\": \"sse\", \"type\": \"http\"}}}",
        1,
        "$.mcpServers.a.type",
        "keep \"transport\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"localhost:80\"}}}",
        1,
        "$.mcpServers.a.url",
        "begin with http",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http:///x\"}}}",
        1,
        "$.mcpServers.a.url",
        "no host",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h/\\n\"}}}",
        1,
        "$.mcpServers.a.url",
        "spaces",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h\",\n\"type\": \"bearer\"}}}",
        2,
        "$.mcpServers.a.type",
        "\"headers\": {\"Authorization\"",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h\", \"headers\": {\"K\": \"${LINES}\"}}}}",
        1,
        "$.mcpServers.a.headers.K",
        "one line",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"url\": \"http://h\", \"headers\": {\"K K\": \"\"}}}}",
        1,
        "$.mcpServers.a.headers[\"K K\"]",
        "X-API-Key",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"${TOKEN\"}}}",
        1,
        "$.mcpServers.a.command",
        "Close the variable",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"${env:TOKEN}\"}}}",
        1,
        "$.mcpServers.a.command",
        "${NAME}",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"timeout_seconds\": 0}}}",
        1,
        "$.mcpServers.a.timeout_seconds",
        "86400",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"disabled\": 0}}}",
        1,
        "$.mcpServers.a.disabled",
        "true or false",
    ),
    (
        "{\"mcpServers\": {\"a\": {\"command\": \"c\"},\n\"a\": {\"command\": \"c\"}}}",
        2,
        "$.mcpServers.a",
        "Delete one",
    ),
];

#[test]
fn wrong_mcp_files() {
    for (text, line, path, remedy) in WRONG_FILES {
        let problems = servers(text).expect_err(text);
        check_one(&problems, "mcp.json", *line, path, remedy);
    }
}

#[test]
fn a_good_mcp_file() {
    let file = servers(
        r#"{"mcpServers": {
            "files": {"command": "run", "args": ["--x=${TOKEN}", "${EMPTY:-a b}${EMPTY}"], "env": {"K": "${NO:-}"}, "cwd": "/x", "autoApprove": []},
            "a": {"url": "https://u:p@[::1]:80/mcp", "type": "streamable-http", "headers": {"Authorization": "Bearer ${TOKEN}"}, "timeout_seconds": 5},
            "b": {"url": "http://h/sse?x"},
            "c": {"url": "http://${HOST}", "disabled": true}
        }, "theme": "dark"}"#,
    )
    .unwrap();
    let Transport::Stdio { args, env, cwd, .. } = &file.servers[0].transport else {
        panic!("stdio, not {:?}", file.servers[0]);
    };
    assert_eq!(args, &["--x=s3cret", "a b"]);
    assert_eq!((env["K"].as_str(), cwd.as_deref()), ("", Some("/x")));
    assert_eq!(file.servers[0].extra["autoApprove"], json!([]));
    let transports: Vec<_> = file.servers.iter().map(|s| s.transport.as_str()).collect();
    assert_eq!(transports, ["stdio", "http", "sse", "http"]);
    assert!(file.servers[3].disabled);
    assert_eq!(file.extra["theme"], json!("dark"));
    let warned: Vec<_> = file.warnings.iter().map(|w| w.path.as_str()).collect();
    assert_eq!(warned, ["$.theme", "$.mcpServers.files.autoApprove"]);
    let unset = &file.servers[3].unset;
    assert_eq!(unset[0].path, "$.mcpServers.c.url");
    let written = &file.written["a"];
    assert_eq!(written["headers"]["Authorization"], "Bearer ${TOKEN}");
    assert!(!written.contains_key("name"), "{written:?}");
    assert!(
        !format!("{file:?}").contains("s3cret"),
        "secrets stay out of logs"
    );
}

#[test]
fn a_variable_that_is_not_set_keeps_one_server_from_running_and_no_other() {
    let file = servers(
        r#"{"mcpServers": {
            "a": {"url": "http://${HOST}/mcp",
                  "headers": {"K": "${GONE}"}},
            "b": {"command": "run", "env": {"K": "${TOKEN}"}},
            "c": {"url": "https://h/mcp", "auth": {"client_id": "${UNSET}"}}
        }}"#,
    )
    .unwrap();
    let [a, b, c] = file.servers.as_slice() else {
        panic!("{file:?}");
    };
    let why = a.fault().unwrap();
    for part in [
        "the environment variable GONE is not set, which $.mcpServers.a.headers.K names (mcp.json:3)",
        "export GONE=",
        "the environment variable HOST is not set",
    ] {
        assert!(why.contains(part), "{part} is not in {why}");
    }
    assert_eq!(b.fault(), None);
    assert!(c.fault().is_some_and(|why| why.contains("UNSET")));
    assert!(file.warnings.is_empty(), "{:?}", file.warnings);
}

#[test]
fn an_address_with_a_password_is_refused_and_shown_nowhere() {
    let file = servers(
        r#"{"mcpServers": {
            "a": {"url": "http://me:pa55word@127.0.0.1:1/mcp"},
            "b": {"url": "ftp://me:pa55word@h/mcp"},
            "c": {"url": "me:pa55word@h/mcp"},
            "d": {"url": "http://pa55word@h/mcp"},
            "e": {"url": "http://h/me:pa55word@x?y=@z"}
        }}"#,
    )
    .unwrap();
    for server in &file.servers[..4] {
        let why = server.fault().unwrap_or_default();
        let place = format!(
            "$.mcpServers.{}.url must be an address without a user or password",
            server.name
        );
        assert!(
            why.starts_with(&place) && why.contains("Authorization"),
            "{why}"
        );
        assert!(!why.contains("pa55word") && !server.is_usable(), "{why}");
        let written = &file.written[&server.name];
        let shown = catalog::mcp_file::masked(written, &|_| json!("masked"));
        assert!(
            !shown["url"].as_str().unwrap().contains("pa55word"),
            "{shown:?}"
        );
    }
    assert_eq!(file.servers[4].fault(), None);
    for url in [
        "http://me:pa55word@h/mcp",
        "ftp://me:pa55word@h",
        "http://me:pa55word@:99999",
    ] {
        let text = json!({"name": "u", "url": url}).to_string();
        let problems = server_from_text(&text, None, &|_| None).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].path, "$.url");
        assert!(
            !format!("{problems:?}").contains("pa55word"),
            "{problems:?}"
        );
    }
}

#[test]
fn how_a_server_is_shown_who_asks() {
    use catalog::mcp_file::{Auth, Grant, Holder};
    let read = |auth: &str| {
        let text = format!(
            "{{\"mcpServers\": {{\"a\": {{\"url\": \"https://h/mcp\", \"auth\": {auth}}}}}}}"
        );
        let file = servers(&text).unwrap_or_else(|problems| panic!("{problems:?}"));
        file.servers[0].auth.clone().unwrap()
    };
    assert_eq!(read("\"oauth\""), Auth::default());
    let full = read(
        "{\"type\": \"oauth\", \"for\": \"user\", \"issuer\": \"https://id.example/\", \"client_id\": \"id\", \"client_secret\": \"${TOKEN}\", \"scopes\": [\"a\", \"b:c\"], \"grant\": \"authorization_code\"}",
    );
    assert_eq!(
        (full.holder, full.grant),
        (Holder::User, Grant::AuthorizationCode)
    );
    assert_eq!(full.client_secret.as_deref(), Some("s3cret"));
    assert_eq!(full.scopes, ["a", "b:c"]);
    assert_eq!(full.issuer.as_deref(), Some("https://id.example/"));
    assert!(!format!("{full:?}").contains("s3cret"));
    let machine = read(
        "{\"grant\": \"client_credentials\", \"issuer\": \"https://id\", \"client_id\": \"id\", \"client_secret\": \"x\"}",
    );
    assert_eq!(
        (machine.holder, machine.grant),
        (Holder::Server, Grant::ClientCredentials)
    );
    for (auth, path, remedy) in [
        ("true", "auth", "Write \"oauth\""),
        ("\"s3cret-token\"", "auth", "\"headers\""),
        ("{\"typ\": \"oauth\"}", "auth.typ", "\"type\""),
        (
            "{\"type\": \"basic\"}",
            "auth.type",
            "\"headers\": {\"Authorization\"",
        ),
        ("{\"for\": \"everybody\"}", "auth.for", "\"server\""),
        ("{\"scopes\": [\"a b\"]}", "auth.scopes[0]", "by itself"),
        ("{\"client_secret\": \"x\"}", "auth", "Add \"client_id\""),
        (
            "{\"client_id\": \"x\", \"client_secret\": \"s3cret\"}",
            "auth",
            "Add \"issuer\"",
        ),
        ("{\"issuer\": \"nowhere\"}", "auth", "https://id.example"),
        (
            "{\"grant\": \"client_credentials\"}",
            "auth",
            "write both here",
        ),
    ] {
        let text = format!(
            "{{\"mcpServers\": {{\"a\": {{\"url\": \"https://h/mcp\", \"auth\": {auth}}}}}}}"
        );
        let problems = servers(&text).unwrap_err();
        let [problem] = problems.as_slice() else {
            panic!("{auth}: {problems:?}");
        };
        assert_eq!(problem.path, format!("$.mcpServers.a.{path}"), "{auth}");
        assert!(problem.remedy.contains(remedy), "{auth}: {problem}");
        assert!(!problem.to_string().contains("s3cret"), "{problem}");
    }
    let both = "{\"mcpServers\": {\"a\": {\"url\": \"https://h\", \"headers\": {\"authorization\": \"x\"}, \"auth\": \"oauth\"}}}";
    assert!(
        servers(both).unwrap_err()[0]
            .remedy
            .contains("Delete one of the two")
    );
    let program = "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"auth\": \"oauth\"}}}";
    assert!(servers(program).unwrap_err()[0].remedy.contains("\"url\""));
}
