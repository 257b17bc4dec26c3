//! A token is renewed in time, by one at a time, and what comes with it is kept.

use crate::site::{Site, client, grant, reply, spec};
use catalog::clock::Clock;
use oauth::{Challenge, Credential, Error, Grant, Keeper, Keeping};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

/// Remembers what it was to keep.
#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl Keeper for Kept {
    fn keep<'a>(&'a self, _old: Option<&'a Grant>, grant: &'a Grant) -> Keeping<'a> {
        let token = grant.refresh_token.as_ref().unwrap();
        self.0.lock().unwrap().push(token.expose().to_owned());
        Box::pin(async { Ok(()) })
    }
}

/// Gives access-1 and refresh-1 for refresh-0, and so on; a refresh token is good once.
async fn rotating() -> Site {
    let given = AtomicUsize::new(0);
    Site::new(move |_, asked| {
        let number = given.load(Ordering::SeqCst);
        let expected = format!("grant_type=refresh_token&refresh_token=refresh-{number}&resource=");
        if !asked.body.starts_with(&expected) {
            return reply(400, &json!({"error": "invalid_grant", "error_description": "refresh-0 is spent"}));
        }
        let number = given.fetch_add(1, Ordering::SeqCst) + 1;
        reply(
            200,
            &json!({"access_token": format!("access-{number}"), "token_type": "Bearer", "expires_in": 3600,
                "refresh_token": format!("refresh-{number}")}),
        )
    })
    .await
}

fn credential(site: &Site, clock: &Clock, kept: &Arc<Kept>) -> Arc<Credential> {
    let spec = spec(&format!("{}/mcp", site.url));
    let grant = grant(site, clock.now());
    let keeper = Some(Arc::clone(kept) as _);
    Arc::new(Credential::new(
        client(None, clock),
        spec,
        keeper,
        Some(grant),
    ))
}

