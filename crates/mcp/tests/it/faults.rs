//! What servers do wrong, over stdio: the call it concerns gets an error that says so, and nothing runs twice.

use crate::world::{Fake, LONG, World, call, names, settings, talk, text};
use mcp::upstream::{Params, Settings, State, UpstreamError};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn noise_is_not_heard_and_nothing_is_lost() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    for _ in 0..3 {
        let result = call(&one, "noise", json!({}), talk()).await.unwrap();
        assert_eq!(text(&result), "through");
    }
    let result = call(&one, "echo", json!({"text": "a"}), talk())
        .await
        .unwrap();
    // What we do not know is not ours to drop.
    assert_eq!(result["x-result"], 1);
    assert_eq!(result["content"][0]["x-content"], json!({"deep": [null]}));
    assert_eq!(one.lists().tools[0]["x-unknown"], json!({"a": [1, null]}));
    let neither = call(&one, "neither", json!({}), talk()).await.unwrap_err();
    assert!(matches!(neither, UpstreamError::Protocol(_)), "{neither:?}");
    assert_eq!(fake.count("start"), 1);
    // It is made for every call, and moved.
    let none = serde_json::Map::new();
    let request = one.request("tools/call", Params::Of(&none), talk());
    let bytes = std::mem::size_of_val(&request);
    assert!(bytes <= 5120, "a request has {bytes} bytes");
    drop(request);
    world.upstreams.close().await;
}

#[tokio::test]
async fn a_call_that_may_have_run_is_not_sent_again() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    for tool in ["die", "half"] {
        let lost = call(&one, tool, json!({}), talk()).await.unwrap_err();
        assert!(matches!(lost, UpstreamError::Lost { .. }), "{lost:?}");
        assert_eq!(fake.count(tool), 1);
        // The next one finds it started again.
        let result = call(&one, "echo", json!({"text": tool}), talk())
            .await
            .unwrap();
        assert_eq!(text(&result), tool);
    }
    assert!(one.status().cause.is_none(), "{:?}", one.status());
    // Unless whoever asks says that it may: then once more, and not for ever.
    let mut again = talk();
    again.may_repeat = true;
    let lost = call(&one, "die", json!({}), again).await.unwrap_err();
    assert!(
        matches!(&lost, UpstreamError::Lost { cause } if cause.contains("dying as asked")),
        "{lost:?}"
    );
    assert_eq!(fake.count("die"), 3);
    world.upstreams.close().await;
}

#[tokio::test]
async fn calls_of_others_are_lost_with_the_program_and_only_with_it() {
    let world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let other = Fake::new(&world, "modern");
    world.set(&json!({"one": fake.stdio(), "other": other.stdio()}));
    let one = world.upstreams.get("one").unwrap();
    let two = world.upstreams.get("other").unwrap();
    let waits = tokio::spawn({
        let one = std::sync::Arc::clone(&one);
        async move { call(&one, "hang", json!({}), talk()).await }
    });
    let beside = tokio::spawn(async move { call(&two, "hang", json!({}), talk()).await });
    fake.until("hang", 1).await;
    other.until("hang", 1).await;
    let _ = call(&one, "die", json!({}), talk()).await;
    let lost = waits.await.unwrap().unwrap_err();
    assert!(matches!(lost, UpstreamError::Lost { .. }), "{lost:?}");
    assert!(!beside.is_finished());
    beside.abort();
    world.upstreams.close().await;
}

