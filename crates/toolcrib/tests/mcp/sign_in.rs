//! Signing in to a real upstream server that a real authorization server guards: for everybody, for oneself, with a
//! browser that comes back to the command line or to us, and with no browser at all.

use crate::crib::{Crib, sandbox, until};
use crate::harness::Sandbox;
use crate::programs::Listening;
use crate::wire::{Answer, read_answer};
use crate::world::{listed, servers};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// A server that takes tokens, whoever makes them, and our own server in front.
struct Guarded {
    issuer: Listening,
    upstream: Crib,
    crib: Crib,
}

impl Guarded {
    fn new(auth: &Value, seconds: u32) -> Self {
        let issuer = Listening::authorization_server_for(seconds);
        let guarded = sandbox();
        let settings = format!(
            "[oidc]\nissuer = \"{}\"\nclient_id = \"crib\"\naccess_tokens = true\n",
            issuer.url
        );
        guarded.write("toolcrib.toml", &settings);
        let upstream = Crib::of(guarded);
        for name in ["alice", "bob", "robot"] {
            let user =
                json!({"name": format!("{name}-there"), "role": "operator", "oidc_subject": name});
            let (status, made) = upstream
                .server
                .request("POST", "/api/v1/users", Some(&user));
            assert_eq!(status, 201, "{made}");
        }
        let front = sandbox();
        let url = format!("{}/mcp", upstream.server.url());
        let mut auth = auth.clone();
        if auth.get("client_secret").is_some() {
            auth["issuer"] = issuer.url.as_str().into();
        }
        servers(&front, &json!({"up": {"url": url, "auth": auth}}));
        let crib = Crib::of(front);
        Guarded {
            issuer,
            upstream,
            crib,
        }
    }

    fn view(&self, key: &str) -> Value {
        let path = "/api/v1/servers/up";
        let (status, view) = self.ask(key, "GET", path, None);
        assert_eq!(status, 200, "{view}");
        view
    }

    fn ask(&self, key: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let asked = self.crib.server.try_request_as(key, method, path, body);
        asked.unwrap()
    }

    fn key(&self) -> &str {
        &self.crib.server.key
    }

    /// Somebody here, with a key.
    fn person(&self, name: &str, role: &str) -> String {
        let user =
            json!({"name": name, "role": role, "password": format!("the password of {name}")});
        let (status, made) = self.ask(self.key(), "POST", "/api/v1/users", Some(&user));
        assert_eq!(status, 201, "{made}");
        let key = json!({"name": format!("{name}-key"), "user": name, "scopes": ["read", "call"]});
        let (status, made) = self.ask(self.key(), "POST", "/api/v1/keys", Some(&key));
        assert_eq!(status, 201, "{made}");
        made["key"].as_str().unwrap().to_owned()
    }

    fn calculate(&self, key: &str) -> (u16, Value) {
        let body = json!({"arguments": {"expression": "6 * 7"}});
        self.ask(key, "POST", "/api/v1/tools/up.calculator/call", Some(&body))
    }

