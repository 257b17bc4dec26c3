//! Signing in to upstream servers: whose token is shown, who sees what it is good for, which answers are refused, and
//! what is left when it is over.

use crate::guarded::Guarded;
use crate::scripted::until;
use crate::servers::in_state;
use crate::testapp::{ADMIN, Answer, TestApp, on_both};
use crate::toolsets_mcp::Client;
use app::sign_in::SignInAnswer;
use axum::body::Body;
use axum::http::Request;
use catalog::tool::SYSTEM_USER;
use serde_json::{Value, json};

const SERVERS: &str = "/api/v1/servers";

pub(crate) async fn add(app: &TestApp, name: &str, upstream: &Guarded, auth: Value) {
    let body = json!({"name": name, "url": upstream.url(), "auth": auth});
    let made = app.post(SERVERS, body).await;
    assert_eq!(made.status, 201, "{}", made.body);
    in_state(app, name, "auth_required").await;
}

/// Somebody with a key of theirs.
async fn person(app: &TestApp, name: &str) -> String {
    app.person(name, "operator").await.key
}

/// A sign-in that has begun: its state, and the place that the browser comes back to.
async fn begin(app: &TestApp, key: &str, server: &str) -> (String, String) {
    let url = begun(app, key, server).await;
    assert!(
        url.contains("scope=told"),
        "what the server says is read where it says: {url}"
    );
    parts(&url)
}

/// Where the browser is sent to.
pub(crate) async fn begun(app: &TestApp, key: &str, server: &str) -> String {
    let path = format!("{SERVERS}/{server}/sign-in");
    let body = json!({"redirect_uri": "http://127.0.0.1:9/callback"});
    let begun = app.as_key(key, "POST", &path, body).await;
    assert_eq!(begun.status, 200, "{}", begun.body);
    begun.body["authorize_url"].as_str().unwrap().to_owned()
}

pub(crate) fn parts(url: &str) -> (String, String) {
    let of = |name: &str| {
        let mut pairs = url.split(['?', '&']);
        let found = pairs.find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        found.unwrap_or_else(|| panic!("{url}")).to_owned()
    };
    let redirect = of("redirect_uri");
    (
        of("state"),
        redirect.rsplit_once("%2F").unwrap().1.to_owned(),
    )
}

pub(crate) async fn finish(app: &TestApp, key: &str, server: &str, answer: Value) -> Answer {
    let path = format!("{SERVERS}/{server}/sign-in/finish");
    app.as_key(key, "POST", &path, answer).await
}

/// Signs in as somebody there.
async fn sign_in(app: &TestApp, key: &str, server: &str, there: &str) {
    let (state, place) = begin(app, key, server).await;
    let answer = json!({"place": place, "state": state, "code": there});
    let done = finish(app, key, server, answer).await;
    assert_eq!(done.status, 200, "{}", done.body);
    assert_eq!(done.body["sign_in"]["signed_in"], true, "{}", done.body);
}

async fn resources(app: &TestApp, key: &str) -> Vec<String> {
    let path = format!("{SERVERS}/up/resources");
    let page = app.as_key(key, "GET", &path, Value::Null).await.body;
    let items = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
    let of = |it: &Value| {
        it["uri"]
            .as_str()
            .or(it["uriTemplate"].as_str())
            .unwrap()
            .to_owned()
    };
    items.iter().map(of).collect()
}

/// What somebody is offered over MCP.
async fn offered(client: &Client<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for (method, member, key) in [
        ("resources/list", "resources", "uri"),
        (
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
        ),
    ] {
        let said = client.ask(method, json!({})).await;
        let items = said.result()[member].as_array().unwrap().clone();
        all.extend(items.iter().map(|it| it[key].as_str().unwrap().to_owned()));
    }
    all
}

