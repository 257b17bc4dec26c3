//! Runs over MCP: an agent is a tool, and what its run asks is put to whoever began it, or told to them.

use crate::model::{Model, Say};
use crate::testapp::{ADMIN, TestApp, definition, on_both, on_both_with};
use crate::toolsets_mcp::{Client, Said};
use catalog::policy::Policy;
use serde_json::{Value, json};

const INPUT: &str = "paint the door";

fn call() -> Value {
    json!({"name": "run_agent", "arguments": {"agent": "helper", "input": INPUT}})
}

async fn names(client: &Client<'_>) -> Vec<String> {
    let said = client.ask("tools/list", json!({})).await;
    let tools = said.result()["tools"].as_array().unwrap().clone();
    let names = tools
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned());
    names.collect()
}

/// Comes back with an answer to the only question.
async fn answered(client: &Client<'_>, asked: &Said, answer: Value) -> Said {
    let result = asked.result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let key = result["inputRequests"].as_object().unwrap().keys().next();
    let mut params = call();
    params["requestState"] = result["requestState"].clone();
    params["inputResponses"] = json!({key.unwrap(): answer});
    client.ask("tools/call", params).await
}

fn text(said: &Said) -> &str {
    let text = said.result()["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{} {}", said.result(), said.error()))
}

fn colour() -> Vec<Say> {
    let question = json!({"question": "Which colour?", "choices": ["red", "blue"]});
    vec![
        Say::call("request_human_input", question),
        Say::text("Painted."),
    ]
}

#[tokio::test]
async fn an_agent_is_a_tool_for_those_who_may_run_it() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let admins = Client::modern(app, ADMIN, "/mcp");
        let kims = Client::modern(app, &kim.key, "/mcp");
        let has = async |client: &Client<'_>| names(client).await.contains(&"run_agent".to_owned());
        assert!(!has(&admins).await, "there is no agent yet");
        let none = admins.ask("tools/call", call()).await;
        assert_eq!(none.error()["code"], -32602, "{}", none.error());
        let model = Model::saying(vec![Say::text("Painted.")]).await;
        app.agent(&model, json!({})).await;
        assert!(has(&admins).await);
        assert!(!has(&kims).await, "it is not theirs, and not public");
        let foreign = kims.ask("tools/call", call()).await;
        assert_eq!(foreign.error()["code"], -32602);
        let done = admins.ask("tools/call", call()).await;
        assert_eq!(text(&done), "Painted.");
        let view = &done.result()["structuredContent"];
        assert_eq!(
            (&view["status"], &view["input"]),
            (&json!("done"), &json!(INPUT))
        );
        let wrong = json!({"name": "run_agent", "arguments": {"agent": "nobody", "input": "x"}});
        let wrong = admins.ask("tools/call", wrong).await;
        assert_eq!(wrong.result()["isError"], true, "{}", wrong.result());
    })
    .await;
}

#[tokio::test]
async fn a_question_of_the_run_is_put_to_the_client() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(colour()).await;
        app.agent(&model, json!({})).await;
        let client = Client::modern(app, ADMIN, "/mcp");
        let asked = client.ask("tools/call", call()).await;
        let requests = asked.result()["inputRequests"].to_string();
        assert!(
            requests.contains("Which colour?") && requests.contains("elicitation/create"),
            "{requests}"
        );
        let odd = json!({"action": "accept", "content": {"answer": "green"}});
        let again = answered(&client, &asked, odd).await;
        let blue = json!({"action": "accept", "content": {"answer": "blue"}});
        let done = answered(&client, &again, blue).await;
        assert_eq!(text(&done), "Painted.");
        assert_eq!(model.results(), [("blue".to_owned(), false)]);
    })
    .await;
}

#[tokio::test]
async fn a_client_may_decline_to_answer() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(colour()).await;
        app.agent(&model, json!({})).await;
        let client = Client::modern(app, ADMIN, "/mcp");
        let asked = client.ask("tools/call", call()).await;
        let done = answered(&client, &asked, json!({"action": "decline"})).await;
        assert_eq!(text(&done), "Painted.");
        assert!(model.results()[0].1, "{:?}", model.results());
    })
    .await;
}

#[tokio::test]
async fn a_client_may_decide_all_that_may_be_decided() {
    let mut careful = definition("careful");
    careful["approval"] = json!("always");
    on_both_with(
        json!([careful]),
        Policy::default(),
        async |app: &TestApp| {
            let paint = |it: &str| Say::call("careful", json!({"expression": it}));
            let turns = ["6*7", "7*6", "6*7", "7*6", "6*7"].map(paint).into_iter();
            let turns = turns.chain([Say::text("Painted.")]).collect();
            let model = Model::saying(turns).await;
            app.agent(&model, json!({})).await;
            let client = Client::modern(app, ADMIN, "/mcp");
            let mut asked = client.ask("tools/call", call()).await;
            let shown = asked.result()["inputRequests"].to_string();
            assert!(shown.contains("6*7"), "what is to be approved: {shown}");
            asked = answered(&client, &asked, json!({"action": "decline"})).await;
            for content in [
                json!({"decision": "approve"}),
                // What cannot be read, and what says too little, is asked for again.
                json!({"decision": "edit", "arguments": "expression=6*8"}),
                json!({"decision": "edit", "arguments": "{\"expression\": \"6*8\"}"}),
                json!({"decision": "respond", "arguments": "{}"}),
                json!({"decision": "respond", "text": "it is nine"}),
            ] {
                let answer = json!({"action": "accept", "content": content});
                asked = answered(&client, &asked, answer).await;
            }
            let why = json!({"decision": "reject", "text": "not today"});
            let done = answered(&client, &asked, json!({"action": "accept", "content": why})).await;
            assert_eq!(text(&done), "Painted.");
            let results = model.results();
            assert!(results[0].1, "{results:?}");
            for (result, says) in results[1..3].iter().zip(["42", "48"]) {
                assert!(result.0.contains(says) && !result.1, "{results:?}");
            }
            assert_eq!(results[3], ("it is nine".to_owned(), false));
            assert!(
                results[4].0.contains("not today") && results[4].1,
                "{results:?}"
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_what_the_run_waits_for() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(colour()).await;
        app.agent(&model, json!({})).await;
        // Neither can this one, nor does the person answer that one.
        let (legacy, _) = Client::legacy(app, ADMIN, "/mcp").await;
        let waits = legacy.ask("tools/call", call()).await;
        let modern = Client::modern(app, ADMIN, "/mcp");
        let asked = modern.ask("tools/call", call()).await;
        let left = answered(&modern, &asked, json!({"action": "cancel"})).await;
        for said in [&waits, &left] {
            assert!(text(said).contains("Which colour?"), "{}", text(said));
            let view = said.result()["structuredContent"].clone();
            assert_eq!(view["status"], "needs_input");
            let path = format!("/api/v1/runs/{}/input", view["id"].as_str().unwrap());
            let body = json!({"request_id": view["pending"][0]["request_id"], "answer": "red"});
            assert_eq!(app.post(&path, body).await.status, 200);
            assert_eq!(app.rests(&view).await["output"], "Painted.");
        }
    })
    .await;
}
