//! Quotas and rate limits over REST: set, refused with Retry-After, told, kept over a restart, and audited.

use crate::testapp::{ADMIN, Answer, TestApp, on_both, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};

const LIMITS: &str = "/api/v1/limits";
/// The clock of the tests stands at 08:00 UTC.
const TO_MIDNIGHT: u64 = 16 * 3600;

/// A user with this role, and a key of theirs with every right of it.
async fn user(app: &TestApp, name: &str, role: &str) -> String {
    let made = app
        .post("/api/v1/users", json!({"name": name, "role": role}))
        .await;
    assert_eq!(made.status, 201, "{}", made.body);
    let body = json!({"name": "k", "user": name, "scopes": made.body["scopes"]});
    let key = app.post("/api/v1/keys", body).await;
    assert_eq!(key.status, 201, "{}", key.body);
    key.body["key"].as_str().unwrap().to_owned()
}

async fn call(app: &TestApp, key: &str, tool: &str) -> Answer {
    let body = json!({"arguments": {"seconds": 0}});
    app.as_key(key, "POST", &format!("/api/v1/tools/{tool}/call"), body)
        .await
}

/// The codes of so many calls in a row.
async fn codes(app: &TestApp, key: &str, tool: &str, count: usize) -> Vec<String> {
    let mut codes = Vec::new();
    for _ in 0..count {
        codes.push(call(app, key, tool).await.code().to_owned());
    }
    codes
}

async fn set(app: &TestApp, target_type: &str, target: &str, max_count: i64) -> Answer {
    let body = json!({"target_type": target_type, "target_id": target, "max_count": max_count});
    app.post(LIMITS, body).await
}

fn retry_after(answer: &Answer) -> u64 {
    let header = answer.headers.get("retry-after").unwrap();
    let seconds = header.to_str().unwrap().parse().unwrap();
    assert_eq!(
        answer.body["error"]["details"]["retry_after_seconds"],
        seconds
    );
    seconds
}

