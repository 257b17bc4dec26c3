//! What a server offers: all pages of its lists, as raw JSON.

use super::connection::{Connection, Peer};
use super::fault::Fault;
use super::headers::ParamHeaders;
use super::hooks::Changed;
use super::params::Params;
use super::passed;
use super::server::cause;
use super::talk::Talk;
use super::{Options, Settings};
use crate::wire::{Era, code, tree};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// All that a server has told it has. Kept while it is down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lists {
    pub tools: Vec<Value>,
    pub resources: Vec<Value>,
    pub templates: Vec<Value>,
    pub prompts: Vec<Value>,
    #[serde(skip)]
    pub uris: Uris,
}

/// The addresses of the resources, made when first asked for: results name them, and a server may have many.
#[derive(Debug, Default)]
pub struct Uris(OnceLock<HashSet<String>>);

impl Clone for Uris {
    /// Whoever makes a copy is about to change it.
    fn clone(&self) -> Self {
        Uris::default()
    }
}

impl PartialEq for Uris {
    /// It follows from the rest.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Lists {
    /// Whether a resource is listed, in a time that does not grow with how many are.
    pub fn has_resource(&self, uri: &str) -> bool {
        let all = || {
            let uris = self.resources.iter().filter_map(|it| it["uri"].as_str());
            uris.map(str::to_owned).collect()
        };
        self.uris.0.get_or_init(all).contains(uri)
    }

    /// Forgets what only the one is offered whose connection it came over.
    pub fn keep_common(&mut self) {
        (self.resources, self.templates) = (Vec::new(), Vec::new());
    }
}

/// Reads the lists that may have changed. A list that cannot be read stays as it was, and why is told.
pub(super) async fn read(
    connection: &Connection,
    before: &Lists,
    which: u8,
    options: &Options,
) -> (Lists, Option<String>) {
    let settings = &options.settings;
    let mut lists = before.clone();
    let Some(peer) = connection.peer.get() else {
        return (lists, None);
    };
    let reader = Reader {
        connection,
        settings,
        talk: Talk::until(Instant::now() + settings.connect_timeout),
    };
    let wanted = |flag: u8, name: &str| (which & flag != 0).then(|| offers(peer, name));
    let (tools, resources, templates, prompts) = tokio::join!(
        reader.list_if(wanted(Changed::TOOLS, "tools"), "tools/list", "tools"),
        reader.list_if(
            wanted(Changed::RESOURCES, "resources"),
            "resources/list",
            "resources"
        ),
        reader.list_if(
            wanted(Changed::RESOURCES, "resources"),
            "resources/templates/list",
            "resourceTemplates"
        ),
        reader.list_if(
            wanted(Changed::PROMPTS, "prompts"),
            "prompts/list",
            "prompts"
        ),
    );
    let mut fault = None;
    let mut put =
        |list: &mut Vec<Value>, name: &str, read: Option<Result<Vec<Value>, Fault>>| match read {
            Some(Ok(items)) => {
                *list = passed::note(items, peer.node.as_deref(), options.node.as_deref());
            }
            Some(Err(why)) => {
                let why = cause(why, &super::State::Degraded);
                fault.get_or_insert(format!("its list of {name} cannot be read: {why}"));
            }
            None => {}
        };
    let tools = tools.map(|tools| tools.map(|tools| usable(tools, connection, peer)));
    let firsts = |read: Option<Result<Vec<Value>, Fault>>, key: &str| {
        read.map(|read| read.map(|items| once(items, key)))
    };
    put(&mut lists.tools, "tools", tools);
    let (resources, templates) = (firsts(resources, "uri"), firsts(templates, "uriTemplate"));
    put(&mut lists.resources, "resources", resources);
    put(&mut lists.templates, "resource templates", templates);
    put(&mut lists.prompts, "prompts", firsts(prompts, "name"));
    (lists, fault)
}

/// One that says nothing at all of itself may still have tools.
fn offers(peer: &Peer, name: &str) -> bool {
    let silent = peer.capabilities.as_object().is_none_or(Map::is_empty);
    peer.can(name) || (silent && name == "tools")
}

