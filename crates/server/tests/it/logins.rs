//! Passwords, links, sessions, and what a browser may do with one.

use crate::people::PASSWORD;
use crate::testapp::{ADMIN, TestApp, on_both};
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

#[tokio::test]
async fn a_password_opens_a_session_that_ends() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let answer = app.log_in("kim", PASSWORD).await;
        assert_eq!(
            (answer.status, &answer.body["role"]),
            (200, &json!("author"))
        );
        let set = answer.headers["set-cookie"].to_str().unwrap().to_owned();
        for part in [
            "__Host-toolcrib=",
            "; Path=/",
            "; Secure",
            "; HttpOnly",
            "; SameSite=Lax",
        ] {
            assert!(set.contains(part), "{set}");
        }
        let me = async |cookie: &str| {
            app.as_browser(cookie, None, "GET", "/api/v1/me", Value::Null)
                .await
        };
        let seen = me(&answer.cookie()).await;
        assert_eq!(
            (seen.status, &seen.body["transport"]),
            (200, &json!("page"))
        );
        // The database knows the secret only as a hash.
        let secret = answer.cookie().split_once('=').unwrap().1.to_owned();
        let rows = app.server.app.store.sessions(0).await.unwrap();
        assert!(rows.iter().all(|row| row.hash != secret.as_bytes()));

        // It is still open after a restart, until it is logged out.
        let app = app.restart().await;
        let me = async |cookie: &str| {
            app.as_browser(cookie, None, "GET", "/api/v1/me", Value::Null)
                .await
                .status
        };
        assert_eq!(me(&answer.cookie()).await, 200);
        let own = Some("https://crib.example");
        let out = app
            .as_browser(&answer.cookie(), own, "POST", "/api/v1/logout", Value::Null)
            .await;
        assert_eq!(out.status, 204);
        assert!(
            out.headers["set-cookie"]
                .to_str()
                .unwrap()
                .contains("Max-Age=0")
        );
        assert_eq!(me(&answer.cookie()).await, 401);
        assert_eq!(me(&kim.cookie).await, 200, "the other session goes on");
        app.clock.advance(12 * 3_600_000);
        assert_eq!(me(&kim.cookie).await, 401, "over");
    })
    .await;
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_name_look_alike_and_get_slower() {
    on_both(async |app: &TestApp| {
        app.person("kim", "author").await;
        let wrong = app.log_in("kim", "not the password").await;
        let unknown = app.log_in("nobody", "not the password").await;
        assert_eq!((wrong.status, unknown.status), (401, 401));
        assert_eq!(wrong.message(), unknown.message());
        for _ in 0..9 {
            app.log_in("kim", "not the password").await;
        }
        let refused = app.log_in("kim", PASSWORD).await;
        assert_eq!((refused.status, refused.code()), (429, "rate_limited"));
        let wait: i64 = refused.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        app.clock.advance(wait * 1000);
        assert_eq!(
            app.log_in("kim", PASSWORD).await.status,
            200,
            "after {wait} s"
        );
    })
    .await;
}

#[tokio::test]
async fn a_session_changes_things_only_from_our_own_pages() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let ask = async |origin, method: &str| {
            app.as_browser(
                &kim.cookie,
                origin,
                method,
                "/api/v1/tools/none",
                Value::Null,
            )
            .await
            .status
        };
        assert_eq!(ask(None, "GET").await, 404, "reading");
        assert_eq!(
            ask(Some("https://crib.example"), "DELETE").await,
            404,
            "our page"
        );
        assert_eq!(ask(None, "DELETE").await, 403, "nobody says which page");
        for other in [
            "https://evil.example",
            "null",
            "https://crib.example.evil.example",
        ] {
            assert_eq!(ask(Some(other), "DELETE").await, 403, "{other}");
            assert_eq!(ask(Some(other), "GET").await, 403, "{other}");
        }
        // Without a body's proper type no form of another site gets anywhere either.
        let form = Request::post("/api/v1/tools")
            .header("host", "crib.example")
            .header("origin", "https://crib.example")
            .header("cookie", &kim.cookie)
            .header("content-type", "text/plain")
            .body(Body::from("{}"))
            .unwrap();
        assert_eq!(app.send(form).await.status, 415);
    })
    .await;
}

#[tokio::test]
async fn a_link_lets_in_once_and_looking_at_it_does_not_use_it_up() {
    on_both(async |app: &TestApp| {
        app.person("kim", "author").await;
        let made = app.post("/api/v1/users/kim/login-link", Value::Null).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let path = made.body["path"].as_str().unwrap().to_owned();
        let ask = async |method: &str| {
            let request = Request::builder()
                .method(method)
                .uri(&path)
                .header("host", "crib.example");
            app.send(request.body(Body::empty()).unwrap()).await
        };
        for _ in 0..2 {
            let page = ask("GET").await;
            assert_eq!(page.status, 200);
            assert_eq!(page.headers["x-frame-options"], "DENY");
            assert!(page.headers.contains_key("content-security-policy"));
        }
        let opened = ask("POST").await;
        assert_eq!(
            (opened.status, opened.headers["location"].to_str().unwrap()),
            (303, "/")
        );
        let me = app
            .as_browser(&opened.cookie(), None, "GET", "/api/v1/me", Value::Null)
            .await;
        assert_eq!(me.body["user"], "kim");
        assert_eq!(ask("POST").await.status, 401, "once");
        let old = app.post("/api/v1/users/kim/login-link", Value::Null).await;
        app.clock.advance(15 * 60_000);
        let path = old.body["path"].as_str().unwrap().to_owned();
        let request = Request::post(&path).body(Body::empty()).unwrap();
        assert_eq!(app.send(request).await.status, 401, "too old");
    })
    .await;
}

