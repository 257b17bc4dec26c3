//! The file shelf: what the API writes, what an editor writes, and that neither loses the other's work.

use crate::testapp::{ADMIN, TestApp, definition, on_both, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};
use std::fs;

fn on_file(name: &str) -> Value {
    let mut body = definition(name);
    body["shelf"] = json!("file");
    body
}

#[tokio::test]
async fn an_api_change_touches_only_its_lines() {
    on_both_with(
        json!([definition("first"), definition("second")]),
        Policy::default(),
        async |app: &TestApp| {
            let before = fs::read_to_string(app.tools_file()).unwrap();
            let patched = app
                .as_key(
                    ADMIN,
                    "PATCH",
                    "/api/v1/tools/first",
                    json!({"description": "Other words"}),
                )
                .await;
            assert_eq!(patched.status, 200, "{}", patched.body);
            let after = fs::read_to_string(app.tools_file()).unwrap();
            let changed: Vec<_> = before
                .lines()
                .zip(after.lines())
                .filter(|(a, b)| a != b)
                .collect();
            assert_eq!(before.lines().count(), after.lines().count());
            assert_eq!(changed.len(), 1, "{changed:?}");
            assert!(changed[0].1.contains("Other words"));
        },
    )
    .await;
}

#[tokio::test]
async fn a_disk_edit_not_yet_loaded_is_never_overwritten() {
    on_both_with(
        json!([definition("first")]),
        Policy::default(),
        async |app: &TestApp| {
            let mut text: Value =
                serde_json::from_str(&fs::read_to_string(app.tools_file()).unwrap()).unwrap();
            text["tools"]
                .as_array_mut()
                .unwrap()
                .push(definition("by_hand"));
            fs::write(
                app.tools_file(),
                serde_json::to_string_pretty(&text).unwrap(),
            )
            .unwrap();
            let made = app.post("/api/v1/tools", on_file("by_api")).await;
            assert_eq!(made.status, 201, "{}", made.body);
            let file = fs::read_to_string(app.tools_file()).unwrap();
            for name in ["first", "by_hand", "by_api"] {
                assert!(file.contains(&format!("\"{name}\"")), "{name} in the file");
                assert_eq!(
                    app.get(&format!("/api/v1/tools/{name}")).await.status,
                    200,
                    "{name} in the catalogue"
                );
            }
        },
    )
    .await;
}

#[tokio::test]
async fn while_the_file_is_broken_the_old_catalogue_serves() {
    on_both_with(
        json!([definition("first")]),
        Policy::default(),
        async |app: &TestApp| {
            let good = fs::read_to_string(app.tools_file()).unwrap();
            let broken = good.replace("\"version\": 1,", "\"version\": 1");
            fs::write(app.tools_file(), &broken).unwrap();
            let refused = app.post("/api/v1/tools", on_file("second")).await;
            assert_eq!((refused.status, refused.code()), (409, "conflict"));
            let problem = &refused.body["error"]["details"]["problems"][0];
            assert_eq!(
                (&problem["file"], &problem["line"]),
                (&json!("tools.json"), &json!(2))
            );
            assert_eq!(
                fs::read_to_string(app.tools_file()).unwrap(),
                broken,
                "not overwritten"
            );
            let called = app
                .post(
                    "/api/v1/tools/first/call",
                    json!({"arguments": {"expression": "1+1"}}),
                )
                .await;
            assert_eq!(called.status, 200);
            assert_eq!(
                app.post("/api/v1/tools", definition("in_database"))
                    .await
                    .status,
                201,
                "the other shelf works on"
            );
            let ready = app.get("/readyz").await;
            assert_eq!(ready.body["status"], "degraded");
            assert_eq!(ready.body["files"]["tools_problems"][0]["line"], 2);

            fs::remove_file(app.tools_file()).unwrap();
            let refused = app.post("/api/v1/tools", on_file("second")).await;
            assert_eq!((refused.status, refused.code()), (409, "conflict"));
            assert!(
                refused.message().contains("no such file"),
                "{}",
                refused.message()
            );
            fs::write(app.tools_file(), &good).unwrap();
            assert_eq!(
                app.post("/api/v1/tools", on_file("second")).await.status,
                201
            );
            assert_eq!(app.get("/readyz").await.body["status"], "ready");
        },
    )
    .await;
}

#[tokio::test]
async fn many_registrations_at_once_each_get_their_own_answer() {
    on_both(async |app: &TestApp| {
        let works = (0..200).map(|i| {
            let (server, app_key) = (std::sync::Arc::clone(&app.server), ADMIN);
            tokio::spawn(async move {
                let body = match i % 4 {
                    0 => json!({"name": format!("bad {i}"), "shelf": "file"}),
                    1 => on_file("same_name"),
                    _ => on_file(&format!("tool_{i}")),
                };
                let request = axum::http::Request::builder()
                    .method("POST")
                    .uri("/api/v1/tools")
                    .header("x-api-key", app_key)
                    .header("content-type", "application/json")
                    .body(axum::body::Body::from(body.to_string()))
                    .unwrap();
                let response = server::Api::new(server).answer(request).await;
                (i, response.status().as_u16())
            })
        });
        let works: Vec<_> = works.collect();
        let mut same_name_made = 0;
        for work in works {
            let (i, status) = work.await.unwrap();
            // At every instant the file is whole.
            let text = fs::read_to_string(app.tools_file()).unwrap();
            assert!(serde_json::from_str::<Value>(&text).is_ok());
            match i % 4 {
                0 => assert_eq!(status, 422),
                1 => same_name_made += usize::from(status == 201),
                _ => assert_eq!(status, 201),
            }
        }
        assert_eq!(same_name_made, 1);
        let text = fs::read_to_string(app.tools_file()).unwrap();
        assert_eq!(text.matches("\"name\": \"tool_").count(), 100);
        assert_eq!(text.matches("\"same_name\"").count(), 1);
    })
    .await;
}

#[tokio::test]
async fn the_file_takes_a_name_from_the_database_and_gives_it_back() {
    on_both(async |app: &TestApp| {
        assert_eq!(
            app.post("/api/v1/tools", definition("shared")).await.status,
            201
        );
        let text = json!({"version": 1, "tools": [definition("shared")]}).to_string();
        fs::write(app.tools_file(), text).unwrap();
        app.server.app.reload().await.unwrap();
        assert_eq!(app.get("/api/v1/tools/shared").await.body["shelf"], "file");
        assert_eq!(
            app.get("/readyz").await.body["files"]["shadowed"],
            json!(["shared"])
        );
        let next = app.restart().await;
        assert_eq!(
            next.get("/api/v1/tools/shared").await.body["shelf"],
            "file",
            "the same after a restart"
        );
        assert_eq!(
            next.get("/readyz").await.body["files"]["shadowed"],
            json!(["shared"])
        );
        fs::write(app.tools_file(), "{\"version\": 1, \"tools\": []}").unwrap();
        next.server.app.reload().await.unwrap();
        assert_eq!(
            next.get("/api/v1/tools/shared").await.body["shelf"],
            "database"
        );
        next.stop().await;
    })
    .await;
}

#[tokio::test]
async fn only_an_admin_changes_the_file_shelf() {
    on_both(async |app: &TestApp| {
        let author = app.key(&["read", "call", "author"]).await;
        let refused = app
            .as_key(&author, "POST", "/api/v1/tools", on_file("x"))
            .await;
        assert_eq!((refused.status, refused.code()), (403, "forbidden"));
        assert_eq!(
            app.as_key(&author, "POST", "/api/v1/tools", definition("y"))
                .await
                .status,
            201
        );
    })
    .await;
}
