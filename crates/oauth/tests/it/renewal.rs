//! A token is renewed in time, by one at a time, and what comes with it is kept.

use crate::site::{Site, client, grant, reply, spec};
use catalog::clock::Clock;
use oauth::{Challenge, Credential, Grant, Keeper, Keeping};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;

/// Remembers what it was to keep.
#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl Keeper for Kept {
    fn keep<'a>(&'a self, grant: &'a Grant) -> Keeping<'a> {
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
            assert!(renewed.unwrap());
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
    assert!(credential.renew(Some(before), None).await);
    assert_eq!(site.count("POST /token"), 1);
    assert_eq!(shown(&credential), "Bearer access-1");
}

#[tokio::test]
async fn what_was_refused_is_not_asked_again_and_nothing_of_it_is_told() {
    let (site, clock, kept) = (rotating().await, Clock::manual(1_000_000), Arc::default());
    let one = credential(&site, &clock, &kept);
    assert!(one.renew(one.header(), None).await);
    // Another holder of the same refresh token is too late.
    let other = credential(&site, &clock, &kept);
    for _ in 0..3 {
        assert!(!other.renew(other.header(), None).await);
        clock.advance(60_000);
    }
    assert_eq!(site.count("POST /token"), 2);
    other.set(grant(&site, clock.now()));
    assert!(!other.renew(other.header(), None).await);
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
        assert!(!credential.renew(credential.header(), None).await);
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
    assert!(credential.renew(credential.header(), None).await);
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
    assert!(!person.renew(person.header(), Some(wants.clone())).await);
    assert_eq!(site.count("POST /token"), 0);
    assert_eq!(person.wanted(), Some(wants.clone()));
    let mut spec = spec(&format!("{}/mcp", site.url));
    spec.is_machine = true;
    spec.client_id = Some("robot".to_owned());
    let machine = Arc::new(Credential::new(client(None, &clock), spec, None, None));
    let first = Challenge::read(r#"Bearer scope="read""#);
    assert!(machine.renew(None, Some(first)).await);
    assert_eq!(shown(&machine), "Bearer machine-1");
    assert!(machine.renew(machine.header(), Some(wants.clone())).await);
    assert_eq!(shown(&machine), "Bearer machine-2");
    assert!(
        !machine.renew(machine.header(), Some(wants)).await,
        "it has that by now"
    );
    assert_eq!(site.count("POST /token"), 2);
}

#[tokio::test]
async fn a_token_is_shown_to_the_server_it_was_given_for_and_to_no_other() {
    let site = rotating().await;
    let clock = Clock::manual(1_000_000);
    let elsewhere = spec("http://127.0.0.1:9/mcp");
    let moved = Credential::new(client(None, &clock), elsewhere, None, Some(grant(&site, 0)));
    assert_eq!(moved.header(), None);
}
