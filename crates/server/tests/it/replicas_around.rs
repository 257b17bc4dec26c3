//! Several servers on one PostgreSQL: what each knows of the others, and what becomes of what one leaves behind.

use crate::people::PASSWORD;
use crate::replicas::{KEY, Place, with_two};
use crate::scripted::until;
use crate::testapp::{Setup, definition};
use serde_json::json;
use store::users::ADMIN_USER;
use tempfile::TempDir;

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

/// What a server says that does not start; nothing where it does.
async fn refused(place: &Place, folder: TempDir, key: &'static str) -> String {
    let place = Place {
        database: place.database.clone(),
        tools: json!([]),
    };
    // In a task of its own: what it says there as it gives up is caught.
    let opened = tokio::spawn(async move {
        let opened = place.open_in(folder, key, Setup::default()).await;
        opened.stop().await;
    });
    let told = opened.await;
    let told = told.map_err(|lost| lost.into_panic().downcast_ref::<String>().cloned());
    told.err().flatten().unwrap_or_default()
}

/// A folder whose data folder has this name.
fn named(node: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".toolcrib")).unwrap();
    std::fs::write(folder.path().join(".toolcrib/node"), node).unwrap();
    folder
}

#[tokio::test]
async fn a_server_on_a_copy_of_a_data_folder_does_not_start() {
    with_two(async |a, _, place| {
        let told = refused(place, named(&a.server.app.node), KEY).await;
        assert!(told.contains("Copied"), "it started, or said: {told}");
        assert!(told.contains(&a.server.app.node), "{told}");
        // One that ended without a word is no copy, and is not waited for longer than it would be silent.
        a.sql("INSERT INTO replicas (instance, node, version, shelf_hash, proof, started_at, seen_at) \
            SELECT 'toolcrib-before', 'before', version, shelf_hash, proof, started_at, seen_at FROM replicas LIMIT 1")
            .await;
        let told = refused(place, named("before"), KEY).await;
        assert_eq!(told, "");
    })
    .await;
}

#[tokio::test]
async fn a_login_elsewhere_reads_no_people() {
    with_two(async |a, b, _| {
        a.person("kim", "author").await;
        b.comes_to("/api/v1/users/kim", "/role", json!("author"))
            .await;
        b.server.app.catch_up().await.unwrap();
        let before = b.server.app.access.load_full();
        let admin = std::ptr::from_ref(before.user(ADMIN_USER).unwrap());
        let cookie = a.log_in("kim", PASSWORD).await.cookie();
        let secret = cookie.split_once('=').unwrap().1;
        let known = || {
            let access = b.server.app.access.load_full();
            (access.by_session(secret, b.clock.now()).is_ok(), access)
        };
        let now = until("the session is known", async || {
            let (is_known, access) = known();
            is_known.then_some(access)
        })
        .await;
        assert!(std::ptr::eq(admin, now.user(ADMIN_USER).unwrap()));
        // It ends everywhere, and with the password.
        let out = a
            .as_browser(
                &cookie,
                Some("https://crib.example"),
                "POST",
                "/api/v1/logout",
                json!({}),
            )
            .await;
        assert!(out.status < 300, "{}", out.body);
        until("the session is over", async || (!known().0).then_some(())).await;
    })
    .await;
}

#[tokio::test]
async fn a_server_with_other_keys_does_not_start_beside_others() {
    with_two(async |_, _, place| {
        let told = refused(place, tempfile::tempdir().unwrap(), OTHER_KEY).await;
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
