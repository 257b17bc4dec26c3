//! Rates, places and quotas: exact at their edges, never exceeded, and nothing is used up by a call that is refused.

use crate::scripted::{Crib, NOON, caller, code, tool};
use catalog::catalogue::Change;
use catalog::policy::Policy;
use executor::{PaceUse, Settings, Target, ToolResponse};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const DAY: i64 = 86_400_000;

/// A parallel tool without effects and with this rate limit.
pub(crate) fn limited(name: &str, rate_limit: &Value) -> Value {
    json!({"name": name, "parallel_capable": true, "annotations": {"read_only": true}, "rate_limit": rate_limit})
}

pub(crate) fn quotas(crib: &Crib, limits: &[(Target, u64)]) {
    let catalogue = crib.executor.catalogue.load();
    let named = limits.iter().map(|(target, max)| {
        let name: Arc<str> = match target {
            Target::User(_) => "kim".into(),
            Target::Tool(id) => Arc::clone(&catalogue.by_id(*id).unwrap().name),
        };
        (*target, name, *max)
    });
    let next = crib.executor.quotas.load().with(named);
    crib.executor.quotas.store(Arc::new(next));
}

pub(crate) fn kim() -> Target {
    Target::User(caller().user)
}

pub(crate) fn the_tool(name: &str) -> Target {
    Target::Tool(catalog::tool::id_from_name(name))
}

fn wait(response: &ToolResponse) -> (&str, Option<u64>) {
    (code(response), response.retry_after())
}

