//! Parameters of an operation: each an argument, written where the operation wants it.

use crate::operation::{Context, Draft};
use catalog::definition::FRAMING;
use serde_json::{Map, Value, json};

/// OpenAPI has other words for these, and says that they are ignored here.
const IGNORED: [&str; 3] = ["accept", "content-type", "authorization"];

/// One parameter.
struct Parameter<'a> {
    name: &'a str,
    place: &'a str,
    style: &'a str,
    explode: bool,
    required: bool,
    /// As it is written: references and all.
    schema: Value,
    /// Its value is a text in this format.
    is_content: bool,
}

pub(crate) fn parameters(
    context: &Context<'_>,
    written: &Value,
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    let mut path = context.path.to_owned();
    // An operation's own one stands for the path's of that name.
    let mut all: Vec<&Value> = Vec::new();
    for list in [&context.item["parameters"], &written["parameters"]] {
        for parameter in list.as_array().into_iter().flatten() {
            let parameter = context.document.follow(parameter)?;
            all.retain(|it| (&it["name"], &it["in"]) != (&parameter["name"], &parameter["in"]));
            all.push(parameter);
        }
    }
    for written in all {
        let Some(parameter) = read(written) else {
            return Err("one of its parameters has no \"name\" or \"in\"".to_owned());
        };
        let done = match parameter.place {
            "path" => in_path(&parameter, &mut path, draft),
            "query" => in_query(&parameter, draft),
            "header" => in_header(&parameter, draft),
            "cookie" => Err("cookies are not sent".to_owned()),
            other => Err(format!("parameters in '{other}' are not known")),
        };
        if let Err(why) = done {
            let name = parameter.name;
            if parameter.required {
                return Err(format!("it needs the parameter '{name}': {why}"));
            }
            draft
                .lost
                .push(format!("the parameter '{name}' is left out: {why}"));
        }
    }
    // Documents that were made by hand often leave these out.
    while let Some(name) = unfilled(&path).map(str::to_owned) {
        let text = draft.argument(&name, "path", json!({"type": "string"}), true);
        path = path.replace(&format!("{{{name}}}"), &text);
        draft.lost.push(format!(
            "'{name}' of its path is not described and is any text"
        ));
    }
    draft.config.insert("path".to_owned(), path.into());
    Ok(())
}

fn read(written: &Value) -> Option<Parameter<'_>> {
    let (name, place) = (written["name"].as_str()?, written["in"].as_str()?);
    let usual = match place {
        "query" | "cookie" => "form",
        _ => "simple",
    };
    let style = written["style"].as_str().unwrap_or(usual);
    let content = written["content"]
        .as_object()
        .and_then(|all| all.values().next());
    let mut schema = match content {
        Some(content) => content["schema"].clone(),
        None => written["schema"].clone(),
    };
    if schema.is_null() {
        schema = json!({"type": "string"});
    }
    if let Some(text) = written["description"].as_str() {
        let has_own = schema.get("description").is_some();
        if schema.get("$ref").is_some() {
            schema = json!({"allOf": [schema], "description": text});
        } else if !has_own && schema.is_object() {
            schema["description"] = text.into();
        }
    }
    Some(Parameter {
        name,
        place,
        style,
        explode: written["explode"].as_bool().unwrap_or(style == "form"),
        required: written["required"] == true || place == "path",
        schema,
        is_content: content.is_some(),
    })
}

/// The name of a part of a path that nothing fills.
fn unfilled(path: &str) -> Option<&str> {
    let mut rest = path;
    while let Some(at) = rest.find('{') {
        if let Some(inside) = rest[at..].strip_prefix("{{") {
            let end = inside.find("}}")?;
            rest = &inside[end + 2..];
            continue;
        }
        let end = rest[at..].find('}')?;
        return Some(&rest[at + 1..at + end]);
    }
    None
}

fn is_kind(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(own) => own == kind,
        Value::Array(kinds) => kinds.iter().any(|it| it == kind),
        _ => false,
    }
}