#[tokio::test]
async fn what_one_person_has_is_nobody_elses() {
    on_both(async |app: &TestApp| {
        let upstream = Guarded::start().await;
        add(
            app,
            "up",
            &upstream,
            json!({"type": "oauth", "for": "user"}),
        )
        .await;
        let (alice, bob) = (person(app, "alice").await, person(app, "bob").await);
        sign_in(app, &alice, "up", "alice").await;
        in_state(app, "up", "connected").await;
        until("its tools are there", async || {
            let found = app.get("/api/v1/tools/up.echo").await;
            (found.status == 200).then_some(())
        })
        .await;
        let of = |name: &str| vec![format!("x://{name}"), format!("y://{name}/{{id}}")];
        assert_eq!(resources(app, &alice).await, of("alice"));
        assert!(resources(app, &bob).await.is_empty());
        let clients = (
            Client::modern(app, &alice, "/mcp"),
            Client::modern(app, &bob, "/mcp"),
        );
        assert_eq!(offered(&clients.0).await, of("alice"));
        assert!(offered(&clients.1).await.is_empty());
        let (reader, _) = Client::legacy(app, &bob, "/mcp").await;
        let read = reader
            .ask("resources/read", json!({"uri": "x://alice"}))
            .await;
        assert_eq!(read.error()["message"], "There is no such resource");
        sign_in(app, &bob, "up", "bob").await;
        assert_eq!(resources(app, &bob).await, of("bob"));
        let read = reader
            .ask("resources/read", json!({"uri": "x://bob"}))
            .await;
        assert_eq!(read.result()["contents"][0]["text"], "bob");
        assert_eq!(offered(&clients.1).await, of("bob"));
        assert_eq!(offered(&clients.0).await, of("alice"));
        // Nobody follows anything with another's token.
        for (key, name) in [(&alice, "alice"), (&bob, "bob")] {
            let (client, _) = Client::legacy(app, key, "/mcp").await;
            for uri in [format!("x://{name}"), format!("toolcrib+up:x://{name}")] {
                let refused = client.ask("resources/subscribe", json!({"uri": uri})).await;
                let message = refused.error()["message"].as_str().unwrap_or_default();
                assert!(message.contains("tells no changes"), "{message}");
            }
        }
        assert_eq!(upstream.count("resources/subscribe"), 0);
        let lists = app.server.app.store.server_lists().await.unwrap();
        let known = &lists[0].known;
        assert!(
            known.contains("echo") && !known.contains("x://") && !known.contains("y://"),
            "{known}"
        );
    })
    .await;
}

/// What is known to be another server's is read without waiting for those that know everybody by themselves.
#[tokio::test]
async fn a_server_that_does_not_answer_somebody_keeps_them_from_no_other() {
    on_both(async |app: &TestApp| {
        let (silent, shared) = (Guarded::start().await, Guarded::start().await);
        let for_each = json!({"type": "oauth", "for": "user"});
        add(app, "own", &silent, for_each).await;
        add(app, "shared", &shared, json!("oauth")).await;
        sign_in(app, ADMIN, "shared", "all").await;
        in_state(app, "shared", "connected").await;
        let alice = person(app, "alice").await;
        sign_in(app, &alice, "own", "alice").await;
        in_state(app, "own", "connected").await;
        silent.leave_unanswered("alice");
        let (client, _) = Client::legacy(app, &alice, "/mcp").await;
        let began = std::time::Instant::now();
        let read = client
            .ask("resources/read", json!({"uri": "x://all"}))
            .await;
        let text = &read.result()["contents"][0]["text"];
        assert_eq!(*text, "all", "{}", read.error());
        // Whoever waits for the silent one waits for 5 seconds.
        let took = began.elapsed();
        assert!(took < std::time::Duration::from_secs(4), "{took:?}");
    })
    .await;
}

