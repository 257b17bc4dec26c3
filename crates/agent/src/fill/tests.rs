//! Requests in both languages, what they give a tool, and what they must not: `cases.jsonl`, with the tools in
//! `cases.tools.jsonl`.

use super::*;
use jiff::civil::date;
use serde_json::json;

const CASES: &str = include_str!("cases.jsonl");
const TOOLS: &str = include_str!("cases.tools.jsonl");

fn today() -> Date {
    date(2026, 11, 18)
}

fn rows(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn tool(name: &str) -> (Item, Value) {
    let tool = rows(TOOLS).find(|it| it["name"] == name).expect(name);
    let item = Item {
        name: name.to_owned(),
        description: tool["description"].as_str().unwrap().to_owned(),
        parameters: Parameter::of_schema(&tool["input_schema"]),
        ..Item::default()
    };
    (item, tool["input_schema"].clone())
}

#[test]
fn only_what_is_certain_is_filled() {
    let mut wrong = Vec::new();
    for row in rows(CASES) {
        let (item, schema) = tool(row["tool"].as_str().unwrap());
        let filled = fill_for(row["request"].as_str().unwrap(), &item, &schema, today());
        let names: Vec<&str> = filled.missing.iter().map(|it| it.name.as_str()).collect();
        let got = json!({"arguments": filled.arguments, "missing": names});
        let wanted = json!({"arguments": row["arguments"], "missing": row["missing"]});
        if got != wanted {
            wrong.push(format!("{} {}: {got}", row["tool"], row["request"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let empty = rows(CASES)
        .filter(|row| row["missing"] != json!([]))
        .count();
    assert!(rows(CASES).count() >= 100 && empty >= 30);
}

#[test]
fn what_is_missing_is_asked_for_in_the_language_of_the_request() {
    let (item, schema) = tool("get_user_daily_limit");
    let english = fill_for("what is the daily limit?", &item, &schema, today());
    let korean = fill_for("일일 제한량은?", &item, &schema, today());
    assert!(
        english.missing[0]
            .question
            .starts_with("What should `user_name` be?")
    );
    // Korean around what the tool says of it in English.
    assert_eq!(
        korean.missing[0].question,
        "`user_name` 값을 알려 주세요. (도구의 설명: “The name of the user, for example 'hong'”)"
    );
    assert_eq!(english.missing[0].schema["minLength"], 1);
    let form = form(&english.missing);
    assert_eq!(form["required"], json!(["user_name"]));
    let (item, schema) = tool("list_orders");
    let choice = fill_for("list them", &item, &schema, today());
    assert!(
        choice.missing[0]
            .question
            .contains("open, shipped, in_transit, cancelled")
    );
}

#[test]
fn a_schema_of_any_shape_is_read() {
    for schema in [
        json!(null),
        json!({}),
        json!({"properties": 3}),
        json!(true),
    ] {
        assert_eq!(fill("3 of \"x\"", &schema, today()), Filled::default());
    }
    let referring = json!({
        "$defs": {"size": {"type": "integer", "description": "In days"}},
        "properties": {"length": {"$ref": "#/$defs/size"}}, "required": ["length"]
    });
    let filled = fill("for 3 days", &referring, today());
    assert_eq!(Value::Object(filled.arguments), json!({"length": 3}));
}
