//! Sealed secrets: what is shown of them, who may use which, keeping them by their mask, and rotation.

use crate::testapp::{ADMIN, Answer, TestApp, definition, on_both};
use serde_json::{Value, json};

const TOKEN: &str = "sk-live-0123456789-wxyz";
const K1: &str = "k1:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const K2: &str = "k2:AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

/// Makes a user of this role and gives a key of theirs.
async fn person(app: &TestApp, name: &str, role: &str, scopes: &[&str]) -> String {
    let made = app
        .post("/api/v1/users", json!({"name": name, "role": role}))
        .await;
    assert_eq!(made.status, 201, "{}", made.body);
    let key = json!({"name": "test", "user": name, "scopes": scopes});
    let key = app.post("/api/v1/keys", key).await;
    key.body["key"].as_str().unwrap().to_owned()
}

pub(crate) async fn author(app: &TestApp, name: &str) -> String {
    person(app, name, "author", &["read", "call", "author"]).await
}

async fn put(app: &TestApp, path: &str, body: Value) -> Answer {
    app.as_key(ADMIN, "PUT", path, body).await
}

fn with_auth(name: &str, auth: Value) -> Value {
    let mut body = definition(name);
    body["auth_config"] = auth;
    body
}

/// The secret behind this member of a tool's `auth_config`, as a kind would get it.
fn opened(app: &TestApp, tool: &str, member: &str) -> Result<String, app::Error> {
    let catalogue = app.server.app.executor.catalogue.load();
    let tool = &catalogue.find(tool).unwrap().tool;
    let reference = &tool.definition.auth_config.as_ref().unwrap()[member];
    let secret = app.server.app.open_secret(tool, reference)?;
    assert_eq!(format!("{secret:?} {secret}"), "… …");
    Ok(secret.expose().to_owned())
}

#[tokio::test]
async fn a_named_secret_is_kept_and_never_shown() {
    on_both(async |app: &TestApp| {
        let set = put(app, "/api/v1/secrets/weather", json!({"value": TOKEN})).await;
        assert_eq!((set.status, &set.body["owner"]), (201, &json!("admin")));
        assert_eq!(set.body["value"], json!({"set": true, "last4": "wxyz"}));
        let short = put(
            app,
            "/api/v1/secrets/weather",
            json!({"value": "11-chars-ab"}),
        )
        .await;
        assert_eq!(short.status, 200, "{}", short.body);
        assert_eq!(short.body["value"], json!({"set": true, "last4": null}));
        // Names that are addresses of their own are names all the same.
        for name in ["rotate", "verify"] {
            let path = format!("/api/v1/secrets/{name}");
            let set = put(app, &path, json!({"value": TOKEN})).await;
            assert_eq!(set.status, 201, "{}", set.body);
            let gone = app.as_key(ADMIN, "DELETE", &path, Value::Null).await;
            assert_eq!(gone.status, 204);
        }
        let listed = app.get("/api/v1/secrets").await;
        assert_eq!(listed.body["items"].as_array().unwrap().len(), 1);
        assert_eq!(listed.body["items"][0]["name"], "weather");
        for (path, body, status) in [
            ("/api/v1/secrets/no%20spaces", json!({"value": TOKEN}), 422),
            ("/api/v1/secrets/x", json!({"value": ""}), 422),
            (
                "/api/v1/secrets/x",
                json!({"value": "x".repeat(65_537)}),
                422,
            ),
            ("/api/v1/secrets/x", json!({"value": "a\u{0}b"}), 422),
            ("/api/v1/secrets/x", json!(TOKEN), 400),
            ("/api/v1/secrets/x", json!({"valu": TOKEN}), 400),
            ("/api/v1/secrets/x", json!({"value": [TOKEN]}), 400),
        ] {
            let refused = put(app, path, body.clone()).await;
            assert_eq!(refused.status, status, "{}", refused.body);
            assert!(
                !refused.body.to_string().contains(TOKEN),
                "{}",
                refused.body
            );
        }
        let acts = app.get("/api/v1/audit").await.body;
        let set = |act: &&Value| act["action"] == "secret.set" && act["target"] == "secret:weather";
        assert_eq!(
            acts["items"].as_array().unwrap().iter().filter(set).count(),
            2
        );
        assert!(!acts.to_string().contains(TOKEN));
    })
    .await;
}

