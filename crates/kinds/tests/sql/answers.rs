//! What queries answer: shapes, arguments, caps.

use crate::crib::{Crib, File, takes};
use catalog::catalogue::Change;
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[tokio::test]
async fn rows_come_in_three_shapes() {
    let file = File::new();
    let sql = "SELECT id, name FROM people WHERE id <= :id ORDER BY id";
    let properties = json!({"id": {"type": "integer"}});
    let first = json!({"id": 1, "name": "ann"});
    for (result, expected, nothing) in [
        (
            "records",
            json!([first, {"id": 2, "name": "bob"}]),
            json!([]),
        ),
        ("row", first.clone(), Value::Null),
        ("scalar", json!(1), Value::Null),
    ] {
        let config = json!({"query": sql, "result": result});
        let crib = Crib::on(file.named(), config, takes(&properties)).await;
        assert_eq!(crib.data(json!({"id": 2})).await, expected);
        assert_eq!(crib.data(json!({"id": 2.0})).await, expected);
        assert_eq!(crib.data(json!({"id": 0})).await, nothing);
        let (code, message) = crib.error(json!({"id": "2 OR 1=1"})).await;
        assert_eq!(code, "invalid_input", "{message}");
    }
}

#[tokio::test]
async fn whole_numbers_beyond_64_bits_are_refused() {
    let file = File::new();
    let sql = "SELECT name FROM people WHERE id = :id OR id IN (:ids)";
    let integer = json!({"type": ["integer", "null"]});
    let properties = json!({"id": integer, "ids": {"type": "array", "items": {"type": "integer"}}});
    let crib = Crib::on(file.named(), json!({"query": sql}), takes(&properties)).await;
    let huge: Value = serde_json::from_str("123456789012345678901234567890").unwrap();
    for arguments in [json!({"id": huge}), json!({"ids": [1, huge]})] {
        let (code, message) = crib.error(arguments).await;
        assert_eq!(code, "invalid_input", "{message}");
        assert!(
            message.contains("does not fit into 64 bits") && message.contains("`id"),
            "{message}"
        );
    }
    assert_eq!(crib.data(json!({"id": i64::MAX})).await, json!([]));
}

#[tokio::test]
async fn arguments_are_bound_and_never_pasted() {
    let file = File::new();
    let sql = "SELECT name FROM people WHERE name = {{ name }} OR id IN (:ids)";
    let properties = json!({"name": {"type": "string"}, "ids": {"type": "array"}});
    let crib = Crib::on(file.named(), json!({"query": sql}), takes(&properties)).await;
    let hostile = "x'; DROP TABLE people; --";
    assert_eq!(crib.data(json!({"name": hostile})).await, json!([]));
    assert_eq!(
        crib.data(json!({"name": "한", "ids": [1]})).await,
        json!([{"name": "ann"}, {"name": "한"}])
    );
    let many: Vec<i32> = (0..2000).collect();
    let (code, message) = crib.error(json!({"ids": many})).await;
    assert_eq!(code, "invalid_input", "{message}");
    assert!(message.contains("argument `ids`"), "{message}");
    assert_eq!(file.count(), 3);
}

#[tokio::test]
async fn what_is_left_out_has_its_default_or_is_null() {
    let file = File::new();
    let sql = "SELECT name FROM people WHERE (:dept IS NULL OR dept = :dept) ORDER BY id LIMIT :n";
    let properties =
        json!({"dept": {"type": ["integer", "null"]}, "n": {"type": "integer", "default": 2}});
    let crib = Crib::on(file.named(), json!({"query": sql}), takes(&properties)).await;
    let names = |data: Value| data.as_array().unwrap().len();
    assert_eq!(names(crib.data(json!({})).await), 2);
    assert_eq!(names(crib.data(json!({"n": 9})).await), 3);
    assert_eq!(names(crib.data(json!({"n": 9, "dept": 1})).await), 2);
}