#[tokio::test]
async fn a_user_has_a_quota_that_survives_a_restart() {
    on_both(async |app: &TestApp| {
        let kim = user(app, "kim", "author").await;
        assert_eq!(
            codes(app, &kim, "fixture_wait", 1).await,
            [""],
            "before there is a limit"
        );
        let made = set(app, "USER", "kim", 2).await;
        assert_eq!(
            (made.status, &made.body["target_name"]),
            (201, &json!("kim"))
        );
        let id = made.body["target_id"].as_str().unwrap().to_owned();
        assert_eq!(uuid::Uuid::parse_str(&id).unwrap().to_string(), id);
        let again = set(app, "USER", &id, 3).await;
        assert_eq!(
            (again.status, &again.body["max_count"]),
            (200, &json!(3)),
            "by id, and another maximum"
        );

        let quota = "quota_exceeded";
        assert_eq!(codes(app, &kim, "fixture_wait", 3).await, ["", "", quota]);
        let refused = call(app, &kim, "serialize_for_cell").await;
        assert_eq!(
            (refused.status, refused.code()),
            (422, "invalid_input"),
            "its arguments come first"
        );
        let refused = call(app, &kim, "fixture_wait").await;
        assert_eq!((refused.status, retry_after(&refused)), (429, TO_MIDNIGHT));
        assert_eq!(
            refused.message(),
            "Daily quota exceeded: 3 calls per day (UTC) for user 'kim'"
        );
        let entry = refused.body["execution_id"].as_str().unwrap();
        let entry = app.get(&format!("/api/v1/executions/{entry}")).await;
        assert_eq!(entry.body["error"]["code"], quota, "{}", entry.body);
        assert_eq!(
            codes(app, ADMIN, "fixture_wait", 1).await,
            [""],
            "nobody else is concerned"
        );

        let app = app.restart().await;
        assert_eq!(codes(&app, &kim, "fixture_wait", 1).await, [quota]);
        set(&app, "USER", "kim", 5).await;
        let app = app.restart().await;
        assert_eq!(codes(&app, &kim, "fixture_wait", 3).await, ["", "", quota]);
        let usage = app.get("/api/v1/usage").await;
        let used = &usage.body["items"][0];
        assert_eq!(
            (
                &used["target_type"],
                &used["target_name"],
                &used["target_id"],
                &used["day"]
            ),
            (
                &json!("USER"),
                &json!("kim"),
                &json!(id),
                &json!("2027-01-15")
            )
        );
        assert_eq!(
            (&used["count"], &used["max_count"], &used["remaining"]),
            (&json!(5), &json!(5), &json!(0))
        );
        app.clock
            .advance(i64::try_from(TO_MIDNIGHT).unwrap() * 1_000);
        assert_eq!(
            codes(&app, &kim, "fixture_wait", 1).await,
            [""],
            "the next day"
        );
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_tool_has_a_quota_for_all_its_callers() {
    on_both(async |app: &TestApp| {
        let kim = user(app, "kim", "author").await;
        assert_eq!(set(app, "TOOL", "fixture_wait", 3).await.status, 201);
        assert_eq!(codes(app, &kim, "fixture_wait", 2).await, ["", ""]);
        assert_eq!(
            codes(app, ADMIN, "fixture_wait", 2).await,
            ["", "quota_exceeded"]
        );
        // An answer given again is no second call, before a restart as after it.
        set(app, "TOOL", "fixture_wait", 4).await;
        let keyed = json!({"arguments": {"seconds": 0}, "idempotency_key": "once"});
        for _ in 0..3 {
            let path = "/api/v1/tools/fixture_wait/call";
            let answer = app.as_key(&kim, "POST", path, keyed.clone()).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
        set(app, "TOOL", "fixture_wait", 6).await;
        let app = app.restart().await;
        assert_eq!(
            codes(&app, &kim, "fixture_wait", 3).await,
            ["", "", "quota_exceeded"]
        );
        let gone = app.as_key(
            ADMIN,
            "DELETE",
            "/api/v1/limits/TOOL/fixture_wait",
            Value::Null,
        );
        assert_eq!(gone.await.status, 204);
        assert_eq!(codes(&app, &kim, "fixture_wait", 1).await, [""]);
        app.stop().await;
    })
    .await;
}

fn paced() -> Value {
    json!([{"name": "paced", "description": "d", "kind": "builtin", "config": {"name": "fixture_wait"},
        "input_schema": {"type": "object"}, "parallel_capable": true,
        "rate_limit": {"requests_per_minute": 2, "requests_per_hour": 3, "concurrent_requests": 5}}])
}

#[tokio::test]
async fn a_rate_limit_holds_and_survives_a_restart() {
    on_both_with(paced(), Policy::default(), async |app: &TestApp| {
        assert_eq!(codes(app, ADMIN, "paced", 2).await, ["", ""]);
        app.clock.advance(20_000);
        let app = app.restart().await;
        let refused = call(&app, ADMIN, "paced").await;
        assert_eq!(
            (refused.status, refused.code(), retry_after(&refused)),
            (429, "rate_limited", 40)
        );
        assert_eq!(
            refused.message(),
            "Rate limit exceeded: 2 requests per minute"
        );
        app.clock.advance(40_000);
        assert_eq!(codes(&app, ADMIN, "paced", 1).await, [""]);
        let refused = call(&app, ADMIN, "paced").await;
        assert_eq!(
            (refused.message(), retry_after(&refused)),
            ("Rate limit exceeded: 3 requests per hour", 3540)
        );
        let usage = app.get("/api/v1/usage").await.body;
        let used = &usage["items"][0];
        assert_eq!(
            (&used["target_name"], &used["count"]),
            (&json!("paced"), &json!(null))
        );
        assert_eq!(
            used["minute"],
            json!({"count": 1, "max_count": 2, "remaining": 1})
        );
        assert_eq!(
            used["hour"],
            json!({"count": 3, "max_count": 3, "remaining": 0})
        );
        assert_eq!(
            used["running"],
            json!({"count": 0, "max_count": 5, "remaining": 5})
        );
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn limits_are_set_by_those_who_operate_and_seen_by_those_concerned() {
    on_both_with(paced(), Policy::default(), async |app: &TestApp| {
        let kim = user(app, "kim", "author").await;
        let lee = user(app, "lee", "viewer").await;
        let operator = user(app, "oh", "operator").await;
        let body =
            |target: &str| json!({"target_type": "USER", "target_id": target, "max_count": 9});
        for method in ["POST", "PUT"] {
            let refused = app.as_key(&kim, method, LIMITS, body("kim")).await;
            assert_eq!((refused.status, refused.code()), (403, "forbidden"));
            assert!(
                refused.message().contains("'operate'"),
                "{}",
                refused.message()
            );
        }
        assert_eq!(
            app.as_key(&operator, "PUT", LIMITS, body("kim"))
                .await
                .status,
            201
        );
        assert_eq!(
            app.as_key(&operator, "PUT", LIMITS, body("lee"))
                .await
                .status,
            201
        );
        let refused = app
            .as_key(&kim, "DELETE", "/api/v1/limits/USER/kim", Value::Null)
            .await;
        assert_eq!(refused.status, 403);
        let names = async |key: &str, path: &str| {
            let page = app.as_key(key, "GET", path, Value::Null).await.body;
            let items = page["items"].as_array().unwrap().clone();
            let names = items
                .iter()
                .map(|item| item["target_name"].as_str().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        for (key, limits, usage) in [
            (&kim, vec!["kim"], vec!["kim"]),
            (&lee, vec!["lee"], vec!["lee"]),
            (&operator, vec!["kim", "lee"], vec!["kim", "lee", "paced"]),
        ] {
            assert_eq!(names(key, LIMITS).await, limits);
            assert_eq!(names(key, "/api/v1/usage").await, usage);
        }
    })
    .await;
}

#[tokio::test]
async fn a_private_tool_of_somebody_else_has_no_limit_for_an_operator() {
    on_both(async |app: &TestApp| {
        let kim = user(app, "kim", "author").await;
        let operator = user(app, "oh", "operator").await;
        let private = crate::testapp::definition("private");
        let made = app.as_key(&kim, "POST", "/api/v1/tools", private).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let body = json!({"target_type": "TOOL", "target_id": "private", "max_count": 1});
        let refused = app.as_key(&operator, "POST", LIMITS, body.clone()).await;
        assert_eq!(refused.message(), "target_id: there is no tool 'private'");
        assert_eq!(app.post(LIMITS, body).await.status, 201);
        let page = app.as_key(&operator, "GET", LIMITS, Value::Null).await;
        assert_eq!(page.body["items"], json!([]));
        let id = made.body["id"].as_str().unwrap();
        let path = format!("{LIMITS}/TOOL/{id}");
        assert_eq!(
            app.as_key(&operator, "DELETE", &path, Value::Null)
                .await
                .status,
            404
        );
    })
    .await;
}

#[tokio::test]
async fn wrong_limits_are_refused_with_what_is_needed() {
    on_both(async |app: &TestApp| {
        let cases = [
            (
                "user",
                "admin",
                1,
                "target_type: expected USER or TOOL, got 'user'",
            ),
            ("USER", "nobody", 1, "target_id: there is no user 'nobody'"),
            ("USER", "system", 1, "target_id: there is no user 'system'"),
            (
                "TOOL",
                "nothing",
                1,
                "target_id: there is no tool 'nothing'",
            ),
            (
                "USER",
                "admin",
                -1,
                "max_count: expected a whole number of calls a day, 0 or more, got -1",
            ),
        ];
        for (kind, target, max, message) in cases {
            let refused = set(app, kind, target, max).await;
            assert_eq!(
                (refused.status, refused.code(), refused.message()),
                (422, "invalid", message)
            );
        }
        let broken = json!({"target_type": "USER", "target_id": "admin", "max_count": 1.5});
        assert_eq!(app.post(LIMITS, broken).await.status, 400);
        let gone = app
            .as_key(ADMIN, "DELETE", "/api/v1/limits/USER/admin", Value::Null)
            .await;
        assert_eq!((gone.status, gone.code()), (404, "not_found"));
        assert_eq!(app.get(LIMITS).await.body["items"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn every_change_of_a_limit_is_audited() {
    on_both(async |app: &TestApp| {
        set(app, "USER", "admin", 7).await;
        set(app, "USER", "admin", 0).await;
        assert_eq!(
            codes(app, ADMIN, "fixture_wait", 1).await,
            ["quota_exceeded"],
            "0 blocks"
        );
        let path = "/api/v1/limits/USER/admin";
        assert_eq!(
            app.as_key(ADMIN, "DELETE", path, Value::Null).await.status,
            204
        );
        let page = app.get("/api/v1/audit?target=user:admin").await.body;
        let acts: Vec<Value> = page["items"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .map(|act| json!([act["action"], act["before"], act["after"], act["actor"]]))
            .collect();
        let (seven, zero) = (json!({"max_count": 7}), json!({"max_count": 0}));
        assert_eq!(
            acts,
            [
                json!(["limit.set", null, seven, "admin"]),
                json!(["limit.set", seven, zero, "admin"]),
                json!(["limit.remove", zero, null, "admin"]),
            ]
        );
        assert_eq!(app.get("/api/v1/audit/verify").await.body["valid"], true);
    })
    .await;
}

#[tokio::test]
async fn the_limit_of_a_removed_tool_does_no_harm() {
    on_both_with(paced(), Policy::default(), async |app: &TestApp| {
        set(app, "TOOL", "paced", 1).await;
        let path = "/api/v1/tools/paced";
        assert_eq!(
            app.as_key(ADMIN, "DELETE", path, Value::Null).await.status,
            204
        );
        let app = app.restart().await;
        let page = app.get(LIMITS).await.body;
        assert_eq!(page["items"][0]["target_name"], "paced", "{page}");
        assert_eq!(app.get("/api/v1/usage").await.body["items"], json!([]));
        assert_eq!(codes(&app, ADMIN, "fixture_wait", 2).await, ["", ""]);
        let id = page["items"][0]["target_id"].as_str().unwrap();
        let path = format!("{LIMITS}/TOOL/{id}");
        assert_eq!(
            app.as_key(ADMIN, "DELETE", &path, Value::Null).await.status,
            204
        );
        assert_eq!(app.get(LIMITS).await.body["items"], json!([]));
        app.stop().await;
    })
    .await;
}
