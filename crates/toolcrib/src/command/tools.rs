//! `toolcrib tools`: list, show, change and try out tools, and their history.

use super::definition::{How, send, with_shelf};
use super::input::Input;
use super::{confirmed, effect, history};
use crate::cli::{ToolFilter, Tools, Trial};
use crate::client::{Client, encode, query};
use crate::context::Context;
use crate::out::{Out, Paint, Result, printable};
use serde_json::{Value, json};

/// The most a page of the API holds.
const PAGE_MAX: usize = 500;

pub(crate) async fn run(context: &Context, command: Tools) -> Result {
    let out = &context.out;
    match command {
        Tools::List(filter) => list(context, filter).await,
        Tools::Search { words, limit } => super::search::run(context, &words, limit).await,
        Tools::Show { name } => {
            let tool = Client::with(context, async |client| client.get(&path(&name)).await).await?;
            show(out, &tool);
            Ok(())
        }
        Tools::Add {
            definition,
            making,
            shelf,
            trial,
        } => {
            let input = super::made::definition(context, definition.as_deref(), &making)?;
            let input = with_shelf(input, shelf.as_deref())?;
            if making.print {
                out.line(&input.text);
                return Ok(());
            }
            let path = format!("/api/v1/tools{}", effect::asked(&trial));
            let tool = send(context, How::Create, &path, &input).await?;
            warn(context, &tool);
            effect::show(out, &tool["effect"]);
            let done = match trial.dry_run {
                true => "nothing was changed; it would have added",
                false => "added",
            };
            told(out, &tool, done)
        }
        Tools::Update {
            name,
            definition,
            patch,
            trial,
        } => {
            let how = if patch { How::Patch } else { How::Replace };
            update(context, how, &name, &definition, &trial).await
        }
        Tools::Remove { name } => {
            let ask =
                async |client: &Client| client.request("DELETE", &path(&name), None).await?.ok();
            Client::with(context, ask).await?;
            if out.json {
                out.value(&json!({"name": name, "removed": true}));
            }
            out.done(format!(
                "removed {name}; `toolcrib tools restore {name}` brings it back"
            ));
            Ok(())
        }
        Tools::Enable { name } => set_active(context, &name, true).await,
        Tools::Disable { name } => set_active(context, &name, false).await,
        Tools::Test { names, file } => super::cases::run(context, &names, file.as_deref()).await,
        Tools::Explain { name, arguments } => explain(context, &name, arguments.as_deref()).await,
        Tools::History {
            name,
            diff: Some(version),
            ..
        } => history::diff(context, &name, version).await,
        Tools::History {
            name,
            diff: None,
            limit,
        } => history::list(context, &name, limit).await,
        Tools::Rollback { name, version } => history::rollback(context, &name, version).await,
        Tools::Restore { name } => {
            let tool = post(context, &format!("{}/restore", path(&name)), json!({})).await?;
            told(out, &tool, "restored")
        }
        Tools::Confirming(command) => confirmed::run(context, command).await,
    }
}

async fn update(
    context: &Context,
    how: How,
    name: &str,
    definition: &str,
    trial: &Trial,
) -> Result {
    let input = Input::definition(definition)?;
    let path = format!("{}{}", path(name), effect::asked(trial));
    let tool = send(context, how, &path, &input).await?;
    warn(context, &tool);
    effect::show(&context.out, &tool["effect"]);
    let done = match trial.dry_run {
        true => "nothing was changed; it would have updated",
        false => "updated",
    };
    told(&context.out, &tool, done)
}

async fn explain(context: &Context, name: &str, arguments: Option<&str>) -> Result {
    let arguments = match arguments {
        None => Value::Null,
        Some(given) => super::call::read_json(given)?,
    };
    let body = json!({"arguments": arguments});
    let plan = post(context, &format!("{}/explain", path(name)), body).await?;
    let out = &context.out;
    out.value(if out.json { &plan } else { &plan["plan"] });
    if let Some(note) = plan["note"].as_str().filter(|_| !out.json) {
        out.warn(note);
    }
    Ok(())
}

pub(super) fn path(name: &str) -> String {
    format!("/api/v1/tools/{}", encode(name))
}

async fn post(context: &Context, path: &str, body: Value) -> Result<Value> {
    Client::with(context, async |client| {
        client.request("POST", path, Some(body)).await?.ok()
    })
    .await
}

/// Says what keeps a tool from working that was stored all the same.
fn warn(context: &Context, tool: &Value) {
    let scripts = super::scripts::faults(context, std::slice::from_ref(tool));
    let script = scripts.first().map(|(_, why)| why.as_str());
    if let Some(why) = tool["trouble"].as_str().or(script) {
        context.out.warn(format!(
            "'{}' may not work as it is: {why}",
            text(tool, "name")
        ));
    }
    for rule in tool["rules"].as_array().into_iter().flatten() {
        let rule = printable(rule.as_str().unwrap_or_default());
        context.out.note(format!("its description says: {rule}"));
    }
}

