//! Whatever a client sends, the answer has the one error shape and tells nothing internal.

use crate::testapp::{ADMIN, TestApp, on_both};
use axum::body::Body;
use axum::http::Request;
use serde_json::Value;

pub(crate) fn request(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body.into()).unwrap()
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
async fn every_error_has_the_one_shape() {
    on_both(async |app: &TestApp| {
        let (key, json) = (("x-api-key", ADMIN), ("content-type", "application/json"));
        let call = "/api/v1/tools/calculator/call";
        let cases = [
            (
                request("GET", "/api/v1/tools", &[], ""),
                401,
                "unauthenticated",
            ),
            (
                request("GET", "/api/v1/tools", &[("x-api-key", "junk")], ""),
                401,
                "unauthenticated",
            ),
            (
                request(
                    "GET",
                    "/api/v1/tools",
                    &[("authorization", "Basic eDp5")],
                    "",
                ),
                401,
                "unauthenticated",
            ),
            (
                request("GET", "/api/v1/nothing", &[key], ""),
                404,
                "not_found",
            ),
            (request("GET", "/nothing", &[key], ""), 404, "not_found"),
            (
                request("PUT", "/api/v1/tools", &[key, json], "{}"),
                405,
                "method_not_allowed",
            ),
            (
                request("POST", call, &[key], "{}"),
                415,
                "unsupported_media_type",
            ),
            (
                request("POST", call, &[key, ("content-type", "text/plain")], "{}"),
                415,
                "unsupported_media_type",
            ),
            (
                request("POST", call, &[key, json], "{\"arguments\": }"),
                400,
                "invalid_request",
            ),
            (
                request("POST", call, &[key, json], "{\"argument\": {}}"),
                400,
                "invalid_request",
            ),
            (
                request("POST", call, &[key, json], vec![0xff, 0xfe]),
                400,
                "invalid_request",
            ),
            (
                request("POST", call, &[key, json], "x".repeat(100_001)),
                413,
                "payload_too_large",
            ),
            (
                request("GET", "/api/v1/tools/%ff", &[key], ""),
                400,
                "invalid_request",
            ),
            (
                request("DELETE", "/api/v1/keys/not-a-uuid", &[key], ""),
                404,
                "not_found",
            ),
            (
                request("GET", "/api/v1/executions/not-a-uuid", &[key], ""),
                404,
                "not_found",
            ),
            (
                request("GET", "/api/v1/tools/nothing", &[key], ""),
                404,
                "tool_not_found",
            ),
            (
                request("POST", "/api/v1/tools", &[key, json], ""),
                422,
                "invalid",
            ),
        ];
        for (request, status, code) in cases {
            let shown = format!("{} {}", request.method(), request.uri());
            let answer = app.send(request).await;
            assert_eq!(
                (answer.status, answer.code()),
                (status, code),
                "{shown}: {}",
                answer.body
            );
            let error = answer.body["error"].as_object().unwrap();
            let members: Vec<_> = error.keys().map(String::as_str).collect();
            assert_eq!(
                members,
                ["code", "message", "details", "request_id"],
                "{shown}"
            );
            assert_eq!(
                answer.headers["x-request-id"].to_str().unwrap(),
                error["request_id"]
            );
            assert!(!answer.message().is_empty());
        }
    })
    .await;
}

