//! The journal: what it holds is found after the death of its server, whoever reads finds it, and it does not grow.

use crate::place::{DAY, HOUR, NOON, Place, execution};
use executions::{Durability, Execution, ExecutionLog, Filter, LogError, Options, Span, Status};
use std::sync::atomic::Ordering;

const FILES: [&str; 2] = ["journal-0.jsonl", "journal-1.jsonl"];

/// What a server that is killed now would leave in both files.
fn lines(place: &Place) -> [Vec<u8>; 2] {
    FILES.map(|name| std::fs::read(place.path().join("log").join(name)).unwrap())
}

/// A folder with these files and nothing else.
fn killed(lines: [Vec<u8>; 2]) -> Place {
    let place = Place::sqlite();
    let folder = place.path().join("log");
    std::fs::create_dir(&folder).unwrap();
    for (name, lines) in FILES.iter().zip(lines) {
        std::fs::write(folder.join(name), lines).unwrap();
    }
    place
}

fn begin(at: i64) -> Execution {
    execution("effect", NOON + at, Status::Started)
}

fn ended(begun: Execution) -> Execution {
    Execution {
        status: Status::Success,
        output: Some("1".into()),
        ..begun
    }
}

/// So long that it does not fit where others have been.
fn long(at: i64) -> Execution {
    Execution {
        output: Some(format!("\"{}\"", "x".repeat(12_000))),
        ..ended(begin(at))
    }
}

async fn statuses(log: &ExecutionLog) -> Vec<Status> {
    let page = log.list(Filter::default()).await.unwrap();
    page.items.iter().map(|row| row.status).collect()
}

/// On one thread: the writer is not asked for anything before the files are looked at.
#[tokio::test]
async fn what_was_told_survives_a_kill() {
    let place = Place::sqlite();
    let log = place.open().await;
    let running = Execution {
        behind: Some("send".into()),
        ..begin(0)
    };
    let over = begin(1);
    for row in [&running, &over] {
        log.started(row.clone()).await.unwrap();
    }
    let over = ended(over);
    log.finish(over.clone()).await.unwrap();
    let later = killed(lines(&place));
    let again = later.open().await;
    assert_eq!(again.get(over.id).await.unwrap(), Some(over));
    let found = again.get(running.id).await.unwrap().unwrap();
    assert_eq!(found.status, Status::Interrupted);
    assert_eq!(found.arguments, running.arguments);
    // Limits count it by what ran.
    let calls = again.tool_calls("send", NOON - HOUR, NOON + HOUR).await;
    assert_eq!(
        calls.unwrap().iter().map(|calls| calls.count).sum::<u64>(),
        1
    );
    assert_eq!(lines(&later), [b"", b""]);
}

#[tokio::test]
async fn who_reads_sees_what_was_told() {
    let place = Place::sqlite();
    let log = place.open().await;
    log.started(begin(0)).await.unwrap();
    assert_eq!(statuses(&log).await, [Status::Started]);
    let row = begin(1);
    log.started(row.clone()).await.unwrap();
    assert_eq!(log.get(row.id).await.unwrap(), Some(row.clone()));
    log.finish(ended(row)).await.unwrap();
    assert_eq!(statuses(&log).await, [Status::Success, Status::Started]);
}

#[tokio::test]
async fn the_day_file_gets_it_though_nobody_reads() {
    let place = Place::sqlite();
    let log = place.open().await;
    log.finish(ended(begin(0))).await.unwrap();
    let file = place.path().join("log/executions-2026-11-15.db");
    while !file.exists() || lines(&place) != [b"", b""] {
        tokio::task::yield_now().await;
    }
    let reader = rusqlite::Connection::open(file).unwrap();
    let count = reader.query_row("SELECT count(*) FROM executions", (), |row| row.get(0));
    assert_eq!(count, Ok(1));
}

#[tokio::test]
async fn a_line_that_was_cut_off_takes_no_other_along() {
    let place = Place::sqlite();
    let log = place.open().await;
    for at in 0..2 {
        log.started(begin(at)).await.unwrap();
    }
    let mut left = lines(&place);
    let full = left.iter_mut().find(|lines| !lines.is_empty()).unwrap();
    full.truncate(full.len() - 20);
    let later = killed(left);
    let again = later.open().await;
    assert_eq!(statuses(&again).await, [Status::Interrupted]);
}

#[tokio::test]
async fn a_half_line_spoils_no_other() {
    let place = Place::sqlite();
    let log = place.open().await;
    let row = begin(0);
    log.started(row.clone()).await.unwrap();
    let [mut left, other] = lines(&place);
    left.extend(other);
    let again = killed([[b"\n{\"row\":{\"id\":".to_vec(), left].concat(), Vec::new()]);
    assert!(again.open().await.get(row.id).await.unwrap().is_some());
}

