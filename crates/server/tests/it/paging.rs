//! Lists come in parts, as many items as asked for, and following the cursor shows each of them once.

use crate::testapp::{TestApp, on_both};
use serde_json::{Value, json};

const LISTS: [&str; 7] = [
    "/api/v1/users",
    "/api/v1/keys",
    "/api/v1/secrets",
    "/api/v1/limits",
    "/api/v1/usage",
    "/api/v1/sources",
    "/api/v1/servers",
];

/// Three of everything that is listed.
async fn fill(app: &TestApp) {
    for name in ["b one", "a", "c"] {
        let file = app.folder.path().join("some.db");
        let slug = &name[..1];
        for (method, path, body) in [
            (
                "POST",
                "/api/v1/users".to_owned(),
                json!({"name": slug, "role": "author"}),
            ),
            (
                "POST",
                "/api/v1/keys".to_owned(),
                json!({"name": name, "scopes": ["read"]}),
            ),
            (
                "PUT",
                format!("/api/v1/secrets/{slug}"),
                json!({"value": "hidden"}),
            ),
            (
                "PUT",
                "/api/v1/limits".to_owned(),
                json!({"target_type": "USER", "target_id": slug, "max_count": 5}),
            ),
            (
                "POST",
                "/api/v1/sources".to_owned(),
                json!({"name": slug, "kind": "sqlite", "path": file}),
            ),
            (
                "POST",
                "/api/v1/servers".to_owned(),
                json!({"name": slug, "url": "http://127.0.0.1:9/mcp", "disabled": true}),
            ),
        ] {
            let done = app.as_key(crate::testapp::ADMIN, method, &path, body).await;
            assert!((200..300).contains(&done.status), "{path}: {}", done.body);
        }
    }
    let of_tool = json!({"target_type": "TOOL", "target_id": "calculator", "max_count": 5});
    let set = app
        .as_key(crate::testapp::ADMIN, "PUT", "/api/v1/limits", of_tool)
        .await;
    assert_eq!(set.status, 201, "{}", set.body);
}

/// What tells the items of a list apart.
fn names(items: &Value) -> Vec<String> {
    let own = |item: &Value| {
        let text = |member: &str| item[member].as_str().unwrap_or_default().to_owned();
        ["id", "target_id", "name"].map(text).concat()
    };
    items.as_array().unwrap().iter().map(own).collect()
}

fn encoded(cursor: &str) -> String {
    cursor.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[tokio::test]
async fn every_list_is_read_part_by_part() {
    on_both(async |app: &TestApp| {
        fill(app).await;
        for path in LISTS {
            let whole = app.get(&format!("{path}?limit=500")).await.body;
            assert_eq!(whole["next_cursor"], Value::Null, "{path}: {whole}");
            let expected = names(&whole["items"]);
            assert!(expected.len() >= 3, "{path}: {whole}");
            let (mut seen, mut next) = (Vec::new(), String::new());
            loop {
                let part = app.get(&format!("{path}?limit=2{next}")).await;
                assert_eq!(part.status, 200, "{path}: {}", part.body);
                let items = names(&part.body["items"]);
                assert!((1..=2).contains(&items.len()), "{path}: {}", part.body);
                seen.extend(items);
                match part.body["next_cursor"].as_str() {
                    Some(cursor) => next = format!("&cursor={}", encoded(cursor)),
                    None => break,
                }
            }
            assert_eq!(seen, expected, "{path}");
            for wrong in ["limit=0", "limit=501", "limit=x", "colour=red"] {
                let refused = app.get(&format!("{path}?{wrong}")).await;
                assert!(
                    (400..500).contains(&refused.status),
                    "{path} {wrong}: {}",
                    refused.body
                );
            }
        }
        let users = app.get("/api/v1/users").await.body;
        let users = users["items"].as_array().unwrap().iter();
        let users: Vec<&str> = users.map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(users, ["a", "admin", "b", "c"], "by name");
    })
    .await;
}
