//! Limits that servers share: what the log knows of earlier calls, and what only the counts know.

use crate::engines;
use serde_json::{Value, json};
use store::Db;

const NOW: i64 = 1_800_000_000_000;

fn minute() -> Value {
    json!({"key": "minute/x", "sort": "window", "span": 60_000, "max": 10, "quantum": 1})
}

/// What a server asks: so many calls, after it has told what the log says, as pairs of an age and a number.
async fn ask(db: &Db, server: &str, now: i64, logged: Option<Value>, calls: usize) {
    let seeds = logged.map(|calls| {
        let mut seed = minute();
        seed["calls"] = calls;
        seed
    });
    let asks = vec![json!({"age": 0, "shares": [minute()]}); calls];
    let request = json!({
        "instance": server, "node": server, "number": now - NOW + 1, "now": now, "live": 2, "leaving": false,
        "keys": ["minute/x"], "settled": [], "unused": [], "places": [], "blocks": [],
        "seeds": seeds.into_iter().collect::<Vec<_>>(), "asks": asks,
    });
    let answer = db.lease(&request).await.unwrap();
    let granted = answer["asks"].as_array().unwrap().iter();
    assert!(
        granted.clone().all(|it| it["granted"].is_array()),
        "{answer}"
    );
    assert_eq!(granted.count(), calls);
}

async fn used(db: &Db, now: i64) -> i64 {
    let request = json!({"instance": "z", "now": now, "shares": [minute()]});
    let used = db.leases_used(&request).await.unwrap();
    used[0].as_i64().unwrap()
}

#[tokio::test]
async fn calls_that_are_not_in_the_log_yet_stay_counted() {
    for fresh in engines().await {
        let db = &fresh.db;
        if db.engine() == "postgres" {
            // Three run, and four that nobody counted are in the log.
            ask(db, "a", NOW, Some(json!([])), 3).await;
            ask(db, "b", NOW + 100, Some(json!([[30_000, 4]])), 0).await;
            assert_eq!(used(db, NOW + 100).await, 7);
            // Those that ran are logged by now: nothing counts twice.
            let all = json!([[200, 3], [30_100, 4]]);
            ask(db, "c", NOW + 200, Some(all), 0).await;
            assert_eq!(used(db, NOW + 200).await, 7);
            assert_eq!(used(db, NOW + 31_000).await, 3);
        }
        fresh.end().await;
    }
}

#[tokio::test]
async fn calls_that_went_through_uncounted_between_others_are_added() {
    for fresh in engines().await {
        let db = &fresh.db;
        if db.engine() == "postgres" {
            // The second two came through a server that had not heard of the limit.
            ask(db, "a", NOW, Some(json!([])), 2).await;
            let all = json!([[0, 1], [1_000, 1], [2_000, 2]]);
            ask(db, "b", NOW + 2_000, Some(all), 1).await;
            assert_eq!(used(db, NOW + 2_000).await, 5);
        }
        fresh.end().await;
    }
}