#[tokio::test]
async fn too_much_is_not_taken() {
    let mut world = World::new(Settings {
        message_bytes_max: 1 << 20,
        stderr_bytes_kept: 1000,
        calls_max: 2,
        ..settings()
    });
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    let (large, small) = tokio::join!(
        call(&one, "big", json!({"bytes": 3 << 20}), talk()),
        call(&one, "echo", json!({"text": "b"}), talk()),
    );
    assert!(
        matches!(&large, Err(UpstreamError::Protocol(why)) if why.contains("longer")),
        "{large:?}"
    );
    assert_eq!(text(&small.unwrap()), "b");
    let fits = call(&one, "big", json!({"bytes": 1_000_000}), talk()).await;
    assert_eq!(text(&fits.unwrap()).len(), 1_000_000);
    let flooded = call(&one, "flood", json!({}), talk()).await.unwrap();
    assert_eq!(text(&flooded), "flooded");
    let ends = async {
        while !one.status().stderr.ends_with("the last words\n") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::world::LONG, ends)
        .await
        .unwrap();
    assert!(one.status().stderr.len() <= 1000);
    let hang = || call(&one, "hang", json!({}), talk());
    let third = async {
        fake.until("hang", 2).await;
        call(&one, "echo", json!({}), talk()).await.unwrap_err()
    };
    tokio::select! {
        _ = async { tokio::join!(hang(), hang()) } => panic!("they do not hang"),
        third = third => assert!(matches!(third, UpstreamError::Unavailable { .. }), "{third:?}"),
    }
    assert_eq!(fake.count("start"), 1);
    world.upstreams.close().await;
}

#[tokio::test]
async fn whoever_waits_too_long_leaves_and_the_server_is_told() {
    let mut world = World::new(settings());
    for era in ["legacy", "modern"] {
        let fake = Fake::new(&world, era);
        let one = world.one(fake.stdio()).await;
        let mut short = talk();
        short.deadline = Some(Instant::now() + Duration::from_millis(300));
        let late = call(&one, "hang", json!({}), short).await.unwrap_err();
        assert_eq!(late, UpstreamError::Late);
        fake.until("hang cancelled", 1).await;
        // The same when it is simply dropped.
        tokio::select! {
            _ = call(&one, "hang", json!({}), talk()) => panic!("it does not hang"),
            () = fake.until("hang", 2) => {}
        }
        fake.until("hang cancelled", 2).await;
        assert_eq!(fake.count("start"), 1);
    }
    world.upstreams.close().await;
}

#[tokio::test]
async fn one_that_cannot_start_says_why_and_is_given_up() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let mut server = fake.stdio();
    server["env"]["FAKE_BREAK"] = json!("crash");
    world.set(&json!({ "one": server }));
    let one = world.upstreams.get("one").unwrap();
    world
        .until(&one, |state| {
            matches!(state, State::Reconnecting { n: 1, of: 3 })
        })
        .await;
    world.until(&one, |state| *state == State::Failed).await;
    let status = one.status();
    assert_eq!(
        status.cause.as_deref(),
        Some("it ended with exit code 5: cannot find my settings")
    );
    assert_eq!(status.attempts, 4);
    assert_eq!(status.stderr, "cannot find my settings\n");
    let starts = fake.count("start");
    // Nobody asks, nothing is tried; somebody asks, and all who ask wait for one try.
    let asked = || call(&one, "echo", json!({}), talk());
    let (a, b, c) = tokio::join!(asked(), asked(), asked());
    for refused in [a, b, c] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(&refused, UpstreamError::Unavailable { state: State::Failed, cause, .. }
                if cause.contains("cannot find my settings")),
            "{refused:?}"
        );
    }
    // One try is two starts: once it is asked whether it is modern, and once the older way.
    assert!(
        fake.count("start") <= starts + 2,
        "{starts} {}",
        fake.count("start")
    );
    world.upstreams.close().await;
}

#[tokio::test]
async fn one_that_says_nothing_is_waited_for_so_long() {
    let mut world = World::new(Settings {
        // Time enough for its first words, also on a busy machine.
        connect_timeout: Duration::from_secs(6),
        retries: 0,
        ..settings()
    });
    let fake = Fake::new(&world, "legacy");
    let mut server = fake.stdio();
    server["env"]["FAKE_BREAK"] = json!("mute");
    world.set(&json!({ "one": server }));
    let one = world.upstreams.get("one").unwrap();
    world.until(&one, |state| *state == State::Failed).await;
    let cause = one.status().cause.unwrap();
    assert_eq!(
        cause,
        "it did not answer within 6 s; it says: Welcome! I am not a server."
    );
    world.upstreams.close().await;
    fake.all_gone().await;
}