#[tokio::test]
async fn authors_handle_their_own_secrets_and_admins_all() {
    on_both(async |app: &TestApp| {
        let (kim, ann) = (author(app, "kim").await, author(app, "ann").await);
        let path = "/api/v1/secrets/kims";
        let set = app.as_key(&kim, "PUT", path, json!({"value": TOKEN})).await;
        assert_eq!((set.status, &set.body["owner"]), (201, &json!("kim")));
        let taken = app.as_key(&ann, "PUT", path, json!({"value": TOKEN})).await;
        assert_eq!(taken.status, 409, "{}", taken.body);
        let listed = app
            .as_key(&ann, "GET", "/api/v1/secrets", Value::Null)
            .await;
        assert_eq!(listed.body["items"], json!([]));
        let gone = app.as_key(&ann, "DELETE", path, Value::Null).await;
        assert_eq!(gone.status, 404);
        let set = put(app, path, json!({"value": "by the admin, 12+"})).await;
        assert_eq!((set.status, &set.body["owner"]), (200, &json!("kim")));
        for (method, path) in [
            ("POST", "/api/v1/secrets/rotate"),
            ("GET", "/api/v1/secrets/verify"),
        ] {
            let body = if method == "POST" {
                json!({})
            } else {
                Value::Null
            };
            assert_eq!(app.as_key(&kim, method, path, body).await.status, 403);
        }
        let viewer = person(app, "vic", "viewer", &["read"]).await;
        let listed = app
            .as_key(&viewer, "GET", "/api/v1/secrets", Value::Null)
            .await;
        assert_eq!(listed.status, 403);
        assert_eq!(
            app.as_key(&kim, "DELETE", path, Value::Null).await.status,
            204
        );
    })
    .await;
}

#[tokio::test]
async fn a_secret_that_an_agent_shows_its_model_is_not_removed_by_accident() {
    on_both(async |app: &TestApp| {
        let path = "/api/v1/secrets/model-key";
        put(app, path, json!({"value": TOKEN})).await;
        let agent = json!({
            "name": "clerk", "model_provider": "openai", "model_name": "m",
            "config": {"api_key": {"$secret": "model-key"}},
        });
        assert_eq!(app.post("/api/v1/agents", agent).await.status, 201);
        let refused = app.as_key(ADMIN, "DELETE", path, Value::Null).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        let told = refused.message();
        assert!(told.contains("the agent 'clerk'"), "{told}");
    })
    .await;
}

#[tokio::test]
async fn a_secret_in_use_is_not_removed_by_accident() {
    on_both(async |app: &TestApp| {
        put(app, "/api/v1/secrets/weather", json!({"value": TOKEN})).await;
        let body = with_auth(
            "forecast",
            json!({"type": "bearer", "token": {"$secret": "weather"}}),
        );
        assert_eq!(app.post("/api/v1/tools", body).await.status, 201);
        assert_eq!(opened(app, "forecast", "token").unwrap(), TOKEN);
        let listed = app.get("/api/v1/secrets").await;
        assert_eq!(listed.body["items"][0]["used_by"], json!(["forecast"]));
        let path = "/api/v1/secrets/weather";
        let refused = app.as_key(ADMIN, "DELETE", path, Value::Null).await;
        assert_eq!(refused.status, 409);
        assert!(
            refused.message().contains("'forecast'"),
            "{}",
            refused.message()
        );
        let path = "/api/v1/secrets/weather?force=true";
        assert_eq!(
            app.as_key(ADMIN, "DELETE", path, Value::Null).await.status,
            204
        );
        let gone = opened(app, "forecast", "token").unwrap_err();
        assert!(matches!(gone, app::Error::NotFound { what: "Secret", .. }));
        let again = with_auth("again", json!({"token": {"$secret": "weather"}}));
        let refused = app.post("/api/v1/tools", again).await;
        assert_eq!(refused.status, 422);
        assert!(
            refused
                .message()
                .contains("auth_config.token: 'admin' has no secret"),
            "{}",
            refused.message()
        );
    })
    .await;
}

