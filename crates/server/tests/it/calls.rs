//! Calling tools over REST: the envelope, statuses, idempotency keys, trying out.

use crate::testapp::{TestApp, definition, on_both, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};

#[tokio::test]
async fn the_answer_is_the_tool_response() {
    on_both(async |app: &TestApp| {
        let answer = app
            .post(
                "/api/v1/tools/calculator/call",
                json!({"arguments": {"expression": "2+2"}}),
            )
            .await;
        assert_eq!(answer.status, 200);
        let members: Vec<_> = answer
            .body
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            members,
            [
                "status",
                "message",
                "data",
                "error",
                "tool_name",
                "execution_id",
                "elapsed"
            ]
        );
        assert_eq!(
            (
                &answer.body["status"],
                &answer.body["data"],
                &answer.body["error"]
            ),
            (&json!("success"), &json!(4), &Value::Null)
        );
        assert!(answer.body["elapsed"].as_f64().unwrap() >= 0.0);
        let cleaned = app
            .post(
                "/api/v1/tools/serialize_for_cell/call",
                json!({"arguments": {"data": "a\u{a0}b"}}),
            )
            .await;
        assert_eq!(cleaned.body["data"], "a b");
    })
    .await;
}

#[tokio::test]
async fn failures_have_their_status_and_an_entry() {
    let policy = Policy::new(true, "calculator,fixture_wait,nothing");
    on_both_with(json!([]), policy, async |app: &TestApp| {
        let cases = [
            ("nothing", json!({}), 404, "tool_not_found"),
            (
                "serialize_for_cell",
                json!({"data": "x"}),
                403,
                "blocked_by_policy",
            ),
            ("calculator", json!({"expression": 5}), 422, "invalid_input"),
            ("calculator", json!({}), 422, "invalid_input"),
            (
                "calculator",
                json!({"expression": "1/0"}),
                502,
                "tool_execution_error",
            ),
            (
                "fixture_wait",
                json!({"bytes": 2_000_000}),
                502,
                "output_too_large",
            ),
            (
                "fixture_wait",
                json!({"panic": true}),
                502,
                "tool_execution_error",
            ),
        ];
        for (tool, arguments, status, code) in cases {
            let answer = app
                .post(
                    &format!("/api/v1/tools/{tool}/call"),
                    json!({"arguments": arguments}),
                )
                .await;
            assert_eq!(
                (answer.status, answer.code()),
                (status, code),
                "{}",
                answer.body
            );
            let id = answer.body["execution_id"].as_str().unwrap();
            let entry = app.get(&format!("/api/v1/executions/{id}")).await;
            assert_eq!(entry.body["error"]["code"], code, "{}", entry.body);
        }
        let body = json!({"arguments": {"seconds": 5}, "timeout_seconds": 0.02});
        let late = app.post("/api/v1/tools/fixture_wait/call", body).await;
        assert_eq!(
            (late.status, &late.body["message"]),
            (504, &json!("Tool execution timeout (0.02s)"))
        );
    })
    .await;
}

