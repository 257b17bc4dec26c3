//! Whether what a toolset sets beforehand can be an argument of its tool at all.

use super::Pick;
use crate::schema::{Schema, Violation};
use serde_json::{Map, Value};

/// What a schema says of single arguments. The rest speaks of all of them together, and the caller's are still to come.
const OF_ONE: [&str; 9] = [
    "$schema",
    "$id",
    "$anchor",
    "$defs",
    "definitions",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
];

impl Pick {
    /// What of the set arguments no call could have: the tool's schema knows no such argument, or wants another value.
    pub fn misfits(&self, input_schema: &Value) -> Vec<Violation> {
        let Some(members) = input_schema
            .as_object()
            .filter(|_| !self.arguments.is_empty())
        else {
            return Vec::new();
        };
        let kept = members.iter();
        let kept = kept.filter(|(name, _)| OF_ONE.contains(&name.as_str()));
        let kept: Map<String, Value> = kept.map(|(a, b)| (a.clone(), b.clone())).collect();
        // What cannot be looked at alone is checked when the tool is called.
        let Ok(schema) = Schema::compile(&Value::Object(kept)) else {
            return Vec::new();
        };
        let set = Value::Object(self.arguments.clone());
        schema.check(&set).err().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_set_fits_the_schema_of_its_tool() {
        let closed = json!({
            "type": "object", "required": ["q"], "additionalProperties": false, "minProperties": 2,
            "properties": {"q": {"type": "string"}, "site": {"$ref": "#/$defs/site"}, "limit": {"type": "integer", "maximum": 50}},
            "$defs": {"site": {"type": "string", "pattern": "^docs"}},
        });
        let open = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
        for (schema, arguments, expected) in [
            (&closed, json!({"site": "docs.example.com", "limit": 5}), ""),
            (&closed, json!({"limit": 51}), "$.limit"),
            (&closed, json!({"limit": "5"}), "$.limit"),
            (&closed, json!({"site": "example.com"}), "$.site"),
            (&closed, json!({"sites": "docs"}), "$"),
            (&open, json!({"other": 1, "limit": 1}), ""),
            (&open, json!({"limit": []}), "$.limit"),
            (&json!(true), json!({"a": 1}), ""),
            (&closed, json!({}), ""),
        ] {
            let pick = Pick {
                arguments: arguments.as_object().unwrap().clone(),
                ..Pick::default()
            };
            let found = pick.misfits(schema).into_iter().map(|it| it.path);
            assert_eq!(found.collect::<String>(), expected, "{arguments}");
        }
    }
}