/// A server leads the browser on to another's authorization server (RFC 9700, 4.4): the code that comes back is not sent
/// to it.
#[tokio::test]
async fn an_answer_that_comes_back_to_another_place_is_nobodys() {
    on_both(async |app: &TestApp| {
        let (honest, evil) = (Guarded::start().await, Guarded::start().await);
        add(app, "honest", &honest, json!("oauth")).await;
        add(app, "evil", &evil, json!("oauth")).await;
        let (_, theirs) = begin(app, ADMIN, "honest").await;
        let (state, own) = begin(app, ADMIN, "evil").await;
        assert_ne!(theirs, own);
        let answer = json!({"place": theirs, "state": state, "code": "alice"});
        let refused = finish(app, ADMIN, "evil", answer).await;
        assert_eq!(
            (refused.status, refused.code()),
            (422, "invalid"),
            "{}",
            refused.body
        );
        // The same where the browser comes back to us.
        let browse = async |method: &str, path: &str| {
            let request = Request::builder()
                .method(method)
                .uri(path)
                .header("x-api-key", ADMIN);
            let request = request
                .header("host", "127.0.0.1:80")
                .header("content-type", "application/json");
            let body = if method == "POST" { "{}" } else { "" };
            app.send(request.body(Body::from(body)).unwrap()).await
        };
        for (place, status) in [(&theirs, 422), (&own, 200)] {
            let begun = browse("POST", "/api/v1/servers/evil/sign-in").await;
            let (state, here) = parts(begun.body["authorize_url"].as_str().unwrap());
            assert_eq!(here, own, "it stays the same");
            assert_eq!(evil.count("token"), 0, "no code was sent");
            let back = format!("{SERVERS}/sign-in/callback/{place}?state={state}&code=alice");
            assert_eq!(browse("GET", &back).await.status, status);
        }
        assert_eq!((evil.count("token alice"), honest.count("token")), (1, 0));
    })
    .await;
}

#[tokio::test]
async fn lists_do_not_hang_on_one_dead_sign_in() {
    on_both(async |app: &TestApp| {
        let upstream = Guarded::start().await;
        add(
            app,
            "up",
            &upstream,
            json!({"type": "oauth", "for": "user"}),
        )
        .await;
        let (alice, bob) = (person(app, "alice").await, person(app, "bob").await);
        sign_in(app, &alice, "up", "alice").await;
        in_state(app, "up", "connected").await;
        assert!(upstream.count("tools/list alice") > 0);
        sign_in(app, &bob, "up", "bob").await;
        assert_eq!(upstream.count("tools/list bob"), 0);
        upstream.refuse("alice", 400, "invalid_grant");
        upstream.end("alice-token");
        app.post(&format!("{SERVERS}/up/reconnect"), Value::Null)
            .await;
        until("they are read as somebody else", async || {
            (upstream.count("tools/list bob") > 0).then_some(())
        })
        .await;
        in_state(app, "up", "connected").await;
    })
    .await;
}

/// Nobody can mend that by signing in.
#[tokio::test]
async fn an_authorization_server_that_is_away_is_no_missing_sign_in() {
    on_both(async |app: &TestApp| {
        let upstream = Guarded::start().await;
        add(app, "up", &upstream, json!("oauth")).await;
        sign_in(app, ADMIN, "up", "alice").await;
        in_state(app, "up", "connected").await;
        upstream.refuse("alice", 503, "");
        upstream.end("alice-token");
        app.post(&format!("{SERVERS}/up/reconnect"), Value::Null)
            .await;
        let shown = until("it is tried again", async || {
            let shown = app.get(&format!("{SERVERS}/up")).await.body;
            let state = shown["state"].as_str().unwrap().to_owned();
            assert_ne!(state, "auth_required", "{shown}");
            ["reconnecting", "failed"]
                .contains(&state.as_str())
                .then_some(shown)
        })
        .await;
        let cause = shown["cause"].as_str().unwrap();
        assert!(cause.contains("the token endpoint: HTTP 503"), "{cause}");
        upstream.relent();
        app.clock.advance(10_000);
        app.post(&format!("{SERVERS}/up/reconnect"), Value::Null)
            .await;
        in_state(app, "up", "connected").await;
    })
    .await;
}

