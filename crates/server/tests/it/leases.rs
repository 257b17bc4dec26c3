//! Several servers on one PostgreSQL share the limits: together they let through what there is, no more and no less.

use crate::testapp::{ADMIN, Answer, TestApp, on_both_with};
use catalog::clock::Clock;
use catalog::policy::Policy;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const MINUTE: i64 = 60_000;

/// A tool that does nothing, with this rate limit.
fn waits(name: &str, rate_limit: &Value) -> Value {
    let mut tool = json!({"name": name, "description": "d", "kind": "builtin", "config": {"name": "fixture_wait"},
        "input_schema": {"type": "object"}, "parallel_capable": true, "annotations": {"read_only": true}});
    if !rate_limit.is_null() {
        tool["rate_limit"] = rate_limit.clone();
    }
    tool
}

/// Three servers on one database, where there is one. `tools`: what all of them have in their file.
pub(crate) async fn together<F: AsyncFn([Arc<TestApp>; 3])>(tools: Value, clock: Clock, test: F) {
    on_both_with(tools, Policy::default(), async |first: &TestApp| {
        if !first.is_postgres() {
            return;
        }
        let mut apps = Vec::new();
        for _ in 0..3 {
            apps.push(Arc::new(first.beside(clock.clone()).await));
        }
        let apps: [Arc<TestApp>; 3] = apps.try_into().ok().unwrap();
        test(apps.clone()).await;
        for app in apps {
            app.stop().await;
        }
    })
    .await;
}

pub(crate) async fn call_for(app: &TestApp, key: &str, tool: &str, seconds: f64) -> Answer {
    let path = format!("/api/v1/tools/{tool}/call");
    let body = json!({"arguments": {"seconds": seconds}});
    app.as_key(key, "POST", &path, body).await
}

pub(crate) async fn call(app: &TestApp, tool: &str) -> String {
    call_for(app, ADMIN, tool, 0.0).await.code().to_owned()
}

async fn set(app: &TestApp, kind: &str, target: &str, max_count: u64) {
    let body = json!({"target_type": kind, "target_id": target, "max_count": max_count});
    let set = app.post("/api/v1/limits", body).await;
    assert!(set.status < 300, "{}", set.body);
}

async fn all_follow(apps: &[Arc<TestApp>]) {
    for app in apps {
        app.server.app.catch_up().await.unwrap();
    }
}

async fn usage(app: &TestApp, name: &str) -> Value {
    let page = app.get("/api/v1/usage").await.body;
    let items = page["items"].as_array().unwrap();
    let found = items.iter().find(|item| item["target_name"] == name);
    found.unwrap().clone()
}

/// Calls of the day, the minute and the hour, where they are counted.
pub(crate) async fn counts(app: &TestApp, name: &str) -> [Option<u64>; 3] {
    let used = usage(app, name).await;
    [
        &used["count"],
        &used["minute"]["count"],
        &used["hour"]["count"],
    ]
    .map(Value::as_u64)
}

/// How many questions a server has put to the shared counts.
pub(crate) async fn questions(app: &TestApp) -> i64 {
    let store::Db::Postgres(pool, ..) = &app.server.app.store else {
        return 0;
    };
    let number = sqlx::query_scalar("SELECT number FROM lease_servers WHERE instance = $1");
    let number = number.bind(&app.server.app.replicas.instance);
    number.fetch_optional(pool).await.unwrap().unwrap_or(0)
}

