//! Resources and prompts: what the upstream servers offer besides tools, listed together and passed on.

use crate::addresses::{self, Fit, Holder, Said, named};
use crate::context::{Context, Params, invalid};
use crate::fixtures;
use crate::followed::Follow;
use crate::listing::{cursor, page};
use crate::parked::{Pending, Underway};
use crate::prompts::{self, PlainPrompts};
use crate::result::Done;
use crate::upstream::{self, ask, failed};
use catalog::names::Names;
use executor::Talk;
use executor::line::line;
use mcp::upstream::{Lists, Upstream};
use mcp::wire::{Era, RpcError, code};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use tokio::task::JoinSet;

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    Resources,
    Templates,
    Prompts,
}

impl Offer {
    pub(crate) fn member(self) -> &'static str {
        match self {
            Offer::Resources => "resources",
            Offer::Templates => "resourceTemplates",
            Offer::Prompts => "prompts",
        }
    }

    /// What an item is called by.
    fn key(self) -> &'static str {
        match self {
            Offer::Resources => "uri",
            Offer::Templates => "uriTemplate",
            Offer::Prompts => "name",
        }
    }

    fn of(self, lists: &Lists) -> &[Value] {
        match self {
            Offer::Resources => &lists.resources,
            Offer::Templates => &lists.templates,
            Offer::Prompts => &lists.prompts,
        }
    }
}

/// The servers, in the order of their names.
fn servers(context: &Context) -> Vec<Arc<Upstream>> {
    let mut all = context.face.app.upstreams.all();
    all.sort_by(|a, b| a.name().cmp(b.name()));
    all
}

/// Lets those servers that know everybody by themselves say what this caller has there.
async fn gather(context: &Context) {
    let mut asked = JoinSet::new();
    for server in servers(context).into_iter().filter(|it| it.is_of_many()) {
        let (app, user) = (Arc::clone(&context.face.app), context.caller.user);
        asked.spawn(async move { app.upstreams.listed_of(&server, user).await });
    }
    while asked.join_next().await.is_some() {}
}

/// What a server offers to this caller: the resources of somebody else are nothing to them.
fn offered(context: &Context, server: &Arc<Upstream>, offer: Offer) -> Arc<Lists> {
    match offer {
        Offer::Prompts => server.lists(),
        Offer::Resources | Offer::Templates => {
            let all = &context.face.app.upstreams;
            all.lists_of(server, context.caller.user)
        }
    }
}

pub(crate) async fn list(
    context: &Context,
    offer: Offer,
    params: &Params,
) -> Result<Done, RpcError> {
    let after = cursor(params)?;
    if offer != Offer::Prompts {
        gather(context).await;
    }
    let app = &context.face.app;
    let fixed = match context.face.settings.conformance {
        true => fixtures::list(offer),
        false => Vec::new(),
    };
    let text = |item: &Value| item[offer.key()].as_str().unwrap_or_default().to_owned();
    let mut all: Vec<(String, &Value)> = fixed.iter().map(|item| (text(item), item)).collect();
    let servers = servers(context);
    let lists: Vec<(&str, Arc<Lists>)> = servers
        .iter()
        .map(|it| (it.name(), offered(context, it, offer)))
        .collect();
    let is_plain = offer == Offer::Prompts && context.face.names(&context.caller) == Names::Plain;
    let plain = is_plain.then(|| PlainPrompts::new(lists.iter().map(|(name, it)| (*name, &**it))));
    let mut taken: HashSet<&str> = HashSet::new();
    for (server, lists) in &lists {
        for item in offer.of(lists) {
            let Some(name) = item[offer.key()].as_str() else {
                continue;
            };
            let own = format!("{server}.{name}");
            if !app.may_use(&context.caller, &own) {
                continue;
            }
            let shown = match offer {
                Offer::Prompts => match &plain {
                    Some(plain) => plain.of(server, name),
                    None => own,
                },
                // What looks like ours is of another Toolcrib, and would not be looked for there.
                _ if addresses::parts(name).is_none() && taken.insert(name) => name.to_owned(),
                _ => named(server, name),
            };
            all.push((shown, item));
        }
    }
    let (range, next) = page(&all, |(name, _)| name, after.as_deref());
    let items = all.drain(range).map(|(shown, item)| {
        let mut item = item.clone();
        item[offer.key()] = shown.into();
        item
    });
    let items: Vec<Value> = items.collect();
    let mut result = json!({offer.member(): items});
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    Ok(Done::value(result).cached(context.era()))
}