/// Signs in with an address to come back to that lasts, so that the registration does.
async fn lasting(app: &TestApp, name: &str, there: &str) -> app::Result<()> {
    let app = &app.server.app;
    let admin = app::access::operator_caller("test");
    let back = "https://tools.example/callback";
    let begun = app.begin_sign_in(&admin, name, back, None).await?;
    let (state, place) = parts(&begun.authorize_url);
    let answer = SignInAnswer {
        place,
        state,
        code: Some(there.to_owned()),
        ..SignInAnswer::default()
    };
    app.finish_sign_in(&admin, &answer).await.map(drop)
}

/// How many sign-ins, registrations and sealed texts there are.
async fn kept(app: &TestApp) -> (usize, usize, usize) {
    let store = &app.server.app.store;
    (
        store.server_tokens().await.unwrap().len(),
        store.server_clients().await.unwrap().len(),
        store.secrets().await.unwrap().len(),
    )
}

#[tokio::test]
async fn nothing_is_left_that_nobody_can_remove() {
    on_both(async |app: &TestApp| {
        let upstream = Guarded::start().await;
        add(app, "up", &upstream, json!("oauth")).await;
        lasting(app, "up", "alice").await.unwrap();
        lasting(app, "up", "alice").await.unwrap();
        assert_eq!(
            (kept(app).await, upstream.count("register")),
            ((1, 1, 2), 1)
        );
        // A registration that is not known there any more is made anew, in the place of the old one.
        upstream.refuse("alice", 401, "invalid_client");
        lasting(app, "up", "alice").await.unwrap_err();
        assert_eq!(kept(app).await, (1, 0, 1));
        upstream.relent();
        lasting(app, "up", "alice").await.unwrap();
        assert_eq!(
            (kept(app).await, upstream.count("register")),
            ((1, 1, 2), 2)
        );
        let path = format!("{SERVERS}/up/sign-in");
        assert_eq!(
            app.as_key(ADMIN, "DELETE", &path, Value::Null).await.status,
            204
        );
        assert_eq!(kept(app).await, (0, 0, 0));
        // What was everybody's is removed although everybody has their own by now.
        lasting(app, "up", "alice").await.unwrap();
        let auth = json!({"auth": {"type": "oauth", "for": "user"}});
        app.as_key(ADMIN, "PATCH", &format!("{SERVERS}/up"), auth)
            .await;
        let rows = app.server.app.store.server_tokens().await.unwrap();
        assert_eq!(rows[0].user_id, SYSTEM_USER);
        assert_eq!(
            app.as_key(ADMIN, "DELETE", &path, Value::Null).await.status,
            204
        );
        assert_eq!(kept(app).await, (0, 0, 0));
        let again = app.as_key(ADMIN, "DELETE", &path, Value::Null).await;
        assert_eq!(
            (again.status, again.code()),
            (409, "conflict"),
            "{}",
            again.body
        );
        // A server of mcp.json takes its tokens along.
        let file = app.folder.path().join("mcp.json");
        let servers = json!({"mcpServers": {"filed": {"url": upstream.url(), "auth": "oauth"}}});
        std::fs::write(&file, servers.to_string()).unwrap();
        app.server.app.reload().await.unwrap();
        in_state(app, "filed", "auth_required").await;
        lasting(app, "filed", "alice").await.unwrap();
        assert_eq!(kept(app).await, (1, 1, 2));
        std::fs::write(&file, json!({"mcpServers": {}}).to_string()).unwrap();
        app.server.app.reload().await.unwrap();
        until("nothing of it is left", async || {
            (kept(app).await == (0, 0, 0)).then_some(())
        })
        .await;
    })
    .await;
}
