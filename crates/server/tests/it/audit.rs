//! What the audit log says of tools and agents, and how little room it takes.

use crate::testapp::{ADMIN, TestApp, definition, on_both};
use serde_json::{Value, json};

async fn acts(app: &TestApp, target: &str) -> Vec<Value> {
    let page = app.get(&format!("/api/v1/audit?target={target}")).await;
    let mut acts = page.body["items"].as_array().unwrap().clone();
    acts.reverse();
    acts
}

#[tokio::test]
async fn an_act_on_a_tool_says_what_it_was_and_what_it_is() {
    on_both(async |app: &TestApp| {
        for name in ["kim", "lee"] {
            app.person(name, "author").await;
        }
        let id = |body: Value| body["id"].clone();
        let kim = id(app.get("/api/v1/users/kim").await.body);
        let lee = id(app.get("/api/v1/users/lee").await.body);
        let key = json!({"name": "k", "user": "kim", "scopes": ["author"]});
        let key = app.post("/api/v1/keys", key).await.body["key"].clone();
        let key = key.as_str().unwrap();
        let path = "/api/v1/tools/kims";
        app.as_key(key, "POST", "/api/v1/tools", definition("kims"))
            .await;
        app.as_key(key, "PATCH", path, json!({"is_public": true}))
            .await;
        let to = json!({"to": "lee"});
        assert_eq!(app.post("/api/v1/users/kim/reassign", to).await.status, 200);
        app.as_key(ADMIN, "DELETE", path, Value::Null).await;
        app.post(&format!("{path}/restore"), Value::Null).await;

        let acts = acts(app, "tool:kims").await;
        let told = |n: usize, when: &str| {
            let told = &acts[n][when];
            json!([told["version"], told["owner"], told["is_public"]])
        };
        let names = acts.iter().map(|act| act["action"].as_str().unwrap());
        let expected = ["create", "update", "reassign", "delete", "restore"];
        assert!(
            names.eq(expected.map(|name| format!("tool.{name}"))),
            "{acts:?}"
        );
        assert_eq!(acts[0]["before"], Value::Null);
        assert_eq!(told(0, "after"), json!([1, kim, false]));
        assert_eq!(told(1, "before"), json!([1, kim, false]));
        assert_eq!(told(1, "after"), json!([2, kim, true]));
        assert_eq!(told(2, "before"), json!([2, kim, true]));
        assert_eq!(told(2, "after"), json!([3, lee, true]));
        assert_eq!(told(3, "before"), json!([3, lee, true]));
        assert_eq!(acts[3]["after"], json!({"version": 4}));
        assert_eq!(acts[4]["before"], Value::Null);
        assert_eq!(told(4, "after"), json!([5, lee, true]));
    })
    .await;
}

#[tokio::test]
async fn a_long_prompt_is_told_by_its_beginning_length_and_hash() {
    on_both(async |app: &TestApp| {
        let prompt = "You help people. ".repeat(4_000);
        let agent = |prompt: &str| {
            json!({"name": "helper", "model_provider": "openai", "model_name": "m", "system_prompt": prompt})
        };
        let made = app.post("/api/v1/agents", agent(&prompt)).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let other = prompt.clone() + "Always.";
        let path = "/api/v1/agents/helper";
        let changed = app.as_key(ADMIN, "PUT", path, agent(&other)).await;
        assert_eq!(changed.status, 200, "{}", changed.body);
        let acts = acts(app, "agent:helper").await;
        assert!(json!(acts).to_string().len() < 5_000);
        let (before, after) = (&acts[1]["before"], &acts[1]["after"]);
        assert_eq!(before, &acts[0]["after"]);
        assert_eq!(before["name"], "helper");
        let (was, is) = (&before["system_prompt"], &after["system_prompt"]);
        assert!(was["beginning"].as_str().unwrap().starts_with("You help"));
        assert_eq!(was["bytes"], prompt.len());
        assert_eq!(is["bytes"], other.len());
        assert_ne!(was["sha256"], is["sha256"]);
        let shown = app.get(path).await.body;
        assert_eq!(shown["system_prompt"], other, "the agent has all of it");
        assert_eq!(app.get("/api/v1/audit/verify").await.body["valid"], true);
    })
    .await;
}