#[tokio::test]
async fn plain_values_are_sealed_masked_and_kept_by_their_mask() {
    on_both(async |app: &TestApp| {
        let auth = json!({"type": "basic", "username": "kim", "password": TOKEN, "extra": [{"key": "short"}]});
        let mut body = with_auth("t", auth);
        // Shown as it is in force, so that what was fetched is what was written.
        body["parallel_capable"] = json!(true);
        let made = app.post("/api/v1/tools", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let mask = json!({"set": true, "last4": "wxyz"});
        let short = json!({"set": true, "last4": null});
        let shown = json!({"type": "basic", "username": "kim", "password": mask, "extra": [{"key": short}]});
        assert_eq!(made.body["auth_config"], shown);
        assert_eq!(opened(app, "t", "password").unwrap(), TOKEN);

        // What was fetched is sent back: nothing changes. The same value again is no change either.
        let got = app.get("/api/v1/tools/t").await.body;
        let same = put(app, "/api/v1/tools/t", got.clone()).await;
        assert_eq!((same.status, &same.body["version"]), (200, &json!(1)), "{}", same.body);
        let mut resent = got.clone();
        resent["auth_config"]["password"] = json!(TOKEN);
        assert_eq!(put(app, "/api/v1/tools/t", resent).await.body["version"], 1);

        // Without auth_config it stays, beside another change.
        let mut other = definition("t");
        other["description"] = json!("Another one");
        let kept = put(app, "/api/v1/tools/t", other).await;
        assert_eq!((&kept.body["version"], &kept.body["auth_config"]), (&json!(2), &shown));

        // A patch with one mask and one new value.
        let patch = json!({"auth_config": {"password": {"set": true}, "extra": [{"key": "another value"}]}});
        let patched = app.as_key(ADMIN, "PATCH", "/api/v1/tools/t", patch).await;
        assert_eq!(patched.body["auth_config"]["extra"][0]["key"]["last4"], "alue", "{}", patched.body);
        assert_eq!(opened(app, "t", "password").unwrap(), TOKEN);
        let patch = json!({"auth_config": {"password": "changed-password"}});
        app.as_key(ADMIN, "PATCH", "/api/v1/tools/t", patch).await;
        assert_eq!(opened(app, "t", "password").unwrap(), "changed-password");
        let version = app.get("/api/v1/tools/t/versions/4").await.body;
        let path = json!("$.auth_config.password");
        assert_eq!(version["changes"][0]["path"], path, "{version}");
        assert_eq!(version["changes"][0]["before"], mask);

        // Back to the first version, and a restart.
        let back = app.post("/api/v1/tools/t/rollback", json!({"version": 1})).await;
        assert_eq!(back.status, 200, "{}", back.body);
        let next = app.restart().await;
        assert_eq!(opened(&next, "t", "password").unwrap(), TOKEN);
        assert_eq!(next.get("/api/v1/tools/t").await.body["auth_config"], shown);
        let none = next.as_key(ADMIN, "PATCH", "/api/v1/tools/t", json!({"auth_config": null})).await;
        assert_eq!(none.body["auth_config"], Value::Null);
        next.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nothing_but_the_tools_own_values_is_kept() {
    on_both(async |app: &TestApp| {
        let made = app
            .post("/api/v1/tools", with_auth("a", json!({"token": TOKEN})))
            .await;
        assert_eq!(made.status, 201);
        let catalogue = app.server.app.executor.catalogue.load_full();
        let sealed = catalogue
            .find("a")
            .unwrap()
            .tool
            .definition
            .auth_config
            .clone()
            .unwrap();
        let stolen = app
            .post("/api/v1/tools", with_auth("b", sealed.clone()))
            .await;
        assert_eq!(stolen.status, 422, "{}", stolen.body);
        assert!(
            stolen.message().contains("auth_config.token"),
            "{}",
            stolen.message()
        );
        // Not even where it got into a definition by other ways: it is asked again when the secret is opened.
        app.post("/api/v1/tools", definition("b")).await;
        let catalogue = app.server.app.executor.catalogue.load_full();
        let other = &catalogue.find("b").unwrap().tool;
        let refused = app.server.app.open_secret(other, &sealed["token"]);
        assert!(matches!(refused, Err(app::Error::NotFound { .. })));
        assert!(app.server.app.open_secret(other, &json!("plain")).is_err());
        let mask = json!({"token": {"set": true, "last4": "wxyz"}});
        let nothing = app
            .post("/api/v1/tools", with_auth("c", mask.clone()))
            .await;
        assert_eq!(nothing.status, 422, "there is nothing to keep");
        let moved = put(
            app,
            "/api/v1/tools/a",
            with_auth("a", json!({"other": mask["token"]})),
        )
        .await;
        assert_eq!(moved.status, 422, "not at that path");
        let own = put(app, "/api/v1/tools/a", with_auth("a", sealed.clone())).await;
        assert_eq!((own.status, &own.body["version"]), (200, &json!(1)));
        let mut on_file = with_auth("f", sealed);
        on_file["shelf"] = json!("file");
        assert_eq!(app.post("/api/v1/tools", on_file).await.status, 422);
        let mut masked = with_auth("f", json!({"token": {"set": true, "last4": null}}));
        masked["shelf"] = json!("file");
        assert_eq!(app.post("/api/v1/tools", masked).await.status, 422);
        let mut wrong = definition("w");
        wrong["auth_config"] = json!(TOKEN);
        let refused = app.post("/api/v1/tools", wrong).await;
        assert_eq!(refused.status, 422);
        assert!(
            !refused.body.to_string().contains(TOKEN),
            "{}",
            refused.body
        );
    })
    .await;
}

#[tokio::test]
async fn only_admins_let_a_tool_read_the_environment() {
    on_both(async |app: &TestApp| {
        let kim = author(app, "kim").await;
        let env = json!({"token": {"$env": "SERVER_TOKEN"}});
        let create = async |key: &str, body: Value| app.as_key(key, "POST", "/api/v1/tools", body).await;
        let refused = create(&kim, with_auth("mine", env.clone())).await;
        assert_eq!(refused.status, 403, "{}", refused.body);
        assert!(refused.message().contains("environment"), "{}", refused.message());
        let http = json!({"name": "h", "description": "d", "kind": "http",
            "config": {"base_url": "https://example.com", "method": "GET", "headers": {"X": {"$env": "SERVER_TOKEN"}}}});
        let refused = create(&kim, http).await;
        assert_eq!(refused.status, 403, "in a header as well: {}", refused.body);
        let test = json!({"tool": with_auth("mine", env.clone()), "arguments": {"expression": "1"}});
        let refused = app.as_key(&kim, "POST", "/api/v1/tools/test", test).await;
        assert_eq!(refused.status, 403);
        assert_eq!(create(ADMIN, with_auth("admins", env.clone())).await.status, 201);
        assert_eq!(opened(app, "admins", "token").unwrap(), "from-the-environment");

        // A tool that changes hands takes no rights along.
        let to_kim = json!({"to": "kim", "tools": ["admins"]});
        assert_eq!(app.post("/api/v1/users/admin/reassign", to_kim).await.status, 200);
        let refused = opened(app, "admins", "token").unwrap_err();
        assert!(matches!(refused, app::Error::Forbidden(_)), "{refused:?}");
        let patch = json!({"is_active": false});
        let changed = app.as_key(&kim, "PATCH", "/api/v1/tools/admins", patch).await;
        assert_eq!(changed.status, 200, "what is not touched is not in the way: {}", changed.body);

        // Somebody else's named secret, too.
        put(app, "/api/v1/secrets/admins", json!({"value": TOKEN})).await;
        let refused = create(&kim, with_auth("mine", json!({"token": {"$secret": "admins"}}))).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        app.as_key(&kim, "PUT", "/api/v1/secrets/kims", json!({"value": TOKEN})).await;
        let own = with_auth("mine", json!({"token": {"$secret": "kims"}}));
        assert_eq!(create(&kim, own).await.status, 201);
        assert_eq!(opened(app, "mine", "token").unwrap(), TOKEN);
        let from_kim = json!({"to": "admin"});
        let moved = app.post("/api/v1/users/kim/reassign", from_kim).await;
        assert_eq!((moved.status, &moved.body["secrets"]), (200, &json!(1)));
        assert_eq!(opened(app, "mine", "token").unwrap(), TOKEN);
    })
    .await;
}

#[tokio::test]
async fn others_see_nothing_of_it_and_a_trial_stores_nothing() {
    on_both(async |app: &TestApp| {
        let mut body = with_auth("shared", json!({"type": "bearer", "token": TOKEN}));
        body["is_public"] = json!(true);
        assert_eq!(app.post("/api/v1/tools", body.clone()).await.status, 201);
        let kim = author(app, "kim").await;
        for path in ["", "/versions", "/versions/1"] {
            let path = format!("/api/v1/tools/shared{path}");
            let shown = app.as_key(&kim, "GET", &path, Value::Null).await;
            assert_eq!(shown.status, 200);
            assert!(!shown.body.to_string().contains("wxyz"), "{}", shown.body);
        }
        let check = app.get("/api/v1/secrets/verify").await.body;
        assert_eq!(check, json!({"valid": true, "secrets": 1, "problems": []}));
        body["auth_config"] = json!({"token": {"set": true}, "key": "not-saved-anywhere"});
        let test = json!({"tool": body, "arguments": {"expression": "6 * 7"}});
        let tried = app.post("/api/v1/tools/test", test.clone()).await;
        assert_eq!(tried.status, 200, "{}", tried.body);
        let tried = app.as_key(&kim, "POST", "/api/v1/tools/test", test).await;
        assert_eq!(tried.status, 409, "it is not kim's to keep: {}", tried.body);
        assert_eq!(app.get("/api/v1/secrets/verify").await.body["secrets"], 1);
    })
    .await;
}

#[tokio::test]
async fn rotation_moves_every_secret_and_leaves_the_values() {
    on_both(async |app: &TestApp| {
        let first = app.restart_with(Some(K1.into())).await;
        for n in 0..3 {
            put(
                &first,
                &format!("/api/v1/secrets/s{n}"),
                json!({"value": format!("{TOKEN}{n}")}),
            )
            .await;
        }
        first
            .post("/api/v1/tools", with_auth("t", json!({"token": TOKEN})))
            .await;
        let same = first.post("/api/v1/secrets/rotate", json!({})).await;
        assert_eq!(same.body, json!({"rotated": 0, "left": 0, "key_id": "k1"}));
        let both = first.restart_with(Some(format!("{K2},{K1}"))).await;
        let rotated = both.post("/api/v1/secrets/rotate", json!({})).await;
        assert_eq!(
            rotated.body,
            json!({"rotated": 4, "left": 0, "key_id": "k2"})
        );
        assert_eq!(opened(&both, "t", "token").unwrap(), TOKEN);
        let again = both.post("/api/v1/secrets/rotate", json!({})).await;
        assert_eq!(again.body, json!({"rotated": 0, "left": 0, "key_id": "k2"}));
        let acts = both.get("/api/v1/audit?action=secret.rotate").await.body;
        assert_eq!(acts["items"].as_array().unwrap().len(), 1, "{acts}");
        let next = both.restart_with(Some(K2.into())).await;
        let check = next.get("/api/v1/secrets/verify").await.body;
        assert_eq!(check, json!({"valid": true, "secrets": 4, "problems": []}));
        assert_eq!(opened(&next, "t", "token").unwrap(), TOKEN);
        next.stop().await;
    })
    .await;
}
