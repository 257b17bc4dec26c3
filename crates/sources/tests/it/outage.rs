//! A server that restarts, stands still, is full, or is cut off: errors in time, and everything as before soon after.

use crate::cluster::{Cluster, open};
use crate::{call, json, read, within};
use serde_json::Value;
use sources::{Call, Error, PostgresConfig, Shape, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long calls may take while the server is away, and how much later than that they may end.
const DEADLINE: Duration = Duration::from_millis(800);
const LATE_MAX: Duration = Duration::from_secs(5);

/// Three seconds where it is shown by itself; among all other tests a machine may be busy.
fn recovery_max() -> Duration {
    Duration::from_secs(if pause() > PAUSE { 3 } else { 15 })
}

const PAUSE: Duration = Duration::from_secs(2);

#[expect(
    clippy::disallowed_methods,
    reason = "how long the pause lasts comes from the environment"
)]
fn pause() -> Duration {
    let seconds = std::env::var("TOOLCRIB_TEST_PAUSE_SECONDS").ok();
    Duration::from_secs(seconds.map_or(PAUSE.as_secs(), |seconds| seconds.parse().unwrap()))
}

/// Calls one after another on several tasks until told to stop; each is timed and its error looked at.
struct Load {
    tasks: JoinSet<()>,
    ends: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
}

impl Load {
    fn start(source: &Source) -> Load {
        let mut load = Load {
            tasks: JoinSet::new(),
            ends: Arc::default(),
            done: Arc::default(),
            failed: Arc::default(),
        };
        for number in 0..4 {
            let (source, ends) = (source.clone(), Arc::clone(&load.ends));
            let (done, failed) = (Arc::clone(&load.done), Arc::clone(&load.failed));
            load.tasks.spawn(async move {
                while !ends.load(Ordering::Relaxed) {
                    let call = Call {
                        tool: format!("tool{number}").into(),
                        ..within(Shape::Scalar, DEADLINE)
                    };
                    match timed(&source, "SELECT count(*) FROM pg_class", &call).await {
                        Ok(()) => done.fetch_add(1, Ordering::Relaxed),
                        Err(_) => failed.fetch_add(1, Ordering::Relaxed),
                    };
                    tokio::task::yield_now().await;
                }
            });
        }
        load
    }