#[tokio::test]
async fn a_body_that_is_no_object_is_told_as_a_definition_is() {
    on_both(async |app: &TestApp| {
        let headers = [("x-api-key", ADMIN), ("content-type", "application/json")];
        for body in ["[]", "", "7", "{\"arguments\":"] {
            let call = "/api/v1/tools/calculator/call";
            let answer = app.send(request("POST", call, &headers, body)).await;
            assert_eq!((answer.status, answer.code()), (400, "invalid_request"));
            let said = answer.message();
            assert!(
                said.starts_with("body:1:") && said.contains("expected"),
                "{said}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_wrong_parameter_is_named() {
    on_both(async |app: &TestApp| {
        for (query, name) in [("limit=many", "limit"), ("colour=red", "colour")] {
            let answer = app.get(&format!("/api/v1/tools?{query}")).await;
            assert_eq!((answer.status, answer.code()), (400, "invalid_request"));
            assert!(answer.message().contains(name), "{}", answer.message());
            assert!(
                !answer.message().contains("deserialize"),
                "the framework's words: {}",
                answer.message()
            );
        }
    })
    .await;
}

#[tokio::test]
async fn without_a_key_dev_answers_only_this_machine() {
    on_both(async |app: &TestApp| {
        let (of_app, limits) = (
            std::sync::Arc::clone(&app.server.app),
            server::Limits::default(),
        );
        let dev = server::Api::new(server::Server::new(
            of_app,
            limits,
            server::Edge::default(),
            face::Settings::default(),
            true,
        ));
        let status = async |headers: &[(&str, &str)]| {
            let request = request("GET", "/api/v1/tools", headers, "");
            dev.answer(request).await.status().as_u16()
        };
        for host in [
            "localhost:8787",
            "127.0.0.1:8787",
            "[::1]:8787",
            "localhost",
        ] {
            assert_eq!(status(&[("host", host)]).await, 200, "{host}");
        }
        let rebound = [("host", "attacker.example:8787")];
        assert_eq!(status(&rebound).await, 403, "a name that leads here");
        assert_eq!(status(&[]).await, 403, "no name at all");
        let from_page = [
            ("host", "localhost:8787"),
            ("origin", "https://attacker.example"),
        ];
        assert_eq!(status(&from_page).await, 403, "a page of another site");
        let own_page = [
            ("host", "localhost:8787"),
            ("origin", "http://localhost:8787"),
        ];
        assert_eq!(status(&own_page).await, 200);
        let with_key = [("host", "tools.example"), ("x-api-key", ADMIN)];
        assert_eq!(status(&with_key).await, 200, "a key is good under any name");
    })
    .await;
}

#[tokio::test]
async fn a_request_id_is_taken_over_when_it_is_plain() {
    on_both(async |app: &TestApp| {
        let id_of = async |given: &str| {
            let answer = app
                .send(request("GET", "/healthz", &[("x-request-id", given)], ""))
                .await;
            answer.headers["x-request-id"].to_str().unwrap().to_owned()
        };
        assert_eq!(id_of("trace-7.a_B").await, "trace-7.a_B");
        assert_ne!(id_of("<script>").await, "<script>");
        assert_eq!(id_of(&"x".repeat(65)).await.len(), 32);
    })
    .await;
}

#[tokio::test]
async fn health_is_open_and_details_are_not() {
    on_both(async |app: &TestApp| {
        for path in ["/healthz", "/readyz", "/api/openapi.json", "/api/docs"] {
            assert_eq!(
                app.send(request("GET", path, &[], "")).await.status,
                200,
                "{path}"
            );
        }
        let open = app.send(request("GET", "/readyz", &[], "")).await.body;
        assert_eq!(open, serde_json::json!({"status": "ready"}));
        let bearer = format!("Bearer {ADMIN}");
        let detailed = app
            .send(request("GET", "/readyz", &[("authorization", &bearer)], ""))
            .await
            .body;
        assert!(
            detailed["tools"].as_u64().unwrap() >= 2 && detailed["files"] != Value::Null,
            "{detailed}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_wrong_address_is_told_where_it_is_wrong() {
    on_both(async |app: &TestApp| {
        let cases = [
            (
                "tools/x/versions/abc",
                "'version' must be a whole number of up to 18 digits, not 'abc'",
            ),
            (
                "tools/x/versions/99999999999999999999",
                "not '99999999999999999999'",
            ),
            ("tools/%ff", "'name' is not UTF-8 after decoding"),
        ];
        for (path, expected) in cases {
            let path = format!("/api/v1/{path}");
            let answer = app.get(&path).await;
            assert_eq!((answer.status, answer.code()), (400, "invalid_request"));
            assert!(answer.message().contains(expected), "{}", answer.message());
        }
    })
    .await;
}
