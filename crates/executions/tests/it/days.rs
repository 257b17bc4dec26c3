//! Days: rotation at midnight, rows in their own day, retention.

use crate::place::{DAY, HOUR, NOON, Place, execution, on_both};
use executions::{Execution, Filter, Options, Span, Status};
use std::time::{Duration, Instant};

on_both!(
    rotation_and_late_finishes,
    retention_when_the_day_turns,
    retention_at_open,
    retention_by_room,
    replicas_open_at_once,
    retention_holds_up_nobody_who_writes,
    a_log_of_an_earlier_version_goes_on,
    a_log_that_knew_only_builtins_goes_on
);

async fn rotation_and_late_finishes(place: Place) {
    let log = place.open().await;
    let before = execution("slow", NOON + 11 * HOUR, Status::Started);
    log.started(before.clone()).await.unwrap();
    place.clock.advance(13 * HOUR);
    let after = execution("quick", place.clock.now(), Status::Success);
    log.finish(after.clone()).await.unwrap();
    let finished = Execution {
        status: Status::Success,
        elapsed_us: 2,
        ..before.clone()
    };
    log.finish(finished.clone()).await.unwrap();
    assert_eq!(
        log.list(Filter::default()).await.unwrap().items,
        [after, finished]
    );
    let days = place.days().await;
    assert!(
        days.starts_with(&["20261115".to_owned(), "20261116".to_owned()]),
        "{days:?}"
    );
}

async fn retention_when_the_day_turns(place: Place) {
    let log = place
        .open_with(Options {
            retention_days: 2,
            ..Options::default()
        })
        .await;
    let oldest = execution("x", NOON - 2 * DAY, Status::Success);
    let newer = execution("x", NOON - DAY, Status::Success);
    log.finish(oldest.clone()).await.unwrap();
    log.finish(newer.clone()).await.unwrap();
    assert!(log.get(oldest.id).await.unwrap().is_some());
    log.maintain().await.unwrap();
    assert!(
        log.get(oldest.id).await.unwrap().is_some(),
        "two days back are kept"
    );
    place.clock.advance(DAY);
    log.maintain().await.unwrap();
    assert_eq!(log.get(oldest.id).await.unwrap(), None);
    assert!(log.get(newer.id).await.unwrap().is_some());
    assert_eq!(place.days().await.first().unwrap(), "20261114");
    // A row for a day that retention has taken still finds a place.
    log.finish(oldest.clone()).await.unwrap();
    assert!(log.get(oldest.id).await.unwrap().is_some());
}

async fn retention_at_open(place: Place) {
    let log = place.open().await;
    for days in 0..4 {
        log.finish(execution("x", NOON - days * DAY, Status::Success))
            .await
            .unwrap();
    }
    log.close().await.unwrap();
    let again = place
        .open_with(Options {
            retention_days: 1,
            ..Options::default()
        })
        .await;
    assert_eq!(again.list(Filter::default()).await.unwrap().items.len(), 2);
    assert_eq!(place.days().await.first().unwrap(), "20261114");
}

/// The oldest days go until the rest fits; today stays, however much it takes.
async fn retention_by_room(place: Place) {
    let log = place.open().await;
    for days in 0..4 {
        log.finish(execution("x", NOON - days * DAY, Status::Success))
            .await
            .unwrap();
    }
    let days = |log: &executions::ExecutionLog| {
        let log = log.clone();
        async move { log.list(Filter::default()).await.unwrap().items.len() }
    };
    log.maintain().await.unwrap();
    let all = log.room();
    assert!(all.bytes > 0 && !all.is_exceeded, "{all:?}");
    assert_eq!((all.bytes_max, days(&log).await), (0, 4));
    log.close().await.unwrap();

    let bounded = |retention_bytes, retention_days| Options {
        retention_bytes,
        retention_days,
        ..Options::default()
    };
    let log = place.open_with(bounded(all.bytes - 1, 30)).await;
    assert_eq!(days(&log).await, 3);
    let room = log.room();
    assert!(room.bytes < all.bytes && room.bytes > 0, "{room:?}");
    assert_eq!(all.days - room.days, 1);
    assert_eq!(place.days().await.first().unwrap(), "20261113");
    log.close().await.unwrap();

    let log = place.open_with(bounded(all.bytes, 1)).await;
    assert_eq!(days(&log).await, 2, "the age counts as well");
    log.close().await.unwrap();

    let log = place.open_with(bounded(1, 30)).await;
    assert_eq!(days(&log).await, 1);
    assert!(log.room().is_exceeded, "{:?}", log.room());
    let row = execution("x", NOON + 1, Status::Success);
    log.finish(row.clone()).await.unwrap();
    log.maintain().await.unwrap();
    assert!(log.get(row.id).await.unwrap().is_some());

    // The day turns, and yesterday goes.
    place.clock.advance(DAY);
    log.maintain().await.unwrap();
    assert_eq!(days(&log).await, 0);
}

