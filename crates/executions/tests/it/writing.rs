//! Writing: what goes in comes out, once, and only after it is committed.

use crate::place::{DAY, HOUR, NOON, Place, execution, on_both};
use executions::{Execution, Filter, LogError, Options, Span, Status, new_id};
use std::borrow::Cow;
use std::os::unix::fs::PermissionsExt;
use uuid::Uuid;

on_both!(
    round_trip,
    concurrent_finishes,
    started_then_finished,
    leftovers_become_interrupted,
    long_entries_are_cut,
    bad_ids_are_refused,
    backup_and_restore
);

fn full_row() -> Execution {
    Execution {
        key: Some("ci".into()),
        agent: Some(Uuid::new_v4()),
        run: Some(Uuid::new_v4()),
        toolset: Some("data-search".into()),
        transport: Cow::Borrowed("mcp"),
        error_code: Some(Cow::Borrowed("timeout")),
        elapsed_us: i64::MAX,
        arguments: r#"{"도시":"서울","nul":"\u0000"}"#.into(),
        output: Some("null".into()),
        error: Some(
            r#"{"code":"timeout","message":"Tool execution timeout (30.0s)","details":null}"#
                .into(),
        ),
        log_text: Some("line\n'; DROP TABLE executions; --".into()),
        behind: None,
        ..execution("weather.today", NOON, Status::Error)
    }
}

async fn round_trip(place: Place) {
    let log = place.open().await;
    let plain = execution("calculator", NOON + 1, Status::Success);
    for row in [full_row(), plain] {
        assert_eq!(log.get(row.id).await.unwrap(), None);
        log.finish(row.clone()).await.unwrap();
        assert_eq!(log.get(row.id).await.unwrap(), Some(row));
    }
    assert_eq!(log.get(Uuid::new_v4()).await.unwrap(), None);
    assert_eq!(log.get(new_id(NOON - 90 * DAY)).await.unwrap(), None);
    log.close().await.unwrap();
    assert!(matches!(
        log.finish(full_row()).await,
        Err(LogError::Closed)
    ));
    log.close().await.unwrap();
}

async fn concurrent_finishes(place: Place) {
    let log = place.open().await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..2_000_i64 {
        let log = log.clone();
        tasks.spawn(async move {
            let row = Execution {
                elapsed_us: number,
                ..execution("many", NOON + number % 7, Status::Success)
            };
            log.finish(row.clone()).await.unwrap();
            // Acknowledged means readable, at once and by anybody.
            assert_eq!(log.get(row.id).await.unwrap().unwrap().elapsed_us, number);
        });
    }
    tasks.join_all().await;
    assert_eq!(log.stats(Span::default()).await.unwrap().total, 2_000);
    log.close().await.unwrap();
    let again = place.open().await;
    assert_eq!(again.stats(Span::default()).await.unwrap().total, 2_000);
}

async fn started_then_finished(place: Place) {
    let log = place.open().await;
    let started = execution("pay", NOON, Status::Started);
    log.started(started.clone()).await.unwrap();
    assert_eq!(
        log.get(started.id).await.unwrap().unwrap().status,
        Status::Started
    );
    let finished = Execution {
        status: Status::Success,
        elapsed_us: 5,
        output: Some("1".into()),
        ..started.clone()
    };
    log.finish(finished.clone()).await.unwrap();
    assert_eq!(log.get(started.id).await.unwrap(), Some(finished.clone()));
    // A started row that arrives late hides nothing, and finishing twice makes no second row.
    log.started(started.clone()).await.unwrap();
    assert_eq!(
        log.get(started.id).await.unwrap().unwrap().status,
        Status::Success
    );
    let (once, twice) = tokio::join!(log.finish(finished.clone()), log.finish(finished.clone()));
    once.unwrap();
    twice.unwrap();
    assert_eq!(log.list(Filter::default()).await.unwrap().items, [finished]);
}

