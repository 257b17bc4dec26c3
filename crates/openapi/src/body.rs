//! The body of an operation: members of an object as arguments of their own, everything else as one argument.

use crate::operation::{Context, Draft};
use serde_json::{Map, Value, json};

/// How a body is written, by what the document calls it. The first that an operation takes is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Fields,
    Multipart,
    Text,
}

impl Form {
    const ALL: [Form; 4] = [Form::Json, Form::Fields, Form::Multipart, Form::Text];

    fn of(media: &str) -> Option<Self> {
        let essence = media.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        match essence.as_str() {
            "*/*" | "application/*" => Some(Form::Json),
            it if it == "application/json" || it.ends_with("+json") => Some(Form::Json),
            "application/x-www-form-urlencoded" => Some(Form::Fields),
            "multipart/form-data" => Some(Form::Multipart),
            "text/plain" => Some(Form::Text),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Form::Json => "json",
            Form::Fields => "form",
            Form::Multipart => "multipart",
            Form::Text => "text",
        }
    }
}

pub(crate) fn body(
    context: &Context<'_>,
    written: &Value,
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    let Some(body) = written.get("requestBody") else {
        return Ok(());
    };
    let body = context.document.follow(body)?;
    let none = Map::new();
    let content = body["content"].as_object().unwrap_or(&none);
    let found = Form::ALL.iter().find_map(|form| {
        let media = content
            .iter()
            .find(|(media, _)| Form::of(media) == Some(*form));
        media.map(|(media, it)| (*form, media, it))
    });
    let is_required = body["required"] == true;
    let Some((form, media, described)) = found else {
        if content.is_empty() {
            return Ok(());
        }
        let types: Vec<&str> = content.keys().map(String::as_str).collect();
        let why = format!(
            "its body is {}, which tools do not write",
            types.join(" or ")
        );
        if is_required {
            return Err(why);
        }
        draft
            .lost
            .push(format!("it is called without a body: {why}"));
        return Ok(());
    };
    if content.len() > 1 {
        let others = content.keys().filter(|it| *it != media);
        let others: Vec<&str> = others.map(String::as_str).collect();
        draft.lost.push(format!(
            "the body is sent as {media}, not as {}",
            others.join(" or ")
        ));
    }
    draft
        .config
        .insert("body_type".to_owned(), form.word().into());
    if form == Form::Json && media != "application/json" && !media.contains('*') {
        draft.set("headers", "Content-Type", media.clone().into());
    }
    let schema = match &described["schema"] {
        Value::Null => json!({}),
        schema => draft.schemas.convert(schema)?,
    };
    if let (true, Some(properties)) = (form != Form::Text, members(&schema)) {
        return spread(form, &schema, &properties, is_required, draft);
    }
    if form == Form::Fields || form == Form::Multipart {
        return Err(format!("the fields of its {media} body are not described"));
    }
    let mut schema = match form {
        Form::Text => json!({"type": "string"}),
        _ => schema,
    };
    if let (Some(told), None) = (body["description"].as_str(), schema.get("description"))
        && schema.is_object()
        && schema.get("$ref").is_none()
    {
        schema["description"] = told.into();
    }
    let text = draft.argument("body", "request", schema, is_required);
    draft.config.insert("body".to_owned(), text.into());
    Ok(())
}

/// The members of an object that has no others.
fn members(schema: &Value) -> Option<Map<String, Value>> {
    const TOLD: [&str; 8] = [
        "type",
        "properties",
        "required",
        "description",
        "title",
        "additionalProperties",
        "default",
        "deprecated",
    ];
    let all = schema.as_object()?;
    let is_plain = all.keys().all(|key| TOLD.contains(&key.as_str()));
    let is_closed = all
        .get("additionalProperties")
        .is_none_or(|it| *it == false);
    let properties = all.get("properties")?.as_object()?;
    (is_plain && is_closed && !properties.is_empty()).then(|| properties.clone())
}

fn spread(
    form: Form,
    schema: &Value,
    properties: &Map<String, Value>,
    is_required: bool,
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    let needed = schema["required"].as_array().cloned().unwrap_or_default();
    let mut body = Map::new();
    for (name, schema) in properties {
        let required = is_required && needed.iter().any(|it| it == name);
        let schema = match form {
            Form::Multipart => file_or(schema),
            _ => schema.clone(),
        };
        let text = draft.argument(name, "body", schema, required);
        body.insert(name.clone(), text.into());
    }
    draft.config.insert("body".to_owned(), Value::Object(body));
    Ok(())
}

/// A file of a form, as tools take one.
fn file_or(schema: &Value) -> Value {
    let is_file = |schema: &Value| {
        schema["format"] == "binary"
            || schema.get("contentMediaType").is_some() && schema.get("contentEncoding").is_none()
    };
    let file = |told: &Value| {
        let mut file = json!({"type": "object", "required": ["content_base64"], "additionalProperties": false,
            "properties": {"content_base64": {"type": "string"}, "filename": {"type": "string"}, "content_type": {"type": "string"}}});
        if let Some(told) = told.get("description") {
            file["description"] = told.clone();
        }
        file
    };
    match (is_file(schema), is_file(&schema["items"])) {
        (true, _) => file(schema),
        (false, true) => json!({"type": "array", "items": file(&schema["items"])}),
        (false, false) => schema.clone(),
    }
}
