//! Calls side by side and one after the other, cancelled, cut off, and counted.

use crate::scripted::{Crib, code, tool};
use catalog::policy::Policy;
use executions::Status;
use executor::Settings;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_serial_tool_runs_one_call_at_a_time() {
    let crib = Crib::new(json!({"name": "serial"})).await;
    let calls: Vec<_> = (0..100)
        .map(|_| crib.start("serial", json!({"do": "yield"})))
        .collect();
    for call in calls {
        assert_eq!(code(&call.answer().await), "");
    }
    assert_eq!(crib.seen.peak.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_parallel_tool_runs_all_at_once() {
    let crib = Crib::new(json!({"name": "parallel", "parallel_capable": true})).await;
    let calls: Vec<_> = (0..100)
        .map(|_| crib.start("parallel", json!({"do": "wait"})))
        .collect();
    while crib.seen.running.load(Ordering::SeqCst) < 100 {
        tokio::task::yield_now().await;
    }
    crib.seen.go.notify_waiters();
    for call in calls {
        assert_eq!(code(&call.answer().await), "");
    }
    assert_eq!(crib.seen.peak.load(Ordering::SeqCst), 100);
}

#[tokio::test]
async fn different_serial_tools_run_side_by_side() {
    let tools = vec![tool(&json!({"name": "a"})), tool(&json!({"name": "b"}))];
    let crib = Crib::with(tools, Policy::default(), Settings::default()).await;
    let calls = [
        crib.start("a", json!({"do": "wait"})),
        crib.start("b", json!({"do": "wait"})),
    ];
    while crib.seen.running.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    crib.seen.go.notify_waiters();
    for call in calls {
        assert_eq!(code(&call.answer().await), "");
    }
}

#[tokio::test]
async fn the_queue_is_bounded_and_waiting_counts_into_the_deadline() {
    let settings = Settings {
        queue_max: 1,
        ..Settings::default()
    };
    let definition = tool(&json!({"name": "serial", "timeout_seconds": 2.0}));
    let crib = Crib::with(vec![definition], Policy::default(), settings).await;
    let first = crib.start("serial", json!({"do": "hang"}));
    crib.seen.entered.notified().await;
    let second = crib.start("serial", json!({}));
    tokio::task::yield_now().await;
    let third = crib.call("serial", json!({})).await;
    assert_eq!(
        (code(&third), third.retry_after()),
        ("rate_limited", Some(1))
    );
    assert_eq!(code(&first.answer().await), "timeout");
    // The second had its turn only when its own time was nearly up: it ran, or it was too late as well.
    assert!(["", "timeout"].contains(&code(&second.answer().await)));
}

#[tokio::test]
async fn a_caller_who_hangs_up_cancels_the_call_and_the_entry_says_so() {
    let crib = Crib::new(json!({"name": "slow"})).await;
    let call = crib.start("slow", json!({"do": "hang"}));
    crib.seen.entered.notified().await;
    let log = crib.log().await;
    assert_eq!(
        log[0].status,
        Status::Started,
        "what may have an effect is written down before it runs"
    );
    drop(call);
    while crib.seen.dropped.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    crib.executor.stop(Duration::from_secs(5)).await;
    assert_eq!(
        crib.seen.dropped.load(Ordering::SeqCst),
        1,
        "the work is gone"
    );
    let log = crib.log().await;
    assert_eq!(
        (log.len(), log[0].status, log[0].error_code.as_deref()),
        (1, Status::Cancelled, Some("cancelled"))
    );
}

#[tokio::test]
async fn a_stop_waits_for_running_calls_and_then_cancels_them() {
    let crib = Crib::new(json!({"name": "slow", "parallel_capable": true})).await;
    let stuck = crib.start("slow", json!({"do": "hang"}));
    let quick = crib.start("slow", json!({"do": "yield", "answer": 1}));
    crib.seen.entered.notified().await;
    crib.executor.stop(Duration::from_millis(50)).await;
    assert_eq!(code(&quick.answer().await), "");
    assert_eq!(code(&stuck.answer().await), "cancelled");
    assert_eq!(crib.log().await.len(), 2);
}

#[tokio::test]
async fn a_read_only_tool_leaves_no_started_row() {
    let crib = Crib::new(json!({"name": "look", "annotations": {"read_only": true}})).await;
    let call = crib.start("look", json!({"do": "wait"}));
    crib.seen.entered.notified().await;
    assert!(crib.log().await.is_empty());
    crib.seen.go.notify_one();
    call.answer().await;
    assert_eq!(crib.log().await.len(), 1);
}
