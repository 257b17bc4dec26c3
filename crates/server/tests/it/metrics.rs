//! What Prometheus reads is exactly what happened.

use crate::model::{Model, Say};
use crate::runs::calculate;
use crate::testapp::{ADMIN, TestApp, on_both};
use crate::toolsets_mcp::Client;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Every figure by its name and labels.
async fn figures(app: &TestApp) -> HashMap<String, f64> {
    let answer = app.get("/metrics").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let kind = answer.headers["content-type"].to_str().unwrap();
    assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    let text = answer.body.as_str().unwrap();
    let mut about = String::new();
    let mut all = HashMap::new();
    for line in text.lines() {
        if let Some(said) = line.strip_prefix("# TYPE ") {
            about = said.split(' ').next().unwrap().to_owned();
        } else if !line.starts_with('#') {
            let (name, value) = line.rsplit_once(' ').unwrap();
            // Each follows what says of which type it is.
            assert!(name.starts_with(&about), "{line} after {about}");
            let twice = all.insert(name.to_owned(), value.parse().unwrap());
            assert_eq!(twice, None, "{line}");
        }
    }
    all
}

#[tokio::test]
async fn calls_are_counted_exactly() {
    on_both(async |app: &TestApp| {
        let call = async |tool: &str, expression: Value| {
            let path = format!("/api/v1/tools/{tool}/call");
            let body = json!({"arguments": {"expression": expression}});
            app.post(&path, body).await.status
        };
        for number in 0..25 {
            assert_eq!(
                call("calculator", json!(format!("{number} + 1"))).await,
                200
            );
        }
        for _ in 0..3 {
            assert_eq!(call("calculator", json!("1 / 0")).await, 502);
        }
        assert_eq!(call("calculator", json!(5)).await, 422);
        // Names that nobody has are one name: whoever calls cannot make up new figures.
        for number in 0..4 {
            assert_eq!(call(&format!("made-up-{number}"), json!("1")).await, 404);
        }
        let client = Client::modern(app, ADMIN, "/mcp");
        let params = json!({"name": "calculator", "arguments": {"expression": "2 * 3"}});
        client.ask("tools/call", params).await.result();
        let all = figures(app).await;
        let of = |name: &str| all.get(name).copied().unwrap_or_default();
        let calls = |tool: &str, status: &str, code: &str| {
            let labels = format!("tool=\"{tool}\",status=\"{status}\",code=\"{code}\"");
            of(&format!("toolcrib_calls_total{{{labels}}}"))
        };
        assert_eq!(calls("calculator", "success", ""), 26.0);
        assert_eq!(calls("calculator", "error", "tool_execution_error"), 3.0);
        assert_eq!(calls("calculator", "error", "invalid_input"), 1.0);
        assert_eq!(calls("", "error", "tool_not_found"), 4.0);
        let sum = all
            .iter()
            .filter(|it| it.0.starts_with("toolcrib_calls_total"));
        assert_eq!(sum.map(|it| *it.1).sum::<f64>(), 34.0);
        // The log says the same.
        let stats = app.get("/api/v1/executions/stats").await.body;
        assert_eq!(stats["total"], 34, "{stats}");
        assert_eq!(of("toolcrib_call_duration_seconds_count"), 34.0);
        let within = of("toolcrib_call_duration_seconds_bucket{le=\"+Inf\"}");
        assert_eq!(within, 34.0);
        assert!(of("toolcrib_call_duration_seconds_bucket{le=\"60\"}") <= within);
        let requests = |face: &str, status: u16| {
            let labels = format!("face=\"{face}\",status=\"{status}\"");
            of(&format!("toolcrib_http_requests_total{{{labels}}}"))
        };
        assert_eq!(requests("mcp", 200), 1.0);
        assert_eq!((requests("api", 502), requests("api", 422)), (3.0, 1.0));
        assert_eq!(requests("api", 404), 4.0);
        assert_eq!(of("toolcrib_calls_running"), 0.0);
        assert_eq!(of("toolcrib_log_works"), 1.0);
        app.server.app.executor.log.maintain().await.unwrap();
        let (all, ready) = (figures(app).await, app.get("/readyz").await.body);
        let bytes = all["toolcrib_log_bytes"];
        assert!(bytes > 0.0 && all["toolcrib_log_days"] >= 1.0, "{all:?}");
        assert_eq!(ready["log"]["bytes"].as_f64(), Some(bytes), "{ready}");
        assert_eq!(ready["log"]["bytes_max"], Value::Null, "{ready}");
        assert!(of("toolcrib_tools") >= 10.0);
        assert!(of("process_resident_memory_bytes") > 1e6);
    })
    .await;
}

#[tokio::test]
async fn runs_are_counted_with_what_their_models_used() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![calculate("1+1"), Say::text("2")]).await;
        app.agent(&model, json!({})).await;
        for _ in 0..2 {
            assert_eq!(app.run("count").await["status"], "done");
        }
        app.post("/api/v1/runs", json!({"input": "What is 2 * 3?"}))
            .await;
        let body =
            json!({"type": "error", "error": {"type": "authentication_error", "message": "no"}});
        let refusing = Model::saying(vec![Say::Refuse(401, body)]).await;
        app.post("/api/v1/agents", refusing.agent("refused")).await;
        let failed = json!({"input": "x", "agent": "refused"});
        assert_eq!(
            app.post("/api/v1/runs", failed).await.body["status"],
            "failed"
        );
        let all = figures(app).await;
        let of = |name: &str| all.get(name).copied().unwrap_or_default();
        assert_eq!(of("toolcrib_runs_total{status=\"done\"}"), 3.0, "{all:?}");
        assert_eq!(of("toolcrib_runs_total{status=\"failed\"}"), 1.0);
        let turns = |status: &str| {
            of(&format!(
                "toolcrib_model_turns_total{{model=\"claude-test\",status=\"{status}\"}}"
            ))
        };
        assert_eq!((turns("success"), turns("error")), (4.0, 1.0));
        let tokens = |kind: &str| {
            of(&format!(
                "toolcrib_model_tokens_total{{model=\"claude-test\",kind=\"{kind}\"}}"
            ))
        };
        assert_eq!((tokens("input"), tokens("output")), (40.0, 20.0));
    })
    .await;
}
