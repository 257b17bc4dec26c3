//! Shared limits when something is lost: a server that is killed, a database that does not answer, counts that are not there yet.

use crate::leases::{call, call_for, counts, hammer, together};
use crate::testapp::{ADMIN, NOW, TestApp};
use catalog::clock::Clock;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::runtime::Runtime;

fn tool(name: &str, rate_limit: &Value) -> Value {
    let mut tool = json!({"name": name, "description": "d", "kind": "builtin", "config": {"name": "fixture_wait"},
        "input_schema": {"type": "object"}, "parallel_capable": true,
        "annotations": {"read_only": true}});
    if !rate_limit.is_null() {
        tool["rate_limit"] = rate_limit.clone();
    }
    tool
}

/// A server in a runtime of its own, which can be killed: nothing of it goes on, and it tells nobody.
struct Doomed {
    runtime: Option<Runtime>,
    app: Option<Arc<TestApp>>,
}

impl Doomed {
    async fn beside(app: &Arc<TestApp>) -> Doomed {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (first, clock) = (Arc::clone(app), app.clock.clone());
        let opened = runtime.spawn(async move { first.beside(clock).await });
        Doomed {
            app: Some(Arc::new(opened.await.unwrap())),
            runtime: Some(runtime),
        }
    }

    fn app(&self) -> Arc<TestApp> {
        Arc::clone(self.app.as_ref().unwrap())
    }

    async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        let runtime = self.runtime.as_ref().unwrap();
        runtime.spawn(work).await.unwrap()
    }

    fn kill(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
        // Its memory goes with it in a real process; here nobody may run what ends it in order.
        std::mem::forget(self.app.take());
    }
}

/// How many places servers hold.
async fn places(app: &TestApp) -> i64 {
    let store::Db::Postgres(pool, ..) = &app.server.app.store else {
        return 0;
    };
    let held = "SELECT coalesce(sum(held), 0)::bigint FROM lease_places";
    sqlx::query_scalar(held).fetch_one(pool).await.unwrap()
}

