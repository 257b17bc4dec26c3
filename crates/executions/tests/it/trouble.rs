//! Trouble: a full disk, a damaged file, a server that goes away; nothing acknowledged is lost, and all of it heals.

use crate::place::{DAY, NOON, Place, execution};
use executions::{Execution, ExecutionLog, Filter, LogError, Options, Span, Status};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn big_row() -> Execution {
    Execution {
        output: Some(format!("\"{}\"", "x".repeat(20_000))),
        ..execution("big", NOON, Status::Success)
    }
}

/// Writes until the disk is full; what was acknowledged, what was refused, and the error.
async fn fill(log: &ExecutionLog) -> (Vec<Execution>, Execution, LogError) {
    let mut acknowledged = Vec::new();
    for _ in 0..1_000 {
        let row = big_row();
        match log.finish(row.clone()).await {
            Ok(()) => acknowledged.push(row),
            Err(error) => return (acknowledged, row, error),
        }
    }
    panic!("the disk did not fill up");
}

async fn assert_holds(log: &ExecutionLog, rows: &[Execution]) {
    let mut expected: Vec<_> = rows.iter().map(|row| row.id).collect();
    expected.sort();
    let page = log
        .list(Filter {
            limit: Some(1_000),
            ..Filter::default()
        })
        .await
        .unwrap();
    let found: Vec<_> = page.items.iter().rev().map(|row| row.id).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_full_disk_refuses_and_recovers() {
    let place = Place::sqlite();
    let options = Options::default();
    options.pages_max.store(100, Ordering::Relaxed);
    let log = place.open_with(options.clone()).await;
    let (mut rows, refused, error) = fill(&log).await;
    assert!(matches!(error, LogError::Full { .. }), "{error}");
    assert!(rows.len() > 5, "{}", rows.len());
    assert!(matches!(
        log.started(big_row()).await,
        Err(LogError::Full { .. })
    ));
    assert_holds(&log, &rows).await;

    options.pages_max.store(0, Ordering::Relaxed);
    let next = big_row();
    log.finish(next.clone()).await.unwrap();
    log.flush().await.unwrap();
    // How a call ended is written after all: its tool has run.
    rows.extend([refused, next]);
    assert_holds(&log, &rows).await;
    log.close().await.unwrap();
    assert_holds(&place.open().await, &rows).await;
}

#[tokio::test]
async fn a_damaged_old_file_does_not_keep_the_server_from_starting() {
    let place = Place::sqlite();
    let folder = place.path().join("log");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("executions-2026-11-14.db"),
        "this is no database, and long enough to be looked at".repeat(50),
    )
    .unwrap();
    std::fs::write(folder.join("executions-2026-11-13.db"), "").unwrap();
    std::fs::write(folder.join("notes.txt"), "not ours").unwrap();
    let log = place.open().await;
    let row = execution("x", NOON, Status::Success);
    log.finish(row.clone()).await.unwrap();
    assert_eq!(
        log.list(Filter {
            since: Some(NOON),
            ..Filter::default()
        })
        .await
        .unwrap()
        .items,
        [row]
    );
    assert!(matches!(
        log.list(Filter::default()).await,
        Err(LogError::Damaged { .. })
    ));
    let lost = execution("x", NOON - DAY, Status::Success);
    assert!(matches!(
        log.finish(lost).await,
        Err(LogError::Damaged { .. })
    ));
    let empty = execution("x", NOON - 2 * DAY, Status::Success);
    log.finish(empty).await.unwrap();
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_a_clear_error() {
    let place = Place::sqlite();
    std::fs::write(place.path().join("file"), "").unwrap();
    let opened = ExecutionLog::open_sqlite(
        place.path().join("file/log"),
        Options::default(),
        place.clock.clone(),
    )
    .await;
    let error = opened.err().unwrap();
    assert!(
        matches!(&error, LogError::Unavailable { message } if message.contains("file/log")),
        "{error}"
    );
}

/// All on one thread: were a row that finds the file locked to wait for it there, nobody could unlock it meanwhile.
#[tokio::test]
async fn somebody_elses_lock_keeps_no_thread() {
    let place = Place::sqlite();
    let log = place.open().await;
    let row = |number| execution("x", NOON + number, Status::Success);
    log.finish(row(0)).await.unwrap();
    log.flush().await.unwrap();
    let file = std::fs::read_dir(place.path().join("log")).unwrap();
    let mut files = file.map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|it| it == "db"));
    let other = rusqlite::Connection::open(file.unwrap()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let unlock = async {
        tokio::task::yield_now().await;
        other.execute_batch("ROLLBACK").unwrap();
    };
    let began = std::time::Instant::now();
    let (written, ()) = tokio::join!(log.finish(row(1)), unlock);
    written.unwrap();
    // Whoever waits for a lock does so for five seconds.
    assert!(
        began.elapsed() < Duration::from_secs(4),
        "the thread was kept"
    );
}

#[tokio::test]
async fn closing_leaves_one_plain_file_a_day() {
    let place = Place::sqlite();
    let log = place.open().await;
    log.finish(execution("x", NOON, Status::Success))
        .await
        .unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..50 {
        let log = log.clone();
        tasks.spawn(async move {
            log.finish(execution("x", NOON + number, Status::Success))
                .await
        });
    }
    log.list(Filter::default()).await.unwrap();
    log.flush().await.unwrap();
    log.close().await.unwrap();
    let written = tasks
        .join_all()
        .await
        .into_iter()
        .filter(Result::is_ok)
        .count();
    let names: Vec<_> = std::fs::read_dir(place.path().join("log"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["executions-2026-11-15.db"]);
    // Exactly those that were told so are there.
    let again = place.open().await;
    assert_eq!(
        again.stats(Span::default()).await.unwrap().total,
        u64::try_from(written + 1).unwrap()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_goes_away_and_comes_back() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let result = tokio::spawn(go_away_and_come_back(place.clone())).await;
    place.drop_database().await;
    result.unwrap();
}

async fn go_away_and_come_back(place: Place) {
    let log = place.open().await;
    let before = execution("x", NOON, Status::Success);
    log.finish(before.clone()).await.unwrap();
    let name = &place.database.as_ref().unwrap().1;
    let kick =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    place
        .admin(&format!(
            "ALTER DATABASE {name} ALLOW_CONNECTIONS false; {kick}"
        ))
        .await;
    let refused = execution("x", NOON + 1, Status::Success);
    let error = log.finish(refused.clone()).await.unwrap_err();
    assert!(matches!(error, LogError::Unavailable { .. }), "{error}");
    place
        .admin(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"))
        .await;
    let after = execution("x", NOON + 2, Status::Success);
    log.finish(after.clone()).await.unwrap();
    log.flush().await.unwrap();
    assert_eq!(
        log.list(Filter::default()).await.unwrap().items,
        [after, refused, before],
        "how a call ended is written after all"
    );
    // Every pooled connection is dead, and nobody hears of it.
    place.admin(&kick).await;
    let next = execution("x", NOON + 3, Status::Success);
    log.finish(next).await.unwrap();
}
