//! Somebody is taken out of the log: of what is there, of what is on its way, and of the bytes on disk.

use crate::place::{DAY, NOON, Place, execution, on_both};
use executions::{Erased, Execution, Filter, Options, Status};
use std::borrow::Cow;

on_both!(
    nothing_that_they_said_is_left,
    calls_that_end_later_are_nobodys_either,
    who_has_the_name_later_is_somebody_else
);

fn kim() -> Erased {
    Erased {
        name: "kim".into(),
        pseudonym: "erased-1".into(),
        until: NOON + 1000,
    }
}

fn of(caller: &str, at: i64) -> Execution {
    Execution {
        caller: caller.into(),
        key: Some("laptop-of-kim".into()),
        arguments: r#"{"q":"a-private-question"}"#.into(),
        output: Some("\"a-private-answer\"".into()),
        error_code: Some(Cow::Borrowed("timeout")),
        error: Some(r#"{"code":"timeout","message":"a-private-error","details":null}"#.into()),
        log_text: Some("a-private-line".into()),
        ..execution("ask", at, Status::Error)
    }
}

fn erased(row: &Execution) -> Execution {
    Execution {
        caller: "erased-1".into(),
        key: None,
        arguments: r#"{"erased":true}"#.into(),
        output: None,
        error: Some(r#"{"code":"timeout","message":"Erased","details":null}"#.into()),
        log_text: None,
        ..row.clone()
    }
}

async fn nothing_that_they_said_is_left(place: Place) {
    let log = place.open().await;
    let rows: Vec<Execution> = (0..40)
        .map(|n| {
            of(
                if n % 2 == 0 { "kim" } else { "lee" },
                NOON - n * DAY / 8 + n,
            )
        })
        .collect();
    for row in &rows {
        log.finish(row.clone()).await.unwrap();
    }
    assert_eq!(log.calls_of("kim", NOON + 1000).await.unwrap(), 20);
    assert_eq!(log.erase(&kim()).await.unwrap(), 20);
    assert_eq!(log.calls_of("kim", NOON + 1000).await.unwrap(), 0);
    let all = Filter {
        limit: Some(100),
        ..Filter::default()
    };
    let found = log.list(all).await.unwrap().items;
    let expected = rows.iter().map(|row| match &*row.caller {
        "kim" => erased(row),
        _ => row.clone(),
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
    assert_eq!(log.erase(&kim()).await.unwrap(), 0, "once is enough");
}

async fn calls_that_end_later_are_nobodys_either(place: Place) {
    let log = place.open().await;
    let begun = Execution {
        status: Status::Started,
        ..of("kim", NOON)
    };
    log.started(begun.clone()).await.unwrap();
    assert_eq!(log.erase(&kim()).await.unwrap(), 1);
    let ended = of("kim", NOON);
    let ended = Execution {
        id: begun.id,
        ..ended
    };
    log.finish(ended.clone()).await.unwrap();
    assert_eq!(log.get(ended.id).await.unwrap(), Some(erased(&ended)));
}

async fn who_has_the_name_later_is_somebody_else(place: Place) {
    let log = place.open().await;
    place.clock.advance(5000);
    let later = of("kim", NOON + 5000);
    log.finish(later.clone()).await.unwrap();
    assert_eq!(log.erase(&kim()).await.unwrap(), 0);
    assert_eq!(log.get(later.id).await.unwrap(), Some(later));
}

/// SQLite only: neither in free pages nor in the write-ahead log nor in what was set aside.
#[tokio::test]
async fn no_file_holds_what_was_erased() {
    let place = Place::sqlite();
    let log = place.open_with(Options::default()).await;
    for n in 0..60 {
        let mut row = of("kim", NOON - n * DAY / 30);
        row.output = Some(format!("\"{}\"", "a-private-answer ".repeat(2_000)));
        log.finish(row).await.unwrap();
    }
    let folder = place.path().join("log");
    let aside = folder.join("journal-unwritten-2026-11-14.jsonl");
    let row = of("kim", NOON - DAY);
    let mut line = serde_json::to_value(&row).unwrap();
    line["id"] = serde_json::json!(row.id);
    std::fs::write(&aside, format!("\n{{\"row\":{line}}}\n")).unwrap();
    assert_eq!(log.erase(&kim()).await.unwrap(), 60);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for part in ["a-private", "laptop-of-kim", "kim"] {
            assert!(!text.contains(part), "{part} is in {}", path.display());
        }
    }
    let kept = std::fs::read_to_string(aside).unwrap();
    assert!(kept.contains("erased-1"), "{kept}");
}