async fn leftovers_become_interrupted(place: Place) {
    let log = place.open().await;
    let yesterday = execution("pay", NOON - DAY, Status::Started);
    let today = execution("pay", NOON, Status::Started);
    let done = execution("pay", NOON, Status::Success);
    log.started(yesterday.clone()).await.unwrap();
    log.started(today.clone()).await.unwrap();
    log.finish(done.clone()).await.unwrap();
    // No close: the server was killed.
    let again = place.open().await;
    for id in [yesterday.id, today.id] {
        let row = again.get(id).await.unwrap().unwrap();
        assert_eq!(
            (row.status, row.error_code.as_deref()),
            (Status::Interrupted, Some("interrupted"))
        );
        let error: serde_json::Value = serde_json::from_str(&row.error.unwrap()).unwrap();
        assert_eq!(
            error["message"],
            "The server stopped while this call was running; whether it took effect is unknown"
        );
    }
    assert_eq!(again.get(done.id).await.unwrap(), Some(done));
    let other = execution("pay", NOON, Status::Started);
    again.started(other.clone()).await.unwrap();
    if place.database.is_some() {
        // A call that another replica is still running is none of ours.
        let replica = place
            .open_with(Options {
                node: "other".into(),
                ..Options::default()
            })
            .await;
        assert_eq!(
            replica.get(other.id).await.unwrap().unwrap().status,
            Status::Started
        );
    }
}

async fn long_entries_are_cut(place: Place) {
    let log = place
        .open_with(Options {
            entry_bytes_max: 1_000,
            ..Options::default()
        })
        .await;
    let long = format!("[\"{}\"]", "é".repeat(4_000));
    let row = Execution {
        arguments: long.clone(),
        output: Some(long.clone()),
        error: Some(long.clone()),
        log_text: Some(long.clone()),
        tool_name: "no such tool ".repeat(1_000).into(),
        caller: "nul\0".into(),
        ..execution("", NOON, Status::Error)
    };
    log.finish(row.clone()).await.unwrap();
    let stored = log.get(row.id).await.unwrap().unwrap();
    for text in [
        &stored.arguments,
        stored.output.as_ref().unwrap(),
        stored.error.as_ref().unwrap(),
        stored.log_text.as_ref().unwrap(),
    ] {
        assert!(text.len() <= 1_000 && text.contains("bytes cut]"), "{text}");
    }
    assert!(
        serde_json::from_str::<String>(&stored.arguments)
            .unwrap()
            .starts_with("[\"éé")
    );
    assert!(stored.tool_name.len() <= 512 && !stored.caller.contains('\0'));
}

async fn bad_ids_are_refused(place: Place) {
    let log = place.open().await;
    let no_time = Execution {
        id: Uuid::new_v4(),
        ..execution("x", NOON, Status::Success)
    };
    let other_time = Execution {
        id: new_id(NOON - HOUR),
        ..execution("x", NOON, Status::Success)
    };
    for row in [no_time, other_time] {
        let error = log.finish(row).await.unwrap_err();
        assert!(
            matches!(&error, LogError::Invalid { message } if message.contains("executions::new_id")),
            "{error}"
        );
    }
    let slightly_off = Execution {
        id: new_id(NOON - 3),
        ..execution("x", NOON, Status::Success)
    };
    log.finish(slightly_off.clone()).await.unwrap();
    assert_eq!(
        log.get(slightly_off.id).await.unwrap().unwrap().started_at,
        NOON - 3
    );
}

async fn backup_and_restore(place: Place) {
    let log = place.open().await;
    let running = execution("pay", NOON, Status::Started);
    log.started(running.clone()).await.unwrap();
    let mut rows = vec![full_row()];
    rows.extend(
        (0..600).map(|number| execution("many", NOON - (number % 3) * DAY, Status::Success)),
    );
    for row in &rows {
        log.finish(row.clone()).await.unwrap();
    }
    let target = place.path().join("backup");
    log.backup_to(&target).await.unwrap();
    for entry in std::fs::read_dir(&target).unwrap() {
        let found = entry.unwrap();
        let mode = found.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", found.path().display());
    }
    assert!(matches!(
        log.backup_to(&target).await,
        Err(LogError::Invalid { .. })
    ));

    // Whatever engine wrote it, a folder of day files can take it over.
    let other = Place::sqlite();
    let restored = other.open().await;
    assert_eq!(restored.restore_from(&target).await.unwrap(), 602);
    for row in &rows {
        assert_eq!(restored.get(row.id).await.unwrap().as_ref(), Some(row));
    }
    assert_eq!(
        restored.get(running.id).await.unwrap().unwrap().status,
        Status::Interrupted
    );
    // Restoring over what is there changes nothing.
    log.restore_from(&target).await.unwrap();
    assert_eq!(log.stats(Span::default()).await.unwrap().total, 602);
    assert!(matches!(
        log.restore_from(other.path()).await,
        Err(LogError::Invalid { .. })
    ));
}
