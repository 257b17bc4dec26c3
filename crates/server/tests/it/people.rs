//! People for tests: users with a key that has all their role allows, and a session.

use crate::testapp::{Answer, TestApp};
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

/// A user with a role, a key and an open session.
pub(crate) struct Person {
    pub(crate) key: String,
    pub(crate) key_id: String,
    pub(crate) cookie: String,
}

pub(crate) const PASSWORD: &str = "correct horse battery staple";

pub(crate) fn scopes_of(role: &str) -> &'static [&'static str] {
    match role {
        "viewer" => &["read"],
        "operator" => &["read", "call", "operate"],
        "author" => &["read", "call", "author"],
        _ => &["admin"],
    }
}

impl TestApp {
    pub(crate) async fn person(&self, name: &str, role: &str) -> Person {
        let body = json!({"name": name, "role": role, "password": PASSWORD});
        let made = self.post("/api/v1/users", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let body = json!({"name": format!("{name}-key"), "user": name, "scopes": scopes_of(role)});
        let key = self.post("/api/v1/keys", body).await;
        assert_eq!(key.status, 201, "{}", key.body);
        let text = |name: &str| key.body[name].as_str().unwrap().to_owned();
        Person {
            key: text("key"),
            key_id: text("id"),
            cookie: self.log_in(name, PASSWORD).await.cookie(),
        }
    }

    pub(crate) async fn log_in(&self, name: &str, password: &str) -> Answer {
        let body = json!({"name": name, "password": password}).to_string();
        let request = Request::post("/api/v1/login").header("content-type", "application/json");
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    /// As a browser with a session does, from a page of `origin`.
    pub(crate) async fn as_browser(
        &self,
        cookie: &str,
        origin: Option<&str>,
        method: &str,
        path: &str,
        body: Value,
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "crib.example")
            .header("cookie", format!("other=1; {cookie}; last=2"));
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        if !body.is_null() {
            request = request.header("content-type", "application/json");
        }
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.send(request.body(Body::from(text)).unwrap()).await
    }
}

impl Answer {
    /// `name=value` of the session's cookie.
    pub(crate) fn cookie(&self) -> String {
        let set = self.headers.get("set-cookie").expect("a session is open");
        set.to_str().unwrap().split(';').next().unwrap().to_owned()
    }
}