#[tokio::test]
async fn lines_of_rows_that_are_there_change_nothing() {
    let place = Place::sqlite();
    let log = place.open().await;
    let row = begin(0);
    log.started(row.clone()).await.unwrap();
    let left = lines(&place);
    log.finish(ended(row)).await.unwrap();
    log.close().await.unwrap();
    for (name, lines) in FILES.iter().zip(left) {
        std::fs::write(place.path().join("log").join(name), lines).unwrap();
    }
    assert_eq!(statuses(&place.open().await).await, [Status::Success]);
}

/// Its line has only what is new, and may stand in the other file than that of the beginning.
#[tokio::test]
async fn an_ending_finds_its_beginning_wherever_it_stands() {
    let place = Place::sqlite();
    let log = place.open().await;
    let begun = begin(0);
    log.started(begun.clone()).await.unwrap();
    let failed = Execution {
        status: Status::Error,
        error_code: Some("timeout".into()),
        error: Some(r#"{"code":"timeout"}"#.into()),
        log_text: Some("line\n\"quoted\"".into()),
        elapsed_us: 7,
        ..begun
    };
    log.finish(failed.clone()).await.unwrap();
    let both = String::from_utf8(lines(&place).concat()).unwrap();
    let both: Vec<&str> = both.trim().lines().collect();
    let [begun, end] = both[..] else {
        panic!("{both:?}")
    };
    assert!(end.len() < begun.len(), "{end}");
    for files in [[begun, end], [end, begun]] {
        let later = killed(files.map(|line| format!("\n{line}").into_bytes()));
        let again = later.open().await;
        assert_eq!(again.get(failed.id).await.unwrap(), Some(failed.clone()));
    }
    // One whose row is in its day file says nothing new.
    let alone = killed([format!("\n{end}").into_bytes(), Vec::new()]);
    assert_eq!(statuses(&alone.open().await).await, []);
}

#[tokio::test]
async fn what_is_too_old_to_be_kept_is_not_brought_back() {
    let place = Place::sqlite();
    let log = place.open().await;
    log.started(begin(0)).await.unwrap();
    let later = killed(lines(&place));
    later.clock.advance(90 * 24 * HOUR);
    assert_eq!(statuses(&later.open().await).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_does_not_grow() {
    let place = Place::sqlite();
    let log = place.open().await;
    // One that runs on keeps no line from going.
    log.started(begin(0)).await.unwrap();
    let (mut tasks, arguments) = (
        tokio::task::JoinSet::new(),
        format!("\"{}\"", "x".repeat(9_000)),
    );
    for task in 0..4 {
        let (log, arguments) = (log.clone(), arguments.clone());
        tasks.spawn(async move {
            for at in 1..1_000 {
                let row = Execution {
                    arguments: arguments.clone(),
                    ..begin(1_000 * task + at)
                };
                log.started(row.clone()).await.unwrap();
                log.finish(ended(row)).await.unwrap();
            }
        });
    }
    let mut longest = 0;
    while !tasks.is_empty() {
        tokio::select! {
            Some(done) = tasks.join_next() => done.unwrap(),
            () = tokio::task::yield_now() => {}
        }
        longest = longest.max(lines(&place).iter().map(Vec::len).sum());
    }
    // Seventy megabytes went through it.
    assert!(longest < 40_000_000, "{longest}");
    assert_eq!(log.stats(Span::default()).await.unwrap().total, 3_997);
    assert_eq!(lines(&place), [b"", b""]);
}

/// While the rows of one are on their way, another asks for theirs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_finds_their_own_at_once() {
    let place = Place::sqlite();
    let log = place.open().await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4 {
        let log = log.clone();
        tasks.spawn(async move {
            for at in 0..300 {
                let row = ended(begin(1_000 * task + at));
                log.finish(row.clone()).await.unwrap();
                let found = log.get(row.id).await.unwrap();
                assert!(found == Some(row), "{task} {at}");
            }
        });
    }
    tasks.join_all().await;
}

#[tokio::test]
async fn rows_wait_for_a_day_file_that_can_be_written() {
    let place = Place::sqlite();
    let options = Options::default();
    let log = place.open_with(options.clone()).await;
    let rows = [0, 1].map(long);
    for row in &rows {
        log.finish(row.clone()).await.unwrap();
    }
    options.pages_max.store(1, Ordering::Relaxed);
    log.flush().await.ok();
    assert_eq!(statuses(&log).await, []);
    log.close().await.ok();
    // The next server finds them.
    let found = place.open().await.list(Filter::default()).await.unwrap();
    assert_eq!(found.items.iter().rev().cloned().collect::<Vec<_>>(), rows);
}

#[tokio::test]
async fn a_journal_that_was_stuck_goes_on() {
    let place = Place::sqlite();
    let options = Options::default();
    let log = place.open_with(options.clone()).await;
    log.finish(long(0)).await.unwrap();
    options.pages_max.store(1, Ordering::Relaxed);
    log.flush().await.ok();
    options.pages_max.store(0, Ordering::Relaxed);
    log.finish(long(1)).await.unwrap();
    assert_eq!(statuses(&log).await, [Status::Success, Status::Success]);
    log.finish(long(2)).await.unwrap();
    assert_eq!(
        lines(&place).iter().filter(|one| !one.is_empty()).count(),
        1
    );
}

#[tokio::test]
async fn what_must_survive_a_power_cut_is_no_line() {
    let place = Place::sqlite();
    let options = Options {
        durability: Durability::Full,
        ..Options::default()
    };
    let log = place.open_with(options).await;
    log.started(begin(0)).await.unwrap();
    assert_eq!(lines(&place), [b"", b""]);
    assert_eq!(statuses(&log).await, [Status::Started]);
}

#[tokio::test]
async fn a_closed_log_takes_nothing() {
    let place = Place::sqlite();
    let log = place.open().await;
    log.started(begin(0)).await.unwrap();
    log.close().await.unwrap();
    log.started(begin(1)).await.unwrap_err();
    assert_eq!(statuses(&log).await, [Status::Started]);
    assert_eq!(statuses(&place.open().await).await, [Status::Interrupted]);
}

/// A day file that could not be written when the server started is written later; by then nobody runs the call.
#[tokio::test]
async fn what_was_cut_off_is_interrupted_whenever_it_is_written() {
    let place = Place::sqlite();
    let log = place.open().await;
    let row = Execution {
        arguments: format!("\"{}\"", "x".repeat(12_000)),
        ..begin(0)
    };
    log.started(row.clone()).await.unwrap();
    let later = killed(lines(&place));
    let options = Options::default();
    options.pages_max.store(1, Ordering::Relaxed);
    let again = later.open_with(options.clone()).await;
    assert_eq!(statuses(&again).await, []);
    options.pages_max.store(0, Ordering::Relaxed);
    let found = again.get(row.id).await.unwrap().unwrap();
    assert_eq!(found.status, Status::Interrupted);
    assert!(found.error.unwrap().contains("whether it took effect"));
}

/// What servers that were killed on two days left behind, on the second of them.
async fn two_days() -> (Place, Execution, Execution) {
    let rows = [ended(begin(0)), ended(begin(DAY))];
    let mut left = Vec::new();
    for (row, later) in rows.iter().zip([0, DAY]) {
        let place = Place::sqlite();
        place.clock.advance(later);
        place.open().await.finish(row.clone()).await.unwrap();
        left.push(lines(&place).concat());
    }
    let place = killed(left.try_into().unwrap());
    place.clock.advance(DAY);
    let [first, second] = rows;
    (place, first, second)
}

#[tokio::test]
async fn a_day_file_that_cannot_be_read_holds_up_no_other() {
    let (place, first, second) = two_days().await;
    let folder = place.path().join("log");
    std::fs::write(folder.join("executions-2026-11-15.db"), "x".repeat(5_000)).unwrap();
    let log = place.open().await;
    let found = log.get(second.id).await.unwrap();
    assert_eq!(found, Some(second.clone()));
    let aside = std::fs::read_to_string(folder.join("journal-unwritten-2026-11-15.jsonl")).unwrap();
    assert!(aside.contains(&first.id.to_string()), "{aside}");
    // The journal goes on.
    assert_eq!(lines(&place), [b"", b""]);
    log.finish(ended(begin(DAY + 1))).await.unwrap();
    assert_ne!(lines(&place), [b"", b""]);
    log.close().await.unwrap();
    // And it is kept no longer than the day would have been.
    place.clock.advance(90 * DAY);
    place.open().await;
    assert!(!folder.join("journal-unwritten-2026-11-15.jsonl").exists());
}

/// Whoever counts or copies hears that something is missing; whoever looks sees what is there.
#[tokio::test]
async fn what_is_not_settled_is_not_left_out_silently() {
    let (place, first, second) = two_days().await;
    let file = place.path().join("log/executions-2026-11-15.db");
    std::fs::create_dir(&file).unwrap();
    let log = place.open().await;
    let count = async || log.tool_calls("effect", NOON + HOUR, NOON + 2 * DAY).await;
    let missing = count().await.unwrap_err();
    assert!(matches!(missing, LogError::Unavailable { .. }), "{missing}");
    let target = place.path().join("backup");
    assert!(log.backup_to(&target).await.is_err());
    assert_eq!(log.get(second.id).await.unwrap(), Some(second));
    std::fs::remove_dir(&file).unwrap();
    assert_eq!(count().await.unwrap()[0].count, 1);
    assert_eq!(log.get(first.id).await.unwrap(), Some(first));
}
