//! A question to a person as MCP words it: a form, and what was answered in it.

use serde_json::{Value, json};

/// The parameters of `elicitation/create` for a question whose answer must fit a schema. Forms are flat: a flat object is the
/// form itself, anything plain is one field of it, and what is neither is asked for as JSON.
pub fn form(question: &str, schema: &Value) -> Value {
    let field = match schema {
        _ if is_form(schema) => {
            return json!({"mode": "form", "message": question, "requestedSchema": schema});
        }
        _ if is_plain(schema) => {
            let mut field = schema.clone();
            field["title"] = json!("Answer");
            field
        }
        _ => {
            json!({"type": "string", "title": "Answer", "description": format!("As JSON that fits {schema}")})
        }
    };
    let one = json!({"type": "object", "properties": {"answer": field}, "required": ["answer"]});
    json!({"mode": "form", "message": question, "requestedSchema": one})
}

/// What was answered in the form of such a question. None where the person did not.
pub fn answered(schema: &Value, result: &Value) -> Option<Value> {
    if result["action"] != "accept" {
        return None;
    }
    let content = result.get("content")?;
    if is_form(schema) {
        return Some(content.clone());
    }
    let answer = content.get("answer")?;
    match answer.as_str().filter(|_| !is_plain(schema)) {
        // As it is where it is no JSON: what is wrong with it is told by whoever checks it.
        Some(text) => Some(serde_json::from_str(text).unwrap_or_else(|_| answer.clone())),
        None => Some(answer.clone()),
    }
}

/// An object of plain fields.
pub fn is_form(schema: &Value) -> bool {
    let fields = schema.get("properties").and_then(Value::as_object);
    schema["type"] == "object" && fields.is_some_and(|fields| fields.values().all(is_plain))
}

fn is_plain(schema: &Value) -> bool {
    let kind = schema.get("type").and_then(Value::as_str);
    matches!(kind, Some("string" | "number" | "integer" | "boolean"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(content: &Value) -> Value {
        json!({"action": "accept", "content": content})
    }

    #[test]
    fn a_flat_object_is_the_form() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        assert_eq!(form("?", &schema)["requestedSchema"], schema);
        let answer = answered(&schema, &accepted(&json!({"n": 3})));
        assert_eq!(answer, Some(json!({"n": 3})));
    }

    #[test]
    fn what_is_plain_is_one_field() {
        let schema = json!({"type": "string", "enum": ["a", "b"]});
        let field = &form("?", &schema)["requestedSchema"]["properties"]["answer"];
        assert_eq!(field["enum"], json!(["a", "b"]));
        let answer = answered(&schema, &accepted(&json!({"answer": "7"})));
        assert_eq!(answer, Some(json!("7")), "a text stays one");
    }

    #[test]
    fn anything_else_is_asked_for_as_json() {
        let schema = json!({"type": "array", "items": {"type": "integer"}});
        assert_eq!(
            form("?", &schema)["requestedSchema"]["properties"]["answer"]["type"],
            "string"
        );
        let answer = answered(&schema, &accepted(&json!({"answer": "[1, 2]"})));
        assert_eq!(answer, Some(json!([1, 2])));
    }

    #[test]
    fn not_to_answer_is_no_answer() {
        for action in ["decline", "cancel"] {
            assert_eq!(
                answered(&json!({"type": "string"}), &json!({"action": action})),
                None
            );
        }
    }
}