    async fn until(&self, counter: &AtomicU64, more: u64) {
        let target = counter.load(Ordering::Relaxed) + more;
        let since = Instant::now();
        while counter.load(Ordering::Relaxed) < target {
            assert!(
                since.elapsed() < Duration::from_secs(20),
                "nothing happens any more"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn end(mut self) {
        self.ends.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }
}

/// A call that either works or fails in time, with an error that says to try later.
async fn timed(source: &Source, sql: &str, call: &Call) -> Result<(), Error> {
    let asked = Instant::now();
    let answer = read(source, sql, Value::Null, call).await;
    let took = asked.elapsed();
    assert!(took < DEADLINE + LATE_MAX, "{took:?}: {answer:?}");
    match answer {
        Ok(_) => Ok(()),
        Err(error @ (Error::Deadline | Error::Unavailable { .. })) => Err(error),
        Err(other) => panic!("{other:?}"),
    }
}

/// Asks until it works, with the deadline that people have.
async fn recovers(source: &Source, since: Instant) {
    loop {
        let answer = read(source, "SELECT 1", Value::Null, &call(Shape::Scalar)).await;
        let took = since.elapsed();
        assert!(took < recovery_max(), "{took:?}: {answer:?}");
        if answer.is_ok() {
            println!("works again after {took:?}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_restart_is_survived() {
    let Some(mut cluster) = Cluster::start(&[], |_| {}).await else {
        return;
    };
    let source = open(cluster.config());
    let load = Load::start(&source);
    load.until(&load.done, 20).await;
    for signal in ["INT", "QUIT", "INT"] {
        cluster.stop(signal).await;
        load.until(&load.failed, 8).await;
        assert!(
            source.failure().is_some(),
            "nobody would see that it is away"
        );
        cluster.start_again().await;
        recovers(&source, Instant::now()).await;
        load.until(&load.done, 20).await;
    }
    load.end().await;
    recovers(&source, Instant::now()).await;
    assert_eq!(source.failure(), None);
    cluster.until_sessions(8).await;
}

#[tokio::test]
async fn a_pause_is_survived() {
    let Some(cluster) = Cluster::start(&[], |_| {}).await else {
        return;
    };
    let source = open(cluster.config());
    let load = Load::start(&source);
    load.until(&load.done, 20).await;
    let length = pause();
    cluster.signal_all("STOP");
    let paused = Instant::now();
    load.until(&load.failed, 4).await;
    tokio::time::sleep(length.saturating_sub(paused.elapsed())).await;
    // Nobody waits longer than told to, at any time of the pause.
    let failed = load.failed.load(Ordering::Relaxed);
    assert!(failed >= 4, "{failed}");
    assert!(
        source.failure().is_some(),
        "nobody would see that it is silent"
    );
    cluster.signal_all("CONT");
    recovers(&source, Instant::now()).await;
    load.until(&load.done, 20).await;
    load.end().await;
    // Lines that were given up during the pause are gone from the server, and so are their queries.
    cluster.until_sessions(8).await;
}

#[tokio::test]
async fn a_full_server_says_so_and_is_used_again_when_it_has_room() {
    let settings = [
        ("max_connections", "6"),
        ("superuser_reserved_connections", "3"),
    ];
    let Some(cluster) = Cluster::start(&settings, |_| {}).await else {
        return;
    };
    let source = open(cluster.config());
    let url = format!("postgres://reader@127.0.0.1:{}/postgres", cluster.port);
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(crate::server::connect(&url).await);
    }
    for _ in 0..5 {
        let error = timed(&source, "SELECT 1", &within(Shape::Scalar, DEADLINE))
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("too many clients")
                || error.to_string().contains("remaining connection slots"),
            "{error}"
        );
    }
    drop(others);
    recovers(&source, Instant::now()).await;
    // More callers than the server has places: those who get none are told in time, and nothing is left over.
    let mut crowd = JoinSet::new();
    for number in 0..16 {
        let source = source.clone();
        crowd.spawn(async move {
            let call = Call {
                tool: format!("tool{number}").into(),
                ..within(Shape::Scalar, DEADLINE)
            };
            timed(&source, "SELECT pg_sleep(0.05)", &call).await
        });
    }
    let answers = crowd.join_all().await;
    assert!(answers.iter().any(Result::is_ok), "{answers:?}");
    recovers(&source, Instant::now()).await;
    cluster.until_sessions(3).await;
}

/// Passes on what comes in, or swallows it without a word.
async fn proxy(to: u16) -> (u16, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (swallows, swallowing) = watch::channel(false);
    tokio::spawn(async move {
        let mut held = JoinSet::new();
        while let Ok((mut near, _)) = listener.accept().await {
            let mut swallowing = swallowing.clone();
            held.spawn(async move {
                if !*swallowing.borrow() {
                    let mut far = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => return,
                        _ = swallowing.wait_for(|swallows| *swallows) => {}
                    }
                }
                // The other side never learns that anything is wrong.
                let mut nothing = tokio::io::sink();
                drop(tokio::io::copy(&mut near, &mut nothing).await);
            });
        }
    });
    (port, swallows)
}

#[tokio::test]
async fn a_line_that_swallows_everything_is_given_up() {
    let Some(cluster) = Cluster::start(&[], |_| {}).await else {
        return;
    };
    let (port, swallows) = proxy(cluster.port).await;
    let source = open(cluster.config_at(port));
    let load = Load::start(&source);
    load.until(&load.done, 20).await;
    swallows.send(true).unwrap();
    load.until(&load.failed, 8).await;
    swallows.send(false).unwrap();
    recovers(&source, Instant::now()).await;
    load.end().await;
    // Cut while nobody looks: the first call finds a dead line and takes another one long before its own deadline.
    swallows.send(true).unwrap();
    swallows.send(false).unwrap();
    let cut = Instant::now();
    tokio::task::yield_now().await;
    recovers(&source, cut).await;
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    cluster.until_sessions(8).await;
}

/// The place of a query is kept until the server is done with it. Of one whose line is cut nothing is ever heard: the server
/// is asked for it.
#[tokio::test]
async fn a_line_cut_in_the_middle_of_a_query_gives_its_place_back() {
    let Some(cluster) = Cluster::start(&[], |_| {}).await else {
        return;
    };
    let (port, swallows) = proxy(cluster.port).await;
    let source = open(PostgresConfig {
        connections_max: 1,
        ..cluster.config_at(port)
    });
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    let asked = tokio::spawn({
        let source = source.clone();
        let late = within(Shape::Scalar, Duration::from_secs(2));
        async move { read(&source, "SELECT pg_sleep(60)", Value::Null, &late).await }
    });
    let admin = cluster.admin().await;
    let running = "SELECT 1 FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active' AND query LIKE 'FETCH%'";
    while admin.query(running, &[]).await.unwrap().is_empty() {
        assert!(!asked.is_finished());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    swallows.send(true).unwrap();
    let answer = asked.await.unwrap();
    assert!(matches!(answer, Err(Error::Deadline)), "{answer:?}");
    swallows.send(false).unwrap();
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
}
