//! Logging in through an identity provider: a real one on this machine (oidc-provider-mock), with a browser's part
//! played by hand, and everything that can go wrong on the way there and back.

use crate::engine::{self, Site};
use crate::harness::Running;
use crate::wire::{Answer, read_answer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A provider that runs; it is killed when dropped.
struct Provider {
    child: Child,
    address: String,
}

impl Provider {
    /// None where it is not installed; says so.
    fn start(test: &str) -> Option<Self> {
        let Some(folder) = std::env::var_os("TOOLCRIB_TEST_PYTHON") else {
            println!("{test}: skipped, TOOLCRIB_TEST_PYTHON is not set");
            return None;
        };
        let program = std::path::Path::new(&folder).join("oidc-provider-mock");
        let mut child = Command::new(program)
            .args([
                "--port",
                "0",
                "--require-registration",
                "true",
                "--require-nonce",
                "true",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the provider can be started");
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("it says where it listens").unwrap();
            if let Some((_, rest)) = line.split_once("running on http://") {
                break rest.split(' ').next().unwrap().to_owned();
            }
        };
        // Nobody reads on; what it says later must not make it wait.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Provider { child, address })
    }

    /// Makes this server known there; gives its name and its secret.
    fn register(&self, redirect: &str) -> (String, String) {
        let body = json!({"redirect_uris": [redirect]}).to_string();
        let answer = http(
            &self.address,
            "POST",
            "/oauth2/clients",
            "application/json",
            &body,
        );
        let client = answer.json();
        let text = |name: &str| client[name].as_str().unwrap().to_owned();
        (text("client_id"), text("client_secret"))
    }

    /// What it tells about somebody.
    fn knows(&self, sub: &str, claims: &Value) {
        let body = claims.to_string();
        let answer = http(
            &self.address,
            "PUT",
            &format!("/users/{sub}"),
            "application/json",
            &body,
        );
        assert_eq!(answer.status, 204);
    }

    /// Somebody logs in there; gives the path a browser is sent back to.
    fn vouch(&self, location: &str, body: &str) -> String {
        let path = location
            .strip_prefix(&format!("http://{}", self.address))
            .unwrap();
        let answer = http(
            &self.address,
            "POST",
            path,
            "application/x-www-form-urlencoded",
            body,
        );
        assert_eq!(answer.status, 302, "{answer:?}");
        let back = answer.header("location").unwrap();
        let (_, rest) = back.split_once("://").unwrap();
        rest[rest.find('/').unwrap()..].to_owned()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn http(address: &str, method: &str, path: &str, kind: &str, body: &str) -> Answer {
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    exchange(address, &text)
}

/// A browser goes to a page of ours.
fn visit(server: &Running, path: &str, cookie: &str) -> Answer {
    let host = &server.address;
    let text = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    exchange(host, &text)
}

fn exchange(address: &str, text: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    read_answer(&mut stream).unwrap()
}

fn cookies(answer: &Answer) -> Vec<String> {
    let lines = answer.head.lines().filter_map(|line| line.split_once(": "));
    let set = lines.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    set.map(|(_, value)| value.to_owned()).collect()
}

/// `name=value` of the first cookie.
fn cookie(answer: &Answer) -> String {
    let first = cookies(answer).remove(0);
    first.split(';').next().unwrap().to_owned()
}

/// A server that is known to a provider.
struct Crib {
    server: Running,
    provider: Provider,
}

impl Crib {
    fn start(site: &Site, provider: Provider, settings: &[(&str, &str)]) -> Self {
        // A free port that both sides know before the server starts.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        let (id, secret) = provider.register(&format!("http://{address}/login/oidc/callback"));
        drop(free);
        let mut command = site.sandbox.command(&["serve", "--listen", &address]);
        command
            .env("TOOLCRIB_ADMIN_KEY", crate::harness::ADMIN_KEY)
            .env(
                "TOOLCRIB_OIDC_ISSUER",
                format!("http://{}", provider.address),
            )
            .env("TOOLCRIB_OIDC_CLIENT_ID", id)
            .env("TOOLCRIB_OIDC_CLIENT_SECRET", secret)
            .envs(settings.iter().copied());
        let server = Running::start(command);
        Crib { server, provider }
    }

    /// The whole way; gives our last answer.
    fn log_in(&self, sub: &str) -> Answer {
        let begun = visit(&self.server, "/login/oidc", "");
        assert_eq!(begun.status, 303, "{begun:?}");
        let back = self
            .provider
            .vouch(begun.header("location").unwrap(), &format!("sub={sub}"));
        visit(&self.server, &back, &cookie(&begun))
    }

    fn me(&self, answer: &Answer) -> Value {
        visit(&self.server, "/api/v1/me", &cookie(answer)).json()
    }
}

fn told(answer: &Answer) -> String {
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .starts_with("text/html")
    );
    String::from_utf8(answer.body.clone()).unwrap()
}

#[test]
fn whom_the_provider_vouches_for_comes_in() {
    for site in engine::every("whom_the_provider_vouches_for_comes_in") {
        let Some(provider) = Provider::start("whom_the_provider_vouches_for_comes_in") else {
            return;
        };
        provider.knows(
            "a-1",
            &json!({"email": "kim@example.com", "email_verified": true}),
        );
        let crib = Crib::start(&site, provider, &[("TOOLCRIB_OIDC_NEW_USERS", "author")]);
        let page = visit(&crib.server, "/login", "");
        assert!(told(&page).contains("href=\"/login/oidc\""));
        let begun = visit(&crib.server, "/login/oidc", "");
        let location = begun.header("location").unwrap();
        for part in [
            "code_challenge_method=S256",
            "&code_challenge=",
            "&nonce=",
            "&state=",
            "scope=openid+profile+email",
        ] {
            assert!(location.contains(part), "{part} in {location}");
        }

        let done = crib.log_in("a-1");
        assert_eq!(
            (done.status, done.header("location")),
            (303, Some("/")),
            "{done:?}"
        );
        let set = cookies(&done);
        assert!(
            set[0].starts_with("__Host-toolcrib=") && set[0].contains("; HttpOnly; SameSite=Lax")
        );
        assert!(set[1].starts_with("__Host-toolcrib-login=;") && set[1].contains("Max-Age=0"));
        let me = crib.me(&done);
        assert_eq!(
            (&me["user"], &me["role"]),
            (&json!("kim@example.com"), &json!("author"))
        );

        // The second visit is the same user, also under another address.
        crib.provider
            .knows("a-1", &json!({"email": "kim@elsewhere.example"}));
        assert_eq!(crib.me(&crib.log_in("a-1"))["user"], "kim@example.com");
        let (_, users) = crib.server.request("GET", "/api/v1/users", None);
        assert_eq!(users["items"].as_array().unwrap().len(), 2, "{users}");
        let (_, acts) = crib
            .server
            .request("GET", "/api/v1/audit?actor=kim@example.com", None);
        let acts: Vec<&Value> = acts["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|act| &act["action"])
            .collect();
        assert_eq!(acts, ["login.oidc", "login.oidc", "user.create"]);

        // Who is removed here does not come in, whatever the provider says.
        let (status, _) = crib
            .server
            .request("DELETE", "/api/v1/users/kim@example.com", None);
        assert_eq!(status, 204);
        let refused = crib.log_in("a-1");
        assert_eq!(refused.status, 403);
        assert!(told(&refused).contains("You were removed"));
    }
}

#[test]
fn strangers_are_linked_by_an_admin() {
    for site in engine::every("strangers_are_linked_by_an_admin") {
        let Some(provider) = Provider::start("strangers_are_linked_by_an_admin") else {
            return;
        };
        let crib = Crib::start(&site, provider, &[]);
        let ask =
            |method: &str, path: &str, body: Value| crib.server.request(method, path, Some(&body));
        let stranger = crib.log_in("b-2");
        assert_eq!(stranger.status, 403);
        assert!(
            told(&stranger).contains("--oidc-subject b-2"),
            "{}",
            told(&stranger)
        );
        assert!(cookies(&stranger).is_empty());

        let (status, lee) = ask(
            "POST",
            "/api/v1/users",
            json!({"name": "lee", "role": "operator", "oidc_subject": "b-2"}),
        );
        assert_eq!(status, 201, "{lee}");
        assert_eq!(
            lee["oidc_subject"],
            format!("http://{}|b-2", crib.provider.address)
        );
        assert_eq!(crib.me(&crib.log_in("b-2"))["user"], "lee");
        let (status, twice) = ask(
            "PATCH",
            "/api/v1/users/admin",
            json!({"oidc_subject": "b-2"}),
        );
        assert_eq!((status, &twice["error"]["code"]), (409, &json!("conflict")));
        let (status, bad) = ask("PATCH", "/api/v1/users/lee", json!({"oidc_subject": "ü"}));
        assert_eq!(status, 422, "{bad}");
        // Only admins link: lee cannot become somebody else.
        let session = cookie(&crib.log_in("b-2"));
        let host = &crib.server.address;
        let as_lee = |body: &Value| {
            let body = body.to_string();
            let patch = format!(
                "PATCH /api/v1/users/lee HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {session}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            exchange(host, &patch).status
        };
        assert_eq!(as_lee(&json!({"oidc_subject": "a-1"})), 403);

        // Nor does one session become a way in that outlives the provider's word.
        let password = json!({"password": "a password of my own"});
        assert_eq!(as_lee(&password), 403);

        let (status, parted) = ask("PATCH", "/api/v1/users/lee", json!({"oidc_subject": null}));
        assert_eq!((status, &parted["oidc_subject"]), (200, &Value::Null));
        assert_eq!(crib.log_in("b-2").status, 403);
        let me = visit(&crib.server, "/api/v1/me", &session);
        assert_eq!(me.status, 401, "who came in by the link is out with it");
    }
}

#[test]
fn roles_follow_the_groups_of_the_provider() {
    let Some(provider) = Provider::start("roles_follow_the_groups_of_the_provider") else {
        return;
    };
    provider.knows(
        "c-3",
        &json!({"email": "moon", "groups": ["staff", "platform"]}),
    );
    let site = engine::sqlite();
    let crib = Crib::start(
        &site,
        provider,
        &[
            ("TOOLCRIB_OIDC_ROLES", "platform=admin,staff=viewer"),
            ("TOOLCRIB_OIDC_NEW_USERS", "groups"),
        ],
    );
    let first = crib.log_in("c-3");
    assert_eq!(crib.me(&first)["role"], "admin");
    crib.provider
        .knows("c-3", &json!({"email": "moon", "groups": ["staff"]}));
    assert_eq!(crib.me(&crib.log_in("c-3"))["role"], "viewer");
    assert_eq!(crib.me(&first)["role"], "viewer", "the older session too");
    crib.provider
        .knows("c-3", &json!({"email": "moon", "groups": []}));
    assert!(told(&crib.log_in("c-3")).contains("None of your groups"));
}

#[test]
fn a_group_lets_no_stranger_in_where_only_the_linked_come_in() {
    let Some(provider) = Provider::start("a_group_lets_no_stranger_in") else {
        return;
    };
    provider.knows("e-5", &json!({"email": "sun", "groups": ["platform"]}));
    let site = engine::sqlite();
    let roles = [("TOOLCRIB_OIDC_ROLES", "platform=admin")];
    let crib = Crib::start(&site, provider, &roles);
    let refused = crib.log_in("e-5");
    assert_eq!(refused.status, 403);
    assert!(told(&refused).contains("--oidc-subject e-5"));
    let body = json!({"name": "sun", "role": "viewer", "oidc_subject": "e-5"});
    let (status, _) = crib.server.request("POST", "/api/v1/users", Some(&body));
    assert_eq!(status, 201);
    assert_eq!(
        crib.me(&crib.log_in("e-5"))["role"],
        "admin",
        "by the group"
    );
}

#[test]
fn an_answer_that_does_not_fit_lets_nobody_in() {
    let Some(provider) = Provider::start("an_answer_that_does_not_fit_lets_nobody_in") else {
        return;
    };
    let site = engine::sqlite();
    let crib = Crib::start(&site, provider, &[("TOOLCRIB_OIDC_NEW_USERS", "viewer")]);
    let begin = || visit(&crib.server, "/login/oidc", "");
    let vouch = |begun: &Answer| {
        crib.provider
            .vouch(begun.header("location").unwrap(), "sub=d-4")
    };
    let (mine, others) = (begin(), begin());
    let back = vouch(&mine);
    let wrong_code = back.replacen("code=", "code=x", 1);
    for (path, cookie, why) in [
        (back.as_str(), String::new(), "no cookie"),
        (&back, cookie(&others), "another browser's answer"),
        (&wrong_code, cookie(&mine), "a made-up code"),
        ("/login/oidc/callback", cookie(&mine), "nothing"),
        (
            "/login/oidc/callback?code=1&code=2&state=3",
            cookie(&mine),
            "twice",
        ),
        (
            "/login/oidc/callback?error=%3Cscript%3Ealert(1)%3C/script%3E",
            cookie(&mine),
            "a refusal",
        ),
    ] {
        let answer = visit(&crib.server, path, &cookie);
        assert_eq!(answer.status, 401, "{why}");
        assert!(cookies(&answer).is_empty(), "{why}");
        let page = told(&answer);
        assert!(!page.contains("alert(1)"), "{why}: {page}");
        assert!(page.contains("begin again"), "{why}: {page}");
    }
    let unsure = begin();
    let denied = crib
        .provider
        .vouch(unsure.header("location").unwrap(), "action=deny");
    let answer = visit(&crib.server, &denied, &cookie(&unsure));
    assert_eq!(answer.status, 401);
    assert!(told(&answer).contains("did not let you in"), "{denied}");
    // The code was not used up by the wrong ones; it is by the right one.
    assert_eq!(visit(&crib.server, &back, &cookie(&mine)).status, 303);
    assert_eq!(
        visit(&crib.server, &back, &cookie(&mine)).status,
        401,
        "a code works once"
    );

    let (_, acts) = crib
        .server
        .request("GET", "/api/v1/audit?action=login.failed", None);
    assert_eq!(acts["items"][0]["after"]["how"], "oidc", "{acts}");

    // Without the provider everything else goes on.
    let Crib { server, provider } = crib;
    let begun = visit(&server, "/login/oidc", "");
    let back = provider.vouch(begun.header("location").unwrap(), "sub=d-4");
    drop(provider);
    let answer = visit(&server, &back, &cookie(&begun));
    assert_eq!(answer.status, 503);
    assert!(told(&answer).contains("cannot be used at the moment"));
    assert_eq!(server.request("GET", "/api/v1/me", None).0, 200);

    // Whoever goes on making things up is not even looked at.
    let wrong = || visit(&server, &back, &cookie(&mine)).status;
    let statuses: Vec<u16> = (0..12).map(|_| wrong()).collect();
    assert_eq!((statuses[0], statuses[11]), (401, 429), "{statuses:?}");
}

#[test]
fn without_a_provider_there_is_nothing_to_log_in_with() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    assert!(!told(&visit(&server, "/login", "")).contains("/login/oidc"));
    assert_eq!(visit(&server, "/login/oidc", "").status, 404);
    assert_eq!(visit(&server, "/login/oidc/callback", "").status, 404);
    let body = json!({"name": "lee", "role": "viewer", "oidc_subject": "1"});
    let (status, answer) = server.request("POST", "/api/v1/users", Some(&body));
    assert_eq!(status, 422, "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("oidc.issuer")
    );
}
