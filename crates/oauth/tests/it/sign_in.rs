//! A sign-in from the first question to the token: who we say we are, what we ask for, and which answers are refused.

use crate::site::{Asked, Site, client, reply, spec, well};
use catalog::clock::Clock;
use catalog::secret::Secret;
use fetch::Url;
use oauth::{
    AuthMethod, Begun, Challenge, Client, Credential, Error, Ours, Registered, Returned, Spec,
    Wish, place,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const REDIRECT: &str = "http://127.0.0.1:9/callback";
const DOCUMENT: &str = "https://tools.example/oauth/client-metadata.json";

async fn site(more: Value) -> (Site, Spec, Client) {
    let site = Site::new(move |own, asked| well(own, asked, &more)).await;
    let spec = spec(&format!("{}/mcp", site.url));
    (site, spec, client(None, &Clock::System))
}

fn ours(place: &str) -> Ours {
    Ours {
        redirect_uri: format!("{REDIRECT}/{place}"),
        document_url: Some(DOCUMENT.to_owned()),
    }
}

async fn begin(client: &Client, spec: &Spec, challenge: &Challenge) -> oauth::Result<Begun> {
    client
        .begin(&Wish {
            spec,
            challenge,
            granted: &["old".to_owned()],
            ours: &ours,
            known: &|_, _| None,
            keeper: "",
        })
        .await
}

fn query(url: &str) -> BTreeMap<String, String> {
    let url = Url::parse(url).unwrap();
    url.query_pairs().into_owned().collect()
}

fn form(asked: &Asked) -> BTreeMap<String, String> {
    query(&format!("http://x/?{}", asked.body))
}

#[tokio::test]
async fn the_resource_and_a_fresh_proof_go_with_every_sign_in() {
    let (site, spec, client) = site(json!({})).await;
    let begun = begin(&client, &spec, &Challenge::default()).await.unwrap();
    let asked = query(&begun.authorize_url);
    assert_eq!(asked["resource"], format!("{}/mcp", site.url));
    assert_eq!(asked["client_id"], "made");
    assert_eq!(asked["code_challenge_method"], "S256");
    assert!(!asked.contains_key("scope"), "{asked:?}");
    let other = begin(&client, &spec, &Challenge::default()).await.unwrap();
    let other = query(&other.authorize_url);
    assert_ne!(asked["state"], other["state"]);
    assert_ne!(asked["code_challenge"], other["code_challenge"]);
    let returned = Returned {
        state: &asked["state"],
        code: Some("the-code"),
        place: &place("one", &site.url),
        ..Returned::default()
    };
    let grant = client.finish(&begun.pending, &returned).await.unwrap();
    assert_eq!(grant.access_token.expose(), "given");
    let sent = form(&site.of("POST /token")[0]);
    assert_eq!(sent["resource"], asked["resource"]);
    let own = format!("{REDIRECT}/{}", place("one", &site.url));
    assert_eq!(sent["redirect_uri"], own);
    assert_eq!(asked["redirect_uri"], own);
    assert_eq!(sent["code_verifier"].len(), 43);
    assert!(!asked["code_challenge"].contains(&sent["code_verifier"]));
}

#[tokio::test]
async fn we_are_known_by_hand_or_by_document_or_by_registration() {
    let (site, mut spec, client) =
        site(json!({"client_id_metadata_document_supported": true})).await;
    let none = Challenge::default();
    let by_document = begin(&client, &spec, &none).await.unwrap();
    assert_eq!(by_document.pending.client.client_id, DOCUMENT);
    spec.client_id = Some("by-hand".to_owned());
    spec.issuer = Some(site.url.clone());
    spec.client_secret = Some(Secret::new("hand-secret".to_owned()));
    let by_hand = begin(&client, &spec, &none).await.unwrap();
    assert_eq!(by_hand.pending.client.client_id, "by-hand");
    assert_eq!(by_hand.pending.client.method, AuthMethod::Basic);
    assert_eq!(site.count("POST /register"), 0);
    let (other, spec, client) = self::site(json!({})).await;
    let registered = begin(&client, &spec, &none).await.unwrap();
    assert!(registered.is_new_client);
    let sent: Value = serde_json::from_str(&other.of("POST /register")[0].body).unwrap();
    let own = format!("{REDIRECT}/{}", place("one", &other.url));
    assert_eq!(sent["redirect_uris"], json!([own]), "and no other");
    assert_eq!(
        sent["grant_types"],
        json!(["authorization_code", "refresh_token"])
    );
    assert_eq!(sent["application_type"], "native");
    // Where we are known already, nobody is told again.
    let known = |issuer: &str, redirect_uri: &str| {
        (issuer == other.url && redirect_uri == own).then(|| Registered {
            client_id: "from-before".to_owned(),
            client_secret: None,
            method: AuthMethod::None,
            expires_at: None,
        })
    };
    let wish = Wish {
        spec: &spec,
        challenge: &none,
        granted: &[],
        ours: &|place| Ours {
            document_url: None,
            ..ours(place)
        },
        known: &known,
        keeper: "",
    };
    let again = client.begin(&wish).await.unwrap();
    assert_eq!(again.pending.client.client_id, "from-before");
    assert_eq!(other.count("POST /register"), 1);
    let (_, spec, client) = self::site(json!({"registration_endpoint": null})).await;
    let refused = begin(&client, &spec, &none).await.err().unwrap();
    assert!(refused.to_string().contains("\"client_id\""), "{refused}");
}

#[tokio::test]
async fn what_is_asked_for_is_what_the_operator_or_the_server_wants() {
    let (_site, mut spec, client) =
        site(json!({"scopes_supported": ["offline_access", "x"]})).await;
    let scope = async |spec: &Spec, challenge: &str| {
        let begun = begin(&client, spec, &Challenge::read(challenge))
            .await
            .unwrap();
        query(&begun.authorize_url).remove("scope").unwrap()
    };
    assert_eq!(scope(&spec, "").await, "offline_access");
    assert_eq!(
        scope(&spec, r#"Bearer scope="a b""#).await,
        "a b offline_access"
    );
    let more = r#"Bearer error="insufficient_scope", scope="new""#;
    assert_eq!(
        scope(&spec, more).await,
        "new old offline_access",
        "no less than before"
    );
    spec.scopes = vec!["mine".to_owned()];
    assert_eq!(
        scope(&spec, r#"Bearer scope="a b""#).await,
        "mine offline_access"
    );
    assert_eq!(scope(&spec, more).await, "mine new old offline_access");
}

#[tokio::test]
async fn a_server_that_cannot_be_trusted_is_not_signed_in_to() {
    for (more, why) in [
        (json!({"code_challenge_methods_supported": null}), "PKCE"),
        (
            json!({"code_challenge_methods_supported": ["plain"]}),
            "PKCE",
        ),
        (json!({"issuer": "https://other.example"}), "another name"),
        (json!({"authorization_endpoint": null}), "no page"),
        (
            json!({"authorization_endpoint": "javascript:alert(1)"}),
            "neither http nor https",
        ),
        (json!({"token_endpoint": 7}), "lacks"),
    ] {
        let (site, spec, client) = site(more).await;
        let refused = begin(&client, &spec, &Challenge::default())
            .await
            .err()
            .unwrap();
        assert!(refused.to_string().contains(why), "{refused}");
        assert_eq!(site.count("POST"), 0);
    }
    let evil = Site::new(
        |own, asked| match asked.line.contains("protected-resource") {
            true => reply(
                200,
                &json!({"resource": "https://evil.example/mcp", "authorization_servers": [own]}),
            ),
            false => well(own, asked, &json!({})),
        },
    )
    .await;
    let refused = begin(
        &client(None, &Clock::System),
        &spec(&format!("{}/mcp", evil.url)),
        &Challenge::default(),
    )
    .await;
    assert!(matches!(refused.err(), Some(Error::Unusable(_))));
}

#[tokio::test]
async fn an_answer_from_somebody_else_is_refused_before_its_code_is_sent() {
    for says_who in [true, false] {
        let more = json!({"authorization_response_iss_parameter_supported": says_who});
        let (site, spec, client) = site(more).await;
        let begun = begin(&client, &spec, &Challenge::default()).await.unwrap();
        let state = begun.pending.state().to_owned();
        let slash = format!("{}/", site.url);
        let (own, other) = (place("one", &site.url), place("one", &slash));
        let with = |state, iss| Returned {
            place: &own,
            state,
            iss,
            code: Some("c"),
            error: None,
        };
        let mut bad = vec![
            with("other", Some(site.url.as_str())),
            with("", Some(site.url.as_str())),
            with(&state, Some("https://evil.example")),
            with(&state, Some(&slash)),
        ];
        if says_who {
            bad.push(with(&state, None));
        }
        // The address of another server, or of another issuer.
        let elsewhere = [other, place("two", &site.url), String::new()];
        bad.extend(elsewhere.iter().map(|place| Returned {
            place,
            ..with(&state, Some(&site.url))
        }));
        for returned in &bad {
            let refused = client.finish(&begun.pending, returned).await;
            assert!(matches!(refused, Err(Error::Mismatch(_))), "{refused:?}");
        }
        let denied = Returned {
            code: None,
            error: Some("access_denied"),
            ..with(&state, Some(&site.url))
        };
        let denied = client.finish(&begun.pending, &denied).await.err().unwrap();
        assert_eq!(denied, Error::Refused("access_denied".to_owned()));
        assert_eq!(site.count("POST /token"), 0);
        let good = with(&state, Some(&site.url));
        client.finish(&begun.pending, &good).await.unwrap();
    }
}

#[tokio::test]
async fn a_secret_is_shown_to_the_issuer_that_stands_beside_it_and_to_no_other() {
    let meant = Site::new(|own, asked| well(own, asked, &json!({}))).await;
    let other = Site::new(|own, asked| well(own, asked, &json!({}))).await;
    let (first, second) = (other.url.clone(), meant.url.clone());
    let server = Site::new(move |own, asked| {
        let several = asked.line.ends_with("/several");
        let issuers = if several {
            vec![&first, &second]
        } else {
            vec![&first]
        };
        let resource = if several {
            format!("{own}/several")
        } else {
            format!("{own}/mcp")
        };
        match asked.line.contains("oauth-protected-resource") {
            true => reply(
                200,
                &json!({"resource": resource, "authorization_servers": issuers}),
            ),
            false => reply(404, &json!({})),
        }
    })
    .await;
    let client = client(None, &Clock::System);
    for is_machine in [true, false] {
        let mut spec = spec(&format!("{}/mcp", server.url));
        spec.client_id = Some("us".to_owned());
        spec.client_secret = Some(Secret::new("hand-secret".to_owned()));
        spec.is_machine = is_machine;
        for issuer in [
            None,
            Some(meant.url.clone()),
            Some(format!("{}/", other.url)),
        ] {
            spec.issuer = issuer;
            let refused = match is_machine {
                true => {
                    let own = Credential::new(client.clone(), spec.clone(), None, None);
                    Arc::new(own).renew(None, None).await
                }
                false => begin(&client, &spec, &Challenge::default()).await.map(drop),
            };
            let Err(Error::Unusable(why)) = refused else {
                panic!("{refused:?}");
            };
            assert!(why.contains("\"issuer\""), "{why}");
        }
        // Of several that the server names it is the one that was meant.
        spec.issuer = Some(meant.url.clone());
        spec.server_url = format!("{}/several", server.url);
        if is_machine {
            let own = Arc::new(Credential::new(client.clone(), spec, None, None));
            own.renew(None, None).await.unwrap();
            continue;
        }
        let begun = begin(&client, &spec, &Challenge::default()).await.unwrap();
        assert_eq!(begun.pending.issuer(), meant.url);
    }
    assert_eq!(other.count("POST"), 0, "no secret was sent");
    assert_eq!(meant.count("POST /token"), 1);
}
