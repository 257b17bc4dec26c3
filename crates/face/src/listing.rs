//! What `tools/list` tells: for each caller the tools they may call, as text that is made once and kept until the catalogue
//! or the policy changes. Callers who see the same share the text. Where there are too many, two stand for all of them.

mod finds;
mod pages;

pub(crate) use pages::{cursor, page};

use crate::agents;
use crate::context::{Context, Params};
use crate::finder;
use crate::result::Done;
use app::App;
use app::select::Among;
use catalog::caller::{Caller, Scopes};
use catalog::catalogue::Catalogue;
use catalog::catalogue::Entry;
use catalog::names::Names;
use catalog::policy::{Policy, Verdict};
use catalog::tool::KindName;
use catalog::toolset::Shown;
use mcp::wire::{Era, RpcError};
use pages::Tools;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use uuid::Uuid;

/// For how many callers a list is kept.
const CALLERS_MAX: usize = 1_024;

/// The tools of one caller.
#[derive(Debug)]
pub(crate) struct Listing {
    tools: Tools,
    /// The same for older clients, where they would not understand all of it.
    legacy: Option<Tools>,
    /// The same for the same tools.
    pub(crate) fingerprint: u64,
    /// Where two tools stand for the others.
    pub(crate) found_among: Option<Arc<Among>>,
}

#[derive(Debug)]
pub(crate) struct Listings {
    /// Two tools stand for more than so many; for none where it is 0.
    find_tools_above: usize,
    /// Where neither the caller nor their toolset says.
    names: Names,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_caller: HashMap<Who, Known>,
    by_fingerprint: HashMap<u64, Weak<Listing>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Who {
    user: Uuid,
    key: Option<Uuid>,
    toolset: Option<Arc<str>>,
    names: Names,
}

/// A list and what it was made from.
#[derive(Debug)]
struct Known {
    catalogue: Arc<Catalogue>,
    policy: Arc<Policy>,
    scopes: Scopes,
    agents: Vec<String>,
    listing: Arc<Listing>,
}

impl Listings {
    pub(crate) fn new(find_tools_above: usize, names: Names) -> Self {
        Listings {
            find_tools_above,
            names,
            kept: Mutex::default(),
        }
    }

    pub(crate) fn of(&self, app: &App, caller: &Caller) -> Arc<Listing> {
        let executor = &app.executor;
        let agents = agents::of(app, caller);
        let catalogue = executor.catalogue.load_full();
        let policy = executor.policy.load_full();
        let who = self.who(&policy, caller);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.by_caller.get(&who)
            && known.holds(&catalogue, &policy, caller)
            && known.agents == agents
        {
            return Arc::clone(&known.listing);
        }
        let visible = visible(&catalogue, &policy, caller);
        let visible = match who.names {
            Names::Dotted => visible,
            Names::Plain => plainly(visible, &catalogue, &policy, caller),
        };
        let too_many = self.find_tools_above > 0 && visible.len() > self.find_tools_above;
        let by_finding = finds::is_asked_for(&policy, caller) || too_many;
        let fingerprint = fingerprint(&visible, &agents, by_finding);
        let shared = kept
            .by_fingerprint
            .get(&fingerprint)
            .and_then(Weak::upgrade);
        let listing = shared.unwrap_or_else(|| {
            let among = by_finding.then(|| Arc::new(Among::new(&visible)));
            Arc::new(Listing::new(&visible, &agents, fingerprint, among))
        });
        if kept.by_caller.len() >= CALLERS_MAX {
            // Rare enough to begin anew: whoever is still there has theirs made again.
            kept.by_caller.clear();
        }
        let known = Known {
            catalogue: Arc::clone(&catalogue),
            policy,
            scopes: caller.scopes,
            agents,
            listing: Arc::clone(&listing),
        };
        kept.by_caller.insert(who, known);
        kept.by_fingerprint
            .retain(|_, list| list.strong_count() > 0);
        kept.by_fingerprint
            .insert(fingerprint, Arc::downgrade(&listing));
        listing
    }
}

/// In the order of the toolset, or of the names.
fn visible<'a>(catalogue: &'a Catalogue, policy: &'a Policy, caller: &Caller) -> Vec<Shown<'a>> {
    let mut all = match (&caller.toolset, policy.toolset(caller)) {
        (None, _) => catalogue.after(None).map(Shown::plain).collect(),
        (Some(_), Some(set)) => set.members(catalogue),
        (Some(_), None) => Vec::new(),
    };
    all.retain(|it| policy.verdict(caller, &it.entry.tool) == Verdict::Allowed);
    all
}

/// The same under names without dots. Each leads back to its tool: where another has the short one, it is the one with a hash.
fn plainly<'a>(
    all: Vec<Shown<'a>>,
    catalogue: &'a Catalogue,
    policy: &'a Policy,
    caller: &Caller,
) -> Vec<Shown<'a>> {
    let set = policy.toolset(caller);
    let leads_back = |name: &str, it: &Shown<'_>| {
        let found = policy.find(catalogue, caller, name);
        found.is_some_and(|found| found.is_same(it))
    };
    let named = all.into_iter().filter_map(|it| {
        let plain = match set {
            Some(set) => set.plain_name(&it),
            None => it.entry.plain.as_ref(),
        };
        let Some(plain) = plain else { return Some(it) };
        let mut names = [&*plain.short, &*plain.hashed].into_iter();
        let name = names.find(|name| leads_back(name, &it))?;
        Some(Shown { name, ..it })
    });
    named.collect()
}

