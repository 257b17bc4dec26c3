//! Servers that want a token: it is shown, renewed where it is refused, and everybody has their own where they are known
//! by themselves.

use crate::world::{Fake, LONG, World, call, settings, talk};
use catalog::clock::Clock;
use catalog::mcp_file::ServerConfig;
use catalog::secret::Secret;
use mcp::upstream::{Credentials, Settings, State, UpstreamError};
use oauth::{AuthMethod, Client, Credential, Grant, Registered, Spec};
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use uuid::Uuid;

/// Whoever holds tokens that are out of date, and a token endpoint that gives `fresh` for each.
struct Holders {
    endpoint: String,
    asked: Arc<AtomicUsize>,
    all: Mutex<HashMap<Option<Uuid>, Arc<Credential>>>,
    /// Who has not signed in.
    stranger: Uuid,
}

impl Holders {
    async fn new() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/token", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let body = json!({"access_token": "fresh", "expires_in": 3600}).to_string();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Arc::new(Holders {
            endpoint,
            asked,
            all: Mutex::default(),
            stranger: Uuid::from_u128(99),
        })
    }
}

impl Credentials for Holders {
    fn of(&self, server: &ServerConfig, user: Option<Uuid>) -> Option<Arc<Credential>> {
        server.auth.as_ref()?;
        let server_url = server.url()?.to_owned();
        let spec = Spec {
            name: server.name.clone(),
            server_url: server_url.clone(),
            issuer: None,
            client_id: None,
            client_secret: None,
            scopes: Vec::new(),
            is_machine: false,
        };
        let grant = Grant {
            resource: server_url.clone(),
            server_url,
            issuer: "http://127.0.0.1".to_owned(),
            token_endpoint: self.endpoint.clone(),
            client: Registered {
                client_id: "crib".to_owned(),
                client_secret: None,
                method: AuthMethod::None,
                expires_at: None,
            },
            access_token: Secret::new("stale".to_owned()),
            refresh_token: Some(Secret::new("again".to_owned())),
            scopes: Vec::new(),
            obtained_at: 0,
            expires_at: None,
        };
        let grant = (user != Some(self.stranger)).then_some(grant);
        let fetcher = fetch::Fetcher::new(fetch::Options::default());
        let client = Client::new(fetcher, Clock::System);
        let mut all = self.all.lock().unwrap();
        let made = || Arc::new(Credential::new(client, spec, None, grant));
        Some(Arc::clone(all.entry(user).or_insert_with(made)))
    }
}

#[tokio::test]
async fn a_refused_token_is_renewed_and_what_was_asked_is_asked_once_more() {
    for era in ["legacy", "modern", "sse"] {
        let holders = Holders::new().await;
        let mut world = World::with(settings(), Some(Arc::clone(&holders) as _));
        let fake = Fake::new(&world, if era == "modern" { "modern" } else { "legacy" });
        let server = match era {
            "sse" => fake.listen_sse(&[("FAKE_TOKEN", "fresh")]).await,
            _ => fake.listen_with(&[("FAKE_TOKEN", "fresh")]).await,
        };
        let url = server.url(if era == "sse" { "/sse" } else { "/mcp" });
        let one = world.one(json!({"url": url, "auth": "oauth"})).await;
        assert_eq!(fake.count("refused"), 1, "{era}");
        assert_eq!(holders.asked.load(Ordering::SeqCst), 1, "{era}");
        call(&one, "echo", json!({"text": "x"}), talk())
            .await
            .unwrap();
        assert_eq!(fake.count("refused"), 1, "{era}");
        world.upstreams.close().await;
    }
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_says_how_to_sign_in() {
    let holders = Holders::new().await;
    let mut world = World::with(settings(), Some(Arc::clone(&holders) as _));
    let fake = Fake::new(&world, "modern");
    let server = fake.listen_with(&[("FAKE_TOKEN", "another")]).await;
    world.set(&json!({"one": {"url": server.url("/mcp"), "auth": "oauth"}}));
    let one = world.upstreams.get("one").unwrap();
    world
        .until(&one, |state| *state == State::AuthRequired)
        .await;
    assert_eq!(
        fake.count("refused"),
        2,
        "once, and once more with another token"
    );
    let cause = one.status().cause.unwrap();
    assert!(cause.contains("toolcrib servers sign-in one"), "{cause}");
    let refused = call(&one, "echo", json!({}), talk()).await.unwrap_err();
    let UpstreamError::AuthRequired { challenge, remedy } = refused else {
        panic!("{refused:?}");
    };
    assert!(challenge.unwrap().contains("resource_metadata"));
    assert!(remedy.contains("/api/v1/servers/one/sign-in"), "{remedy}");
    world.upstreams.close().await;
}

#[tokio::test]
async fn everybody_has_a_connection_of_their_own_while_they_use_it() {
    let holders = Holders::new().await;
    let settings = Settings {
        people_max: 2,
        people_idle: Duration::from_millis(300),
        ..settings()
    };
    let mut world = World::with(settings, Some(Arc::clone(&holders) as _));
    let fake = Fake::new(&world, "modern");
    let server = fake.listen_with(&[("FAKE_TOKEN", "fresh")]).await;
    let auth = json!({"type": "oauth", "for": "user"});
    let one = world
        .one(json!({"url": server.url("/mcp"), "auth": auth}))
        .await;
    assert!(!one.lists().tools.is_empty());
    // The connection for the lists is somebody's own, and nobody calls over it.
    let shared = call(&one, "echo", json!({}), talk()).await.unwrap_err();
    assert!(
        matches!(shared, UpstreamError::Unavailable { .. }),
        "{shared:?}"
    );
    let stranger = world.upstreams.of_user(&one, holders.stranger);
    let Some(UpstreamError::AuthRequired { remedy, .. }) = stranger.err() else {
        panic!("they have not signed in");
    };
    assert!(remedy.contains("you have not signed in"), "{remedy}");
    let [first, second, third] = [1, 2, 3].map(Uuid::from_u128);
    let of = |user| world.upstreams.of_user(&one, user).unwrap();
    for user in [first, second] {
        call(&of(user), "echo", json!({"text": "x"}), talk())
            .await
            .unwrap();
    }
    assert!(!Arc::ptr_eq(&of(first), &of(second)));
    assert!(Arc::ptr_eq(&of(first), &of(first)));
    // A third makes the one who has rested longest leave.
    let before = of(first);
    call(&of(third), "echo", json!({"text": "x"}), talk())
        .await
        .unwrap();
    assert!(!Arc::ptr_eq(&of(first), &before));
    // Whoever does not call any more is not connected any more, until they do.
    let own = of(third);
    let rests = async {
        while !own.status().cause.is_some_and(|it| it.contains("rests")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, rests).await.unwrap();
    call(&own, "echo", json!({"text": "x"}), talk())
        .await
        .unwrap();
    world.upstreams.close().await;
}