/// Servers that cannot bear the question whether they are modern, or do not answer it.
#[tokio::test]
async fn older_servers_are_found_out_in_any_case() {
    let mut world = World::new(Settings {
        probe_timeout: Duration::from_millis(200),
        ..settings()
    });
    for how in ["die-at-discover", "ignore-discover"] {
        let fake = Fake::new(&world, "legacy");
        let mut server = fake.stdio();
        server["env"]["FAKE_BREAK"] = json!(how);
        let one = world.one(server).await;
        assert_eq!(one.status().era, Some(mcp::wire::Era::Legacy));
        let result = call(&one, "echo", json!({"text": how}), talk())
            .await
            .unwrap();
        assert_eq!(text(&result), how);
        // Once known, it is not asked again.
        let starts = fake.count("start");
        let _ = call(&one, "die", json!({}), talk()).await;
        call(&one, "echo", json!({}), talk()).await.unwrap();
        assert_eq!(fake.count("start"), starts + 1, "{how}");
    }
    world.upstreams.close().await;
}

/// Killed from outside under load, again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_deaths() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "modern");
    let one = world.one(fake.stdio()).await;
    // It may not be known yet that it is dead, and on a busy machine it takes its time to come back.
    let comes_back = async || loop {
        match call(&one, "pid", json!({}), talk()).await {
            Ok(pid) => return pid,
            Err(UpstreamError::Lost { .. } | UpstreamError::Unavailable { .. }) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(other) => panic!("{other:?}"),
        }
    };
    let comes_back = async || tokio::time::timeout(LONG, comes_back()).await.unwrap();
    let (mut answered, mut lost) = (Vec::new(), 0);
    for death in 0..50 {
        let pid = comes_back().await;
        let load = (0..20).map(|i| {
            let one = std::sync::Arc::clone(&one);
            let n = death * 20 + i;
            tokio::spawn(async move { (n, call(&one, "count", json!({ "n": n }), talk()).await) })
        });
        let load: Vec<_> = load.collect();
        kill(text(&pid));
        for call in load {
            match call.await.unwrap() {
                (n, Ok(_)) => answered.push(format!("count {n}")),
                (_, Err(UpstreamError::Lost { .. } | UpstreamError::Unavailable { .. })) => {
                    lost += 1;
                }
                (n, Err(other)) => panic!("call {n}: {other:?}"),
            }
        }
    }
    comes_back().await;
    let mut ran = fake.lines();
    ran.retain(|line| line.starts_with("count "));
    let times = ran.len();
    ran.sort_unstable();
    ran.dedup();
    assert_eq!(ran.len(), times, "something ran twice");
    assert!(answered.iter().all(|one| ran.binary_search(one).is_ok()));
    assert_eq!(answered.len() + lost, 1000);
    world.upstreams.close().await;
    fake.all_gone().await;
}

/// The one way to end a program that we did not start ourselves: by its id, which it told us.
fn kill(pid: &str) {
    let killed = std::process::Command::new("kill")
        .args(["-9", pid])
        .status();
    assert!(killed.unwrap().success());
}

