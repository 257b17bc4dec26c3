//! Reading: pages across days, filters, counts.

use crate::place::{DAY, HOUR, NOON, Place, execution, on_both};
use catalog::caller::Transport;
use executions::{Execution, ExecutionLog, Filter, LogError, Span, Status};
use std::borrow::Cow;

on_both!(
    pages_across_days,
    filters,
    rows_after_an_id,
    stats,
    counts_for_limits,
    pages_are_bounded_by_weight
);

async fn all_pages(log: &ExecutionLog, mut filter: Filter) -> Vec<Execution> {
    let mut items = Vec::new();
    loop {
        let page = log.list(filter.clone()).await.unwrap();
        items.extend(page.items);
        filter.cursor = page.next_cursor;
        if filter.cursor.is_none() {
            return items;
        }
    }
}

async fn pages_across_days(place: Place) {
    let log = place.open().await;
    let mut rows = Vec::new();
    for number in 0..200 {
        // Several rows of the same millisecond among them.
        let row = execution("x", NOON - (number / 5) * 5 * HOUR, Status::Success);
        log.finish(row.clone()).await.unwrap();
        rows.push(row);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.id));
    for limit in [1, 7, 66, 200, 1_000] {
        let filter = Filter {
            limit: Some(limit),
            ..Filter::default()
        };
        assert_eq!(all_pages(&log, filter).await, rows, "pages of {limit}");
    }
    // New rows do not shift the pages that follow.
    let first = log
        .list(Filter {
            limit: Some(20),
            ..Filter::default()
        })
        .await
        .unwrap();
    log.finish(execution("x", NOON + 1, Status::Success))
        .await
        .unwrap();
    let second = log
        .list(Filter {
            limit: Some(20),
            cursor: first.next_cursor,
            ..Filter::default()
        })
        .await
        .unwrap();
    assert_eq!(second.items, rows[20..40]);
    let wrong = log
        .list(Filter {
            cursor: Some("page2".into()),
            ..Filter::default()
        })
        .await;
    assert!(matches!(wrong, Err(LogError::BadCursor { .. })));
}

async fn filters(place: Place) {
    let log = place.open().await;
    for number in 0..60 {
        let tool = ["a", "b", "c"][number % 3];
        let status = [
            Status::Success,
            Status::Error,
            Status::Cancelled,
            Status::Interrupted,
        ][number % 4];
        let caller = ["hong", "kim"][number % 2].into();
        let at = NOON - i64::try_from(number).unwrap() * HOUR;
        log.finish(Execution {
            caller,
            ..execution(tool, at, status)
        })
        .await
        .unwrap();
    }
    let all = Filter::default;
    let tool = |name: &str| Filter {
        tool: Some(name.into()),
        ..all()
    };
    let status = |status| Filter {
        status: Some(status),
        ..all()
    };
    let caller = |name: &str| Filter {
        caller: Some(name.into()),
        ..all()
    };
    let span = |since, until| Filter {
        since: Some(since),
        until: Some(until),
        ..all()
    };
    let some_hours = span(NOON - 30 * HOUR, NOON - 10 * HOUR);
    let every = Filter {
        status: Some(Status::Cancelled),
        caller: Some("hong".into()),
        ..tool("a")
    };
    let expected = [
        (tool("b"), 20),
        (caller("kim"), 30),
        (status(Status::Success), 15),
        (status(Status::Error), 15),
        (status(Status::Cancelled), 15),
        (status(Status::Interrupted), 15),
        (status(Status::Started), 0),
        (every, 5),
        (some_hours.clone(), 20),
        (
            Filter {
                tool: Some("a".into()),
                ..some_hours
            },
            7,
        ),
        (span(NOON, NOON), 0),
        (span(i64::MIN, i64::MAX), 60),
        (tool("a' OR '1'='1"), 0),
    ];
    for (filter, count) in expected {
        let found = all_pages(
            &log,
            Filter {
                limit: Some(4),
                ..filter.clone()
            },
        )
        .await;
        assert_eq!(found.len(), count, "{filter:?}");
    }
}