    /// Who called last, as the upstream server knows them.
    fn last_caller(&self) -> String {
        let path = "/api/v1/executions?tool=calculator&limit=1";
        let (_, logged) = self.upstream.server.request("GET", path, None);
        logged["items"][0]["caller"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    fn begin(&self, key: &str) -> (u16, Value) {
        let body = json!({"redirect_uri": "http://127.0.0.1:9/callback"});
        self.ask(key, "POST", "/api/v1/servers/up/sign-in", Some(&body))
    }

    /// Signs in as somebody there, for whoever has this key here.
    fn sign_in(&self, key: &str, person: &str) -> Value {
        let (status, begun) = self.begin(key);
        assert_eq!(status, 200, "{begun}");
        let back = browse(
            begun["authorize_url"].as_str().unwrap(),
            person,
            "http://127.0.0.1:9/",
        );
        let path = "/api/v1/servers/up/sign-in/finish";
        let (status, view) = self.ask(key, "POST", path, Some(&back_with(&back)));
        assert_eq!(status, 200, "{view}");
        view
    }

    fn told(&self, path: &str) -> Vec<String> {
        let answer = get(&format!("{}{path}", self.issuer.url), "A: b");
        serde_json::from_slice(&answer.body).unwrap()
    }
}

fn get(url: &str, headers: &str) -> Answer {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    send(address, "GET", path, headers, "")
}

fn send(address: &str, method: &str, path: &str, headers: &str, body: &str) -> Answer {
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    read_answer(&mut stream).unwrap()
}

/// Follows every redirect as a browser does, with its cookies, until one leads to `end`.
fn browse(url: &str, person: &str, end: &str) -> String {
    let mut url = url.to_owned();
    let mut cookies: BTreeMap<String, String> = BTreeMap::new();
    for _ in 0..10 {
        if url.starts_with(end) {
            return url;
        }
        let pairs: Vec<String> = cookies.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let answer = get(
            &url,
            &format!("X-Person: {person}\r\nCookie: {}", pairs.join("; ")),
        );
        assert!((300..400).contains(&answer.status), "{url}: {answer:?}");
        let lines = answer.head.lines().filter_map(|line| line.split_once(": "));
        for (_, value) in lines.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let pair = value.split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            cookies.insert(name.to_owned(), value.to_owned());
        }
        let next = answer.header("location").unwrap().to_owned();
        url = match next.starts_with('/') {
            true => {
                let origin = url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
                format!("{origin}{next}")
            }
            false => next,
        };
    }
    panic!("it leads nowhere: {url}");
}

/// The query that a browser brought back, and where to.
fn back_with(url: &str) -> Value {
    let mut answer = answer_of(url);
    let path = url.split_once('?').unwrap().0;
    answer["place"] = path.rsplit_once('/').unwrap().1.into();
    answer
}

/// The query of an address.
fn answer_of(url: &str) -> Value {
    let query = url.split_once('?').unwrap().1;
    let pairs = query.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap();
        let value = value.replace("%3A", ":").replace("%2F", "/");
        (name.to_owned(), Value::String(value))
    });
    Value::Object(pairs.collect())
}

/// Whether a text stands anywhere in the files below a folder.
fn is_in(folder: &Path, text: &str) -> bool {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return is_in(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    })
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.find_map(|path| match path.is_dir() {
        true => find(&path, name),
        false => path.ends_with(name).then_some(path),
    })
}

