//! Access tokens in place of keys, with a real authorization server and a real client: who is let in, and what those are
//! told who are not.

use crate::client::{Client, call};
use crate::crib::{Crib, sandbox};
use crate::harness::ADMIN_KEY;
use crate::plain::{Plain, send, send_as};
use crate::programs::Listening;
use crate::wire::Answer;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

const ROBOT: &str = "robot";
const SECRET: &str = "a-secret-of-the-robot";

/// A server that takes tokens, and whoever makes them.
struct Tokens {
    issuer: Listening,
    crib: Crib,
}

impl Tokens {
    fn new() -> Self {
        let issuer = Listening::authorization_server();
        let sandbox = sandbox();
        let settings = format!(
            "[oidc]\nissuer = \"{}\"\nclient_id = \"crib\"\naccess_tokens = true\n",
            issuer.url
        );
        sandbox.write("toolcrib.toml", &settings);
        let crib = Crib::of(sandbox);
        Tokens { issuer, crib }
    }

    /// A user whom the authorization server calls by the name of the program.
    fn link(&self, role: &str) {
        let user = json!({"name": "robbie", "role": role, "oidc_subject": ROBOT});
        let (status, made) = self
            .crib
            .server
            .request("POST", "/api/v1/users", Some(&user));
        assert_eq!(status, 201, "{made}");
    }