fn is_object(schema: &Value) -> bool {
    is_kind(schema, "object") || schema.get("properties").is_some()
}

/// Its words, where it is one of something.
fn description(schema: &Value, more: &str) -> Value {
    let own = schema["description"].as_str().unwrap_or_default();
    let told = format!("{own} {more}");
    json!({"type": "string", "description": told.trim()})
}

fn in_path(
    parameter: &Parameter<'_>,
    path: &mut String,
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    let schema = draft.schemas.convert(&parameter.schema)?;
    let place = format!("{{{}}}", parameter.name);
    if !path.contains(&place) {
        return Err("its path does not name it".to_owned());
    }
    let is_plain = !is_object(&schema) && !is_kind(&schema, "array");
    let before = match parameter.style {
        "simple" if !is_object(&schema) => String::new(),
        "label" if is_plain => ".".to_owned(),
        "matrix" if is_plain => format!(";{}=", parameter.name),
        style => {
            return Err(format!(
                "its style '{style}' cannot be written for such a value"
            ));
        }
    };
    let text = draft.argument(parameter.name, "path", schema, true);
    *path = path.replace(&place, &format!("{before}{text}"));
    Ok(())
}

fn in_query(parameter: &Parameter<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    let schema = draft.schemas.convert(&parameter.schema)?;
    let name = parameter.name;
    let (is_list, is_object) = (is_kind(&schema, "array"), is_object(&schema));
    let schema = match (parameter.style, parameter.explode) {
        // An object is written as JSON by itself, a list would be several values.
        _ if parameter.is_content && !is_list => schema,
        _ if parameter.is_content => description(&schema, "(JSON)"),
        ("deepObject", _) | ("form", true) if is_object => {
            return spread(parameter, &schema, draft);
        }
        (_, _) if is_object => return Err("objects are not written in that style".to_owned()),
        ("form", true) => schema,
        (style, _) if is_list => {
            let joined = match style {
                "spaceDelimited" => "spaces",
                "pipeDelimited" => "|",
                _ => "commas",
            };
            draft.lost.push(format!(
                "'{name}' is one text, its values joined with {joined}"
            ));
            description(
                &schema,
                &format!("(several values are joined with {joined})"),
            )
        }
        _ => schema,
    };
    let text = draft.argument(name, "query", schema, parameter.required);
    draft.set("query", name, text.into());
    Ok(())
}

/// An object in the query: each of its members an argument of its own.
fn spread(parameter: &Parameter<'_>, schema: &Value, draft: &mut Draft<'_>) -> Result<(), String> {
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    if properties.is_empty() {
        return Err("the members of the object are not described".to_owned());
    }
    if properties.values().any(is_object) {
        return Err("objects inside objects have no place in a query".to_owned());
    }
    let needed = schema["required"].as_array().cloned().unwrap_or_default();
    for (member, schema) in properties {
        let (key, like) = match parameter.style {
            "deepObject" => (
                format!("{}[{member}]", parameter.name),
                format!("{}_{member}", parameter.name),
            ),
            _ => (member.clone(), member.clone()),
        };
        let required = parameter.required && needed.iter().any(|it| it == member);
        let text = draft.argument(&like, "query", schema.clone(), required);
        draft.set("query", &key, text.into());
    }
    Ok(())
}

fn in_header(parameter: &Parameter<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
    let lower = parameter.name.to_ascii_lowercase();
    if IGNORED.contains(&lower.as_str()) {
        return Ok(());
    }
    if FRAMING.contains(&lower.as_str()) {
        return Err("this header is written for each request and cannot be set".to_owned());
    }
    let schema = draft.schemas.convert(&parameter.schema)?;
    if is_object(&schema) {
        return Err("objects have no place in a header".to_owned());
    }
    let schema = match is_kind(&schema, "array") {
        true => description(&schema, "(several values are joined with commas)"),
        false => schema,
    };
    let text = draft.argument(parameter.name, "header", schema, parameter.required);
    draft.set("headers", parameter.name, text.into());
    Ok(())
}