#[tokio::test]
async fn a_new_password_ends_the_sessions_of_the_old_one() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let own = Some("https://crib.example");
        let change = async |cookie: &str, current: &str| {
            let body = json!({"password": "another long password", "current_password": current});
            app.as_browser(cookie, own, "PATCH", "/api/v1/users/kim", body)
                .await
                .status
        };
        let body = json!({"password": "another long password"});
        let by_key = app
            .as_key(&kim.key, "PATCH", "/api/v1/users/kim", body)
            .await;
        assert_eq!(by_key.status, 403, "a key cannot");
        assert_eq!(change(&kim.cookie, "wrong").await, 403);
        assert_eq!(change(&kim.cookie, PASSWORD).await, 200);
        let me = app
            .as_browser(&kim.cookie, None, "GET", "/api/v1/me", Value::Null)
            .await;
        assert_eq!(me.status, 401);
        assert_eq!(app.log_in("kim", PASSWORD).await.status, 401);
        assert_eq!(app.log_in("kim", "another long password").await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn keys_are_made_by_people_and_never_exceed_their_role() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let lee = app.person("lee", "admin").await;
        let own = Some("https://crib.example");
        let make = async |body: Value| {
            app.as_browser(&kim.cookie, own, "POST", "/api/v1/keys", body)
                .await
        };
        let mine = make(json!({"name": "mine", "scopes": ["read", "author"]})).await;
        assert_eq!(
            (mine.status, &mine.body["user"]),
            (201, &json!("kim")),
            "{}",
            mine.body
        );
        let more = make(json!({"name": "more", "scopes": ["admin"]})).await;
        assert_eq!(more.status, 422);
        assert!(more.message().contains("author"), "{}", more.message());
        let other = make(json!({"name": "x", "user": "lee", "scopes": ["read"]})).await;
        assert_eq!(other.status, 403);
        let body = json!({"name": "x", "scopes": ["read"]});
        let by_key = app.as_key(&kim.key, "POST", "/api/v1/keys", body).await;
        assert_eq!(by_key.status, 403, "a key makes no keys");
        let listed = app
            .as_key(&kim.key, "GET", "/api/v1/keys", Value::Null)
            .await;
        let users: Vec<&Value> = listed.body["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|k| &k["user"])
            .collect();
        assert!(users.iter().all(|user| **user == "kim") && users.len() == 2);
        let theirs = format!("/api/v1/keys/{}", lee.key_id);
        assert_eq!(
            app.as_key(&kim.key, "DELETE", &theirs, Value::Null)
                .await
                .status,
            404
        );
        let own_key = format!("/api/v1/keys/{}", kim.key_id);
        assert_eq!(
            app.as_key(&kim.key, "DELETE", &own_key, Value::Null)
                .await
                .status,
            204,
            "itself"
        );
        assert_eq!(
            app.as_key(&kim.key, "GET", "/api/v1/me", Value::Null)
                .await
                .status,
            401
        );

        // A smaller role makes every key smaller at once.
        let key = mine.body["key"].as_str().unwrap();
        let author = app
            .as_key(key, "DELETE", "/api/v1/tools/none", Value::Null)
            .await;
        assert_eq!(author.status, 404);
        app.as_key(
            ADMIN,
            "PATCH",
            "/api/v1/users/kim",
            json!({"role": "viewer"}),
        )
        .await;
        let viewer = app
            .as_key(key, "DELETE", "/api/v1/tools/none", Value::Null)
            .await;
        assert_eq!(viewer.status, 403);
        let listed = app.get("/api/v1/keys").await;
        let used = listed.body["items"]
            .as_array()
            .unwrap()
            .iter()
            .find(|k| k["name"] == "mine");
        assert!(used.unwrap()["last_used_at"].is_string());
    })
    .await;
}

#[tokio::test]
async fn somebody_is_always_left_who_can_undo_it() {
    on_both(async |app: &TestApp| {
        let demote = app
            .as_key(
                ADMIN,
                "PATCH",
                "/api/v1/users/admin",
                json!({"role": "viewer"}),
            )
            .await;
        assert_eq!(
            (demote.status, demote.code()),
            (409, "conflict"),
            "{}",
            demote.body
        );
        let remove = app
            .as_key(ADMIN, "DELETE", "/api/v1/users/admin", Value::Null)
            .await;
        assert_eq!(remove.status, 409);
        app.person("kim", "admin").await;
        assert_eq!(
            app.as_key(ADMIN, "DELETE", "/api/v1/users/system", Value::Null)
                .await
                .status,
            404
        );
        for name in [
            "KIM",
            "system",
            "file",
            "",
            "a b",
            "x\u{0}",
            &"n".repeat(65),
            "me",
        ] {
            let made = app
                .post("/api/v1/users", json!({"name": name, "role": "viewer"}))
                .await;
            assert!([409, 422].contains(&made.status), "{name:?}: {}", made.body);
        }
        app.as_key(ADMIN, "DELETE", "/api/v1/users/kim", Value::Null)
            .await;
        let again = app
            .post("/api/v1/users", json!({"name": "kim", "role": "viewer"}))
            .await;
        assert_eq!(again.status, 409);
        assert!(again.message().contains("restore"), "{}", again.message());
    })
    .await;
}
