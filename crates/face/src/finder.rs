//! `find_tools` and `call_tool`: two tools that stand for all others where those are too many to list.

use crate::context::{Context, Params};
use crate::listing::shown;
use crate::result::{Done, failed};
use catalog::toolset::{CALL_TOOL, FIND_TOOLS};
use executor::{CallError, Code};
use mcp::wire::{RpcError, code};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const FOUND: u64 = 5;
const FOUND_MAX: u64 = 20;
const QUERY_CHARS_MAX: usize = 1_000;

/// What is needed to choose and to call it.
fn brief(mut tool: Value) -> Value {
    if let Some(members) = tool.as_object_mut() {
        members.retain(|name, _| ["name", "description", "inputSchema"].contains(&name.as_str()));
    }
    tool
}

/// The two tools, as they are listed.
pub(crate) fn tools() -> [Value; 2] {
    let query = json!({"type": "string", "description": "What is to be done, in a few words", "minLength": 1, "maxLength": QUERY_CHARS_MAX});
    let limit = json!({"type": "integer", "description": "How many tools to return at most", "minimum": 1, "maximum": FOUND_MAX, "default": FOUND});
    let found = json!({"type": "object", "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "inputSchema": {"type": "object"}}, "required": ["name", "inputSchema"]});
    let name =
        json!({"type": "string", "description": "The name of the tool, as find_tools gives it"});
    let arguments = json!({"type": "object", "description": "The tool's arguments, as its inputSchema describes them"});
    [
        json!({
            "name": FIND_TOOLS,
            "title": "Find tools",
            "description": "Finds the tools that fit a task best, with their names, descriptions and input schemas. Use it first; then run one of them with call_tool.",
            "inputSchema": {"type": "object", "properties": {"query": query, "limit": limit}, "required": ["query"], "additionalProperties": false},
            "outputSchema": {"type": "object", "properties": {"tools": {"type": "array", "items": found}}, "required": ["tools"]},
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        }),
        json!({
            "name": CALL_TOOL,
            "title": "Call a tool",
            "description": "Runs a tool that find_tools has found, and returns its result.",
            "inputSchema": {"type": "object", "properties": {"name": name, "arguments": arguments}, "required": ["name"], "additionalProperties": false},
        }),
    ]
}

/// Whether the caller asks for one of these two, and not for a tool that only has the name.
pub(crate) fn is_meant(context: &Context, name: &str) -> bool {
    if ![FIND_TOOLS, CALL_TOOL].contains(&name) {
        return false;
    }
    let executor = &context.face.app.executor;
    let (catalogue, policy) = (executor.catalogue.load_full(), executor.policy.load_full());
    let listings = &context.face.listings;
    listings.by_finding(&catalogue, &policy, &context.caller)
}

/// `find_tools`: looks, and runs nothing.
pub(crate) async fn find(context: &Context, params: &Params) -> Result<Done, RpcError> {
    let arguments = params.get("arguments").and_then(Value::as_object);
    let (query, most) = match asked(arguments) {
        Ok(asked) => asked,
        Err(why) => return refused(context, why),
    };
    let app = &context.face.app;
    // Else the first to look in a new workspace would find nothing.
    app.servers_awaited().await;
    let (face, caller) = (Arc::clone(&context.face), Arc::clone(&context.caller));
    // The first one to look pays for the list: too long for a thread that answers requests.
    let list = move || face.listings.of(&face.app, &caller);
    let listing = tokio::task::spawn_blocking(list).await;
    let listing = listing.map_err(|error| lost(&error))?;
    let found: Vec<Value> = match &listing.found_among {
        None => Vec::new(),
        Some(among) => {
            let best = app.find(among, &query, most).await;
            let best = best.map_err(|error| lost(&error))?.into_iter();
            best.map(|at| brief(shown(&among.shown(at)))).collect()
        }
    };
    let answer = json!({"tools": found}).to_string();
    let text = Value::from(answer.as_str());
    Ok(Done::of(format!(
        r#""content":[{{"type":"text","text":{text}}}],"structuredContent":{answer}"#
    )))
}

fn lost(error: &dyn std::fmt::Display) -> RpcError {
    tracing::error!(%error, "a search for tools was lost");
    RpcError::new(code::INTERNAL, "The tools could not be searched")
}

fn asked(arguments: Option<&Map<String, Value>>) -> Result<(String, usize), String> {
    let argument = |name: &str| arguments.and_then(|all| all.get(name));
    let query = argument("query").and_then(Value::as_str).map(str::trim);
    let is_short = |query: &&str| query.chars().count() <= QUERY_CHARS_MAX;
    let query = query.filter(|it| !it.is_empty()).filter(is_short);
    let query = query
        .ok_or_else(|| format!("query: expected a text of 1 to {QUERY_CHARS_MAX} characters"))?;
    let limit = match argument("limit") {
        None | Some(Value::Null) => FOUND,
        Some(limit) => {
            let limit = limit.as_u64().filter(|it| (1..=FOUND_MAX).contains(it));
            limit.ok_or_else(|| format!("limit: expected a whole number from 1 to {FOUND_MAX}"))?
        }
    };
    Ok((query.to_owned(), usize::try_from(limit).unwrap_or_default()))
}

/// `call_tool`: the parameters become those of the tool that is meant. Gives its name.
pub(crate) fn meant(params: &mut Params) -> Result<String, String> {
    let mut arguments = match params.take("arguments") {
        Some(Value::Object(arguments)) => arguments,
        _ => Map::new(),
    };
    let name = match arguments.remove("name") {
        Some(Value::String(name)) if !name.is_empty() => name,
        _ => return Err("name: expected the name of a tool, as find_tools gives it".to_owned()),
    };
    match arguments.remove("arguments") {
        None | Some(Value::Null) => {}
        Some(inner @ Value::Object(_)) => {
            params.set("arguments", inner);
        }
        Some(_) => return Err("arguments: expected an object".to_owned()),
    }
    match arguments.keys().next() {
        None => Ok(name),
        Some(other) => Err(format!(
            "{other}: expected only name and arguments; the tool's own go into arguments"
        )),
    }
}

/// In words that the model reads, not its program.
pub(crate) fn refused(context: &Context, message: String) -> Result<Done, RpcError> {
    let error = CallError {
        code: Code::InvalidInput,
        message,
        details: Value::Null,
    };
    failed(&error, context.era())
}
