//! Signing in to a server on a workspace that nobody serves: the command does it by itself.

use crate::harness::Sandbox;
use crate::site::Site;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// An authorization server that gives a token for any code.
fn issuer() -> Site {
    Site::start(|request| {
        let host = request.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("host: ")
                .map(str::to_owned)
        });
        let own = format!("http://{}", host.expect("every request names its host"));
        let (status, said) = match request
            .lines()
            .next()
            .expect("a request has a first line")
            .trim_end_matches(" HTTP/1.1")
        {
            "GET /.well-known/oauth-protected-resource/mcp" => (
                200,
                json!({"resource": format!("{own}/mcp"), "authorization_servers": [own]}),
            ),
            "GET /.well-known/oauth-authorization-server" => (
                200,
                json!({
                    "issuer": own, "authorization_endpoint": format!("{own}/authorize"),
                    "token_endpoint": format!("{own}/token"), "registration_endpoint": format!("{own}/register"),
                    "code_challenge_methods_supported": ["S256"],
                }),
            ),
            "POST /register" => (
                201,
                json!({"client_id": "made", "token_endpoint_auth_method": "none"}),
            ),
            "POST /token" => (
                200,
                json!({"access_token": "a-token-nobody-sees", "token_type": "Bearer"}),
            ),
            _ => (404, json!({})),
        };
        (status, "application/json", said.to_string().into_bytes())
    })
}

fn member(url: &str, name: &str) -> String {
    let mut pairs = url.split(['?', '&']);
    let found = pairs.find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    let found = found.unwrap_or_else(|| panic!("{url}"));
    found.replace("%3A", ":").replace("%2F", "/")
}

fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("an address");
    let (address, path) = rest.split_at(rest.find('/').expect("a path"));
    let mut stream = TcpStream::connect(address).expect("the command listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    text
}

#[test]
fn who_serves_nothing_signs_in_too() {
    let (sandbox, issuer) = (Sandbox::new(), issuer());
    let servers =
        json!({"mcpServers": {"up": {"url": format!("{}/mcp", issuer.url), "auth": "oauth"}}});
    sandbox.write("mcp.json", &servers.to_string());
    let mut command = sandbox.command(&["servers", "sign-in", "up"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut lines = lines.by_ref().map(|line| line.expect("a line"));
    let url = lines
        .find_map(|line| line.find("http://").map(|at| line[at..].to_owned()))
        .expect("it says where to go");
    let (state, redirect) = (member(&url, "state"), member(&url, "redirect_uri"));
    let page = get(&format!("{redirect}?state={state}&code=c"));
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let said: Vec<String> = lines.collect();
    assert!(child.wait().expect("it ends").success(), "{said:?}");
    assert!(
        said.concat().contains("signed in to up, which is stopped"),
        "{said:?}"
    );
    let tokens = issuer.requests();
    assert_eq!(
        tokens
            .iter()
            .filter(|it| it.starts_with("POST /token"))
            .count(),
        1
    );
    let shown = |sandbox: &Sandbox| -> Value {
        let text = sandbox.ok(&["servers", "show", "up"]);
        assert!(!text.contains("a-token-nobody-sees"));
        serde_json::from_str(&text).expect("it prints JSON")
    };
    let view = shown(&sandbox);
    assert_eq!(view["sign_in"]["signed_in"], true, "{view}");
    for list in ["tools", "resources", "prompts"] {
        assert_eq!(
            sandbox.json(&["servers", list, "up"])["items"],
            json!([]),
            "{list}"
        );
    }
    sandbox.ok(&["servers", "sign-out", "up"]);
    assert_eq!(shown(&sandbox)["sign_in"]["signed_in"], false);
}
