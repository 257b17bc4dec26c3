//! `toolcrib import h-custom-tool` and `toolcrib export h-custom-tool`: tools of another builder's database, and ours as one.

use super::custom_rows::{created_at, definition, row};
use super::tools::{pages, path, text};
use crate::cli::{CustomExport, CustomImport};
use crate::client::{Client, encode, query};
use crate::context::Context;
use crate::out::{Failure, Out, Result};
use catalog::definition::{Origin, checked_definition_from_text};
use catalog::tool::Shelf;
use serde_json::{Value, json};
use store::custom_tools::{self, CustomTool};

/// A tool that is to be taken over.
struct Taken {
    row: CustomTool,
    definition: Value,
}

/// What became of the tools of a file.
#[derive(Default)]
struct Told {
    added: Vec<String>,
    replaced: Vec<String>,
    same: Vec<String>,
    failed: Vec<String>,
}

/// How a tool stands to what is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum There {
    Nothing,
    Same,
    Another,
}

pub(crate) async fn import(context: &Context, args: &CustomImport) -> Result {
    let shown = args.file.display().to_string();
    let rows = custom_tools::read(&args.file).await;
    let rows = rows.map_err(|error| {
        Failure::failed(format!("{shown} cannot be read: {error}"))
            .hint("expected a SQLite file with the tables h_custom_tool and h_custom_tool_param")
    })?;
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    check_only(&args.only, &names, &shown)?;
    let wanted = rows
        .into_iter()
        .filter(|row| args.only.is_empty() || args.only.contains(&row.name));
    let taken = understood(&shown, wanted, args)?;
    let told = Client::with(context, async |client| {
        let there = compare(client, &taken).await?;
        if let Some(clash) = clashing(&taken, &there).filter(|_| !args.force) {
            return Err(Failure::failed(format!(
                "there is another tool '{clash}' already; nothing was changed"
            ))
            .hint("rename one of them, replace it with --force, or take others with --only"));
        }
        match args.dry_run {
            true => Ok(planned(&taken, &there)),
            false => take_over(context, client, &taken, &there).await,
        }
    })
    .await?;
    tell(&context.out, &told, &taken, args.dry_run)
}

fn check_only(only: &[String], names: &[String], shown: &str) -> Result {
    match only.iter().find(|name| !names.contains(name)) {
        None => Ok(()),
        Some(missing) => Err(Failure::usage(format!(
            "--only names '{missing}', but {shown} has {}",
            names.join(", ")
        ))),
    }
}

/// All as definitions, or everything that is wrong with any of them.
fn understood(
    shown: &str,
    rows: impl Iterator<Item = CustomTool>,
    args: &CustomImport,
) -> Result<Vec<Taken>> {
    let (mut taken, mut wrong) = (Vec::new(), Vec::new());
    for row in rows {
        let name = &row.name;
        let definition = match definition(&row, &args.source, &args.result) {
            Ok(definition) => definition,
            Err(why) => {
                wrong.push(format!("{shown}: tool '{name}': {why}"));
                continue;
            }
        };
        let origin = Origin::Body(Shelf::Database);
        let text = definition.to_string();
        let checked = checked_definition_from_text(name, &text, origin, kinds::sql::faults);
        match checked {
            Ok(_) => taken.push(Taken { row, definition }),
            Err(problems) => wrong.extend(problems.iter().map(|it| {
                format!(
                    "{shown}: tool '{name}': at {}: expected {}, found {}. {}",
                    it.path, it.expected, it.found, it.remedy
                )
            })),
        }
    }
    if wrong.is_empty() {
        return Ok(taken);
    }
    let mut failure = Failure::failed("");
    failure.errors = wrong;
    Err(failure.hint("nothing was taken over; mend that database, or take others with --only"))
}

async fn compare(client: &Client, taken: &[Taken]) -> Result<Vec<There>> {
    let mut all = Vec::new();
    for Taken { row, definition } in taken {
        let answer = client.request("GET", &path(&row.name), None).await?;
        let there = match answer.status {
            404 => There::Nothing,
            _ => {
                let tool = answer.ok()?;
                let mut members = definition.as_object().into_iter().flatten();
                match members.all(|(member, value)| tool[member] == *value) {
                    true => There::Same,
                    false => There::Another,
                }
            }
        };
        all.push(there);
    }
    Ok(all)
}

fn clashing<'a>(taken: &'a [Taken], there: &[There]) -> Option<&'a str> {
    let mut both = taken.iter().zip(there);
    let found = both.find(|(_, there)| **there == There::Another);
    found.map(|(taken, _)| taken.row.name.as_str())
}

fn planned(taken: &[Taken], there: &[There]) -> Told {
    let mut told = Told::default();
    for (Taken { row, .. }, there) in taken.iter().zip(there) {
        let list = match there {
            There::Nothing => &mut told.added,
            There::Same => &mut told.same,
            There::Another => &mut told.replaced,
        };
        list.push(row.name.clone());
    }
    told
}

