//! Schemas as providers want them. Whatever is left out here is checked by us all the same: arguments when the tool is
//! called, answers by whoever asked for them.

use serde_json::{Map, Value, json};

/// Keywords that join schemas. Providers want none of them at the root of a tool's input.
const JOINTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// What the makers of grammars for answers do not understand.
const UNENFORCED: &[&str] = &[
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// How deep a schema is followed. A deeper one is sent as it is.
const DEPTH_MAX: usize = 32;

/// The schema of a tool's input as an object that says so, which is what every provider takes.
pub(crate) fn input(schema: &Value) -> Value {
    let mut object = match resolved(schema, schema) {
        Value::Object(object) => object.clone(),
        _ => Map::new(),
    };
    if let (Some(whole), false) = (schema.as_object(), object.contains_key("$defs")) {
        // What the root leads to may lead on to its neighbours.
        for defs in ["$defs", "definitions"] {
            if let Some(found) = whole.get(defs) {
                object.insert(defs.to_owned(), found.clone());
            }
        }
    }
    for joint in JOINTS {
        if let Some(Value::Array(parts)) = object.shift_remove(joint) {
            join(&mut object, schema, &parts, joint == "allOf");
        }
    }
    if object.get("type").and_then(Value::as_str) != Some("object") {
        let mut typed = Map::from_iter([("type".to_owned(), json!("object"))]);
        object.shift_remove("type");
        typed.extend(object);
        object = typed;
    }
    Value::Object(object)
}

/// The same for who wants to see properties even where there are none.
pub(crate) fn input_with_properties(schema: &Value) -> Value {
    let mut schema = input(schema);
    if let Some(object) = schema.as_object_mut() {
        object.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// A reference to another place of the same schema, followed.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut at = schema;
    for _ in 0..DEPTH_MAX {
        let place = at.get("$ref").and_then(Value::as_str);
        let place = place.and_then(|place| place.strip_prefix('#'));
        match place.and_then(|place| root.pointer(place)) {
            Some(next) => at = next,
            None => break,
        }
    }
    at
}

/// Puts the properties of all parts into one object: all are needed that all parts need, or any where every part counts.
fn join(object: &mut Map<String, Value>, root: &Value, parts: &[Value], every_counts: bool) {
    let parts: Vec<&Value> = parts.iter().map(|part| resolved(part, root)).collect();
    let mut properties = Map::new();
    for part in &parts {
        for (name, property) in part
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            properties
                .entry(name.clone())
                .or_insert_with(|| property.clone());
        }
    }
    let needs = |part: &Value, name: &str| {
        let required = part.get("required").and_then(Value::as_array);
        required.is_some_and(|all| all.iter().any(|it| it == name))
    };
    let is_needed = |name: &&String| match every_counts {
        true => parts.iter().any(|part| needs(part, name)),
        false => parts.iter().all(|part| needs(part, name)),
    };
    let needed: Vec<Value> = properties
        .keys()
        .filter(is_needed)
        .map(|name| json!(name))
        .collect();
    let own = object.entry("properties").or_insert_with(|| json!({}));
    if let Some(own) = own.as_object_mut() {
        for (name, property) in properties {
            own.entry(name).or_insert(property);
        }
    }
    let required = object.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        let new: Vec<Value> = needed
            .into_iter()
            .filter(|name| !required.contains(name))
            .collect();
        required.extend(new);
    }
}

/// A schema for an answer, as far as a grammar can be made of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) schema: Value,
    /// Whether objects hold exactly what the schema names, all of it: the condition of "strict".
    pub(crate) is_strict: bool,
    /// Whether objects may hold what the schema does not name, which no grammar allows.
    pub(crate) is_open: bool,
    /// Keywords that were left out.
    pub(crate) unenforced: Vec<&'static str>,
}

/// Closes objects that are left open, and leaves out what the provider would refuse.
pub(crate) fn answer(schema: &Value) -> Answer {
    let mut answer = Answer {
        schema: schema.clone(),
        is_strict: schema.get("type") == Some(&json!("object")),
        is_open: false,
        unenforced: Vec::new(),
    };
    let mut schema = answer.schema.take();
    answer.close(&mut schema, 0);
    answer.schema = schema;
    answer
}