/// Signs in on the command line; gives what it said.
fn by_command(sandbox: &Sandbox, person: &str) -> String {
    let mut command = sandbox.command(&["servers", "sign-in", "up"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = loop {
        let line = lines.next().expect("it says where to go").unwrap();
        if let Some(at) = line.find("http://") {
            break line[at..].trim().to_owned();
        }
    };
    let redirect = answer_of(&url)["redirect_uri"].as_str().unwrap().to_owned();
    let page = get(&browse(&url, person, &redirect), "A: b");
    assert_eq!(page.status, 200);
    let said: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{said:?}");
    said.join("\n")
}

/// A new sealing key takes the token over like any secret, and the old one is not needed any more.
fn rotated(world: &Guarded, key: &str, file: &Path, old: &str) -> String {
    let new = format!("k9:{}\n", BASE64_STANDARD.encode([9; 32]));
    std::fs::write(file, format!("{new}{old}")).unwrap();
    let (status, rotated) = world.ask(key, "POST", "/api/v1/secrets/rotate", None);
    assert_eq!(status, 200, "{rotated}");
    assert_eq!(
        (&rotated["rotated"], &rotated["left"]),
        (&json!(1), &json!(0)),
        "{rotated}"
    );
    new
}

impl Guarded {
    /// The same with another server process, and what the first one had said.
    fn restarted(self) -> (Self, Vec<String>) {
        let Guarded {
            issuer,
            upstream,
            crib,
        } = self;
        let Crib { sandbox, server } = crib;
        let words = server.last_words();
        let crib = Crib::of(sandbox);
        let world = Guarded {
            issuer,
            upstream,
            crib,
        };
        (world, words)
    }
}

#[test]
fn one_signs_in_for_all_and_it_is_kept_fresh_and_sealed() {
    let world = Guarded::new(&json!("oauth"), 3);
    let key = world.key().to_owned();
    let view = until("it wants somebody to sign in", || {
        Some(world.view(&key)).filter(|it| it["state"] == "auth_required")
    });
    let cause = view["cause"].as_str().unwrap();
    assert!(cause.contains("toolcrib servers sign-in up"), "{cause}");
    assert_eq!(view["sign_in"]["signed_in"], false);
    let said = by_command(&world.crib.sandbox, "alice");
    assert!(
        said.contains("signed in to up, which is connected"),
        "{said}"
    );
    listed(&world.crib, "up.calculator");
    let view = world.view(&key);
    assert_eq!(view["sign_in"]["signed_in"], true, "{view}");
    assert_eq!(view["sign_in"]["issuer"], world.issuer.url.as_str());
    assert_eq!(view["sign_in"]["can_refresh"], true, "{view}");
    assert_eq!(
        view["sign_in"]["scopes"],
        json!(["toolcrib:read", "toolcrib:call"])
    );
    assert!(view["sign_in"]["expires_at"].is_string(), "{view}");
    // Tokens live for three seconds; nobody notices.
    let refreshes = || {
        world
            .told("/asked")
            .iter()
            .filter(|it| *it == "refresh_token")
            .count()
    };
    until(
        "it was renewed twice, each time with a new refresh token",
        || {
            let (status, answer) = world.calculate(&key);
            assert_eq!(status, 200, "{answer}");
            assert_eq!(answer["data"]["result"], 42, "{answer}");
            (refreshes() >= 2).then_some(())
        },
    );
    assert_eq!(world.last_caller(), "alice-there");
    let file = find(world.crib.sandbox.folder(), "secret.key").unwrap();
    let old = std::fs::read_to_string(&file).unwrap();
    let new = rotated(&world, &key, &file, &old);
    std::fs::write(&file, new).unwrap();
    let (world, words) = world.restarted();
    // It is still there.
    listed(&world.crib, "up.calculator");
    assert_eq!(world.calculate(&key).0, 200);
    // What was given is nowhere to be read.
    let issued = world.told("/issued");
    assert!(issued.len() >= 6, "{}", issued.len());
    let shown = world.view(&key).to_string();
    let (_, audit) = world.ask(&key, "GET", "/api/v1/audit?limit=50", None);
    assert!(audit.to_string().contains("server.sign_in"), "{audit}");
    for token in &issued {
        assert!(!is_in(world.crib.sandbox.folder(), token), "in a file");
        assert!(!shown.contains(token) && !audit.to_string().contains(token));
        assert!(!words.iter().any(|line| line.contains(token)), "in the log");
    }
    let (_, check) = world.ask(&key, "GET", "/api/v1/secrets/verify", None);
    assert_eq!(
        (&check["valid"], &check["secrets"]),
        (&json!(true), &json!(1)),
        "{check}"
    );
    world.crib.sandbox.ok(&["servers", "sign-out", "up"]);
    let view = world.view(&key);
    assert_eq!(view["state"], "auth_required", "{view}");
    assert_eq!(view["sign_in"]["signed_in"], false);
    let (status, answer) = world.calculate(&key);
    assert_eq!(
        (status, &answer["error"]["code"]),
        (503, &json!("auth_required")),
        "{answer}"
    );
    let (_, check) = world.ask(&key, "GET", "/api/v1/secrets/verify", None);
    assert_eq!(check["secrets"], 0, "{check}");
}

#[test]
fn everybody_has_their_own_token_and_nobody_anothers() {
    let world = Guarded::new(&json!({"type": "oauth", "for": "user"}), 300);
    let (alice, bob) = (
        world.person("alice", "operator"),
        world.person("bob", "operator"),
    );
    let view = world.sign_in(&alice, "alice");
    assert_eq!(view["sign_in"]["for"], "user");
    assert_eq!(view["sign_in"]["signed_in"], true, "{view}");
    listed(&world.crib, "up.calculator");
    let (status, answer) = world.calculate(&alice);
    assert_eq!(
        (status, world.last_caller().as_str()),
        (200, "alice-there"),
        "{answer}"
    );
    // Who has not signed in is told how, and calls nothing.
    assert_eq!(world.view(&bob)["sign_in"]["signed_in"], false);
    let (status, answer) = world.calculate(&bob);
    let error = &answer["error"];
    assert_eq!(
        (status, &error["code"]),
        (503, &json!("auth_required")),
        "{answer}"
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("toolcrib servers sign-in up"), "{message}");
    // Nobody ends what somebody else has begun.
    let (_, begun) = world.begin(&bob);
    let url = begun["authorize_url"].as_str().unwrap();
    let back = back_with(&browse(url, "bob", "http://127.0.0.1:9/"));
    let finish = "/api/v1/servers/up/sign-in/finish";
    let (status, refused) = world.ask(&alice, "POST", finish, Some(&back));
    assert_eq!(status, 422, "{refused}");
    let (status, view) = world.ask(&bob, "POST", finish, Some(&back));
    assert_eq!(status, 200, "{view}");
    let (status, again) = world.ask(&bob, "POST", finish, Some(&back));
    assert_eq!(status, 422, "it is good for one answer: {again}");
    for (key, name) in [
        (&bob, "bob-there"),
        (&alice, "alice-there"),
        (&bob, "bob-there"),
    ] {
        let (status, answer) = world.calculate(key);
        assert_eq!(
            (status, world.last_caller().as_str()),
            (200, name),
            "{answer}"
        );
    }
    assert_eq!(world.view(world.key())["sign_in"]["people"], 2);
    // Out is out, and the other stays in.
    let (status, _) = world.ask(&alice, "DELETE", "/api/v1/servers/up/sign-in", None);
    assert_eq!(status, 204);
    assert_eq!(world.calculate(&alice).0, 503);
    assert_eq!(world.calculate(&bob).0, 200);
    // Who leaves takes theirs along.
    let (status, _) = world.ask(world.key(), "DELETE", "/api/v1/users/bob", None);
    assert_eq!(status, 204);
    let (_, check) = world.ask(world.key(), "GET", "/api/v1/secrets/verify", None);
    assert_eq!(check["secrets"], 0, "{check}");
}

#[test]
fn a_browser_that_comes_back_to_us_must_be_whose_it_was() {
    let world = Guarded::new(&json!({"type": "oauth", "for": "user"}), 300);
    world.person("alice", "operator");
    world.person("bob", "operator");
    let address = &world.crib.server.address;
    let cookie = |name: &str| {
        let body = json!({"name": name, "password": format!("the password of {name}")}).to_string();
        let answer = send(
            address,
            "POST",
            "/api/v1/login",
            "Content-Type: application/json",
            &body,
        );
        let line = answer
            .header("set-cookie")
            .unwrap_or_else(|| panic!("{answer:?}"));
        line.split(';').next().unwrap().to_owned()
    };
    let (alice, bob) = (cookie("alice"), cookie("bob"));
    let headers =
        format!("Cookie: {alice}\r\nOrigin: http://{address}\r\nContent-Type: application/json");
    let begun = send(
        address,
        "POST",
        "/api/v1/servers/up/sign-in",
        &headers,
        "{}",
    )
    .json();
    let end = format!("http://{address}/api/v1/servers/sign-in/callback");
    let back = browse(
        begun["authorize_url"]
            .as_str()
            .unwrap_or_else(|| panic!("{begun}")),
        "alice",
        &end,
    );
    for (who, status) in [("A: b".to_owned(), 401), (format!("Cookie: {bob}"), 422)] {
        assert_eq!(get(&back, &who).status, status, "{who}");
    }
    let forged = back.replace("code=", "code=x");
    let done = get(&back, &format!("Cookie: {alice}"));
    let page = String::from_utf8_lossy(&done.body).into_owned();
    assert_eq!(done.status, 200, "{page}");
    assert!(page.contains("signed in to up"), "{page}");
    assert_eq!(
        get(&forged, &format!("Cookie: {alice}")).status,
        422,
        "it is over"
    );
}

#[test]
fn what_asks_in_its_own_name_needs_nobody() {
    let auth = json!({"type": "oauth", "grant": "client_credentials", "client_id": "robot",
        "client_secret": "a-secret-of-the-robot"});
    let world = Guarded::new(&auth, 300);
    listed(&world.crib, "up.calculator");
    let (status, answer) = world.calculate(world.key());
    assert_eq!(status, 200, "{answer}");
    assert_eq!(world.last_caller(), "robot-there");
    let (status, refused) = world.begin(world.key());
    assert_eq!(status, 409, "{refused}");
    // One token for all is not everybody's to change.
    let world = Guarded::new(&json!("oauth"), 300);
    let author = world.person("carol", "author");
    let (status, refused) = world.begin(&author);
    assert_eq!(status, 403, "{refused}");
}
