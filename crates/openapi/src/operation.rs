//! One operation as the definition of an `http` tool.

use crate::Made;
use crate::body::body;
use crate::document::{Document, Options};
use crate::parameters::parameters;
use crate::schema::Schemas;
use crate::security::{Access, Secrets, access};
use serde_json::{Map, Value, json};

/// Every agent reads a description in every request.
const DESCRIPTION_CHARS_MAX: usize = 2_000;
const TITLE_CHARS_MAX: usize = 100;

/// What is around an operation.
pub(crate) struct Context<'a> {
    pub(crate) document: &'a Document<'a>,
    pub(crate) options: &'a Options,
    /// The path that it belongs to.
    pub(crate) item: &'a Value,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) base_url: Option<&'a str>,
    pub(crate) name: &'a str,
}

/// A tool that is being made.
pub(crate) struct Draft<'a> {
    pub(crate) schemas: Schemas<'a>,
    /// The schemas of its arguments by their names.
    pub(crate) arguments: Map<String, Value>,
    pub(crate) required: Vec<String>,
    pub(crate) config: Map<String, Value>,
    pub(crate) lost: Vec<String>,
}

impl Draft<'_> {
    /// Adds an argument under a name like this one; gives the text that stands for it.
    pub(crate) fn argument(
        &mut self,
        like: &str,
        place: &str,
        schema: Value,
        required: bool,
    ) -> String {
        let plain = crate::names::plain(like);
        let plain = if plain.is_empty() {
            place.to_owned()
        } else {
            plain
        };
        let mut name: String = plain.chars().take(64).collect();
        if self.arguments.contains_key(&name) {
            name = format!("{place}_{plain}").chars().take(64).collect();
        }
        let mut number = 2;
        while self.arguments.contains_key(&name) {
            name = format!("{place}_{plain}").chars().take(60).collect();
            name = format!("{name}_{number}");
            number += 1;
        }
        if required {
            self.required.push(name.clone());
        }
        let text = format!("{{{{{name}}}}}");
        self.arguments.insert(name, schema);
        text
    }

    /// A member of an object of the config.
    pub(crate) fn set(&mut self, part: &str, key: &str, value: Value) {
        let part = self
            .config
            .entry(part.to_owned())
            .or_insert_with(|| json!({}));
        if let Some(part) = part.as_object_mut() {
            part.insert(key.to_owned(), value);
        }
    }
}

pub(crate) fn operation(
    context: &Context<'_>,
    written: &Value,
    secrets: &mut Secrets,
) -> Result<Made, String> {
    if context.method == "TRACE" {
        return Err("tools make no TRACE requests".to_owned());
    }
    let base_url = context.base_url.ok_or(
        "the document does not say where its API is (\"servers\" has no full address); name it with the base address",
    )?;
    let mut draft = Draft {
        schemas: Schemas::new(context.document),
        arguments: Map::new(),
        required: Vec::new(),
        config: Map::new(),
        lost: Vec::new(),
    };
    draft.config.insert("base_url".to_owned(), base_url.into());
    draft
        .config
        .insert("method".to_owned(), context.method.into());
    parameters(context, written, &mut draft)?;
    body(context, written, &mut draft)?;
    let Access {
        auth,
        headers,
        note,
    } = access(context, written, secrets)?;
    for (name, value) in headers {
        draft.set("headers", &name, value);
    }
    draft.lost.extend(note);
    let mut whole = Map::from_iter([("type".to_owned(), json!("object"))]);
    whole.insert("properties".to_owned(), Value::Object(draft.arguments));
    if !draft.required.is_empty() {
        whole.insert("required".to_owned(), json!(draft.required));
    }
    whole.insert("additionalProperties".to_owned(), false.into());
    let input_schema = draft.schemas.finish(whole)?;
    let mut lost = draft.lost;
    lost.append(&mut draft.schemas.lost);
    let mut definition = json!({
        "name": context.name, "description": description(context, written), "kind": "http",
        "config": draft.config, "input_schema": input_schema,
    });
    let annotations = annotations(context.method, written);
    if annotations != json!({}) {
        definition["annotations"] = annotations;
    }
    if let Some(auth) = auth {
        definition["auth_config"] = auth;
    }
    Ok(Made {
        name: context.name.to_owned(),
        method: context.method.to_owned(),
        path: context.path.to_owned(),
        definition,
        lost,
    })
}

fn description(context: &Context<'_>, written: &Value) -> String {
    let text = |key: &str| {
        let own = written[key].as_str().or_else(|| context.item[key].as_str());
        own.map(str::trim).filter(|text| !text.is_empty())
    };
    let (summary, more) = (text("summary"), text("description"));
    let mut told = match (summary, more) {
        (Some(summary), Some(more)) if !more.starts_with(summary) => {
            let end = if summary.ends_with(['.', '!', '?']) {
                ""
            } else {
                "."
            };
            format!("{summary}{end}\n\n{more}")
        }
        (_, Some(more)) => more.to_owned(),
        (Some(summary), None) => summary.to_owned(),
        (None, None) => format!("{} {}", context.method, context.path),
    };
    if written["deprecated"] == true {
        told.push_str("\n\nDeprecated: prefer another tool if one does the same.");
    }
    shortened(&told.replace('\0', ""), DESCRIPTION_CHARS_MAX)
}

fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// What the method says about the effects of a call.
fn annotations(method: &str, written: &Value) -> Value {
    let mut hints = match method {
        "GET" | "HEAD" | "OPTIONS" => json!({"read_only": true}),
        "PUT" => json!({"idempotent": true}),
        "DELETE" => json!({"destructive": true, "idempotent": true}),
        _ => json!({}),
    };
    let summary = written["summary"].as_str().unwrap_or_default().trim();
    if !summary.is_empty() && !summary.contains(char::is_control) {
        hints["title"] = shortened(summary, TITLE_CHARS_MAX).into();
    }
    hints
}