#[tokio::test]
async fn parameters_of_the_caller_are_not_theirs_to_set() {
    let file = File::new();
    let sql = "SELECT name FROM people WHERE owner = :who AND :role = 'author' AND :tenant = 't1' ORDER BY id";
    let caller = json!({"who": "user", "role": "role", "tenant": "claims.tenant"});
    let config = json!({"query": sql, "caller": caller});
    let mut crib = Crib::on(file.named(), config, json!({})).await;
    let (code, message) = crib.error(json!({})).await;
    assert_eq!(code, "forbidden", "{message}");
    let claims: Map<String, Value> = Map::from_iter([("tenant".to_owned(), json!("t1"))]);
    crib.caller.claims = Some(Arc::new(claims));
    let own = json!([{"name": "ann"}, {"name": "한"}]);
    assert_eq!(crib.data(json!({})).await, own);
    // The schema does not forbid it, and it would make no difference: whoever gives it is told.
    for given in [json!({"who": "kim"}), json!({"tenant": null})] {
        let (code, message) = crib.error(given).await;
        assert_eq!(code, "invalid_input");
        assert!(message.contains("is bound from who asks"), "{message}");
    }
}

#[tokio::test]
async fn what_is_cut_is_told() {
    let file = File::new();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT i FROM n";
    for (more, rows) in [
        (json!({}), 500),
        (json!({"max_rows": 3}), 3),
        (json!({"max_rows": 1_000_000, "max_bytes": 26}), 3),
    ] {
        let mut config = more;
        config["query"] = numbers.into();
        let crib = Crib::on(file.named(), config, json!({})).await;
        let response = crib.call(json!({})).await;
        assert_eq!(response.error, None);
        assert!(response.truncated);
        let shown: Vec<Value> = serde_json::from_str(response.data.get()).unwrap();
        assert_eq!(shown.len(), rows);
        let told = format!("more rows than the {rows} shown");
        assert!(response.message.contains(&told), "{}", response.message);
        let written = serde_json::to_value(&response).unwrap();
        assert_eq!(written["truncated"], true);
    }
    let config = json!({"query": "SELECT 1 AS a", "max_rows": 1});
    let whole = Crib::on(file.named(), config, json!({})).await;
    let response = serde_json::to_value(whole.call(json!({})).await).unwrap();
    assert_eq!(response.get("truncated"), None);
    assert_eq!(response["message"], "Tool executed.");
}

#[tokio::test]
async fn the_executors_own_cap_cuts_too() {
    let file = File::new();
    let wide = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i, printf('%0500d', i) AS t FROM n";
    let config = json!({"query": wide, "max_rows": 1_000_000, "max_bytes": 1_000_000_000});
    let crib = Crib::on(file.named(), config, json!({})).await;
    let response = crib.call(json!({})).await;
    assert_eq!(response.error, None);
    assert!(response.truncated && response.data.get().len() <= 1 << 20);
    let row =
        json!({"query": wide.replace("%0500d", "%02000d"), "result": "row", "max_bytes": 1000});
    let crib = Crib::on(file.named(), row, json!({})).await;
    assert_eq!(crib.error(json!({})).await.0, "output_too_large");
}

#[tokio::test]
async fn a_new_version_is_read_anew() {
    let file = File::new();
    let crib = Crib::on(file.named(), json!({"query": "SELECT 1 AS a"}), json!({})).await;
    assert_eq!(crib.data(json!({})).await, json!([{"a": 1}]));
    let catalogue = crib.executor.catalogue.load_full();
    let mut tool = catalogue.get("t").unwrap().tool.clone();
    tool.definition.config["query"] = "SELECT 2 AS a".into();
    tool.version += 1;
    tool.hash = tool.definition.hash();
    let next = catalogue.with(vec![Change::Put(tool)]);
    crib.executor.set_catalogue(next);
    assert_eq!(crib.data(json!({})).await, json!([{"a": 2}]));
}
