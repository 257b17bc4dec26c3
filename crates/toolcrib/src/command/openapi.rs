//! `toolcrib import openapi`: the operations of a document as HTTP tools, each stored like any other, so that what is wrong
//! with one keeps no other out. `toolcrib export openapi`: our tools as such a document.

use super::taken_over::TakenOver;
use super::tools::{path, text, whole};
use crate::cli::OpenApiImport;
use crate::client::{Client, query};
use crate::context::Context;
use crate::out::{Cause, Failure, Out, Result};
use openapi::sharing::{Uses, objections, origin};
use openapi::{Imported, Made, Options};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// How to come by JSON where somebody has YAML.
const CONVERT: &str = "a document in YAML is converted first, for example with `npx js-yaml FILE.yaml > FILE.json`, or with python3 and its yaml package";

pub(crate) async fn import(context: &Context, args: &OpenApiImport) -> Result {
    let document = document(&args.file)?;
    let options = options(args)?;
    let imported = openapi::read(&document, &options)
        .map_err(|why| Failure::failed(format!("{}: {why}", args.file.display())))?;
    let out = &context.out;
    if imported.tools.is_empty() && imported.left_out.is_empty() {
        return Err(
            Failure::failed("there is nothing to take over: no operation fits")
                .hint("--preview without --pick lists all operations"),
        );
    }
    if args.preview {
        preview(out, &imported);
        return Ok(());
    }
    let mut told = TakenOver::default();
    let done = Client::with(context, async |client| {
        check_secrets(client, &imported, args.share_secrets).await?;
        for made in &imported.tools {
            take_over(client, made, args, &mut told).await?;
        }
        Ok(())
    })
    .await;
    match done {
        // What was done until nobody answered any more is told all the same.
        Err(failure) if told.is_any() => {
            told.failed.extend(failure.errors);
        }
        Err(failure) => return Err(failure),
        Ok(()) => {}
    }
    tell(out, &imported, &told, args.dry_run)
}

fn document(file: &Path) -> Result<Value> {
    let shown = file.display();
    let failed =
        |why: &dyn std::fmt::Display| Failure::failed(format!("{shown} cannot be read: {why}"));
    let text = match file.to_str() {
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| failed(&error))?;
            text
        }
        _ => std::fs::read_to_string(file).map_err(|error| failed(&error))?,
    };
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| match text.trim_start().starts_with('{') {
        true => failed(&error),
        false => failed(&"it is no JSON").hint(CONVERT),
    })
}

fn options(args: &OpenApiImport) -> Result<Options> {
    let mut options = Options {
        base_url: args.base_url.clone(),
        pick: args.pick.clone(),
        prefix: args.prefix.clone(),
        ..Options::default()
    };
    for auth in &args.auth {
        match auth.split_once('=') {
            None if auth == "none" => options.no_auth = true,
            Some((scheme, secret))
                if !scheme.is_empty() && catalog::tool::is_valid_name(secret) =>
            {
                options.secrets.insert(scheme.to_owned(), secret.to_owned());
            }
            _ => {
                return Err(Failure::usage(format!(
                    "--auth '{auth}': expected SCHEME=SECRET, the name of a scheme of the document and that of a secret, or none"
                )));
            }
        }
    }
    Ok(options)
}

/// Every address that the tools would call, and which secrets each would be shown: a document may name any.
fn places(imported: &Imported) -> BTreeMap<String, Vec<&str>> {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for made in &imported.tools {
        let base = made.definition["config"]["base_url"].as_str();
        places.entry(origin(base.unwrap_or_default())).or_default();
    }
    for secret in &imported.secrets {
        for place in &secret.shown_to {
            let shown = places.entry(place.clone()).or_default();
            shown.push(&secret.name);
        }
    }
    places
}

/// Every operation with what becomes of it.
fn preview(out: &Out, imported: &Imported) {
    // What the secrets are for by now is known only to who is asked for it.
    let objections = objections(&imported.secrets, &Uses::new());
    if out.json {
        out.value(&json!({
            "title": imported.title, "secrets": secrets(imported), "left_out": left_out(imported), "objections": objections,
            "calls": places(imported).into_iter().map(|(place, secrets)| json!({"address": place, "secrets": secrets})).collect::<Vec<_>>(),
            "tools": imported.tools.iter().map(|made| json!({
                "name": made.name, "method": made.method, "path": made.path, "lost": made.lost, "definition": made.definition,
            })).collect::<Vec<_>>(),
        }));
        return;
    }
    let made = imported.tools.iter().map(|made| {
        let lost = made.lost.join("; ");
        [&made.name, &made.method, &made.path, &lost]
            .map(Clone::clone)
            .to_vec()
    });
    let left = imported.left_out.iter().map(|it| {
        let why = format!("left out: {}", it.why);
        vec!["-".to_owned(), it.method.clone(), it.path.clone(), why]
    });
    let rows: Vec<Vec<String>> = made.chain(left).collect();
    out.table(&["name", "method", "path", "lost"], &rows);
    for it in &imported.secrets {
        out.done(format!("needs the secret {}: {}", it.name, it.what));
    }
    for (place, secrets) in places(imported) {
        out.done(match secrets.is_empty() {
            true => format!("calls {place}"),
            false => format!("calls {place} and shows it {}", secrets.join(", ")),
        });
    }
    objections.iter().for_each(|it| out.warn(it));
    out.done(format!(
        "{} operations: {} tools, {} left out",
        rows.len(),
        imported.tools.len(),
        imported.left_out.len()
    ));
}

