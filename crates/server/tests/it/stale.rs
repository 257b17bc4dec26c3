//! A change that was made from an older version is refused with what has changed since, whatever it is a change of.

use crate::testapp::{TestApp, on_both};
use serde_json::{Value, json};

#[tokio::test]
async fn a_change_from_an_older_version_is_told_what_has_changed() {
    on_both(async |app: &TestApp| {
        let file = app.folder.path().join("some.db");
        let things: [(&str, Value, &str, Value, Value); 4] = [
            (
                "agents",
                json!({"name": "one", "model_provider": "openai", "model_name": "m"}),
                "model_name",
                json!("n"),
                json!("o"),
            ),
            (
                "toolsets",
                json!({"name": "one", "tools": [], "instructions": "m"}),
                "instructions",
                json!("n"),
                json!("o"),
            ),
            (
                "servers",
                json!({"name": "one", "url": "http://127.0.0.1:9/mcp", "disabled": true, "timeout_seconds": 5.0}),
                "timeout_seconds",
                json!(6.0),
                json!(7.0),
            ),
            (
                "sources",
                json!({"name": "one", "kind": "sqlite", "path": file, "connections_max": 2}),
                "connections_max",
                json!(3),
                json!(4),
            ),
        ];
        for (sort, new, member, second, third) in things {
            let made = app.post(&format!("/api/v1/{sort}"), new.clone()).await;
            assert_eq!(made.status, 201, "{sort}: {}", made.body);
            let path = format!("/api/v1/{sort}/one");
            for (version, value) in [(1, &second), (2, &third)] {
                let patch = json!({member: value});
                let done = app.change("PATCH", &path, Some(version), patch).await;
                assert_eq!(done.status, 200, "{sort}: {}", done.body);
            }
            let patch = json!({member: second});
            for (method, seen, before) in [("PATCH", 1, &new[member]), ("DELETE", 2, &second)] {
                let body = if method == "PATCH" { patch.clone() } else { Value::Null };
                let refused = app.change(method, &path, Some(seen), body).await;
                assert_eq!(refused.status, 409, "{sort}: {}", refused.body);
                let details = &refused.body["error"]["details"];
                let path = format!("$.{member}");
                let expected = json!([{"path": path, "before": before, "after": third}]);
                assert_eq!((&details["version"], &details["changes"]), (&json!(3), &expected), "{sort}");
            }
        }
    })
    .await;
}
