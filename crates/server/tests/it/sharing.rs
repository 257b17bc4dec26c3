//! OpenAPI documents that name a secret of somebody else, by what they are called: who would be shown it, and who has to agree.

use crate::secrets::author;
use crate::testapp::{ADMIN, Answer, TestApp, definition, on_both};
use serde_json::{Value, json};

/// An API with a key, whose secret is named after the title.
fn document(title: &str, url: &str) -> Value {
    json!({
        "openapi": "3.1.0", "info": {"title": title, "version": "1"}, "servers": [{"url": url}], "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
        "paths": {"/pets": {"get": {"operationId": "pets"}}},
    })
}

/// The same with tokens from elsewhere.
fn with_tokens(title: &str, url: &str, token_url: &str) -> Value {
    let mut document = document(title, url);
    document["components"]["securitySchemes"]["key"] = json!({"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {}}}});
    document
}

async fn import(app: &TestApp, key: &str, document: &Value, more: Value) -> Answer {
    let mut body = json!({"document": document});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    app.as_key(key, "POST", "/api/v1/openapi/import", body)
        .await
}

async fn set(app: &TestApp, key: &str, name: &str) {
    let path = format!("/api/v1/secrets/{name}");
    let body = json!({"value": "a-value-to-be-kept"});
    let set = app.as_key(key, "PUT", &path, body).await;
    assert_eq!(set.status, 201, "{}", set.body);
}

async fn used_for(app: &TestApp, key: &str, name: &str) -> Value {
    let page = app.as_key(key, "GET", "/api/v1/secrets", Value::Null).await;
    let items = page.body["items"].as_array().unwrap();
    let found = items.iter().find(|it| it["name"] == name).unwrap();
    found["used_for"].clone()
}

/// Refused for all of it, with these words.
fn assert_refused(answer: &Answer, parts: &[&str]) {
    assert_eq!(answer.status, 409, "{}", answer.body);
    for part in parts {
        assert!(answer.message().contains(part), "{part}: {}", answer.body);
    }
}

fn assert_taken(answer: &Answer, outcome: &str) {
    let found = (answer.status, &answer.body["tools"][0]["outcome"]);
    assert_eq!(found, (200, &json!(outcome)), "{}", answer.body);
}

#[tokio::test]
async fn a_document_gets_no_secret_by_being_called_like_another() {
    on_both(async |app: &TestApp| {
        set(app, ADMIN, "shop_key").await;
        let shop = document("Shop", "https://shop.example/v1");
        let first = import(app, ADMIN, &shop, json!({})).await;
        assert_taken(&first, "added");
        let shown_to = &first.body["secrets"][0]["shown_to"];
        assert_eq!(shown_to, &json!(["https://shop.example"]));
        assert_eq!(used_for(app, ADMIN, "shop_key").await, *shown_to);

        let evil = document("Shop", "https://shop.example.evil.example");
        let parts = [
            "'shop_key'",
            "https://shop.example ",
            "https://shop.example.evil.example",
            "`secrets`",
            "`share_secrets`",
        ];
        for more in [json!({}), json!({"dry_run": true}), json!({"force": true})] {
            let mut more = more;
            more["prefix"] = json!("evil_");
            assert_refused(&import(app, ADMIN, &evil, more).await, &parts);
        }
        assert_eq!(app.get("/api/v1/tools/evil_pets").await.status, 404);
        // The same document, whose API has moved, cannot be told from one of somebody else.
        let moved = document("Shop", "https://new.example");
        let forced = import(app, ADMIN, &moved, json!({"force": true})).await;
        assert_refused(&forced, &["https://new.example"]);
        let chosen = json!({"force": true, "secrets": {"key": "shop_key"}});
        assert_taken(&import(app, ADMIN, &moved, chosen).await, "replaced");
        assert_taken(&import(app, ADMIN, &moved, json!({})).await, "unchanged");
        let written_otherwise = document("Shop", "https://NEW.example:443/v2");
        let again = json!({"prefix": "again_"});
        assert_taken(
            &import(app, ADMIN, &written_otherwise, again).await,
            "added",
        );
        let agreed = json!({"prefix": "evil_", "share_secrets": true});
        assert_taken(&import(app, ADMIN, &evil, agreed).await, "added");
    })
    .await;
}

#[tokio::test]
async fn one_that_nothing_uses_yet_stays_on_one_site() {
    on_both(async |app: &TestApp| {
        for name in ["tokens_key_client_id", "tokens_key_client_secret"] {
            set(app, ADMIN, name).await;
        }
        let elsewhere = with_tokens(
            "Tokens",
            "https://api.shop.example",
            "https://id.evil.example/token",
        );
        let refused = import(app, ADMIN, &elsewhere, json!({})).await;
        let parts = [
            "'tokens_key_client_secret'",
            "https://id.evil.example",
            "https://api.shop.example",
        ];
        assert_refused(&refused, &parts);
        let chosen = json!({"secrets": {"key": "tokens_key"}, "dry_run": true});
        assert_taken(&import(app, ADMIN, &elsewhere, chosen).await, "added");
        let near = with_tokens(
            "Tokens",
            "https://api.shop.example",
            "https://id.shop.example/token",
        );
        assert_taken(&import(app, ADMIN, &near, json!({})).await, "added");
        // Known by now: neither the API nor who gives its tokens may be another.
        let token = with_tokens(
            "Tokens",
            "https://api.shop.example",
            "https://www.shop.example/token",
        );
        let refused = import(app, ADMIN, &token, json!({"prefix": "x_"})).await;
        assert_refused(
            &refused,
            &["https://id.shop.example", "https://www.shop.example"],
        );

        set(app, ADMIN, "two_key").await;
        let mut two = document("Two", "https://api.shop.example");
        two["paths"]["/more"]["get"] = json!({"servers": [{"url": "https://evil.example"}]});
        let refused = import(app, ADMIN, &two, json!({})).await;
        assert_refused(
            &refused,
            &[
                "'two_key'",
                "https://api.shop.example",
                "https://evil.example",
            ],
        );
        let first = json!({"pick": ["GET /pets"], "prefix": "two_"});
        assert_taken(&import(app, ADMIN, &two, first).await, "added");
    })
    .await;
}

#[tokio::test]
async fn whatever_else_has_a_secret_counts() {
    on_both(async |app: &TestApp| {
        set(app, ADMIN, "model_key").await;
        let agent = json!({"name": "helper", "model_provider": "openai", "model_name": "m", "config": {"api_key": {"$secret": "model_key"}}});
        let made = app.post("/api/v1/agents", agent).await;
        assert_eq!(made.status, 201, "{}", made.body);
        set(app, ADMIN, "sum_key").await;
        let mut tool = definition("adder");
        tool["auth_config"] = json!({"token": {"$secret": "sum_key"}});
        assert_eq!(app.post("/api/v1/tools", tool).await.status, 201);
        let (kim, ann) = (author(app, "kim").await, author(app, "ann").await);
        set(app, &kim, "kims_key").await;
        for (title, other) in [
            ("Model", "the agent 'helper'"),
            ("Sum", "the tool 'adder'"),
            ("Kims", "'kim'"),
        ] {
            let theirs = document(title, "https://evil.example");
            let refused = import(app, ADMIN, &theirs, json!({})).await;
            assert_refused(&refused, &[other, "https://evil.example"]);
        }
        // It is hers to use; for others of her kind it is not there.
        let kims = document("Kims", "https://kims.example");
        let theirs = import(app, &ann, &kims, json!({})).await;
        assert_taken(&theirs, "failed");
        assert_eq!(theirs.body["secrets"][0]["is_set"], false);
        assert!(!theirs.body.to_string().contains("'kim'"), "{}", theirs.body);
        assert_taken(&import(app, &kim, &kims, json!({})).await, "added");
        // And where she has it shown, an admin may have it shown as well.
        let same = json!({"prefix": "admins_"});
        assert_taken(&import(app, ADMIN, &kims, same).await, "added");
    })
    .await;
}

#[tokio::test]
async fn addresses_of_what_one_may_not_see_are_not_told() {
    on_both(async |app: &TestApp| {
        let kim = author(app, "kim").await;
        set(app, &kim, "kims_key").await;
        let http = |name: &str, url: &str, auth: Value| {
            let mut tool = definition(name);
            tool["kind"] = json!("http");
            tool["config"] = json!({"base_url": url, "method": "GET"});
            tool["auth_config"] = auth;
            tool
        };
        let bearer = json!({"type": "bearer", "token": {"$secret": "kims_key"}});
        let private = http("private", "https://private.example", bearer.clone());
        assert_eq!(app.post("/api/v1/tools", private).await.status, 201);
        let kims = document("Kims", "https://kims.example");
        let refused = import(app, &kim, &kims, json!({})).await;
        assert_refused(&refused, &["'kims_key'", "https://kims.example"]);
        assert!(
            !refused.body.to_string().contains("private"),
            "{}",
            refused.body
        );
        // Nor is it told by refusing one address and not another.
        let guessed = document("Kims", "https://private.example");
        assert_refused(&import(app, &kim, &guessed, json!({})).await, &[]);

        let client = json!({"type": "oauth2", "token_url": "https://id.private.example/token",
            "client_id": {"$secret": "kims_key"}, "client_secret": {"$secret": "kims_key"}});
        let mut open = http("open", "https://open.example", client);
        open["is_public"] = json!(true);
        assert_eq!(app.post("/api/v1/tools", open).await.status, 201);
        let told = used_for(app, &kim, "kims_key").await;
        assert!(!told.to_string().contains("private"), "{told}");
        assert!(told.to_string().contains("https://open.example"), "{told}");
        let all = used_for(app, ADMIN, "kims_key").await;
        for place in [
            "https://private.example",
            "https://id.private.example",
            "'kim', whose it is",
        ] {
            assert!(all.to_string().contains(place), "{place}: {all}");
        }
    })
    .await;
}
