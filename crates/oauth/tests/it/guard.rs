//! What a server tells us leads nowhere but to public addresses, over TLS: nothing else is ever dialled.

use crate::site::{Asked, Counting, Site, client, reply, spec, well};
use catalog::clock::Clock;
use oauth::{Challenge, Error, Ours, Wish};
use serde_json::{Value, json};
use std::sync::Arc;

fn network() -> Arc<Counting> {
    Arc::new(Counting {
        dialled: Default::default(),
    })
}

const BAD: [&str; 12] = [
    "https://inside.example/x",
    "https://cloud.example/x",
    "https://loop.example/x",
    "https://10.0.0.1/x",
    "https://127.0.0.1/x",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/x",
    "https://[fd00::1]/x",
    "http://public.example/x",
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1:1/x",
    "file:///etc/passwd",
];

#[tokio::test]
async fn no_private_address_is_dialled_whoever_names_it() {
    let network = network();
    let client = client(Some(Arc::clone(&network)), &Clock::System);
    for told in BAD {
        let challenge = Challenge {
            resource_metadata: Some(told.to_owned()),
            ..Challenge::default()
        };
        let found = client
            .discover("https://server.example/mcp", &challenge)
            .await;
        assert!(found.is_err(), "{told}");
    }
    assert!(network.dialled.lock().unwrap().is_empty());
}

/// A server on this machine that names an authorization server, or one whose endpoints are elsewhere.
async fn naming(member: &'static str, told: String) -> Site {
    Site::new(move |own, asked: &Asked| {
        let resource = asked.line.contains("oauth-protected-resource");
        if resource && member == "authorization_servers" {
            let about = json!({"resource": own, "authorization_servers": [told]});
            return reply(200, &about);
        }
        let more = match member {
            "authorization_servers" => json!({}),
            member => json!({member: told}),
        };
        well(own, asked, &more)
    })
    .await
}

#[tokio::test]
async fn nor_where_an_authorization_server_or_its_endpoints_are_said_to_be() {
    let members = [
        "authorization_servers",
        "token_endpoint",
        "registration_endpoint",
        "authorization_endpoint",
    ];
    for member in members {
        // On this machine a server may name what else is on it.
        for told in BAD
            .iter()
            .filter(|it| !it.contains("127.0.0.1") && !it.contains("[::1]"))
        {
            let (site, network) = (naming(member, (*told).to_owned()).await, network());
            let client = client(Some(Arc::clone(&network)), &Clock::System);
            let spec = spec(&format!("{}/mcp", site.url));
            let begun = client
                .begin(&Wish {
                    spec: &spec,
                    challenge: &Challenge::default(),
                    granted: &[],
                    ours: &|place| Ours {
                        redirect_uri: format!("http://127.0.0.1:9/callback/{place}"),
                        document_url: None,
                    },
                    known: &|_, _| None,
                    keeper: "",
                })
                .await;
            // A page over TLS is the browser's business; nobody here calls it.
            let is_page = member == "authorization_endpoint" && told.starts_with("https://");
            // And the token endpoint is called when there is something to ask for.
            let is_later = member == "token_endpoint" && told.starts_with("https://");
            assert_eq!(begun.is_ok(), is_page || is_later, "{member} {told}");
            if let (Ok(begun), true) = (&begun, is_later) {
                let returned = oauth::Returned {
                    place: &oauth::place("one", &site.url),
                    state: begun.pending.state(),
                    code: Some("c"),
                    ..Default::default()
                };
                assert!(client.finish(&begun.pending, &returned).await.is_err());
            }
            let dialled = network.dialled.lock().unwrap().clone();
            let port = site.url.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
            assert!(!dialled.is_empty());
            assert!(
                dialled
                    .iter()
                    .all(|to| to.ip().is_loopback() && to.port() == port),
                "{member} {told}: {dialled:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_redirect_is_no_answer_and_a_long_one_is_none() {
    let client = client(None, &Clock::System);
    let other = Site::new(|own, asked| well(own, asked, &json!({}))).await;
    let away = other.url.clone();
    let site = Site::new(move |_, _| (302, format!("Location: {away}/x\r\n"), String::new())).await;
    let found = client
        .discover(&format!("{}/mcp", site.url), &Challenge::default())
        .await;
    assert!(matches!(found, Err(Error::Unusable(_))), "{found:?}");
    assert!(other.asked.lock().unwrap().is_empty());
    let long = Site::new(|_, _| reply(200, &Value::String("x".repeat(300 << 10)))).await;
    let found = client
        .discover(&format!("{}/mcp", long.url), &Challenge::default())
        .await;
    assert!(matches!(found, Err(Error::Unreachable(_))), "{found:?}");
}

#[tokio::test]
async fn whoever_is_missing_is_named() {
    let client = client(None, &Clock::System);
    let site = Site::new(|_, _| reply(404, &json!({}))).await;
    let server = format!("{}/mcp", site.url);
    let found = client.discover(&server, &Challenge::default()).await;
    let Err(Error::Unusable(why)) = found else {
        panic!("{found:?}");
    };
    assert!(
        why.contains("seems not to take OAuth") && why.contains(&site.url),
        "{why}"
    );
    // It names somebody who does not answer.
    let away = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let issuer = format!("http://{}", away.local_addr().unwrap());
    drop(away);
    let named = issuer.clone();
    let site = Site::new(
        move |own, asked| match asked.line.contains("oauth-protected-resource") {
            true => reply(
                200,
                &json!({"resource": format!("{own}/mcp"), "authorization_servers": [named]}),
            ),
            false => reply(404, &json!({})),
        },
    )
    .await;
    let server = format!("{}/mcp", site.url);
    let found = client.discover(&server, &Challenge::default()).await;
    let Err(Error::Unreachable(why)) = found else {
        panic!("{found:?}");
    };
    let told = format!("its authorization server {issuer} does not answer: ");
    assert!(why.starts_with(&told), "{why}");
}