async fn set_active(context: &Context, name: &str, active: bool) -> Result {
    let path = path(name);
    let (before, tool) = Client::with(context, async |client| {
        let before = version_of(client, &path).await?;
        let body = json!({"is_active": active});
        let tool = client.request("PATCH", &path, Some(body)).await?.ok()?;
        Ok((before, tool))
    })
    .await?;
    let done = if active { "enabled" } else { "disabled" };
    if before == tool["version"] {
        return unchanged(&context.out, &tool, done);
    }
    told(&context.out, &tool, done)
}

/// What a tool's version is now, to see afterwards whether anything was changed.
pub(super) async fn version_of(client: &Client, path: &str) -> Result<Value> {
    Ok(client.get(path).await?["version"].clone())
}

pub(super) fn told(out: &Out, tool: &Value, done: &str) -> Result {
    if out.json {
        out.value(tool);
    } else {
        out.done(format!(
            "{done} {} (version {}, {} shelf)",
            text(tool, "name"),
            tool["version"],
            text(tool, "shelf")
        ));
    }
    Ok(())
}

/// Nothing was to be done, which even a script's log should tell.
pub(super) fn unchanged(out: &Out, tool: &Value, how: &str) -> Result {
    if out.json {
        out.value(tool);
    }
    out.say(format!(
        "{} is already {how} (version {})",
        text(tool, "name"),
        tool["version"]
    ));
    Ok(())
}

async fn list(context: &Context, filter: ToolFilter) -> Result {
    let wanted = filter.limit.map_or(usize::MAX, |limit| limit as usize);
    let asked = [
        ("q", filter.q.clone()),
        ("kind", filter.kind.clone()),
        ("active", filter.active.map(|active| active.to_string())),
        ("shelf", filter.shelf.clone()),
        ("source", filter.source.clone()),
        ("server", filter.server.clone()),
        ("risk", filter.risk.clone()),
    ];
    let items = Client::with(context, async |client| all(client, &asked, wanted).await).await?;
    let out = &context.out;
    if out.json {
        out.value(&json!({"items": items, "next_cursor": null}));
        return Ok(());
    }
    let row = |tool: &Value| {
        let tested = &tool["tested"];
        let state = match (&tool["is_active"], tested["failed"].as_i64()) {
            (Value::Bool(false), _) => "off".to_owned(),
            (_, Some(_)) if tested["is_current"] == false => "on, tests outdated".to_owned(),
            (_, Some(failed)) if failed > 0 => format!("on, {failed} failing"),
            _ => "on".to_owned(),
        };
        let about = tool["description_user"]
            .as_str()
            .unwrap_or(text(tool, "description"));
        let version = tool["version"].to_string();
        [
            text(tool, "name"),
            text(tool, "kind"),
            text(tool, "shelf"),
            &version,
            &state,
            about,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    out.table(
        &["name", "kind", "shelf", "version", "state", "description"],
        &rows,
    );
    Ok(())
}

/// Tools as the server lists them, up to as many as are wanted.
pub(crate) async fn all(
    client: &Client,
    asked: &[(&str, Option<String>)],
    wanted: usize,
) -> Result<Vec<Value>> {
    pages(client, "/api/v1/tools", asked, wanted).await
}

/// What the server lists at an address, page after page, up to as many as are wanted.
pub(super) async fn pages(
    client: &Client,
    path: &str,
    asked: &[(&str, Option<String>)],
    wanted: usize,
) -> Result<Vec<Value>> {
    let mut items = Vec::new();
    let mut cursor = None;
    while items.len() < wanted {
        let limit = (wanted - items.len()).min(PAGE_MAX).to_string();
        let paged = [("limit", Some(limit)), ("cursor", cursor)];
        let query = query(&[asked, &paged].concat());
        let page = client.get(&format!("{path}{query}")).await?;
        items.extend(page["items"].as_array().into_iter().flatten().cloned());
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    Ok(items)
}

/// A list as the server answers it, but whole.
pub(super) async fn whole(client: &Client, path: &str) -> Result<Value> {
    let items = pages(client, path, &[], usize::MAX).await?;
    Ok(json!({"items": items, "next_cursor": null}))
}

/// For people the members one below the other, for programs the JSON.
pub(super) fn show(out: &Out, tool: &Value) {
    if out.json || !out.terminal {
        out.value(tool);
        return;
    }
    for (name, value) in tool.as_object().into_iter().flatten() {
        let shown = match value {
            Value::Null => continue,
            Value::Array(items) if items.is_empty() => continue,
            Value::String(text) => text.clone(),
            Value::Object(_) | Value::Array(_) => {
                serde_json::to_string_pretty(value).unwrap_or_default()
            }
            other => other.to_string(),
        };
        let label = out.paint(Paint::Bold, name);
        let indented = printable(&shown).replace('\n', "\n    ");
        out.line(format!("{label}: {indented}"));
    }
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