/// Lets the client follow a resource: none where that is one of ours, which never change.
pub(crate) fn follow(context: &Context, uri: &str) -> Result<Option<Follow>, RpcError> {
    if context.face.settings.conformance && fixtures::read(uri).is_some() {
        return Ok(None);
    }
    let held = holder(context, uri).ok_or_else(|| unknown(context.era(), uri))?;
    let Holder { server, own, .. } = held;
    if server.is_of_many() {
        // The connection that could tell them is of one person, and closed when they do not call.
        let why = format!(
            "MCP server '{}' tells no changes of resources here: everybody has a connection of their own to it",
            server.name()
        );
        return Err(invalid(why));
    }
    let able = server.status().capabilities;
    // What is not known yet may turn out to be able.
    if able.is_some_and(|able| able["resources"]["subscribe"] != true) {
        let why = format!(
            "MCP server '{}' tells no changes of resources",
            server.name()
        );
        return Err(invalid(why));
    }
    Ok(Some(context.face.follow(&server, own, uri)))
}

/// Lets servers that know everybody by themselves say what this caller has there, unless it is known already who has a
/// resource: they may take seconds, and are nothing to whoever reads of another server. One that only a template fits may
/// be listed by one of them.
async fn gather_for(context: &Context, uri: &str) {
    if context.face.settings.conformance && fixtures::read(uri).is_some() {
        return;
    }
    if holder(context, uri).is_none_or(|it| it.fit != Fit::Listed) {
        gather(context).await;
    }
}

/// The server that has a resource, and what it calls it there.
fn holder(context: &Context, uri: &str) -> Option<Holder> {
    addresses::holder(&context.face.app, &context.caller, uri)
}

pub(crate) async fn read(context: &Context, params: Params) -> Result<Done, RpcError> {
    let uri = params.text("uri")?.to_owned();
    let era = context.era();
    let asked = uri.clone();
    gather_for(context, &uri).await;
    let start = move |context: &Context, params: &mut Params| {
        let fixture = context
            .face
            .settings
            .conformance
            .then(|| fixtures::read(&asked));
        if let Some(found) = fixture.flatten() {
            let work = async move { Ok(Done::value(found).cached(era)) };
            return Ok(underway(context, params, |_| Box::pin(work)));
        }
        let held = holder(context, &asked).ok_or_else(|| unknown(era, &asked))?;
        let Holder { server, own, .. } = held;
        let server = reached(context, &server)?;
        let sent = Map::from_iter([("uri".to_owned(), own.as_str().into())]);
        let (app, caller) = (Arc::clone(&context.face.app), Arc::clone(&context.caller));
        let work = |talk: Talk| -> Pending {
            Box::pin(async move {
                let who = (&*app, &*caller);
                let result = upstream::read(who, &server, "resources/read", sent, &talk).await;
                let mut result = result?;
                let said = Said {
                    app: &app,
                    caller: &caller,
                    server: server.name(),
                };
                said.contents(&mut result, &asked, &own);
                Ok(without_cache(result, era))
            })
        };
        Ok(underway(context, params, work))
    };
    context.follow("resources/read", &uri, params, start).await
}

/// How long an upstream's answer may be kept is for it to say, where it does. By whom is not: it answered one who may
/// use it here, and that is not everybody.
fn without_cache(mut result: Value, era: Era) -> Done {
    let members = result.as_object_mut();
    let said = members.and_then(|members| {
        members.remove("cacheScope");
        members.remove("ttlMs")
    });
    if let (Some(ttl), Era::Modern) = (said, era) {
        result["ttlMs"] = ttl;
        result["cacheScope"] = "private".into();
        return Done::value(result);
    }
    Done::value(result).cached(era)
}

fn unknown(era: Era, uri: &str) -> RpcError {
    let code = match era {
        Era::Modern => code::INVALID_PARAMS,
        Era::Legacy => code::NO_RESOURCE,
    };
    RpcError::new(code, "There is no such resource").with_data(json!({"uri": uri}))
}

/// A server as this caller reaches it: it may know everybody by themselves.
fn reached(context: &Context, server: &Arc<Upstream>) -> Result<Arc<Upstream>, RpcError> {
    let all = &context.face.app.upstreams;
    let own = all.of_user(server, context.caller.user);
    own.map_err(|error| failed(&context.caller, server, error))
}

/// The server of a prompt `server.prompt`, and what it calls it. The name may be the one without dots.
fn prompt(context: &Context, name: &str) -> Option<(Arc<Upstream>, String)> {
    let (server, own) = match name.split_once('.') {
        Some((server, own)) => (context.face.app.upstreams.get(server)?, own.to_owned()),
        None => prompts::meant(servers(context), name)?,
    };
    let dotted = format!("{}.{own}", server.name());
    let is_there = prompts::has(&server, &own);
    (is_there && context.face.app.may_use(&context.caller, &dotted)).then_some((server, own))
}