fn fingerprint(visible: &[Shown<'_>], agents: &[String], by_finding: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    (by_finding, agents).hash(&mut hasher);
    for it in visible {
        (it.name, &it.entry.hash).hash(&mut hasher);
        if let Some(pick) = it.pick {
            let pinned = serde_json::to_string(&pick.arguments).unwrap_or_default();
            (&pick.name, &pick.description, pinned).hash(&mut hasher);
        }
    }
    hasher.finish()
}

impl Listing {
    fn new(
        visible: &[Shown<'_>],
        agents: &[String],
        fingerprint: u64,
        found_among: Option<Arc<Among>>,
    ) -> Self {
        let mut is_newer = false;
        let run = || agents::tool(agents);
        let tools = match found_among.is_some() {
            true => Tools::of(finder::tools().into_iter().chain(run())),
            false => {
                let all = visible.iter().map(shown).chain(run());
                Tools::of(all.inspect(|tool| is_newer |= !is_legacy(tool)))
            }
        };
        let all = || visible.iter().map(shown).chain(run());
        let legacy = is_newer.then(|| Tools::of(all().map(for_legacy)));
        Listing {
            tools,
            legacy,
            fingerprint,
            found_among,
        }
    }

    fn page(&self, after: Option<&str>, era: Era) -> Done {
        match (era, &self.legacy) {
            (Era::Legacy, Some(legacy)) => legacy.page(after),
            _ => self.tools.page(after),
        }
    }
}

pub(crate) async fn list(context: &Context, params: &Params) -> Result<Done, RpcError> {
    let after = cursor(params)?;
    context.face.app.servers_awaited().await;
    let listing = context.face.listings.of(&context.face.app, &context.caller);
    let era = context.era();
    Ok(listing.page(after.as_deref(), era).cached(era))
}

/// A tool as clients see it, changed as its toolset wants it.
pub(crate) fn shown(it: &Shown<'_>) -> Value {
    let mut tool = tool(it.entry);
    tool["name"] = it.name.into();
    let Some(pick) = it.pick else { return tool };
    if pick.name.is_some() {
        // It is the title of something else now.
        if let Some(members) = tool.as_object_mut() {
            members.shift_remove("title");
        }
    }
    if let Some(description) = &pick.description {
        tool["description"] = description.as_str().into();
    }
    if !pick.arguments.is_empty() {
        tool["inputSchema"] = pick.input_schema(&tool["inputSchema"]);
    }
    tool
}

/// A tool as clients see it.
fn tool(entry: &Entry) -> Value {
    let definition = &entry.tool.definition;
    // What an upstream server says of its tool is passed on whole, but for the name.
    if let (KindName::Mcp, Some(Value::Object(listed))) =
        (definition.kind, definition.config.get("listed"))
    {
        let mut tool = Map::from_iter([("name".to_owned(), definition.name.as_str().into())]);
        tool.extend(listed.clone());
        let schema = tool.shift_remove("inputSchema").unwrap_or_default();
        tool.insert("inputSchema".to_owned(), as_object_schema(schema));
        return Value::Object(tool);
    }
    let mut tool = json!({"name": definition.name, "description": definition.description});
    let told = definition.hints();
    if let Some(title) = &told.title {
        tool["title"] = title.as_str().into();
    }
    tool["inputSchema"] = as_object_schema(entry.offered_schema().into_owned());
    if let Some(schema) = definition.output_schema.as_ref().and_then(wrapped) {
        tool["outputSchema"] = schema;
    }
    let hints = [
        ("readOnlyHint", told.read_only),
        ("destructiveHint", told.destructive),
        ("idempotentHint", told.idempotent),
        ("openWorldHint", told.open_world),
    ];
    let hints: Map<String, Value> = hints
        .into_iter()
        .filter_map(|(name, hint)| Some((name.to_owned(), Value::Bool(hint?))))
        .collect();
    if !hints.is_empty() {
        tool["annotations"] = Value::Object(hints);
    }
    tool
}

/// Arguments are always an object, and the protocol wants that said.
fn as_object_schema(schema: Value) -> Value {
    match schema {
        Value::Object(mut members) => {
            members.insert("type".to_owned(), "object".into());
            Value::Object(members)
        }
        _ => json!({"type": "object"}),
    }
}

/// Whether older clients take it: one tool that they do not understand costs them the whole list.
fn is_legacy(tool: &Value) -> bool {
    let schema = tool.get("outputSchema");
    schema.is_none_or(|schema| schema["type"] == "object")
}

fn for_legacy(mut tool: Value) -> Value {
    if !is_legacy(&tool)
        && let Some(members) = tool.as_object_mut()
    {
        match members.get("outputSchema").and_then(wrapped) {
            Some(schema) => members.insert("outputSchema".to_owned(), schema),
            None => members.shift_remove("outputSchema"),
        };
    }
    tool
}

/// The schema of what is answered: data that are no object are put into one. None where that cannot be said: what may
/// be an object or not is put into one or not, and a reference into what has moved would lead nowhere.
fn wrapped(schema: &Value) -> Option<Value> {
    let is_object = |it: &Value| it == "object";
    match schema.get("type")? {
        one if is_object(one) => return Some(schema.clone()),
        Value::Array(several) if several.iter().any(is_object) => return None,
        _ => {}
    }
    let mut inner = schema.as_object()?.clone();
    let mut outer = Map::new();
    for name in ["$schema", "$defs", "definitions"] {
        if let Some(value) = inner.shift_remove(name) {
            outer.insert(name.to_owned(), value);
        }
    }
    if inner.contains_key("$id") || refers_elsewhere(&Value::Object(inner.clone())) {
        return None;
    }
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({"result": inner}));
    outer.insert("required".to_owned(), json!(["result"]));
    Some(Value::Object(outer))
}

fn refers_elsewhere(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(name, value)| match value.as_str() {
            Some(target) if name == "$ref" || name == "$dynamicRef" => {
                !target.starts_with("#/$defs/") && !target.starts_with("#/definitions/")
            }
            _ => refers_elsewhere(value),
        }),
        Value::Array(items) => items.iter().any(refers_elsewhere),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_is_put_into_one() {
        let plain = json!({"type": "array", "items": {"$ref": "#/$defs/row"}, "$defs": {"row": {"type": "string"}}});
        assert_eq!(
            wrapped(&plain).unwrap(),
            json!({"$defs": {"row": {"type": "string"}}, "type": "object",
                "properties": {"result": {"type": "array", "items": {"$ref": "#/$defs/row"}}}, "required": ["result"]})
        );
        let recursive = json!({"type": "array", "items": {"$ref": "#"}});
        assert_eq!(wrapped(&recursive), None);
        let object = json!({"type": "object"});
        assert_eq!(wrapped(&object), Some(object));
        for either in [json!({"type": ["object", "null"]}), json!({"anyOf": []})] {
            assert_eq!(wrapped(&either), None, "{either}");
        }
    }

    #[test]
    fn older_clients_get_what_they_understand() {
        let with = |schema: Value| json!({"name": "t", "outputSchema": schema});
        let list = with(json!({"type": "array"}));
        let result = json!({"type": "object", "properties": {"result": {"type": "array"}}, "required": ["result"]});
        assert_eq!(for_legacy(list), with(result));
        assert_eq!(for_legacy(with(json!(true))), json!({"name": "t"}));
        let object = with(json!({"type": "object", "title": "o"}));
        assert_eq!(for_legacy(object.clone()), object);
    }
}