async fn pace(crib: &Crib, name: &str) -> PaceUse {
    let entry = crib.executor.catalogue.load().find(name).cloned().unwrap();
    crib.executor.pace_use(&entry).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_window_is_exact_at_its_edges() {
    let crib = Crib::new(limited("t", &json!({"requests_per_minute": 3}))).await;
    let clock = &crib.executor.clock;
    assert_eq!(code(&crib.call("t", json!({})).await), "");
    clock.advance(10_500);
    for _ in 0..2 {
        assert_eq!(code(&crib.call("t", json!({})).await), "");
    }
    let refused = crib.call("t", json!({})).await;
    assert_eq!(
        wait(&refused),
        ("rate_limited", Some(50)),
        "49.5 s, rounded up"
    );
    assert_eq!(
        refused.message,
        "Rate limit exceeded: 3 requests per minute"
    );
    assert_eq!(
        refused.error.unwrap().details,
        json!({"limit": 3, "window_seconds": 60, "retry_after_seconds": 50})
    );
    clock.advance(49_499);
    assert_eq!(
        wait(&crib.call("t", json!({})).await),
        ("rate_limited", Some(1))
    );
    clock.advance(1);
    assert_eq!(
        code(&crib.call("t", json!({})).await),
        "",
        "a minute after the first"
    );
    assert_eq!(
        wait(&crib.call("t", json!({})).await),
        ("rate_limited", Some(11)),
        "the other two are younger"
    );
    let logged = crib.log().await;
    let refused = logged
        .iter()
        .filter(|e| e.error_code.as_deref() == Some("rate_limited"));
    assert_eq!(
        (refused.count(), logged.len()),
        (3, 7),
        "refusals are logged"
    );
}

#[tokio::test]
async fn who_waits_as_told_is_let_through_and_no_earlier() {
    let cases = [
        (
            json!({"requests_per_minute": 1}),
            None,
            "Rate limit exceeded: 1 request per minute",
            60,
        ),
        (
            json!({"requests_per_hour": 1}),
            None,
            "Rate limit exceeded: 1 request per hour",
            3600,
        ),
        (
            json!({}),
            Some(kim()),
            "Daily quota exceeded: 1 call per day (UTC) for user 'kim'",
            57_600,
        ),
        (
            json!({}),
            Some(the_tool("t")),
            "Daily quota exceeded: 1 call per day (UTC) for tool 't'",
            57_600,
        ),
    ];
    for (rate, quota, message, seconds) in cases {
        let crib = Crib::new(limited("t", &rate)).await;
        quotas(
            &crib,
            &quota
                .map(|target| (target, 1))
                .into_iter()
                .collect::<Vec<_>>(),
        );
        assert_eq!(code(&crib.call("t", json!({})).await), "", "{message}");
        let refused = crib.call("t", json!({})).await;
        assert_eq!(
            (refused.message.as_str(), refused.retry_after()),
            (message, Some(seconds))
        );
        crib.executor
            .clock
            .advance(i64::try_from(seconds).unwrap() * 1_000 - 1);
        assert_eq!(
            wait(&crib.call("t", json!({})).await).1,
            Some(1),
            "{message}"
        );
        crib.executor.clock.advance(1);
        assert_eq!(code(&crib.call("t", json!({})).await), "", "{message}");
    }
}

#[tokio::test]
async fn the_longest_wait_is_told_when_several_limits_refuse() {
    let crib = Crib::new(limited(
        "t",
        &json!({"requests_per_minute": 1, "requests_per_hour": 1}),
    ))
    .await;
    assert_eq!(code(&crib.call("t", json!({})).await), "");
    let refused = crib.call("t", json!({})).await;
    assert_eq!(wait(&refused), ("rate_limited", Some(3600)));
    quotas(&crib, &[(kim(), 1)]);
    let refused = crib.call("t", json!({})).await;
    assert_eq!(wait(&refused), ("quota_exceeded", Some(57_600)));
    let expected = json!({"limit": 1, "quota": "USER", "retry_after_seconds": 57_600});
    assert_eq!(refused.error.unwrap().details, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_callers_at_once_never_get_more_than_there_is() {
    let cases = [
        (json!({"requests_per_minute": 50}), None),
        (json!({"requests_per_hour": 50}), None),
        (json!({}), Some(kim())),
        (json!({}), Some(the_tool("t"))),
    ];
    for (rate, quota) in cases {
        let crib = Crib::new(limited("t", &rate)).await;
        quotas(
            &crib,
            &quota
                .map(|target| (target, 50))
                .into_iter()
                .collect::<Vec<_>>(),
        );
        let calls: Vec<_> = (0..200)
            .map(|_| crib.start("t", json!({"do": "yield"})))
            .collect();
        let mut let_through = 0;
        for call in calls {
            let answer = call.answer().await;
            let_through += usize::from(code(&answer).is_empty());
            assert!(["", "rate_limited", "quota_exceeded"].contains(&code(&answer)));
        }
        assert_eq!(let_through, 50, "{rate} {quota:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn at_most_so_many_run_at_a_time() {
    let crib = Crib::new(limited("t", &json!({"concurrent_requests": 5}))).await;
    let calls: Vec<_> = (0..200)
        .map(|_| crib.start("t", json!({"do": "wait"})))
        .collect();
    while crib.log().await.len() < 195 {
        tokio::task::yield_now().await;
    }
    assert_eq!(pace(&crib, "t").await.running, 5);
    let refused = crib.call("t", json!({})).await;
    assert_eq!(
        refused.message,
        "Rate limit exceeded: 5 concurrent requests"
    );
    assert_eq!(
        refused.error.as_ref().unwrap().details,
        json!({"limit": 5, "retry_after_seconds": 1})
    );
    crib.seen.go.notify_waiters();
    for call in calls {
        assert!(["", "rate_limited"].contains(&code(&call.answer().await)));
    }
    assert_eq!(crib.seen.peak.load(Ordering::SeqCst), 5);
    assert_eq!(
        code(&crib.call("t", json!({})).await),
        "",
        "all places are free again"
    );
}

#[tokio::test]
async fn a_place_is_given_back_however_the_call_ends() {
    let mut definition = limited("t", &json!({"concurrent_requests": 1}));
    definition["timeout_seconds"] = json!(2.0);
    definition["output_schema"] = json!({"not": {"const": "wrong"}});
    let crib = Crib::new(definition).await;
    let endings = [
        (json!({}), ""),
        (json!({"do": "fail"}), "tool_execution_error"),
        (json!({"do": "panic"}), "tool_execution_error"),
        (json!({"do": "hang"}), "timeout"),
        (json!({"answer": "wrong"}), "invalid_output"),
    ];
    for (arguments, ending) in endings {
        let answer = crib.call("t", arguments).await;
        assert_eq!((code(&answer), pace(&crib, "t").await.running), (ending, 0));
    }
    let call = crib.start("t", json!({"do": "hang"}));
    crib.seen.entered.notified().await;
    while pace(&crib, "t").await.running == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(code(&crib.call("t", json!({})).await), "rate_limited");
    drop(call);
    while pace(&crib, "t").await.running > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(code(&crib.call("t", json!({})).await), "");
}

#[tokio::test]
async fn a_call_that_one_limit_refuses_uses_up_no_other() {
    let free = json!({"name": "free", "parallel_capable": true});
    let tools = vec![
        tool(&limited("t", &json!({"requests_per_minute": 2}))),
        tool(&free),
    ];
    let crib = Crib::with(tools, Policy::default(), Settings::default()).await;
    quotas(&crib, &[(kim(), 3)]);
    let mut codes = Vec::new();
    for name in ["t", "t", "t", "t", "t", "free", "free"] {
        codes.push(code(&crib.call(name, json!({})).await).to_owned());
    }
    let limited = "rate_limited";
    assert_eq!(
        codes,
        ["", "", limited, limited, limited, "", "quota_exceeded"]
    );

    crib.executor.clock.advance(60_000);
    assert_eq!(code(&crib.call("t", json!({})).await), "quota_exceeded");
    quotas(&crib, &[(kim(), 9)]);
    for expected in ["", "", "rate_limited"] {
        let answer = crib.call("t", json!({})).await;
        assert_eq!(
            code(&answer),
            expected,
            "the quota's refusal was no request of this minute"
        );
    }
    let used = crib.executor.day_use(kim()).await.unwrap();
    assert_eq!(used, Some(5), "counted on with another maximum");
}

#[tokio::test]
async fn what_is_refused_earlier_does_not_count_and_what_failed_does() {
    let mut definition = limited("t", &json!({"requests_per_minute": 9}));
    definition["input_schema"] =
        json!({"type": "object", "properties": {"answer": {"type": "number"}}});
    definition["timeout_seconds"] = json!(2.0);
    let blocked = json!({"name": "blocked"});
    let later = json!({"name": "later", "kind": "expression", "config": {"expression": "1"}});
    let tools = [&definition, &blocked, &later].map(tool).to_vec();
    let crib = Crib::with(tools, Policy::new(true, "t,later"), Settings::default()).await;
    quotas(&crib, &[(kim(), 9)]);
    for (name, arguments, expected) in [
        ("t", json!({"answer": "x"}), "invalid_input"),
        ("blocked", json!({}), "blocked_by_policy"),
        ("nothing", json!({}), "tool_not_found"),
        ("later", json!({}), "not_configured"),
        ("t", json!({"do": "fail"}), "tool_execution_error"),
        ("t", json!({"do": "hang"}), "timeout"),
        ("t", json!({}), ""),
    ] {
        assert_eq!(code(&crib.call(name, arguments).await), expected);
    }
    let used = crib.executor.day_use(kim()).await.unwrap();
    assert_eq!((used, pace(&crib, "t").await.minute), (Some(3), 3));
}

#[tokio::test]
async fn a_call_that_finds_the_queue_full_does_not_count() {
    let serial = json!({"name": "t", "rate_limit": {"requests_per_minute": 9}});
    let settings = Settings {
        queue_max: 0,
        ..Settings::default()
    };
    let crib = Crib::with(vec![tool(&serial)], Policy::default(), settings).await;
    quotas(&crib, &[(the_tool("t"), 9)]);
    let running = crib.start("t", json!({"do": "wait"}));
    crib.seen.entered.notified().await;
    assert_eq!(
        wait(&crib.call("t", json!({})).await),
        ("rate_limited", Some(1))
    );
    let used = crib.executor.day_use(the_tool("t")).await.unwrap();
    let expected = PaceUse {
        minute: 1,
        hour: 1,
        running: 1,
    };
    assert_eq!((used, pace(&crib, "t").await), (Some(1), expected));
    crib.seen.go.notify_one();
    assert_eq!(code(&running.answer().await), "");
}

#[tokio::test]
async fn a_quota_begins_anew_at_midnight_utc() {
    let crib = Crib::new(limited("t", &json!({}))).await;
    quotas(&crib, &[(kim(), 2), (the_tool("t"), 0)]);
    assert_eq!(
        code(&crib.call("t", json!({})).await),
        "quota_exceeded",
        "0 blocks"
    );
    quotas(&crib, &[(kim(), 2)]);
    let to_midnight = DAY - NOON % DAY;
    crib.executor.clock.advance(to_midnight - 1);
    for expected in ["", "", "quota_exceeded"] {
        assert_eq!(code(&crib.call("t", json!({})).await), expected);
    }
    crib.executor.clock.advance(1);
    for expected in ["", "", "quota_exceeded"] {
        assert_eq!(code(&crib.call("t", json!({})).await), expected);
    }
    crib.executor.clock.advance(3 * DAY);
    assert_eq!(
        code(&crib.call("t", json!({})).await),
        "",
        "after idle days, too"
    );
}

#[tokio::test]
async fn a_new_version_goes_on_where_the_old_one_was() {
    let crib = Crib::new(limited("t", &json!({"requests_per_minute": 2}))).await;
    for expected in ["", "", "rate_limited"] {
        assert_eq!(code(&crib.call("t", json!({})).await), expected);
    }
    let change = |rate_limit: Value| {
        let next = tool(&limited("t", &rate_limit));
        let next = crib.executor.catalogue.load().with(vec![Change::Put(next)]);
        crib.executor.catalogue.store(Arc::new(next));
    };
    change(json!({"requests_per_minute": 3, "requests_per_hour": 3}));
    for expected in ["", "rate_limited"] {
        assert_eq!(code(&crib.call("t", json!({})).await), expected);
    }
    // Not measured for a while, then again: what was called meanwhile is known from the log.
    change(json!({"concurrent_requests": 9}));
    assert_eq!(code(&crib.call("t", json!({})).await), "");
    change(json!({"requests_per_minute": 5}));
    for expected in ["", "rate_limited"] {
        assert_eq!(code(&crib.call("t", json!({})).await), expected);
    }
}