impl Answer {
    fn close(&mut self, schema: &mut Value, depth: usize) {
        let Value::Object(object) = schema else {
            return;
        };
        if depth > DEPTH_MAX {
            return;
        }
        for keyword in UNENFORCED {
            if object.shift_remove(*keyword).is_some() && !self.unenforced.contains(keyword) {
                self.unenforced.push(keyword);
            }
        }
        if let Some(parts) = object.shift_remove("oneOf") {
            object.entry("anyOf").or_insert(parts);
        }
        let is_object = object.get("type").is_some_and(|of| match of {
            Value::Array(types) => types.iter().any(|it| it == "object"),
            of => of == "object",
        });
        if is_object || object.contains_key("properties") {
            self.close_object(object);
        }
        for (keyword, inner) in object.iter_mut() {
            match (keyword.as_str(), inner) {
                ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                    named.values_mut().for_each(|it| self.close(it, depth + 1));
                }
                ("anyOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                    parts.iter_mut().for_each(|it| self.close(it, depth + 1));
                }
                ("items", inner) => self.close(inner, depth + 1),
                _ => {}
            }
        }
    }

    fn close_object(&mut self, object: &mut Map<String, Value>) {
        let properties = object.get("properties").and_then(Value::as_object);
        let required = object.get("required").and_then(Value::as_array);
        // Closed, it could not be what it has to be.
        let is_named = |name: &Value| {
            let name = name.as_str();
            name.is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)))
        };
        let needs_others = required.is_some_and(|all| !all.iter().all(is_named));
        match object.get("additionalProperties") {
            None if needs_others => self.is_open = true,
            None => {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
            Some(Value::Bool(false)) => {}
            Some(_) => self.is_open = true,
        }
        let required = object.get("required").and_then(Value::as_array);
        let is_required =
            |name: &String| required.is_some_and(|all| all.iter().any(|it| it == name));
        let properties = object.get("properties").and_then(Value::as_object);
        self.is_strict &= properties.is_none_or(|all| all.keys().all(is_required)) && !self.is_open;
    }
}

/// What a model is told that takes no schema.
pub(crate) fn in_words(schema: &Value) -> String {
    format!(
        "Answer with one JSON value that follows this JSON Schema, and with nothing before or after it:\n{schema}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_an_object_at_its_root() {
        let as_it_is =
            json!({"properties": {"a": {"anyOf": [{"type": "null"}]}}, "type": "object"});
        assert_eq!(input(&as_it_is), as_it_is);
        assert_eq!(input(&json!({})), json!({"type": "object"}));
        assert_eq!(input(&json!(true)), json!({"type": "object"}));
        assert_eq!(
            input_with_properties(&json!({"type": "object"})),
            json!({"type": "object", "properties": {}})
        );
        let referring = json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}}, "B": {}}});
        let input = input(&referring);
        assert_eq!(input["properties"]["b"]["$ref"], "#/$defs/B");
        assert_eq!(input["$defs"]["B"], json!({}));
        assert!(input.get("$ref").is_none());
    }

    #[test]
    fn parts_become_one_object() {
        let either = json!({"anyOf": [
            {"type": "object", "properties": {"id": {}, "name": {}}, "required": ["id", "name"]},
            {"type": "object", "properties": {"id": {}}, "required": ["id"]},
        ]});
        assert_eq!(
            input(&either),
            json!({"type": "object", "properties": {"id": {}, "name": {}}, "required": ["id"]})
        );
        let both = json!({"type": "object", "allOf": [
            {"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}
        ]});
        assert_eq!(input(&both)["required"], json!(["a", "b"]));
        let circular = json!({"$ref": "#"});
        assert_eq!(input(&circular)["type"], "object");
    }

    #[test]
    fn an_answer_is_closed_and_told_what_is_left_out() {
        let answer = answer(&json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1},
                "rows": {"type": "array", "items": {"type": "object", "properties": {"x": {"oneOf": [{"type": "string"}]}}, "required": ["x"]}},
            },
            "required": ["n", "rows"],
        }));
        assert!(answer.is_strict && !answer.is_open);
        assert_eq!(answer.unenforced, ["minimum"]);
        assert_eq!(answer.schema["additionalProperties"], false);
        let row = &answer.schema["properties"]["rows"]["items"];
        assert_eq!(row["additionalProperties"], false);
        assert_eq!(
            row["properties"]["x"],
            json!({"anyOf": [{"type": "string"}]})
        );
    }

    #[test]
    fn what_is_optional_or_open_is_not_strict() {
        let optional = answer(&json!({"type": "object", "properties": {"a": {}}}));
        assert!(!optional.is_strict && !optional.is_open);
        let open =
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}});
        let open = answer(&open);
        assert!(!open.is_strict && open.is_open);
        let unnamed = answer(&json!({"type": "object", "required": ["n"]}));
        assert!(!unnamed.is_strict && unnamed.is_open);
        assert!(unnamed.schema.get("additionalProperties").is_none());
        assert!(!answer(&json!({"type": "array"})).is_strict);
    }
}
