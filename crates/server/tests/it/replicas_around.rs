//! Several servers on one PostgreSQL: what each knows of the others, and what becomes of what one leaves behind.

use crate::replicas::{Place, with_two};
use crate::scripted::until;
use crate::testapp::definition;
use serde_json::json;

const OTHER_KEY: &str = "k1:ICECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

#[tokio::test]
async fn files_of_several_servers_are_compared_and_not_written() {
    with_two(async |a, b, _| {
        let mut more = definition("more");
        more["shelf"] = json!("file");
        let refused = a.post("/api/v1/tools", more.clone()).await;
        assert_eq!(
            (refused.status, refused.code()),
            (409, "conflict"),
            "{}",
            refused.body
        );
        assert!(
            refused.message().contains("2 servers"),
            "{}",
            refused.message()
        );
        for app in [a, b] {
            let ready = app.get("/readyz").await.body;
            assert_eq!(
                (
                    &ready["status"],
                    &ready["replicas"]["others"][0]["same_files"]
                ),
                (&json!("ready"), &json!(true)),
                "{ready}"
            );
        }
        std::fs::write(
            b.tools_file(),
            json!({"version": 1, "tools": []}).to_string(),
        )
        .unwrap();
        a.comes_to("/readyz", "/status", json!("degraded")).await;
        a.comes_to("/readyz", "/replicas/others/0/same_files", json!(false))
            .await;
        // Who leaves says so, to proxies too, and takes requests all the same.
        b.server.app.replicas.leave();
        assert_eq!(b.get("/readyz").await.status, 503);
        assert_eq!(b.get("/api/v1/tools").await.status, 200);
        b.stop().await;
        until("it is alone", async || {
            (a.server.app.replicas.others() == 0).then_some(())
        })
        .await;
        assert_eq!(a.post("/api/v1/tools", more).await.status, 201);
    })
    .await;
}

#[tokio::test]
async fn a_server_with_other_keys_does_not_start_beside_others() {
    with_two(async |_, _, place| {
        // In a task of its own: what it says there as it gives up is caught.
        let place = Place {
            database: place.database.clone(),
            tools: json!([]),
        };
        let opened = tokio::spawn(async move { place.open(OTHER_KEY).await.stop().await }).await;
        let told = opened.map_err(|lost| lost.into_panic().downcast_ref::<String>().cloned());
        let told = told.err().flatten().unwrap_or_default();
        assert!(
            told.contains("TOOLCRIB_SECRET_KEY"),
            "it started, or said: {told}"
        );
    })
    .await;
}

#[tokio::test]
async fn what_a_server_left_behind_is_settled_by_another() {
    with_two(async |a, b, _| {
        assert_eq!(a.post("/api/v1/tools/on_file/call", json!({"arguments": {"expression": "1"}})).await.status, 200);
        a.sql("INSERT INTO replicas (instance, node, version, shelf_hash, proof, started_at, seen_at) VALUES ('toolcrib-ghost', 'ghost', '0', '', '', 0, 0); \
            INSERT INTO idempotency (caller, key, tool_name, arguments_hash, node, created_at) VALUES ('c', 'k', 'on_file', '', 'ghost', 0); \
            UPDATE executions SET status = 'started', node = 'ghost'")
            .await;
        for app in [a, b] {
            app.comes_to("/api/v1/executions?tool=on_file", "/items/0/status", json!("interrupted")).await;
        }
        until("the key is answered", async || {
            let call = a.server.app.store.idempotent_call("c", "k").await.unwrap();
            call.unwrap().response.filter(|text| text.contains("interrupted"))
        })
        .await;
    })
    .await;
}
