//! Addresses of resources: which server one leads to, and how one is written that would lead to another server, or to none.

use app::App;
use catalog::caller::Caller;
use mcp::upstream::{Lists, Upstream};
use mcp::wire::Members;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What stands before an address that would not lead to its server by itself: `toolcrib+SERVER:ADDRESS`.
const OWN: &str = "toolcrib+";

/// The form of an address that leads to one server, whoever else has it.
pub(crate) fn named(server: &str, uri: &str) -> String {
    format!("{OWN}{server}:{uri}")
}

/// The server that such a form names, and the address there.
pub(crate) fn parts(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(OWN)?.split_once(':')
}

/// How surely a resource is somebody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is listed, or asked for by the name of its server.
    Listed,
    /// It could have been made from a template.
    Template,
}

/// Who has a resource, and what it is called there.
#[derive(Clone)]
pub(crate) struct Holder {
    pub(crate) server: Arc<Upstream>,
    pub(crate) own: String,
    pub(crate) fit: Fit,
}

/// The server that has a resource, as far as this caller may use it.
pub(crate) fn holder(app: &App, caller: &Caller, uri: &str) -> Option<Holder> {
    holders(app, caller, [uri]).remove(uri)
}

/// Of several at once.
fn holders<'a>(
    app: &App,
    caller: &Caller,
    uris: impl IntoIterator<Item = &'a str>,
) -> HashMap<&'a str, Holder> {
    let may = |server: &Upstream, own: &str| {
        let name = format!("{}.{own}", server.name());
        app.may_use(caller, &name)
    };
    let held = |server: &Arc<Upstream>, own: &str, fit| Holder {
        server: Arc::clone(server),
        own: own.to_owned(),
        fit,
    };
    let (mut found, mut wanted) = (HashMap::new(), HashSet::new());
    for uri in uris {
        let Some((server, own)) = parts(uri) else {
            wanted.insert(uri);
            continue;
        };
        let server = app.upstreams.get(server).filter(|it| may(it, own));
        found.extend(server.map(|server| (uri, held(&server, own, Fit::Listed))));
    }
    if wanted.is_empty() {
        return found;
    }
    let offers = |server: Arc<Upstream>| {
        let lists = app.upstreams.lists_of(&server, caller.user);
        (server, lists)
    };
    let all: Vec<(Arc<Upstream>, Arc<Lists>)> =
        app.upstreams.all().into_iter().map(offers).collect();
    for (server, lists) in &all {
        wanted.retain(|&uri| {
            let is_listed = lists.has_resource(uri) && may(server, uri);
            if is_listed {
                found.insert(uri, held(server, uri, Fit::Listed));
            }
            !is_listed
        });
    }
    for (server, lists) in &all {
        let templates = lists.templates.iter();
        let templates: Vec<&str> = templates
            .filter_map(|it| it["uriTemplate"].as_str())
            .collect();
        wanted.retain(|&uri| {
            let fits = templates.iter().any(|it| fits_template(it, uri)) && may(server, uri);
            if fits {
                found.insert(uri, held(server, uri, Fit::Template));
            }
            !fits
        });
    }
    found
}

/// Whether an address could have been made from a template: what stands between the braces may be anything.
fn fits_template(template: &str, uri: &str) -> bool {
    let mut pieces = template.split('{');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = uri.strip_prefix(first) else {
        return false;
    };
    let fixed = pieces.map(|piece| piece.split_once('}').map_or("", |(_, fixed)| fixed));
    let mut fixed: Vec<&str> = fixed.collect();
    let Some(last) = fixed.pop() else {
        return rest.is_empty();
    };
    for piece in fixed {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    // What stands between the last braces may hold the same as what follows on them.
    rest.ends_with(last)
}

/// What one server says to a caller: the addresses in it lead back to that server, or are made to.
pub(crate) struct Said<'a> {
    pub(crate) app: &'a App,
    pub(crate) caller: &'a Caller,
    pub(crate) server: &'a str,
}

