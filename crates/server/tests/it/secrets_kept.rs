//! How long sealed values are kept, how many there may be, and keys that are added while the server runs.

use crate::testapp::{ADMIN, Answer, TestApp, definition, on_both};
use serde_json::{Value, json};

const K2: &str = "k2:AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

async fn patch(app: &TestApp, change: Value) -> Answer {
    let changed = app.as_key(ADMIN, "PATCH", "/api/v1/tools/t", change).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    changed
}

async fn kept(app: &TestApp) -> u64 {
    let check = app.get("/api/v1/secrets/verify").await.body;
    assert_eq!(check["valid"], true, "{check}");
    check["secrets"].as_u64().unwrap()
}

fn token(app: &TestApp) -> String {
    let catalogue = app.server.app.executor.catalogue.load();
    let tool = &catalogue.find("t").unwrap().tool;
    let reference = &tool.definition.auth_config.as_ref().unwrap()["token"];
    let secret = app.server.app.open_secret(tool, reference).unwrap();
    secret.expose().to_owned()
}

#[tokio::test]
async fn a_value_goes_with_the_last_version_within_reach_that_needs_it() {
    on_both(async |app: &TestApp| {
        let value = |n: u32| json!({"auth_config": {"token": format!("the token number {n}")}});
        let mut body = definition("t");
        body["auth_config"] = value(1)["auth_config"].clone();
        app.post("/api/v1/tools", body).await;
        for n in 2..=20 {
            patch(app, value(n)).await;
        }
        assert_eq!(kept(app).await, 20, "every version can be gone back to");
        // Beside the newest version, the twenty before it.
        patch(app, value(21)).await;
        assert_eq!(kept(app).await, 21);
        patch(app, value(22)).await;
        assert_eq!(kept(app).await, 21, "the first is gone");
        let rollback = async |app: &TestApp, version: i64| {
            let body = json!({"version": version});
            app.post("/api/v1/tools/t/rollback", body).await
        };
        let app = app.restart().await;
        let refused = rollback(&app, 1).await;
        assert_eq!(
            (refused.status, refused.code()),
            (409, "conflict"),
            "{}",
            refused.body
        );
        assert!(
            refused.message().contains("not kept any more"),
            "{}",
            refused.message()
        );
        assert_eq!(
            token(&app),
            "the token number 22",
            "and nothing has changed"
        );
        assert_eq!(rollback(&app, 3).await.status, 200);
        assert_eq!(token(&app), "the token number 3");
        // What stands in the way of nothing else goes as well: no value is set any more.
        patch(&app, json!({"auth_config": null})).await;
        for n in 0..21 {
            patch(&app, json!({"description": format!("Number {n}")})).await;
        }
        assert_eq!(kept(&app).await, 0);
        let gone = app.get("/api/v1/tools/t/versions/3").await;
        assert_eq!(gone.status, 200, "the history stays: {}", gone.body);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_removed_tool_comes_back_with_its_values() {
    on_both(async |app: &TestApp| {
        let mut body = definition("t");
        body["auth_config"] = json!({"token": "the only token"});
        app.post("/api/v1/tools", body).await;
        app.as_key(ADMIN, "DELETE", "/api/v1/tools/t", Value::Null)
            .await;
        let app = app.restart().await;
        let back = app.post("/api/v1/tools/t/restore", Value::Null).await;
        assert_eq!(back.status, 200, "{}", back.body);
        assert_eq!(token(&app), "the only token");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nobody_has_more_named_secrets_than_fit() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        let put = async |app: &TestApp, key: &str, name: &str| {
            let path = format!("/api/v1/secrets/{name}");
            app.as_key(key, "PUT", &path, json!({"value": "v"})).await
        };
        assert_eq!(put(app, &kim, "first").await.status, 201);
        let store = &app.server.app.store;
        let first = store.secret_named("first").await.unwrap().unwrap();
        let many = (1..app::secrets::NAMED_MAX).map(|n| {
            let mut row = first.clone();
            row.id = uuid::Uuid::new_v4();
            row.name = Some(format!("s{n}"));
            store::Write::Secret(row)
        });
        store.write(&many.collect::<Vec<_>>()).await.unwrap();
        let app = app.restart().await;
        let refused = put(&app, &kim, "one-more").await;
        assert_eq!(
            (refused.status, refused.code()),
            (409, "conflict"),
            "{}",
            refused.body
        );
        assert_eq!(
            put(&app, &kim, "s7").await.status,
            200,
            "a new value for an old one"
        );
        assert_eq!(
            put(&app, ADMIN, "one-more").await.status,
            201,
            "others have room"
        );
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_key_that_the_file_gained_is_used_without_a_restart() {
    on_both(async |app: &TestApp| {
        let mut body = definition("t");
        body["auth_config"] = json!({"token": "before the new key"});
        app.post("/api/v1/tools", body).await;
        let rotate = async |app: &TestApp| app.post("/api/v1/secrets/rotate", json!({})).await;
        assert_eq!(rotate(app).await.body["rotated"], 0);
        let file = app.folder.path().join(".toolcrib/secret.key");
        let old = std::fs::read_to_string(&file).unwrap();
        // A file that does not hold what is needed changes nothing.
        std::fs::write(&file, format!("{K2}\n")).unwrap();
        let refused = rotate(app).await;
        assert_eq!(
            (refused.status, refused.code()),
            (409, "conflict"),
            "{}",
            refused.body
        );
        assert_eq!(token(app), "before the new key");

        std::fs::write(&file, format!("{K2}\n{old}")).unwrap();
        let rotated = rotate(app).await;
        assert_eq!(
            rotated.body,
            json!({"rotated": 1, "left": 0, "key_id": "k2"})
        );
        assert_eq!(token(app), "before the new key");
        patch(app, json!({"auth_config": {"token": "after the new key"}})).await;
        std::fs::write(&file, format!("{K2}\n")).unwrap();
        assert_eq!(
            rotate(app).await.body["rotated"],
            0,
            "the old one is needless"
        );
        let app = app.restart().await;
        assert_eq!(token(&app), "after the new key");
        assert_eq!(kept(&app).await, 2);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_changes_hands_stays_under_the_key_it_is_under() {
    on_both(async |app: &TestApp| {
        app.person("kim", "author").await;
        let mut body = definition("t");
        body["auth_config"] = json!({"token": "the token of the tool"});
        app.post("/api/v1/tools", body).await;
        app.as_key(
            ADMIN,
            "PUT",
            "/api/v1/secrets/named",
            json!({"value": "the named value"}),
        )
        .await;
        // As if another server had just rotated: what is in memory here is older than what is stored.
        let store = &app.server.app.store;
        let before = store.secrets().await.unwrap();
        for row in &before {
            let mut row = row.clone();
            row.key_id = "newer".to_owned();
            store.write(&[store::Write::Secret(row)]).await.unwrap();
        }
        for body in [json!({"to": "kim", "tools": ["t"]}), json!({"to": "kim"})] {
            let moved = app.post("/api/v1/users/admin/reassign", body).await;
            assert_eq!(moved.status, 200, "{}", moved.body);
        }
        let kim = app.server.app.access.load().user_named("kim").unwrap().id;
        for row in store.secrets().await.unwrap() {
            assert_eq!((row.owner_id, row.key_id.as_str()), (kim, "newer"));
        }
    })
    .await;
}
