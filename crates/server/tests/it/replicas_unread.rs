//! What another server has stored and this one cannot read keeps nothing else back, is told, and is not overwritten.

use crate::replicas::{Place, with_two};
use crate::scripted::until;
use crate::testapp::{ADMIN, TestApp, postgres_url};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

/// What a later version would do: a policy with a sort of rule that nobody here knows.
async fn store_policy(place: &Place, rules: Value, version: i64) {
    let url = postgres_url().unwrap();
    let (server, _) = url.rsplit_once('/').unwrap();
    let pool = sqlx::PgPool::connect(&format!("{server}/{}", place.database))
        .await
        .unwrap();
    let document = json!({"rules": rules});
    for sql in [
        format!("INSERT INTO policies (version, document, created_at) VALUES ({version}, '{document}', 1)"),
        "UPDATE revision SET number = number + 1".to_owned(),
        "INSERT INTO changes (revision, subject, ids, instance) SELECT number, 'policy', '', 'later' FROM revision".to_owned(),
        "SELECT pg_notify('toolcrib', current_schema())".to_owned(),
    ] {
        sqlx::query(AssertSqlSafe(sql)).execute(&pool).await.unwrap();
    }
    pool.close().await;
}

async fn unread(app: &TestApp) -> (Value, Value) {
    let ready = app.get("/readyz").await.body;
    (ready["status"].clone(), ready["replicas"]["unread"].clone())
}

#[tokio::test]
async fn what_cannot_be_read_keeps_nothing_else_back() {
    with_two(async |a, b, place| {
        let later = json!([{"subject": "moon", "target": "full", "deny": ["*"]}]);
        store_policy(place, later, 7).await;
        until("it is told", async || {
            (unread(a).await == (json!("degraded"), json!(["policy"]))).then_some(())
        })
        .await;
        // Everything else is followed on.
        let made = b
            .post("/api/v1/users", json!({"name": "kim", "role": "viewer"}))
            .await;
        assert_eq!(made.status, 201, "{}", made.body);
        until("the user is known", async || {
            let users = a.get("/api/v1/users").await.body.to_string();
            users.contains("kim").then_some(())
        })
        .await;
        let figures = a.get("/metrics").await.body.to_string();
        for figure in [
            "toolcrib_replicas_others 1",
            "toolcrib_replicas_unread 1",
            "toolcrib_replicas_line 1",
            "toolcrib_revision_age_seconds ",
            "toolcrib_heartbeats_failed_total 0",
        ] {
            assert!(figures.contains(figure), "{figure}: {figures}");
        }
        // Nobody here may put another in its place unseen, and everything else may be changed.
        let rules =
            json!({"rules": [{"subject": "role", "target": "viewer", "deny": ["on_file"]}]});
        let refused = a.as_key(ADMIN, "PUT", "/api/v1/policy", rules).await;
        assert!(refused.status >= 400, "{}", refused.body);
        let made = a
            .post("/api/v1/users", json!({"name": "lee", "role": "viewer"}))
            .await;
        assert_eq!(made.status, 201, "{}", made.body);
        store_policy(place, json!([]), 8).await;
        until("it can be read again", async || {
            (unread(a).await == (json!("ready"), json!([]))).then_some(())
        })
        .await;
    })
    .await;
}