fn secrets(imported: &Imported) -> Vec<Value> {
    let all = imported.secrets.iter();
    all.map(|it| json!({"name": it.name, "what": it.what, "shown_to": it.shown_to}))
        .collect()
}

fn left_out(imported: &Imported) -> Vec<Value> {
    let all = imported.left_out.iter();
    all.map(|it| json!({"method": it.method, "path": it.path, "why": it.why}))
        .collect()
}

/// A tool that refers to a secret which is not there is refused; that is told once, and not for each. Nor does a document choose
/// who is shown a secret that is there, unless somebody agrees.
async fn check_secrets(client: &Client, imported: &Imported, shares: bool) -> Result {
    if imported.secrets.is_empty() {
        return Ok(());
    }
    let page = whole(client, "/api/v1/secrets").await?;
    let items = page["items"].as_array().into_iter().flatten();
    let own: Uses = items
        .map(|it| (text(it, "name").to_owned(), used_for(it)))
        .collect();
    let needed = imported.secrets.iter();
    let missing = needed.filter(|it| !own.contains_key(&it.name)).map(|it| {
        let (name, what) = (&it.name, &it.what);
        format!("the secret '{name}' is not set, {what}: `toolcrib secrets set {name}`")
    });
    let missing: Vec<String> = missing.collect();
    let objections = match shares {
        true => Vec::new(),
        false => objections(&imported.secrets, &own),
    };
    let mut failure = Failure::failed("");
    if !missing.is_empty() {
        failure = failure.hint("nothing was taken over; set them, use one that is there with --auth SCHEME=SECRET, or leave it out with --auth none");
    }
    if !objections.is_empty() {
        failure = failure.hint("nothing was taken over, because the document itself chose these secrets: name the one that is meant with --auth SCHEME=SECRET, the same or one of its own, or agree to all of it with --share-secrets");
    }
    failure.errors = [missing, objections].concat();
    match failure.errors.is_empty() {
        true => Ok(()),
        false => Err(failure),
    }
}

/// What a secret that is there is for by now.
fn used_for(secret: &Value) -> BTreeSet<String> {
    let all = secret["used_for"].as_array().into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

async fn take_over(
    client: &Client,
    made: &Made,
    args: &OpenApiImport,
    told: &mut TakenOver,
) -> Result {
    let name = &made.name;
    let asked = |dry_run: bool| query(&[("dry_run", dry_run.then(|| "true".to_owned()))]);
    let send = async |method: &str, to: String| {
        let mut body = made.definition.clone();
        // What a replacement leaves out would be kept.
        if method == "PUT" && body.get("auth_config").is_none() {
            body["auth_config"] = Value::Null;
        }
        client.request(method, &to, Some(body)).await?.ok()
    };
    let there = client.request("GET", &path(name), None).await?;
    let done = match there.status {
        404 => send("POST", format!("/api/v1/tools{}", asked(args.dry_run)))
            .await
            .map(|_| &mut told.added),
        200 => match send("PUT", format!("{}{}", path(name), asked(true))).await {
            Ok(tried) if tried["hash"] == there.value()["hash"] => Ok(&mut told.same),
            Ok(_) if !args.force => {
                told.failed.push(format!("{name}: there is another tool of that name; use --prefix, or replace it with --force"));
                return Ok(());
            }
            Ok(_) if args.dry_run => Ok(&mut told.replaced),
            Ok(_) => send("PUT", path(name)).await.map(|_| &mut told.replaced),
            Err(failure) => Err(failure),
        },
        _ => Err(there.failure()),
    };
    match done {
        Ok(list) => list.push(name.clone()),
        Err(failure) if failure.cause == Cause::Unreachable => return Err(failure),
        Err(failure) => told
            .failed
            .push(format!("{name}: {}", failure.errors.join("; "))),
    }
    Ok(())
}

fn tell(out: &Out, imported: &Imported, told: &TakenOver, dry_run: bool) -> Result {
    let lossy: Vec<Value> = imported
        .tools
        .iter()
        .filter(|made| !made.lost.is_empty())
        .map(|made| json!({"name": made.name, "lost": made.lost}))
        .collect();
    if out.json {
        out.value(&json!({
            "added": told.added, "replaced": told.replaced, "unchanged": told.same, "failed": told.failed,
            "left_out": left_out(imported), "lost": lossy, "dry_run": dry_run,
        }));
    }
    for it in &imported.left_out {
        out.warn(format!("{} {} is left out: {}", it.method, it.path, it.why));
    }
    if !lossy.is_empty() && !out.json {
        out.warn(format!(
            "{} tools cannot do all that their operations can; --preview says what is lost",
            lossy.len()
        ));
    }
    told.tell(out, dry_run)
}

pub(crate) async fn export(context: &Context, toolset: Option<&str>) -> Result {
    let asked = query(&[("toolset", toolset.map(str::to_owned))]);
    let to = format!("/api/v1/openapi/tools{asked}");
    let mut document = Client::with(context, async |client| client.get(&to).await).await?;
    if let Some(url) = context.server_url() {
        document["servers"] = json!([{"url": url.trim_end_matches('/')}]);
    }
    context.out.line(format!("{document:#}"));
    Ok(())
}