/// The first of each name, or whatever it is asked for by: what has none, or that of another, cannot be asked for.
fn once(mut items: Vec<Value>, key: &str) -> Vec<Value> {
    let mut seen = HashSet::new();
    items.retain(|item| {
        let own = item.get(key).and_then(Value::as_str);
        own.is_some_and(|own| seen.insert(own.to_owned()))
    });
    items
}

/// Tools that can be called: each with a name that no other has and, over HTTP, with marks that can be followed.
fn usable(tools: Vec<Value>, connection: &Connection, peer: &Peer) -> Vec<Value> {
    let mut tools = once(tools, "name");
    if connection.is_http() && peer.era == Era::Modern {
        let server = &connection.exchange.hooks.server;
        let headers = ParamHeaders::of_tools(&mut tools, server);
        connection.param_headers.store(Arc::new(headers));
    }
    tools
}

struct Reader<'a> {
    connection: &'a Connection,
    settings: &'a Settings,
    talk: Talk,
}

impl Reader<'_> {
    async fn list_if(
        &self,
        wanted: Option<bool>,
        method: &str,
        member: &str,
    ) -> Option<Result<Vec<Value>, Fault>> {
        match wanted? {
            true => Some(self.list(method, member).await),
            // It may have had some, in another life.
            false => Some(Ok(Vec::new())),
        }
    }

    async fn list(&self, method: &str, member: &str) -> Result<Vec<Value>, Fault> {
        let mut items = Vec::new();
        let mut params = Map::new();
        let mut bytes = 0;
        for _ in 0..self.settings.pages_max {
            let answer = self
                .connection
                .ask(method, Params::Of(&params), &self.talk, 1)
                .await;
            let page = match answer {
                // It has no such list, whatever it said before.
                Err(fault)
                    if fault
                        .rpc()
                        .is_some_and(|error| error.code == code::NO_METHOD) =>
                {
                    return Ok(items);
                }
                page => page?,
            };
            // Before it is taken apart, which takes many times as much.
            bytes += page.get().len();
            if bytes > self.settings.list_bytes_max {
                let why = format!("it has more than {} bytes", self.settings.list_bytes_max);
                return Err(Fault::Protocol(why));
            }
            let is_long = page.get().len() > self.settings.item_bytes_max;
            let mut page = tree(&page);
            let found = page.get_mut(member).map(Value::take);
            let Some(Value::Array(mut found)) = found else {
                let why = format!("its answer to '{method}' has no '{member}'");
                return Err(Fault::Protocol(why));
            };
            if is_long {
                found.retain(|item| self.is_short(item, member));
            }
            items.extend(found);
            if items.len() > self.settings.items_max {
                let why = format!("it is longer than {}", self.settings.items_max);
                return Err(Fault::Protocol(why));
            }
            match page.get_mut("nextCursor").map(Value::take) {
                Some(Value::String(cursor)) if !cursor.is_empty() => {
                    params.insert("cursor".to_owned(), cursor.into())
                }
                _ => return Ok(items),
            };
        }
        let why = format!("it has more than {} pages", self.settings.pages_max);
        Err(Fault::Protocol(why))
    }

    /// Whether something is short enough to be listed. One that is not spoils no other.
    fn is_short(&self, item: &Value, member: &str) -> bool {
        let bytes = item.to_string().len();
        let is_short = bytes <= self.settings.item_bytes_max;
        if !is_short {
            let server = &self.connection.exchange.hooks.server;
            let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
            let name: String = name.chars().take(100).collect();
            tracing::warn!(%server, member, name, bytes, "what it lists is too long, and left out");
        }
        is_short
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_listed_twice_counts_once() {
        let prompt = |name: &str, title: u32| json!({"name": name, "title": title});
        let listed = vec![
            prompt("a", 1),
            prompt("b", 2),
            prompt("a", 3),
            json!({"title": 4}),
            json!("a"),
        ];
        assert_eq!(once(listed, "name"), [prompt("a", 1), prompt("b", 2)]);
    }
}
