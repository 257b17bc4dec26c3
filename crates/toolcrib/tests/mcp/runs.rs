//! A run that a client of others begins: the client is asked what the run asks, in both eras.

use crate::client::{Client, call as step};
use crate::crib::Crib;
use crate::dialect::Dialect;
use crate::harness::ADMIN_KEY;
use crate::model::{call, model, say};
use crate::world::stdio;
use serde_json::json;

#[test]
fn whoever_begins_a_run_is_asked_what_it_asks() {
    let crib = Crib::new();
    let model = model(|results| match results {
        [] => call("request_human_input", json!({"question": "In which city?"})),
        [city, ..] => say(&format!("You are in {city}.")),
    });
    let agent = Dialect::Chat.agent("guide", &model.url);
    let (status, made) = crib.server.request("POST", "/api/v1/agents", Some(&agent));
    assert_eq!(status, 201, "{made}");
    let url = format!("{}/mcp", crib.server.url());
    let line = stdio(&crib.sandbox);
    for (transport, target, era) in [
        ("http", &url, "legacy"),
        ("http", &url, "modern"),
        ("stdio", &line, "legacy"),
    ] {
        let client = Client::new(transport, target, era).with_key(ADMIN_KEY);
        let client = client.answering(&json!({"answer": "Seoul"}));
        let story = client.script(&[step(
            "run_agent",
            &json!({"agent": "guide", "input": "Where am I?"}),
        )]);
        assert_eq!(story.of(0, "elicitation").len(), 1, "{era}: {story:?}");
        assert_eq!(story.text(0), "You are in Seoul.", "{transport} {era}");
    }
}
