//! `toolcrib servers`: the upstream MCP servers, how they are doing, what they offer, and what of that was changed.

use super::definition::{How, send};
use super::input::Input;
use super::limits::show;
use super::tools::{text, whole};
use crate::cli::Servers;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Out, Result};
use serde_json::{Map, Value, json};

const PATH: &str = "/api/v1/servers";

pub(crate) async fn run(context: &Context, command: Servers) -> Result {
    match command {
        Servers::List => list(context).await,
        Servers::Show { name } => {
            let path = path(&name);
            let server = Client::with(context, async |client| client.get(&path).await).await?;
            super::tools::show(&context.out, &server);
            Ok(())
        }
        Servers::Add { definition } => {
            let input = Input::definition(&definition)?;
            let server = send(context, How::Create, PATH, &input).await?;
            told(&context.out, &server, "added");
            Ok(())
        }
        Servers::Update {
            name,
            definition,
            patch,
        } => {
            let how = if patch { How::Patch } else { How::Replace };
            let input = Input::definition(&definition)?;
            let server = send(context, how, &path(&name), &input).await?;
            told(&context.out, &server, "updated");
            Ok(())
        }
        Servers::Remove { name } => {
            let path = path(&name);
            let ask = async |client: &Client| client.request("DELETE", &path, None).await?.ok();
            Client::with(context, ask).await?;
            if context.out.json {
                let gone = json!({"name": name, "removed": true});
                context.out.value(&gone);
            }
            context.out.done(format!("removed {name}"));
            Ok(())
        }
        Servers::Tools { name } => offers(context, &name, "tools").await,
        Servers::Resources { name } => offers(context, &name, "resources").await,
        Servers::Prompts { name } => offers(context, &name, "prompts").await,
        Servers::Changes { name } => {
            let path = format!("{}/changes", path(&name));
            let page = Client::with(context, async |client| client.get(&path).await).await?;
            changes(&context.out, &page);
            let is_none = page["items"].as_array().is_none_or(Vec::is_empty);
            if is_none && !context.out.json {
                let told = format!("no changes: the tools of {name} are described as before");
                context.out.done(told);
            }
            Ok(())
        }
        Servers::Approve { name, tools } => super::approve::approve(context, &name, &tools).await,
        Servers::SignIn { name } => super::sign_in::sign_in(context, &name).await,
        Servers::SignOut { name } => super::sign_in::sign_out(context, &name).await,
        Servers::Reconnect { name: Some(name) } => {
            let ask = async |client: &Client| reconnect(client, &name).await;
            let server = Client::with(context, ask).await?;
            if context.out.json {
                context.out.value(&server);
            }
            context.out.done(format!("reconnecting to {name}"));
            Ok(())
        }
        Servers::Reconnect { name: None } => reconnect_all(context).await,
    }
}

async fn reconnect(client: &Client, name: &str) -> Result<Value> {
    let path = format!("{}/reconnect", path(name));
    client.request("POST", &path, None).await?.ok()
}

/// Those that run: one that is switched off, hidden or refused has no connection.
async fn reconnect_all(context: &Context) -> Result {
    const NOT_RUNNING: [&str; 4] = ["disabled", "hidden", "refused", "stopped"];
    let servers = Client::with(context, async |client| {
        let mut servers = Vec::new();
        if matches!(client, Client::Local(_)) {
            return Ok(servers);
        }
        let page = whole(client, PATH).await?;
        for server in page["items"].as_array().into_iter().flatten() {
            if !NOT_RUNNING.contains(&text(server, "state")) {
                servers.push(reconnect(client, text(server, "name")).await?);
            }
        }
        Ok(servers)
    })
    .await?;
    let out = &context.out;
    let names: Vec<&str> = servers.iter().map(|it| text(it, "name")).collect();
    out.done(match names.is_empty() {
        true => "no server runs, so there is none to reconnect to; `toolcrib serve` runs them"
            .to_owned(),
        false => format!("reconnecting to {}", names.join(", ")),
    });
    if out.json {
        out.value(&json!({"items": servers}));
    }
    Ok(())
}

pub(super) fn path(name: &str) -> String {
    format!("{PATH}/{}", encode(name))
}

fn told(out: &Out, server: &Value, done: &str) {
    if out.json {
        return out.value(server);
    }
    let (name, state) = (text(server, "name"), text(server, "state"));
    let version = &server["version"];
    out.done(format!("{done} {name} (version {version}), now {state}"));
    if let Some(cause) = server["cause"].as_str() {
        out.done(cause);
    }
}

async fn list(context: &Context) -> Result {
    let page = Client::with(context, async |client| whole(client, PATH).await).await?;
    let row = |_: &Out, server: &Value| {
        let changed = server["changed"].as_array().map_or(0, Vec::len);
        let hidden = server["hidden_letters"].as_object().map_or(0, Map::len);
        let count = |count: usize| match count {
            0 => String::new(),
            more => more.to_string(),
        };
        vec![
            text(server, "name").to_owned(),
            text(server, "source").to_owned(),
            text(server, "transport").to_owned(),
            text(server, "state").to_owned(),
            text(server, "era").to_owned(),
            server["tools"].to_string(),
            count(changed),
            count(hidden),
            text(server, "cause").to_owned(),
        ]
    };
    let head = [
        "name",
        "source",
        "transport",
        "state",
        "era",
        "tools",
        "changed",
        "hidden letters",
        "cause",
    ];
    show(&context.out, &page, &head, row);
    Ok(())
}

async fn offers(context: &Context, name: &str, what: &str) -> Result {
    let path = format!("{}/{what}", path(name));
    let page = Client::with(context, async |client| client.get(&path).await).await?;
    let row = |_: &Out, item: &Value| {
        let called = ["uri", "uriTemplate", "name"];
        let called = called.iter().find_map(|key| item[*key].as_str());
        let about = text(item, "description").lines().next().unwrap_or_default();
        let about = catalog::letters::shown(about);
        vec![called.unwrap_or_default().to_owned(), about]
    };
    show(&context.out, &page, &["name", "description"], row);
    Ok(())
}

/// What differs, member by member, with every line that was there and that is there now.
pub(super) fn changes(out: &Out, page: &Value) {
    if out.json {
        return out.value(page);
    }
    let items = page["items"].as_array().into_iter().flatten();
    for change in items {
        let (tool, how) = (text(change, "tool"), text(change, "change"));
        let counts = match change["is_in_force"] == true {
            true => "in force",
            false => "waits for approval",
        };
        out.line(format!("{tool}: {how}, {counts}"));
        out.line(format!("  {tool}={}", text(change, "hash")));
        for letters in change["hidden_letters"].as_array().into_iter().flatten() {
            let letters = letters.as_str().unwrap_or_default();
            out.line(format!("  ! letters that cannot be seen: {letters}"));
        }
        if change["old"].is_null() {
            lines(out, '+', &change["new"]);
            continue;
        }
        for member in change["members"].as_array().into_iter().flatten() {
            let member = member.as_str().unwrap_or_default();
            out.line(format!("  {member}"));
            lines(out, '-', &change["old"][member]);
            lines(out, '+', &change["new"][member]);
        }
    }
}

fn lines(out: &Out, sign: char, value: &Value) {
    let text = match value {
        Value::Null => return,
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    for line in text.lines() {
        out.line(format!("  {sign} {line}"));
    }
}