#[tokio::test]
async fn nothing_is_left_of_what_was_removed() {
    let mut world = World::new(settings());
    let (a, b) = (Fake::new(&world, "legacy"), Fake::new(&world, "modern"));
    world.set(&json!({"a": a.stdio(), "b": b.stdio()}));
    for name in ["a", "b"] {
        let one = world.upstreams.get(name).unwrap();
        world.until(&one, |state| *state == State::Connected).await;
    }
    let kept = world.upstreams.get("a").unwrap();
    let mut changed = b.stdio();
    changed["env"]["OWN"] = json!("new");
    world.set(&json!({"a": a.stdio(), "b": changed}));
    let b_now = world.upstreams.get("b").unwrap();
    world
        .until(&b_now, |state| *state == State::Connected)
        .await;
    assert!(std::sync::Arc::ptr_eq(
        &kept,
        &world.upstreams.get("a").unwrap()
    ));
    assert_eq!((a.count("start"), b.count("start")), (1, 2));
    let place = call(&b_now, "where", json!({}), talk()).await.unwrap();
    let folder = world.folder.path().canonicalize().unwrap();
    let expected = json!([folder, {"BASE": "base", "BOTH": "own", "OWN": "new", "SECRET": null}]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(text(&place)).unwrap(),
        expected
    );
    world.set(&json!({"a": a.stdio()}));
    assert!(world.upstreams.get("b").is_none());
    b.all_gone().await;
    let gone = call(&b_now, "echo", json!({}), talk()).await.unwrap_err();
    assert!(
        matches!(gone, UpstreamError::Unavailable { .. }),
        "{gone:?}"
    );
    world.upstreams.close().await;
    a.all_gone().await;
}

/// Also where it was not yet connected when it was removed.
#[tokio::test]
async fn nothing_is_left_of_what_was_about_to_connect() {
    let world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let mut server = fake.stdio();
    server["env"]["FAKE_BREAK"] = json!("slow-list");
    world.set(&json!({ "one": server }));
    fake.until("lists", 1).await;
    world.set(&json!({}));
    fake.all_gone().await;
    world.upstreams.close().await;
}

#[tokio::test]
async fn lists_have_all_pages_and_change() {
    let mut world = World::new(settings());
    for era in ["legacy", "modern"] {
        let fake = Fake::new(&world, era);
        let mut server = fake.stdio();
        server["env"]["FAKE_PAGES"] = json!("1");
        let one = world.one(server).await;
        let before = one.lists();
        assert_eq!(names(&before.tools)[..3], ["echo", "count", "odd"]);
        call(&one, "grow", json!({"times": 500}), talk())
            .await
            .unwrap();
        let grown = async {
            while !names(&one.lists().tools).contains(&"grown0") {
                world.notices.recv().await.unwrap();
            }
        };
        tokio::time::timeout(crate::world::LONG, grown)
            .await
            .unwrap();
        // The list of before is kept while there is no other.
        let _ = call(&one, "die", json!({}), talk()).await;
        assert!(names(&one.lists().tools).contains(&"grown0"));
        call(&one, "echo", json!({}), talk()).await.unwrap();
        assert!(
            !names(&one.lists().tools).contains(&"grown0"),
            "it has forgotten"
        );
    }
    world.upstreams.close().await;
}

#[tokio::test]
async fn a_list_or_calls_that_fail_show_in_the_state() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let mut server = fake.stdio();
    server["env"]["FAKE_BREAK"] = json!("no-list");
    world.set(&json!({ "one": server }));
    let one = world.upstreams.get("one").unwrap();
    world.until(&one, |state| *state == State::Degraded).await;
    let cause = one.status().cause.unwrap();
    assert!(
        cause.contains("list of tools") && cause.contains("the list is broken"),
        "{cause}"
    );
    call(&one, "echo", json!({}), talk()).await.unwrap();
    let one = world.one(fake.stdio()).await;
    for n in 1..=3 {
        assert_eq!(one.status().state, State::Connected, "before {n}");
        call(&one, "neither", json!({}), talk()).await.unwrap_err();
    }
    assert_eq!(one.status().state, State::Degraded);
    call(&one, "echo", json!({}), talk()).await.unwrap();
    assert_eq!(
        (one.status().state, one.status().cause),
        (State::Connected, None)
    );
    world.upstreams.close().await;
}

#[tokio::test]
async fn whoever_wants_another_connection_gets_one() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "modern");
    let one = world.one(fake.stdio()).await;
    let before = one.status().pid;
    one.reconnect();
    world.until(&one, |state| *state == State::Starting).await;
    world.until(&one, |state| *state == State::Connected).await;
    assert_ne!(one.status().pid, before);
    assert_eq!(fake.count("start"), 2);
    world.upstreams.close().await;
}