async fn replicas_open_at_once(place: Place) {
    // One process owns a folder; a database has many.
    let count = if place.database.is_some() { 6 } else { 1 };
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..count {
        let place = place.clone();
        tasks.spawn(async move {
            let log = place
                .open_with(Options {
                    node: format!("node-{number}").into(),
                    ..Options::default()
                })
                .await;
            // A day that none of them has made ahead.
            log.finish(execution("x", NOON - 5 * DAY, Status::Success))
                .await
                .unwrap();
        });
    }
    tasks.join_all().await;
    let log = place.open().await;
    assert_eq!(log.stats(Span::default()).await.unwrap().total, count);
    if place.database.is_some() {
        // Another replica's retention takes a partition that this one still believes in.
        log.finish(execution("x", NOON - 5 * DAY, Status::Success))
            .await
            .unwrap();
        place
            .open_with(Options {
                retention_days: 1,
                ..Options::default()
            })
            .await;
        assert_eq!(log.stats(Span::default()).await.unwrap().total, 0);
        log.finish(execution("x", NOON - 5 * DAY, Status::Success))
            .await
            .unwrap();
    }
}

/// Somebody reads for long: dropping an old day has to wait for them, and whoever writes must not wait for that.
async fn retention_holds_up_nobody_who_writes(place: Place) {
    if place.database.is_none() {
        return;
    }
    let log = place.open().await;
    let old = execution("x", NOON - 5 * DAY, Status::Success);
    log.finish(old).await.unwrap();
    let pool = place.pool().await;
    let mut reader = pool.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM executions")
        .execute(&mut *reader)
        .await
        .unwrap();
    let bounded = || Options {
        retention_days: 1,
        ..Options::default()
    };
    let retention = async { tokio::join!(place.open_with(bounded()), place.open_with(bounded())) };
    let writing = async {
        let mut slowest = Duration::ZERO;
        let until = Instant::now() + Duration::from_secs(3);
        while Instant::now() < until {
            let began = Instant::now();
            let row = execution("x", NOON, Status::Success);
            log.finish(row).await.unwrap();
            slowest = slowest.max(began.elapsed());
        }
        slowest
    };
    let (_logs, slowest) = tokio::join!(retention, writing);
    assert!(slowest < Duration::from_millis(1_500), "{slowest:?}");
    assert!(
        place.days().await.contains(&"20261110".to_owned()),
        "it is read"
    );
    drop(reader);
    place.open_with(bounded()).await;
    assert!(!place.days().await.contains(&"20261110".to_owned()));
}

/// As version 1 made it: without the column that says which tool ran behind another name.
async fn a_log_of_an_earlier_version_goes_on(place: Place) {
    let back = "DROP INDEX executions_by_behind; ALTER TABLE executions DROP COLUMN behind;";
    goes_on_from(place, 1, back).await;
}

/// As version 2 made it: with another name for that column.
async fn a_log_that_knew_only_builtins_goes_on(place: Place) {
    let back = "ALTER TABLE executions RENAME COLUMN behind TO builtin; DROP INDEX executions_by_behind;
        CREATE INDEX executions_by_builtin ON executions (builtin, started_at, id) WHERE builtin IS NOT NULL;";
    goes_on_from(place, 2, back).await;
}

async fn goes_on_from(place: Place, version: u8, back: &'static str) {
    let log = place.open().await;
    let old = execution("a", NOON - DAY, Status::Success);
    log.finish(old.clone()).await.unwrap();
    log.close().await.unwrap();
    match &place.database {
        None => {
            let file = place.path().join("log/executions-2026-11-14.db");
            let connection = rusqlite::Connection::open(file).unwrap();
            let back = format!("{back} PRAGMA user_version = {version};");
            connection.execute_batch(&back).unwrap();
        }
        Some(_) => {
            let done = sqlx::raw_sql(back).execute(&place.pool().await).await;
            done.unwrap();
        }
    }
    let log = place.open().await;
    assert_eq!(log.get(old.id).await.unwrap(), Some(old));
    let wrapped = Execution {
        behind: Some("a".into()),
        ..execution("b", NOON - DAY + 1, Status::Success)
    };
    log.finish(wrapped).await.unwrap();
    let calls = log.tool_calls("a", NOON - 2 * DAY, NOON).await.unwrap();
    assert_eq!(calls.iter().map(|calls| calls.count).sum::<u64>(), 2);
}
