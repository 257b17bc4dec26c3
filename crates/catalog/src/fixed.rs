//! Arguments that a tool fixes itself: its schema marks them `readOnly` and gives their one value as `const`. No agent is shown
//! them or has to send them.

use serde_json::{Map, Value};

/// What a schema fixes, by name.
pub(crate) fn fixed(schema: &Value) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    let fixed = properties.filter(|(_, it)| it.get("readOnly") == Some(&Value::Bool(true)));
    fixed
        .filter_map(|(name, it)| Some((name.clone(), it.get("const")?.clone())))
        .collect()
}

/// The schema without some of its arguments.
pub(crate) fn without(schema: &Value, set: &Map<String, Value>) -> Value {
    let mut schema = schema.clone();
    let Some(members) = schema.as_object_mut() else {
        return schema;
    };
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.retain(|name, _| !set.contains_key(name));
    }
    if let Some(Value::Array(required)) = members.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(|name| set.contains_key(name)));
        if required.is_empty() {
            members.shift_remove("required");
        }
    }
    schema
}

/// Adds what is fixed to a caller's arguments. What they say otherwise stays, and is refused by the schema.
pub(crate) fn fill(set: &Map<String, Value>, arguments: &mut Value) {
    if set.is_empty() {
        return;
    }
    if arguments.is_null() {
        *arguments = Value::Object(Map::new());
    }
    // What is no object is refused by the schema, too.
    if let Some(given) = arguments.as_object_mut() {
        for (name, value) in set {
            given.entry(name).or_insert_with(|| value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_fixed_is_hidden_and_filled_in() {
        let schema = json!({"type": "object", "required": ["city", "unit"], "properties": {
            "city": {"type": "string"}, "unit": {"const": "C", "readOnly": true},
            "said": {"const": "x"}, "shown": {"readOnly": true}}});
        let set = fixed(&schema);
        assert_eq!(Value::Object(set.clone()), json!({"unit": "C"}));
        let offered = without(&schema, &set);
        assert_eq!(offered["required"], json!(["city"]));
        assert_eq!(offered["properties"].get("unit"), None);
        assert_eq!(offered["properties"]["said"], schema["properties"]["said"]);
        for (given, filled) in [
            (
                json!({"city": "Seoul"}),
                json!({"city": "Seoul", "unit": "C"}),
            ),
            (json!({"unit": "F"}), json!({"unit": "F"})),
            (json!(null), json!({"unit": "C"})),
            (json!([1]), json!([1])),
        ] {
            let mut arguments = given;
            fill(&set, &mut arguments);
            assert_eq!(arguments, filled);
        }
    }
}