async fn rows_after_an_id(place: Place) {
    let log = place.open().await;
    let rows: Vec<_> = (0..30)
        .map(|number| execution("x", NOON - DAY + number * 2 * HOUR, Status::Success))
        .collect();
    for row in &rows {
        log.finish(row.clone()).await.unwrap();
    }
    let page = log
        .list(Filter {
            after: Some(rows[3].id),
            limit: Some(15),
            ..Filter::default()
        })
        .await
        .unwrap();
    assert_eq!(page.items, rows[4..19]);
    let rest = log
        .list(Filter {
            after: Some(rows[18].id),
            ..Filter::default()
        })
        .await
        .unwrap();
    assert_eq!(rest.items, rows[19..]);
    let wrong = Filter {
        after: Some(uuid::Uuid::nil()),
        ..Filter::default()
    };
    assert!(matches!(
        log.list(wrong).await,
        Err(LogError::Invalid { .. })
    ));
}

async fn stats(place: Place) {
    let log = place.open().await;
    for number in 1..=100 {
        let row = Execution {
            elapsed_us: number * 1_000,
            ..execution("a", NOON - number * HOUR, Status::Success)
        };
        log.finish(row).await.unwrap();
    }
    for (status, code) in [
        (Status::Error, Some("timeout")),
        (Status::Cancelled, Some("cancelled")),
        (Status::Started, None),
    ] {
        let row = Execution {
            error_code: code.map(Cow::Borrowed),
            caller: "kim".into(),
            ..execution("b", NOON, status)
        };
        log.finish(row).await.unwrap();
    }
    let stats = log.stats(Span::default()).await.unwrap();
    assert_eq!((stats.total, stats.complete), (103, true));
    assert_eq!(stats.by_status[&Status::Success], 100);
    assert_eq!(stats.by_status[&Status::Started], 1);
    assert_eq!(stats.by_error_code.get("timeout"), Some(&1));
    let (a, b) = (&stats.tools[0], &stats.tools[1]);
    assert_eq!(
        (a.tool_name.as_str(), a.calls, a.errors, a.p50_us, a.p95_us),
        ("a", 100, 0, 50_000, 95_000)
    );
    assert_eq!((b.tool_name.as_str(), b.calls, b.errors), ("b", 3, 2));
    let kim = &stats.callers[1];
    assert_eq!((kim.caller.as_str(), kim.calls, kim.errors), ("kim", 3, 2));
    let between = |since, until| Span {
        since,
        until,
        ..Span::default()
    };
    let ten_hours = between(Some(NOON - 10 * HOUR), Some(NOON));
    let span = log.stats(ten_hours.clone()).await.unwrap();
    assert_eq!((span.total, span.tools[0].p50_us), (10, 5_000));
    let later = log.stats(between(Some(NOON + DAY), None)).await.unwrap();
    assert_eq!(later.total, 0);
    in_slots(&log, ten_hours).await;
    only_what_is_asked_for(&log).await;
}

async fn only_what_is_asked_for(log: &ExecutionLog) {
    for (counted, total) in [
        (
            Span {
                tool: Some("b".to_owned()),
                ..Span::default()
            },
            3,
        ),
        (
            Span {
                caller: Some("kim".to_owned()),
                ..Span::default()
            },
            3,
        ),
        (
            Span {
                status: Some(Status::Error),
                ..Span::default()
            },
            1,
        ),
        (
            Span {
                tool: Some("a".to_owned()),
                status: Some(Status::Error),
                ..Span::default()
            },
            0,
        ),
        (
            Span {
                transports: vec![Transport::Mcp, Transport::Rest],
                ..Span::default()
            },
            103,
        ),
        (
            Span {
                transports: vec![Transport::Page],
                ..Span::default()
            },
            0,
        ),
    ] {
        let stats = log.stats(counted.clone()).await.unwrap();
        assert_eq!(stats.total, total, "{counted:?}");
    }
}

/// One call in each of ten hours, and three more in the hour after them, two of which went wrong.
async fn in_slots(log: &ExecutionLog, ten_hours: Span) {
    let slots = Some(5);
    let stats = log
        .stats(Span {
            slots,
            ..ten_hours.clone()
        })
        .await
        .unwrap();
    let series = stats.series.unwrap();
    assert_eq!((series.from, series.slot_ms), (NOON - 10 * HOUR, 2 * HOUR));
    assert_eq!((series.calls, series.errors), (vec![2; 5], vec![0; 5]));
    assert_eq!(stats.tools[0].calls_by_slot, [2; 5]);
    let until = Some(NOON + HOUR);
    let uneven = Span {
        slots: Some(3),
        until,
        ..ten_hours
    };
    let stats = log.stats(uneven).await.unwrap();
    let series = stats.series.unwrap();
    assert_eq!(series.calls.iter().sum::<u64>(), stats.total);
    assert_eq!(series.errors, [0, 0, 2]);
    let b = stats.tools.iter().find(|it| it.tool_name == "b").unwrap();
    assert_eq!(
        (&b.calls_by_slot[..], &b.errors_by_slot[..]),
        (&[0, 0, 3][..], &[0, 0, 2][..])
    );
}

