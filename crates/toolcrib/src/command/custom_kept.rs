//! What `h_custom_tool` has no place for: told when a tool is handed on, kept when one that is there is replaced.

use catalog::tool::KindName;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a schema of arguments is made of whatever they are: what else it has may speak of arguments that are gone.
const FRAME: [&str; 10] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "$schema",
    "$defs",
    "definitions",
    "title",
    "description",
    "$comment",
];

/// What a tool has, as the server shows it, that no row holds.
pub(super) fn unheld(tool: &Value) -> Vec<String> {
    let kind = tool["kind"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    let config = match kind {
        "sql" => &["source", "query", "result"][..],
        "expression" => &["expression"][..],
        _ => &[][..],
    };
    // What another kind is made of goes with the kind.
    if !config.is_empty() {
        found.extend(others("config", &tool["config"], config));
    }
    let result = tool["config"]["result"].as_str().unwrap_or("records");
    if kind == "sql" && result != "row" {
        found.push(format!("config.result (\"{result}\")"));
    }
    found.extend(unheld_of_schema(&tool["input_schema"]));
    let is_empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let members = [
        "output_schema",
        "timeout_seconds",
        "rate_limit",
        "is_public",
        "auth_config",
        "examples",
        "tests",
        "approval",
    ];
    let filled = members.iter().filter(|name| !is_empty(&tool[**name]));
    found.extend(filled.map(|name| (*name).to_owned()));
    if tool["output_format"] == "text" {
        found.push("output_format".to_owned());
    }
    let usual = KindName::from_name(kind).is_some_and(KindName::parallel_by_default);
    if tool["parallel_capable"].as_bool().unwrap_or(usual) != usual {
        found.push("parallel_capable".to_owned());
    }
    // Of a query that reads, these two follow from its kind.
    let follows = |name: &str, value: &Value| match name {
        "read_only" => kind == "sql" && *value == true,
        "destructive" => kind == "sql" && *value == false,
        _ => false,
    };
    if members_of(&tool["annotations"]).any(|(name, value)| !follows(name, value)) {
        found.push("annotations".to_owned());
    }
    found
}

fn unheld_of_schema(schema: &Value) -> Vec<String> {
    let place = "input_schema";
    let mut found = others(place, schema, &["type", "properties", "required"]);
    for (name, property) in members_of(&schema["properties"]) {
        let place = format!("{place}.properties.{name}");
        found.extend(others(&place, property, &["type", "description"]));
        if property["type"] == "integer" {
            found.push(format!("{place}.type (\"integer\")"));
        }
    }
    found.extend(required_beside(schema));
    found
}

/// What a schema requires that is none of its properties, by its place: no row is there to say it.
fn required_beside(schema: &Value) -> Vec<String> {
    let names = schema["required"].as_array().into_iter().flatten();
    let names = names.filter_map(Value::as_str);
    let beside = names.filter(|name| schema["properties"].get(name).is_none());
    beside
        .map(|name| format!("input_schema.required (\"{name}\")"))
        .collect()
}

/// Whether two texts say the same, as a row is read: without the space around it, and an empty one is none.
fn is_same_text(one: &Value, other: &Value) -> bool {
    let [one, other] = [one, other].map(|it| it.as_str().unwrap_or_default().trim());
    one == other
}

/// The members of an object but these, by their places.
fn others(place: &str, value: &Value, but: &[&str]) -> Vec<String> {
    members_of(value)
        .filter(|(name, _)| !but.contains(&name.as_str()))
        .map(|(name, _)| format!("{place}.{name}"))
        .collect()
}

fn members_of(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// What becomes of a tool that is there.
#[derive(Debug, PartialEq)]
pub(super) struct Merged {
    /// The members that a row speaks of, as they shall be.
    pub(super) definition: Value,
    /// What the tool had and has no longer, because it may not fit what the row says.
    pub(super) dropped: Vec<String>,
    /// Whether tests stay of which nobody knows that they still pass.
    pub(super) keeps_tests: bool,
}

/// What a row says, and what no row can say as the tool has it. `result` is one of these unless somebody asked for another.
pub(super) fn merged(stored: &Value, new: &Value, result_is_asked: bool) -> Merged {
    let mut definition = new.clone();
    if stored["kind"] != new["kind"] {
        // A replacement that does not speak of it keeps it.
        if !stored["auth_config"].is_null() {
            definition["auth_config"] = Value::Null;
        }
        return Merged {
            definition,
            dropped: unheld(stored),
            keeps_tests: false,
        };
    }
    let mut dropped = Vec::new();
    definition["config"] = config(
        &stored["config"],
        &new["config"],
        result_is_asked,
        &mut dropped,
    );
    let schema = input_schema(&stored["input_schema"], &new["input_schema"], &mut dropped);
    definition["input_schema"] = schema;
    for name in ["description", "description_user"] {
        let said = match is_same_text(&stored[name], &new[name]) {
            true => &stored[name],
            false => &new[name],
        };
        definition[name] = said.clone();
    }
    let answers = ["query", "expression", "result"];
    let answers_else = answers
        .iter()
        .any(|name| definition["config"][*name] != stored["config"][*name]);
    let takes_else = arguments(&stored["input_schema"]) != arguments(&new["input_schema"]);
    // A schema of what another query answered would refuse every answer of this one.
    if answers_else && !stored["output_schema"].is_null() {
        definition["output_schema"] = Value::Null;
        dropped.push("output_schema".to_owned());
    }
    let has_tests = stored["tests"].as_array().is_some_and(|it| !it.is_empty());
    if takes_else && has_tests {
        definition["tests"] = Value::Array(Vec::new());
        dropped.push("tests".to_owned());
    }
    Merged {
        definition,
        dropped,
        keeps_tests: has_tests && answers_else && !takes_else,
    }
}

/// The arguments that a schema takes, each with its type as a row says it.
fn arguments(schema: &Value) -> BTreeMap<&str, &str> {
    members_of(&schema["properties"])
        .map(|(name, property)| {
            let kind = property["type"].as_str().unwrap_or_default();
            (
                name.as_str(),
                if kind == "integer" { "number" } else { kind },
            )
        })
        .collect()
}

fn config(stored: &Value, new: &Value, result_is_asked: bool, dropped: &mut Vec<String>) -> Value {
    let mut all = stored.clone();
    for (name, value) in members_of(new) {
        let keeps = match name.as_str() {
            "result" => !result_is_asked,
            "query" | "expression" => is_same_text(&stored[name], value),
            _ => false,
        };
        if !keeps {
            all[name] = value.clone();
        }
    }
    // Whether the new query may write is nothing that the old one can say.
    if all["write"] == true {
        dropped.push("config.write".to_owned());
        remove(&mut all, "write");
    }
    all
}

fn input_schema(stored: &Value, new: &Value, dropped: &mut Vec<String>) -> Value {
    if !stored.is_object() {
        return new.clone();
    }
    let mut all = stored.clone();
    if arguments(stored) != arguments(new) {
        for (name, _) in members_of(stored) {
            if !FRAME.contains(&name.as_str()) {
                dropped.push(format!("input_schema.{name}"));
                remove(&mut all, name);
            }
        }
    }
    let mut properties = Map::new();
    for (name, property) in members_of(&new["properties"]) {
        let before = &stored["properties"][name];
        properties.insert(
            name.clone(),
            merged_property(name, before, property, dropped),
        );
    }
    if !properties.is_empty() || stored["properties"].is_object() {
        all["properties"] = properties.into();
    }
    let names = |schema: &Value| {
        let mut names: Vec<String> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .filter(|name| schema["properties"].get(name).is_some())
            .collect();
        names.sort();
        names
    };
    // Their order says nothing.
    if names(stored) != names(new) {
        dropped.extend(required_beside(stored));
        match new.get("required") {
            Some(required) => all["required"] = required.clone(),
            None => remove(&mut all, "required"),
        }
    }
    all
}

fn merged_property(name: &str, before: &Value, new: &Value, dropped: &mut Vec<String>) -> Value {
    if !before.is_object() {
        return new.clone();
    }
    let is_whole = before["type"] == "integer" && new["type"] == "number";
    if before["type"] != new["type"] && !is_whole {
        // A default, a list or bounds of another type are none of this one.
        let place = format!("input_schema.properties.{name}");
        dropped.extend(others(&place, before, &["type", "description"]));
        return new.clone();
    }
    let mut all = before.clone();
    match new.get("description") {
        _ if is_same_text(&before["description"], &new["description"]) => {}
        Some(about) => all["description"] = about.clone(),
        None => remove(&mut all, "description"),
    }
    all
}

fn remove(value: &mut Value, name: &str) {
    if let Some(members) = value.as_object_mut() {
        members.shift_remove(name);
    }
}

/// Whether a tool is already what this definition says.
pub(super) fn is_same(stored: &Value, definition: &Value) -> bool {
    members_of(definition).all(|(name, value)| stored[name] == *value)
}

/// The JSON merge patch that gives a tool these members.
pub(super) fn patch(stored: &Value, definition: &Value) -> Value {
    let changed = members_of(definition).filter(|(name, value)| stored[*name] != **value);
    changed
        .map(|(name, value)| (name.clone(), difference(&stored[name], value)))
        .collect::<Map<String, Value>>()
        .into()
}

fn difference(old: &Value, new: &Value) -> Value {
    let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
        return new.clone();
    };
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let gone = gone.map(|name| (name.clone(), Value::Null));
    let changed = after
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(value));
    let changed = changed.map(|(name, value)| (name.clone(), difference(&old[name], value)));
    changed.chain(gone).collect::<Map<String, Value>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A tool as the server shows it.
    fn stored() -> Value {
        json!({
            "name": "t", "kind": "sql", "description": "old", "description_user": "for people",
            "config": {"source": "demo", "query": "SELECT :n, :d\n", "max_rows": 5},
            "input_schema": {"type": "object", "required": ["n", "d"], "additionalProperties": false,
                "properties": {
                    "n": {"type": "integer", "default": 3, "description": "how many"},
                    "d": {"type": "string", "enum": ["a", "b"]}}},
            "output_schema": null, "output_format": "json", "is_public": false, "is_active": true,
            "annotations": {"read_only": true, "destructive": false},
            "parallel_capable": true, "rate_limit": null, "timeout_seconds": null, "auth_config": null,
            "examples": ["how many"], "tests": [], "approval": null,
        })
    }

    /// What its row says.
    fn said() -> Value {
        json!({
            "name": "t", "kind": "sql", "description": "old", "description_user": "for people",
            "config": {"source": "demo", "query": "SELECT :n, :d", "result": "row"},
            "input_schema": {"type": "object", "required": ["d", "n"], "properties": {
                "n": {"type": "number", "description": "how many"},
                "d": {"type": "string"}}},
            "is_active": true,
        })
    }

    #[test]
    fn what_no_row_holds_is_listed() {
        let expected = [
            "config.max_rows",
            "config.result (\"records\")",
            "input_schema.additionalProperties",
            "input_schema.properties.n.default",
            "input_schema.properties.n.type (\"integer\")",
            "input_schema.properties.d.enum",
            "examples",
        ];
        assert_eq!(unheld(&stored()), expected);
        assert!(unheld(&said()).is_empty());
        let mut said = said();
        said["annotations"] = json!({"idempotent": true});
        said["parallel_capable"] = json!(false);
        said["output_format"] = json!("text");
        said["is_public"] = json!(true);
        said["tests"] = json!([{}]);
        let expected = [
            "is_public",
            "tests",
            "output_format",
            "parallel_capable",
            "annotations",
        ];
        assert_eq!(unheld(&said), expected);
        said["annotations"] = json!({"read_only": false, "destructive": true});
        assert!(unheld(&said).contains(&"annotations".to_owned()));
    }

    #[test]
    fn what_was_handed_on_and_comes_back_changes_nothing() {
        let merged = merged(&stored(), &said(), false);
        assert!(is_same(&stored(), &merged.definition), "{merged:?}");
        assert!(merged.dropped.is_empty());
        assert_eq!(patch(&stored(), &merged.definition), json!({}));
        // A list that is asked for, and a tool without arguments.
        let asked = super::merged(&stored(), &said(), true).definition;
        assert_eq!(
            patch(&stored(), &asked),
            json!({"config": {"result": "row"}})
        );
        // What a row is read without, and what it cannot say.
        let mut odd = stored();
        odd["description"] = json!(" old\n");
        odd["description_user"] = json!("");
        odd["config"]["query"] = json!("  SELECT :n, :d\n");
        odd["input_schema"]["properties"]["n"]["description"] = json!(" how many ");
        odd["input_schema"]["properties"]["d"]["description"] = json!("");
        odd["input_schema"]["required"] = json!(["n", "d", "ghost"]);
        let mut plain = said();
        plain.as_object_mut().unwrap().remove("description_user");
        let merged = super::merged(&odd, &plain, false);
        assert!(is_same(&odd, &merged.definition), "{merged:?}");
        let ghost = "input_schema.required (\"ghost\")".to_owned();
        assert!(unheld(&odd).contains(&ghost));
        plain["input_schema"]["required"] = json!(["n"]);
        assert_eq!(super::merged(&odd, &plain, false).dropped, [ghost]);
        let mut bare = stored();
        bare["input_schema"] = json!({"type": "object"});
        let mut none = said();
        none["input_schema"] = json!({"type": "object", "properties": {}});
        let merged = super::merged(&bare, &none, false);
        assert!(is_same(&bare, &merged.definition), "{merged:?}");
    }

    #[test]
    fn what_a_row_says_replaces_and_the_rest_stays() {
        let mut new = said();
        new["config"]["query"] = json!("SELECT :n, :x");
        new["input_schema"]["properties"] =
            json!({"n": {"type": "number"}, "x": {"type": "boolean"}});
        new["input_schema"]
            .as_object_mut()
            .unwrap()
            .remove("required");
        new.as_object_mut().unwrap().remove("description_user");
        let merged = merged(&stored(), &new, false);
        assert!(merged.dropped.is_empty(), "{merged:?}");
        let expected = json!({
            "description_user": null,
            "config": {"query": "SELECT :n, :x"},
            "input_schema": {"required": null, "properties": {
                "n": {"description": null}, "x": {"type": "boolean"}, "d": null}},
        });
        assert_eq!(patch(&stored(), &merged.definition), expected);
    }

    #[test]
    fn what_no_call_could_fit_is_dropped_and_told() {
        let mut old = stored();
        old["output_schema"] = json!({"type": "object", "required": ["uid"]});
        old["tests"] = json!([{"arguments": {"n": 1, "d": "a"}, "expect": {"uid": 1}}]);
        let any = json!([{"required": ["n"]}, {"required": ["d"]}]);
        old["input_schema"]["anyOf"] = any.clone();
        let same = merged(&old, &said(), false);
        assert!(is_same(&old, &same.definition), "{same:?}");
        assert!(same.dropped.is_empty() && !same.keeps_tests, "{same:?}");
        // Another query with the same arguments: what it answers is unknown.
        let mut new = said();
        new["config"]["query"] = json!("SELECT user_nm FROM h_user WHERE :n = :d");
        let told = merged(&old, &new, false);
        assert_eq!(told.dropped, ["output_schema"]);
        assert!(told.keeps_tests);
        assert_eq!(told.definition["input_schema"]["anyOf"], any);
        let changed = patch(&old, &told.definition);
        assert_eq!(changed.get("output_schema"), Some(&Value::Null));
        // And with others.
        new["input_schema"]["properties"] = json!({"uid": {"type": "number"}});
        new["input_schema"]["required"] = json!(["uid"]);
        let told = merged(&old, &new, false);
        let expected = ["input_schema.anyOf", "output_schema", "tests"];
        assert_eq!(told.dropped, expected);
        assert!(!told.keeps_tests);
        let changed = patch(&old, &told.definition);
        assert_eq!(changed["input_schema"].get("anyOf"), Some(&Value::Null));
        assert_eq!(changed["tests"], json!([]));
        let kept = &told.definition["input_schema"]["additionalProperties"];
        assert_eq!(kept, &json!(false));
    }

    #[test]
    fn what_may_not_fit_any_more_is_dropped_and_told() {
        let mut new = said();
        new["input_schema"]["properties"]["d"] = json!({"type": "number"});
        let mut writes = stored();
        writes["config"]["write"] = json!(true);
        let told = merged(&writes, &new, false);
        let expected = ["config.write", "input_schema.properties.d.enum"];
        assert_eq!(told.dropped, expected);
        assert_eq!(told.definition["config"].get("write"), None);
        let mut other = stored();
        other["kind"] = json!("http");
        other["config"] = json!({"base_url": "http://127.0.0.1"});
        let told = merged(&other, &new, false);
        assert_eq!(told.definition, new);
        assert!(told.dropped.contains(&"examples".to_owned()), "{told:?}");
        assert!(!told.dropped.iter().any(|it| it.starts_with("config")));
        other["auth_config"] = json!({"token": "••••"});
        let told = merged(&other, &new, false);
        assert!(told.dropped.contains(&"auth_config".to_owned()), "{told:?}");
        assert_eq!(told.definition.get("auth_config"), Some(&Value::Null));
    }
}