fn shown(credential: &Credential) -> String {
    let header = credential.header().unwrap();
    assert!(header.is_sensitive());
    header.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn many_at_once_make_one_refresh_and_each_rotation_is_kept() {
    let (site, clock, kept) = (rotating().await, Clock::manual(1_000_000), Arc::default());
    let credential = credential(&site, &clock, &kept);
    for round in 1..=3 {
        assert!(!credential.is_stale());
        clock.advance(3_540_000);
        assert!(credential.is_stale(), "a minute before its end");
        let mut all = JoinSet::new();
        for _ in 0..50 {
            let credential = Arc::clone(&credential);
            let before = credential.header();
            all.spawn(async move { credential.renew(before, None).await });
        }
        while let Some(renewed) = all.join_next().await {
            renewed.unwrap().unwrap();
        }
        assert_eq!(site.count("POST /token"), round);
        assert_eq!(shown(&credential), format!("Bearer access-{round}"));
    }
    assert_eq!(
        *kept.0.lock().unwrap(),
        ["refresh-1", "refresh-2", "refresh-3"]
    );
}

#[tokio::test]
async fn a_refresh_goes_on_although_nobody_waits() {
    let (site, clock, kept) = (rotating().await, Clock::manual(1_000_000), Arc::default());
    let credential = credential(&site, &clock, &kept);
    {
        let renewal = credential.renew(credential.header(), None);
        // Begun, and given up at once.
        tokio::select! {
            biased;
            _ = renewal => panic!("it takes a while"),
            () = std::future::ready(()) => {}
        }
    }
    // Whoever comes next finds the new token, or waits for it.
    let before = fetch::HeaderValue::from_static("Bearer access-0");
    credential.renew(Some(before), None).await.unwrap();
    assert_eq!(site.count("POST /token"), 1);
    assert_eq!(shown(&credential), "Bearer access-1");
}

#[tokio::test]
async fn what_was_refused_is_not_asked_again_and_nothing_of_it_is_told() {
    let (site, clock, kept) = (rotating().await, Clock::manual(1_000_000), Arc::default());
    let one = credential(&site, &clock, &kept);
    one.renew(one.header(), None).await.unwrap();
    // Another holder of the same refresh token is too late.
    let other = credential(&site, &clock, &kept);
    for _ in 0..3 {
        let refused = other.renew(other.header(), None).await;
        assert_eq!(refused, Err(Error::Refused("invalid_grant".to_owned())));
        assert!(other.is_spent());
        clock.advance(60_000);
    }
    assert_eq!(site.count("POST /token"), 2);
    other.set(grant(&site, clock.now()));
    assert!(!other.is_spent());
    assert!(other.renew(other.header(), None).await.is_err());
    assert_eq!(
        site.count("POST /token"),
        3,
        "who signs in again may try again"
    );
}

#[tokio::test]
async fn a_server_that_is_away_is_asked_again_later() {
    let up = Arc::new(AtomicUsize::new(0));
    let answers = Arc::clone(&up);
    let site = Site::new(move |_, _| match answers.load(Ordering::SeqCst) {
        0 => reply(503, &json!({})),
        _ => reply(200, &json!({"access_token": "access-1"})),
    })
    .await;
    let (clock, kept) = (Clock::manual(1_000_000), Arc::default());
    let credential = credential(&site, &clock, &kept);
    for _ in 0..3 {
        let away = credential.renew(credential.header(), None).await;
        assert!(matches!(away, Err(Error::Unreachable(_))), "{away:?}");
        assert!(!credential.is_spent());
    }
    assert_eq!(
        site.count("POST /token"),
        1,
        "those who wait do not ask one after the other"
    );
    assert_eq!(
        shown(&credential),
        "Bearer access-0",
        "which may still be good"
    );
    up.store(1, Ordering::SeqCst);
    clock.advance(5_000);
    credential.renew(credential.header(), None).await.unwrap();
    assert_eq!(shown(&credential), "Bearer access-1");
    assert_eq!(
        *kept.0.lock().unwrap(),
        ["refresh-0"],
        "no new one was given, so the old one stays"
    );
}

#[tokio::test]
async fn more_scope_is_for_a_person_to_give_and_for_a_machine_to_ask_for_once() {
    let site = Site::new(|own, asked| match asked.line.as_str() {
        "POST /token" if asked.body.contains("client_credentials") => {
            let more = asked.body.contains("scope=write+read");
            let given = if more { "machine-2" } else { "machine-1" };
            reply(200, &json!({"access_token": given, "expires_in": 60}))
        }
        _ => crate::site::well(own, asked, &json!({})),
    })
    .await;
    let (clock, kept) = (Clock::manual(1_000_000), Arc::default());
    let wants = Challenge::read(r#"Bearer error="insufficient_scope", scope="write""#);
    let person = credential(&site, &clock, &kept);
    let refused = person.renew(person.header(), Some(wants.clone())).await;
    assert_eq!(
        refused,
        Err(Error::Refused("insufficient_scope".to_owned()))
    );
    assert_eq!(site.count("POST /token"), 0);
    assert_eq!(person.wanted(), Some(wants.clone()));
    // It is wanted until somebody gives it, whatever else happens to the token meanwhile.
    let plain = Challenge::read(r#"Bearer error="invalid_token""#);
    person.renew(person.header(), Some(plain)).await.unwrap();
    assert_eq!(shown(&person), "Bearer given");
    assert_eq!(person.wanted(), Some(wants.clone()));
    person.set(grant(&site, clock.now()));
    assert_eq!(person.wanted(), None);
    let mut spec = spec(&format!("{}/mcp", site.url));
    spec.is_machine = true;
    spec.client_id = Some("robot".to_owned());
    let machine = Arc::new(Credential::new(client(None, &clock), spec, None, None));
    let first = Challenge::read(r#"Bearer scope="read""#);
    machine.renew(None, Some(first)).await.unwrap();
    assert_eq!(shown(&machine), "Bearer machine-1");
    let more = machine.renew(machine.header(), Some(wants.clone())).await;
    more.unwrap();
    assert_eq!(shown(&machine), "Bearer machine-2");
    assert!(
        machine.renew(machine.header(), Some(wants)).await.is_err(),
        "it has that by now"
    );
    assert_eq!(site.count("POST /token"), 3);
}

/// However long a token endpoint takes to fail, those who waited for it do not ask one after the other.
#[tokio::test]
async fn who_waited_for_a_failure_does_not_ask_again() {
    let clock = Clock::manual(1_000_000);
    let time = clock.clone();
    let site = Site::new(move |_, _| {
        time.advance(10_000);
        reply(503, &json!({}))
    })
    .await;
    let credential = credential(&site, &clock, &Arc::default());
    let mut all = JoinSet::new();
    for _ in 0..20 {
        let credential = Arc::clone(&credential);
        all.spawn(async move { credential.renew(credential.header(), None).await });
    }
    while let Some(renewed) = all.join_next().await {
        assert!(renewed.unwrap().is_err());
    }
    assert_eq!(site.count("POST /token"), 1);
}

/// A token endpoint that takes a connection and says nothing before it is let.
async fn hanging(site: &Site) -> (tokio::net::TcpListener, Grant) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut grant = grant(site, 1_000_000);
    grant.token_endpoint = format!("http://{address}/token");
    (listener, grant)
}

#[tokio::test]
async fn nobody_waits_for_a_renewal_while_the_token_is_good() {
    let (site, clock) = (rotating().await, Clock::manual(1_000_000));
    let (listener, old) = hanging(&site).await;
    let credential = credential(&site, &clock, &Arc::default());
    credential.set(old);
    clock.advance(3_550_000);
    assert!(credential.is_stale());
    let first = Arc::clone(&credential);
    let mut first = tokio::spawn(async move { first.freshen().await });
    let (asked, _) = listener.accept().await.unwrap();
    for _ in 0..20 {
        credential.freshen().await;
        assert_eq!(shown(&credential), "Bearer access-0");
    }
    assert!(!first.is_finished());
    // Once it is over, they do.
    clock.advance(60_000);
    let late = Arc::clone(&credential);
    let mut late = tokio::spawn(async move { late.freshen().await });
    tokio::select! {
        biased;
        _ = &mut late => panic!("it does not wait"),
        () = tokio::task::yield_now() => {}
    }
    drop((asked, listener));
    (&mut first).await.unwrap();
    late.await.unwrap();
}

/// What is under way when somebody signs in anew neither takes the place of that nor speaks against it.
#[tokio::test]
async fn a_renewal_that_is_overtaken_by_a_sign_in_is_dropped() {
    let (site, clock) = (rotating().await, Clock::manual(1_000_000));
    for answer in [
        r#"{"access_token": "late", "refresh_token": "late"}"#,
        r#"{"error": "invalid_grant"}"#,
    ] {
        let (listener, old) = hanging(&site).await;
        let kept: Arc<Kept> = Arc::default();
        let credential = credential(&site, &clock, &kept);
        credential.set(old);
        let late = Arc::clone(&credential);
        let late = tokio::spawn(async move { late.renew(late.header(), None).await });
        let (mut asked, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        assert!(asked.read(&mut request).await.unwrap() > 0);
        let mut anew = grant(&site, clock.now());
        anew.access_token = catalog::secret::Secret::new("anew".to_owned());
        credential.set(anew);
        let status = if answer.contains("error") { 400 } else { 200 };
        let length = answer.len();
        let text = format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}"
        );
        asked.write_all(text.as_bytes()).await.unwrap();
        let late = late.await.unwrap();
        assert_eq!(late.is_ok(), status == 200, "{late:?}");
        assert_eq!(shown(&credential), "Bearer anew");
        assert!(!credential.is_spent(), "{answer}");
        assert!(kept.0.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn only_a_plain_no_gives_a_refresh_token_up() {
    let no = json!({"error": "invalid_grant"});
    for (status, body, is_over) in [
        (400, no.clone(), true),
        (401, json!({"error": "invalid_client"}), true),
        (400, json!({"error": "slow_down"}), false),
        (400, json!({}), false),
        (403, no.clone(), false),
        (404, json!({}), false),
        (429, no.clone(), false),
        (500, no.clone(), false),
        (503, json!({}), false),
        (302, no, false),
    ] {
        let site = Site::new(move |_, _| reply(status, &body)).await;
        let credential = credential(&site, &Clock::manual(1_000_000), &Arc::default());
        let refused = credential.renew(credential.header(), None).await;
        let expected = match is_over {
            true => matches!(refused, Err(Error::Refused(_))),
            false => matches!(refused, Err(Error::Unreachable(_))),
        };
        assert!(expected, "{status}: {refused:?}");
        assert_eq!(credential.is_spent(), is_over, "{status}");
    }
}

#[tokio::test]
async fn a_token_is_shown_to_the_server_it_was_given_for_and_to_no_other() {
    let site = rotating().await;
    let clock = Clock::manual(1_000_000);
    let elsewhere = spec("http://127.0.0.1:9/mcp");
    let moved = Credential::new(client(None, &clock), elsewhere, None, Some(grant(&site, 0)));
    assert_eq!(moved.header(), None);
}
