//! Reading the log.

use crate::testapp::{TestApp, on_both};
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
        for wrong in ["status=odd", "since=yesterday", "cursor=zzz", "limit=x"] {
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