#[tokio::test]
async fn one_idempotency_key_runs_once() {
    on_both(async |app: &TestApp| {
        let body = json!({"arguments": {"seconds": 0.05}, "idempotency_key": "order-66"});
        let calls: Vec<_> = (0..50)
            .map(|_| {
                let (server, body) = (std::sync::Arc::clone(&app.server), body.to_string());
                tokio::spawn(async move {
                    let request = axum::http::Request::builder()
                        .method("POST")
                        .uri("/api/v1/tools/fixture_wait/call")
                        .header("x-api-key", crate::testapp::ADMIN)
                        .header("content-type", "application/json")
                        .body(axum::body::Body::from(body))
                        .unwrap();
                    let response = server::Api::new(server).answer(request).await;
                    let bytes = http_body_util::BodyExt::collect(response.into_body())
                        .await
                        .unwrap()
                        .to_bytes();
                    serde_json::from_slice::<Value>(&bytes).unwrap()
                })
            })
            .collect();
        let mut answers = Vec::new();
        for call in calls {
            answers.push(call.await.unwrap());
        }
        assert!(
            answers.iter().all(|answer| *answer == answers[0]),
            "one answer for all"
        );
        assert_eq!(answers[0]["data"]["started"], 1, "{}", answers[0]);
        let other = app
            .post(
                "/api/v1/tools/fixture_wait/call",
                json!({"arguments": {"seconds": 0}, "idempotency_key": "order-66"}),
            )
            .await;
        assert_eq!(
            (other.status, other.code()),
            (409, "conflict"),
            "{}",
            other.body
        );
        app.clock.advance(24 * 3600 * 1000);
        let next_day = app
            .post("/api/v1/tools/fixture_wait/call", body.clone())
            .await;
        assert_eq!(next_day.body["data"]["started"], 2, "{}", next_day.body);
        let next = app.restart().await;
        let stored = next.post("/api/v1/tools/fixture_wait/call", body).await;
        assert_eq!(stored.body, next_day.body, "the same after a restart");
        next.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_a_key_answers_without_running_is_logged_too() {
    on_both(async |app: &TestApp| {
        let call = async |data: &str, key: &str| {
            let body = json!({"arguments": {"data": data}, "idempotency_key": key});
            app.post("/api/v1/tools/serialize_for_cell/call", body)
                .await
        };
        let first = call("a", "k").await;
        assert_eq!(call("a", "k").await.body, first.body, "the stored answer");
        let conflict = call("b", "k").await;
        assert_eq!((conflict.status, conflict.code()), (409, "conflict"));
        assert_eq!(conflict.body["status"], "error", "{}", conflict.body);
        let wrong = call("a", "").await;
        assert_eq!((wrong.status, wrong.code()), (422, "invalid_input"));
        let page = app.get("/api/v1/executions").await;
        let items = page.body["items"].as_array().unwrap();
        assert_eq!(items.len(), 4, "{}", page.body);
        for refused in [&conflict, &wrong] {
            let logged = items
                .iter()
                .find(|item| item["id"] == refused.body["execution_id"]);
            assert_eq!(logged.unwrap()["status"], "error", "{}", page.body);
        }
        let again = items
            .iter()
            .find(|item| item["status"] == "success" && item["id"] != first.body["execution_id"])
            .unwrap();
        let entry = app
            .get(&format!(
                "/api/v1/executions/{}",
                again["id"].as_str().unwrap()
            ))
            .await;
        let told = entry.body["log_text"].as_str().unwrap();
        assert!(
            told.contains(first.body["execution_id"].as_str().unwrap()),
            "it says whose answer it is: {}",
            entry.body
        );
    })
    .await;
}

#[tokio::test]
async fn a_stored_answer_is_given_to_who_may_call_and_hides_its_secrets() {
    let tool = json!({
        "name": "tell", "description": "d", "kind": "builtin", "config": {"name": "fixture_wait"},
        "output_format": "text", "input_schema": {},
        "output_schema": {"properties": {"secret": {"x-secret": true}}},
    });
    on_both_with(json!([tool]), Policy::default(), async |app: &TestApp| {
        let call = async |name: &str| {
            let body = json!({"arguments": {"secret": "TOPSECRET"}, "idempotency_key": "k"});
            app.post(&format!("/api/v1/tools/{name}/call"), body).await
        };
        let first = call("tell").await;
        assert!(
            first.body["data"].as_str().unwrap().contains("TOPSECRET"),
            "{}",
            first.body
        );
        let id = app.get("/api/v1/tools/tell").await.body["id"].clone();
        let by_id = call(id.as_str().unwrap()).await;
        assert_eq!(by_id.body, first.body, "the same tool by its id");
        let page = app.get("/api/v1/executions").await;
        let items = page.body["items"].as_array().unwrap();
        assert_eq!(items.len(), 2);
        for item in items {
            let id = item["id"].as_str().unwrap();
            let mut entry = app.get(&format!("/api/v1/executions/{id}")).await.body;
            entry["arguments"] = Value::Null;
            assert!(!entry.to_string().contains("TOPSECRET"), "{entry}");
        }
        let off = json!({"is_active": false});
        app.as_key(crate::testapp::ADMIN, "PATCH", "/api/v1/tools/tell", off)
            .await;
        let refused = call("tell").await;
        assert_eq!((refused.status, refused.code()), (409, "tool_inactive"));
    })
    .await;
}

#[tokio::test]
async fn a_key_whose_call_ran_but_could_not_be_logged_never_runs_again() {
    on_both(async |app: &TestApp| {
        if app.is_postgres() {
            return;
        }
        let call = async |key: &str, bytes: usize| {
            let body = json!({"arguments": {"bytes": bytes}, "idempotency_key": key});
            app.post("/api/v1/tools/fixture_wait/call", body).await
        };
        // Room for the row that says "started", but not for the output.
        app.log_pages
            .store(50, std::sync::atomic::Ordering::Relaxed);
        let first = call("k", 900_000).await;
        assert_eq!(
            (first.status, first.code(), &first.body["error"]["details"]),
            (503, "service_unavailable", &json!({"tool_ran": true})),
            "{}",
            first.body
        );
        app.log_pages.store(0, std::sync::atomic::Ordering::Relaxed);
        let again = call("k", 900_000).await;
        assert_eq!(again.body, first.body, "the stored answer");
        let counted = app.post("/api/v1/tools/fixture_wait/call", json!({})).await;
        assert_eq!(counted.body["data"]["started"], 2, "{}", counted.body);
        app.server.app.executor.log.flush().await.unwrap();
        let id = first.body["execution_id"].as_str().unwrap();
        let entry = app.get(&format!("/api/v1/executions/{id}")).await;
        assert_eq!(
            entry.body["status"], "success",
            "it did run: {}",
            entry.body
        );
    })
    .await;
}

#[tokio::test]
async fn a_refused_call_gives_its_key_back() {
    on_both(async |app: &TestApp| {
        let call = async |arguments: Value| {
            app.post(
                "/api/v1/tools/calculator/call",
                json!({"arguments": arguments, "idempotency_key": "k"}),
            )
            .await
        };
        assert_eq!(call(json!({"expression": 1})).await.status, 422);
        assert_eq!(call(json!({"expression": "1"})).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_key_that_could_not_be_given_back_at_once_is_given_back_later() {
    on_both(async |app: &TestApp| {
        let call = async |arguments: Value| {
            app.post(
                "/api/v1/tools/calculator/call",
                json!({"arguments": arguments, "idempotency_key": "k"}),
            )
            .await
        };
        app.keep_keys(true).await;
        let refused = call(json!({"expression": 1})).await;
        assert_eq!(
            (refused.status, refused.code()),
            (422, "invalid_input"),
            "the answer is not lost: {}",
            refused.body
        );
        app.keep_keys(false).await;
        let ran = call(json!({"expression": "1"})).await;
        assert_eq!(ran.status, 200, "it never ran before: {}", ran.body);
    })
    .await;
}

#[tokio::test]
async fn a_definition_can_be_tried_without_saving_it() {
    on_both(async |app: &TestApp| {
        let body = json!({"tool": definition("draft"), "arguments": {"expression": "6*7"}});
        let answer = app.post("/api/v1/tools/test", body).await;
        assert_eq!(
            (answer.status, &answer.body["data"]),
            (200, &json!(42)),
            "{}",
            answer.body
        );
        assert_eq!(app.get("/api/v1/tools/draft").await.status, 404);
        let entries = app.get("/api/v1/executions?tool=draft").await;
        assert_eq!(entries.body["items"][0]["tool_version"], 0);
    })
    .await;
}

#[tokio::test]
async fn trying_out_is_no_way_around_the_policy() {
    let policy = Policy::new(true, "draft,serialize_for_cell");
    on_both_with(json!([]), policy, async |app: &TestApp| {
        let status = async |key: &str, tool: Value| {
            let body = json!({"tool": tool, "arguments": {"expression": "1"}});
            app.as_key(key, "POST", "/api/v1/tools/test", body)
                .await
                .status
        };
        let admin = crate::testapp::ADMIN;
        assert_eq!(
            status(admin, definition("calculator")).await,
            403,
            "under its own name"
        );
        assert_eq!(
            status(admin, definition("draft")).await,
            403,
            "under another name"
        );
        let page = app.get("/api/v1/executions").await;
        let refused = page.body["items"].as_array().unwrap();
        assert_eq!(refused.len(), 2, "both are logged: {}", page.body);
        assert!(
            refused
                .iter()
                .all(|entry| entry["error"]["code"] == "blocked_by_policy"),
            "{}",
            page.body
        );
        let mut allowed = definition("draft");
        allowed["config"] = json!({"name": "serialize_for_cell"});
        allowed["is_active"] = json!(false);
        assert_eq!(status(admin, allowed).await, 409, "switched off");
        let author = app.key(&["author"]).await;
        assert_eq!(
            status(&author, definition("draft")).await,
            403,
            "without the scope 'call'"
        );
        let rules = json!({"rules": [{"subject": "everyone", "hide": ["serialize_*"]}]});
        app.as_key(admin, "PUT", "/api/v1/policy", rules).await;
        let mut hidden = definition("draft");
        hidden["config"] = json!({"name": "serialize_for_cell"});
        assert_eq!(status(admin, hidden).await, 404, "what is hidden");
    })
    .await;
}

#[tokio::test]
async fn an_asker_who_hangs_up_leaves_no_key_hanging() {
    on_both(async |app: &TestApp| {
        let caller = std::sync::Arc::new(app::access::operator_caller("test"));
        for i in 0..60_u32 {
            let request = || executor::CallRequest {
                tool: "calculator".into(),
                arguments: json!({"expression": "1+1"}),
                timeout_seconds: Some(5.0),
                ..executor::CallRequest::default()
            };
            let key = Some(format!("key-{i}"));
            let app = &app.server.app;
            let mut asked =
                Box::pin(app.call(std::sync::Arc::clone(&caller), request(), key.clone()));
            // Hung up after a few turns, somewhere on the way.
            for _ in 0..i % 12 {
                let once = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(asked.as_mut().poll(cx).is_ready())
                });
                if once.await {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(asked);
            let again = app
                .call(std::sync::Arc::clone(&caller), request(), key)
                .await
                .unwrap();
            assert_eq!(again.data.get(), "2");
        }
    })
    .await;
}