async fn take_over(
    context: &Context,
    client: &Client,
    taken: &[Taken],
    there: &[There],
) -> Result<Told> {
    let mut told = Told::default();
    for (taken, there) in taken.iter().zip(there) {
        let name = taken.row.name.clone();
        let stored = match there {
            There::Same => {
                told.same.push(name);
                continue;
            }
            There::Another => {
                let body = Some(taken.definition.clone());
                client.request("PUT", &path(&name), body).await?.ok()
            }
            There::Nothing => create(&context.out, client, taken).await,
        };
        match (stored, there) {
            (Err(failure), _) => told
                .failed
                .push(format!("{name}: {}", failure.errors.join("; "))),
            (Ok(tool), there) => {
                if let Some(why) = tool["trouble"].as_str() {
                    context
                        .out
                        .warn(format!("'{name}' may not work as it is: {why}"));
                }
                match there {
                    There::Another => told.replaced.push(name),
                    _ => told.added.push(name),
                }
            }
        }
    }
    Ok(told)
}

/// Stores a new tool as its maker's, where they are a user here who may have it; else as that of whoever imports it.
async fn create(out: &Out, client: &Client, taken: &Taken) -> Result<Value> {
    let row = &taken.row;
    let made = created_at(row);
    if let (None, Some(written)) = (&made, row.reg_dt.as_deref()) {
        let name = &row.name;
        out.warn(format!(
            "'{name}' was made at '{written}', which is no time that can be read; it counts as made now"
        ));
    }
    let send = async |owner: Option<&str>| {
        let asked = [
            ("owner", owner.map(str::to_owned)),
            ("created_at", made.clone()),
        ];
        let to = format!("/api/v1/tools{}", query(&asked));
        let body = Some(taken.definition.clone());
        client.request("POST", &to, body).await?.ok()
    };
    let maker = row.created_by.as_deref().filter(|name| !name.is_empty());
    let Some(maker) = maker else {
        return send(None).await;
    };
    let user = format!("/api/v1/users/{}", encode(maker));
    let why = match client.request("GET", &user, None).await?.status {
        200 => match send(Some(maker)).await {
            Ok(tool) => return Ok(tool),
            Err(failure) => failure.errors.join("; "),
        },
        _ => format!("there is no user '{maker}'"),
    };
    let tool = send(None).await?;
    out.warn(format!("'{}' is yours, not {maker}'s: {why}", row.name));
    Ok(tool)
}

fn tell(out: &Out, told: &Told, taken: &[Taken], dry_run: bool) -> Result {
    if out.json {
        let mut value = json!({"added": told.added, "replaced": told.replaced,
            "unchanged": told.same, "failed": told.failed, "dry_run": dry_run});
        if dry_run {
            value["tools"] = taken.iter().map(|it| it.definition.clone()).collect();
        }
        out.value(&value);
    }
    let would = if dry_run { "would be " } else { "" };
    for (what, names) in [("added", &told.added), ("replaced", &told.replaced)] {
        if !names.is_empty() {
            out.done(format!("{would}{what}: {}", names.join(", ")));
        }
    }
    if !told.same.is_empty() {
        out.done(format!("there already: {}", told.same.join(", ")));
    }
    if told.failed.is_empty() {
        return Ok(());
    }
    let mut failure = Failure::failed("");
    failure.errors = told.failed.clone();
    Err(failure.printed().hint("the others were taken over"))
}

pub(crate) async fn export(context: &Context, args: &CustomExport) -> Result {
    let tools = Client::with(context, async |client| {
        let mut all = pages(
            client,
            "/api/v1/tools",
            &[("kind", Some("sql".into()))],
            usize::MAX,
        )
        .await?;
        let kind = [("kind", Some("expression".to_owned()))];
        all.extend(pages(client, "/api/v1/tools", &kind, usize::MAX).await?);
        Ok(all)
    })
    .await?;
    let names: Vec<String> = tools.iter().map(|it| text(it, "name").to_owned()).collect();
    check_only(&args.only, &names, "the catalogue")?;
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    for tool in &tools {
        let name = text(tool, "name");
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            continue;
        }
        match row(tool) {
            Ok(row) => rows.push(row),
            Err(why) => skipped.push(format!("{name}: {why}")),
        }
    }
    let shown = args.file.display();
    let written = custom_tools::write(&args.file, &rows).await;
    written.map_err(|error| Failure::failed(format!("nothing was written: {error}")))?;
    let out = &context.out;
    for why in &skipped {
        out.warn(format!("left out: {why}"));
    }
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    if out.json {
        out.value(&json!({"file": args.file, "exported": names, "left_out": skipped}));
    }
    out.done(match names.is_empty() {
        true => format!("wrote {shown} without a tool in it"),
        false => format!("wrote {shown}: {}", names.join(", ")),
    });
    Ok(())
}