    /// A token for a resource, with these scopes.
    fn token(&self, resource: &str, scope: &str) -> String {
        let body = format!("grant_type=client_credentials&resource={resource}&scope={scope}");
        let basic = BASE64_STANDARD.encode(format!("{ROBOT}:{SECRET}"));
        let address = self.issuer.url.strip_prefix("http://").unwrap();
        let headers = format!(
            "Authorization: Basic {basic}\r\nContent-Type: application/x-www-form-urlencoded"
        );
        let answer = send(address, "POST", "/token", &headers, &body).json();
        let token = answer["access_token"].as_str();
        token.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn own(&self, scope: &str) -> String {
        self.token(&format!("{}/mcp", self.crib.server.url()), scope)
    }

    /// Something over MCP, with a token or without.
    fn ask(&self, token: Option<&str>, method: &str, params: &Value) -> Answer {
        let plain = Plain::new(&self.crib.server, token);
        plain.modern(method, params, &json!({}))
    }

    fn list(&self, token: Option<&str>) -> Answer {
        self.ask(token, "tools/list", &json!({}))
    }
}

fn challenge(answer: &Answer) -> &str {
    answer.header("www-authenticate").unwrap_or_default()
}

#[test]
fn a_client_finds_its_way_from_the_first_refusal_to_a_call() {
    let tokens = Tokens::new();
    tokens.link("operator");
    let refused = tokens.list(None);
    assert_eq!(refused.status, 401);
    let metadata = format!(
        "{}/.well-known/oauth-protected-resource/mcp",
        tokens.crib.server.url()
    );
    let told = challenge(&refused);
    assert!(
        told.contains(&format!("resource_metadata=\"{metadata}\"")),
        "{told}"
    );
    assert!(
        told.contains("scope=\"toolcrib:read toolcrib:call\""),
        "{told}"
    );
    assert!(!told.contains("error="), "nothing was shown: {told}");
    let path = "/.well-known/oauth-protected-resource/mcp/a";
    let about = send(&tokens.crib.server.address, "GET", path, "A: b", "").json();
    assert_eq!(
        about["resource"],
        format!("{}/mcp/a", tokens.crib.server.url())
    );
    assert_eq!(about["authorization_servers"], json!([tokens.issuer.url]));
    // Nothing of this is told to the client: it finds out.
    for era in ["modern", "legacy"] {
        let client = Client::new("http", &format!("{}/mcp", tokens.crib.server.url()), era)
            .with_token_of(&tokens.issuer.url, ROBOT, SECRET);
        let story = client.script(&[
            json!({"action": "list"}),
            call("calculator", &json!({"expression": "6 * 7"})),
        ]);
        assert_eq!(story.text(1), "42", "{era}");
    }
    let path = "/api/v1/executions?tool=calculator";
    let (_, logged) = tokens.crib.server.request("GET", path, None);
    let row = &logged["items"][0];
    assert_eq!(
        (row["caller"].as_str(), row["key"].as_str()),
        (Some("robbie"), Some("oauth:robot")),
        "{row}"
    );
}

#[test]
fn only_tokens_for_this_server_and_about_its_users_are_taken() {
    let tokens = Tokens::new();
    let sound = tokens.own("toolcrib:read");
    let stranger = tokens.list(Some(&sound));
    assert_eq!(stranger.status, 403, "nobody is linked: {stranger:?}");
    tokens.link("operator");
    assert_eq!(tokens.list(Some(&sound)).status, 200);
    // The root of this server and what is below it are this server.
    let url = tokens.crib.server.url();
    assert_eq!(tokens.list(Some(&tokens.token(&url, ""))).status, 200);
    for other in ["http://127.0.0.1:9/mcp", "urn:x:y"] {
        let refused = tokens.list(Some(&tokens.token(other, "toolcrib:read")));
        assert_eq!(refused.status, 401, "{other}");
        assert!(
            challenge(&refused).contains("error=\"invalid_token\""),
            "{refused:?}"
        );
    }
    let (head, signature) = sound.rsplit_once('.').unwrap();
    let other = tokens.own("toolcrib:admin");
    let (_, theirs) = other.rsplit_once('.').unwrap();
    assert_ne!(signature, theirs);
    for forged in [
        format!("{head}.{theirs}"),
        format!("{head}."),
        head.to_owned(),
    ] {
        assert_eq!(tokens.list(Some(&forged)).status, 401, "{forged}");
    }
    // Nor is one for another program of this machine, whatever that says this server is called.
    let other = tokens.token("http://127.0.0.1:9/mcp", "toolcrib:read");
    let headers = format!("Authorization: Bearer {other}");
    let address = &tokens.crib.server.address;
    let shown = send_as(address, "127.0.0.1:9", "GET", "/api/v1/tools", &headers, "");
    assert_eq!(shown.status, 401, "{shown:?}");
    // As a key in the other header it is nothing.
    let headers = format!("X-API-Key: {sound}");
    let refused = send(
        &tokens.crib.server.address,
        "GET",
        "/api/v1/tools",
        &headers,
        "",
    );
    assert_eq!(refused.status, 401);
    // Over REST it does as well as over MCP, until its user is gone.
    let headers = format!("Authorization: Bearer {sound}");
    let read = || {
        send(
            &tokens.crib.server.address,
            "GET",
            "/api/v1/tools",
            &headers,
            "",
        )
        .status
    };
    assert_eq!(read(), 200);
    let (_, users) = tokens.crib.server.request("GET", "/api/v1/users", None);
    let robbie = users["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "robbie");
    let path = format!(
        "/api/v1/users/{}",
        robbie.unwrap()["name"].as_str().unwrap()
    );
    let (status, gone) = tokens.crib.server.request("DELETE", &path, None);
    assert!(status < 300, "{gone}");
    assert_eq!(read(), 403);
    // Keys are what they were.
    let headers = format!("Authorization: Bearer {ADMIN_KEY}");
    let by_key = send(
        &tokens.crib.server.address,
        "GET",
        "/api/v1/tools",
        &headers,
        "",
    );
    assert_eq!(by_key.status, 200);
}

#[test]
fn a_token_may_no_more_than_its_scopes_and_its_user() {
    let tokens = Tokens::new();
    tokens.link("operator");
    let calculate = json!({"name": "calculator", "arguments": {"expression": "6 * 7"}});
    let reader = tokens.own("toolcrib:read");
    let refused = tokens.ask(Some(&reader), "tools/call", &calculate);
    assert_eq!(refused.status, 403, "{refused:?}");
    let told = challenge(&refused);
    assert!(told.contains("error=\"insufficient_scope\""), "{told}");
    assert!(
        told.contains("scope=\"toolcrib:read toolcrib:call\""),
        "{told}"
    );
    let caller = tokens.own("toolcrib:read toolcrib:call");
    let answer = tokens.ask(Some(&caller), "tools/call", &calculate).json();
    assert_eq!(
        answer["result"]["structuredContent"]["result"], 42,
        "{answer}"
    );
    // A token is no login: it makes no keys.
    let headers = format!("Authorization: Bearer {caller}\r\nContent-Type: application/json");
    let key = json!({"name": "mine", "scopes": ["read"]}).to_string();
    let address = &tokens.crib.server.address;
    let made = send(address, "POST", "/api/v1/keys", &headers, &key);
    assert_eq!(made.status, 403, "{made:?}");
    // The user is no admin, whatever the token says; without a word of ours it may read and call.
    let headers = format!("Authorization: Bearer {}", tokens.own("toolcrib:admin"));
    let address = &tokens.crib.server.address;
    let made = send(address, "POST", "/api/v1/users", &headers, "{}");
    assert_eq!(made.status, 403, "{made:?}");
    let plain = tokens.own("");
    assert_eq!(
        tokens.ask(Some(&plain), "tools/call", &calculate).status,
        200
    );
}

/// However a message comes, a token that may not do it leads to one that may.
#[test]
fn a_missing_scope_is_told_wherever_it_is_missed() {
    let tokens = Tokens::new();
    tokens.link("operator");
    let reader = tokens.own("toolcrib:read toolcrib:operate");
    let client = Plain::new(&tokens.crib.server, Some(&reader));
    let params = json!({"name": "calculator", "arguments": {"expression": "6 * 7"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let session = client.open();
    let mut stream = client.sse();
    let endpoint = stream.next().unwrap();
    for (answer, path) in [
        (client.send("POST", Some(&session), Some(&call)), "mcp"),
        (
            client.send("POST", Some(&session), Some(&json!([ping, call]))),
            "mcp",
        ),
        (client.post_to(&endpoint, &call), "sse"),
    ] {
        assert_eq!(answer.status, 403, "{answer:?}");
        let told = challenge(&answer);
        assert!(told.contains("error=\"insufficient_scope\""), "{told}");
        let scopes = "scope=\"toolcrib:read toolcrib:call toolcrib:operate\"";
        assert!(told.contains(scopes), "{told}");
        let metadata = format!("/.well-known/oauth-protected-resource/{path}\"");
        assert!(told.contains(&metadata), "{told}");
    }
    assert_eq!(client.post_to(&endpoint, &ping).status, 202);
}

/// A stream lasts no longer than what was shown for it.
#[test]
fn streams_end_with_their_token() {
    let tokens = Tokens::new();
    tokens.link("operator");
    let short = format!("{}/short", tokens.crib.server.url());
    let token = tokens.token(&short, "toolcrib:read");
    let client = Plain::new(&tokens.crib.server, Some(&token));
    let session = client.open();
    let streams = [
        client.stream(&session).unwrap(),
        client.listen(&json!({"toolsListChanged": true})).unwrap(),
        client.sse(),
    ];
    for stream in streams {
        stream.ends();
    }
}
