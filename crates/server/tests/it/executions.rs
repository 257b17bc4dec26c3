//! Reading the log.

use crate::testapp::{Answer, TestApp, on_both};
use serde_json::{Value, json};

#[tokio::test]
async fn entries_are_listed_filtered_and_counted() {
    on_both(async |app: &TestApp| {
        let call = async |tool: &str, expression: Value| {
            app.post(
                &format!("/api/v1/tools/{tool}/call"),
                json!({"arguments": {"expression": expression}}),
            )
            .await
        };
        for i in 0..3 {
            call("calculator", json!(format!("{i}+1"))).await;
            app.clock.advance(1000);
        }
        call("calculator", json!("1/0")).await;
        call("missing", json!("1")).await;
        let items = async |query: &str| {
            app.get(&format!("/api/v1/executions?{query}")).await.body["items"]
                .as_array()
                .unwrap()
                .clone()
        };
        assert_eq!(items("").await.len(), 5);
        assert_eq!(items("status=error").await.len(), 2);
        assert_eq!(items("tool=calculator&status=success").await.len(), 3);
        assert_eq!(items("since=1s").await.len(), 3);
        assert_eq!(items("caller=nobody").await.len(), 0);
        assert_eq!(items("transport=mcp,rest").await.len(), 5);
        assert_eq!(items("transport=mcp,page").await.len(), 0);
        let newest = &items("tool=calculator&status=success&limit=1").await[0];
        assert_eq!(
            (
                &newest["arguments"],
                &newest["output"],
                &newest["caller"],
                &newest["transport"]
            ),
            (
                &json!({"expression": "2+1"}),
                &json!(3),
                &json!("admin"),
                &json!("rest")
            )
        );
        let page = app.get("/api/v1/executions?limit=2").await;
        let cursor = page.body["next_cursor"].as_str().unwrap();
        assert_eq!(items(&format!("limit=9&cursor={cursor}")).await.len(), 3);
        let stats = app.get("/api/v1/executions/stats").await.body;
        assert_eq!(
            (&stats["total"], &stats["by_error_code"]["tool_not_found"]),
            (&json!(5), &json!(1)),
            "{stats}"
        );
        for wrong in [
            "status=odd",
            "transport=fax",
            "since=yesterday",
            "cursor=zzz",
            "limit=x",
        ] {
            let refused = app.get(&format!("/api/v1/executions?{wrong}")).await;
            assert!(matches!(refused.status, 400 | 422), "{wrong}");
        }
        for unknown in ["x", "0190a6b2-7f3c-7000-8000-000000000000"] {
            assert_eq!(
                app.get(&format!("/api/v1/executions/{unknown}"))
                    .await
                    .status,
                404
            );
        }
    })
    .await;
}

#[tokio::test]
async fn calls_are_counted_over_time_everybodys_own() {
    on_both(async |app: &TestApp| {
        for _ in 0..3 {
            app.post(
                "/api/v1/tools/calculator/call",
                json!({"arguments": {"expression": "1+1"}}),
            )
            .await;
        }
        let slots = "/api/v1/executions/stats?since=1h&slots=6&status=success";
        let stats = app.get(slots).await.body;
        let calls = stats["series"]["calls"].as_array().unwrap();
        assert_eq!((calls.len(), &calls[5]), (6, &json!(3)), "{stats}");
        assert_eq!(stats["tools"][0]["calls_by_slot"], stats["series"]["calls"]);
        for wrong in [
            "slots=6",
            "since=1h&slots=0",
            "since=1h&slots=501",
            "status=odd",
        ] {
            let refused = app.get(&format!("/api/v1/executions/stats?{wrong}")).await;
            assert_eq!(refused.status, 422, "{wrong}");
        }
        // Anybody else sees their own.
        let kim = app.person("kim", "author").await;
        let theirs = app.as_key(&kim.key, "GET", slots, Value::Null).await;
        assert_eq!((theirs.status, &theirs.body["total"]), (200, &json!(0)));
    })
    .await;
}

fn lines(answer: &Answer) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).unwrap();
    match &answer.body {
        Value::Null => Vec::new(),
        Value::String(text) => text.lines().map(line).collect(),
        // A single line is JSON as it is.
        one => vec![one.clone()],
    }
}

/// More than one piece of it, what the list shows, to whom it shows it.
#[tokio::test]
async fn the_log_is_exported_as_it_is_listed() {
    on_both(async |app: &TestApp| {
        for i in 0..450 {
            let body = json!({"arguments": {"expression": format!("{i}+1")}});
            app.post("/api/v1/tools/calculator/call", body).await;
            app.clock.advance(10);
        }
        let kim = app.person("kim", "operator").await.key;
        let body = json!({"arguments": {"expression": "1/0"}});
        app.as_key(&kim, "POST", "/api/v1/tools/calculator/call", body)
            .await;

        let all = app.get("/api/v1/executions/export").await;
        let kind = all.headers["content-type"].to_str().unwrap();
        assert_eq!((all.status, kind), (200, "application/x-ndjson"));
        let exported = lines(&all);
        let listed = app.get("/api/v1/executions?limit=1000").await.body;
        let mut listed = listed["items"].as_array().unwrap().clone();
        listed.reverse();
        assert_eq!(exported.len(), 451);
        assert_eq!(exported, listed);

        let export = async |query: &str| {
            let path = format!("/api/v1/executions/export{query}");
            lines(&app.as_key(&kim, "GET", &path, Value::Null).await)
        };
        let own = export("").await;
        assert_eq!((own.len(), &own[0]["caller"]), (1, &json!("kim")));
        assert_eq!(export("?caller=admin").await, own, "nobody else's");
        for (query, count) in [
            ("status=error", 1),
            ("caller=admin", 450),
            ("tool=none", 0),
            ("since=1s", 101),
        ] {
            let found = app.get(&format!("/api/v1/executions/export?{query}")).await;
            assert_eq!(lines(&found).len(), count, "{query}");
        }
        for wrong in ["status=odd", "since=yesterday", "limit=5"] {
            let path = format!("/api/v1/executions/export?{wrong}");
            let refused = app.get(&path).await;
            assert!(matches!(refused.status, 400 | 422), "{wrong}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_audit_log_is_exported_as_it_is_listed() {
    on_both(async |app: &TestApp| {
        for i in 0..230 {
            let body = json!({"name": format!("user-{i}"), "role": "viewer"});
            assert_eq!(app.post("/api/v1/users", body).await.status, 201);
        }
        let exported = lines(&app.get("/api/v1/audit/export").await);
        let listed = app.get("/api/v1/audit?limit=500").await.body;
        let mut listed = listed["items"].as_array().unwrap().clone();
        listed.reverse();
        assert_eq!(exported, listed);
        assert!(exported.len() >= 230);
        let one = app.get("/api/v1/audit/export?target=user:user-7").await;
        assert_eq!(lines(&one).len(), 1);
        assert_eq!(app.get("/api/v1/audit/export?since=soon").await.status, 422);
    })
    .await;
}