/// All servers call until `max` were let through, eight callers on each; then each tries some more. Says how many were let
/// through, and how many calls there were.
pub(crate) async fn hammer(apps: &[Arc<TestApp>], tool: &str, max: u64) -> (u64, u64) {
    let (through, calls) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let late = Arc::new(AtomicBool::new(false));
    let mut callers = tokio::task::JoinSet::new();
    for app in apps.iter().flat_map(|app| std::iter::repeat_n(app, 8)) {
        let (app, tool, through) = (Arc::clone(app), tool.to_owned(), Arc::clone(&through));
        let (late, calls) = (Arc::clone(&late), Arc::clone(&calls));
        callers.spawn(async move {
            let mut more = 5;
            while more > 0 && !late.load(Ordering::SeqCst) {
                let code = call(&app, &tool).await;
                calls.fetch_add(1, Ordering::SeqCst);
                match code.as_str() {
                    "" => drop(through.fetch_add(1, Ordering::SeqCst)),
                    "rate_limited" | "quota_exceeded" => {}
                    other => panic!("{other}"),
                }
                if through.load(Ordering::SeqCst) >= max {
                    more -= 1;
                }
            }
        });
    }
    let watch = Arc::clone(&late);
    let limit = tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        watch.store(true, Ordering::SeqCst);
    });
    while let Some(done) = callers.join_next().await {
        done.unwrap();
    }
    limit.abort();
    (through.load(Ordering::SeqCst), calls.load(Ordering::SeqCst))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_share_a_limit_of_each_sort() {
    let cases = [
        ("m50", json!({"requests_per_minute": 50}), 50),
        ("m900", json!({"requests_per_minute": 900}), 900),
        ("h50", json!({"requests_per_hour": 50}), 50),
        ("h900", json!({"requests_per_hour": 900}), 900),
        (
            "both",
            json!({"requests_per_minute": 300, "requests_per_hour": 40}),
            40,
        ),
        ("t50", Value::Null, 50),
        ("t900", Value::Null, 900),
    ];
    let tools: Vec<Value> = cases
        .iter()
        .map(|(name, rate, _)| waits(name, rate))
        .collect();
    let clock = Clock::manual(crate::testapp::NOW);
    together(json!(tools), clock, async |apps: [Arc<TestApp>; 3]| {
        set(&apps[0], "TOOL", "t50", 50).await;
        set(&apps[1], "TOOL", "t900", 900).await;
        all_follow(&apps).await;
        for (tool, rate, max) in &cases {
            let before: Vec<i64> = [
                questions(&apps[0]).await,
                questions(&apps[1]).await,
                questions(&apps[2]).await,
            ]
            .into();
            let (through, calls) = hammer(&apps, tool, *max).await;
            let mut asked = -before.iter().sum::<i64>();
            for app in &apps {
                asked += questions(app).await;
            }
            println!("{tool}: {through} of {calls} calls let through, {asked} questions");
            assert_eq!(through, *max, "{tool} {rate}");
            for app in &apps {
                let mut used = counts(app, tool).await;
                // What others used of a block is told when it ends, after half a second at most.
                for _ in 0..500 {
                    if used
                        .iter()
                        .all(|count| count.is_none_or(|count| count == *max))
                    {
                        break;
                    }
                    used = counts(app, tool).await;
                }
                let shown: Vec<u64> = used.iter().flatten().copied().collect();
                assert!(
                    !shown.is_empty() && shown.iter().all(|count| count == max),
                    "{tool} {used:?}"
                );
            }
        }
        set(&apps[2], "USER", "admin", 7_000).await;
        all_follow(&apps).await;
        let earlier = usage(&apps[0], "admin").await["count"].as_u64().unwrap();
        set(&apps[2], "USER", "admin", earlier + 500).await;
        all_follow(&apps).await;
        assert_eq!(
            hammer(&apps, "fixture_wait", 500).await.0,
            500,
            "of a user, after {earlier} calls"
        );
        assert_eq!(usage(&apps[1], "admin").await["remaining"], 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_minute_on_any_server_has_more_than_is_allowed() {
    for max in [30usize, 240] {
        let tools = json!([waits("t", &json!({"requests_per_minute": max}))]);
        let clock = Clock::manual(crate::testapp::NOW);
        together(tools, clock.clone(), async |apps: [Arc<TestApp>; 3]| {
            let mut through = 0;
            for round in 0..260 {
                let mut callers = tokio::task::JoinSet::new();
                for app in apps.iter().flat_map(|app| std::iter::repeat_n(app, 4)) {
                    let app = Arc::clone(app);
                    callers.spawn(async move { call(&app, "t").await });
                }
                // While they are on their way.
                clock.advance(300 + round % 7 * 100);
                while let Some(code) = callers.join_next().await {
                    through += usize::from(code.unwrap().is_empty());
                }
            }
            let times = started(&apps[0], "t").await;
            assert_eq!(times.len(), through);
            for (number, end) in times.iter().enumerate() {
                let within = times[..=number].iter().rev();
                let within = within.take_while(|at| end - **at < MINUTE).count();
                assert!(within <= max, "{within} calls in the minute before {end}");
            }
            // 260 rounds take 156 s: two whole minutes and a part of the third.
            assert!(through >= 2 * max + max / 2, "{through} calls in all");
        })
        .await;
    }
}

/// When the calls of a tool began that were let through, in order.
async fn started(app: &TestApp, tool: &str) -> Vec<i64> {
    let store::Db::Postgres(pool, ..) = &app.server.app.store else {
        return Vec::new();
    };
    let times = sqlx::query_scalar(
        "SELECT started_at FROM executions WHERE tool_name = $1 AND error_code IS NULL ORDER BY started_at",
    );
    times.bind(tool).fetch_all(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn places_are_shared() {
    let tools = json!([waits("t", &json!({"concurrent_requests": 5}))]);
    together(tools, Clock::System, async |apps: [Arc<TestApp>; 3]| {
        let refused = Arc::new(tokio::sync::Semaphore::new(0));
        let mut callers = tokio::task::JoinSet::new();
        for app in apps.iter().flat_map(|app| std::iter::repeat_n(app, 4)) {
            let (app, refused) = (Arc::clone(app), Arc::clone(&refused));
            callers.spawn(async move {
                let code = call_for(&app, ADMIN, "t", 25.0).await.code().to_owned();
                assert_eq!(code, "rate_limited");
                refused.add_permits(1);
                std::future::pending::<()>().await;
            });
        }
        refused.acquire_many(7).await.unwrap().forget();
        for app in &apps {
            let answer = call_for(app, ADMIN, "t", 0.0).await;
            assert_eq!(
                answer.message(),
                "Rate limit exceeded: 5 concurrent requests"
            );
            assert_eq!(usage(app, "t").await["running"]["count"], 5);
        }
        // Everybody hangs up.
        drop(callers);
        for app in &apps {
            while call(app, "t").await == "rate_limited" {
                tokio::task::yield_now().await;
            }
        }
        while usage(&apps[0], "t").await["running"]["count"] != 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn never_more_run_at_a_time_than_there_are_places() {
    let tools = json!([waits("t", &json!({"concurrent_requests": 4}))]);
    together(tools, Clock::System, async |apps: [Arc<TestApp>; 3]| {
        let mut callers = tokio::task::JoinSet::new();
        for app in apps.iter().flat_map(|app| std::iter::repeat_n(app, 4)) {
            let app = Arc::clone(app);
            callers.spawn(async move {
                let mut through = 0;
                while through < 20 {
                    through += usize::from(call_for(&app, ADMIN, "t", 0.03).await.status == 200);
                }
            });
        }
        while let Some(done) = callers.join_next().await {
            done.unwrap();
        }
        let store::Db::Postgres(pool, ..) = &apps[0].server.app.store else {
            return;
        };
        let sql = "SELECT started_at * 1000 + elapsed_us FROM executions WHERE tool_name = 't' AND error_code IS NULL";
        let ends: Vec<i64> = sqlx::query_scalar(sql).fetch_all(pool).await.unwrap();
        assert_eq!(ends.len(), 240);
        // Each ran for 30 ms before its end; a few of them are left out because of rounding.
        let mut edges: Vec<(i64, i64)> = Vec::new();
        for end in ends {
            edges.extend([(end - 27_000, 1), (end - 3_000, -1)]);
        }
        edges.sort_unstable();
        let (mut running, mut peak) = (0, 0);
        for (_, change) in edges {
            running += change;
            peak = peak.max(running);
        }
        assert!((2..=4).contains(&peak), "{peak} calls at a time");
    })
    .await;
}

#[tokio::test]
async fn what_cannot_have_run_is_given_back_and_one_refusal_takes_nothing() {
    let mut search = waits(
        "search",
        &json!({"requests_per_minute": 500, "requests_per_hour": 20}),
    );
    search["config"]["name"] = json!("web_search");
    let two = waits(
        "two",
        &json!({"requests_per_minute": 2, "requests_per_hour": 300}),
    );
    let clock = Clock::manual(crate::testapp::NOW);
    together(
        json!([search, two]),
        clock,
        async |apps: [Arc<TestApp>; 3]| {
            set(&apps[0], "TOOL", "search", 30).await;
            set(&apps[0], "TOOL", "two", 5).await;
            all_follow(&apps).await;
            for round in 0..60 {
                let path = "/api/v1/tools/search/call";
                let body = json!({"arguments": {"query": "x"}});
                let answer = apps[round % 3].post(path, body).await;
                assert_eq!(answer.code(), "not_configured", "{}", answer.body);
            }
            // What is given back is told a moment later.
            while counts(&apps[0], "search").await != [Some(0); 3] {}
            for round in 0..30 {
                let expected = if round < 2 { "" } else { "rate_limited" };
                assert_eq!(call(&apps[round % 3], "two").await, expected);
            }
            assert_eq!(counts(&apps[0], "two").await, [Some(2); 3]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_large_limit_is_leased_in_blocks() {
    let rates = [
        json!({"requests_per_minute": 100_000, "concurrent_requests": 1_000}),
        json!({"requests_per_hour": 100_000}),
    ];
    for rate in rates {
        let tools = json!([waits("t", &rate)]);
        together(tools, Clock::System, async |apps: [Arc<TestApp>; 3]| {
            for _ in 0..1_000 {
                assert_eq!(call(&apps[0], "t").await, "");
            }
            let asked = questions(&apps[0]).await;
            println!("1000 calls one after the other of {rate}: {asked} questions");
            assert!(asked < 200, "{asked} questions");
        })
        .await;
    }
}