/// The rows that limits count, or do not, around the midnight `edge`.
async fn log_for_limits(log: &executions::ExecutionLog, edge: i64) {
    let ended = |at, code: Option<&'static str>| Execution {
        error_code: code.map(Cow::Borrowed),
        ..execution("a", at, code.map_or(Status::Success, |_| Status::Error))
    };
    let running = execution("a", edge + 1, Status::Started);
    let tried_out = Execution {
        tool_version: 0,
        ..ended(edge + 2, None)
    };
    let given_again = Execution {
        tool_hash: "".into(),
        ..ended(edge + 2, None)
    };
    let other = Execution {
        caller: "kim".into(),
        tool_name: "b".into(),
        ..ended(edge + 2, None)
    };
    let behind_another_name = Execution {
        behind: Some("a".into()),
        id: executions::new_id(edge + 3),
        started_at: edge + 3,
        ..other.clone()
    };
    let rows = [
        ended(edge - 1, None),
        ended(edge, None),
        ended(edge, None),
        ended(edge, Some("timeout")),
        running,
        ended(edge + HOUR, Some("rate_limited")),
        ended(edge + DAY, None),
        tried_out,
        given_again,
        other,
        behind_another_name,
    ];
    for row in rows {
        log.finish(row).await.unwrap();
    }
}

async fn counts_for_limits(place: Place) {
    let log = place.open().await;
    let edge = NOON - 12 * HOUR;
    log_for_limits(&log, edge).await;
    let shown = |calls: Vec<executions::Calls>| {
        let mut shown: Vec<_> = calls
            .into_iter()
            .map(|c| (c.at - edge, c.error_code.unwrap_or_default(), c.count))
            .collect();
        shown.sort();
        shown
    };
    let row = |at, code: &str, count| (at, code.to_owned(), count);
    let times = log.tool_times("a", edge - 1, edge + HOUR).await.unwrap();
    let expected = [
        row(-1, "", 1),
        row(0, "", 2),
        row(0, "timeout", 1),
        row(1, "", 1),
        row(2, "", 1),
        row(3, "", 1),
    ];
    assert_eq!(
        shown(times),
        expected,
        "across midnight, to the millisecond"
    );
    let expected = [
        row(0, "", 5),
        row(0, "timeout", 1),
        row(HOUR, "rate_limited", 1),
    ];
    let calls = log.tool_calls("a", edge, edge + DAY).await.unwrap();
    assert_eq!(
        shown(calls),
        expected,
        "of one day, what was tried out and what ran behind another name among them"
    );
    let calls = log.tool_calls("b", edge, edge + DAY).await.unwrap();
    assert_eq!(shown(calls), [row(2, "", 2)], "and by its own name");
    let calls = log.caller_calls("hong", edge, edge + DAY).await.unwrap();
    let expected = [
        row(0, "", 4),
        row(0, "timeout", 1),
        row(HOUR, "rate_limited", 1),
    ];
    assert_eq!(
        shown(calls),
        expected,
        "what was tried out is the caller's call as well"
    );
    assert_eq!(log.tool_calls("c", 0, NOON + DAY).await.unwrap(), []);
}

async fn pages_are_bounded_by_weight(place: Place) {
    let log = place.open().await;
    let output = Some(format!("\"{}\"", "x".repeat(3_900_000)));
    for number in 0..12 {
        let row = Execution {
            output: output.clone(),
            ..execution("big", NOON + number, Status::Success)
        };
        log.finish(row).await.unwrap();
    }
    let page = log.list(Filter::default()).await.unwrap();
    assert_eq!(page.items.len(), 9, "32 MiB hold no more");
    assert_eq!(all_pages(&log, Filter::default()).await.len(), 12);
}