pub(crate) async fn get(context: &Context, params: Params) -> Result<Done, RpcError> {
    let name = params.text("name")?.to_owned();
    let asked = name.clone();
    let start = move |context: &Context, params: &mut Params| {
        let arguments = params.take("arguments").unwrap_or_else(|| json!({}));
        if context.face.settings.conformance && fixtures::has_prompt(&asked) {
            let work = |talk: Talk| -> Pending {
                Box::pin(async move {
                    fixtures::get(&asked, &arguments, &talk)
                        .await
                        .map(Done::value)
                })
            };
            return Ok(underway(context, params, work));
        }
        let none = || invalid(format!("There is no prompt '{asked}'"));
        let (server, own) = prompt(context, &asked).ok_or_else(none)?;
        let server = reached(context, &server)?;
        let sent = Map::from_iter([
            ("name".to_owned(), own.into()),
            ("arguments".to_owned(), arguments),
        ]);
        let (app, caller) = (Arc::clone(&context.face.app), Arc::clone(&context.caller));
        let work = |talk: Talk| -> Pending {
            Box::pin(async move {
                let who = (&*app, &*caller);
                let result = upstream::read(who, &server, "prompts/get", sent, &talk).await;
                let mut result = result?;
                let said = Said {
                    app: &app,
                    caller: &caller,
                    server: server.name(),
                };
                said.prompt(&mut result);
                Ok(Done::value(result))
            })
        };
        Ok(underway(context, params, work))
    };
    context.follow("prompts/get", &name, params, start).await
}

/// Completion of an argument, where its server offers it.
pub(crate) async fn complete(context: &Context, mut params: Params) -> Result<Done, RpcError> {
    let none = json!({"completion": {"values": [], "total": 0, "hasMore": false}});
    let mut about = params.take("ref").unwrap_or_default();
    let found = match about["type"].as_str() {
        Some("ref/prompt") => {
            let name = about["name"].as_str().unwrap_or_default().to_owned();
            prompt(context, &name).map(|(server, own)| {
                about["name"] = own.into();
                server
            })
        }
        Some("ref/resource") => {
            let uri = about["uri"].as_str().unwrap_or_default().to_owned();
            gather_for(context, &uri).await;
            holder(context, &uri).map(|held| {
                about["uri"] = held.own.into();
                held.server
            })
        }
        _ => return Err(invalid("params.ref must name a prompt or a resource")),
    };
    let Some(server) = found else {
        return Ok(Done::value(none));
    };
    let able = server.status().capabilities;
    if able.is_none_or(|able| able.get("completions").is_none()) {
        return Ok(Done::value(none));
    }
    let server = reached(context, &server)?;
    let mut sent = Map::from_iter([("ref".to_owned(), about)]);
    for name in ["argument", "context"] {
        if let Some(value) = params.take(name) {
            sent.insert(name.to_owned(), value);
        }
    }
    let (events, _said) = line(1);
    let talk = Talk {
        events,
        capabilities: Arc::new(json!({})),
        wants_progress: false,
        log_level: None,
    };
    let result = ask(&server, "completion/complete", sent, &talk).await;
    let result = result.map(Done::value);
    result.map_err(|it| failed(&context.caller, &server, it))
}

/// A request that may talk.
fn underway(
    context: &Context,
    params: &mut Params,
    work: impl FnOnce(Talk) -> Pending,
) -> Underway {
    let (events, said) = line(16);
    let talk = Talk {
        events,
        capabilities: Arc::clone(&context.capabilities),
        wants_progress: params.progress_token().is_some(),
        log_level: context.log_level(params),
    };
    Underway::new(work(talk), said, context, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_for_one_is_for_nobody_else() {
        let read = |members: Value, era| {
            let text = without_cache(members, era).text(era).into_string();
            let read: Value = serde_json::from_str(&text).unwrap();
            (read["ttlMs"].clone(), read["cacheScope"].clone())
        };
        let said = json!({"contents": [], "ttlMs": 5, "cacheScope": "public"});
        let private = || json!("private");
        assert_eq!(read(said.clone(), Era::Modern), (json!(5), private()));
        assert_eq!(read(said, Era::Legacy), (Value::Null, Value::Null));
        let silent = json!({"contents": [], "cacheScope": "public"});
        assert_eq!(read(silent, Era::Modern), (json!(0), private()));
    }
}
