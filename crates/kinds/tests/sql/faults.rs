//! Calls that go wrong: the database's words, deadlines, cancelling.

use crate::crib::{Crib, File};
use serde_json::json;
use std::time::{Duration, Instant};

const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[tokio::test]
async fn the_databases_own_words_come_back() {
    let file = File::new();
    let config = json!({"query": "SELECT abs(-9223372036854775808)"});
    let crib = Crib::on(file.named(), config, json!({})).await;
    let (code, message) = crib.error(json!({})).await;
    assert_eq!(code, "tool_execution_error");
    assert_eq!(message, "Execution error: integer overflow");
}

#[tokio::test]
async fn without_write_the_database_refuses() {
    let file = File::new();
    for query in [
        "DELETE FROM people",
        "INSERT INTO people (name) VALUES ('x') RETURNING id",
        "ATTACH 'x.db' AS x",
    ] {
        let crib = Crib::on(file.named(), json!({"query": query}), json!({})).await;
        let (code, message) = crib.error(json!({})).await;
        assert_eq!(code, "tool_execution_error", "{query}: {message}");
    }
    assert_eq!(file.count(), 3);
}

#[tokio::test]
async fn a_write_is_all_or_nothing() {
    let file = File::new();
    let query = "INSERT INTO people (id, name) VALUES (9, 'x'), (1, 'ann')";
    let config = json!({"query": query, "write": true});
    let crib = Crib::on(file.named(), config, json!({})).await;
    let (code, message) = crib.error(json!({})).await;
    assert_eq!(code, "tool_execution_error");
    assert!(message.contains("UNIQUE constraint failed"), "{message}");
    assert_eq!(file.count(), 3);
}

#[tokio::test]
async fn a_query_without_end_ends_at_its_deadline() {
    let file = File::new();
    let crib = Crib::on(file.named(), json!({"query": ENDLESS}), json!({})).await;
    let began = Instant::now();
    let response = crib.start(json!({}), 0.3).await;
    let error = response.error.unwrap();
    assert_eq!(error.code.as_str(), "timeout");
    assert_eq!(error.message, "Tool execution timeout (0.3s)");
    assert!(began.elapsed() < Duration::from_secs(15), "{began:?}");
}

#[tokio::test]
async fn whoever_hangs_up_stops_the_query() {
    let file = File::new();
    let crib = Crib::on(file.named(), json!({"query": ENDLESS}), json!({})).await;
    for _ in 0..20 {
        // More than there are connections: a query that went on would hold one.
        let call = crib.start(json!({}), 60.0);
        let _ = tokio::time::timeout(Duration::from_millis(20), call).await;
    }
    let entry = crib.executor.catalogue.load().get("t").unwrap().clone();
    let mut tool = entry.tool.clone();
    let config = &mut tool.definition.config;
    config.insert("query".into(), "SELECT 7".into());
    config.insert("result".into(), "scalar".into());
    tool.hash = tool.definition.hash();
    let catalogue = crib.executor.catalogue.load_full();
    let next = catalogue.with(vec![catalog::catalogue::Change::Put(tool)]);
    crib.executor.set_catalogue(next);
    assert_eq!(crib.data(json!({})).await, 7);
}