impl Said<'_> {
    /// The addresses that have to be written in another way, with that way.
    fn rewritten<'u>(&self, uris: HashSet<&'u str>) -> HashMap<&'u str, String> {
        let Some(server) = self.app.upstreams.get(self.server) else {
            return HashMap::new();
        };
        let able = server.status().capabilities;
        if uris.is_empty() || able.is_some_and(|able| able.get("resources").is_none()) {
            // Whoever has no resources tells of something else, such as a file or a page.
            return HashMap::new();
        }
        let holders = holders(self.app, self.caller, uris.iter().copied());
        let lists = self.app.upstreams.lists_of(&server, self.caller.user);
        let leads_away = |uri: &&str| {
            let leads_back = holders
                .get(*uri)
                .is_some_and(|it| it.server.name() == self.server);
            // A page of the web is fetched from there, unless it is a resource of the server as well.
            !leads_back && (!is_web(uri) || lists.has_resource(uri))
        };
        let away = uris.into_iter().filter(leads_away);
        away.map(|uri| (uri, named(self.server, uri))).collect()
    }

    /// The result of a tool, where something in it has to be written in another way. All else stays as it came.
    pub(crate) fn tool_result(&self, raw: &RawValue) -> Option<Box<RawValue>> {
        let whole = raw.get();
        let links = links_in(raw);
        let read: Vec<(&RawValue, String)> = links
            .into_iter()
            .filter_map(|link| Some((link, serde_json::from_str(link.get()).ok()?)))
            .collect();
        let rewritten = self.rewritten(read.iter().map(|(_, uri)| uri.as_str()).collect());
        if rewritten.is_empty() {
            return None;
        }
        let mut text = String::with_capacity(whole.len() + rewritten.len() * 64);
        let mut done = 0;
        for (link, uri) in &read {
            let Some(new) = rewritten.get(uri.as_str()) else {
                continue;
            };
            // It is a part of the whole, in which one stands behind the other.
            let start = link.get().as_ptr().addr() - whole.as_ptr().addr();
            text.push_str(&whole[done..start]);
            text.push_str(&Value::from(new.as_str()).to_string());
            done = start + link.get().len();
        }
        text.push_str(&whole[done..]);
        RawValue::from_string(text).ok()
    }

    /// The messages of a prompt.
    pub(crate) fn prompt(&self, result: &mut Value) {
        let messages = result.get_mut("messages").and_then(Value::as_array_mut);
        let contents = messages.into_iter().flatten();
        let contents = contents.filter_map(|it| it.get_mut("content"));
        let blocks = contents.flat_map(|content| match content {
            Value::Array(blocks) => blocks.iter_mut().collect::<Vec<_>>(),
            one => vec![one],
        });
        self.write(blocks.filter_map(link_of).collect());
    }

    /// What was read of a resource that was asked for by `asked`, which is `own` at the server.
    pub(crate) fn contents(&self, result: &mut Value, asked: &str, own: &str) {
        let contents = result.get_mut("contents").and_then(Value::as_array_mut);
        let contents = contents.into_iter().flatten();
        let mut others = Vec::new();
        for link in contents.filter_map(|it| it.get_mut("uri")) {
            match link.as_str() {
                Some(uri) if uri == own => *link = asked.into(),
                // Whoever asked by the server's name goes on asking so.
                Some(uri) if asked != own => *link = named(self.server, uri).into(),
                _ => others.push(link),
            }
        }
        self.write(others);
    }

    fn write(&self, links: Vec<&mut Value>) {
        let uris: Vec<String> = links
            .iter()
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect();
        let rewritten = self.rewritten(uris.iter().map(String::as_str).collect());
        for link in links {
            if let Some(new) = link.as_str().and_then(|uri| rewritten.get(uri)) {
                *link = new.as_str().into();
            }
        }
    }
}

fn is_web(uri: &str) -> bool {
    uri.starts_with("https://") || uri.starts_with("http://")
}

/// Whether there may be a link in a result. It is asked of each, so nothing is read for it.
pub(crate) fn may_link(raw: &RawValue) -> bool {
    raw.get().contains("\"resource")
}

/// The addresses in the content of a tool's result, in their order.
fn links_in(raw: &RawValue) -> Vec<&RawValue> {
    let members = Members::of(raw);
    let content = members.get("content").map_or("", RawValue::get);
    let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
    let links = blocks.into_iter().filter_map(|block| {
        let block = Members::of(block);
        match &*block.text("type")? {
            "resource_link" => block.get("uri"),
            "resource" => Members::of(block.get("resource")?).get("uri"),
            _ => None,
        }
    });
    links.collect()
}

/// The address in one block of content, if it has one.
fn link_of(block: &mut Value) -> Option<&mut Value> {
    match block["type"].as_str() {
        Some("resource_link") => block.get_mut("uri"),
        Some("resource") => block.get_mut("resource")?.get_mut("uri"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_fits_the_template_it_was_made_from() {
        assert!(fits_template("test://t/{id}/data", "test://t/1/data"));
        assert!(fits_template("demo://r/{id}", "demo://r/12"));
        assert!(fits_template("file:///{+path}", "file:///a/b"));
        assert!(fits_template("a://{x}/data", "a://1/data/2/data"));
        assert!(fits_template("a://{x}/b/{y}/data", "a://1/b/2/data/data"));
        assert!(!fits_template("a://{x}/b/{y}b/", "a://1/b/"));
        assert!(!fits_template("a://{x}/data", "a://1/data/2"));
        assert!(!fits_template("test://t/{id}/data", "test://t/1/other"));
        assert!(!fits_template("test://t/{id}/data", "test://x/1/data"));
        assert!(!fits_template("test://t", "test://t/1"));
    }

    #[test]
    fn an_address_of_a_server_is_told_apart() {
        let one = named("b", "x://a");
        assert_eq!(parts(&one), Some(("b", "x://a")));
        let of_another_toolcrib = named("a", &one);
        assert_eq!(parts(&of_another_toolcrib), Some(("a", one.as_str())));
        assert_eq!(parts("x://a"), None);
    }

    #[test]
    fn links_are_found_where_they_are() {
        let text = r#"{"content":[{"type":"text","text":"\"resource"},{"type":"resource_link","uri":"x:\/\/1"},1,
            {"resource":{"uri":"x://2","text":""},"type":"resource"},{"type":"image","uri":"x://3"}],"structuredContent":{"type":"resource_link","uri":"x://4"}}"#;
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        assert!(may_link(&raw));
        let links: Vec<&str> = links_in(&raw).into_iter().map(RawValue::get).collect();
        assert_eq!(links, [r#""x:\/\/1""#, r#""x://2""#]);
        for plain in [r#"{"content":[]}"#, r#"{"content":1}"#, "[]"] {
            let raw = RawValue::from_string(plain.to_owned()).unwrap();
            assert!(!may_link(&raw) && links_in(&raw).is_empty(), "{plain}");
        }
    }
}
