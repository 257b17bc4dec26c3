//! What becomes of sessions, keys and failed logins: how many there can be, what the audit log says of them, and that
//! a stored change comes to count.

use crate::people::PASSWORD;
use crate::testapp::{ADMIN, Answer, TestApp, on_both};
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use std::time::Duration;

const OWN: Option<&str> = Some("https://crib.example");

impl TestApp {
    async fn link(&self, name: &str) -> String {
        let path = format!("/api/v1/users/{name}/login-link");
        let made = self.post(&path, Value::Null).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.body["path"].as_str().unwrap().to_owned()
    }

    async fn follow(&self, link: &str) -> Answer {
        let request = Request::post(link).body(Body::empty()).unwrap();
        self.send(request).await
    }

    async fn me(&self, cookie: &str) -> u16 {
        let me = self.as_browser(cookie, None, "GET", "/api/v1/me", Value::Null);
        me.await.status
    }

    /// The acts of this kind, the oldest first.
    async fn acts(&self, action: &str) -> Vec<Value> {
        let path = format!("/api/v1/audit?action={action}&limit=500");
        let mut acts = self.get(&path).await.body["items"]
            .as_array()
            .unwrap()
            .clone();
        acts.reverse();
        acts
    }
}

#[tokio::test]
async fn failed_logins_and_logouts_are_told_without_what_was_typed() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        for (name, password) in [
            ("kim", "wrong-password-1"),
            ("kim", "wrong-password-2"),
            ("my-secret-in-the-wrong-field", "x"),
        ] {
            assert_eq!(app.log_in(name, password).await.status, 401);
        }
        let failed = app.acts("login.failed").await;
        let told: Vec<_> = failed
            .iter()
            .map(|act| {
                (
                    act["target"].as_str().unwrap(),
                    act["actor"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(told, [("user:kim", "nobody"), ("user:?", "nobody")]);
        assert_eq!(failed[0]["after"]["how"], "password");
        assert_eq!(failed[0]["after"]["count"], 1);
        assert!(failed[0]["after"]["from"].is_string());

        // A link that was used says nothing of its user any more; one that is too old does.
        let (link, old) = (app.link("kim").await, app.link("kim").await);
        assert_eq!(app.follow(&link).await.status, 303);
        assert_eq!(app.follow(&link).await.status, 401);
        app.clock.advance(15 * 60_000);
        assert_eq!(app.follow(&old).await.status, 401);
        let failed = app.acts("login.failed").await;
        let told: Vec<_> = failed[2..].iter().map(|act| &act["target"]).collect();
        assert_eq!(told, ["user:?", "user:kim"]);
        assert!(failed[2..].iter().all(|act| act["after"]["how"] == "link"));

        let out = |cookie: String| async move {
            let path = "/api/v1/logout";
            app.as_browser(&cookie, OWN, "POST", path, Value::Null)
                .await
        };
        assert_eq!(out(kim.cookie.clone()).await.status, 204);
        assert_eq!(out(kim.cookie.clone()).await.status, 401);
        let outs = app.acts("logout").await;
        assert_eq!(outs.len(), 1);
        assert_eq!(
            (&outs[0]["actor"], &outs[0]["target"]),
            (&json!("kim"), &json!("user:kim"))
        );

        let everything = app.get("/api/v1/audit?limit=500").await.body.to_string();
        for typed in ["wrong-password", "my-secret", &link[7..], &old[7..]] {
            assert!(!everything.contains(typed), "{typed}");
        }
        assert_eq!(app.get("/api/v1/audit/verify").await.body["valid"], true);
    })
    .await;
}

#[tokio::test]
async fn guessing_leaves_few_entries() {
    on_both(async |app: &TestApp| {
        app.person("kim", "author").await;
        let mut wrong = 0;
        while wrong < 12 {
            let answer = app.log_in("kim", "not the password").await;
            match answer.status {
                401 => wrong += 1,
                _ => {
                    let wait = answer.headers["retry-after"].to_str().unwrap();
                    app.clock.advance(wait.parse::<i64>().unwrap() * 1000);
                }
            }
        }
        let failed = app.acts("login.failed").await;
        let counts: Vec<_> = failed.iter().map(|act| &act["after"]["count"]).collect();
        assert_eq!(counts, [1, 10]);
        for _ in 0..12 {
            assert_eq!(app.follow("/login/none").await.status, 401);
        }
        assert_eq!(app.acts("login.failed").await.len(), 4);
    })
    .await;
}

#[tokio::test]
async fn who_guesses_in_a_session_slows_down_nobody_else() {
    on_both(async |app: &TestApp| {
        let (kim, lee) = (
            app.person("kim", "author").await,
            app.person("lee", "author").await,
        );
        let change = async |cookie: &str, name: &str, current: &str| {
            let body = json!({"password": "another long password", "current_password": current});
            let path = format!("/api/v1/users/{name}");
            let answer = app.as_browser(cookie, OWN, "PATCH", &path, body).await;
            answer.status
        };
        for _ in 0..11 {
            assert_eq!(change(&kim.cookie, "kim", "wrong").await, 403);
        }
        assert_eq!(change(&kim.cookie, "kim", PASSWORD).await, 429);
        assert_eq!(change(&lee.cookie, "lee", PASSWORD).await, 200);
        let failed = app.acts("login.failed").await;
        let told: Vec<_> = failed.iter().map(|act| &act["actor"]).collect();
        assert_eq!(told, ["kim", "kim"], "the first and the tenth");
        assert_eq!(failed[0]["after"]["how"], "current_password");
    })
    .await;
}

#[tokio::test]
async fn a_user_has_twenty_sessions_and_the_oldest_ends() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let lee = app.person("lee", "author").await;
        let mut cookies = vec![kim.cookie];
        for _ in 0..21 {
            app.clock.advance(1_000);
            let link = app.link("kim").await;
            cookies.push(app.follow(&link).await.cookie());
        }
        let open = async |app: &TestApp| {
            let mut open = Vec::new();
            for cookie in &cookies {
                open.push(app.me(cookie).await == 200);
            }
            open
        };
        let expected: Vec<bool> = (0..22).map(|i| i >= 2).collect();
        assert_eq!(open(app).await, expected);
        assert_eq!(app.me(&lee.cookie).await, 200);
        let logins = app.acts("login.link").await;
        assert_eq!(logins[20]["after"]["sessions_ended"], 1);
        let app = app.restart().await;
        assert_eq!(open(&app).await, expected, "also in the database");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_user_who_comes_back_has_none_of_the_old_keys() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let more = json!({"name": "more", "user": "kim", "scopes": ["read"]});
        app.post("/api/v1/keys", more).await;
        app.as_key(ADMIN, "DELETE", "/api/v1/users/kim", Value::Null)
            .await;
        let removed = app.acts("user.delete").await;
        assert_eq!(removed[0]["after"]["keys_revoked"], 2);
        let back = app.post("/api/v1/users/kim/restore", Value::Null).await;
        assert_eq!(back.status, 200);
        let me = async |app: &TestApp| {
            let me = app.as_key(&kim.key, "GET", "/api/v1/me", Value::Null);
            me.await.status
        };
        assert_eq!(me(app).await, 401);
        assert_eq!(app.me(&kim.cookie).await, 401);
        let keys = app.get("/api/v1/keys").await.body;
        let theirs = keys["items"].as_array().unwrap().iter();
        let mut theirs = theirs.filter(|key| key["user"] == "kim");
        assert!(theirs.all(|key| key["revoked_at"].is_string()), "{keys}");
        let app = app.restart().await;
        assert_eq!(me(&app).await, 401);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn logging_in_and_out_reads_nobody_else() {
    on_both(async |app: &TestApp| {
        app.person("kim", "author").await;
        app.sql("ALTER TABLE keys RENAME TO keys_away").await;
        let answer = app.log_in("kim", PASSWORD).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let cookie = answer.cookie();
        assert_eq!(app.me(&cookie).await, 200);
        let path = "/api/v1/logout";
        let out = app.as_browser(&cookie, OWN, "POST", path, Value::Null);
        assert_eq!(out.await.status, 204);
        assert_eq!(app.me(&cookie).await, 401);
        app.sql("ALTER TABLE keys_away RENAME TO keys").await;
    })
    .await;
}

#[tokio::test]
async fn a_stored_change_comes_to_count_by_itself() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        app.sql("ALTER TABLE login_links RENAME TO links_away")
            .await;
        let body = json!({"role": "viewer"});
        let path = "/api/v1/users/kim";
        let refused = app
            .as_key(ADMIN, "PATCH", path, json!({"password": PASSWORD}))
            .await;
        assert!(refused.status >= 500, "not stored: {}", refused.body);
        app.sql("ALTER TABLE links_away RENAME TO login_links")
            .await;

        app.sql("ALTER TABLE sessions RENAME TO sessions_away")
            .await;
        let stored = app.as_key(ADMIN, "PATCH", path, body).await;
        assert_eq!(stored.status, 503, "{}", stored.body);
        assert!(stored.message().contains("stored"), "{}", stored.message());
        assert_eq!(app.get(path).await.body["role"], "author", "not yet");
        app.sql("ALTER TABLE sessions_away RENAME TO sessions")
            .await;
        let heals = async {
            while app.get(path).await.body["role"] != "viewer" {
                tokio::task::yield_now().await;
            }
        };
        let healed = tokio::time::timeout(Duration::from_secs(20), heals).await;
        assert!(healed.is_ok(), "it never counted");
        let path = "/api/v1/tools/none";
        let viewer = app.as_key(&kim.key, "DELETE", path, Value::Null).await;
        assert_eq!(viewer.status, 403, "nor may the key any more");
        assert_eq!(app.me(&kim.cookie).await, 200, "the session goes on");
    })
    .await;
}