async fn limit(apps: &[Arc<TestApp>], kind: &str, target: &str, max_count: u64) {
    let body = json!({"target_type": kind, "target_id": target, "max_count": max_count});
    assert!(apps[0].post("/api/v1/limits", body).await.status < 300);
    for app in apps {
        app.server.app.catch_up().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_server_costs_at_most_its_lease() {
    let tools = json!([tool("small", &Value::Null), tool("large", &Value::Null)]);
    together(
        tools,
        Clock::manual(NOW),
        async |apps: [Arc<TestApp>; 3]| {
            let mut doomed = Doomed::beside(&apps[0]).await;
            let all = [Arc::clone(&apps[0]), Arc::clone(&apps[1]), doomed.app()];
            limit(&all, "TOOL", "small", 60).await;
            limit(&all, "TOOL", "large", 2_000).await;
            let app = doomed.app();
            let small = doomed.run(async move {
                for _ in 0..20 {
                    assert_eq!(call(&app, "small").await, "");
                }
            });
            small.await;
            let (mut through, mut lost) = (0, 0);
            while lost == 0 {
                let app = doomed.app();
                let large = doomed.run(async move {
                    for _ in 0..100 {
                        assert_eq!(call(&app, "large").await, "");
                    }
                });
                large.await;
                through += 100;
                // From here on it can tell nobody what it has not used.
                apps[0]
                    .sql("ALTER FUNCTION lease(jsonb) RENAME TO lease_away")
                    .await;
                lost = blocks(&apps[0]).await;
                if lost == 0 {
                    apps[0]
                        .sql("ALTER FUNCTION lease_away(jsonb) RENAME TO lease")
                        .await;
                }
            }
            doomed.kill();
            apps[0]
                .sql("ALTER FUNCTION lease_away(jsonb) RENAME TO lease")
                .await;
            assert!(lost <= 64, "{lost}");
            let others = &apps[..2];
            let (more, _) = hammer(others, "small", 40).await;
            assert_eq!(more, 40, "nothing of a small limit is lost");
            let mut refused = 0;
            for round in 0.. {
                match call(&apps[round % 2], "large").await.as_str() {
                    "" => (through, refused) = (through + 1, 0),
                    _ => refused += 1,
                }
                if through >= 2_000 - lost && refused > 50 {
                    break;
                }
            }
            println!("a killed server held a block of {lost}; {through} of 2000 were let through");
            assert!((2_000 - lost..=2_000).contains(&through), "{through}");
            assert_eq!(
                blocks(&apps[0]).await,
                lost,
                "its block stays, all others are settled"
            );
        },
    )
    .await;
}

/// How much servers have leased and not settled.
async fn blocks(app: &TestApp) -> i64 {
    let store::Db::Postgres(pool, ..) = &app.server.app.store else {
        return 0;
    };
    let count = "SELECT coalesce(sum(count), 0)::bigint FROM lease_blocks";
    sqlx::query_scalar(count).fetch_one(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_places_of_a_killed_server_come_free_when_its_calls_are_over() {
    let mut tool = tool("t", &json!({"concurrent_requests": 2}));
    tool["timeout_seconds"] = json!(60.0);
    let (tools, clock) = (json!([tool]), Clock::manual(NOW));
    together(tools, clock.clone(), async |apps: [Arc<TestApp>; 3]| {
        let mut doomed = Doomed::beside(&apps[0]).await;
        let (app, runtime) = (doomed.app(), doomed.runtime.as_ref().unwrap());
        for _ in 0..2 {
            let app = Arc::clone(&app);
            // Until it has a place, which it keeps.
            runtime.spawn(
                async move { while call_for(&app, ADMIN, "t", 55.0).await.status == 429 {} },
            );
        }
        drop(app);
        while call(&apps[0], "t").await.is_empty() || places(&apps[0]).await != 2 {}
        doomed.kill();
        // 10 s without a word, the tool's minute, and a second in which it may end.
        clock.advance(70_900);
        assert_eq!(call(&apps[0], "t").await, "rate_limited");
        assert_eq!(call(&apps[1], "t").await, "rate_limited");
        clock.advance(100);
        assert_eq!(call(&apps[0], "t").await, "");
        assert_eq!(call(&apps[1], "t").await, "");
    })
    .await;
}

#[tokio::test]
async fn where_the_counts_cannot_be_asked_limited_calls_are_refused() {
    let tools = json!([
        tool("t", &json!({"requests_per_minute": 3})),
        tool("free", &Value::Null)
    ]);
    together(
        tools,
        Clock::manual(NOW),
        async |apps: [Arc<TestApp>; 3]| {
            assert_eq!(call(&apps[0], "t").await, "");
            apps[0]
                .sql("ALTER FUNCTION lease(jsonb) RENAME TO lease_away")
                .await;
            let refused = call_for(&apps[1], ADMIN, "t", 0.0).await;
            assert_eq!(
                (refused.status, refused.code()),
                (503, "service_unavailable")
            );
            assert_eq!(
                refused.message(),
                "The limits of this call cannot be checked: the database does not answer."
            );
            assert_eq!(call(&apps[1], "free").await, "");
            apps[0]
                .sql("ALTER FUNCTION lease_away(jsonb) RENAME TO lease")
                .await;
            for expected in ["", "", "rate_limited"] {
                assert_eq!(call(&apps[1], "t").await, expected);
            }
            apps[0].sql("DELETE FROM lease_times").await;
            assert_eq!(
                call(&apps[0], "t").await,
                "",
                "nothing but the tables is asked once a limit is counted"
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_new_limit_counts_what_every_server_has_logged() {
    let tools = json!([
        tool("t", &Value::Null),
        tool("paced", &json!({"requests_per_minute": 200}))
    ]);
    together(tools, Clock::manual(NOW), async |apps: [Arc<TestApp>; 3]| {
        for app in &apps {
            assert_eq!(call(app, "t").await, "");
        }
        limit(&apps, "TOOL", "t", 4).await;
        assert_eq!(call(&apps[2], "t").await, "");
        assert_eq!(call(&apps[0], "t").await, "quota_exceeded");
        // Lifted and set again: what was called meanwhile counts.
        let path = "/api/v1/limits/TOOL/t";
        assert_eq!(apps[0].as_key(ADMIN, "DELETE", path, Value::Null).await.status, 204);
        apps[1].server.app.catch_up().await.unwrap();
        assert_eq!(call(&apps[1], "t").await, "");
        limit(&apps, "TOOL", "t", 7).await;
        for (number, expected) in ["", "", "quota_exceeded"].into_iter().enumerate() {
            assert_eq!(call(&apps[number], "t").await, expected);
        }
        for _ in 0..150 {
            assert_eq!(call(&apps[0], "paced").await, "");
        }
        // Whoever starts later takes what is counted; where nothing is, what the log says.
        for keep in [true, false] {
            if !keep {
                apps[0].sql("DELETE FROM lease_times; DELETE FROM lease_blocks; DELETE FROM lease_days").await;
            }
            let late = apps[0].beside(apps[0].clock.clone()).await;
            assert_eq!(call(&late, "t").await, "quota_exceeded", "{keep}");
            let mut used = counts(&late, "paced").await;
            // What another server used of a block is told when it ends, after half a second at most.
            for _ in 0..500 {
                if used[1] == Some(150) {
                    break;
                }
                used = counts(&late, "paced").await;
            }
            assert_eq!(used[1..], [Some(150); 2], "{keep}");
            late.stop().await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_counts_no_more_is_removed() {
    let tools = json!([tool(
        "t",
        &json!({"requests_per_minute": 3, "concurrent_requests": 3})
    )]);
    let clock = Clock::manual(NOW);
    together(tools, clock.clone(), async |apps: [Arc<TestApp>; 3]| {
        limit(&apps, "TOOL", "t", 9).await;
        assert_eq!(call(&apps[0], "t").await, "");
        let store = &apps[0].server.app.store;
        let rows = async || {
            let store::Db::Postgres(pool, ..) = store else {
                return 0;
            };
            let sql =
                "SELECT (SELECT count(*) FROM lease_times) + (SELECT count(*) FROM lease_days)";
            sqlx::query_scalar::<_, i64>(sql)
                .fetch_one(pool)
                .await
                .unwrap()
        };
        assert_eq!(rows().await, 2);
        store.forget_leases(Some(NOW + 60_000)).await.unwrap();
        assert_eq!(rows().await, 2, "both still count");
        store
            .forget_leases(Some(NOW + 3 * 86_400_000))
            .await
            .unwrap();
        assert_eq!(rows().await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_while_another_is_answered_waits_for_it() {
    let tools = json!([tool("t", &json!({"requests_per_hour": 1}))]);
    let clock = Clock::manual(NOW);
    together(tools, clock, async |apps: [Arc<TestApp>; 3]| {
        let store::Db::Postgres(pool, ..) = &apps[0].server.app.store else {
            return;
        };
        // So that the log was asked already.
        assert_eq!(call(&apps[1], "t").await, "");
        apps[0].sql("DELETE FROM lease_times").await;
        let key = format!("hour/{}", catalog::tool::id_from_name("t"));
        let share = json!({"key": key, "sort": "window", "max": 1, "span": 3_600_000, "quantum": 1, "call_ms": 0});
        let request = json!({"instance": "x", "node": "x", "live": 1, "number": 1, "now": NOW, "keys": [key],
            "asks": [{"age": 0, "shares": [share]}]});
        let mut other = pool.begin().await.unwrap();
        let answer: String = sqlx::query_scalar("SELECT lease($1::jsonb)::text")
            .bind(request.to_string())
            .fetch_one(&mut *other)
            .await
            .unwrap();
        assert!(answer.contains("granted"), "{answer}");
        let app = Arc::clone(&apps[1]);
        let asking = tokio::spawn(async move { call(&app, "t").await });
        let waits = "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
            WHERE NOT l.granted AND a.datname = current_database()";
        while sqlx::query_scalar::<_, i64>(waits).fetch_one(pool).await.unwrap() == 0 {}
        other.commit().await.unwrap();
        assert_eq!(asking.await.unwrap(), "rate_limited");
    })
    .await;
}
