//! Limits after a restart: they go on from what the log says.

use crate::limits::{kim, limited, quotas, the_tool};
use crate::scripted::{Crib, caller, code, tool};
use catalog::caller::{Caller, Role, Transport};
use catalog::policy::Policy;
use executor::{CallRequest, Code, Failure, Settings};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use uuid::Uuid;

#[tokio::test]
async fn windows_and_quotas_go_on_after_a_restart() {
    let tools = vec![
        tool(&limited(
            "t",
            &json!({"requests_per_minute": 4, "requests_per_hour": 6}),
        )),
        tool(&limited("other", &json!({}))),
    ];
    let crib = Crib::with(tools, Policy::default(), Settings::default()).await;
    let call = CallRequest {
        tool: "t".into(),
        arguments: json!({}),
        ..CallRequest::default()
    };
    crib.call("t", json!({})).await;
    let last = crib.call("t", json!({"do": "fail"})).await;
    crib.executor.clock.advance(30_000);
    let good = crib.call("t", json!({"answer": [1]})).await;
    // None of these is a call that ran.
    crib.executor.replay(&caller(), &call, good).await;
    crib.executor.replay(&caller(), &call, last).await;
    let refusal = Failure::new(Code::Conflict, "the key was used");
    crib.executor.refuse(&caller(), &call, refusal).await;
    crib.call("nothing", json!({})).await;
    crib.call("other", json!({})).await;

    let crib = crib.again().await;
    quotas(&crib, &[(kim(), 9), (the_tool("t"), 9)]);
    let (executor, t) = (&crib.executor, the_tool("t"));
    assert_eq!(executor.day_use(kim()).await.unwrap(), Some(4));
    assert_eq!(executor.day_use(t).await.unwrap(), Some(3));
    for expected in ["", "rate_limited"] {
        assert_eq!(code(&crib.call("t", json!({})).await), expected);
    }
    let refused = crib.call("t", json!({})).await;
    assert_eq!(
        refused.retry_after(),
        Some(30),
        "the first two are half a minute old"
    );
    executor.clock.advance(30_000);
    for expected in ["", "", "rate_limited"] {
        assert_eq!(code(&crib.call("t", json!({})).await), expected);
    }
    let refused = crib.call("t", json!({})).await;
    assert_eq!(refused.message, "Rate limit exceeded: 6 requests per hour");
    assert_eq!(refused.retry_after(), Some(3540));
    assert_eq!(executor.day_use(t).await.unwrap(), Some(6));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_first_callers_get_what_the_life_before_left() {
    let crib = Crib::new(limited("t", &json!({"requests_per_hour": 50}))).await;
    for _ in 0..20 {
        assert_eq!(code(&crib.call("t", json!({})).await), "");
    }
    let crib = crib.again().await;
    quotas(&crib, &[(kim(), 60), (the_tool("t"), 70)]);
    let calls: Vec<_> = (0..200).map(|_| crib.start("t", json!({}))).collect();
    let mut let_through = 0;
    for call in calls {
        let_through += usize::from(code(&call.answer().await).is_empty());
    }
    assert_eq!(let_through, 30);
    let used = crib.executor.day_use(kim()).await.unwrap();
    assert_eq!(
        used,
        Some(50),
        "a refusal of the tool's takes nothing of the user's"
    );
}

#[tokio::test]
async fn a_quota_set_during_the_day_counts_the_whole_day_of_that_user_alone() {
    let crib = Crib::new(limited("t", &json!({}))).await;
    let lee = Caller::of_user(Uuid::from_u128(78), "lee", Role::Author, Transport::Rest);
    let lee = Arc::new(lee);
    for _ in 0..3 {
        assert_eq!(code(&crib.call("t", json!({})).await), "");
    }
    quotas(&crib, &[(kim(), 4)]);
    for expected in ["", "quota_exceeded"] {
        assert_eq!(code(&crib.call("t", json!({})).await), expected);
    }
    let other = crib.start_as(lee, "t", json!({})).answer().await;
    assert_eq!(code(&other), "", "nobody else is concerned");
}

#[tokio::test]
async fn where_the_log_cannot_be_read_nothing_limited_runs() {
    let tools = vec![
        tool(&limited("t", &json!({"requests_per_minute": 4}))),
        tool(&json!({"name": "free", "annotations": {"read_only": true}})),
    ];
    let crib = Crib::with(tools, Policy::default(), Settings::default()).await;
    let file = crib.folder.path().join("executions-2027-01-15.db");
    std::fs::write(file, "this is no database".repeat(300)).unwrap();
    let ran = || crib.seen.dropped.load(Ordering::SeqCst);
    let refused = crib.call("t", json!({})).await;
    assert_eq!((code(&refused), ran()), ("service_unavailable", 0));
    crib.call("free", json!({})).await;
    assert_eq!(ran(), 1);
}
