//! Tools as an OpenAPI document: one operation for each, which calls it.

use serde_json::{Map, Value, json};

/// A tool that is offered.
#[derive(Debug)]
pub struct Offer<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub title: Option<&'a str>,
    pub input_schema: &'a Value,
    pub output_schema: Option<&'a Value>,
    pub read_only: bool,
}

/// What the operations share, besides the schemas of the tools.
fn failure() -> Value {
    json!({
        "type": "object", "required": ["error"],
        "properties": {"error": {
            "type": "object", "required": ["code", "message"],
            "properties": {
                "code": {"type": "string"}, "message": {"type": "string"}, "details": {}, "request_id": {"type": ["string", "null"]},
            },
        }},
    })
}

/// The document. `url` is where the server is, empty where that is not known; `title` says whose tools they are.
pub fn write(offers: &[Offer<'_>], title: &str, version: &str, url: &str) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::from_iter([("Failure".to_owned(), failure())]);
    for offer in offers {
        let path = format!("/api/v1/tools/{}/call", offer.name);
        paths.insert(path, json!({"post": operation(offer, &mut schemas)}));
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": title, "version": version},
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "servers": [{"url": if url.is_empty() { "/" } else { url }}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
        },
    })
}

fn operation(offer: &Offer<'_>, schemas: &mut Map<String, Value>) -> Value {
    let mut placed = |part: &str, schema: &Value| {
        let name = format!("{}.{part}", offer.name);
        let place = format!("#/components/schemas/{name}");
        let mut schema = match schema {
            Value::Bool(true) => json!({}),
            other => other.clone(),
        };
        lead(&mut schema, &place);
        schemas.insert(name, schema);
        json!({"$ref": place})
    };
    let arguments = placed("arguments", offer.input_schema);
    let data = offer
        .output_schema
        .map_or_else(|| json!({}), |it| placed("data", it));
    let mut operation = json!({
        "operationId": offer.name,
        "description": offer.description,
        "requestBody": {"required": true, "content": {"application/json": {"schema": {
            "type": "object", "required": ["arguments"], "properties": {"arguments": arguments},
        }}}},
        "responses": {
            "200": {"description": "What the tool answered", "content": {"application/json": {"schema": {
                "type": "object", "properties": {"data": data},
            }}}},
            "default": {"description": "Why there is no answer", "content": {"application/json": {"schema": {
                "$ref": "#/components/schemas/Failure",
            }}}},
        },
    });
    if let Some(title) = offer.title {
        operation["summary"] = title.into();
    }
    if offer.read_only {
        operation["x-read-only"] = true.into();
    }
    operation
}

/// References of a schema to itself lead to where it stands now. One with an address of its own stays what it is.
fn lead(schema: &mut Value, place: &str) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("$id") {
                return;
            }
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && let Some(rest) = reference.strip_prefix('#')
                && (rest.is_empty() || rest.starts_with('/'))
            {
                *reference = format!("{place}{rest}");
            }
            members.values_mut().for_each(|it| lead(it, place));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| lead(it, place)),
        _ => {}
    }
}
