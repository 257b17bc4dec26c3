//! What is asked of the provider, and how often.

use super::*;
use crate::oidc::NewUsers;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

#[test]
fn secrets_go_only_where_nobody_listens() {
    for fine in [
        "https://id.example/token",
        "http://localhost:9400/x",
        "http://127.0.0.1:1/",
    ] {
        assert!(is_address(fine), "{fine}");
    }
    for bad in [
        "http://id.example/",
        "http://localhost.evil.example/",
        "ftp://localhost/",
        "https://a@id.example/",
        "id.example",
        "",
    ] {
        assert!(!is_address(bad), "{bad}");
    }
}

/// A provider that counts how often it is asked for its keys, and tells them only when it is let.
async fn provider(asked: Arc<AtomicUsize>, let_go: Arc<Semaphore>) -> Provider {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let issuer = url.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (asked, let_go, url) = (asked.clone(), let_go.clone(), url.clone());
            tokio::spawn(async move {
                let mut head = vec![0; 4096];
                let length = stream.read(&mut head).await.unwrap();
                let head = String::from_utf8_lossy(&head[..length]).into_owned();
                let body = if head.starts_with("GET /keys ") {
                    asked.fetch_add(1, Ordering::SeqCst);
                    let_go.acquire().await.unwrap().forget();
                    json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "", "kid": "a"}]})
                } else {
                    json!({"issuer": url, "authorization_endpoint": url, "token_endpoint": url, "jwks_uri": format!("{url}/keys")})
                };
                let body = body.to_string();
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    Provider::new(Settings {
        issuer,
        client_id: "crib".to_owned(),
        client_secret: None,
        scopes: Vec::new(),
        name_claim: "email".to_owned(),
        new_users: NewUsers::None,
        roles_claim: "groups".to_owned(),
        roles: Vec::new(),
        tokens: None,
    })
}

fn header(kid: &str) -> jsonwebtoken::Header {
    let mut header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::EdDSA);
    header.kid = Some(kid.to_owned());
    header
}

#[tokio::test]
async fn unknown_keys_are_asked_for_once_and_nobody_else_waits() {
    let (asked, let_go) = (Arc::default(), Arc::new(Semaphore::new(1)));
    let provider = Arc::new(provider(Arc::clone(&asked), Arc::clone(&let_go)).await);
    assert!(provider.key(&header("a")).await.unwrap().is_some());
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // As if it had been read long ago.
    let mut old = Known::clone(&provider.known.load_full().unwrap());
    old.keys_read_at -= KEYS_AGAIN;
    provider.known.store(Some(Arc::new(old)));
    let ask = |number: usize| {
        let provider = Arc::clone(&provider);
        tokio::spawn(async move { provider.key(&header(&number.to_string())).await })
    };
    let many: Vec<_> = (0..50).map(ask).collect();
    while asked.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    let known = provider.known_key(&header("a"));
    assert!(known.is_some(), "while the provider is asked for others");
    let_go.add_permits(50);
    for one in many {
        assert!(one.await.unwrap().unwrap().is_none());
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2, "one for all of them");
}

#[test]
fn a_client_secret_is_encoded_before_it_is_joined() {
    assert_eq!(form_encoded("a:b c/ü"), "a%3Ab+c%2F%C3%BC");
    assert_eq!(form_encoded("=="), "%3D%3D");
}
